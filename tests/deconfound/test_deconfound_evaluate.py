"""Scores: their laws, what chance gives, and what they say of tables that are understood."""

import numpy as np
import pytest

from plates import world
from unmix.deconfound import concentration, design, evaluate, held_out_aurocs, hoyer, some_batches
from unmix.deconfound._judge import variance_kept
from unmix.deconfound._neighbours import allowed_of, average_precision, leak, profiles, related, replicates
from unmix.deconfound._scores import Score, resampled
from unmix.deconfound._trees import grouped_folds, tasks_of


@pytest.fixture(scope="module")
def found():
    x, meta = world(shift=4.0)
    return evaluate(
        x,
        meta,
        batch=["plate"],
        control="gene == '-'",
        label=["gene"],
        methods=["base", "centre-controls", "anchored"],
    )


def test_anchoring_hides_the_batch_and_finds_replicates(found):
    base, ours = found.scores["base"], found.scores["anchored"]
    assert base["leak"].value > 3 * base["leak"].chance
    assert ours["leak_held_out"].value < 2.5 * ours["leak"].chance
    assert ours["replicate_map"].value > base["replicate_map"].value + 0.1
    assert abs(base["replicate_map"].chance - 1 / 3) < 0.1  # three labels
    assert base["variance_kept"].value == 1 > ours["variance_kept"].value > 0.3


def test_the_table_ends_with_chance_and_numbers_lie_in_their_intervals(found):
    heads, rows = found.lines()
    assert heads[0] == "method" and [row[0] for row in rows][-1] == "chance"
    for row in found.scores.values():
        for score in row.values():
            assert np.isnan(score.low) or score.low <= score.value <= score.high
    assert str(Score(0.5, 0.4, 0.6)) == ".500 [.400, .600]" and str(Score(float("nan"))) == "-"
    assert found.to_dict()["confounding"]["n_labels"] == 3 and "leak" in str(found)


def test_neighbours_of_the_same_plate_do_not_tell_the_week():
    rng = np.random.default_rng(0)
    plate = np.repeat(np.arange(40), 5)
    week, own = plate // 4, rng.normal(size=(40, 6))[plate]
    x = own + 0.01 * rng.normal(size=(200, 6))
    assert leak(x, week).mean == 1
    apart = leak(x, week, plate)
    assert apart.mean == pytest.approx(apart.null, abs=0.12) and apart.null == pytest.approx(15 / 195)


def test_precision_is_one_for_labels_that_lie_apart_and_chance_for_noise():
    rng = np.random.default_rng(0)
    label, batch = np.tile(np.arange(4), 30), np.repeat(np.arange(12), 10)
    apart = np.eye(4)[label] + 0.01 * rng.normal(size=(120, 4))
    assert replicates(apart, label, batch).mean == pytest.approx(1)
    noise = replicates(rng.normal(size=(120, 4)), label, batch)
    assert noise.mean == pytest.approx(noise.null, abs=0.03)
    order = rng.permutation(120)
    again = replicates(apart[order], label[order], batch[order])
    assert again.mean == pytest.approx(1)


def test_average_precision_by_hand():
    rows = np.array([[1.0, 0], [0.9, 0.1], [0.7, 0.7], [0.1, 1]])
    kind = np.array([0, 1, 0, 1])
    first = average_precision(rows, kind, allowed_of(np.arange(4))).scores[0]
    assert first == pytest.approx(1 / 2)  # its like is second of three


def test_relations_leave_the_same_label_aside():
    values = np.array([[1.0, 0], [1, 0.01], [0.9, 0.2], [0, 1], [0.1, 1]])
    unit, label = np.array(["a1", "a2", "b", "c", "d"]), np.array(["a", "a", "b", "c", "d"])
    means, first = profiles(values, unit)
    relation = np.array(["r", "r", "r", "s", "s"])
    precision, following, elsewhere = related(means, relation[first], label[first], np.array([0, 0, 1, 0, 0]))
    assert precision.mean == 1 and following.mean == 1 and len(elsewhere.scores) == 3


def test_intervals_are_those_of_batches_not_of_rows():
    batch = np.repeat(np.arange(8), 1000)
    values = np.repeat(np.random.default_rng(0).random(8), 1000)
    score = resampled(values, batch, np.zeros(8000))
    assert score.high - score.low > 0.2  # rows would give .01


def test_variance_kept_by_noise_is_none():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 100))
    assert variance_kept(x, rng.normal(size=(300, 100))).value < 0.03
    assert variance_kept(x, x @ rng.normal(size=(100, 100))).value == pytest.approx(1)
    assert variance_kept(x, x[:, :50]).value == pytest.approx(0.5, abs=0.03)
    assert np.isnan(variance_kept(x[:150], x[:150]).value)  # of so few rows nothing is said


