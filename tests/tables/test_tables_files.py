"""Tables survive a round trip in every format, and every broken file gets a clear error."""

import gzip
import json
import pickle
import struct

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from safetensors.numpy import save_file

from unmix import tables

FORMATS = ["csv", "csv.gz", "tsv", "tsv.gz", "feather", "npy", "npz", "parquet"]
finite = st.floats(allow_nan=False, allow_infinity=False)
matrices = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=finite)


@pytest.mark.parametrize("suffix", FORMATS)
@given(values=matrices)
def test_round_trip_is_exact(suffix, values, tmp_path_factory):
    path = tmp_path_factory.mktemp("t") / f"t.{suffix}"
    names = [f"column {j}, <b>" for j in range(values.shape[1])]
    tables.write(path, values, names)
    table = tables.read(path)
    np.testing.assert_array_equal(table.values, values)
    assert table.names == (None if suffix == "npy" else tuple(names))


@pytest.mark.parametrize("suffix", ["npy", "npz", "parquet"])
def test_float32_stays_float32(suffix, tmp_path):
    path = tables.write(tmp_path / f"t.{suffix}", np.ones((2, 2), np.float32))
    assert tables.read(path).values.dtype == np.float32


def test_integers_and_booleans_become_floats(tmp_path):
    np.save(tmp_path / "t.npy", np.eye(3, dtype=bool))
    assert tables.read(tmp_path / "t.npy").values.dtype == np.float64


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("1,2\n3,4\n", None),
        ("a,b\n1,2\n3,4\n", ("a", "b")),
        ("\ufeffa,b\r\n1,2\r\n\r\n3,4\r\n", ("a", "b")),
        (',a,b\n"Doe, Jo",1,2\nrow,3,4\n', ("a", "b")),
        ("a;b\n1;2\n3;4\n", ("a", "b")),
        ("a\tb\n1\t2\n3\t4", ("a", "b")),
        ('"a,1;2";b\n1;2\n3;4\n', ("a,1;2", "b")),
        ('"a,1","b"\n"1","2"\n3, 4\n', ("a,1", "b")),
    ],
)
def test_csv_dialects(text, names, tmp_path):
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    table = tables.read(tmp_path / "t.csv")
    np.testing.assert_array_equal(table.values, [[1, 2], [3, 4]])
    assert table.names == names


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is empty"),
        ("a,b\n", "only a header"),
        ("a,b\n1,2\n3\n", "2 cells in every row, data row 2 has 1"),
        ("a,b\n1,2,3\n", "2 cells in every row, data row 1 has 3"),
        ("a,b\n1,2\n3,cat\n", "data row 2, column 'b' holds the text 'cat'"),
        ("1,2\n3,cat\n", "data row 2, column 2 holds the text 'cat'"),
        ("a,b\n1,\n2,3\n", r"no missing values, column 'b' has 1 \(1 of 2 rows\)"),
        ("a,b\n1,nan\n2,3\n", "no missing values, column 'b' has 1"),
        ("1,2\n-inf,2\n", "must have finite values, column 1 has 1 infinite"),
    ],
)
def test_broken_csv(text, message, tmp_path):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        tables.read(tmp_path / "t.csv")


def test_csv_that_is_not_text(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(ValueError, match="UTF-8"):
        tables.read(tmp_path / "t.csv")


@pytest.mark.parametrize("suffix", ["npy", "npz", "parquet"])
@pytest.mark.parametrize("kept", [0.0, 0.1, 0.5, 0.98])
def test_truncated_binary_files(suffix, kept, tmp_path):
    path = tables.write(tmp_path / f"t.{suffix}", np.random.default_rng(0).normal(size=(50, 3)))
    whole = path.read_bytes()
    path.write_bytes(whole[: int(kept * len(whole))])
    with pytest.raises(ValueError, match="must be a whole"):
        tables.read(path)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.array([[1, None]], dtype=object), "without pickled objects"),
        (np.array([["a"]]), "real numbers"),
        (np.ones((2, 2)) * 1j, "real numbers"),
        (np.ones(3), r"shape \(3,\)"),
        (np.ones((0, 3)), r"shape \(0, 3\)"),
    ],
)
def test_arrays_that_are_no_tables(values, message, tmp_path):
    np.save(tmp_path / "t.npy", values)
    with pytest.raises(ValueError, match=message):
        tables.read(tmp_path / "t.npy")


def test_npz_with_pickled_objects(tmp_path):
    np.savez(tmp_path / "t.npz", x=np.array([[1, None]], dtype=object))
    with pytest.raises(ValueError, match="without pickled objects"):
        tables.read(tmp_path / "t.npz")


