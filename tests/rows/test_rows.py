"""Blocks of rows: every reader gives the same numbers, in any grouping, and broken files say so."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save_file

from unmix.rows import array_rows, file_rows, gathered, opened_parquet, parquet_batches, read_tensor
from unmix.training import Streamed
from unmix.training._sources import Windows

X = np.random.default_rng(0).normal(size=(53, 4))


def write(kind, folder, values=X):
    path = folder / f"x.{kind}"
    if kind == "npy":
        np.save(path, values)
    elif kind == "safetensors":
        save_file({"x": values}, path)
    else:
        pyarrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        table = pyarrow.table({f"c{j}": values[:, j] for j in range(values.shape[1])})
        parquet.write_table(table, path, row_group_size=7)
    return path


@pytest.mark.parametrize("kind", ["npy", "parquet", "safetensors"])
@pytest.mark.parametrize("block", [1, 5, 53, 100])
def test_every_reader_gives_the_rows_in_any_grouping(kind, block, tmp_path):
    rows = file_rows(write(kind, tmp_path), lambda n_columns: block)
    np.testing.assert_array_equal(np.concatenate(list(rows.blocks())), X)
    np.testing.assert_array_equal(np.concatenate(list(rows.every(7))), X[::7])
    for start, stop in ((0, 1), (6, 8), (40, 53), (3, 30)):  # any order, also backwards
        np.testing.assert_array_equal(rows.take(start, stop), X[start:stop])
    assert (rows.n_rows, rows.n_features, rows.dtype) == (53, 4, X.dtype)


def test_shards_of_a_folder_are_one_table(tmp_path):
    for name, part in (("a", X[:20]), ("b", X[20:21]), ("c", X[21:])):
        (tmp_path / name).mkdir()
        write("safetensors", tmp_path / name, part).rename(tmp_path / f"{name}.safetensors")
    rows = file_rows(tmp_path, lambda n_columns: 6)
    np.testing.assert_array_equal(np.concatenate(list(rows.blocks())), X)
    np.testing.assert_array_equal(rows.take(19, 23), X[19:23])


def test_shards_that_differ_are_refused(tmp_path):
    np.save(tmp_path / "0.npy", X)
    np.save(tmp_path / "1.npy", X[:, :2])
    with pytest.raises(ValueError, match=r"same columns in every shard"):
        file_rows(tmp_path, lambda n_columns: 6)
    with pytest.raises(ValueError, match="has none"):
        (tmp_path / "empty").mkdir()
        file_rows(tmp_path / "empty", lambda n_columns: 6)


def test_bfloat16_rows_are_read_exactly_and_in_part(tmp_path):
    from safetensors.torch import save_file as save_tensors

    values = torch.randn(9, 3, generator=torch.Generator().manual_seed(0)).bfloat16()
    save_tensors({"x": values}, tmp_path / "x.safetensors")
    expected = values.float().numpy()
    np.testing.assert_array_equal(read_tensor(tmp_path / "x.safetensors", "x"), expected)
    np.testing.assert_array_equal(read_tensor(tmp_path / "x.safetensors", "x", slice(2, 5)), expected[2:5])


def source(n, window):
    rows = array_rows(torch.arange(float(n))[:, None], block=3)
    return Streamed(rows, torch.as_tensor, window=window)


@given(st.integers(1, 60), st.integers(1, 40), st.integers(1, 17), st.integers(0, 9))
def test_a_pass_over_windows_shows_every_row_once(n, window, batch, seed):
    batches = Windows(source(n, window), batch, torch.Generator().manual_seed(seed))
    size = batches.batch_size
    seen = torch.cat([next(batches)[0] for _ in range(n)]).flatten()  # `size` passes
    counts = torch.bincount(seen.long(), minlength=n)
    assert (counts == size).all()


@given(st.integers(0, 20), st.integers(0, 5))
def test_windows_go_on_where_they_were(drawn, seed):
    def start():
        return Windows(source(23, 8), 5, torch.Generator().manual_seed(seed), noise=2)

    first, again = start(), start()
    for _ in range(drawn):
        next(first)
    again.load_state_dict(first.state_dict())
    for _ in range(6):
        for one, other in zip(next(first), next(again), strict=True):
            assert torch.equal(one, other)


@pytest.mark.parametrize("n_rows", [7, 100])
def test_large_groups_of_rows_are_laid_out_and_nothing_changes(n_rows, tmp_path, monkeypatch):
    parquet, arrow = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    x = np.random.default_rng(0).normal(size=(60, 9))
    columns = {"well": [f"w{i}" for i in range(60)]} | {f"x{j}": x[:, j] for j in range(9)}
    parquet.write_table(arrow.table(columns), tmp_path / "t.parquet", row_group_size=40)
    straight = list(blocks_of(tmp_path / "t.parquet", n_rows))
    monkeypatch.setattr("unmix.rows._parquet.LARGE", 4000)  # slabs of three columns
    laid_out = list(blocks_of(tmp_path / "t.parquet", n_rows))
    assert arrow.concat_tables(laid_out).equals(arrow.concat_tables(straight))
    assert max(map(len, laid_out)) <= n_rows
    np.testing.assert_array_equal(file_rows(tmp_path / "t.parquet", lambda n: 8).take(35, 50), x[35:50])


def blocks_of(path, n_rows):
    with opened_parquet(path) as opened:
        yield from parquet_batches(opened, opened.schema_arrow.names, n_rows)


def test_text_and_metadata_of_parquet_files_are_no_features(tmp_path):
    parquet, arrow = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    columns = {"well": ["a", "b"], "x": [1.0, 2.0], "Metadata_Dose": [5.0, 6.0], "y": [3, 4]}
    parquet.write_table(arrow.table(columns), tmp_path / "t.parquet")
    rows = file_rows(tmp_path / "t.parquet", lambda n_columns: 8)
    assert rows.names == ("x", "y")
    np.testing.assert_array_equal(rows.take(0, 2), [[1, 3], [2, 4]])
    parquet.write_table(arrow.table({"well": ["a"]}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="must have a numeric column, it holds well"):
        file_rows(tmp_path / "t.parquet", lambda n_columns: 8)


@pytest.mark.parametrize("block", [1, 4, 100])
def test_rows_are_gathered_in_any_order_and_more_than_once(block):
    values = np.arange(40, dtype=np.float32).reshape(20, 2)
    index = np.array([19, 3, 3, 0, 11, 4, 19])
    found = gathered(array_rows(values, block), index)
    np.testing.assert_array_equal(found, values[index])
    assert found.dtype == np.float32 and found.flags.owndata
