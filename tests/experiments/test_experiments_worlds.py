"""Harder worlds: draws keep their promises, and scores are those of equal slots where slots are equal."""

import numpy as np
import pytest
import torch

from unmix.estimators import CGVAE, PDGMM, DiverseDictionaryLearning, SlotAutoencoder
from unmix.estimators._cg_vae import _BENT
from unmix.experiments.papers.worlds import domains as table
from unmix.experiments.papers.worlds._ceiling import (
    domains_from_truth,
    from_truth,
    mixture_from_truth,
    read_off,
    slots_from_truth,
)
from unmix.experiments.papers.worlds._draws import domains, mixture, slots, sparse
from unmix.experiments.papers.worlds._mixings import FAMILIES, along
from unmix.experiments.papers.worlds.slots import partition_of, scored
from unmix.metrics import mcc, slot_identifiability
from unmix.solvers.coordinates import is_bent


@pytest.mark.parametrize("family", FAMILIES)
def test_a_mixing_follows_its_support(family):
    support = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 1]], bool)
    rng = np.random.default_rng(0)
    z = rng.normal(size=(200, 3))
    x = along(support, z, np.random.default_rng(1), family=family)
    for j in range(3):
        moved = np.array(z)
        moved[:, j] += 1e-4  # flattening and spreads hardly see it
        changed = np.abs(along(support, moved, np.random.default_rng(1), family=family) - x).mean(0)
        assert (changed[support[:, j]] > 10 * changed[~support[:, j]].max(initial=1e-9)).all()


@pytest.mark.parametrize("seed", range(6))
def test_square_mixings_do_not_fold(seed):
    data = sparse(2000, seed, n=4, d=4)
    order = np.argsort(data.x[:, 0])
    near = np.linalg.norm(np.diff(data.x[order], axis=0), axis=1)
    far = np.linalg.norm(np.diff(data.z[order], axis=0), axis=1)
    assert (near / far).min() > 0.02


def test_seeds_differ_and_repeat():
    for draw in (sparse, domains, slots, mixture):
        assert np.array_equal(draw(50, 3).x, draw(50, 3).x)
        assert not np.array_equal(draw(50, 3).x, draw(50, 4).x)


def test_skewed_units_keep_the_order_of_each_column():
    given, read = sparse(500, 2), sparse(500, 2, units="skewed")
    assert np.array_equal(given.z, read.z)
    assert np.array_equal(np.argsort(given.x, axis=0), np.argsort(read.x, axis=0))


def test_latents_that_rest_softly_are_never_at_one_value():
    assert (np.diff(np.sort(mixture(400, 0).z[:, 0])) == 0).mean() > 0.3
    assert (np.diff(np.sort(mixture(400, 0, soft=0.1).z[:, 0])) > 0).all()


def test_the_score_of_slots_is_that_of_equal_slots_where_they_are_equal():
    rng = np.random.default_rng(0)
    data = slots(600, 1, sizes=(2, 2))
    codes = data.z @ np.kron(np.eye(2), rng.normal(size=(2, 2))) + 0.3 * rng.normal(size=data.z.shape)
    truth = partition_of(data)
    assert truth == [[0, 1], [2, 3]]
    assert scored(data.z, codes, truth=truth, found=truth) == pytest.approx(
        slot_identifiability(data.z, codes, n_slots=2), abs=1e-9
    )


def test_slots_of_unequal_size_are_perfect_as_they_are_and_wrong_if_cut_elsewhere():
    data = slots(1200, 0, sizes=(1, 2, 3))
    truth = partition_of(data)
    assert scored(data.z, data.z, truth=truth, found=truth) > 0.9
    assert scored(data.z, data.z, truth=truth, found=[[0, 3], [1, 4], [2, 5]]) < 0.6


def test_a_network_that_is_told_the_latents_reads_them_off():
    data = sparse(1500, 0, n=3, d=9)
    assert mcc(data.z, read_off(data.x, data.z, 0, 300)) > 0.97


def test_fits_that_begin_at_the_truth_are_near_it():
    data = sparse(800, 0, n=3, d=9)
    kept = from_truth(DiverseDictionaryLearning(3, max_iter=25), data.x, data.z, 0)
    assert mcc(data.z, kept.told) > 0.95 and mcc(data.z, kept.codes) > 0.95
    assert 0 < kept.objective < 9  # of nine columns of variance 1


def test_the_truth_is_read_in_the_units_of_the_fit():
    data = sparse(1500, 0, n=3, d=9, units="skewed")
    kept = from_truth(DiverseDictionaryLearning(3, max_iter=25), data.x, data.z, 0)
    assert mcc(data.z, kept.told) > 0.93


def test_bent_mixings_begin_at_the_truth_with_the_terms_of_the_fit():
    data = sparse(2500, 1)
    model = DiverseDictionaryLearning(5, max_iter=100)
    kept = from_truth(model, data.x, data.z, 0)
    assert model.bent_ and mcc(data.z, kept.codes) > 0.95


def test_domains_that_begin_at_the_truth_come_in_the_order_of_the_samples():
    data = domains(1500, 0, n=3, d=6, n_domains=3)
    kept = domains_from_truth(CGVAE(3, max_iter=25), data.x, data.u, data.z, 0)
    assert mcc(data.z, kept.told, within=data.u) > 0.95 and mcc(data.z, kept.codes, within=data.u) > 0.9


def test_slots_that_begin_at_the_truth_have_codes_of_samples_that_were_not_fitted():
    data = slots(1500, 0, sizes=(2, 2), width=10)
    model = SlotAutoencoder(4, slots=2, max_iter=25)
    kept = slots_from_truth(model, data.x, data.hidden["slot"], data.z, 0, n_fit=1000)
    truth = partition_of(data)
    assert len(kept.codes) == 1500
    assert scored(data.z[1000:], kept.codes[1000:], truth=truth, found=truth) > 0.8


def test_mixtures_that_begin_at_the_truth_have_codes_that_rest():
    data = mixture(2000, 0, n=3, n_layers=2)
    kept = mixture_from_truth(PDGMM(3, max_iter=25), data.x, data.z, 0)
    assert mcc(data.z, kept.told) > 0.95 and mcc(data.z, kept.codes) > 0.9


@pytest.mark.parametrize("name", table.WORLDS)
def test_earlier_defaults_have_a_column_where_the_encoder_now_sees_more(name):
    def reads_all(seed):
        world = dict(table.WORLDS[name])
        data = domains(world.pop("rows"), seed, **world)
        x = torch.as_tensor((data.x - data.x.mean(0)) / data.x.std(0))
        return is_bent(x, data.z.shape[1], _BENT)

    assert any(map(reads_all, range(1000, 1005)))
    asked = {"method": table.BEFORE, "world": table.WORLDS[name]}
    assert asked in [dict(cell.settings) for cell in table.CELLS]
