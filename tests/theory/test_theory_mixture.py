"""`certify_mixture` against the definitions and the examples of the paper."""

import itertools
import json

import numpy as np
import pytest
from scipy.stats import ortho_group

from unmix.theory import certify_mixture

AXES = np.array([np.diag([1.0, 0.0]), np.diag([0.0, 1.0])])
HALVES = [0.5, 0.5]
MASKS = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])


def masked_mixture(masks, seed=0, rest=0.0):
    """A mixture that satisfies Assumption 3.8 with these index sets, resting at one value."""
    rng = np.random.default_rng(seed)
    n_components, n = masks.shape
    roots = rng.normal(size=(n_components, n, n)) * masks[:, :, None]
    means = np.where(masks, rng.normal(size=masks.shape), rest)
    return rng.dirichlet(np.full(n_components, 5.0)), means, roots @ roots.swapaxes(1, 2)


def generator(n, seed):
    """Linear-Gaussian latents, half of them masked: these rest at the mean of 5000 samples (delta = 0)."""
    rng = np.random.default_rng(seed)
    mixing = np.eye(n) + np.triu(rng.uniform(0.2, 1, (n, n)) * (rng.random((n, n)) < 0.3), 1)
    first = rng.permutation(n) < n // 2
    masks = np.array([first, ~first])
    rest = (rng.normal(size=(5000, n)) @ mixing.T).mean(0)
    covariances = mixing @ mixing.T * (masks[:, :, None] & masks[:, None, :])
    return HALVES, np.where(masks, 0.0, rest), covariances


def named(certificate):
    return dict(
        zip(
            ("reduced", "generic", "basis", "standard", "variability"), certificate.certificates, strict=False
        )
    )


def test_each_failing_condition_leaves_the_level_below():
    weights, means, covariances = masked_mixture(MASKS)
    assert certify_mixture(weights, means, covariances).level == "permutation and scaling"
    turn = ortho_group.rvs(3, random_state=0)
    turned = certify_mixture(weights, means @ turn.T, turn @ covariances @ turn.T)
    assert turned.level == "affine"
    assert any("coordinates of Z in the common basis" in reason for reason in turned.reasons)
    lines = [np.outer(v, v) for v in ([1, 0], [0, 1], [1, 1])]
    assert (
        certify_mixture(np.ones(3) / 3, [[1, 0], [0, 2], [3, 3]], lines).level == "affine within components"
    )
    assert certify_mixture(HALVES, np.zeros((2, 2)), AXES).level == "none"


def test_levels_decide_truth_and_dependence():
    full = certify_mixture(*masked_mixture(MASKS))
    assert full and full.alone == {0, 1, 2} and np.array_equal(full.may_depend, np.eye(3))
    affine = certify_mixture(HALVES, [[0, 0], [3, 0]], [np.eye(2), np.diag([2.0, 1.0])])
    assert not affine and affine.may_depend.all() and affine.blocks == (frozenset({0, 1}),)


def test_example_b13_swapping_half_axes_keeps_the_law_iff_distances_agree():
    """The swap sends the density of each positive half-axis to the other: it must be the same density."""
    t = np.linspace(0.01, 4, 50)
    for means, variances in [
        ((0, 0), (1, 1)),
        ((0, 0), (1, 4)),
        ((1, 2), (1, 4)),
        ((1, 0), (1, 1)),
        ((1, 1), (1, 1)),
    ]:
        density = [
            np.exp(-((t - m) ** 2) / (2 * v)) / np.sqrt(v) for m, v in zip(means, variances, strict=True)
        ]
        covariances = [np.diag([variances[0], 0.0]), np.diag([0.0, variances[1]])]
        certificate = certify_mixture(HALVES, np.diag(np.array(means, dtype=float)), covariances)
        if np.allclose(*density):
            assert certificate.level == "none"
            assert named(certificate)["generic"].closest == (0, 1)
        distances = [m**2 / v for m, v in zip(means, variances, strict=True)]
        assert bool(named(certificate)["generic"]) == (not np.isclose(*distances))


