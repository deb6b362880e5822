"""Names of rows: one column, several together, an index, or another array of the same file."""

import numpy as np
import pandas as pd
import pytest

from unmix.tables import Columns, Recipe, read, read_beside, read_like, write

PAIRS = ["p1|A01", "p1|A02", "p2|A01", "p2|A02"]


@pytest.fixture
def frame():
    """Wells that two columns name together, which stand apart in the table."""
    columns = {"plate": ["p1", "p1", "p2", "p2"], "area": [1.0, 2, 3, 4], "dose": [0.5, 1, 2, 4]}
    return pd.DataFrame({**columns, "well": ["A01", "A02", "A01", "A02"]})


@pytest.mark.parametrize("suffix", [".csv", ".tsv.gz", ".parquet", ".feather", "frame"])
def test_several_columns_name_rows_together_and_come_back_as_they_were(frame, tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    if suffix == "frame":
        path = frame
    elif suffix in (".parquet", ".feather"):
        getattr(frame, f"to_{suffix[1:]}")(path)
    else:
        frame.to_csv(path, sep="\t" if "tsv" in suffix else ",", index=False)
    table = read(path, columns=Columns(id="plate,well"))
    assert table.ids.tolist() == PAIRS and table.names == ("area", "dose")
    assert list(table.metadata) == ["plate", "well"]  # ids first, wherever they stood
    out = write(tmp_path / "z.csv", table.values[:, :1], ["z0"], like=table)
    assert out.read_text().splitlines()[:2] == ["plate,well,z0", "p1,A01,1"]


def test_a_file_in_blocks_has_the_same_ids(frame, tmp_path):
    frame.to_parquet(tmp_path / "t.parquet")
    table, recipe = read_beside(tmp_path / "t.parquet", Columns(id="plate,well"))
    assert table.ids.tolist() == PAIRS and recipe.features == ("area", "dose")
    again, _ = read_like(tmp_path / "t.parquet", Recipe(("dose",)), columns=Columns(id="plate,well"))
    assert again.ids.tolist() == PAIRS and again.values[:, 0].tolist() == [0.5, 1, 2, 4]


def test_pairs_that_repeat_are_refused_and_so_are_names_that_no_column_has(frame):
    twice = frame.assign(plate="p1")
    with pytest.raises(ValueError, match=r"'plate,well' holds 'p1\|A01' 2 times"):
        read(twice, columns=Columns(id="plate,well"))
    with pytest.raises(ValueError, match=r"several \(plate,well\)"):
        read(frame, columns=Columns(id="plate"))
    with pytest.raises(ValueError, match=r"`--id` must name columns of `X`, got 'wel'. Did you mean 'well'"):
        read(frame, columns=Columns(id="plate,wel"))


def test_words_of_an_npz_file_name_rows(tmp_path):
    words = np.array(["sauce", "surgery", "pentium"])
    np.savez(tmp_path / "t.npz", x=np.eye(3), word=words, count=np.arange(3), short=words[:2])
    assert read(tmp_path / "t.npz", columns=Columns(id="word")).ids.tolist() == words.tolist()
    assert read(tmp_path / "t.npz:x", columns=Columns(id="count")).ids.tolist() == ["0", "1", "2"]
    table = read(tmp_path / "t.npz", columns=Columns(id="word"))
    again = read(write(tmp_path / "z.npz", table.values, like=table))
    assert again.ids.tolist() == words.tolist()
    out = write(tmp_path / "z.csv", table.values[:, :1], ["z0"], like=table)
    assert out.read_text().splitlines()[:2] == ["word,z0", "sauce,1"]


def test_an_array_that_can_name_no_rows_is_refused(tmp_path):
    np.savez(tmp_path / "t.npz", x=np.eye(3), short=np.array(["a", "b"]), same=np.array(["a", "a", "b"]))
    with pytest.raises(ValueError, match=r"one value for each of the 3 rows, 'short' .* has shape \(2,\)"):
        read(tmp_path / "t.npz", columns=Columns(id="short"))
    with pytest.raises(ValueError, match="'same' holds 'a' 2 times"):
        read(tmp_path / "t.npz", columns=Columns(id="same"))
    with pytest.raises(ValueError, match=r"`--id` must name columns of .*, got 'words'"):
        read(tmp_path / "t.npz", columns=Columns(id="words"))


def test_the_index_of_a_frame_may_be_asked_for_by_its_name(frame, tmp_path):
    indexed = frame.assign(key=["a", "b", "c", "d"]).set_index("key")
    indexed.to_parquet(tmp_path / "t.parquet")
    for source in (indexed, tmp_path / "t.parquet"):
        assert read(source, columns=Columns(id="key")).ids.tolist() == ["a", "b", "c", "d"]
