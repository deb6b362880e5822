"""Methods: what each promises, on tables whose batches are known."""

import numpy as np
import pytest

from plates import world
from unmix.deconfound import METHODS, Design, components, design, evaluate, fit_anchored, fit_transform
from unmix.deconfound._anchored import BETWEEN, RIDGE, anchored, array_blocks
from unmix.deconfound._components import eta_squared, evidence
from unmix.deconfound._field import by_batch, power


@pytest.fixture(scope="module")
def plates():
    x, meta = world()
    return x, meta, design(meta, ["plate"], "gene == '-'")


@pytest.mark.parametrize("name", METHODS)
def test_rows_stay_where_they_are_and_the_table_is_left_alone(name, plates):
    x, _, where = plates
    before = x.copy()
    adjusted = METHODS[name](x, where, random_state=0)
    assert len(adjusted) == len(x) and np.isfinite(adjusted).all() and (x == before).all()
    order = np.random.default_rng(0).permutation(len(x))
    if "ica" not in name and name != "pca+random":
        turned = METHODS[name](x[order], where.rows(order), random_state=0)
        cosines = [np.corrcoef(part[:, 0], other[:, 0])[0, 1] for part, other in [(turned, adjusted[order])]]
        assert abs(cosines[0]) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("name", ["centre-controls", "standardise", "tvn", "anchored"])
def test_controls_of_every_batch_have_mean_zero(name, plates):
    x, _, where = plates
    adjusted = METHODS[name](x, where)
    means = [adjusted[controls].mean(0) for _, controls in by_batch(where)]
    assert np.abs(means).max() < 1e-6


def test_anchoring_does_not_depend_on_units_or_on_blocks(plates):
    x, _, where = plates
    found = anchored(x, where)
    units = np.exp(np.random.default_rng(0).normal(size=x.shape[1]) * 3)
    assert np.allclose(anchored(x * units + 5 * units, where), found, atol=1e-6)
    assert np.allclose(fit_anchored(lambda: np.array_split(x, 7), where).apply(x, where.batch), found)
    single = fit_anchored(lambda: array_blocks(x.astype(np.float32)), where)
    assert single.apply(x.astype(np.float32), where.batch).dtype == np.float32


def test_a_shift_of_a_whole_batch_changes_nothing_but_units(plates):
    x, _, where = plates
    moved = anchored(x + 50 * np.random.default_rng(1).normal(size=(12, 10))[where.batch], where)
    for _, controls in by_batch(where):
        assert np.abs(moved[controls].mean(0)).max() < 1e-6


def test_anchoring_is_sphering_by_controls_within_batches_some_of_that_between_and_a_ridge(plates):
    x, _, where = plates
    z = (x - x.mean(0)) / x.std(0)
    middle = np.array([z[controls].mean(0) for _, controls in by_batch(where)])
    own, of = z[where.control], where.batch[where.control]
    within = (own - middle[of]).T @ (own - middle[of]) / (len(own) - 1)
    between = np.cov(own.T) - within
    ridge = RIDGE * np.trace(within) / len(within) * np.eye(len(within))
    expected = (z - middle[where.batch]) @ power(within + BETWEEN * between + ridge, -0.5)
    assert np.allclose(anchored(x, where), expected)


def test_few_controls_do_not_blow_up_noise():
    rng = np.random.default_rng(0)
    plate = np.repeat(np.arange(10), 6)
    learnt = fit_anchored(lambda: [rng.normal(size=(60, 40))], design({"plate": plate}, ["plate"]))
    assert learnt.variances[0] > 0.5  # all are 1 in truth; the least of the controls themselves is below .1


def test_more_columns_than_controls_and_copies_of_columns_are_no_trouble():
    rng = np.random.default_rng(0)
    plate = np.repeat(np.arange(4), 5)
    x = rng.normal(size=(20, 30))
    x[:, 1], x[:, 2] = x[:, 0], 7.0
    adjusted = anchored(x, design({"plate": plate}, ["plate"]))
    assert np.isfinite(adjusted).all() and np.abs(adjusted).max() < 100


@pytest.mark.parametrize("name", ["sphere", "tvn", "pca", "anchored"])
def test_of_more_columns_than_rows_only_the_span_of_rows_is_looked_at(name):
    rng = np.random.default_rng(0)
    where = design({"plate": np.repeat(np.arange(4), 15)}, ["plate"])
    x = rng.normal(size=(60, 50)) @ rng.normal(size=(50, 5000))
    adjusted = METHODS[name](x, where)
    assert np.isfinite(adjusted).all() and len(adjusted) == 60
    assert adjusted.shape[1] == {"sphere": 5000, "anchored": 5000, "pca": 3, "tvn": 60}[name]


def test_a_wide_table_with_many_rows_is_refused_before_memory_is_asked_for():
    where = design({"plate": np.repeat(np.arange(2), 4000)}, ["plate"])
    with pytest.raises(ValueError, match="at most 6,000 columns"):
        fit_anchored(lambda: [np.zeros((10, 7000), dtype=np.float32)], where)