def test_sparsity_and_concentration_have_their_ends():
    assert hoyer([0.5, 0.25, 0.25, 0]) == pytest.approx(0.3670068)
    assert hoyer([3, 3, 3]) == pytest.approx(0) and hoyer([0, 7, 0]) == pytest.approx(1)
    assert np.isnan(hoyer([0, 0])) and np.isnan(concentration(0.5, 0.4))
    assert concentration(0.8, 0.65) == pytest.approx(0.5)
    assert concentration(0.8, 0.6, "relative") == pytest.approx(1 / 3)
    assert concentration(0.8, 0.6, "over_bottom") == pytest.approx(2)
    assert concentration(0.8, 0.6, "difference") == pytest.approx(0.2)
    with pytest.raises(ValueError, match="`mode` must be one of"):
        concentration(0.8, 0.6, "ratio")


def test_folds_share_no_batch():
    rng = np.random.default_rng(0)
    batch, positive = np.repeat(np.arange(20), 10), rng.random(200) < 0.2
    folds = grouped_folds(positive, batch, 5, 0)
    for train, test in folds:
        assert not set(batch[train]) & set(batch[test])
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(200))
    assert tasks_of(np.where(positive, "A", "-"), ~positive, batch, min_rows=10) == ["A"]
    with pytest.raises(ValueError, match="one class only"):
        grouped_folds(batch == 0, batch, 5, 0)


def test_trees_find_what_is_there_and_nothing_in_noise():
    pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    batch, positive = np.repeat(np.arange(20), 30), np.tile(np.arange(30) < 10, 20)
    noise = rng.normal(size=(600, 8))
    told = noise + 2 * positive[:, None] * np.eye(8)[0]
    folds = held_out_aurocs({"told": told, "noise": noise}, positive, batch, n_splits=3)
    means = {
        name: np.mean([fold.auroc for fold in folds if fold.method == name]) for name in ("told", "noise")
    }
    assert means["told"] > 0.85 and abs(means["noise"] - 0.5) < 0.08
    assert all(fold.concentration > 0.7 for fold in folds if fold.method == "told")


def test_many_rows_are_scored_by_whole_batches():
    x, meta = world()
    some = evaluate(x, meta, batch=["plate"], control="gene == '-'", methods=["base"], max_rows=200)
    assert some.n_rows == 6 * 32


def test_what_can_not_be_scored_says_why():
    x, meta = world(n_controls=1, n_treated=6)
    found = evaluate(x, meta, batch=["plate"], control="gene == '-'", task=["gene"], methods=["base"])
    assert any("single control" in note for note in found.notes)
    assert any("no treatment has 50 rows" in note for note in found.notes)
    assert "leak_held_out" not in found.scores["base"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [501, 502, 503, 504, 505])
def test_independent_components_help_trees_on_plates_that_they_have_not_seen(seed):
    pytest.importorskip("lightgbm")
    from unmix.experiments.papers.nearid.plates import CELLS, N_FACTORS, PLATES, VALUES, plates, run

    cells = {cell.row: cell for cell in CELLS[:: len(VALUES)]}
    rows = ("raw x", "PCA", "PCA + random rotation", "PCA + ICA")
    base, white, turned, independent = (run(cells[row], seed, "laptop") for row in rows)
    turns = (white["AUROC"], turned["AUROC"])
    assert independent["AUROC"] >= max(turns) + 0.02 and independent["concentration"] > 0.8
    assert min(turns) > base["AUROC"]
    x, factors, _ = plates(PLATES["laptop"], seed)
    carried = np.var(factors[:, :2] * np.linalg.norm(np.linalg.lstsq(factors, x)[0], axis=1)[:2], axis=0)
    drowned = carried.max() / x.var(0).sum() < 1 / N_FACTORS
    # where a factor of the treatment is among the largest, trees see it in the table as it is
    assert min(turns) >= base["AUROC"] + 0.05 or not drowned


def test_rows_to_compare_are_whole_batches_two_of_each_coarse_one_and_fewer_of_wide_tables():
    week, plate = np.repeat(np.arange(20), 600), np.tile(np.repeat(np.arange(6), 100), 20)
    where = design({"week": week, "plate": plate}, ["week", "plate"])
    chosen = some_batches(where, 10, 4000)
    assert len(chosen) == 4000 and (np.diff(chosen) > 0).all()
    _, counts = np.unique(where.batch[chosen], return_counts=True)
    assert (counts == 100).all()
    plates_of = [len(np.unique(where.batch[chosen[where.outer[chosen] == k]])) for k in range(20)]
    assert plates_of == [2] * 20
    assert len(some_batches(where, 5000, 4000)) == (1 << 23) // 5000 // 100 * 100
    assert len(some_batches(where, 10, 12_000)) == 12_000
