"""The table about generators: what its scores say of real images, of noise, and of content."""

import numpy as np
import pytest

from unmix.experiments.engine import Place
from unmix.experiments.papers.cg import gan


def found(row, column):
    cell = next(cell for cell in gan.CELLS if (cell.row, cell.column) == (row, column))
    return gan.run(cell, 0, "smoke", Place("cpu"))


@pytest.mark.parametrize("world", [gan.DIGITS, gan.ROOMS])
def test_real_pairs_are_nearer_than_noise_and_pairs_are_pairs(world):
    real, noise = found(gan.REAL, world), found(gan.NOISE, world)
    assert real[gan.FRECHET] < noise[gan.FRECHET] and real[gan.KERNEL] < noise[gan.KERNEL]
    assert noise[gan.CONTENT] == pytest.approx(1, abs=0.15)
    pairs = gan.pairs_of(world, 16, 0)
    near, far = (
        np.abs(pairs.first.astype(float) - other).mean() for other in (pairs.second, pairs.second[::-1])
    )
    assert near < far


def test_a_generator_gets_every_score():
    scores = found("CG-GAN", gan.DIGITS)
    assert set(scores) == {gan.FRECHET, gan.KERNEL, gan.CONTENT, gan.SPECIFIC}
    assert all(np.isfinite(value) for value in scores.values()) and scores[gan.SPECIFIC] == 1


@pytest.mark.parametrize("shift", [0.0, 5.0])
def test_content_is_kept_where_partners_are_alike_up_to_the_domain(shift):
    x = np.random.default_rng(0).normal(size=(300, 6))
    assert gan.content_distance(x, x + shift) == pytest.approx(0, abs=1e-9)
    half = gan.content_distance(x, x + shift + np.random.default_rng(1).normal(size=x.shape))
    assert 0.4 < half < 0.9
    assert gan.content_distance(x, x[::-1] + shift) == pytest.approx(1, abs=0.1)
