"""The table of scores: values, intervals that cover, nulls, floors, raw x."""

import csv
import dataclasses
import io
import json
import sys
import time
from functools import partial

import numpy as np
import pytest
from rich.console import Console

from pages import without_ours
from samples import normal
from unmix.metrics import Evaluation, Score, dci, evaluate, infomec, mcc, mig, r2, sap, slot_identifiability
from unmix.metrics.evaluation._catalogue import MEASURES
from unmix.metrics.evaluation._evaluate import _high


def printed(evaluation, width=200):
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(evaluation)
    return console.export_text()


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
    assert set(document["r2"]) == {field.name for field in dataclasses.fields(Score)} | {"reading"}
    assert document["mcc"]["reading"] == evaluation["mcc"].reading
    for text in [str(evaluation), printed(evaluation)]:
        assert f"{evaluation['mcc'].value:.3f}" in text and f"{evaluation['r2'].floor:.3f}" in text


def test_without_x_there_is_no_raw_score():
    z = normal(20, 2)
    plain = evaluate(z, z, metrics=["mcc"], n_boot=5)
    assert plain["mcc"].raw is None and " - " in str(plain)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"metrics": ["mia"]}, "`metrics` must name some of .*or be 'all', got 'mia'"),
        ({"metrics": ["dci.modularity"]}, "`metrics` must name some of"),
        ({"metrics": []}, "at least one metric"),
        ({"discrete": [True]}, "`discrete` must be None, True, False or 2 bools"),
        ({"discrete": True}, "values repeat"),
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


@pytest.fixture(scope="module")
def mixed():
    rng = np.random.default_rng(0)
    z = np.column_stack([rng.normal(size=300), rng.integers(0, 4, 300)])
    return z, z[:, ::-1] + 0.2 * rng.normal(size=(300, 2))


def test_a_metric_with_several_values_gives_several_rows_from_one_evaluation(mixed):
    scores = evaluate(*mixed, metrics=["dci", "infomec", "mig"], n_boot=3, random_state=0)
    assert list(scores) == [
        *("dci.disentanglement", "dci.completeness", "dci.informativeness"),
        *("infomec.modularity", "infomec.explicitness", "infomec.compactness"),
        "mig",
    ]
    found = dci(*mixed)
    assert scores["dci.completeness"].value == found.completeness
    assert scores["dci.disentanglement"].probe == found.probe == "trees"
    assert scores["dci.disentanglement"].seconds == scores["dci.completeness"].seconds > 0
    assert scores["infomec.modularity"].value == infomec(*mixed).modularity
    assert scores["mig"].value == mig(*mixed)


def test_a_metric_that_fails_on_half_of_the_rows_says_so():
    z = normal(12, 2)
    with pytest.raises(ValueError, match=r"must have more rows: on 6 of them.*at least 8 rows"):
        evaluate(z, z, metrics=["mcc.held_out"], n_boot=2)


def test_one_row_may_be_asked_for_alone(mixed):
    few = {"n_boot": 2, "random_state": 0}
    alone = evaluate(*mixed, metrics="infomec.compactness", **few)
    assert list(alone) == ["infomec.compactness"]
    both = evaluate(*mixed, metrics=["infomec.compactness", "infomec.modularity"], **few)
    assert list(both) == ["infomec.compactness", "infomec.modularity"]
    assert both["infomec.compactness"].seconds == both["infomec.modularity"].seconds


def test_every_name_is_scored_with_its_budget():
    rng = np.random.default_rng(0)
    z = rng.integers(0, 4, (60, 2)) + 0.0
    scores = evaluate(z, z + 0.3 * rng.normal(size=(60, 2)), metrics="all", n_boot=2, random_state=0)
    assert {name if name in MEASURES else name.rpartition(".")[0] for name in scores} == set(MEASURES)
    for score in scores.values():
        assert score.probe and score.n_boot == 2 and score.n_samples == 60
        assert score.interval[0] <= score.value <= score.interval[1]
    assert scores["r2.boosted"].n_draws == 2 and scores["mcc"].n_draws == 20
    assert scores["mcc"].factors is None and "All factors discrete" in scores["dci.completeness"].factors


