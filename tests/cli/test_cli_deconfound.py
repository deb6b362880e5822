"""`unmix deconfound`: every spelling and format, the library's numbers, and every way to hold it wrong."""

import gzip

import numpy as np
import pyarrow.parquet
import pytest

from pages import Page, without_ours
from plates import world
from unmix import tables
from unmix.deconfound import fit_transform

CONTROL = "gene == '-'"
FEATURES = [f"f{j}" for j in range(10)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write a table with everything in it, and the same as embeddings and metadata in another order."""
    path = tmp_path_factory.mktemp("wells")
    x, meta = world(n_batches=8)
    ids = np.array([f"w{i}" for i in range(len(x))], dtype=object)
    meta = {"week": meta["plate"] // 4, "plate": meta["plate"] % 4, "gene": meta["gene"].astype(object)}
    tables.write(path / "wells.csv", x, FEATURES, like=tables.Table(x, None, meta, ids, id_name="well"))
    tables.write(path / "emb.parquet", x, FEATURES, like=tables.Table(x, None, {}, ids, id_name="well"))
    order = np.random.default_rng(0).permutation(len(x))
    mixed = {name: column[order] for name, column in {"well": ids, **meta}.items()}
    lines = [",".join(mixed), *(",".join(map(str, row)) for row in zip(*mixed.values(), strict=True))]
    (path / "meta.csv").write_text("\n".join(lines))
    (path / "twice.csv").write_text("\n".join([*lines, lines[1]]))
    (path / "short.csv").write_text("\n".join(lines[:-2]))
    return path


def values_of(path):
    return tables.read(path, columns=tables.Columns(features=("f*",))).values


@pytest.mark.parametrize(
    "batch",
    [["--batch", "week", "plate"], ["--batch", "week,plate"], ["--batch", "week", "--batch", "plate"]],
)
def test_every_spelling_of_two_columns_is_the_same_batch(batch, folder, tmp_path, unmix_json):
    found = unmix_json(
        "deconfound", folder / "wells.csv", *batch, "--control", CONTROL, "--out", tmp_path / "y.csv",
        "--compare", "none", "--id", "well",
    )  # fmt: skip
    assert found["n_batches"] == 8 and found["n_features"] == 10
    table = tables.read(folder / "wells.csv", columns=tables.Columns(id="well", labels=("week", "plate")))
    expected = fit_transform(table.values, table.metadata, batch=["week", "plate"], control=CONTROL)
    assert np.allclose(values_of(tmp_path / "y.csv"), expected)
    head, first = (tmp_path / "y.csv").read_text().splitlines()[:2]
    assert head.split(",")[:5] == ["well", "week", "plate", "gene", "f0"]
    assert first.split(",")[:4] == ["w0", "0", "0", "-"]


def test_metadata_are_joined_by_id_and_parquet_is_streamed_to_the_same_numbers(folder, tmp_path, unmix):
    asked = ["--batch", "week", "plate", "--control", CONTROL, "--compare", "none"]
    whole, streamed = tmp_path / "whole.parquet", tmp_path / "streamed.parquet"
    assert unmix("deconfound", folder / "wells.csv", *asked, "--out", whole).code == 0
    result = unmix(
        "deconfound", folder / "emb.parquet", "--meta", folder / "meta.csv", *asked, "--out", streamed
    )
    assert result.code == 0, result.err
    assert np.allclose(values_of(whole), values_of(streamed))
    assert pyarrow.parquet.read_table(streamed)["well"].to_pylist()[:2] == ["w0", "w1"]


def test_a_person_gets_confounding_first_a_table_and_a_page(folder, tmp_path, unmix):
    result = unmix(
        "deconfound", folder / "wells.csv", "--batch", "week", "plate", "--label", "gene",
        "--control", CONTROL, "--out", tmp_path / "y.csv.gz", "--compare", "base", "anchored",
    )  # fmt: skip
    assert result.code == 0
    assert result.err.splitlines()[0].startswith("unmix: note: Batch and label: Cramér's V 0.0")
    for words in ("anchored", "chance", "leak, held out", "independent components are technical"):
        assert words in result.out
    text = gzip.decompress((tmp_path / "y.csv.gz").read_bytes())
    assert text.startswith(b"well,week,plate,gene,f0")
    page = Page((tmp_path / "y.csv.gz.html").read_text())
    assert "the batch of a control is found in" in page.text and "Technical components" in page.text
    again = unmix("deconfound", folder / "wells.csv", "--batch", "week", "--out", tmp_path / "y.csv.gz")
    assert again.code == 2 and "exists. Add --force" in again.err


def test_cells_get_the_adjusted_array(folder, tmp_path, unmix):
    anndata, pandas = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    frame = pandas.read_csv(folder / "wells.csv", index_col="well")
    cells = anndata.AnnData(X=frame[FEATURES].to_numpy(), obs=frame[["week", "plate", "gene"]])
    cells.write_h5ad(tmp_path / "cells.h5ad")
    result = unmix(
        "deconfound", tmp_path / "cells.h5ad", "--batch", "week", "plate", "--control", CONTROL,
        "--out", tmp_path / "clean.h5ad", "--compare", "none",
    )  # fmt: skip
    assert result.code == 0, result.err
    made = anndata.read_h5ad(tmp_path / "clean.h5ad")
    expected = fit_transform(cells.X, dict(cells.obs), batch=["week", "plate"], control=CONTROL)
    assert list(made.obsm) == ["X_deconfounded"] and np.allclose(made.obsm["X_deconfounded"], expected)
    same = fit_transform(cells, batch=["week", "plate"], control=CONTROL)
    assert np.allclose(same.obsm["X_deconfounded"], expected)
    assert set(same.uns["X_deconfounded"]) == set(made.uns["X_deconfounded"])
    assert list(made.obs_names) == list(frame.index)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["{wells}", "--batch", "plat"], "`batch` must name a column, got 'plat'"),
        (["{wells}", "--batch", "week", "--control", "gene == 'none'"], "which matches none"),
        (["{wells}", "--batch", "week", "--control", "gene = '-'"], "must be an expression like"),
        (["{wells}", "--batch", "week", "--method", "harmony"], "`--method` must be one of base, pca"),
        (["{wells}", "--batch", "week", "--compare", "harmony"], "`--method` must be one of base, pca"),
        (["{wells}", "--batch", "week", "--label", "week"], "must not determine `label`"),
        (["{emb}", "--batch", "week"], "`batch` must name a column, got 'week'"),
        (["{emb}", "--meta", "{twice}", "--batch", "week"], "more than once. Keep one row of each."),
        (["{emb}", "--meta", "{short}", "--batch", "week"], "must have every row of X, got no well 'w"),
        (["{emb}", "--meta", "{meta}", "--id", "wll", "--batch", "week"], "'wll'"),
    ],
)
def test_mistakes_are_named_in_one_line_and_nothing_is_written(line, words, folder, refused):
    refused(folder, ["deconfound", *line, "--out", "out.csv"], words)


def test_numbers_that_an_expression_names_are_no_features(folder, tmp_path, unmix_json):
    asked = ["--batch", "week", "--control", "plate >= 0 and gene == '-'", "--compare", "none"]
    found = unmix_json("deconfound", folder / "wells.csv", *asked, "--out", tmp_path / "y.csv")
    assert found["n_features"] == 10


def test_what_a_table_says_is_escaped_in_the_page(folder, tmp_path, unmix):
    text = (folder / "wells.csv").read_text().replace("f0,f1", "<b>f0</b>,<script>f1", 1)
    (tmp_path / "odd.csv").write_text(text)
    asked = ["--batch", "week", "--control", CONTROL, "--compare", "base", "--out", tmp_path / "y.csv"]
    assert unmix("deconfound", tmp_path / "odd.csv", *asked).code == 0
    page = (tmp_path / "y.csv.html").read_text()
    assert "<script>" not in without_ours(page) and "&lt;b&gt;f0" in page


def test_two_columns_may_name_the_rows_of_both_files(tmp_path, unmix):
    x, meta = world(n_batches=4)
    place = np.array([f"A{i}" for i in range(len(x))], dtype=object)
    names = {"plate": meta["plate"].astype(object), "well": place}
    tables.write(tmp_path / "x.parquet", x, FEATURES, like=tables.Table(x, None, names))
    order = np.random.default_rng(0).permutation(len(x))
    known = {**names, "gene": meta["gene"].astype(object)}
    lines = [",".join(known), *(",".join(str(c[i]) for c in known.values()) for i in order)]
    (tmp_path / "meta.csv").write_text("\n".join(lines))
    line = ["deconfound", tmp_path / "x.parquet", "--meta", tmp_path / "meta.csv", "--id", "plate,well",
            "--batch", "plate", "--control", CONTROL, "--compare", "none"]  # fmt: skip
    assert unmix(*line, "--out", tmp_path / "y.csv").code == 0
    assert np.allclose(
        values_of(tmp_path / "y.csv"), fit_transform(x, meta, batch="plate", control=CONTROL), atol=1e-4
    )
    assert (tmp_path / "y.csv").read_text().splitlines()[0].startswith("plate,well,f0")
