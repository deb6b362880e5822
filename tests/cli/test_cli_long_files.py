"""Files too long to be read whole: blocks and rows that are drawn give what whole files give."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
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
    np.savez(tmp_path / "c.npz", z=3 * x)
    files = [(str(tmp_path / name), ("z",)) for name in ("a.npy", "b.npy", "c.npz")]
    (a, b, c), said = latents_of(files, 12 * 100, 0)
    np.testing.assert_array_equal(2 * a, b)
    np.testing.assert_array_equal(3 * a, c)
    assert len(a) == 100 and said == "Computed on 100 of 500 rows, drawn at random."
    (whole, *_), said = latents_of(files, 10**6, 0)
    np.testing.assert_array_equal(whole, x)
    assert said == ""


def test_every_row_of_a_long_file_must_be_finite(x):
    x[321, 2] = np.nan
    with pytest.raises(ValueError, match="`z` must be finite, got nan in row 321, column 2"):
        picked(array_rows(x, 50), np.arange(10), "z")


def test_evaluate_says_how_many_rows_it_used(x, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("unmix.cli._scored.MOST", 8 * 200)
    np.save(tmp_path / "z.npy", x)
    assert called("evaluate", tmp_path / "z.npy", tmp_path / "z.npy") == 0
    assert "Computed on 200 of 500 rows" in capsys.readouterr().out
    np.savez(tmp_path / "z.npz", z=x)
    found = []
    for name in ("z.npy", "z.npz"):
        assert called("evaluate", tmp_path / name, tmp_path / "z.npy", "--json") == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0]["mcc"]["n_samples"] == 200
    alike(*found)
    monkeypatch.setattr("unmix.cli._scored.MOST", 12 * 200)
    assert called("evaluate", tmp_path / "z.npz", tmp_path / "z.npy", "--x", tmp_path / "z.npy") == 0
    assert "Computed on 200 of 500 rows" in capsys.readouterr().out


@pytest.fixture
def long(x, tmp_path, monkeypatch):
    """A model, a table in several formats, of which every fifth row is kept, and a file of these."""
    monkeypatch.setattr("unmix.cli._long.MOST", 4 * 100)
    monkeypatch.setattr("unmix.tables._stream.ENTRIES", 4 * 60)
    unmix.FastICA(random_state=0).fit(x).save(tmp_path / "model")
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "few.npy", x[::5])
    pq.write_table(pa.table({f"c{j}": x[:, j] for j in range(4)}), tmp_path / "x.parquet")
    np.savez(tmp_path / "x.npz", x=x)
    np.savetxt(tmp_path / "x.csv", x, delimiter=",", header="c0,c1,c2,c3", comments="", fmt="%.17g")
    (tmp_path / "shards").mkdir()
    for k, part in enumerate(np.array_split(x, 3)):
        np.save(tmp_path / "shards" / f"{k}.npy", part)
    return tmp_path


@pytest.mark.parametrize("source", ["x.npy", "x.parquet", "shards", "x.npz", "x.csv"])
def test_a_long_file_is_judged_by_rows_spread_over_it(source, long, capsys):
    def answer(*words):
        assert called(*words, "--json") == 0
        told = capsys.readouterr()
        return json.loads(told.out), told.err

    for words in (("certify", long / "model", "--data"), ("trust", long / "model")):
        (found, said), (few, nothing) = answer(*words, long / source), answer(*words, long / "few.npy")
        assert f"100 of 500 rows are used, spread over {source}" in said and "rows are used" not in nothing
        alike(found, few)
    out = long / "r.html"
    assert called("report", long / "model", "--data", long / source, "--out", out) == 0 and out.exists()


def test_what_is_known_of_all_rows_of_a_long_file_is_thinned_with_it(x, long, capsys):
    np.save(long / "z.npy", unmix.load(long / "model").transform(x))
    line = ["certify", long / "model", "--data", long / "x.npy", "--against", long / "z.npy", "--json"]
    assert called(*line) == 0
    assert json.loads(capsys.readouterr().out)["parts"]["pair"]["n_rows"] == 100


def alike(one, two):
    """Compare documents, numbers to 1e-6, but for how long they took."""
    assert type(one) is type(two)
    if isinstance(one, dict):
        assert one.keys() == two.keys()
        for key in one.keys() - {"seconds"}:
            alike(one[key], two[key])
    elif isinstance(one, list):
        assert len(one) == len(two)
        for pair in zip(one, two, strict=True):
            alike(*pair)
    else:
        assert one == (pytest.approx(two, rel=1e-6, nan_ok=True) if isinstance(one, float) else two)


@pytest.mark.parametrize("source", ["x.npy", "x.npz"])
def test_models_are_compared_by_the_latents_of_all_rows_of_a_long_file(source, x, long, capsys):
    np.save(long / "z.npy", unmix.load(long / "model").transform(x))
    line = ["compare", long / "model", long / "z.npy", "--data", long / source, "--effort", "none", "--json"]
    assert called(*line) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["replication"]["n_rows"] == 500 and found["linear"] < 1e-6


@pytest.mark.parametrize("source", ["x.parquet", "shards"])
def test_long_files_of_latents_are_compared_in_blocks(source, x, long, capsys, monkeypatch):
    np.save(long / "y.npy", x)
    documents = []
    for first in ("x.npy", source):
        monkeypatch.setattr("unmix.metrics.alignment._columns._ENTRIES", 4 * 50 if documents else 2**22)
        monkeypatch.setattr("unmix.metrics.alignment._clouds.ENTRIES", 8 * 50 if documents else 2**22)
        assert called("compare", long / first, long / "y.npy", "--json") == 0
        documents.append(json.loads(capsys.readouterr().out))
    alike(documents[0]["replication"]["latents"], documents[1]["replication"]["latents"])
    assert documents[1]["ica"] == pytest.approx(documents[0]["ica"], abs=1e-6)