def test_example_e2_two_lines_fail_only_for_special_means():
    """Lines in R^2 through the origin: d_1^2 = s^2 / v_1 and d_2^2 = t^2 / v_2 in the point they share."""
    a, b = np.array([1.0, 0.0]), np.array([0.6, 0.8])
    lines = [2.0 * np.outer(a, a), 0.5 * np.outer(b, b)]
    for s, t in itertools.product([-2.0, -1.0, 0.0, 1.0, 2.0, 3.0], repeat=2):
        certificate = certify_mixture(HALVES, [s * a, t * b], lines)
        assert bool(named(certificate)["generic"]) == (s**2 / 2.0 != t**2 / 0.5)


def test_example_e3_three_lines_share_no_basis():
    lines = [np.outer(v, v) for v in ([1, 0], [0, 1], [1, 1])]
    weights = [0.5, 0.2, 0.3]
    certificate = certify_mixture(weights, [[1, 0], [0, 2], [3, 3]], lines)
    basis = named(certificate)["basis"]
    assert not basis
    assert "components 0, 1 and 2 have directions that share no basis" in basis.reasons[0]
    assert basis.components == {0, 2}  # the two of largest weight: any two lines share a basis
    assert "affine on components 0, 2 together" in " ".join(certificate.reasons)


def test_supports_without_a_common_point():
    certificate = certify_mixture(HALVES, [[0, 0], [0, 3]], [np.diag([1.0, 0.0])] * 2)
    assert certificate.level == "affine within components"
    assert "the supports of components 0 and 1 do not meet" in named(certificate)["basis"].reasons


def test_lines_that_meet_pairwise_but_in_no_common_point():
    lines = [np.outer(v, v) for v in ([1.0, 0.0], [0.0, 1.0], [1.0, -1.0])]
    certificate = certify_mixture(np.ones(3) / 3, [[2, 0], [0, 3], [0, 1]], lines)
    assert "supports meet pairwise, but not all in one point" in named(certificate)["basis"].reasons


def test_full_covariances_always_share_a_basis():
    rng = np.random.default_rng(0)
    roots = rng.normal(size=(4, 3, 3))
    certificate = certify_mixture(np.full(4, 0.25), rng.normal(size=(4, 3)), roots @ roots.swapaxes(1, 2))
    assert certificate.level == "affine"
    assert named(certificate)["basis"] and named(certificate)["generic"]


def test_a_rotated_mixture_gives_the_rotated_axes_as_its_basis():
    weights, means, covariances = masked_mixture(MASKS)
    turn = ortho_group.rvs(3, random_state=3)
    basis = np.array(
        named(certify_mixture(weights, means @ turn.T, turn @ covariances @ turn.T))["basis"].basis
    )
    cosines = np.abs(basis / np.linalg.norm(basis, axis=1, keepdims=True) @ turn)
    assert np.allclose(np.sort(cosines, axis=1), [[0, 0, 1]] * 3, atol=1e-6)


def test_blocks_and_order_when_supports_do_not_vary_enough():
    masks = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 0, 1]])
    certificate = certify_mixture(*masked_mixture(masks, seed=2))
    assert certificate.level == "blocks"
    assert certificate.blocks == (frozenset({0, 1}), frozenset({2}), frozenset({3}))
    assert certificate.may_depend.astype(int).tolist() == [
        [1, 1, 1, 0],
        [1, 1, 1, 0],
        [0, 0, 1, 0],
        [0, 0, 0, 1],
    ]
    assert certificate.alone == {2, 3}


def test_an_offset_counts_as_a_shift_of_the_latents():
    certificate = certify_mixture(*masked_mixture(MASKS, rest=2.5))
    standard = named(certificate)["standard"]
    assert certificate.level == "permutation and scaling"
    assert standard.shift == pytest.approx((2.5, 2.5, 2.5))
    assert "sparsity counted about z0 = 2.5" in standard.reasons[0]
    assert named(certify_mixture(*masked_mixture(MASKS)))["standard"].shift == (0, 0, 0)


