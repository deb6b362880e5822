"""Mistakes that people make with tables, and what they are told: one line that says the way out.

To add one: a function that makes the mistake in a folder, and words of the message.
"""

import re
import warnings

import numpy as np
import pytest

from unmix.metrics import mcc
from unmix.tables import Columns, Recipe, label_of, prepared, read, read_like

ROWS = np.random.default_rng(0).normal(size=(30, 3))


def csv(folder, text, name="t.csv", encoding="utf-8"):
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def reading(text, **columns):
    """Read a CSV file of this text."""
    return lambda folder: read(csv(folder, text), columns=Columns(**columns))


def cells(**parts):
    anndata = pytest.importorskip("anndata")
    pandas = pytest.importorskip("pandas")
    obs = pandas.DataFrame(index=[f"cell{i}" for i in range(4)])
    return anndata.AnnData(obs=obs, **parts)


def h5ad(folder, made):
    made.write_h5ad(folder / "t.h5ad")
    return folder / "t.h5ad"


def excel_by_another_name(folder):
    (folder / "t.csv").write_bytes(b"PK\x03\x04" + bytes(100))
    return read(folder / "t.csv")


def a_spreadsheet(folder):
    (folder / "t.xlsx").write_bytes(b"PK\x03\x04")
    return read(folder / "t.xlsx")


def a_folder(folder):
    return read(folder)


