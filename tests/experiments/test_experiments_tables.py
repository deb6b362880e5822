"""The tables themselves: complete, honest about their sources, and able to run."""

import gzip
import json
import struct

import numpy as np
import pytest
import torch

from unmix.data import multi_domain, sparse_mixing
from unmix.experiments import (
    EXPERIMENTS,
    NOISE,
    PIXELS,
    RAW,
    ROTATION,
    Store,
    load_experiment,
    sweep,
    tasks_of,
)
from unmix.experiments.engine._task import title_of
from unmix.experiments.engine._work import perform
from unmix.experiments.papers.cg._common import POOLED, WITHIN
from unmix.experiments.papers.cg._common import codes as domain_codes
from unmix.experiments.papers.nearid._images import digits, read_idx
from unmix.experiments.papers.nearid.figure2 import _Orthonormal
from unmix.experiments.papers.pdgmm._common import scores, white_codes
from unmix.experiments.papers.pdgmm._paper import PAPER
from unmix.experiments.papers.scale._common import size
from unmix.metrics import mcc, rotation_floor

TABLES = {name: load_experiment(name) for name in EXPERIMENTS}
every_table = pytest.mark.parametrize("name", EXPERIMENTS)


def smoke(name, such_that):
    """Run the first cell of a table that meets a condition, at the smallest budget."""
    tasks = tasks_of(TABLES[name], seeds=1, budget="smoke")
    record = perform(next(task for task in tasks if such_that(task.cells[0])))
    assert record["error"] is None, record["error"]
    return record["values"]


@every_table
def test_every_table_says_what_it_is_and_where_numbers_are_from(name):
    table = TABLES[name]
    assert "arXiv:" in table.__doc__ and len(table.__doc__.split("\n")[0]) < 110
    for cell in table.CELLS:
        assert (cell.paper is None) or "arXiv:" in cell.source, cell
        assert cell.spread is None or cell.paper is not None
        json.dumps(dict(cell.settings))


@every_table
def test_no_two_cells_of_a_table_stand_at_the_same_place(name):
    places = [(cell.row, cell.column, cell.value) for cell in TABLES[name].CELLS]
    assert len(set(places)) == len(places)


@every_table
def test_what_learned_nothing_stands_beside_the_methods(name):
    rows, values = ({getattr(cell, part) for cell in TABLES[name].CELLS} for part in ("row", "value"))
    null = name == "trust.calibration" and sum(row.startswith("null: ") for row in rows) >= 5
    null |= name == "trust.nulls"  # nothing but such worlds
    null |= name == "trust.surrogate" and {"its null", "surrogate, fitted"} <= rows
    null |= name == "tables.number" and "a guess" in rows  # of numbers, one that is drawn blindly
    null |= (
        name == "trust.dictionaries" and {"planted.gaussian", "planted.spherical", "planted.dense"} <= rows
    )
    null |= name.startswith("sae.") and "random" in values  # of features, as many random atoms
    null |= name == "ddl.table3"  # counts of what is dead: no score that noise could have
    null |= {PIXELS, ROTATION, NOISE} <= rows  # of images, linear components of pixels for pixels themselves
    null |= name == "cg.gan" and {"real images", "pixel noise"} <= rows  # of makers of images
    assert {RAW, ROTATION} <= rows or null  # of verdicts, worlds in which nothing is identifiable


@pytest.mark.parametrize(
    "name",
    [
        n
        for n in EXPERIMENTS
        if n.startswith(("pdgmm", "cg", "mech", "scale", "floor", "seeds"))
        and n not in ("pdgmm.d5", "pdgmm.d5_bounds", "pdgmm.d8", "cg.gan")
    ],
)
def test_every_score_has_a_reference_in_its_own_column(name):
    places = {(cell.row, cell.column, cell.value) for cell in TABLES[name].CELLS}
    for cell in TABLES[name].CELLS:
        score = cell.value.partition(" of ")[0]  # objectives stand beside those from the truth
        assert score in ("seconds", "share", "objective") or (ROTATION, cell.column, score) in places, cell


