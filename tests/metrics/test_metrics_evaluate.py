"""The table of scores: values, intervals that cover, nulls, floors, raw x."""

import dataclasses
import io
import json
from functools import partial

import numpy as np
import pytest
from rich.console import Console

from unmix.metrics import Score, evaluate, mcc, r2


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


@pytest.fixture(scope="module")
def evaluation():
    z = normal(400, 3)
    return evaluate(z, z + 0.5 * normal(400, 3, seed=1), x=z @ normal(3, 6, seed=2), random_state=0)


def test_values_are_those_of_the_metrics(evaluation):
    z = normal(400, 3)
    codes = z + 0.5 * normal(400, 3, seed=1)
    assert evaluation["mcc"].value == mcc(z, codes) and evaluation["r2"].value == r2(z, codes)
    assert evaluation["mcc"].raw == mcc(z, z @ normal(3, 6, seed=2))


def test_it_is_a_mapping_of_scores(evaluation):
    assert list(evaluation) == ["mcc", "r2"] and len(evaluation) == 2 and "mcc" in evaluation
    for score in evaluation.values():
        assert isinstance(score, Score) and score.n_samples == 400 and score.seconds >= 0
        assert 0 <= score.interval[0] <= score.value <= score.interval[1] <= 1
    with pytest.raises(KeyError):
        evaluation["mig"]


def test_null_and_floor_tell_chance_and_rotation(evaluation):
    assert evaluation["mcc"].null < 0.15 and evaluation["mcc"].floor == pytest.approx(0.83, abs=0.05)
    assert evaluation["r2"].null < 0.05 and evaluation["r2"].floor == pytest.approx(1)


@pytest.mark.parametrize(("n", "m"), [(100, 10), (100, 300)])
def test_pure_noise_scores_its_null(n, m):
    score = evaluate(normal(n, 10), normal(n, m, seed=1), metrics=["mcc"], n_boot=50, random_state=0)["mcc"]
    assert score.value > 0.15
    assert score.value - score.null == pytest.approx(0, abs=0.03)
    assert score.interval[0] < score.null < score.interval[1]


def test_a_random_rotation_scores_its_floor():
    z = normal(1000, 5)
    rotation = np.linalg.qr(normal(5, 5, seed=3))[0]
    score = evaluate(z, z @ rotation, metrics=("mcc",), n_boot=20, random_state=0)["mcc"]
    assert score.value == pytest.approx(score.floor, abs=0.12) and score.null < 0.1


def test_intervals_are_as_wide_as_the_sampling_spread_and_cover_the_population_value():
    population, n = np.sqrt(0.5), 100  # corr(z, z + e) with independent unit variances
    intervals = []
    for seed in range(20):
        z, noise = normal(n, 1, seed=seed), normal(n, 1, seed=1000 + seed)
        intervals.append(
            evaluate(z, z + noise, metrics=["mcc"], n_boot=40, random_state=seed)["mcc"].interval
        )
    low, high = np.transpose(intervals)
    expected = 2 * 1.96 * (1 - population**2) / np.sqrt(n)  # the standard error of a normal correlation
    assert np.mean(high - low) == pytest.approx(expected, rel=0.2)
    assert ((low <= population) & (population <= high)).sum() >= 16  # 19 expected


def test_same_seed_same_numbers_whatever_the_clock():
    z, codes = normal(60, 2), normal(60, 2, seed=1)

    def numbers(seed):
        scores = evaluate(z, codes, n_boot=10, random_state=seed).to_dict()
        return {name: score | {"seconds": None} for name, score in scores.items()}

    assert numbers(0) == numbers(0) != numbers(1)


def test_own_metrics_come_as_functions_partials_or_a_mapping():
    z = normal(60, 2)
    few = {"n_boot": 5, "random_state": 0}

    def worst(z_true, z_hat):
        return 0.25

    assert list(evaluate(z, z, metrics=[worst, partial(mcc, method="spearman")], **few)) == ["worst", "mcc"]
    named = evaluate(z, z, metrics={"rank": partial(mcc, method="spearman")}, **few)
    assert named["rank"].value == pytest.approx(1)
    assert evaluate(z, z, metrics=[worst], **few)["worst"].interval == (0.25, 0.25)
    assert list(evaluate(z, z, metrics="mcc", **few)) == ["mcc"]


def test_a_rare_level_survives_resampling():
    z = np.column_stack([normal(40), np.arange(40) == 3])
    assert evaluate(z, z, metrics=["mcc"], n_boot=50, random_state=0)["mcc"].value == pytest.approx(1)


def test_dict_text_and_rich_table_agree(evaluation):
    document = json.loads(json.dumps(evaluation.to_dict(), allow_nan=False))
    assert document["mcc"]["value"] == evaluation["mcc"].value
    assert set(document["r2"]) == {field.name for field in dataclasses.fields(Score)}
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(evaluation)
    for text in [str(evaluation), console.export_text()]:
        assert f"{evaluation['mcc'].value:.3f}" in text and f"{evaluation['r2'].floor:.3f}" in text


def test_without_x_there_is_no_raw_score():
    z = normal(20, 2)
    plain = evaluate(z, z, metrics=["mcc"], n_boot=5)
    assert plain["mcc"].raw is None and " - " in str(plain)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"metrics": ["mig"]}, "`metrics` must name some of"),
        ({"n_boot": 1}, "`n_boot` must be at least 2"),
        ({"x": normal(5, 2)}, "`x` must have 20 rows"),
        ({"x": np.full((20, 2), np.nan)}, "`x` must be finite"),
        ({"z_hat": normal(19, 2)}, "as many rows"),
        ({"z_true": np.ones((20, 2))}, "constant column"),
        ({"z_true": normal(7, 2), "z_hat": normal(7, 2)}, "at least 8 rows"),
    ],
)
def test_bad_input_is_named(change, words):
    arguments = {"z_true": normal(20, 2), "z_hat": normal(20, 2)} | change
    with pytest.raises(ValueError, match=words):
        evaluate(**arguments)