def half_a_gzip(folder):
    import gzip

    whole = gzip.compress(b"a,b\n" + b"1.5,2.5\n" * 2000)
    (folder / "t.csv.gz").write_bytes(whole[: len(whole) // 2])
    return read(folder / "t.csv.gz")


def utf16(folder):
    return read(csv(folder, "a,b\n1,2\n", encoding="utf-16"))


def windows_letters(folder):
    return read(csv(folder, "größe,b\n1,2\n", encoding="cp1252"))


def no_x(folder):
    made = cells()
    made.obsm["X_pca"] = np.ones((4, 2))
    return read(h5ad(folder, made))


def unknown_layer(folder):
    return read(cells(X=np.ones((4, 2)), layers={"counts": np.ones((4, 2))}), columns=Columns(layer="count"))


def unknown_obsm(folder):
    return read(cells(X=np.ones((4, 2))), columns=Columns(obsm="X_umap"))


def labels_with_holes(folder):
    return label_of(read(csv(folder, "plate,a\np,1\n,2\n")), "plate")


def unknown_label(folder):
    return label_of(read(csv(folder, "Plate,a\np,1\nq,2\n")), "plate")


def columns_gone(folder):
    return read_like(csv(folder, "a,c\n1,2\n"), Recipe(("a", "b")))


def too_few_columns(folder):
    return read_like(ROWS, Recipe(("x0", "x1"), named=False, n_columns=7))


def holes_for_a_model(folder):
    return read_like(csv(folder, "a,b\n1,\n"), Recipe(("a", "b"), medians=(1.0, 2.0)))


def nothing_varies(folder):
    return prepared(read(csv(folder, "a,b\n1,2\n1,2\n")), "t.csv")


def grey_images(folder):
    np.save(folder / "grey.npy", np.zeros((5, 8, 8), dtype=np.uint8))
    return read(folder / "grey.npy")


def no_row_is_whole(folder):
    return read(csv(folder, "a,b\n1,\n,2\n"), columns=Columns(missing="drop-rows"))


MISTAKES = {
    "grey images without channels": (
        grey_images,
        "got shape (5, 8, 8). Reshape it to (n, d), or give grey images an axis of channels, `X[..., None]`",
    ),
    "empty file": (reading("\n"), "must hold numbers, it is empty"),
    "header only": (reading("a,b\n"), "it has only a header"),
    "ragged rows": (reading("a,b\n1,2\n3\n"), "must have 2 cells in every row, data row 2 has 1"),
    "repeated names": (reading("a,b,a\n1,2,3\n"), "different names for columns, it repeats 'a'"),
    "a column without a name": (reading("a,\n1,2\n"), "a name for every column but the first"),
    "another delimiter": (reading("a|b|c\n1|2|3\n4|5|6\n"), "it seems to have '|'"),
    "spaces between cells": (reading("a b c\n1 2 3\n4 5 6\n"), "it seems to have spaces"),
    "decimal commas": (reading('a;b\n"1,5";2\n2,5;3\n'), "with a decimal point, column 'a' holds '1,5'"),
    "decimal commas without a header": (reading("1,5;2,5\n3,5;1\n"), "column 1 holds '1,5'"),
    "decimal commas between commas": (reading("a,b\n1,5,2,5\n"), "Are these decimal commas?"),
    "a word among numbers": (
        reading("a,b\n1,2\n3,4\n5,<0.1\n"),
        "data row 3, column 'b' holds the text '<0.1'",
    ),
    "a mark with a space": (reading("a,b\n1,2\n3, NA\n5,7\n"), "data row 2, column 'b' holds the text ' NA'"),
    "text only": (reading("a,b\nx,y\nz,w\n"), "must have a numeric column, its columns hold text"),
    "dates as features": (
        reading("day,a\n2020-01-01,1\n2020-01-02,2\n", features=("day",)),
        "'day' of `t.csv` holds dates",
    ),
    "text as a feature": (reading("gene,a\nx,1\ny,2\n", features=("gene",)), "holds text. Leave it out"),
    "unknown column": (
        reading("Cells_Area,Nuclei_Area\n1,2\n3,4\n", features=("cells_area",)),
        "`--features` must name columns of `t.csv`, got 'cells_area'. Did you mean 'Cells_Area'",
    ),
    "a pattern without a match": (reading("a,b\n1,2\n", drop=("Cells_*",)), "`--drop` must name columns"),
    "unknown id": (reading("a,b\n1,2\n", id="cell"), "`--id` must name columns of `t.csv`, got 'cell'"),
    "ids with repeats": (reading("p,a\nx,1\nx,2\ny,3\n", id="p"), "'p' holds 'x' 2 times"),
    "empty cells": (
        reading("a,b,c,d,e\n1,,,,1\n2,NA,5,NaN,\n,3,4,NULL,1\n1,1,1,1,1\n"),
        "column 'd' has 3, 'b' has 2, 'a' has 1 and 2 more columns have some (3 of 4 rows). Fill them in, or "
        "choose --missing median, drop-rows or drop-columns",
    ),
    "infinite values": (reading("a,b\n1,inf\n2,3\n"), "must have finite values, column 'b' has 1 infinite"),
    "no row without holes": (no_row_is_whole, "a row without missing values, all 2 have some"),
    "an unknown way with holes": (
        reading("a\n1\n", missing="mean"),
        "`missing` must be one of error, drop-rows",
    ),
    "constant columns only": (nothing_varies, "must have a feature to work with, none is left (constant)"),
    "Excel by another name": (
        excel_by_another_name,
        "an Excel workbook by another name. Save the sheet as CSV",
    ),
    "a spreadsheet": (a_spreadsheet, "not a spreadsheet. Save the sheet as CSV"),
    "UTF-16": (utf16, "it looks like UTF-16. Save it again as CSV UTF-8"),
    "letters of Windows": (windows_letters, "must be text in UTF-8, byte 3 is not"),
    "half a file": (half_a_gzip, "must be a whole file"),
    "a folder": (a_folder, "must be a file, it is a folder"),
    "H5AD without X": (no_x, "must have an array X, it has none. Take --obsm X_pca"),
    "unknown layer": (unknown_layer, "got 'count'. Did you mean 'counts'?"),
    "unknown obsm": (unknown_obsm, "got 'X_umap'. It has none"),
    "labels with holes": (labels_with_holes, "a label in every row, 'plate' lacks 1 of 2"),
    "unknown label": (unknown_label, "got 'plate'. Did you mean 'Plate'?"),
    "columns that a model lacks": (columns_gone, "the columns that the model was fitted on, it lacks 'b'"),
    "too few columns for a model": (
        too_few_columns,
        "must have 2 or 7 features, as the table of the fit, got 3",
    ),
    "holes for a model": (holes_for_a_model, "column 'b' has 1 (1 of 1 rows)"),
    "a vector": (lambda folder: read(np.ones(3)), "must have rows and columns, got shape (3,)"),
    "AnnData for an array": (lambda folder: mcc(cells(X=np.ones((4, 2))), ROWS), "got an AnnData object"),
    "objects": (lambda folder: read(np.array([["a", 1]], dtype=object)), "real numbers, got objects"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_in_one_line_with_a_way_out(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make, words = MISTAKES[name]
    with pytest.raises((ValueError, TypeError)) as told:
        make(tmp_path)
    message = str(told.value).replace(f"{tmp_path}/", "")
    assert words in message
    assert re.match(r"`[^`]+` must ", message) and "\n" not in message and len(message) < 400


NOTES = {
    "codes": ("plate,a\n1,.5\n2,.7\n1,.3\n", "Whole numbers that may be codes are features: 'plate'"),
    "on its side": ("a,b,c\n1,2,4\n4,7,5\n", "more columns (3) than rows (2)"),
    "flags": ("a,treated\n1,true\n2,false\n", "since they hold true and false: 'treated'"),
    "nothing": ("a,b\n1,\n2,\n", "since they hold nothing: 'b'"),
    "constant": ("a,b\n1,3\n2,3\n", "Dropped 1 column, constant: 'b'"),
    "copy": ("a,b\n1,1\n2,2\n", "Dropped 1 column, a copy of another: 'b'"),
}


@pytest.mark.parametrize("name", NOTES)
def test_what_is_odd_is_noted(name, tmp_path):
    text, words = NOTES[name]
    assert any(words in note for note in prepared(read(csv(tmp_path, text))).notes)


def test_a_plain_table_gets_no_note(tmp_path):
    text = "\n".join(["a,b", *(f"{x},{y}" for x, y, _ in ROWS)])
    assert prepared(read(csv(tmp_path, text))).notes == ()


@pytest.mark.parametrize(
    "first", ["1.5,?,2.5", "?,1,2", "-,7.25,3.5", "1.5,missing,2.5", "A01,2.5,1.5", "3,2,x,5"]
)
def test_a_row_with_an_unknown_mark_for_a_missing_value_does_not_become_a_header(first, tmp_path):
    lines = [first, *(",".join(str(3 * k + j + 0.5) for j in range(first.count(",") + 1)) for k in range(20))]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match="must have names or numbers in its first line, it has both"):
        read(tmp_path / "t.csv")


@pytest.mark.parametrize(
    "first", ["id,400.5,401,401.5", ",0,1,2", "age,height,1990,2000", "a,b,c", "NA,1.5,2.5"]
)
@pytest.mark.parametrize("n", [1, 21])
def test_as_many_rows_come_out_as_went_in(first, n, tmp_path):
    rows = [
        ",".join([str(k), *(str(k * j % 7 + 0.25) for j in range(1, first.count(",") + 1))]) for k in range(n)
    ]
    (tmp_path / "t.csv").write_text("\n".join([first, *rows]) + "\n")
    table = read(tmp_path / "t.csv", columns=Columns(missing="median"))
    assert len(table.values) == n + (first == "NA,1.5,2.5")


@pytest.mark.parametrize("end", ["", "\n", "\n\n\n", "\r\n"])
@pytest.mark.parametrize("first", ["a\n", "\n\na\n", "0.5\n", "\n0.5\n"])
def test_a_blank_line_of_one_column_is_a_missing_value_and_none_at_an_end(first, end, tmp_path):
    (tmp_path / "t.csv").write_text(first + "1.5\n\n2.5\n3.5" + end)
    with pytest.raises(ValueError, match="must have no missing values"):
        read(tmp_path / "t.csv")
    table = read(tmp_path / "t.csv", columns=Columns(missing="median"))
    assert len(table.values) == 4 + ("a" not in first)


def test_a_header_without_a_line_break_is_a_header(tmp_path):
    (tmp_path / "t.csv").write_text("a,b")
    with pytest.raises(ValueError, match="it has only a header"):
        read(tmp_path / "t.csv")


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "feather", "npz", "h5ad"])
def test_of_two_columns_of_one_name_none_is_chosen_silently(suffix, tmp_path):
    anndata, pa = pytest.importorskip("anndata"), pytest.importorskip("pyarrow")
    x, names, path = np.arange(12.0).reshape(4, 3), ["a", "a", "b"], tmp_path / f"t.{suffix}"
    table = pa.table(list(x.T), names=names)
    between = "\t" if suffix == "tsv" else ","
    if suffix in ("csv", "tsv"):
        path.write_text("\n".join(between.join(map(str, row)) for row in [names, *x]))
    elif suffix == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, path)
    elif suffix == "feather":
        pytest.importorskip("pyarrow.feather").write_feather(table, path)
    elif suffix == "npz":
        np.savez(path, x=x, x_names=np.array(names))
    else:
        with warnings.catch_warnings(action="ignore"):
            cells = anndata.AnnData(x)
            cells.var_names = names
            cells.write_h5ad(path)
    with (
        warnings.catch_warnings(action="ignore"),
        pytest.raises(ValueError, match="must have different names for columns, it repeats 'a'"),
    ):
        read(path)
