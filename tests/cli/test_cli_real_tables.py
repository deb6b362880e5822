"""Tables that people have reach a page with named latents in one command: small files of the same layouts,
and the public files themselves where a folder that holds them is named by UNMIX_DATA."""

import gzip
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pages import Page

DATA = Path(os.environ.get("UNMIX_DATA", "no such folder"))


def named(unmix, table, folder, n, *options):
    """Fit and write the page in one command; return a line for each latent and the text of the page."""
    page = folder / "page.html"
    line = ("fit", table, "--method", "ica", "--n-components", n, "--out", folder / "model", "--report", page)
    told = unmix(*line, *options)
    assert told.code == 0, told.err
    lines = told.out.partition("What each latent stands for:\n")[2].partition("\n\n")[0].splitlines()
    text = page.read_text(encoding="utf-8").replace("<wbr>", "")
    assert len(lines) == n and "Which latent moves which variable" in text
    return lines, Page(text).text


def test_arrays_of_genes_with_more_columns_than_rows(unmix, tmp_path):
    rng = np.random.default_rng(0)
    z = rng.laplace(size=(57, 3))
    x = z @ rng.normal(size=(3, 200)) + 0.5 * rng.normal(size=(57, 200))
    frame = pd.DataFrame(x, columns=[f"{1000 + k}_{'s' if k % 3 else 'x'}_at" for k in range(200)])
    frame.insert(0, "cancer", np.where(z[:, 1] > 0, "Normal", "Cancer"))
    frame.insert(0, "sample", [f"GSM71{i:03d}.CEL" for i in range(57)])
    frame.to_csv(tmp_path / "bladder.csv", index=False)
    lines, page = named(unmix, tmp_path / "bladder.csv", tmp_path, 3, "--id", "sample")
    assert any("cancer AUROC" in line and "noise" in line for line in lines) and "GSM71" in page


def test_pixels_some_of_them_constant(unmix, tmp_path):
    rng = np.random.default_rng(0)
    label = rng.integers(4, size=300)
    strokes = rng.random((4, 64)) < 0.3
    x = strokes[label] * rng.integers(100, 255, size=(300, 64)) * (np.arange(64) % 8 > 0)
    frame = pd.DataFrame(x, columns=[f"{1 + k // 8}x{1 + k % 8}" for k in range(64)])
    frame.insert(0, "label", [f"d{each}" for each in label])
    frame.to_csv(tmp_path / "digits.csv", index=False)
    lines, page = named(unmix, tmp_path / "digits.csv", tmp_path, 3)
    assert sum("label " in line for line in lines) >= 2 and "constant" in page


def test_embeddings_whose_rows_have_names(unmix, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.laplace(size=(300, 3)) @ rng.normal(size=(3, 12)))
    frame = frame.set_axis([str(k) for k in range(12)], axis=1)
    frame.insert(0, "word", [f"word{i}" for i in range(300)])
    frame.to_parquet(tmp_path / "glove.parquet")
    lines, page = named(unmix, tmp_path / "glove.parquet", tmp_path, 3, "--id", "word")
    assert all(": from word" in line for line in lines) and "from word" in page


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "bio").is_dir(), reason="UNMIX_DATA names no folder with bio")
def test_cells_of_bbbc021(unmix, tmp_path):
    table = next((DATA / "bio").glob("bbbc021*.csv.gz"))
    lines, page = named(unmix, table, tmp_path, 8)
    tubulin = next(line for line in lines if "CorrTub" in line and "Metadata_moa" in line)
    assert "Microtubule" in tubulin and "Which latent moves which group of variables" in page


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "mnist").is_dir(), reason="UNMIX_DATA names no folder with mnist")
def test_digits_of_mnist(unmix, tmp_path):
    files = (next((DATA / "mnist").glob(f"t10k-{what}*")) for what in ("images", "labels"))
    images, labels = (gzip.decompress(file.read_bytes()) for file in files)
    x = np.frombuffer(images[16:], np.uint8).reshape(-1, 784)[:2000]
    frame = pd.DataFrame(x, columns=[f"{1 + k // 28}x{1 + k % 28}" for k in range(784)])
    frame.insert(0, "label", [f"d{each}" for each in np.frombuffer(labels[8:], np.uint8)[:2000]])
    frame.to_csv(tmp_path / "mnist.csv", index=False)
    lines, page = named(unmix, tmp_path / "mnist.csv", tmp_path, 10)
    assert all("label " in line for line in lines) and "constant" in page


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "embeddings").is_dir(), reason="UNMIX_DATA names no folder with embeddings")
def test_words_of_glove(unmix, tmp_path):
    table = next((DATA / "embeddings").glob("glove*.npz"))
    lines, page = named(unmix, f"{table}:glove50", tmp_path, 20, "--id", "words")
    assert all(": from " in line for line in lines) and "from " in page
