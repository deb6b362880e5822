"""Pictures of mixtures and graphs show exactly what they were given."""

from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from unmix import plots


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@given(active=arrays(bool, st.tuples(st.integers(1, 12), st.integers(1, 4))))
def test_activity_shows_every_pattern_once_and_the_shares_add_up(active):
    ax = plots.activity(active)
    drawn = [tuple(row) for row in ax.images[0].get_array().astype(bool)]
    counts = [sum(tuple(row) == pattern for row in active) for pattern in drawn]
    assert len(set(drawn)) == len(drawn) and sum(counts) == len(active)
    assert counts == sorted(counts, reverse=True)
    assert [text.get_text() for text in ax.get_yticklabels()] == [
        f"{100 * count / len(active):.2g}%" for count in counts
    ]
    plt.close(ax.figure)


@given(active=arrays(bool, st.tuples(st.integers(1, 12), st.integers(1, 4))))
def test_components_stack_shares_over_ranks(active):
    ax = plots.components(active)
    for rank in range(active.shape[1] + 1):
        tops = [bar.get_y() + bar.get_height() for bar in ax.patches if round(bar.get_x() + 0.4) == rank]
        assert max(tops, default=0.0) == pytest.approx((active.sum(1) == rank).mean())
    plt.close(ax.figure)


def test_a_model_brings_its_masks_and_weights():
    model = SimpleNamespace(masks_=np.eye(2, dtype=bool), weights_=np.array([0.25, 0.75]))
    ax = plots.activity(model, latent_names=["p", "q"])
    np.testing.assert_array_equal(ax.images[0].get_array(), [[0, 1], [1, 0]])
    assert [text.get_text() for text in ax.get_xticklabels()] == ["p", "q"]
    assert [bar.get_height() for bar in plots.components(model).patches] == [0.75, 0.25]


def test_rare_patterns_are_counted_where_not_drawn():
    ax = plots.activity(np.array([[1, 0], [1, 0], [0, 1], [1, 1]]), max_patterns=1)
    assert ax.images[0].get_array().shape == (1, 2) and "2 more not drawn" in ax.get_ylabel()


@given(marks=st.lists(st.sampled_from([(0, 0), (1, 0), (0, 1), (1, 1)]), min_size=6, max_size=6))
def test_causal_graph_draws_each_edge_once_with_its_direction(marks):
    edges = np.zeros((4, 4), dtype=int)
    for (i, j), (there, back) in zip(zip(*np.triu_indices(4, 1), strict=True), marks, strict=True):
        edges[i, j], edges[j, i] = there, back
    ax = plots.causal_graph(edges)
    arrows = {f"{i}→{j}" for i, j in np.argwhere(edges & ~edges.T & 1)}
    lines = {f"{i}—{j}" for i, j in np.argwhere(edges & edges.T) if i < j}
    assert sorted(patch.get_gid() for patch in ax.patches) == sorted(arrows | lines)
    plt.close(ax.figure)


def test_names_of_latents_stand_at_their_places():
    ax = plots.causal_graph([[0, 1], [0, 0]], names=["cause", "effect"])
    assert [text.get_text() for text in ax.texts] == ["cause", "effect"]
    assert ax.texts[0].get_position()[1] > ax.texts[1].get_position()[1]


@pytest.mark.parametrize(
    ("draw", "wrong", "words"),
    [
        (plots.activity, [[0.5]], "`source` must be"),
        (plots.components, [1, 0], "`source` must be"),
        (plots.causal_graph, [[1]], "`adjacency` must be"),
        (plots.causal_graph, [[0, 1]], "`adjacency` must be"),
        (lambda values: plots.activity(values, max_patterns=0), [[1]], "`max_patterns` must be"),
    ],
)
def test_bad_input(draw, wrong, words):
    with pytest.raises(ValueError, match=words):
        draw(wrong)
