"""Numbers against references, files of sets, kinds of columns, and what is refused."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

import unmix
from unmix.description import describe, read_groups, relations
from unmix.description._latent import Group
from unmix.estimators import Autoencoder, FastICA, SparseBasis

RNG = np.random.default_rng(0)
CODES = RNG.normal(size=(150, 2)).round(1)  # with ties
KNOWN = RNG.random(150) < 0.8


def of(column):
    (found,) = relations(CODES, {"c": column}, n_draws=20).of[0]
    return found


def test_two_values_are_scored_by_auroc_as_scikit_learn_does():
    label = np.where(CODES[:, 0] + RNG.normal(size=150) > 0.5, "high", "low").astype(object)
    label[~KNOWN] = None
    expected = roc_auc_score(label[KNOWN] == "high", CODES[KNOWN, 0])
    assert (
        of(label).kind == "AUROC" and of(label).value == pytest.approx(expected) and of(label).where == "high"
    )


def test_numbers_are_scored_by_the_correlation_of_ranks():
    dose = np.where(KNOWN, np.exp(CODES[:, 0] + RNG.normal(size=150)), np.nan)
    expected = spearmanr(dose[KNOWN], CODES[KNOWN, 0]).statistic
    assert of(dose).kind == "correlation" and of(dose).value == pytest.approx(expected)


def test_categories_are_scored_by_the_share_of_variance_between_them():
    plate = RNG.integers(4, size=150)
    z = CODES[:, 0]
    means = np.array([z[plate == k].mean() for k in range(4)])[plate]
    assert of(plate).kind == of(plate.astype(str)).kind == "eta squared"
    assert of(plate).value == pytest.approx(means.var() / z.var())


@pytest.mark.parametrize(
    ("column", "why"),
    [
        (np.arange(150).astype(str), "nearly every row"),
        (np.full(150, "a"), "one value only"),
        (np.where(np.arange(150) < 9, 1.0, np.nan), "known in 9 rows"),
    ],
)
def test_columns_that_tell_nothing_are_left_out_with_why(column, why):
    found = relations(CODES, {"c": column}, n_draws=20)
    assert why in found.left_out["c"] and found.of == ((), ())


def test_marks_of_pandas_for_missing_values_are_missing():
    text = pd.Series(np.where(CODES[:, 0] > 0, "a", "b"), dtype="string").where(KNOWN)
    dates = pd.Series(pd.to_datetime(np.where(CODES[:, 0] > 0, "2020-01-01", "2021-01-01"))).where(KNOWN)
    found = relations(CODES, {"text": text, "dates": dates, "kind": text.astype("category")}, n_draws=20)
    assert [each.kind for each in found.of[0]] == ["AUROC"] * 3 and not found.left_out
    assert all(each.value == pytest.approx(1) for each in found.of[0])


def test_latents_that_do_nothing_are_no_error():
    x, _ = frame()
    model = FastICA(2, random_state=0).fit(x)
    model.components_[1] = 0.0
    model.mixing_[:, 1] = 0.0
    found = describe(model, x, metadata={"lot": np.arange(200) % 3})
    assert found.latents[1].share == 0 and not found.latents[1].groups and not found.latents[1].related
    assert found.latents[1].histogram.counts.sum() == 200 and "nan" not in str(found)


def test_a_column_of_another_length_is_refused():
    with pytest.raises(ValueError, match=r"`metadata` must hold 150 values, one per row"):
        relations(CODES, {"c": np.arange(7)})


SETS = {"ER": ("a", "b"), "RNA": ("c", "d")}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("sets.json", json.dumps({name: list(members) for name, members in SETS.items()})),
        ("sets.gmt", "ER\thttp://x\ta\tb\nRNA\t\tc\td\n"),
        ("sets.csv", "group,variable\nER,a\nER,b\nRNA,c\nRNA,d\n"),
        ("sets.tsv", "feature\tset\na\tER\nb\tER\nc\tRNA\nd\tRNA\n"),
    ],
)
def test_sets_are_read_from_what_people_have(name, text, tmp_path):
    (tmp_path / name).write_text(text)
    assert read_groups(tmp_path / name) == SETS


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.json", "[1]"),
        ("s.json", '{"s": "abc"}'),
        ("s.json", '{"s": ["a", NaN]}'),
        ("s.json", '{"s": ["a", null]}'),
        ("s.json", '{"s": ["a", ["b"]]}'),
        ("s.gmt", "ER\t\ta\nER\t\tb\n"),
        ("s.csv", "p,q\n1,2\n"),
        ("s.txt", ""),
    ],
)
def test_files_that_hold_no_sets_are_refused(name, text, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=r"^`groups` must be"):
        read_groups(tmp_path / name)


def frame():
    z = np.random.default_rng(1).laplace(size=(200, 2))
    x = np.repeat(z, 4, axis=1) + 0.2 * np.random.default_rng(2).normal(size=(200, 8))
    table = pd.DataFrame(x, columns=[f"{part}_{k}" for part in ("er", "rna") for k in range(4)])
    return table, table.assign(week=np.where(z[:, 0] > 0, "late", "early"), lot=np.arange(200) % 3)


def test_sets_of_unknown_variables_are_refused_and_given_ones_used():
    x, _ = frame()
    model = FastICA(2, random_state=0).fit(x)
    assert describe(model, x, groups={"mine": ["er_0", "er_1", "er_2"]}).enrichment.names == ("mine",)
    assert describe(model, x, groups={}).enrichment.names == ()
    with pytest.raises(ValueError, match="`groups` must hold names of observed variables such as 'er_0'"):
        describe(model, x, groups={"mine": ["p", "q", "r"]})
    with pytest.raises(TypeError, match="`groups` must be a mapping"):
        describe(model, x, groups=["er_0"])


def test_other_columns_of_a_frame_are_metadata(tmp_path):
    x, wide = frame()
    model = FastICA(2, random_state=0).fit(x)
    wide.to_csv(tmp_path / "t.csv.gz", index=False)
    for source in (wide, tmp_path / "t.csv.gz", unmix.tables.read(wide)):
        found = unmix.describe(model, source)
        assert {each.column for each in found.latents[0].metadata} == {"week", "lot"}
        assert found.names == tuple(x) and found.n_rows == 200
    named = unmix.describe(model, wide.set_axis([f"cell {i}" for i in range(200)]))
    assert named.latents[0].lowest[0] == f"cell {np.argmin(model.transform(x)[:, 0])}"


def test_what_can_not_be_described_is_refused():
    x, _ = frame()
    model = FastICA(2, random_state=0).fit(x)
    with pytest.raises(ValueError, match=r"`ids` must hold one name per row, 200 of them, got 3"):
        describe(model, x, ids=["a", "b", "c"])
    with pytest.raises(TypeError, match="`model` must have `transform`, got dict"):
        describe({}, x)
    with pytest.raises(ValueError, match=r"`X` must be a table"):
        describe(Autoencoder(2), np.zeros((30, 8, 8, 1)))


@pytest.mark.parametrize("scale", ["unit", "mixing"])
def test_loadings_of_uncorrelated_components_are_correlations(scale):
    x, _ = frame()
    model = FastICA(3, scale=scale, random_state=0).fit(x)
    expected = np.corrcoef(x.T, model.transform(x).T)[:8, 8:]
    assert model.loadings_ == pytest.approx(expected, abs=1e-6)
    assert describe(model, x).loadings == pytest.approx(expected, abs=1e-6)


def test_a_variable_that_rarely_varies_is_measured_on_all_rows():
    x = np.random.default_rng(0).laplace(size=(3000, 3))
    x[:, 2] = 0.0
    x[1::500, 2] = 1.0  # at rows that pictures leave out
    model = FastICA(2, random_state=0).fit(x[:, :2])
    model.mixing_, model.n_features_in_ = np.vstack([model.mixing_, [0.05, 0.0]]), 3
    model.components_ = np.column_stack([model.components_, np.zeros(2)])
    model.mean_ = np.append(model.mean_, 0.0)
    found = describe(model, x).loadings
    assert found[2, 0] == pytest.approx(0.05 * model.transform(x)[:, 0].std() / x[:, 2].std())


def test_loadings_of_a_network_are_its_slopes_in_standard_deviations():
    x, _ = frame()
    model = Autoencoder(2, max_iter=30, random_state=0).fit(x)
    slopes, z = model.jacobian(x), model.transform(x)
    size = np.abs(slopes).mean(0) * z.std(0) / x.to_numpy().std(0)[:, None]
    found = describe(model, x)
    assert np.abs(found.loadings) == pytest.approx(size) and found.by == "slopes of the decoder"
    assert (np.sign(found.loadings) == np.sign(slopes.mean(0))).all()
    assert model.loadings_ == pytest.approx(found.loadings, rel=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_findings_name_the_strongest_without_data(tmp_path):
    x, _ = frame()
    for model in (FastICA(2, random_state=0), SparseBasis(2, random_state=0), Autoencoder(2, max_iter=3)):
        again = unmix.load(model.fit(x).save(tmp_path / "model"))
        told = again.findings().to_dict()["strongest"]
        assert len(told) == 2 and all(len(each) == 5 and set(dict(each)) <= set(x) for each in told)
        j, top = 0, told[0][0]
        assert abs(top[1]) == pytest.approx(np.abs(model.loadings_[:, j]).max())


def test_rows_name_a_latent_where_variables_have_no_names():
    x, _ = frame()
    words = [f"word{i}" for i in range(200)]
    model = FastICA(2, random_state=0).fit(x.to_numpy())
    order = np.argsort(model.transform(x.to_numpy())[:, 0])
    (label, _) = (each.label for each in describe(model, x.to_numpy(), ids=words).latents)
    assert (
        label
        == f"from {', '.join(words[i] for i in order[:3])} to {', '.join(words[i] for i in order[:-4:-1])}"
    )
    numbered = x.set_axis([f"dim_{k}" for k in range(8)], axis=1)
    again = describe(FastICA(2, random_state=0).fit(numbered), numbered, ids=words)
    assert again.latents[0].label == label and again.enrichment.names == ()
    assert "from" not in describe(model, x.to_numpy()).latents[0].label


def test_a_latent_of_a_few_rows_says_so():
    x, _ = frame()
    x.iloc[0] += 500.0
    found = describe(FastICA(2, random_state=0).fit(x), x)
    assert any("five rows carry" in line for line in found.lines)
    assert "five rows" in str(found) and json.dumps(found.to_dict())


def test_a_group_that_is_moved_hardly_more_than_others_is_told_and_names_no_latent():
    x = np.random.default_rng(1).laplace(size=(300, 4))
    found = describe(FastICA(2, random_state=0).fit(x), x).latents[0]
    barely, plainly = (
        replace(found, groups=(Group("s", 8000, ratio, 0.001, 1.0, 0.0),), by_rows=False)
        for ratio in (1.1, 1.2)
    )
    assert plainly.label == "s" and "z0: s (" in plainly.line and "s 1.1×" in str(barely)
    assert f" {barely.variables[0].name}," in barely.label and "z0: s" not in barely.line
