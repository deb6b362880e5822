"""Files too long to be read whole: blocks and rows that are drawn give what whole files give."""

import json

import numpy as np
import pytest

import unmix
from unmix.cli import main
from unmix.cli._drawn import latents_of, picked
from unmix.rows import array_rows


def called(*words):
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    return ended.value.code or 0


@pytest.fixture
def x():
    rng = np.random.default_rng(0)
    return rng.laplace(size=(500, 4)) @ rng.normal(size=(4, 4))


def test_blocks_and_shards_are_transformed_as_the_whole(x, tmp_path, monkeypatch):
    monkeypatch.setattr("unmix.tables._stream.ENTRIES", 4 * 60)
    model = unmix.FastICA(random_state=0).fit(x)
    model.save(tmp_path / "model")
    np.save(tmp_path / "x.npy", x)
    (tmp_path / "shards").mkdir()
    for k, part in enumerate(np.array_split(x, 3)):
        np.save(tmp_path / "shards" / f"{k}.npy", part)
    for source in ("x.npy", "shards"):
        out = tmp_path / f"{source}.out.npy"
        assert called("transform", tmp_path / "model", tmp_path / source, "--out", out) == 0
        np.testing.assert_allclose(np.load(out), model.transform(x), atol=1e-12)


def test_rows_that_are_drawn_are_the_same_in_both_files(x, tmp_path):
    np.save(tmp_path / "a.npy", x)
    np.save(tmp_path / "b.npy", 2 * x)
    paths, keys = [str(tmp_path / "a.npy"), str(tmp_path / "b.npy")], [("z",), ("z",)]
    (a, b), said = latents_of(paths, keys, 8 * 100, 0)
    np.testing.assert_array_equal(2 * a, b)
    assert len(a) == 100 and said == "Computed on 100 of 500 rows, drawn at random."
    (whole, _), said = latents_of(paths, keys, 10**6, 0)
    np.testing.assert_array_equal(whole, x)
    assert said == ""


def test_every_row_of_a_long_file_must_be_finite(x):
    x[321, 2] = np.nan
    with pytest.raises(ValueError, match="`z` must be finite, got nan in row 321, column 2"):
        picked(array_rows(x, 50), np.arange(10), "z")


def test_evaluate_says_how_many_rows_it_used(x, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("unmix.cli._judge.MOST", 8 * 200)
    np.save(tmp_path / "z.npy", x)
    assert called("evaluate", tmp_path / "z.npy", tmp_path / "z.npy") == 0
    assert "Computed on 200 of 500 rows" in capsys.readouterr().out
    assert called("evaluate", tmp_path / "z.npy", tmp_path / "z.npy", "--json") == 0
    assert json.loads(capsys.readouterr().out)["mcc"]["n_samples"] == 200
