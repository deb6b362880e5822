import numpy as np
import pytest
from sklearn.base import BaseEstimator

from unmix.structure import Structure
from unmix.theory import refitted_structures, stability


class Large(BaseEstimator):
    """Edge (0, 1) where the mean of the data is above zero; keeps the seeds and sizes it was fitted with."""

    seen = []

    def __init__(self, random_state=None, checkpoint=None):
        self.random_state = random_state
        self.checkpoint = checkpoint

    def fit(self, X, y=None):
        self.seen.append((len(X), self.random_state, self.checkpoint))
        self.structure_ = Structure([[1, X.mean() > 0], [0, 1]])
        return self


def test_refits_see_random_halves_from_other_seeds_and_no_checkpoint():
    Large.seen.clear()
    model = Large(random_state=7, checkpoint="run")
    found = refitted_structures(model, np.arange(11.0)[:, None] - 5.2, 6)
    assert len(found) == 6 and [size for size, _, _ in Large.seen] == [6] * 6
    assert len({seed for _, seed, _ in Large.seen}) == 6 and {run for _, _, run in Large.seen} == {None}
    assert not hasattr(model, "structure_") and model.checkpoint == "run"


def test_the_frequency_of_an_edge_is_the_share_of_halves_that_show_it():
    x = np.random.default_rng(0).normal(size=(60, 1)) + 0.05
    found = refitted_structures(Large(), x, 40, random_state=1)
    again = refitted_structures(Large(), x, 40, random_state=1)
    share = np.mean([each.support[0, 1] for each in found])
    assert 0 < share < 1 and found == again
    reference = Structure([[1, 1], [0, 1]])
    assert stability(found, reference=reference).frequencies[0, 1] == pytest.approx(share)


def test_one_refit_gives_no_frequency():
    with pytest.raises(ValueError, match="`n_refits` must be at least 2, got 1"):
        refitted_structures(Large(), np.zeros((4, 1)), 1)