@pytest.mark.parametrize("name", [n for n in EXPERIMENTS if hasattr(TABLES[n], "with_method")])
def test_a_method_of_ones_own_gets_a_row(name):
    made = TABLES[name].with_method("sklearn.decomposition:FastICA")
    assert {cell.row for cell in made} == {"FastICA"}
    assert {cell.column for cell in made} <= {cell.column for cell in TABLES[name].CELLS}


def test_published_numbers_are_those_of_the_paper():
    """A sample of each column, against slips of the pen."""
    assert PAPER["base"]["mcc"] == (0.97, 0.01) and PAPER["theta = 30"]["shd"] == (20.8, 1.64)
    assert PAPER["1 active"]["r2 first"] == (0.75, 0.03) and PAPER["k = 3"]["oracle"] == (0.95, 0.03)
    assert "shd" not in PAPER["k = 0"] and "d7" not in PAPER["delta = 1"] and len(PAPER) == 17
    found = {
        (cell.row, cell.column): (cell.paper, cell.spread)
        for name in ("ddl.table4", "ddl.table6")
        for cell in TABLES[name].CELLS
    }
    assert found["OroJAR", "n = 5"] == (0.5119, 0.1482) and found["weight 0.01", "n = 4"] == (0.8032, 0.0327)
    assert found[RAW, "n = 3"] == (None, None)


def test_the_floor_of_the_first_table_is_that_of_the_metric():
    found = smoke("ddl.table4", lambda cell: cell.row == ROTATION and cell.column == "n = 5")
    z = np.random.default_rng(0).normal(size=(300, 5))
    assert found["mcc"] == pytest.approx(rotation_floor(z, random_state=0), abs=0.12)


def test_a_cell_of_each_paper_runs_and_raw_x_is_what_it_says():
    published = smoke("ddl.table4", lambda cell: cell.row == "L1, as published")
    raw = smoke("ddl.table4", lambda cell: cell.row == RAW)
    assert 0 < published["mcc"] < 1 and raw["mcc"] == pytest.approx(0.905, abs=0.02)
    second = smoke("pdgmm.table1", lambda cell: cell.row.startswith("second") and cell.column == "n = 5")
    assert second["mcc"] > 0.7 and second["r2"] > 0.8
    assert smoke("pdgmm.table1", lambda cell: cell.row == ROTATION)["r2"] == pytest.approx(1)
    pair = smoke("nearid.figure2", lambda cell: cell.column == "leak 1")
    assert pair["K, mean"] == pytest.approx(1, abs=1e-4), "linear orthogonal layers are an isometry"


def test_scores_within_domains_are_not_those_over_all_of_them():
    raw = smoke("cg.square", lambda cell: cell.row == RAW)
    floor = smoke("cg.square", lambda cell: cell.row == ROTATION)
    data = multi_domain(120, n_domains=2, profile="square", random_state=0)
    fresh = data.world.sample(200, random_state=1_000_000)
    assert raw == {WITHIN: mcc(fresh.z, fresh.x, within=fresh.u), POOLED: mcc(fresh.z, fresh.x)}
    assert floor[WITHIN] == pytest.approx(0.77, abs=0.05) and floor[POOLED] == pytest.approx(0.77, abs=0.08)


def test_the_domains_reach_those_who_take_them():
    told = smoke("cg.domains", lambda cell: cell.row == "iVAE")
    alone = smoke("cg.domains", lambda cell: cell.row == "beta-VAE")
    assert 0 < told[WITHIN] < 1 and 0 < alone[WITHIN] < 1 and told != alone
    seen = {}

    class Watcher:
        def fit(self, x, domains=None):
            seen["fit"] = domains

        def transform(self, x):
            return x

    data = multi_domain(40, n_domains=2, random_state=0)
    assert np.array_equal(domain_codes(Watcher(), data, data), data.x) and seen["fit"] is data.u


def test_slots_of_the_truth_are_found_and_rotated_ones_are_not():
    truth = smoke("mechanistic.overlap", lambda cell: cell.row == "true latents")
    floor = smoke("mechanistic.overlap", lambda cell: cell.row == ROTATION)
    raw = smoke("mechanistic.overlap", lambda cell: cell.row == RAW)
    assert truth["SIS"] > 0.8 > 0.6 > max(floor["SIS"], raw["SIS"])
    assert -1 < smoke("mechanistic.overlap", lambda cell: cell.row == "contrast, weight 1")["SIS"] < 0.7


