"""Components estimated from data: verdicts come back on resamples, or are not relied on."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from unmix.data import degenerate_mixture
from unmix.theory import certify_components, certify_mixture

MASKS = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=bool)
RESAMPLES = 20


def codes(masks=MASKS, n_each=400, seed=0, noise=0.0, centre=(1.0, 2.5, 4.0)):
    """Codes that rest at 0 where masked; centres differ, so that distances at 0 do."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(masks)), n_each)
    z = (rng.normal(size=(len(labels), masks.shape[1])) + np.array(centre)[: masks.shape[1]]) * masks[labels]
    return z + noise * rng.normal(size=z.shape), labels


def test_codes_with_labels_reach_the_level_of_their_mixture():
    found = certify_components(*codes(), n_resamples=RESAMPLES)
    assert found.level == "permutation and scaling"
    assert set(found.frequencies) == {
        "reduced form",
        "genericity",
        "common basis",
        "standard basis",
        "support variability",
    }
    assert set(found.frequencies.values()) == {1.0}
    assert "it recurs in 100% of resamples" in found.certificates[1].reasons


def test_example_b13_is_not_granted_on_the_strength_of_noise():
    """Both axes have the law N(0, 1): estimates differ, but not in the same order in every resample."""
    axes = np.eye(2, dtype=bool)
    for seed in range(6):
        z, labels = codes(axes, seed=seed, centre=(0.0, 0.0))
        assert certify_mixture([0.5, 0.5], *moments(z, labels)).level == "permutation and scaling"
        found = certify_components(z, labels, n_resamples=40)
        assert found.level == "none"
        assert found.frequencies["genericity"] < 0.95
        assert "not relied on" in str(found.certificates[1])


def moments(z, labels):
    groups = [z[labels == j] for j in np.unique(labels)]
    return [g.mean(0) for g in groups], [np.cov(g.T, bias=True) for g in groups]


def test_the_estimate_alone_says_so():
    found = certify_components(*codes(), n_resamples=0)
    assert found.frequencies is None
    assert any("Nothing was resampled" in reason for reason in found.reasons)


def test_patterns_of_activity_stand_for_labels():
    z, labels = codes(noise=0.05)
    found = certify_components(z, masks=MASKS[labels], n_resamples=RESAMPLES)
    assert found.level == "permutation and scaling"
    assert any("Index sets were believed" in reason for reason in found.reasons)
    resting = [z[labels == j, i].var() / z[:, i].var() for j, i in np.argwhere(~MASKS)]
    assert any(f"at most {max(resting):.2g} of its variance" in reason for reason in found.reasons)


def test_noise_above_the_tolerance_takes_the_level_down():
    z, labels = codes(noise=0.3)
    assert certify_components(z, labels, n_resamples=RESAMPLES).level == "affine"
    assert (
        certify_components(z, labels, masks=MASKS, n_resamples=RESAMPLES).level == "permutation and scaling"
    )


def test_noise_at_the_tolerance_is_told_by_frequencies():
    z, labels = codes(noise=0.036, n_each=100)
    found = certify_components(z, labels, n_resamples=60)
    assert not found
    assert min(found.frequencies["standard basis"], found.frequencies["support variability"]) < 0.95
    assert any("rank of component" in reason and "not clear" in reason for reason in found.reasons)


def test_nested_activity_from_data():
    masks = np.array([[1, 1], [0, 1]], dtype=bool)
    found = certify_components(*codes(masks), n_resamples=RESAMPLES)
    assert found.level == "blocks"
    assert found.may_depend.tolist() == [[True, False], [True, True]]


def model(**more):
    z, labels = codes()
    means, covariances = moments(z, labels)
    fitted = {"weights_": np.full(3, 1 / 3), "means_": np.array(means), "covariances_": np.array(covariances)}
    return SimpleNamespace(**(fitted | more))


def test_a_fitted_model_is_read_by_its_attributes():
    found = certify_components(model(), n_samples=1200, n_resamples=RESAMPLES)
    assert found.level == "permutation and scaling"
    assert found.frequencies["genericity"] == 1.0
    assert certify_components(model()).frequencies is None


def test_single_precision_is_precise_enough():
    fitted = model()
    single = SimpleNamespace(**{name: value.astype(np.float32) for name, value in vars(fitted).items()})
    assert certify_components(single).level == "permutation and scaling"


