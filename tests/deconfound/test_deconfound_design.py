"""Batches, controls, metadata from another file, and how far batch and label go together."""

import numpy as np
import pytest

from unmix.deconfound import confounding, confounding_of, design, joined_by_id, known_of, shared_key

META = {"experiment": ["e1", "e1", "e2", "e2"], "plate": [1, 2, 1, 2], "gene": ["-", "A", "-", "B"]}


def test_a_plate_number_repeats_between_experiments_so_that_the_pair_is_the_batch():
    where = design(META, ["experiment", "plate"])
    assert where.names == ("e1|1", "e1|2", "e2|1", "e2|2") and where.nested
    assert where.outer.tolist() == [0, 0, 1, 1] and where.control.all() and not where.given
    assert not design(META, ["plate"]).nested


@pytest.mark.parametrize(
    ("batch", "control", "words"),
    [
        (["plat"], None, "`batch` must name a column, got 'plat'. The columns are: experiment, plate, gene"),
        ([], None, "`batch` must name at least one column"),
        (["experiment"], "gene == 'EMPTY'", "which matches none"),
        (["plate"], "gene == '-'", "got none in 1 of 2 ('2')"),
        (["one"], None, "must have at least two values, got 'x' only"),
        (["holes"], None, "1 missing in column 'holes' (first in row 2)"),
    ],
)
def test_mistakes_are_named(batch, control, words):
    more = {"one": ["x"] * 4, "holes": np.array(["a", "b", None, "a"], dtype=object)}
    with pytest.raises(ValueError, match="must") as error:
        design(META | more, batch, control)
    assert words in str(error.value)


def test_metadata_come_in_the_order_of_the_table():
    meta = {"well": np.array([30.0, 10.0, 20.0]), "gene": np.array(["c", "a", "b"])}
    assert joined_by_id(np.array(["10", "20"], dtype=object), meta, "well")["gene"].tolist() == ["a", "b"]
    assert shared_key(["plate", "well"], meta, None) == ["well"]


def test_rows_that_are_missing_or_repeated_are_named():
    meta = {"well": np.array(["a", "b", "b"])}
    with pytest.raises(ValueError, match=r"got 'b' more than once"):
        joined_by_id(np.array(["a"]), meta, "well")
    with pytest.raises(ValueError, match=r"got no well 'd', 'e' and 2 more|'d', 'e', 'f' and 1 more"):
        joined_by_id(np.array(["a", "d", "e", "f", "g"]), {"well": np.array(["a"])}, "well")
    with pytest.raises(ValueError, match=r"They share 'x', 'y'"):
        shared_key(["x", "y"], {"x": None, "y": None}, None)


def test_cramers_v_is_none_for_independent_labels_and_one_for_determined_ones():
    rng = np.random.default_rng(0)
    batch = rng.integers(5, size=2000)
    assert confounding(batch, rng.integers(4, size=2000)).cramers_v < 0.05
    found = confounding(batch, batch)
    assert found.cramers_v == pytest.approx(1) and found.determined and len(found.in_one_batch) == 5


def test_of_few_rows_chance_is_taken_off():
    rng = np.random.default_rng(0)
    raw = [confounding(rng.integers(8, size=40), rng.integers(8, size=40)).cramers_v for _ in range(50)]
    assert np.mean(raw) < 0.15  # without the correction it would be .4


def test_where_batch_determines_label_it_refuses_unless_controls_are_in_each_batch():
    meta = {"plate": [1, 1, 2, 2], "gene": ["A", "A", "B", "B"]}
    with pytest.raises(
        ValueError, match="must not determine `label`, got one label in each of the 2 batches"
    ):
        confounding_of(design(meta, ["plate"]), known_of(meta, label=["gene"]))
    meta = {"plate": [1, 1, 2, 2], "gene": ["-", "A", "-", "B"]}
    found = confounding_of(design(meta, ["plate"], "gene == '-'"), known_of(meta, label=["gene"]))
    assert found.in_one_batch == ("A", "B")
