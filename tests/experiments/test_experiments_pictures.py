"""Tables about images: scores beside their floors, codes that are kept, choices, budgets and turns."""

import threading
import time

import numpy as np
import pytest

from unmix.experiments import (
    NOISE,
    PIXELS,
    ROTATION,
    Cell,
    Place,
    load_experiment,
    summarise,
    tasks_of,
)
from unmix.experiments.engine import _place, budgets_of
from unmix.experiments.engine._work import perform
from unmix.experiments.papers._pictures import codes as kept_codes
from unmix.experiments.papers._pictures.codes import Learned, learned
from unmix.experiments.papers._pictures.factor import make as make_factor
from unmix.experiments.papers._pictures.models import make
from unmix.experiments.papers._pictures.pixels import pixel_components
from unmix.experiments.papers._pictures.scores import (
    independent,
    levels,
    reference_codes,
    scores,
    told_by_pixels,
)
from unmix.experiments.papers._pictures.twins import SIZE, TWINS, Pictures, pictures
from unmix.experiments.papers.ddl import _pictures as factor_tables
from unmix.experiments.papers.ddl import table7
from unmix.experiments.papers.nearid import _pictures as nearid

NEW = ("nearid.table2", "nearid.images", "ddl.table1", "ddl.table7", "ddl.table8")
SIZES = (4, 3, 5, 6)


class Grid:
    """All combinations of four factors, several times; there are no images to look at."""

    sizes = SIZES

    def __init__(self, times=1):
        every = np.stack(np.unravel_index(np.arange(np.prod(SIZES)), SIZES), 1)
        self.factors = np.repeat(every, times, 0)

    def __len__(self):
        return len(self.factors)


@pytest.fixture(scope="module")
def whole():
    rows = np.arange(np.prod(SIZES))
    return Pictures("grid", Grid(), rows, np.random.default_rng(0).permutation(rows))


@pytest.fixture(scope="module")
def some(whole):
    """The same as a part of a larger set, whose factors can't be held still exactly."""
    return Pictures("grid", Grid(2), 2 * whole.rows, whole.scored)


def test_the_truth_scores_1_and_noise_its_floor(whole):
    truth = scores(whole, whole.data.factors.astype(float), "smoke")
    noise = scores(whole, reference_codes(NOISE, whole, 8, 0, Place("cpu")), "smoke")
    assert truth["mcc"] == pytest.approx(1) and truth["InfoE"] > 0.99 and truth["FactorVAE score"] == 1
    assert noise["mcc"] < 0.3 and noise["InfoE"] < 0.1 and noise["FactorVAE score"] < 0.6
    assert noise["InfoM"] > 0.3, "noise is modular by itself: InfoM is never to be read alone"


def test_a_rotation_of_the_truth_tells_all_and_separates_nothing(whole):
    turned = scores(whole, reference_codes(ROTATION, whole, 8, 0, Place("cpu")), "smoke")
    truth = scores(whole, whole.data.factors.astype(float), "smoke")
    assert turned["InfoE"] > 0.9
    assert all(turned[name] < truth[name] - 0.2 for name in ("InfoM", "InfoC", "MIG")), turned


def test_scores_ignore_order_and_sign_of_codes(whole):
    codes = reference_codes(ROTATION, whole, 4, 1, Place("cpu"))
    plain, turned = (scores(whole, c, "smoke") for c in (codes, -codes[:, [2, 0, 3, 1]]))
    same = ("InfoM", "InfoE", "InfoC", "mcc", "MIG", "SAP", "FactorVAE score")
    assert [plain[name] for name in same] == pytest.approx([turned[name] for name in same], abs=2e-3)


def test_factors_are_held_still_where_every_combination_has_an_image(whole, some):
    assert whole.whole and not some.whole
    codes = whole.data.factors.astype(float)
    assert (
        scores(whole, codes, "smoke")["FactorVAE score"]
        == scores(some, codes, "smoke")["FactorVAE score"]
        == 1
    )