def test_combat_takes_out_location_and_scale_and_shrinks_what_is_chance():
    rng = np.random.default_rng(0)
    plate = np.repeat(np.arange(4), 50)
    scale, shift = np.array([0.5, 1, 2, 1])[plate], np.array([0.0, 3, -2, 0])[plate]
    x = rng.normal(size=(200, 60)) * scale[:, None] + shift[:, None]
    adjusted = METHODS["combat"](x, design({"plate": plate}, ["plate"]))
    spreads = [adjusted[plate == k].std() for k in range(4)]
    assert np.ptp([adjusted[plate == k].mean() for k in range(4)]) < 0.02 and np.ptp(spreads) < 0.05
    left = [np.abs(adjusted[plate == k].mean(0) - adjusted.mean(0)).mean() for k in range(4)]
    assert min(left) > 0.02  # noise of single columns is not taken for a batch's doing


@pytest.mark.parametrize("sizes", [(12, 20, 15, 30, 9), (40, 3), (8,) * 7])
def test_combat_is_that_of_a_peer(sizes, capsys):
    pandas, peer = pytest.importorskip("pandas"), pytest.importorskip("neuroCombat")
    rng = np.random.default_rng(len(sizes))
    plate = np.repeat(np.arange(len(sizes)), sizes)
    effects, spreads = 2 * rng.normal(size=(len(sizes), 50)), rng.uniform(0.5, 2, size=(len(sizes), 50))
    x = rng.normal(size=(len(plate), 50)) * spreads[plate] + effects[plate] + 3 * rng.normal(size=50)
    ours = METHODS["combat"](x, design({"plate": plate}, ["plate"]))
    theirs = peer.neuroCombat(dat=x.T, covars=pandas.DataFrame({"plate": plate}), batch_col="plate")["data"].T
    assert np.abs(ours - theirs).max() < 1e-3 * np.abs(x - theirs).max()  # both stop at changes of 1e-4
    shuffled = METHODS["combat"](x[::-1], design({"plate": plate[::-1]}, ["plate"]))[::-1]
    assert np.allclose(ours, shuffled)


def test_a_rotation_changes_no_angle_and_so_no_neighbour(plates):
    x, meta, _ = plates
    found = evaluate(
        x,
        meta,
        batch=["plate"],
        control="gene == '-'",
        label=["gene"],
        methods=["pca", "pca+ica", "pca+random"],
    )
    for name in ("leak", "replicate_map"):
        values = [row[name].value for row in found.scores.values()]
        assert np.ptp(values) < 0.005


def test_technical_components_are_those_that_plates_move(plates):
    x, _, where = plates
    found = components(x, where)
    assert found.technical.sum() == 2 and (found.weights[found.technical] < 0.5).all()
    # the two factors that plates move and the treatments do not
    assert found.auroc[found.technical].max() < 0.6 < found.auroc.max()
    listed = found.listed([f"f{j}" for j in range(10)])
    assert [line["technical"] for line in listed[:3]] == [True, True, False]
    assert listed[0]["features"][0][1:] in [f"f{j}" for j in range(10)]


def test_without_an_effect_of_batches_few_components_are_said_to_be_driven():
    calls = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        values, batch = rng.laplace(size=(200, 10)), np.repeat(np.arange(10), 20)
        explained, null = evidence(values, batch, seed)
        calls.append((explained > null).any())
    assert np.mean(calls) <= 0.25  # each world at a level of 5%


def test_eta_squared_is_that_of_an_analysis_of_variance():
    rng = np.random.default_rng(0)
    batch = np.repeat(np.arange(200), 50)
    values = rng.normal(size=(10_000, 1)) + rng.normal(size=200)[batch, None]
    assert eta_squared(values, batch)[0] == pytest.approx(0.5, abs=0.05)
    assert eta_squared(rng.normal(size=(10_000, 1)), batch)[0] < 0.02


def test_frames_and_cells_come_back_as_they_went_in(plates):
    pandas, anndata = pytest.importorskip("pandas"), pytest.importorskip("anndata")
    x, meta, where = plates
    frame = pandas.DataFrame({**meta, **{f"f{j}": column for j, column in enumerate(x.T)}})
    frame.index = [f"w{i}" for i in range(len(x))]
    found = fit_transform(frame, batch="plate", control="gene == '-'")
    assert list(found.columns) == list(frame.columns) and (found.index == frame.index).all()
    expected = fit_transform(x, meta, batch="plate", control="gene == '-'")
    assert np.allclose(found.iloc[:, 2:], expected) and np.allclose(expected, anchored(x, where))
    cells = anndata.AnnData(X=np.zeros((len(x), 1)), obs=frame[["plate", "gene"]], obsm={"X_emb": x})
    made = fit_transform(cells, batch="plate", control="gene == '-'", rep="X_emb", key_added="X_clean")
    assert made is cells and np.allclose(made.obsm["X_clean"], expected)
    assert made.uns["X_clean"]["method"] == "anchored"


def test_components_are_fitted_to_the_rows_asked_for(plates):
    x, meta, where = plates
    asked = {"batch": "plate", "control": "gene == '-'", "method": "pca"}
    white = fit_transform(x, meta, **asked, fit_on="controls")
    assert np.allclose(np.cov(white[where.control].T), np.eye(white.shape[1]), atol=1e-6)
    assert not np.allclose(white, fit_transform(x, meta, **asked))
    with pytest.raises(ValueError, match="`fit_on` must be 'all' for the method 'combat'"):
        fit_transform(x, meta, **{**asked, "method": "combat"}, fit_on="controls")
    with pytest.raises(ValueError, match="`train` must mark rows"):
        fit_transform(x, meta, **asked, fit_on="train")


def test_a_design_of_some_rows_is_that_of_these_rows(plates):
    _, _, where = plates
    few = where.rows(np.arange(5))
    assert isinstance(few, Design) and len(few) == 5 and few.names == where.names
