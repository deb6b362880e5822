import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmix.data import DomainSources, DominantMixing, multi_domain
from unmix.data._domain_sources import domain_graph
from unmix.structure import Structure, ring
from unmix.theory import certify_domains


def children(graph, n=4):
    structure = domain_graph(graph, n, n)
    return [set(structure.influence(i)) for i in range(n)]


def test_graphs_have_the_children_they_are_defined_by():
    assert children("A") == [{0, 1}, {1, 2}, {2, 3}, {3, 0}]
    assert children("B") == [{0}, {0, 1}, {1, 2, 3}, {2, 3}]
    assert children("C") == [{0}, {0, 1}, {0, 1, 2}, {0, 1, 2, 3}]
    assert children("D") == [{0, 1, 2, 3}] * 4
    assert children("A", 8)[7] == {7, 0}


@pytest.mark.parametrize(("graph", "first", "second"), [("A", 2, 1), ("B", 2, 3), ("C", 4, 7), ("D", 4, 9)])
def test_domains_asked_for_by_each_graph(graph, first, second):
    plan = certify_domains(domain_graph(graph, 8, 4), 2)
    assert (plan.first_order, plan.second_order) == (first, second)


def test_rows_beyond_the_latents_leave_containment_as_it_was():
    for graph in "ABCD":
        np.testing.assert_array_equal(
            domain_graph(graph, 8, 4).contained(), domain_graph(graph, 4, 4).contained()
        )


@given(seed=st.integers(0, 10_000), changes=st.sampled_from(["both", "means", "variances"]))
def test_sources_change_only_as_asked_and_are_standardised_over_domains(seed, changes):
    sources = DomainSources.draw(4, 3, changes=changes, law="normal", rng=np.random.default_rng(seed))
    np.testing.assert_allclose(sources.means.mean(0), 0, atol=1e-12)
    np.testing.assert_allclose((sources.means**2 + sources.scales**2).mean(0), 1)
    assert (np.ptp(sources.means, axis=0) > 0).all() == (changes != "variances")
    assert (np.ptp(sources.scales, axis=0) > 1e-12).all() == (changes != "means")


@given(
    ratio=st.floats(0.2, 5),
    angle=st.floats(0, 3),
    scales=st.lists(st.floats(0.1, 3), min_size=3, max_size=3),
    bend=st.floats(0, 1),
)
def test_sources_that_change_alike_can_be_rotated_into_each_other(ratio, angle, scales, bend):
    first, turned = (
        np.array(scales),
        np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]),
    )
    second = ratio * first * np.exp([0.0, 0.0, bend])
    sources = DomainSources(np.zeros((3, 2)), np.stack([first, second], 1), "normal")
    assert sources.separation() == pytest.approx(bend * np.sqrt(2) / 3, abs=1e-9)
    whitened = np.stack([np.ones(3), second / (ratio * first)], 1)  # in units that make them equal
    left = max(abs((turned @ np.diag(s**2) @ turned.T)[0, 1]) for s in whitened)
    expected = (
        abs(np.sin(2 * angle) * np.expm1(2 * bend)) / 2
    )  # none: independent in every domain all the same
    assert left == pytest.approx(expected, abs=1e-9)


@given(seed=st.integers(0, 10_000))
def test_drawn_sources_change_differently_enough(seed):
    rng = np.random.default_rng(seed)
    for n_domains, least in ((2, 0.1), (3, 0.25), (9, 0.45)):
        sources = DomainSources.draw(n_domains, 4, changes="both", law="normal", rng=rng)
        assert sources.separation() > least
    assert DomainSources.draw(2, 4, changes="means", law="normal", rng=rng).separation() == 0


def test_the_first_draw_is_taken_where_asked_and_for_data_as_published():
    def separation(**settings):
        return multi_domain(50, random_state=1, **settings).world.sources.separation()

    assert separation() > separation(separated=False)
    assert separation(profile="dominant") == separation(profile="dominant", separated=False)
    assert separation(profile="dominant", separated=True) > separation(profile="dominant")


@pytest.mark.parametrize(("latents", "kurtosis"), [("normal", 3.0), ("laplace", 6.0), ("logistic", 4.2)])
def test_within_a_domain_sources_have_the_law_they_are_called_by(latents, kurtosis):
    data = multi_domain(40_000, 3, n_domains=2, latents=latents, random_state=0)
    e = data.world.sources.within(data.z, data.u)
    for u in (0, 1):
        own = e[data.u == u]
        np.testing.assert_allclose(own.mean(0), 0, atol=0.03)
        np.testing.assert_allclose(own.std(0), 1, atol=0.03)
        assert np.abs(np.corrcoef(own.T) - np.eye(3)).max() < 0.04
    assert (e[:, 0] ** 4).mean() == pytest.approx(kurtosis, rel=0.15)


def test_fresh_samples_come_from_the_same_domains():
    data = multi_domain(5000, 3, n_domains=2, random_state=0)
    fresh = data.world.sample(5000, random_state=1)
    for u in (0, 1):
        np.testing.assert_allclose(*(d.z[d.u == u].mean(0) for d in (data, fresh)), atol=0.1)


@given(seed=st.integers(0, 10_000), graph=st.sampled_from("ABCD"), x=st.integers(4, 7))
def test_dominant_rows_are_dominant_everywhere_and_no_edge_is_added(seed, graph, x):
    g = DominantMixing.draw(domain_graph(graph, x, 4), bent=True, rng=np.random.default_rng(seed))
    J = g.jacobian(4 * np.random.default_rng(seed + 1).normal(size=(200, 4)))
    np.testing.assert_array_equal((J != 0).any(0), g.structure.support)
    matched = np.argwhere(g.linear == 1)
    assert set(matched[:, 1]) == set(range(4))
    for k, i in matched:
        beside = np.abs(np.delete(J[:, k], i, axis=1)).sum(1)
        assert (beside <= 0.9 + 1e-9).all() and (J[:, k, i] == 1).all()


def test_raw_x_looks_like_z_only_in_the_dominant_profile():
    from unmix.metrics import mcc

    def raw(profile):
        drawn = [multi_domain(3000, graph="D", profile=profile, random_state=s) for s in range(6)]
        return np.mean([mcc(d.z, d.x, within=d.u) for d in drawn])

    assert raw("dominant") > raw("square") + 0.1


def test_a_given_structure_overrides_the_graph():
    structure = Structure([[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 0, 0]])
    assert multi_domain(50, structure=structure, graph="D", random_state=0).structure == structure
    assert multi_domain(50, 5, 5, ring(5), random_state=0).structure == ring(5)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_domains": 0}, "`n_domains` must be"),
        ({"n_domains": 2.5}, "`n_domains` must be"),
        ({"graph": "E"}, "`graph` must be one of"),
        ({"changes": "shapes"}, "`changes` must be one of"),
        ({"graph": "B", "n_latents": 5}, "must be 4 for graph B"),
        ({"graph": "A", "n_latents": 2}, "at least 3 for graph A"),
        ({"nonlinear": 1}, "`multi_domain` must be among n_samples, .*, nonlinearity, noise, got nonlinear."),
    ],
)
def test_bad_arguments_are_named(wrong, message):
    with pytest.raises((ValueError, TypeError), match=message):
        multi_domain(50, **wrong)
