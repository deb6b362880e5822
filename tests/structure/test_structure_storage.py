"""Reading and writing structures, whole or not at all."""

import json

import numpy as np
import pytest

from unmix.structure import Structure, diverse

SUPPORT = [[1, 0], [1, 1], [0, 1]]


@pytest.mark.parametrize("suffix", [".csv", ".npy", ".json", ".CSV"])
def test_what_is_written_is_read_back(tmp_path, suffix):
    structure = diverse(7, 4, random_state=0)
    path = structure.write(tmp_path / f"s{suffix}")
    assert Structure.read(path) == structure
    assert [file.name for file in tmp_path.iterdir()] == [f"s{suffix}"]


@pytest.mark.parametrize("margin", [None, 2.5, np.inf])
def test_json_keeps_the_margin(tmp_path, margin):
    path = Structure(SUPPORT, margin=margin).write(str(tmp_path / "s.json"))
    assert Structure.read(path).margin == margin
    json.loads(path.read_text(), parse_constant=pytest.fail)  # strict JSON: no Infinity


@pytest.mark.parametrize(
    "text",
    [
        "1,0\n1,1\n0,1\n",
        "1,0\r\n1,1\r\n0,1",
        "\ufeff1,0\n1,1\n0,1\n",
        " 1 , 0\n1,1\n0,1\n\n",
        "1.0,0.0\n1.0,1.0\n0.0,1.0\n",
        "True,False\nTrue,True\nFalse,True\n",
        "z0,z1\n1,0\n1,1\n0,1\n",
        "a,1,0\nb,1,1\nc,0,1\n",
        "gene,z0,z1\na,1,0\nb,1,1\nc,0,1\n",
        ",z0,z1\na,1,0\nb,1,1\nc,0,1\n",
        ",0,1\n0,1,0\n1,1,1\n2,0,1\n",
    ],
)
def test_csv_with_or_without_header_and_labels(tmp_path, text):
    path = tmp_path / "s.csv"
    path.write_bytes(text.encode())
    assert Structure.read(path) == Structure(SUPPORT)


@pytest.mark.parametrize("text", ["0\n1\n", "z0\n0\n1\n", ",z0\na,0\nb,1\n"])
def test_csv_with_one_column(tmp_path, text):
    path = tmp_path / "s.csv"
    path.write_text(text)
    assert Structure.read(path) == Structure([[0], [1]])


def test_csv_that_is_no_text_is_named(tmp_path):
    path = tmp_path / "s.csv"
    path.write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(ValueError, match="text file"):
        Structure.read(path)


def test_npy_cut_off_or_pickled_is_refused(tmp_path):
    path = Structure(SUPPORT).write(tmp_path / "s.npy")
    whole = path.read_bytes()
    for size in [0, 3, 60, len(whole) - 1]:
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match="must be a whole NPY file"):
            Structure.read(path)
    np.save(path, np.array([{"evil": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="must be a whole NPY file"):
        Structure.read(path)


@pytest.mark.parametrize(
    ("suffix", "text", "words"),
    [
        ("csv", "", "at least one row"),
        ("csv", "z0,z1\n", "only a header"),
        ("csv", "1,0\n1\n", "1 cells in row 2"),
        ("csv", "1,0\n1,\n", "got ''"),
        ("csv", "1,0\n1,x\n", "got 'x'"),
        ("csv", "1,0\n1,nan\n", "got nan"),
        ("csv", "1,0\n1,0.3\n", "got 0.3"),
        ("csv", "1,0\n1,2\n", "got 2"),
        ("csv", "\x00\x01\n", "`path` must|`support` must"),
        ("json", '{"support": [[1, 0], [1', "whole JSON"),
        ("json", '{"edges": 3}', "`support` key"),
        ("json", "3", "`support` key"),
        ("json", "[[1, 0], [1]]", "unequal length"),
        ("json", '{"support": [[1, 2]]}', "got 2"),
        ("json", '{"support": [[NaN, 1]]}', "got nan"),
        ("json", '{"support": [["a"]]}', "booleans or numbers"),
        ("json", '{"support": null}', "shape"),
        ("json", '{"support": [[1]], "margin": "wide"}', "`margin` must be a number"),
    ],
)
def test_bad_text_is_named(tmp_path, suffix, text, words):
    path = tmp_path / f"s.{suffix}"
    path.write_text(text)
    with pytest.raises(TypeError if words == "booleans or numbers" else ValueError, match=words):
        Structure.read(path)


def test_json_may_be_a_bare_list(tmp_path):
    path = tmp_path / "s.json"
    path.write_text("[[1, 0], [1, 1], [0, 1]]")
    assert Structure.read(path) == Structure(SUPPORT)


def test_unknown_suffix_and_missing_file(tmp_path):
    with pytest.raises(ValueError, match=r"\.csv, \.npy or \.json"):
        Structure.read(tmp_path / "s.xlsx")
    with pytest.raises(ValueError, match=r"\.csv, \.npy or \.json"):
        Structure(SUPPORT).write(tmp_path / "s")
    with pytest.raises(FileNotFoundError):
        Structure.read(tmp_path / "none.csv")