def test_components_of_all_codes_are_the_factors_again(whole):
    turned = reference_codes(ROTATION, whole, 8, 0, Place("cpu"))
    found = independent(turned, 0, "cpu")
    assert found.shape == (len(turned), 4), "directions that are not used are dropped"
    assert scores(whole, found, "smoke")["mcc"] > 0.99 > 0.9 > scores(whole, turned, "smoke")["mcc"]


def test_products_of_hues_are_not_told_by_pixels_and_hues_are():
    seen = pictures("Shapes3D twin", "laptop")
    floor, wall = (2 * np.pi / 10 * seen.data.factors[seen.rows, k] for k in (0, 1))
    hues = np.column_stack([np.cos(floor), np.sin(floor), np.cos(wall), np.sin(wall)])
    both = np.column_stack([np.cos(floor) * np.cos(wall), np.sin(floor + wall)])
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0]
    part = told_by_pixels(seen, np.column_stack([hues, both]) @ turn, Place("cpu"))
    assert part.shape == (len(seen.rows), 4)
    left = part - hues @ np.linalg.lstsq(hues, part, rcond=None)[0]
    assert np.abs(left - left.mean(0)).max() < 0.2 < 1 < np.abs(part - part.mean(0)).max()


def test_levels_hide_small_traces_of_other_factors_and_keep_their_own(whole):
    factors = whole.data.factors.astype(float)
    traced = factors + 0.02 * factors[:, [1, 2, 3, 0]]
    plain = scores(whole, traced, "smoke")
    rounded = scores(whole, levels(traced, max(SIZES)), "smoke", discrete=True)
    assert rounded["InfoM"] > 0.75 > 0.5 > plain["InfoM"] and rounded["InfoE"] > 0.99


def test_components_of_pixels_are_principal_ones():
    seen = pictures("dSprites twin", "smoke")
    pixels = seen.images("cpu").flatten(1).double().numpy() / 255
    centred = pixels - pixels.mean(0)
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    found = pixel_components(seen.images("cpu"), 3)
    assert np.allclose(np.abs(found), np.abs(u * s)[:, :3], atol=1e-4)
    assert reference_codes(PIXELS, seen, 3, 0, Place("cpu")).shape == (len(seen.rows), 3)


@pytest.mark.parametrize("twin", TWINS)
def test_images_are_those_of_the_rows_and_the_same_for_every_seed(twin):
    seen = pictures(twin, "smoke")
    at = np.array([3, 0])
    drawn = seen.images("cpu", at).numpy()
    assert np.array_equal(drawn, seen.data.images[seen.rows[at]]) and drawn.dtype == np.uint8
    assert all(len(set(column)) > 1 for column in seen.factors.T), "every factor varies"


def test_codes_are_trained_once_and_again_where_the_file_is_damaged(tmp_path, monkeypatch):
    trained, train = [], kept_codes._trained
    monkeypatch.setattr(kept_codes, "_trained", lambda *given: trained.append(1) or train(*given))
    place = Place("cpu", folder=str(tmp_path), code="a")
    settings = {"model": "AE", "twin": "dSprites twin"}
    first, again = (learned(make, settings, 0, "smoke", place) for _ in range(2))
    assert len(trained) == 1 and np.array_equal(first.codes, again.codes) and first.psnr == again.psnr
    for other in ({"seed": 1}, {"place": Place("cpu", folder=str(tmp_path), code="b")}):
        learned(make, settings, other.get("seed", 0), "smoke", other.get("place", place))
    assert len(trained) == 3, "another seed and other code are other trainings"
    (next(tmp_path.glob("*/codes.npz"))).write_bytes(b"half")
    for seed, code in ((0, "a"), (1, "a"), (0, "b")):
        learned(make, settings, seed, "smoke", Place("cpu", folder=str(tmp_path), code=code))
    assert len(trained) == 4 and not list(tmp_path.glob("*/checkpoint"))
    place.tidy()
    assert not tmp_path.exists()


def test_the_choice_without_factors_is_the_largest_decay_that_reconstructs():
    found = [Learned(np.zeros((1, 1)), psnr, np.zeros((1, 1)), 0.0) for psnr in (30.0, 29.5, 27.5, 20.0)]
    assert nearid.chosen(found) == 1
    scored = [{"InfoM": value} for value in (0.1, 0.2, 0.9, 1.0)]
    assert nearid.by_factors(found, scored) == 2, "what reconstructs 3 dB worse is never chosen"


