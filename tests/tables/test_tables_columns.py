"""Which columns are features, ids, metadata and labels, whatever the container."""

import numpy as np
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmix.tables import Columns, Table, label_of, names_in, prepared, read, write

TEXT = (
    "Metadata_Well,gene,Cells_Area,Cells_Shape,Nuclei_Area,treated,day,Metadata_Dose\n"
    "A01,TP53,1,2.5,3,true,2020-01-01,0.10\n"
    "A02,NA,4,5.5,7,false,2020-01-02,0.25\n"
    "A03,,8,9.5,5,true,2020-01-03,1.00\n"
)


@pytest.fixture
def file(tmp_path):
    (tmp_path / "t.csv").write_text(TEXT)
    return tmp_path / "t.csv"


@pytest.mark.parametrize(
    ("columns", "features"),
    [
        ({}, ("Cells_Area", "Cells_Shape", "Nuclei_Area")),
        ({"features": ("Cells_*",)}, ("Cells_Area", "Cells_Shape")),
        ({"features": ("Nuclei_Area,Cells_Area",)}, ("Cells_Area", "Nuclei_Area")),
        ({"features": ("*Area",), "drop": ("Cells_*",)}, ("Nuclei_Area",)),
        ({"features": ("treated", "Metadata_Dose")}, ("treated", "Metadata_Dose")),
        ({"drop": ("Cells_Shape",)}, ("Cells_Area", "Nuclei_Area")),
        ({"labels": ("Cells_Shape",)}, ("Cells_Area", "Nuclei_Area")),
        ({"id": "Cells_Shape"}, ("Cells_Area", "Nuclei_Area")),
        ({"metadata_prefix": ("Metadata_", "Nuclei_")}, ("Cells_Area", "Cells_Shape")),
    ],
)
def test_names_and_patterns_choose(columns, features, file):
    assert read(file, columns=Columns(**columns)).names == features


def test_metadata_are_all_other_columns_in_order_and_as_they_were(file):
    table = read(file, columns=Columns(features=("Cells_Shape",)))
    assert list(table.metadata) == [n for n in TEXT.partition("\n")[0].split(",") if n != "Cells_Shape"]
    assert table.metadata["gene"].tolist() == ["TP53", "NA", None], "a gene may be called NA"
    assert table.metadata["day"].tolist()[0] == "2020-01-01"
    assert table.metadata["treated"].tolist() == [True, False, True]
    np.testing.assert_array_equal(table.metadata["Metadata_Dose"], [0.1, 0.25, 1.0])


def test_flags_are_numbers_when_asked_for(file):
    table = read(file, columns=Columns(features=("treated", "Cells_Area")))
    np.testing.assert_array_equal(table.values, [[1, 1], [4, 0], [8, 1]])


def test_a_table_of_flags_is_a_table(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\ntrue,false\nfalse,false\n")
    np.testing.assert_array_equal(read(tmp_path / "t.csv").values, [[1, 0], [0, 0]])


def test_what_is_written_comes_back_as_it_was_written(file, tmp_path):
    table = read(file)
    again = write(tmp_path / "out.csv", table.values, table.names, like=table)
    lines, first = again.read_text().splitlines(), TEXT.splitlines()
    assert lines[0] == "Metadata_Well,gene,treated,day,Metadata_Dose,Cells_Area,Cells_Shape,Nuclei_Area"
    assert lines[1] == "A01,TP53,true,2020-01-01,0.10,1,2.5,3"
    assert len(lines) == len(first)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("NA,2\n3,4\n", None),
        (",2\n3,4\n", None),
        ("NaN,NULL\n3,4\n", None),
        ("1,b\n3,4\n", ("1", "b")),
        ("\n\n1,b\n3,4\n", ("1", "b")),
    ],
)
def test_a_missing_value_in_the_first_line_is_no_header(text, names, tmp_path):
    (tmp_path / "t.csv").write_text(text + "5,6\n")
    table = read(tmp_path / "t.csv", columns=Columns(missing="median"))
    assert table.names == names and len(table.values) == (3 if names is None else 2)


@pytest.mark.parametrize("ids", [["r1", "r2"], ["007", "008"], ["0", "1"]])
def test_a_first_column_without_a_name_holds_ids(ids, tmp_path):
    (tmp_path / "t.csv").write_text(f",a,b\n{ids[0]},1,2\n{ids[1]},3,4\n")
    table = read(tmp_path / "t.csv")
    assert table.ids.tolist() == ids and table.names == ("a", "b")


def test_an_id_keeps_its_zeros(tmp_path):
    (tmp_path / "t.csv").write_text("cell,a\n007,1\n012,2\n")
    table = read(tmp_path / "t.csv", columns=Columns(id="cell"))
    assert table.ids.tolist() == ["007", "012"] and table.id_name == "cell" and not table.metadata


