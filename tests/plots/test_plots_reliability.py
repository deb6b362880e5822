"""The reliability diagram shows what it is given."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import PathCollection
from pytest import approx

from unmix.plots import reliability

BINS = {
    "quick": [(0.1, 0.0, 0.0, 0.3, 9), (0.95, 1.0, 0.8, 1.0, 25)],
    "full": [(0.05, 0.1, 0.02, 0.4, 4), (0.5, 0.6, 0.3, 0.8, 16), (0.97, 0.9, 0.7, 0.95, 100)],
}


@pytest.fixture
def ax():
    yield reliability(BINS, threshold=0.9)
    plt.close("all")


def test_every_bin_is_a_point_with_its_interval(ax):
    for rows, drawn in zip(BINS.values(), ax.containers, strict=True):
        line, _, (bars,) = drawn.lines
        p, share, low, high, _ = np.transpose(rows)
        assert line.get_xdata() == approx(p, abs=0.01) and line.get_ydata() == approx(share)
        ends = np.array([segment[:, 1] for segment in bars.get_segments()])
        assert ends == approx(np.column_stack([low, high]))


def test_points_of_efforts_do_not_hide_each_other():
    same = {effort: BINS["quick"] for effort in ("none", "quick", "full")}
    first, *_, last = (drawn.lines[0].get_xdata() for drawn in reliability(same).containers)
    assert (last > first).all() and np.mean(last + first) / 2 == approx(np.mean([0.1, 0.95]))
    plt.close("all")


def test_more_units_are_larger_points(ax):
    few, many = (points.get_sizes() for points in ax.collections if isinstance(points, PathCollection))
    assert (np.diff(few) > 0).all() and (np.diff(many) > 0).all() and many.max() > few.max()


def test_the_diagonal_the_threshold_and_the_efforts_are_named(ax):
    diagonal = ax.lines[0]
    assert diagonal.get_xdata().tolist() == diagonal.get_ydata().tolist() == [0, 1]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(BINS)
    (trusted,) = [text for text in ax.texts if "trusted" in text.get_text()]
    assert trusted.get_position()[0] == 0.9


def test_it_draws_where_it_is_told_and_without_a_threshold():
    _, own = plt.subplots()
    assert reliability({"full": BINS["full"]}, ax=own) is own and not own.texts
    plt.close("all")