def test_factors_may_choose_a_shorter_training_and_our_choice_is_of_the_longest(monkeypatch):
    seen = pictures("dSprites twin", "smoke")
    rng, asked = np.random.default_rng(0), []
    truth = np.repeat(seen.data.factors[seen.rows].astype(float), 2, 1)
    mixed = truth @ rng.normal(size=(10, 10))

    def trained(make, settings, seed, budget, place):
        asked.append(settings)
        codes = truth if settings.get("share") else mixed
        return Learned(codes + 0.01 * rng.normal(size=codes.shape), 30.0, codes, 1.0)

    monkeypatch.setattr(nearid, "learned", trained)
    cell = next(
        cell
        for cell in load_experiment("nearid.table2").CELLS
        if (cell.row, cell.column) == ("AE", "dSprites twin")
    )
    found = nearid.run(cell, 0, "smoke", Place("cpu"))
    assert [settings.get("share", 1) for settings in asked] == [1, 0.5]
    assert found["InfoM of the choice by factors"] > found["InfoM"]


def test_turns_on_the_device_are_as_many_as_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(_place, "_has_gpu", lambda: True)
    place, busy, most = Place(at_once=2, folder=str(tmp_path)), [], []

    def train():
        with place.training():
            busy.append(1)
            most.append(len(busy))
            time.sleep(0.05)
            busy.pop()

    threads = [threading.Thread(target=train) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 2 and len(most) == 5
    with pytest.raises(ValueError, match="`at_once` must be at least 1"):
        Place(at_once=0)


@pytest.mark.parametrize(("name", "budget"), [("ddl.table4", "gpu"), ("nearid.table2", "full")])
def test_a_budget_that_a_table_does_not_have_is_refused_in_words(name, budget):
    table = load_experiment(name)
    with pytest.raises(ValueError, match=f"for {name}, got '{budget}'"):
        tasks_of(table, budget=budget)
    assert budget not in budgets_of(table)


def test_the_device_is_no_part_of_what_a_result_depends_on():
    table = load_experiment("ddl.table1")
    one, two = (
        tasks_of(table, seeds=1, budget="gpu", place=place)[0]
        for place in (None, Place("cuda", 3, "somewhere"))
    )
    assert one.key == two.key and two.place.at_once == 3
    assert tasks_of(load_experiment("ddl.table4"), seeds=1, place=Place("cpu"))[0].place is None


def test_a_number_on_other_images_stands_beside_the_papers_and_is_not_judged():
    cell = Cell("ours", "twin", paper=0.5, source="arXiv:0", other="another set of images").to_dict()
    known = {"experiment": "x.y", "budget": "gpu", "settings": {}, "seed": 0, "code": "c", "error": None}
    table = summarise([known | {"cells": [cell], "values": {"mcc": 0.9}, "seconds": 1.0}])[0]
    line = table.lines[0]
    assert (line.verdict, line.notes, line.paper, line.ours) == (
        "not judged",
        ("another set of images",),
        0.5,
        0.9,
    )
    assert "other" not in Cell("ours", "twin").to_dict()


@pytest.mark.parametrize("name", NEW)
def test_twins_say_that_they_are_another_set_of_images(name):
    table = load_experiment(name)
    assert all(cell.other for cell in table.CELLS if cell.paper is not None)
    places = {(cell.row, cell.column, cell.value) for cell in table.CELLS}
    for cell in table.CELLS:
        score = cell.value.partition(" of ")[0]
        if score == nearid.COMPONENTS:
            continue  # a count
        assert (NOISE, cell.column, score) in places and (PIXELS, cell.column, score) in places, cell


def test_published_numbers_of_images_are_those_of_the_papers():
    found = {
        (name, cell.row, cell.column, cell.value): (cell.paper, cell.spread)
        for name in NEW
        for cell in load_experiment(name).CELLS
    }
    cars, sparse = "Cars3D twin", "FactorVAE + dependency sparsity"
    assert found["nearid.table2", "AE + ICA", "Shapes3D twin", "InfoM of ICA"] == (0.79, None)
    assert found["nearid.table2", "beta-TCVAE", "MPI3D twin", "InfoC"] == (0.57, None)
    assert found["ddl.table1", sparse, "Shapes3D twin", "DCI, boosting"] == (0.575, 0.032)
    assert found["ddl.table7", sparse, f"{cars}, twice the side", "FactorVAE score"] == (0.723, 0.023)
    assert found["ddl.table8", "FactorVAE + OroJAR", cars, "FactorVAE score"] == (0.165, 0.235)


@pytest.mark.parametrize(("budget", "side"), [("smoke", 32), ("laptop", 32), ("gpu", 128)])
def test_twice_the_side_is_that_at_every_budget(budget, side, monkeypatch):
    class Asked(Exception):
        pass

    def asked(twin, budget, size):
        raise Asked(size)  # before anything is drawn or trained

    monkeypatch.setattr(factor_tables, "pictures", asked)
    cell = next(cell for cell in table7.CELLS if cell.column.endswith("twice the side"))
    with pytest.raises(Asked) as found:
        factor_tables.run(cell, 0, budget, Place("cpu"))
    assert found.value.args == (side,) == (2 * SIZE[budget],)


def test_an_autoencoder_and_its_components_share_their_training(tmp_path):
    tasks = tasks_of(load_experiment("nearid.table2"), seeds=1, budget="smoke", place=Place("cpu"))
    own = next(
        task for task in tasks if task.cells[0].row == "AE" and task.cells[0].column == "dSprites twin"
    )
    assert {cell.row.partition(",")[0] for cell in own.cells} == {"AE", "AE + ICA"}
    record = perform(own)
    assert record["error"] is None, record["error"]
    assert record["values"]["InfoE of ICA"] == pytest.approx(record["values"]["InfoE"], abs=0.2)


def test_two_tables_share_a_training_and_agreement_is_of_two(tmp_path, monkeypatch):
    trained, train = [], kept_codes._trained
    monkeypatch.setattr(kept_codes, "_trained", lambda *given: trained.append(given[2]) or train(*given))
    place = Place("cpu", folder=str(tmp_path))
    for name, row in (("nearid.table2", "beta-VAE"), ("nearid.images", "beta-VAE")):
        tasks = tasks_of(load_experiment(name), seeds=1, budget="smoke", place=place)
        record = perform(
            next(t for t in tasks if (t.cells[0].row, t.cells[0].column) == (row, "dSprites twin"))
        )
        assert record["error"] is None, record["error"]
    assert trained == [0, 1], "the second table trains one more, of the next seed"


@pytest.mark.parametrize("row", ["FactorVAE + dependency sparsity", "FactorVAE + Hessian penalty"])
def test_penalties_of_table_8_run(row):
    tasks = tasks_of(load_experiment("ddl.table8"), seeds=1, budget="smoke", place=Place("cpu"))
    record = perform(next(task for task in tasks if task.cells[0].row == row))
    assert record["error"] is None, record["error"]
    assert 0 <= record["values"]["DCI, boosting"] <= 1


def test_recipes_are_the_published_ones_but_for_what_a_budget_cuts():
    made = make({"model": "QLAE", "twin": "MPI3D twin"}, 7, "gpu", random_state=0)
    assert made.n_components == 14 and made.weight_decay == 0.001 and made.batch_size == 128
    shorter = make({"model": "QLAE", "twin": "MPI3D twin", "share": 0.5}, 7, "gpu", random_state=0)
    assert 2 * shorter.max_steps == made.max_steps
    given = {"twin": "Cars3D twin", "penalty": "latent", "weight": 0.1, "gamma": 10.0}
    made = make_factor(given, 3, "gpu", random_state=0)
    assert made.n_components == 10 and made.batch_size == 64 and made.max_steps == 8000
    assert [made.penalty_weight(step) for step in (0, 2000, 4000, 8000)] == [0, 0.05, 0.1, 0.1]  # it grows
