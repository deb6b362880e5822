"""Large files are prepared as tables in memory are, in one pass over blocks."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmix.tables import Columns, is_large, prepared, read, survey
from unmix.tables import _survey as module


def written(path, values, **more):
    columns = {f"f{j}": column for j, column in enumerate(values.T)} | more
    pa.parquet.write_table(pa.table(columns), path, row_group_size=7)
    return path


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 40), st.sampled_from(["error", "median", "drop-columns"]))
def test_a_survey_says_what_reading_it_all_says(tmp_path_factory, seed, n_rows, missing):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 3, size=(n_rows, 6)).astype(rng.choice(["float32", "float64"]))
    values[:, 5] = values[:, rng.integers(5)]
    if missing != "error":
        values[rng.random(values.shape) < 0.1] = rng.choice([np.nan, np.inf])
    path = written(
        tmp_path_factory.mktemp("survey") / "x.parquet", values, well=[f"W{i}" for i in range(n_rows)]
    )
    columns = Columns(missing=missing, id="well")
    try:
        whole = prepared(read(path, columns=columns), str(path))
    except ValueError as error:
        with pytest.raises(ValueError) as told:
            survey(path, columns)
        assert str(told.value) == str(error)
        return
    found = survey(path, columns)
    np.testing.assert_array_equal(found.rows.take(0, n_rows), whole.values)
    np.testing.assert_array_equal(found.table.values, whole.values)
    assert found.rows.names == whole.names and found.table.ids.tolist() == whole.ids.tolist()
    ours, theirs = found.table.recipe.to_dict(), whole.recipe.to_dict()
    for told in (ours, theirs):
        told["notes"] = [note for note in told["notes"] if not note.startswith("Filled")]
    assert ours == theirs


def test_rows_that_are_kept_are_spread_over_the_file_and_keep_their_names(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "FEW", 10)
    values = np.random.default_rng(0).normal(size=(95, 3))
    path = written(tmp_path / "x.parquet", values, well=[f"W{i}" for i in range(95)])
    found = survey(path, Columns(id="well"))
    assert found.table.ids.tolist() == [f"W{i}" for i in range(0, 95, 10)] and found.rows.n_rows == 95
    np.testing.assert_array_equal(found.table.values, values[::10])
    shares = []
    survey(path, Columns(id="well"), on_progress=shares.append)
    assert shares[-1] == 1 and shares == sorted(shares)


def test_small_files_other_formats_and_rows_that_must_go_are_read_whole(tmp_path, monkeypatch):
    path = written(tmp_path / "x.parquet", np.ones((20, 2)))
    assert not is_large(path, Columns())
    monkeypatch.setattr(module, "LARGE", 39)
    assert is_large(path, Columns()) and not is_large(path, Columns(missing="drop-rows"))
    assert not is_large(tmp_path / "x.csv", Columns()) and not is_large(tmp_path / "none.parquet", Columns())


def test_of_wide_tables_fewer_rows_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_KEPT", 60)
    monkeypatch.setattr(module, "_LEAST", 5)
    values = np.random.default_rng(0).normal(size=(100, 6))
    found = survey(written(tmp_path / "x.parquet", values), Columns())
    np.testing.assert_array_equal(found.table.values, values[::10])
    monkeypatch.setattr(module, "_KEPT", 6)
    assert len(survey(tmp_path / "x.parquet", Columns()).table.values) == 5
