"""What was done to the first table is done to the next one: columns by name, holes by medians of the fit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmix.tables import (
    Columns,
    Recipe,
    Table,
    blocks_like,
    other_units,
    prepared,
    read,
    read_like,
    write,
    writing,
)

NAMES = ("a", "b", "c", "d")


@pytest.fixture
def x():
    return np.random.default_rng(0).normal(size=(40, 4))


def with_holes(x, *places):
    x = x.copy()
    for place in places:
        x[place] = np.nan
    return x


def saved(folder, x, names=NAMES, name="t.csv"):
    return write(folder / name, x, names)


def test_medians_fill_holes_and_are_kept(x, tmp_path):
    holes = with_holes(x, (3, 1), (7, 1), (9, 2))
    table = prepared(read(saved(tmp_path, holes), columns=Columns(missing="median")))
    whole = np.isfinite(holes)
    np.testing.assert_array_equal(table.values[whole], holes[whole])
    assert table.values[3, 1] == np.nanmedian(holes[:, 1]) == table.recipe.medians[1]
    assert any("Filled 3 missing values in 2 columns" in note for note in table.notes)
    other, kept = read_like(with_holes(x[:2], (0, 1)), table.recipe)
    assert other.values[0, 1] == table.recipe.medians[1] and kept.all()


def test_rows_with_holes_go_with_all_that_belongs_to_them(x, tmp_path):
    like = Table(x, NAMES, {"well": np.array([f"w{i}" for i in range(40)], dtype=object)})
    path = write(tmp_path / "t.csv", with_holes(x, (3, 1), (7, 0)), NAMES, like=like)
    table = read(path, columns=Columns(missing="drop-rows"))
    rest = np.setdiff1d(np.arange(40), [3, 7])
    np.testing.assert_array_equal(table.values, x[rest])
    np.testing.assert_array_equal(np.flatnonzero(table.kept), rest)
    assert table.metadata["well"].tolist() == [f"w{i}" for i in rest]
    assert table.beside.column("well").to_pylist() == [f"w{i}" for i in rest]


def test_columns_with_holes_go_and_are_remembered(x, tmp_path):
    table = read(saved(tmp_path, with_holes(x, (3, 1))), columns=Columns(missing="drop-columns"))
    assert table.names == ("a", "c", "d") and table.recipe.dropped == {"b": "missing values in it"}


def test_constant_and_repeated_columns_go_the_first_copy_stays(x):
    wide = np.column_stack([x[:, 0], np.full(40, 3.3), x[:, 1], x[:, 0], -x[:, 1], x[:, 1] + 1e-9])
    table = prepared(read(wide))
    np.testing.assert_array_equal(table.values, wide[:, [0, 2, 4, 5]])
    assert table.recipe.dropped == {"x1": "constant", "x3": "a copy of another"}
    np.testing.assert_array_equal(read_like(wide, table.recipe)[0].values, table.values)


def test_what_was_of_no_use_is_no_metadata_of_later_tables(x, tmp_path):
    path = saved(tmp_path, np.column_stack([x[:, :2], np.full(40, 3.3), x[:, 0]]))
    table = prepared(read(path))
    again = read_like(path, table.recipe)[0]
    np.testing.assert_array_equal(again.values, x[:, :2])
    assert table.names == ("a", "b") and not again.metadata and not again.beside.column_names


@given(st.permutations([*NAMES, "extra", "note"]))
def test_the_order_of_columns_is_free_and_others_are_welcome(order):
    x = np.arange(12.0).reshape(2, 6)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({name: x[:, j] for j, name in enumerate([*NAMES, "extra"])}).assign(note="n")
    recipe = prepared(read(frame, columns=Columns(features=NAMES))).recipe
    table, _ = read_like(frame[list(order)], recipe)
    np.testing.assert_array_equal(table.values, x[:, :4])
    assert list(table.metadata) == [name for name in order if name not in NAMES]


def test_rows_in_are_rows_out(x):
    recipe = prepared(read(with_holes(x, (1, 1)), columns=Columns(missing="drop-rows"))).recipe
    table, whole = read_like(with_holes(x, (0, 0), (5, 3)), recipe)
    assert len(table.values) == 40 and np.isfinite(table.values).all()
    np.testing.assert_array_equal(np.flatnonzero(~whole), [0, 5])


def test_a_recipe_passes_through_plain_data(x):
    recipe = prepared(read(x), "x").recipe.noting("seen")
    again = Recipe.from_dict(recipe.to_dict() | {"of a later version": 1})
    assert again.to_dict() == recipe.to_dict() and again.notes[-1] == "seen"


@pytest.mark.parametrize("factor", [1.0, 3.0, 1000.0])
def test_other_units_are_noticed(factor, x):
    recipe = prepared(read(x + 5)).recipe
    assert bool(other_units((x + 5) * [1, factor, 1, 1], recipe)) == (factor > 10)


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "tsv", "parquet", "feather", "npy", "npz"])
@pytest.mark.parametrize("source", ["parquet", "feather", "csv"])
def test_blocks_join_to_the_whole(source, suffix, tmp_path, monkeypatch):
    monkeypatch.setattr("unmix.tables._stream.ENTRIES", 12)
    x = np.random.default_rng(1).normal(size=(23, 3))
    like = Table(x, ("a", "b", "c"), {"well": np.array([f"w,{i}" for i in range(23)], dtype=object)})
    path = write(tmp_path / f"t.{source}", x, ("a", "b", "c"), like=like)
    recipe = Recipe(("c", "a"))
    n_blocks = 0
    with writing(tmp_path / f"out.{suffix}", ["z0", "z1"], key="z") as put:
        for table, _ in blocks_like(path, recipe):
            put(table.values, table)
            n_blocks += 1
    assert n_blocks == (8 if source == "parquet" else 1)
    again = read(
        tmp_path / f"out.{suffix}", keys=("z",), columns=Columns(drop=() if suffix[:2] == "np" else ("b",))
    )
    np.testing.assert_array_equal(again.values, x[:, [2, 0]])
    if suffix[:2] != "np":
        assert again.metadata["well"].tolist() == [f"w,{i}" for i in range(23)]


def test_a_stream_that_breaks_leaves_nothing(tmp_path):
    with pytest.raises(RuntimeError), writing(tmp_path / "out.csv", ["z0"]) as put:
        put(np.zeros((2, 1)), Table(np.zeros((2, 1))))
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
