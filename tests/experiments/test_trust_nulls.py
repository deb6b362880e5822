"""Null worlds of every estimator: each has some, labels say nothing, and a trusted latent is counted."""

import numpy as np
import pytest

from unmix import evidence
from unmix.evidence import ARGUMENTS
from unmix.evidence._calibration import threshold
from unmix.experiments.papers.trust import dictionaries, nulls
from unmix.experiments.papers.trust.nulls import CELLS, CLEAN, LARGEST, WORLDS

CELL = next(cell for cell in CELLS if cell.column == "FastICA" and cell.value == CLEAN)


def test_every_estimator_that_can_be_trusted_has_null_worlds():
    made = {name: [type(f.model(f.draw(300, 0), 0)).__name__ for f in each] for name, each in WORLDS.items()}
    assert all(len(set(each)) == 1 and len(each) >= 2 for each in made.values())
    assert {each[0] for each in made.values()} == set(ARGUMENTS) - {"SparseAutoencoder"}
    assert sum(family.null for family in dictionaries.FAMILIES.values()) >= 3  # the null worlds of its atoms
    assert all(family.null for each in WORLDS.values() for family in each)
    assert {cell.column for cell in CELLS} == set(WORLDS)


@pytest.mark.parametrize("family", WORLDS["labelled autoencoder"], ids=lambda family: family.name)
def test_labels_have_nothing_to_do_with_the_world(family):
    data = family.draw(4000, 3)
    means = np.array([data.z[data.u == label].mean(0) for label in range(nulls.N_LABELS)])
    assert family.labelled and len(data.u) == len(data.x)
    assert np.abs(means - data.z.mean(0)).max() < 5 * data.z.std() / np.sqrt(1000)
    np.testing.assert_array_equal(data.u, family.draw(4000, 3).u)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_one_trusted_latent_spoils_a_data_set(monkeypatch):
    before = nulls.run(CELL, 0, "smoke")
    assert before == nulls.run(CELL, 0, "smoke") and 0 <= before[LARGEST] <= 1
    assert before[CLEAN] == (before[LARGEST] < threshold())
    monkeypatch.setattr(evidence.Trust, "probability", np.array([0.1, 0.95]))
    assert nulls.run(CELL, 0, "smoke") == {CLEAN: 0.0, LARGEST: 0.95}
