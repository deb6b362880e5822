"""One call for a table with batches."""

from inspect import signature

import numpy as np
import pandas as pd
import pytest

import unmix


@pytest.fixture
def wells():
    rng = np.random.default_rng(0)
    plate, gene = np.repeat(np.arange(12), 40), np.tile(np.repeat(["-", "A"], 20), 12)
    x = rng.normal(size=(480, 5)) + 3 * rng.normal(size=(12, 5))[plate]
    x[gene == "A", 0] += 2
    return pd.DataFrame(x, columns=list("abcde")).assign(plate=plate, gene=gene)


def test_a_frame_comes_back_adjusted_with_components_and_scores(wells):
    wells = wells.sample(frac=1, random_state=0)
    found = unmix.deconfound(wells, batch="plate", label="gene", control="gene == '-'")
    assert list(found.adjusted.index) == list(wells.index)
    assert list(found.adjusted["gene"]) == list(wells["gene"])
    base, adjusted, chance = found.scores
    assert base["leak"] > 0.7 > adjusted["leak"] and abs(adjusted["leak"] - chance["leak"]) < 0.1
    assert {line["component"] for line in found.components} == set(range(5))
    assert any(line["technical"] for line in found.components) and "leak" in str(found)


def test_it_is_the_parts_that_it_names(wells):
    found = unmix.deconfound(wells, batch="plate", control="gene == '-'")
    apart = unmix.deconfound.fit_transform(wells, batch="plate", control="gene == '-'")
    pd.testing.assert_frame_equal(found.adjusted, apart)


def test_the_room_shows_the_arguments_of_its_call_and_takes_none_for_what_is_not_there(wells):
    arguments = signature(unmix.deconfound).parameters
    assert next(iter(arguments)) == "table" and arguments["label"].default is None
    plain = unmix.deconfound(wells, batch="plate", label=None, relation=None)
    assert [line["method"] for line in plain.scores] == ["base", "anchored", "chance"]


def test_a_label_that_the_batch_determines_is_refused(wells):
    wells["gene"] = np.where(wells["plate"] < 6, "A", "B")
    with pytest.raises(ValueError, match="batch"):
        unmix.deconfound(wells, batch="plate", label="gene")


def test_a_table_is_read_by_the_name_that_people_know(wells, tmp_path):
    wells.to_csv(tmp_path / "wells.csv", index=False)
    table = unmix.read_table(tmp_path / "wells.csv")
    assert table.features is table.values and table.names[:5] == ("a", "b", "c", "d", "e")
    assert list(table.metadata["gene"]) == list(wells["gene"])