@pytest.mark.slow
def test_scores_tell_the_truth_from_noise_and_few_tell_it_from_a_rotation():
    found = {
        row: smoke("floor.scores", lambda cell, row=row: cell.row == row)
        for row in ("true latents", ROTATION, "shuffled truth")
    }
    truth, floor, null = found.values()
    assert truth["mcc"] == pytest.approx(1) and truth["r2"] == pytest.approx(1)
    assert floor["r2"] == pytest.approx(1) and floor["mcc"] < 0.9, "a rotation is all of the truth, mixed"
    assert all(null[name] < truth[name] - 0.1 for name in truth if name != "InfoMEC compactness"), null


def test_runs_agree_where_a_basis_is_found_and_rotations_do_not():
    basis = smoke("seeds.agreement", lambda cell: cell.row == "SparseBasis")
    turned = smoke("seeds.agreement", lambda cell: cell.row == ROTATION)
    assert basis["MCC between runs"] > 0.9 > turned["MCC between runs"]
    assert basis["UDR"] > turned["UDR"] and 0 < turned["MCC with the truth"] < 0.9


def test_ten_times_the_dimensions_are_those_of_the_papers_at_the_smallest_budget():
    found = smoke("scale.ddl", lambda cell: cell.row == RAW)
    data = sparse_mixing(300, n_latents=3, random_state=0)
    assert found["mcc"] == mcc(data.z, data.x) and found["seconds"] > 0
    assert size(50, "smoke") == 5 and size(50, "laptop") == 50
    assert max(cell.settings["world"]["n_latents"] for cell in TABLES["scale.pdgmm"].CELLS) == 100


def test_tables_of_our_own_say_what_was_found_beside_the_score():
    tall = smoke("ddl.recovery", lambda cell: cell.row == "unmix default")
    promised = smoke("cg.promised", lambda cell: cell.row == "CG-VAE")
    basis = smoke("pdgmm.second_stage", lambda cell: cell.row.startswith("second stage"))
    for found in (tall, promised, basis):
        shares = [number for name, number in found.items() if name.startswith("share of")]
        assert shares and all(0 <= share <= 1 for share in shares), found
    assert basis["mcc"] > 0.99 and basis["share of rows found"] == 1


def test_the_ceiling_is_1_without_noise_and_between_the_basis_and_1_with_it():
    for column, least in (("n = 5", 0.999999), ("noise 0.25", 0.9)):
        found = {
            row: smoke("pdgmm.second_stage", lambda c, row=row, at=column: (c.row, c.column) == (row, at))
            for row in ("second stage alone, on raw x", "best linear estimates")
        }
        basis, ceiling = (values["mcc"] for values in found.values())
        assert least < ceiling <= 1 + 1e-9 and basis <= ceiling + 1e-6


def test_layers_that_bend_make_raw_x_less_affine_in_the_latents():
    hard, paper = (
        smoke(name, lambda cell, at=column: (cell.row, cell.column) == (RAW, at))["r2"]
        for name, column in (("pdgmm.hard", "3 layers"), ("pdgmm.table1", "base"))
    )
    assert hard < paper - 0.05


@pytest.mark.slow
@every_table
def test_every_cell_runs_at_the_smallest_budget(name, tmp_path):
    outcome = sweep(tasks_of(TABLES[name], seeds=1, budget="smoke"), Store(tmp_path), workers=2)
    assert outcome.failures == [] and outcome.done > 3


def test_the_same_seed_gives_the_same_bits():
    runs = [smoke("pdgmm.e2", lambda cell: cell.row == "both stages") for _ in range(2)]
    assert runs[0] == runs[1]


def test_regions_of_figure_4_are_those_of_definition_5():
    from unmix.experiments.papers.ddl.figure4 import _regions
    from unmix.structure import Structure

    # x0 sees z0 and z1, x1 sees z1 and z2: the only groups with three regions, but for their order
    pairs = _regions(Structure([[1, 1, 0], [0, 1, 1], [1, 1, 1]]))
    assert {tuple(map(tuple, pair)) for pair in pairs[:2]} == {((1,), (0, 2)), ((0, 2), (1,))}
    assert {tuple(map(tuple, pair)) for pair in pairs[2:]} == {((0,), (2,)), ((2,), (0,))}