def test_slow_metrics_use_part_of_many_samples_and_say_so():
    z = normal(5100, 2)
    scores = evaluate(z, z, metrics=["slot_identifiability", "mcc"], n_boot=2, random_state=0)
    assert scores["slot_identifiability"].n_samples == 5000 and scores["mcc"].n_samples == 5100


def test_factors_are_declared_or_detected_and_the_decision_is_stated(mixed):
    few = {"metrics": ["sap"], "n_boot": 2, "random_state": 0}
    assert evaluate(*mixed, **few).factors == "Discrete factors 1, the others continuous (detected)."
    declared = evaluate(*mixed, discrete=False, **few)
    assert declared.factors == "All factors continuous (declared)." == declared["sap"].factors
    assert declared["sap"].value == sap(*mixed, discrete=False) != sap(*mixed)


def test_few_half_samples_give_an_interval_by_students_t():
    drawn = iter([0.5, 0.4, 0.6, 0.5])

    def scripted(z_true, z_hat):
        return next(drawn, 0.5)

    z = normal(20, 2)
    low, high = evaluate(z, z, metrics=[scripted], n_boot=3, random_state=0)["scripted"].interval
    assert (high - low) / 2 == pytest.approx(4.302653 * 0.1)  # t(0.975, 2) times the spread of 0.4, 0.6, 0.5
    assert (high + low) / 2 == pytest.approx(0.5)


def test_what_is_undefined_is_left_out_and_named():
    z = normal(60, 1)
    scores = evaluate(z, z, metrics=["infomec"], n_boot=2, random_state=0)
    assert list(scores) == ["infomec.explicitness"]
    assert scores.undefined == ("infomec.modularity", "infomec.compactness")
    assert "Undefined here: infomec.modularity" in " ".join(printed(scores).split())
    wide = evaluate(z, np.hstack([z, normal(60, 1, seed=1)]), metrics=["infomec"], n_boot=2, random_state=0)
    assert wide["infomec.compactness"].floor is None  # a rotation of one factor is one code
    json.dumps(wide.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("low", "null", "floor", "words"),
    [
        (0.1, 0.2, 0.5, "chance"),
        (0.3, 0.2, 0.5, "floor"),
        (0.6, 0.2, 0.5, "above floor"),
        (0.6, 0.2, None, "above chance"),
    ],
)
def test_a_score_says_what_it_is_evidence_of(low, null, floor, words):
    assert Score(0.9, (low, 1.0), null, floor, None, 0.1, 10).reading == words
    lucky = Score(0.9, (low, 1.0), null, floor, None, 0.1, 10, null_high=0.8, floor_high=0.9)
    assert lucky.reading == "chance"


def test_what_shuffled_codes_reach_is_said_before_the_numbers(tmp_path):
    rng = np.random.default_rng(0)
    noise = evaluate(rng.normal(size=(200, 2)), rng.normal(size=(200, 2)), n_boot=20, random_state=0)
    assert noise.chance == ("mcc", "r2")
    first = "Can't be told from shuffled codes: mcc, r2. Do not read these values."
    console = Console(file=io.StringIO(), width=200)
    console.print(noise)
    page = noise.write(tmp_path / "scores.html").read_text()
    for text in (str(noise), console.file.getvalue()):
        assert text.startswith(first)
    assert page.index("told from shuffled codes: mcc, r2") < page.index("<table")
    z = rng.normal(size=(200, 2))
    assert evaluate(z, z, n_boot=20, random_state=0).warning == ""


def test_a_rotation_is_hardly_ever_read_as_more_than_its_floor():
    rng, readings = np.random.default_rng(0), []
    for _ in range(20):
        z = rng.normal(size=(300, 3))
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        readings.append(evaluate(z, z @ turn, metrics=["mcc"], n_boot=10, random_state=rng)["mcc"].reading)
    assert readings.count("floor") >= 17 and "chance" not in readings