def test_resting_at_two_values_is_named():
    means = [[1, 0, 0], [0, 2, 0], [0, 1, 3]]
    covariances = [np.diag(d) for d in ([1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0])]
    standard = named(certify_mixture(np.ones(3) / 3, means, covariances))["standard"]
    assert not standard
    assert standard.reasons == (
        "z1 is held at different values in components 0 and 2, in which it does not vary",
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_generator_without_offset_is_hardly_generic(seed):
    """All supports meet in the sample mean, at which d_j^2 is about k / 5000."""
    certificate = certify_mixture(*generator(n=10, seed=seed))
    generic = named(certificate)["generic"]
    assert generic and 1e-6 < generic.margin < 1e-2
    assert "hardly more than none" in generic.reasons[0]
    assert any("hardly more than none" in reason for reason in certificate.reasons)


def test_the_margin_of_a_point_is_the_gap_between_distances():
    certificate = certify_mixture(HALVES, [[0.5, 0], [0, 0.1]], AXES)
    assert named(certificate)["generic"].margin == pytest.approx(0.5**2 - 0.1**2)


def test_the_margin_is_the_root_mean_square_gap_over_the_intersection():
    rng = np.random.default_rng(0)
    roots, means = rng.normal(size=(2, 2, 2)), rng.normal(size=(2, 2)) / 4
    covariances = roots @ roots.swapaxes(1, 2)
    precisions = np.linalg.inv(covariances)
    average = precisions.mean(0)
    centre = np.linalg.solve(average, np.einsum("jik,jk->i", precisions, means) / 2)
    points = rng.multivariate_normal(centre, np.linalg.inv(average), 400_000)
    d = [np.einsum("si,ik,sk->s", points - m, p, points - m) for m, p in zip(means, precisions, strict=True)]
    level = sum((centre - m) @ p @ (centre - m) for m, p in zip(means, precisions, strict=True)) / 2
    expected = np.sqrt(np.mean((d[0] - d[1]) ** 2)) / max(1, level)
    found = named(certify_mixture(HALVES, means, covariances))["generic"].margin
    assert found == pytest.approx(expected, rel=0.02)


def searched_genericity(means, covariances):
    """Assumption 3.4 as printed: random points of every non-empty intersection of supports of equal rank."""
    rng = np.random.default_rng(0)
    ranks = np.linalg.matrix_rank(covariances, hermitian=True)
    inverses = np.linalg.pinv(covariances, hermitian=True)
    outside = np.eye(means.shape[1]) - covariances @ inverses
    for size in range(2, len(means) + 1):
        for subset in itertools.combinations(range(len(means)), size):
            if len(set(ranks[list(subset)])) > 1:
                continue
            equations = np.vstack([outside[j] for j in subset])
            heights = np.concatenate([outside[j] @ means[j] for j in subset])
            solve = np.linalg.pinv(equations, rcond=1e-9)
            point = solve @ heights
            if not np.allclose(equations @ point, heights):
                continue
            free = np.eye(len(point)) - solve @ equations
            points = point + rng.normal(size=(10, len(point))) @ free.T
            if not any(all_distinct(x, subset, means, inverses) for x in points):
                return False
    return True


def all_distinct(x, subset, means, inverses):
    d = sorted((x - means[j]) @ inverses[j] @ (x - means[j]) for j in subset)
    return all(b - a > 1e-9 for a, b in itertools.pairwise(d))


def test_genericity_is_the_assumption_as_printed():
    rng = np.random.default_rng(1)
    directions = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]])
    verdicts = []
    for _ in range(150):
        count = rng.integers(2, 5)
        roots = [directions[rng.choice(4, rng.integers(1, 3), replace=False)].T for _ in range(count)]
        covariances = np.array([root @ root.T for root in roots], dtype=float) * rng.choice(
            [1, 4], (count, 1, 1)
        )
        means = rng.integers(-1, 2, size=(count, 3)) * (rng.random((count, 1)) < 0.4)
        try:
            certificate = certify_mixture(np.full(count, 1 / count), means, covariances)
        except ValueError:
            continue  # a latent that is constant
        if not certificate.certificates[0]:
            continue  # the assumption is about mixtures in reduced form
        verdicts.append(bool(named(certificate)["generic"]))
        assert verdicts[-1] == searched_genericity(means, covariances)
    assert 20 < sum(verdicts) < len(verdicts) - 20


