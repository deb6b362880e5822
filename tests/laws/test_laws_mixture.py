"""Laws of certificates for mixtures and domains: names, order, units and repetition do not matter."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group

from unmix.structure import Structure
from unmix.theory import certify_domains, certify_mixture, certify_supports, sufficient_changes

seeds = st.integers(0, 10_000)


@st.composite
def mixtures(draw):
    """Masked, turned or arbitrary components over two to four latents, some of them alike."""
    rng = np.random.default_rng(draw(seeds))
    n, n_components = draw(st.integers(2, 4)), draw(st.integers(1, 5))
    masks = rng.random((n_components, n)) < 0.6
    masks[0] |= ~masks.any(0)
    roots = rng.normal(size=(n_components, n, n)) * masks[:, :, None]
    means = rng.normal(size=(n_components, n)) * masks * draw(st.sampled_from([0, 1]))
    covariances = roots @ roots.swapaxes(1, 2)
    if draw(st.booleans()):
        turn = ortho_group.rvs(n, random_state=rng)
        means, covariances = means @ turn.T, turn @ covariances @ turn.T
    return rng.dirichlet(np.full(n_components, 5.0)), means, covariances


@st.composite
def masks(draw):
    n_components, n = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    found = np.random.default_rng(draw(seeds)).random((n_components, n)) < 0.5
    found[0] |= ~found.any(0)
    return found


def verdicts(certificate):
    return certificate.level, [bool(c) for c in certificate.certificates]


def margin(certificate):
    found = certificate.certificates[1].margin
    return -1.0 if found is None else found


@given(mixtures(), st.randoms())
def test_the_order_of_components_does_not_matter(mixture, random):
    weights, means, covariances = mixture
    order = random.sample(range(len(weights)), len(weights))
    before, after = (
        certify_mixture(*mixture),
        certify_mixture(weights[order], means[order], covariances[order]),
    )
    assert verdicts(before) == verdicts(after)
    assert before.blocks == after.blocks and np.array_equal(before.may_depend, after.may_depend)
    assert margin(after) == pytest.approx(margin(before), rel=1e-5, abs=1e-9)


@given(mixtures(), st.randoms())
def test_relabelling_latents_relabels_the_verdicts(mixture, random):
    weights, means, covariances = mixture
    order = random.sample(range(means.shape[1]), means.shape[1])
    before = certify_mixture(*mixture)
    after = certify_mixture(weights, means[:, order], covariances[:, order][:, :, order])
    assert verdicts(before) == verdicts(after)
    assert np.array_equal(after.may_depend, before.may_depend[np.ix_(order, order)])
    assert {frozenset(order[i] for i in block) for block in after.blocks} == set(before.blocks)


@given(mixtures(), seeds)
def test_units_of_latents_do_not_matter(mixture, seed):
    weights, means, covariances = mixture
    scale = 10.0 ** np.random.default_rng(seed).uniform(-3, 3, means.shape[1])
    before = certify_mixture(*mixture)
    after = certify_mixture(weights, means * scale, covariances * scale[:, None] * scale)
    assert verdicts(before) == verdicts(after)
    assert margin(after) == pytest.approx(margin(before), rel=1e-4, abs=1e-9)


@given(mixtures(), seeds)
def test_an_affine_map_of_latents_keeps_what_does_not_name_axes(mixture, seed):
    """Assumptions 3.4 and 3.6 and the margin belong to the law, not to its coordinates."""
    weights, means, covariances = mixture
    n = means.shape[1]
    rng = np.random.default_rng(seed)
    turn = ortho_group.rvs(n, random_state=rng) @ np.diag(rng.uniform(0.5, 2, n))
    before = certify_mixture(*mixture)
    after = certify_mixture(weights, means @ turn.T + rng.normal(size=n), turn @ covariances @ turn.T)
    assert [bool(c) for c in after.certificates[:3]] == [bool(c) for c in before.certificates[:3]]
    assert margin(after) == pytest.approx(margin(before), rel=1e-4, abs=1e-8)


@given(mixtures())
def test_splitting_a_component_changes_no_level(mixture):
    weights, means, covariances = mixture
    split = np.r_[weights[0] / 2, weights[1:], weights[0] / 2]
    again = certify_mixture(
        split, np.vstack([means, means[:1]]), np.concatenate([covariances, covariances[:1]])
    )
    assert again.level == certify_mixture(*mixture).level


@given(masks(), st.randoms())
def test_repeating_or_reordering_index_sets_changes_nothing(found, random):
    extra = [random.randrange(len(found)) for _ in range(3)]
    before, after = certify_supports(found), certify_supports(np.vstack([found[extra], found[::-1]]))
    assert (before.level, before.blocks) == (after.level, after.blocks)
    assert np.array_equal(before.may_depend, after.may_depend)


@given(masks())
def test_what_may_depend_is_a_preorder_and_blocks_are_its_classes(found):
    certificate = certify_supports(found)
    mixed = certificate.may_depend.astype(int)
    assert np.diag(mixed).all()
    assert (((mixed @ mixed) > 0) == mixed).all()
    for block in certificate.blocks:
        columns = found[:, sorted(block)]
        assert (columns == columns[:, :1]).all()


@given(masks())
def test_another_index_set_of_one_latent_less_never_mixes_more(found):
    """All but z_i varying tells z_i from all others."""
    extra = np.vstack([found, ~np.eye(found.shape[1], dtype=bool)[:1]])
    assert (certify_supports(extra).may_depend <= certify_supports(found).may_depend).all()


@given(masks(), st.integers(1, 12))
def test_more_domains_never_mix_more(found, n_domains):
    structure = Structure(found)
    few, many = certify_domains(structure, n_domains), certify_domains(structure, n_domains + 1)
    assert (many.may_depend <= few.may_depend).all()
    assert all(b.more <= a.more for a, b in zip(few.plan, many.plan, strict=True))


@given(masks(), st.integers(1, 12), st.randoms())
def test_relabelling_latents_relabels_the_plan(found, n_domains, random):
    order = random.sample(range(found.shape[1]), found.shape[1])
    before, after = (
        certify_domains(s, n_domains) for s in (Structure(found), Structure(found).permute(order))
    )
    assert np.array_equal(after.may_depend, before.may_depend[np.ix_(order, order)])
    assert [(p.needed, p.needed_in_paper, p.more) for p in after.plan] == [
        (before.plan[i].needed, before.plan[i].needed_in_paper, before.plan[i].more) for i in order
    ]
    assert (after.first_order, after.second_order) == (before.first_order, before.second_order)


@given(seeds, st.integers(2, 7), st.integers(1, 3), st.randoms())
def test_order_of_domains_and_units_do_not_change_ranks(seed, n_domains, n, random):
    rng = np.random.default_rng(seed)
    means, variances = rng.uniform(-4, 4, (n_domains, n)), rng.uniform(0.2, 2, (n_domains, n))
    order = random.sample(range(n_domains), n_domains)
    scale = 10.0 ** rng.uniform(-3, 3, n)
    whole = Structure(np.ones((1, n)))
    before = sufficient_changes(whole, means=means, variances=variances)
    after = sufficient_changes(whole, means=means[order] * scale + 7, variances=variances[order] * scale**2)
    for a, b in zip((*before.first, *before.second), (*after.first, *after.second), strict=True):
        assert (a.rank, a.wanted) == (b.rank, b.wanted)
        assert a.margin == pytest.approx(b.margin, rel=1e-6, abs=1e-9)