def test_npz_picks_by_key_then_by_preference_then_asks(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, z=np.zeros((2, 2)), w=np.ones((2, 3)))
    assert tables.read(f"{path}:w").values.shape == (2, 3)
    assert tables.read(path, keys=("x", "z")).values.shape == (2, 2)
    with pytest.raises(ValueError, match=r"it holds z, w. Pick one as `t.npz:name`"):
        tables.read(path)
    with pytest.raises(ValueError, match="must hold an array 'q'"):
        tables.read(f"{path}:q")


def test_npz_with_one_array_needs_no_key(tmp_path):
    np.savez(tmp_path / "t.npz", anything=np.ones((2, 2)))
    assert tables.read(tmp_path / "t.npz").values.shape == (2, 2)


@pytest.mark.parametrize("data", [{"a": ["x", "y"]}, {"a": [[1.0], [2.0]]}])
def test_parquet_with_columns_that_are_no_numbers(data, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    parquet.write_table(arrow.table(data), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"must have a numeric column, its columns hold (text|lists)"):
        tables.read(tmp_path / "t.parquet")


def test_parquet_with_missing_values_and_with_a_pandas_index(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0]}, index=["p", "q"])
    frame.to_parquet(tmp_path / "t.parquet")
    assert tables.read(tmp_path / "t.parquet").names == ("a",)
    frame.assign(b=pandas.array([1, None], dtype="Int64")).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="column 'b' has 1"):
        tables.read(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no.csv", "a file that exists"),
        ("t.xlsx", "Save the sheet as CSV"),
        ("t.rds", "end in one of"),
        ("", "it is a folder"),
    ],
)
def test_paths_that_are_no_tables(name, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        tables.read(tmp_path / name)


@pytest.mark.parametrize("name", ["t.xlsx", "missing/t.csv", "folder.csv"])
def test_paths_that_cannot_be_written(name, tmp_path):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ValueError, match="`--out` must"):
        tables.write(tmp_path / name, np.ones((2, 2)))


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tables.write(tmp_path / "t.npy", np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"[Oo]bject"):
        tables.write(path, np.array([[object()]], dtype=object))
    np.testing.assert_array_equal(tables.read(path).values, np.ones((2, 2)))
    assert [entry.name for entry in tmp_path.iterdir()] == ["t.npy"]


def raw_safetensors(header, data):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def one_tensor(dtype, shape, size):
    return raw_safetensors({"z": {"dtype": dtype, "shape": shape, "data_offsets": [0, size]}}, bytes(size))


def test_safetensors_pick_by_key_then_by_preference_then_ask(tmp_path):
    path, values = tmp_path / "t.safetensors", np.arange(6, dtype=np.float32).reshape(3, 2)
    save_file({"z": values, "w": np.ones((2, 3))}, path)
    np.testing.assert_array_equal(tables.read(path, keys=("x", "z")).values, values)
    assert tables.read(path, keys=("z",)).values.dtype == np.float32
    assert tables.read(f"{path}:w").values.shape == (2, 3)
    with pytest.raises(ValueError, match=r"it holds w, z. Pick one as `t.safetensors:name`"):
        tables.read(path)
    with pytest.raises(ValueError, match="must hold an array 'q'"):
        tables.read(f"{path}:q")


@given(values=arrays(np.uint16, (3, 2), elements=st.integers(0, 0x7F7F)))
def test_bfloat16_is_read_exactly(values, tmp_path_factory):
    path = tmp_path_factory.mktemp("t") / "t.safetensors"
    header = {"z": {"dtype": "BF16", "shape": [3, 2], "data_offsets": [0, 12]}}
    path.write_bytes(raw_safetensors(header, values.astype("<u2").tobytes()))
    expected = torch.from_numpy(values.astype(np.int16)).view(torch.bfloat16).float().numpy()
    np.testing.assert_array_equal(tables.read(path).values, expected)