def test_a_column_may_change_its_kind_after_a_long_while(tmp_path):
    """The first piece of a file says whole numbers, a later one has a point, a word, or a line break."""
    n = 1_200_000
    (tmp_path / "t.csv").write_text("a,b,note\n" + "1,22222,ok\n" * n + "2.5,3,ok\n")
    assert read(tmp_path / "t.csv").values[-1].tolist() == [2.5, 3.0]
    (tmp_path / "t.csv").write_text("a,b,note\n" + "1,22222,\n" * n + '2.5,3,"two\nlines"\n')
    table = read(tmp_path / "t.csv")
    assert table.values.shape == (n + 1, 2) and table.metadata["note"][-1] == "two\nlines"


texts = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=4)


@given(st.lists(st.tuples(texts, texts, texts), min_size=2, max_size=8))
def test_labels_of_several_columns_are_equal_where_all_columns_are(rows):
    columns = {
        name: np.array(column, dtype=object)
        for name, column in zip("abc", zip(*rows, strict=True), strict=True)
    }
    made = label_of(Table(np.zeros((len(rows), 1)), None, columns), ["a", "b", "c"])
    for i, first in enumerate(rows):
        for j, second in enumerate(rows):
            assert (made[i] == made[j]) == (first == second)


def test_a_label_of_one_column_is_that_column():
    table = Table(np.arange(4.0).reshape(2, 2), ("a", "b"), {"p": np.array(["x|y", "z"], dtype=object)})
    assert label_of(table, "p").tolist() == ["x|y", "z"]
    assert label_of(table, "b").tolist() == [1.0, 3.0]
    assert label_of(table, "p b").tolist() == ["x\\|y|1", "z|3"]


def test_names_with_commas_and_spaces_stay_whole():
    assert names_in(["cell area", "x,y", "a,b"], ["cell area", "x,y"]) == ["cell area", "x,y", "a", "b"]


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_hold_what_their_files_hold(kind, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "well": ["a", None, "c"],
            "plate": pandas.Categorical(["p", "q", "p"]),
            "day": pandas.to_datetime(["2020-01-01"] * 3),
            "x": np.array([1, 2, 4], np.float32),
            "y": np.array([1, 0, 4], np.float32),
        },
    )
    held = frame if kind == "pandas" else pytest.importorskip("polars").from_pandas(frame)
    table = read(held)
    assert table.names == ("x", "y") and table.values.dtype == np.float32
    assert table.metadata["well"].tolist() == ["a", None, "c"]
    assert table.metadata["plate"].tolist() == ["p", "q", "p"]
    again = read(write(tmp_path / "t.parquet", table.values, table.names, like=table))
    assert again.metadata["day"].tolist() == table.metadata["day"].tolist()
    schema = pyarrow.parquet.read_schema(tmp_path / "t.parquet")
    assert pyarrow.types.is_timestamp(schema.field("day").type), "dates stay dates"


def test_an_index_is_ids_unless_it_counts():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0]}, index=pandas.Index(["p", "q"], name="cell"))
    assert read(frame).ids.tolist() == ["p", "q"] and read(frame).id_name == "cell"
    assert read(frame.reset_index(drop=True)).ids is None
    pairs = pandas.MultiIndex.from_tuples([("e1", 1), ("e1", 2)])
    assert read(frame.set_index(pairs)).ids.tolist() == ["e1|1", "e1|2"]


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_units_and_the_index_come_from_the_file(suffix, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0]}, index=pandas.Index(["p", "q"], name="cell"))
    made = pyarrow.Table.from_pandas(frame)
    field = made.schema.field("a").with_metadata({"unit": "um"})
    made = made.cast(pyarrow.schema([field, made.schema.field("cell")], metadata=made.schema.metadata))
    path = tmp_path / f"t.{suffix}"
    (pyarrow.parquet.write_table if suffix == "parquet" else pyarrow.feather.write_feather)(made, path)
    table = read(path)
    assert table.ids.tolist() == ["p", "q"] and table.id_name == "cell"
    assert prepared(table).recipe.units == {"a": "um"}


def test_cells_bring_ids_obs_layers_and_obsm(tmp_path):
    anndata, pandas = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    from scipy.sparse import csr_matrix

    obs = pandas.DataFrame({"batch": ["b1", "b2"], "n": [3, 4]}, index=["c1", "c2"])
    cells = anndata.AnnData(csr_matrix(np.eye(2, 3, dtype=np.float32)), obs=obs)
    cells.layers["raw"] = np.full((2, 3), 7.0)
    cells.obsm["X_pca"] = np.full((2, 2), 5.0)
    cells.write_h5ad(tmp_path / "t.h5ad")
    for source in (cells, tmp_path / "t.h5ad"):
        table = read(source)
        np.testing.assert_array_equal(table.values, np.eye(2, 3))
        assert table.ids.tolist() == ["c1", "c2"] and list(table.metadata) == ["batch", "n"]
        assert table.values.dtype == np.float32 and table.names == ("0", "1", "2")
        assert read(source, columns=Columns(layer="raw")).values.tolist() == [[7.0] * 3] * 2
        assert read(source, columns=Columns(obsm="X_pca")).names == ("X_pca_0", "X_pca_1")
