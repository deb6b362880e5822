import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmix.data import SparseMixing, sparse_mixing
from unmix.structure import Structure, dense, ring


@given(seed=st.integers(0, 10_000), profile=st.sampled_from(["tall", "square", "dense"]), n=st.integers(3, 5))
def test_promises_hold_on_fresh_samples(seed, profile, n):
    data = sparse_mixing(300, n, profile=profile, random_state=seed)
    J = data.mixing.jacobian(np.random.default_rng(seed + 1).normal(size=(500, n)))
    strength = np.abs(J).mean(0)
    assert np.array_equal(strength > 0, data.structure.support)
    assert (strength / strength.max(1, keepdims=True))[data.structure.support].min() > 0.2
    assert np.linalg.matrix_rank(J).min() == n


def test_jacobian_agrees_with_finite_differences():
    for activation in ("leaky", "tanh"):
        g = SparseMixing.draw(ring(4), nonlinearity=1.0, activation=activation, rng=np.random.default_rng(0))
        z, step = np.random.default_rng(1).normal(size=(50, 4)), 1e-6
        columns = [(g(z + step * e) - g(z - step * e)) / (2 * step) for e in np.eye(4)]
        wrong = np.abs(np.stack(columns, -1) - g.jacobian(z)) > 1e-5
        assert wrong.mean() < 0.01  # a leaky rectifier may have its kink inside the step


@pytest.mark.parametrize(
    ("latents", "correlation", "kurtosis"),
    [("normal", 0.0, 3.0), ("uniform", 0.0, 1.8), ("laplace", 0.0, 6.0), ("dependent", 0.5, 3.0)],
)
def test_latents_have_the_law_they_are_called_by(latents, correlation, kurtosis):
    z = sparse_mixing(20_000, 3, latents=latents, random_state=0).z
    assert np.allclose(z.mean(0), 0, atol=0.05) and np.allclose(z.std(0), 1, atol=0.05)
    assert np.corrcoef(z.T)[0, 1] == pytest.approx(correlation, abs=0.03)
    assert (z[:, 0] ** 4).mean() == pytest.approx(kurtosis, rel=0.15)


def test_noise_is_measured_in_standard_deviations_of_x():
    data = sparse_mixing(20_000, 3, noise=0.5, random_state=0)
    clean = data.mixing(data.z)
    assert np.allclose((data.x - clean).std(0) / clean.std(0), 0.5, rtol=0.05)


def test_linear_mixing_is_linear_and_more_nonlinearity_bends_more():
    def bent(**options):
        data = sparse_mixing(2000, 4, random_state=3, **options)
        fit = np.linalg.lstsq(np.c_[data.z, np.ones(2000)], data.x, rcond=None)[0]
        return np.var(data.x - np.c_[data.z, np.ones(2000)] @ fit) / np.var(data.x)

    assert bent(mixing="linear") < 1e-20 < bent(nonlinearity=0.2) < bent(nonlinearity=0.5)


def test_no_matching_of_observed_variables_to_latents_dominates():
    from unmix.metrics import mcc

    raw = [
        mcc(d.z, d.x) for d in (sparse_mixing(3000, 5, 5, profile="square", random_state=s) for s in range(8))
    ]
    assert np.mean(raw) < 0.9


def test_a_given_structure_is_used_as_it_is():
    structure = Structure([[1, 0], [1, 1], [0, 1]])
    data = sparse_mixing(50, structure=structure, random_state=0)
    assert data.structure == structure and data.x.shape == (50, 3)


def test_data_cannot_be_changed_by_accident():
    data = sparse_mixing(50, 2, 5, structure=dense(5, 2), random_state=0)
    with pytest.raises(ValueError, match="read-only"):
        data.x[0, 0] = 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_samples": 1}, "`n_samples` must be an integer of at least 2, got 1"),
        ({"n_latents": 2.5}, "`n_latents` must be an integer"),
        ({"profile": "wide"}, "`profile` must be one of"),
        ({"latents": "cauchy"}, "`latents` must be one of"),
        ({"mixing": "relu"}, "`mixing` must be one of"),
        ({"noise": -0.1}, "`noise` must be a finite number of at least 0"),
        ({"nonlinearity": float("nan")}, "`nonlinearity` must be a finite number"),
        ({"n_latents": 5, "n_observed": 4}, "`n_observed` must be at least n_latents=5, got 4"),
        ({"structure": Structure([[1, 1], [0, 0]])}, "`structure` must allow an injective mixing"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        sparse_mixing(**arguments)


def test_a_bare_mask_is_not_a_structure():
    with pytest.raises(TypeError, match="`structure` must be a Structure, got list"):
        sparse_mixing(structure=[[1, 0], [0, 1]])
