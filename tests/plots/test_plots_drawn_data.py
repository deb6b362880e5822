"""Every picture shows exactly the numbers it was given."""

from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from models import LinearModel
from unmix import plots
from unmix.metrics import Matching, match_components
from unmix.structure import Structure

supports = arrays(bool, array_shapes(min_dims=2, max_dims=2, max_side=6))


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture
def ax():
    return plt.figure().add_subplot()


@given(support=supports)
def test_structure_shows_the_support(support):
    ax = plots.structure(Structure(support))
    np.testing.assert_array_equal(ax.images[0].get_array(), support)
    plt.close(ax.figure)


def test_structure_with_strength_shades_by_strength_and_dots_the_edges(ax):
    strength = np.array([[1.0, 0.3], [0.05, 1.0], [1.0, 0.9]])
    plots.structure(Structure(strength > 0.2), ax, strength=strength)
    np.testing.assert_array_equal(ax.images[0].get_array(), strength)
    dots = {(int(row), int(column)) for column, row in ax.collections[0].get_offsets()}
    assert dots == {(0, 0), (0, 1), (1, 1), (2, 0), (2, 1)}


@pytest.mark.parametrize("strength", [np.ones((2, 3)), np.full((2, 2), 1.5), np.full((2, 2), np.nan)])
def test_structure_refuses_a_strength_that_does_not_fit(strength, ax):
    with pytest.raises(ValueError, match="`strength` must"):
        plots.structure(Structure(np.eye(2)), ax, strength=strength)


def test_structure_names(ax):
    plots.structure(Structure(np.eye(2)), ax, observed_names=["gene $a$", "b" * 40], latent_names=["p", "q"])
    assert [text.get_text() for text in ax.get_yticklabels()] == [r"gene \$a\$", "b" * 9 + "…" + "b" * 8]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["p", "q"]
    with pytest.raises(ValueError, match="`latent_names` must hold 2 names, got 1"):
        plots.structure(Structure(np.eye(2)), ax, latent_names=["p"])


def test_large_structures_keep_few_labels(ax):
    plots.structure(Structure(np.ones((200, 3))), ax)
    assert len(ax.get_yticks()) <= 24


def test_zero_is_transparent_and_one_is_not(ax):
    image = plots.structure(Structure([[0, 1]]), ax).images[0]
    alphas = image.to_rgba(image.get_array())[..., 3].ravel()
    assert alphas[0] == 0 and alphas[1] > 0.5


def test_correlation_is_signed_and_matched(ax):
    z = np.random.default_rng(0).normal(size=(500, 3))
    matching = match_components(z, np.stack([z[:, 2], -z[:, 0], z[:, 1]], axis=1))
    plots.correlation(matching, ax)
    np.testing.assert_allclose(np.diagonal(ax.images[0].get_array()), [-1, 1, 1])
    assert [text.get_text() for text in ax.get_xticklabels()] == ["ẑ1", "ẑ2", "ẑ0"]
    written = {text.get_position(): text.get_text() for text in ax.texts}
    assert written[(0, 0)] == "-1.00" and written[(1, 1)] == "1.00"


@pytest.mark.parametrize(
    ("matching", "drawn"),
    [
        (Matching((2,), (1,), np.array([[0.1, -0.2, 0.9]])), [[0.9, 0.1, -0.2]]),
        (Matching((-1, 0), (0, 1), np.array([[0.1], [0.9]])), [[0.1], [0.9]]),
    ],
    ids=["unmatched codes last", "fewer codes than factors"],
)
def test_correlation_with_other_numbers_of_codes(matching, drawn, ax):
    np.testing.assert_array_equal(plots.correlation(matching, ax).images[0].get_array(), drawn)


@given(n=st.integers(1, 2000))
def test_history_keeps_the_mean_and_the_length_in_check(n):
    term = np.random.default_rng(n).normal(size=n)
    ax = plots.history({"fit": term, "penalty": term**2})
    steps, values = ax.lines[0].get_data()
    assert len(values) <= 400 and steps[0] >= 0 and steps[-1] <= n - 1
    if n <= 400:
        np.testing.assert_array_equal(values, term)
    elif n % len(values) == 0:
        assert np.mean(values) == pytest.approx(term.mean())
    plt.close(ax.figure)


def test_history_takes_a_history_and_names_its_terms(ax):
    plots.history(SimpleNamespace(terms={"fit": [2.0, 1.0], "penalty": [3.0, 4.0]}), ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["fit", "penalty"]
    assert ax.get_yscale() == "log"


def test_history_with_negative_terms_is_linear(ax):
    assert plots.history({"likelihood": [-1.0, -2.0]}, ax).get_yscale() == "linear"


@pytest.mark.parametrize("empty", [{}, {"fit": []}])
def test_history_without_steps(empty, ax):
    with pytest.raises(ValueError, match="`history` must hold"):
        plots.history(empty, ax)


@given(support=supports)
def test_atoms_draws_every_region_once(support):
    structure = Structure(support)
    ax = plots.atoms(structure)
    drawn = [frozenset(int(row) for row in line.get_ydata()) for line in ax.lines]
    assert sorted(map(sorted, drawn)) == sorted(map(sorted, structure.atoms()))
    named = [label.get_text().split("\n") for label in ax.get_xticklabels()]
    wanted = [sorted(f"z{j}" for j in structure.atoms()[region]) for region in drawn]
    assert [sorted(names) for names in named] == wanted
    plt.close(ax.figure)


def linear(weights):
    return LinearModel(weights, structure_=Structure(np.asarray(weights) != 0))


def test_traversal_moves_one_latent_and_shows_standardised_changes(ax):
    model = linear([[2.0, 0.0], [1.0, 1.0], [0.0, 3.0]])
    x = model.inverse_transform(np.random.default_rng(0).normal(size=(500, 2)))
    plots.traversal(model, x, 0, ax)
    lines = {line.get_label(): line for line in ax.lines}
    assert set(lines) == {"x0", "x1", "_x2"}
    places, change = lines["x0"].get_data()
    np.testing.assert_allclose(np.diff(change) / np.diff(places), 2.0 / x[:, 0].std())
    np.testing.assert_allclose(lines["_x2"].get_ydata(), 0, atol=1e-12)
    z0 = model.transform(x)[:, 0]
    np.testing.assert_allclose([places[0], places[-1]], np.quantile(z0, [0.02, 0.98]))
    assert np.interp(np.median(z0), places, change) == pytest.approx(0, abs=1e-9)


def test_traversal_draws_the_variables_that_move_most(ax):
    model = linear(np.arange(1.0, 6.0)[:, None] * [[1.0, 0.0]] + [[0, 1.0]])
    x = model.inverse_transform(np.random.default_rng(0).normal(size=(100, 2)))
    assert len(plots.traversal(model, x, 0, ax, max_lines=2).lines) == 2


def test_traversal_of_a_latent_that_is_not_there(ax):
    with pytest.raises(ValueError, match="`latent` must be from 0 to 1, got 2"):
        plots.traversal(linear(np.eye(2)), np.eye(2), 2, ax)