@pytest.mark.parametrize("kept", [0.0, 0.01, 0.1, 0.5, 0.98])
def test_truncated_safetensors(kept, tmp_path):
    save_file({"x": np.random.default_rng(0).normal(size=(50, 3))}, tmp_path / "t.safetensors")
    whole = (tmp_path / "t.safetensors").read_bytes()
    (tmp_path / "t.safetensors").write_bytes(whole[: int(kept * len(whole))])
    with pytest.raises(ValueError, match="must be a whole safetensors file"):
        tables.read(tmp_path / "t.safetensors")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff" * 100, "must be a whole"),
        (struct.pack("<Q", 2) + b"{}", "it holds none"),
        (struct.pack("<Q", 9) + b"not json!", "must be a whole"),
        (one_tensor("F32", [10**6, 10**6], 24), "must be a whole"),
        (one_tensor("F32", [-1, 2], 24), "must be a whole"),
        (one_tensor("F8_E4M3", [2, 3], 6), "types that numpy knows"),
        (one_tensor("F32", [6], 24), r"shape \(6,\)"),
        (pickle.dumps({"z": [1.0]}), "must be a whole"),
    ],
    ids=["noise", "empty", "no json", "bomb", "negative", "float8", "vector", "pickle"],
)
def test_hostile_safetensors(content, message, tmp_path):
    (tmp_path / "t.safetensors").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        tables.read(tmp_path / "t.safetensors")


def test_safetensors_come_back_as_they_were_written(tmp_path):
    values = np.random.default_rng(0).normal(size=(5, 4))[:, ::2]  # not in one piece
    path = tables.write(tmp_path / "t.safetensors", values, ["a", "b"], key="z")
    np.testing.assert_array_equal(tables.read(path).values, values)


@pytest.mark.parametrize("suffix", ["csv", "csv.gz"])
def test_pieces_of_a_file_that_are_read_side_by_side_keep_their_order(suffix, tmp_path, monkeypatch):
    monkeypatch.setattr("unmix.tables._csv._PIECE", 256)
    values = np.random.default_rng(0).normal(size=(500, 7))
    words = np.array([f"w{i}" for i in range(500)], dtype=object)
    like = tables.Table(values, None, {"word": words})
    path = tables.write(tmp_path / f"t.{suffix}", values, [f"c{j}" for j in range(7)], like=like)
    table = tables.read(path)
    np.testing.assert_array_equal(table.values, values)
    assert table.metadata["word"].tolist() == words.tolist()
    late = path.with_name("late.csv")
    late.write_text("a,b\n" + "1,2\n" * 300 + "1,x\n" + "1,2\n" * 300)
    with pytest.raises(ValueError, match="'x'"):
        tables.read(late)


@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("way", ["plain", "gzipped", "quoted"])
def test_very_many_columns_are_read_some_at_a_time(end, way, tmp_path, monkeypatch):
    rng, file = np.random.default_rng(0), tmp_path / "x.csv"
    values = rng.normal(size=(9, 7))
    head = ["id", *(f"c{j}" for j in range(7)), "batch"]
    rows = [[f"r{i}", *map(str, row), "one\ntwo" if way == "quoted" else "b"] for i, row in enumerate(values)]
    text = "\n".join(",".join(f'"{c}"' if "\n" in c else c for c in row) for row in (head, *rows)) + end
    file.write_bytes(gzip.compress(text.encode()) if way == "gzipped" else text.encode())
    at_once = tables.read(file)
    monkeypatch.setattr("unmix.tables._csv._TOGETHER", 2)
    found = tables.read(file)
    np.testing.assert_array_equal(found.values, values)
    np.testing.assert_array_equal(found.values, at_once.values)
    assert found.names == at_once.names and found.metadata.keys() == at_once.metadata.keys()


@pytest.mark.parametrize("size", [16, 64, 1 << 21])
@pytest.mark.parametrize("blanks", [1, 40, 500])
def test_blank_lines_of_one_column_are_rows_however_many_there_are(size, blanks, tmp_path, monkeypatch):
    monkeypatch.setattr("unmix.tables._csv._PIECE", size)
    (tmp_path / "one.csv").write_text("a\n" + "1.5\n" * 30 + "\n" * blanks + "2.5\n" * 30 + "\n" * 100)
    with pytest.raises(ValueError, match=f"column 'a' has {blanks} "):
        tables.read(tmp_path / "one.csv")


@pytest.mark.parametrize("text", ["a,b\n1,2\n3,4\n", 'a,b\n"x\ny",2\nz,4\n'], ids=["pieces", "whole"])
def test_no_thread_of_arrow_outlives_the_reading_of_a_csv_file(tmp_path, monkeypatch, text):
    import pyarrow.csv

    asked, as_ever = [], pyarrow.csv.read_csv

    def watched(stream, options, *others):
        asked.append(options.use_threads)
        return as_ever(stream, options, *others)

    monkeypatch.setattr("unmix.tables._csv.pcsv.read_csv", watched)
    (tmp_path / "x.csv").write_text(text)
    tables.read(tmp_path / "x.csv")
    assert asked and not any(asked)  # such a thread aborts a program that ends soon after
