"""Stores of activations: masked, described, resumed, hashed; and what is wrong with them is named."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from unmix.data import MaskRule, read_activations, store_activations, verify_activations
from unmix.data._activation_summary import participation_ratio
from unmix.data._activations import Plan, Shard, write_store
from unmix.estimators import SparseAutoencoder

N, D, SIZE = 130, 6, 40


def table(seed=0):
    x = np.random.default_rng(seed).normal(size=(N, D)).astype(np.float32) + 1
    x[[3, 77]] *= 100
    return x


def plan(x=None, stop_at=None, **about):
    x = table() if x is None else x
    asked = []

    def shard(number):
        if number == stop_at:
            raise KeyboardInterrupt
        asked.append(number)
        rows = slice(number * SIZE, min((number + 1) * SIZE, len(x)))
        there = np.arange(rows.start, rows.stop, dtype=np.int32)
        return Shard(x[rows], {"token_ids": there * 2, "position": there % 10, "document": there // 10})

    made = Plan({"model": "tiny", "site": "blocks.0"} | about, -(-len(x) // SIZE), shard, "float32")
    return made, asked


@pytest.fixture
def store(tmp_path):
    write_store(plan()[0], tmp_path / "store")
    return tmp_path / "store"


def test_rows_columns_and_mask_go_together(store):
    found, x = read_activations(store), table()
    there = np.arange(N)
    kept = (there % 10 != 0) & (np.linalg.norm(x, axis=1) <= 10 * np.median(np.linalg.norm(x, axis=1)))
    assert found.shape == (kept.sum(), D) and not kept[[3, 77]].any()
    np.testing.assert_array_equal(found.kept, np.flatnonzero(kept))
    np.testing.assert_array_equal(found.take(0, len(found)), x[kept])
    np.testing.assert_array_equal(np.concatenate(list(found.blocks(7))), x[kept])
    np.testing.assert_array_equal(found.token_ids, 2 * there[kept])
    np.testing.assert_array_equal(found.position, (there % 10)[kept])
    np.testing.assert_array_equal(found.document, (there // 10)[kept])
    np.testing.assert_array_equal(found.whole.take(0, N), x)
    np.testing.assert_allclose(found.mean, x[kept].mean(0), rtol=1e-5)
    assert found.info["model"] == "tiny" and found.text([5]) == ["5"]


@given(a=st.integers(0, N), b=st.integers(0, N))
def test_any_range_of_rows_is_that_of_the_array(tmp_path_factory, a, b):
    folder = tmp_path_factory.getbasetemp() / "ranges"
    if not folder.exists():
        write_store(plan()[0], folder)
    found = read_activations(folder)
    expected = table()[found.kept][min(a, b) : max(a, b)]
    np.testing.assert_array_equal(found.take(min(a, b), max(a, b)), expected)


def test_what_the_mask_did_is_told_by_definition(store):
    told, x = read_activations(store).info["summary"], table().astype(float)
    kept = read_activations(store).kept
    hidden = np.setdiff1d(np.arange(N), kept)
    away = np.square(x - x.mean(0)).sum(1)
    assert told["n_masked"] == len(hidden)
    assert told["masked_variance"] == pytest.approx(away[hidden].sum() / away.sum(), rel=1e-6)
    for name, part in (("", x[kept]), ("_unmasked", x)):
        values = np.linalg.eigvalsh(np.cov(part.T))
        assert told[f"participation_ratio{name}"] == pytest.approx(
            values.sum() ** 2 / (values**2).sum(), rel=1e-6
        )
        spread = np.sqrt(part.var(0).sum())
        assert told[f"gamma{name}"] == pytest.approx(np.linalg.norm(part.mean(0)) / spread, rel=1e-6)
    wide = np.random.default_rng(0).normal(size=(5, 30))
    values = np.linalg.eigvalsh(np.cov(wide.T))
    assert participation_ratio(wide) == pytest.approx(values.sum() ** 2 / (values**2).sum())


def test_a_killed_run_goes_on_without_loss(tmp_path, store):
    first, asked = plan(stop_at=2)
    with pytest.raises(KeyboardInterrupt):
        write_store(first, tmp_path / "killed")
    assert asked == [0, 1]
    with pytest.raises(ValueError, match="was not finished"):
        read_activations(tmp_path / "killed")
    second, asked = plan()
    write_store(second, tmp_path / "killed")
    assert asked == [2, 3]
    for file in sorted(store.iterdir()):
        assert (tmp_path / "killed" / file.name).read_bytes() == file.read_bytes(), file.name
    again, asked = plan()
    write_store(again, tmp_path / "killed")
    assert asked == []
    with pytest.raises(ValueError, match="belongs to one with another site"):
        write_store(plan(site="blocks.1")[0], tmp_path / "killed")


def test_who_may_read_one_file_of_a_store_may_read_all(store):
    assert len({file.stat().st_mode & 0o777 for file in store.iterdir()}) == 1


def test_shards_of_another_model_are_named(store, tmp_path):
    write_store(plan(table(1), model="other")[0], tmp_path / "other")
    name = "shard-00001.safetensors"
    (store / name).write_bytes((tmp_path / "other" / name).read_bytes())
    with pytest.raises(ValueError, match=r"of one model and site, .*shard-00001.* is of other, blocks\.0"):
        read_activations(store)


@pytest.mark.parametrize("width", [D, D - 1])
def test_shards_of_another_array_are_named_whatever_their_size(tmp_path, width):
    for seed, name in enumerate(("one", "two")):
        np.save(tmp_path / f"{name}.npy", table(seed)[:, : width if seed else D])
        store_activations(tmp_path / f"{name}.npy", tmp_path / name)
    shard = "shard-00000.safetensors"
    (tmp_path / "one" / shard).write_bytes((tmp_path / "two" / shard).read_bytes())
    with pytest.raises(ValueError, match=r"one model and site, .*shard-00000.* is of the array two\.npy"):
        read_activations(tmp_path / "one")


def test_truncated_missing_and_changed_shards_are_named(store):
    verify_activations(store)
    file = store / "shard-00002.safetensors"
    whole = file.read_bytes()
    file.write_bytes(whole[:-10])
    with pytest.raises(ValueError, match=r"whole shards, .*shard-00002.* of"):
        read_activations(store)
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    read_activations(store)
    with pytest.raises(ValueError, match=r"'shard-00002\.safetensors' in .* has changed"):
        verify_activations(store)
    file.unlink()
    with pytest.raises(ValueError, match=r"shard-00002.* is missing"):
        read_activations(store)


def test_numbers_that_are_not_finite_or_too_large_are_named(tmp_path):
    broken = table()
    broken[91, 2] = np.nan
    with pytest.raises(ValueError, match=r"NaN or infinity in row 11\b"):  # of the third shard
        write_store(plan(broken)[0], tmp_path / "nan")
    np.save(tmp_path / "x.npy", broken)
    with pytest.raises(ValueError, match="NaN or infinity in row 91"):
        read_activations(tmp_path / "x.npy")
    with pytest.raises(ValueError, match=r"x\.npy' has NaN or infinity in row 91"):
        store_activations(tmp_path / "x.npy", tmp_path / "copy")
    np.save(tmp_path / "large.npy", table() * 1e5)
    with pytest.raises(ValueError, match=r"float16 ends at 65,504"):
        store_activations(tmp_path / "large.npy", tmp_path / "half", dtype="float16")
    with pytest.raises(ValueError, match="`dtype` must be one of"):
        store_activations(tmp_path / "large.npy", tmp_path / "odd", dtype="int8")


def test_a_store_that_is_no_store_is_named(store, tmp_path):
    index = json.loads((store / "index.json").read_text())
    (store / "index.json").write_text(json.dumps(index | {"format": "else"}))
    with pytest.raises(ValueError, match="must hold the format"):
        read_activations(store)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "note.txt").write_text("mine")
    with pytest.raises(ValueError, match="`out` must be a new folder"):
        write_store(plan()[0], tmp_path / "full")


def test_arrays_from_elsewhere_are_read_alike(tmp_path):
    x = table()
    np.save(tmp_path / "x.npy", x)
    save_file({"activations": x, "labels": np.arange(N)}, tmp_path / "x.safetensors")
    columns = pa.table({f"c{j}": x[:, j] for j in range(D)})
    pyarrow.parquet.write_table(columns, tmp_path / "x.parquet")
    vectors = pa.table({"id": range(N), "acts": pa.FixedSizeListArray.from_arrays(pa.array(x.ravel()), D)})
    for name, what, new in (
        ("columns.arrow", columns, pa.ipc.new_file),
        ("vectors.arrow", vectors, pa.ipc.new_file),
        ("stream.arrow", pa.table({"acts": pa.array(list(x), pa.list_(pa.float32()))}), pa.ipc.new_stream),
    ):
        with pa.OSFile(str(tmp_path / name), "wb") as sink, new(sink, what.schema) as writer:
            writer.write_table(what, 50)
    first = read_activations(tmp_path / "x.npy")
    assert first.shape == (N - 2, D) and first.token_ids is None
    for file in ("x.safetensors", "x.parquet", "columns.arrow", "vectors.arrow", "stream.arrow"):
        found = read_activations(tmp_path / file)
        np.testing.assert_array_equal(found.take(0, N), first.take(0, N), err_msg=file)
    loose = read_activations(tmp_path / "x.npy", mask=MaskRule(norm=None))
    assert loose.shape == (N, D)
    with pytest.raises(ValueError, match="`key` must be one of activations, labels"):
        read_activations(tmp_path / "x.safetensors", key="nothing")
    (tmp_path / "broken.arrow").write_bytes(b"ARROW1 and more")
    with pytest.raises(ValueError, match="whole Arrow file"):
        read_activations(tmp_path / "broken.arrow")


def test_estimators_read_stores_by_path_and_by_value(store, tmp_path):
    found = read_activations(store)
    model = SparseAutoencoder(8, k=2, max_iter=2, batch_size=20, random_state=0).fit(found)
    same = SparseAutoencoder(8, k=2, max_iter=2, batch_size=20, random_state=0).fit(str(store))
    np.testing.assert_array_equal(model.dictionary_, same.dictionary_)
    assert model.transform(found).shape == model.transform(store).shape == (len(found), 8)
    assert (model.model_name_, model.site_) == ("tiny", "blocks.0")
    outliers = np.linalg.norm(table(), axis=1).max()
    assert np.abs(model.bias_).max() < outliers / 10  # the mask kept them away


def test_half_precision_is_kept_and_a_copy_is_a_store(tmp_path):
    np.save(tmp_path / "x.npy", table())
    found = store_activations(tmp_path / "x.npy", tmp_path / "store", dtype="float16")
    np.testing.assert_array_equal(found.take(0, N), table().astype(np.float16)[found.kept])
    stored = load_file(tmp_path / "store" / "shard-00000.safetensors")
    assert stored["activations"].dtype == np.float16 and stored["norms"].dtype == np.float32