def test_witnesses_lie_in_the_supports_and_tell_components_apart():
    weights, means, covariances = masked_mixture(MASKS, seed=4)
    generic = named(certify_mixture(weights, means, covariances))["generic"]
    inverses = np.linalg.pinv(covariances, hermitian=True)
    (components, point), *_ = generic.witnesses
    assert components == (0, 1, 2)
    for j in components:
        away = np.array(point) - means[j]
        assert np.allclose(covariances[j] @ inverses[j] @ away, away)
    assert all_distinct(np.array(point), components, means, inverses)


def test_too_many_intersections_are_not_granted():
    means = [[1, 0, 0], [0, 2, 1], [3, 1, 1]]
    lines = [np.diag(d) for d in ([1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0])]
    generic = named(certify_mixture(np.ones(3) / 3, means, lines, max_intersections=1))["generic"]
    assert not generic and "not decided" in generic.reasons[0]


def test_equal_components_are_merged_and_said_so():
    once = certify_mixture(HALVES, [[1, 0], [0, 2]], AXES)
    twice = certify_mixture([0.25, 0.5, 0.25], [[1, 0], [0, 2], [1, 0]], [*AXES, AXES[0]])
    assert not twice.certificates[0]
    assert "components 0 and 2 are the same" in twice.certificates[0].reasons
    assert twice.level == once.level == "permutation and scaling"


def test_a_component_that_is_a_point_is_allowed():
    certificate = certify_mixture([0.4, 0.3, 0.3], [[0, 0], [1, 0], [0, 2]], [np.zeros((2, 2)), *AXES])
    assert certificate.level == "permutation and scaling"


def test_theorems_follow_from_the_conditions():
    found = certify_mixture(HALVES, [[0, 0], [0, 3]], [np.diag([1.0, 0.0])] * 2)
    theorems = {c.theorem.split(" (")[0]: c.holds for c in found.certificates[5:]}
    assert theorems["pdGMM Theorem 3.5"] and not theorems["pdGMM Theorem 3.7"]
    assert not theorems["pdGMM Theorem 3.9"]
    assert any(wanted.startswith("Assumption 3.6") for wanted in found.missing)


@pytest.mark.parametrize("mixture", [masked_mixture(MASKS), (HALVES, np.zeros((2, 2)), AXES)])
def test_reports_are_readable_and_plain(mixture):
    certificate = certify_mixture(*mixture)
    plain = json.loads(json.dumps(certificate.to_dict(), allow_nan=False))
    assert plain["level"] == certificate.level
    assert str(certificate).startswith(certificate.identifies)
    assert "Assumed, not checked: X = f(Z)" in str(certificate)


def broken(weights=HALVES, means=((1, 0), (0, 2)), covariances=AXES):
    return weights, np.array(means, dtype=float), np.array(covariances)


@pytest.mark.parametrize(
    ("mixture", "message"),
    [
        (broken(weights=[0.5, 0.4]), "`weights` must sum to one, got 0.9"),
        (broken(weights=[1.5, -0.5]), "`weights` must be positive, got -0.5 for component 1"),
        (broken(weights=[[0.5, 0.5]]), r"`weights` must have shape \(J,\)"),
        (broken(means=[[1, 0]]), r"`means` must have shape \(2, n\), got \(1, 2\)"),
        (broken(covariances=AXES[:1]), r"`covariances` must have shape \(2, 2, 2\), got \(1, 2, 2\)"),
        (
            broken(covariances=[AXES[0], [[1, 0.5], [0, 1]]]),
            "`covariances` must be symmetric, .* in component 1",
        ),
        (
            broken(covariances=[AXES[0], [[1, 2], [2, 1]]]),
            "`covariances` must be positive semi-definite, .* 1",
        ),
        (broken(covariances=[-AXES[0], AXES[1]]), "`covariances` must be positive semi-definite"),
        (broken(means=[[np.nan, 0], [0, 1]]), "`means` must be finite"),
        (broken(means=[[1, 3], [2, 3]], covariances=[AXES[0]] * 2), "constant in the whole mixture: z1"),
    ],
)
def test_bad_parameters_are_named(mixture, message):
    with pytest.raises(ValueError, match=message):
        certify_mixture(*mixture)


@pytest.mark.parametrize("tolerance", [0, 0.5, -1])
def test_tolerance_is_a_small_share(tolerance):
    with pytest.raises(ValueError, match=r"`tolerance` must be between 0 and 0\.25"):
        certify_mixture(*broken(), tolerance=tolerance)