@pytest.mark.parametrize("compressed", [True, False])
def test_digits_come_from_the_public_files_where_a_folder_is_given(tmp_path, compressed):
    images = np.random.default_rng(0).integers(0, 256, (7, 4, 4), dtype=np.uint8)
    content = struct.pack(">HBB3I", 0, 8, 3, *images.shape) + images.tobytes()
    path = tmp_path / ("train-images-idx3-ubyte" + ".gz" * compressed)
    path.write_bytes(gzip.compress(content) if compressed else content)
    assert np.array_equal(read_idx(path), images)
    found = digits(str(tmp_path), 5, seed=0)
    assert found.shape == (5, 16) and {tuple(row) for row in found} <= {
        tuple(i.ravel() / 255) for i in images
    }
    path.unlink()
    with pytest.raises(ValueError, match="train-images"):
        digits(str(tmp_path), 5, seed=0)


def test_results_know_the_content_of_a_folder_and_not_its_place(tmp_path):
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "images").write_bytes(b"12345")
    one, two, none = (
        tasks_of(TABLES["nearid.figure2"], seeds=1, budget="smoke", data=data)[0]
        for data in (tmp_path / "a", tmp_path / "b", None)
    )
    assert one.key == two.key != none.key
    assert str(tmp_path) not in json.dumps(one.identity)
    assert tasks_of(TABLES["ddl.table4"], seeds=1, data=tmp_path)[0].data is None, "tables that take none"


@pytest.mark.parametrize("shape", [(7, 3), (3, 7), (4, 4)])
def test_layers_of_figure_2_are_orthonormal_and_leave_alone_what_is(shape):
    weight = torch.from_numpy(np.random.default_rng(0).normal(size=shape))
    made = _Orthonormal()(weight)
    tall = made if shape[0] >= shape[1] else made.mT
    assert torch.allclose(tall.mT @ tall, torch.eye(min(shape), dtype=torch.double))
    assert torch.allclose(_Orthonormal()(made), made), "no sign is turned"


def test_the_title_says_which_digits_were_taken():
    table = TABLES["nearid.figure2"]
    assert title_of(table, "some/folder") == title_of(table).replace("scikit-learn's digits", "MNIST")
    assert title_of(table, "some/folder").endswith(": MNIST"), "of the folder nothing is told"
    assert ":" not in title_of(TABLES["ddl.table4"], "some/folder")


@pytest.mark.parametrize("name", [name for name in TABLES if name.startswith("pdgmm.")])
def test_mixtures_stand_beside_a_sparse_basis_without_a_first_stage_in_every_column(name):
    cells = TABLES[name].CELLS
    alone = {cell.column for cell in cells if cell.row == "second stage alone, on raw x"}
    assert alone >= {cell.column for cell in cells if cell.row == "raw x"} != set()


def test_the_first_stage_has_a_white_code_whatever_basis_the_second_chose():
    rng = np.random.default_rng(0)
    code, fresh = rng.normal(size=(300, 3)) ** 3, rng.normal(size=(200, 3)) ** 3
    turn = rng.normal(size=(3, 3))
    white, white_fresh = white_codes(np.c_[code, np.zeros(300)], np.c_[fresh, np.ones(200)])
    other, other_fresh = white_codes(code @ turn + 1, fresh @ turn + 1)
    assert np.allclose(np.cov(white.T), np.eye(3))
    assert white.shape == (300, 3) and white_fresh.shape == (200, 3), "what never varies is no part of a code"
    between = np.linalg.lstsq(white, other, rcond=None)[0]
    assert np.allclose(between.T @ between, np.eye(3)) and np.allclose(white_fresh @ between, other_fresh)


def test_a_code_that_never_varies_tells_nothing():
    assert scores(np.random.default_rng(0).normal(size=(50, 2)), np.ones((50, 2))) == {"mcc": 0.0, "r2": 0.0}


def test_the_graph_of_rotated_latents_is_that_before_the_rotation():
    pytest.importorskip("causallearn")
    plain, turned = (
        smoke("pdgmm.d9", lambda cell, name=name: (cell.row, cell.column) == (RAW, name))["shd of truth"]
        for name in ("base", "theta = 45")
    )
    assert plain == turned
