"""Scores ball by ball, and the tables of balls at their smallest."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group

from unmix.experiments.papers.pdgmm import _balls, d10, d11
from unmix.experiments.papers.pdgmm._balls import POINTS, SECOND, ball_scores, coordinate_scores

Z = np.random.default_rng(0).normal(size=(600, 6))


@given(seed=st.integers(0, 50))
def test_planes_are_all_that_counts(seed):
    """Any invertible map within each ball, any order, scale and shift of codes leave the scores at 1."""
    rng = np.random.default_rng(seed)
    within = np.zeros((6, 6))
    for ball in range(3):
        within[2 * ball : 2 * ball + 2, 2 * ball : 2 * ball + 2] = ortho_group.rvs(
            2, random_state=rng
        ) * rng.uniform(0.5, 2)
    codes = (Z @ within)[:, rng.permutation(6)] * rng.choice([-1, 1], 6) + rng.normal(size=6)
    np.testing.assert_allclose(ball_scores(Z, codes), 1, atol=1e-6)


def test_order_of_balls_is_order_of_scores_and_noise_lowers_its_own():
    codes = Z.copy()
    codes[:, 2:4] += np.random.default_rng(1).normal(size=(600, 2))
    found = ball_scores(Z, codes)
    assert (
        found[0] == pytest.approx(1)
        and found[2] == pytest.approx(1)
        and found[1] == pytest.approx(0.5, abs=0.1)
    )
    np.testing.assert_allclose(ball_scores(Z[:, [2, 3, 0, 1, 4, 5]], codes), found[[1, 0, 2]], atol=0.02)


def test_a_turn_across_balls_and_codes_that_are_missing_cost():
    turned = ball_scores(Z, Z @ ortho_group.rvs(6, random_state=0))
    assert turned.mean() < 0.75
    few = ball_scores(Z, Z[:, :3])
    assert few[0] == pytest.approx(1) and few[1] == pytest.approx(0.5, abs=0.01) and few[2] == 0
    assert ball_scores(Z, np.ones((600, 6))).max() < 0.1


def test_coordinates_ask_for_more_than_planes():
    own, other = coordinate_scores(Z[:, :4], Z[:, [2, 0, 3, 1]])
    assert own == pytest.approx(1) and other < 0.05
    turn = np.kron(np.eye(2), [[0.8, 0.6], [-0.6, 0.8]])
    own, other = coordinate_scores(Z[:, :4], Z[:, :4] @ turn)
    assert own == pytest.approx(0.64, abs=0.05) and other == pytest.approx(0.36, abs=0.08)
    assert ball_scores(Z[:, :4], Z[:, :4] @ turn).min() == pytest.approx(1)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("table", [d10, d11])
def test_the_smallest_run_has_every_number_and_the_same_ones_again(table):
    cells = {cell.row: cell for cell in table.CELLS if cell.settings["n_balls"] == 2}
    for method in (POINTS, SECOND):
        wanted = {cell.value for cell in table.CELLS if cell.row == method}
        values = table.run(cells[method], 0, "smoke")
        assert wanted <= values.keys() and all(np.isfinite(value) for value in values.values())
    assert values == table.run(cells[SECOND], 0, "smoke")


def test_published_numbers_are_means_over_balls():
    papers = {cell.column: cell.paper for cell in d10.CELLS if cell.row == POINTS and cell.value == d10.MEAN}
    assert papers == pytest.approx({"2 balls": 0.936, "4 balls": 0.9045, "6 balls": 0.436}, abs=1e-3)


@pytest.mark.parametrize(
    ("explained", "kept", "tried"), [((0.97,), 0, 1), ((0.6, 0.96), 1, 2), ((0.6, 0.8, 0.7), 1, 3)]
)
def test_another_start_is_tried_where_too_little_is_explained(monkeypatch, explained, kept, tried):
    class Start:
        def __init__(self, number):
            self.number = number

        def fit(self, images):
            return self

        def score(self, images):
            return explained[self.number]

    made = []
    monkeypatch.setattr(_balls, "first_stage", lambda *given: made.append(given[2]) or Start(len(made) - 1))
    assert _balls._fitted(POINTS, 4, 7, "gpu", "cpu", np.zeros(3)).number == kept
    assert made == [7 + 10_000 * k for k in range(tried)]