def test_masks_of_a_model_are_believed():
    blurred = model(covariances_=np.array(moments(*codes(noise=0.3))[1]))
    assert certify_components(blurred).level == "affine"
    blurred.masks_ = MASKS
    assert certify_components(blurred).level == "permutation and scaling"


def test_few_samples_leave_genericity_open_and_many_settle_it():
    close = (1.0, 1.1, 1.05)
    few = certify_components(*codes(n_each=30, centre=close), n_resamples=40)
    many = certify_components(*codes(n_each=30_000, centre=close), n_resamples=RESAMPLES)
    assert few.level == "none" and many.level == "permutation and scaling"


def test_the_same_seed_gives_the_same_frequencies():
    z, labels = codes(n_each=30, centre=(1.0, 1.1, 1.05))
    first, second = (certify_components(z, labels, n_resamples=10, random_state=3) for _ in range(2))
    assert first.frequencies == second.frequencies
    assert json.dumps(first.to_dict(), allow_nan=False) == json.dumps(second.to_dict(), allow_nan=False)


Z, LABELS = codes(n_each=10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"source": Z}, "`labels` must be given with codes, got neither labels nor masks"),
        ({"source": Z[0], "labels": LABELS}, "`source` must be a fitted mixture or finite codes"),
        ({"source": Z * np.nan, "labels": LABELS}, "`source` must be a fitted mixture or finite codes"),
        ({"source": Z, "labels": LABELS[:-1]}, r"`labels` must have shape \(30,\), got \(29,\)"),
        (
            {"source": Z, "labels": np.where(LABELS, 1.0, np.nan)},
            "`labels` must not be missing, got NaN for 10",
        ),
        ({"source": Z, "labels": np.arange(30)}, "at least n \\+ 2 = 5 samples, got 1 for component 0"),
        ({"source": Z, "masks": MASKS}, r"`masks` must have shape \(30, 3\) without labels"),
        ({"source": Z, "labels": LABELS, "masks": MASKS[:2] | True}, r"`masks` must have shape \(3, 3\)"),
        ({"source": Z, "labels": LABELS, "masks": MASKS & [1, 0, 1]}, "some component, got none for z1"),
        ({"source": model(), "labels": LABELS}, "`labels` must be given with codes only"),
        ({"source": SimpleNamespace(weights_=[1.0])}, "got a model without means_, covariances_"),
        ({"source": model(weights_=np.ones(3))}, "`weights` must sum to one, got 3"),
        ({"source": Z, "labels": LABELS, "n_resamples": -1}, "`n_resamples` must be at least 0"),
        ({"source": Z, "labels": LABELS, "confidence": 0}, "`confidence` must be in"),
        ({"source": model(), "n_samples": 0}, "`n_samples` must be at least 1"),
    ],
)
def test_bad_data_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        certify_components(**arguments)


@pytest.mark.parametrize(("delta", "mask_size", "distance"), [(0.0, 0.5, 0.0), (3.0, 1, 9.0)])
def test_the_generator_leaves_genericity_open(delta, mask_size, distance):
    """Where supports meet, d_j^2 is 0 without an offset, and delta^2 with one variable at a time."""
    made = degenerate_mixture(4000, n_latents=4, n_layers=1, delta=delta, mask_size=mask_size, random_state=0)
    found = certify_components(made.z, made.labels, n_resamples=RESAMPLES)
    assert found.level == "none"
    assert found.frequencies["genericity"] < 0.95
    assert found.frequencies["standard basis"] == found.frequencies["support variability"] == 1.0
    rest = np.array(found.certificates[3].shift)
    means, covariances = moments(made.z, made.labels)
    gaps = [
        (rest - m) @ np.linalg.pinv(c, hermitian=True) @ (rest - m)
        for m, c in zip(means, covariances, strict=True)
    ]
    assert np.allclose(gaps, distance, rtol=0.2, atol=0.05)


def test_rotated_latents_of_the_generator_keep_a_common_basis():
    made = degenerate_mixture(4000, n_latents=4, n_layers=1, theta=30, random_state=0)
    found = certify_components(made.z, made.labels, n_resamples=RESAMPLES)
    assert (found.frequencies["common basis"], found.frequencies["standard basis"]) == (1.0, 0.0)
