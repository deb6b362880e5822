"""`unmix choose`, and `unmix fit` without a number."""

import numpy as np
import pytest

from unmix import tables


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two latents in five variables, and a column of labels that says nothing."""
    folder, rng = tmp_path_factory.mktemp("choose"), np.random.default_rng(0)
    x = rng.laplace(size=(240, 2)) @ rng.normal(size=(2, 5)) + 0.1 * rng.normal(size=(240, 5))
    names = [*(f"g{k}" for k in range(5)), "batch"]
    tables.write(folder / "data.csv", np.column_stack([x, np.arange(240) % 2]), names)
    return folder


def test_the_number_is_told_and_a_page_written(folder, unmix, tmp_path):
    line = ("choose", folder / "data.csv", "--domains", "batch", "--most", 3, "--out", tmp_path / "page.html")
    result = unmix(*line)
    assert result.code == 0, result.err
    assert result.out.startswith("2 latents") and "2 domains" in result.out
    assert "2 latents" in (tmp_path / "page.html").read_text()
    assert unmix(*line).code == 2  # nothing is overwritten without --force


def test_the_same_as_json(folder, unmix_json):
    told = unmix_json("choose", folder / "data.csv", "--drop", "batch", "--most", 2)
    assert told["n_supported"] == 2 and {"trials", "agreement", "supports"} <= told.keys()


def test_fit_without_a_number_looks_for_it_and_says_so(folder, unmix, tmp_path):
    table = (folder / "data.csv", "--drop", "batch")
    result = unmix("fit", *table, "--out", tmp_path / "model", "--max-iter", 2, "--n-restarts", 1)
    assert result.code == 0, result.err
    assert "Looking for the number of latents" in result.err and "2 latents" in result.err


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (("choose", "{data}", "--domains", "plate"), "`--domains` must be a column of DATA or a file"),
        (("choose", "{data}", "--out", "page.pdf"), ".html"),
        (("choose", "absent.csv"), "absent.csv"),
        (("choose", "{data}", "--most", 0), "--most"),
    ],
)
def test_mistakes_are_told_in_one_line(line, words, folder, refused):
    refused(folder, line, words)
