"""The picture of the number of latents shows the trials, the chosen number and what survives."""

import matplotlib.pyplot as plt
import pytest

from unmix import plots
from unmix.choice import Agreement
from unmix.solvers.number import Number, Trial

TRIALS = (Trial(0, 0, 4.0, False), Trial(2, 2, 1.0, False), Trial(1, 1, 2.0, False), Trial(3, 2, 0.5, True))


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def test_it_shows_every_trial_in_order_and_marks_the_number():
    ax = plots.latent_number(Number(2, 2, 3, 1.5, 0.1, 0.0, TRIALS, 100, 20))
    linear, bent, chosen = ax.lines
    assert linear.get_xydata().tolist() == [[0, 4], [1, 2], [2, 1]]
    assert bent.get_xydata().tolist() == [[2, 0.5]]
    assert chosen.get_xdata() == [2, 2] and chosen.get_label() == "2 latents"


def test_where_nothing_stops_it_says_so():
    ax = plots.latent_number(Number(None, 2, 3, 1.5, 0.1, 0.2, TRIALS, 100, 20))
    assert ax.lines[-1].get_label() == "nothing stops" and ax.lines[-1].get_linestyle() == ":"


def test_agreement_has_an_axis_of_its_own_beside_its_null():
    seen = [Agreement(1, 0.9, 0.8), Agreement(2, 0.95, 0.4)]
    ax = plots.latent_number(Number(2, 2, 3, 1.5, 0.1, 0.0, TRIALS, 100, 20), agreement=seen)
    found, null = ax.figure.axes[1].lines
    assert found.get_ydata().tolist() == [0.9, 0.95] and null.get_ydata().tolist() == [0.8, 0.4]