def test_draws_are_bounded_by_quantiles_or_by_students_t():
    def scripted(values):
        drawn = iter([0.5, 0.5, 0.5, *values, *values])  # the value, two halves, then null and floor
        return lambda z_true, z_hat: next(drawn)

    z = normal(20, 2)
    many = np.random.default_rng(0).uniform(size=20).tolist()
    score = evaluate(z, z, metrics={"own": scripted(many)}, n_boot=2)["own"]
    assert score.floor_high == score.null_high == pytest.approx(np.quantile(many, 0.95))
    assert _high([0.2, 0.4, 0.3]) == pytest.approx(0.3 + 2.919986 * 0.1 * np.sqrt(4 / 3))
    assert _high([0.9, 0.5]) == 1 and _high([0.4, float("nan")]) == 0.4 and _high([float("nan")]) is None


def test_it_is_a_frame(evaluation):
    frame = evaluation.to_frame()
    assert list(frame.index) == ["mcc", "r2"] and ["metric", *frame.columns] == list(evaluation.columns)
    assert frame.loc["mcc", "value"] == evaluation["mcc"].value
    assert evaluation.column("metric") == ["mcc", "r2"]
    assert evaluation.column("low") == [evaluation[name].interval[0] for name in evaluation]
    assert [record["floor"] for record in evaluation.records()] == evaluation.column("floor")
    with pytest.raises(ValueError, match="`name` must be one of"):
        evaluation.column("values")


def test_a_csv_file_holds_every_digit(evaluation, tmp_path):
    path = evaluation.write(tmp_path / "scores.csv")
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert [row["metric"] for row in rows] == ["mcc", "r2"] and set(rows[0]) == set(evaluation.columns)
    assert float(rows[1]["high"]) == evaluation["r2"].interval[1] and rows[0]["probe"] == "pearson, matched"


def test_a_json_file_holds_the_dictionary(evaluation, tmp_path):
    path = evaluation.write(tmp_path / "scores.json")
    assert json.loads(path.read_text()) == json.loads(json.dumps(evaluation.to_dict()))


def test_names_are_escaped_wherever_they_go(tmp_path):
    evil = '<script>alert("a,b")</script>[red]'
    scores = evaluate(normal(20, 2), normal(20, 2), metrics={evil: mcc}, n_boot=2, random_state=0)
    page = scores.write(tmp_path / "scores.html").read_text()
    assert "<script>" not in without_ours(page) and "&lt;script&gt;alert(&#34;a,b&#34;)" in page
    assert f"{scores[evil].floor:.3f}" in page
    lines = scores.write(tmp_path / "scores.csv").read_text().splitlines()
    assert next(csv.DictReader(lines))["metric"] == evil
    assert evil in printed(scores, width=300)


def test_a_file_of_another_kind_is_refused_and_nothing_is_written(evaluation, tmp_path):
    with pytest.raises(ValueError, match=r"`path` must end in \.csv, \.json, \.html"):
        evaluation.write(tmp_path / "scores.xlsx")
    assert not list(tmp_path.iterdir())


def test_own_metrics_may_return_several_values():
    @dataclasses.dataclass
    class Pair:
        low: float
        high: float
        label: str

    def spread(z_true, z_hat):
        return Pair(0.25, 0.75, "text")

    z = normal(20, 2)
    assert list(evaluate(z, z, metrics=[spread], n_boot=2)) == ["spread.low", "spread.high"]
    assert isinstance(evaluate(z, z, metrics={"s": slot_identifiability}, n_boot=2), Evaluation)


@pytest.mark.parametrize("wanted", ["dci", "all"])
def test_a_missing_extra_is_named_before_any_work(wanted, monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    start = time.perf_counter()
    with pytest.raises(ValueError, match=r"pip install 'unmix\[trees\]'"):
        evaluate(
            normal(20_000, 5), normal(20_000, 5), metrics=["r2.kernel", wanted] if wanted != "all" else "all"
        )
    assert time.perf_counter() - start < 1


def test_a_narrow_terminal_shows_every_name_and_verdict_whole(mixed):
    scores = evaluate(*mixed, metrics=["mcc", "infomec"], n_boot=5, random_state=0)
    text = printed(scores, width=80)
    assert "…" not in text and all(name in text for name in scores)
    assert all(f"{score.value:.3f}" in text and score.reading in text for score in scores.values())


@pytest.mark.parametrize("raw", [None, 0.3456])
@pytest.mark.parametrize("references", [(), ("pixel PCA + ICA",), ("pixel PCA + ICA", "something_long")])
@pytest.mark.parametrize(
    "name", [*MEASURES, "modularity_explicitness.explicitness", "dci.boosting.completeness"]
)
def test_no_number_is_cut_on_a_narrow_terminal(name, references, raw):
    beside = dict.fromkeys(references, 0.2345)
    drawn = {"null_high": 0.2, "floor_high": 0.6789, "beside": beside}
    score = Score(0.7654, (0.6432, 0.8321), 0.1111, 0.5432, raw, 0.1, 5000, "matched on other rows", **drawn)
    lines = printed(Evaluation({name: score}), width=80).splitlines()
    assert max(map(len, lines)) <= 80 and "…" not in "".join(lines)
    row = next(line for line in lines if "0.765" in line)
    others = ["0.35" if raw else "-"] * (raw is not None or not references) + ["0.23"] * len(references)
    numbers = ["0.765", "0.64–0.83", "0.11", "0.54", "(0.68)", *others]
    assert row.split()[1:] == [*numbers, "floor"]


def test_published_boosting_is_scored_where_it_is_named_and_nowhere_else(mixed, monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)  # it needs none
    scores = evaluate(*mixed, metrics="dci.boosting", n_boot=2, random_state=0)
    parts = ("disentanglement", "completeness", "informativeness")
    assert list(scores) == [f"dci.boosting.{part}" for part in parts]
    found = dci(*mixed, probe="boosting")
    assert [scores[f"dci.boosting.{part}"].value for part in parts] == [
        getattr(found, part) for part in parts
    ]
    assert scores["dci.boosting.completeness"].probe == "boosting" and "dci.boosting" not in MEASURES
    alone = evaluate(*mixed, metrics=["dci.boosting.completeness"], n_boot=2, random_state=0)
    assert list(alone) == ["dci.boosting.completeness"]


def test_the_probe_of_dci_is_named_on_a_narrow_terminal_too():
    names = {"dci": "trees", "dci.boosting": "boosting", "own": "forest"}
    numbers = (0.9, (0.8, 1.0), 0.1, 0.7, None, 0.01, 100)
    scores = {f"{name}.completeness": Score(*numbers, probe) for name, probe in names.items()}
    text = " ".join(printed(Evaluation(scores | {"mcc": Score(*numbers, "pearson")}), width=80).split())
    assert "Probe of dci: trees. Probe of dci.boosting: boosting. Probe of own: forest." in text
    assert "pearson" not in text and "Probe of" not in printed(Evaluation(scores), width=200)


def test_other_codes_stand_beside_these_and_are_scored_like_them(tmp_path):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(200, 3))
    other = z @ rng.normal(size=(3, 4))
    scores = evaluate(z, -z, metrics=("mcc", "r2"), references={"pixels": other, "nothing": 0 * other})
    assert scores["mcc"].beside == {"pixels": mcc(z, other), "nothing": 0.0}
    assert scores.references == ("pixels", "nothing") and scores.columns[-2:] == ("pixels", "nothing")
    assert scores.column("pixels")[0] == mcc(z, other)
    assert "pixels" in str(scores) and f"{mcc(z, other):.3f}" in str(scores)
    pages = [scores.write(tmp_path / name).read_text() for name in ("a.csv", "a.json", "a.html")]
    assert all("pixels" in page and "nothing" in page for page in pages)
    plain = evaluate(z, -z, random_state=0)
    beside = evaluate(z, -z, references={"pixels": other}, random_state=0)
    assert plain["mcc"].interval == beside["mcc"].interval, "nothing is drawn for them"
    with pytest.raises(ValueError, match="`pixels` must have 200 rows"):
        evaluate(z, -z, references={"pixels": other[:50]})


def test_references_leave_the_scores_readable_in_eighty_columns():
    z = np.random.default_rng(0).normal(size=(100, 2))
    scores = evaluate(
        z, -z, metrics=("mcc", "dci"), references={"pixel PCA + ICA": z[:, ::-1]}, random_state=0
    )
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(scores)
    printed = console.export_text()
    assert "…" not in printed and "raw x" not in printed and "dci.disentanglement" in printed
