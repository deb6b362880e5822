"""The file of a site: what is read is what was stored; and what makes features die."""

import numpy as np
import pytest

from unmix.data import read_activations
from unmix.experiments.engine import Place
from unmix.experiments.papers.sae import dead
from unmix.experiments.papers.sae._common import outputs, site
from unmix.experiments.papers.sae.site import coarse, main, shuffled, write_site
from unmix.nn import Feedforward


class Windows:
    """Rows of windows of three tokens."""

    def __init__(self, n):
        self.document = np.repeat(np.arange(n), 3)
        self.x = np.c_[self.document, np.tile(np.arange(3), n), np.ones(3 * n)].astype(np.float16)

    def __len__(self):
        return len(self.x)

    def blocks(self):
        yield from np.array_split(self.x, 2)


@pytest.fixture
def block():
    rng = np.random.default_rng(0)
    up, gate = rng.normal(size=(2, 8, 3))
    return Feedforward(up, rng.normal(size=(3, 8)), w_gate=gate, activation="silu")


def test_windows_come_whole_in_another_order():
    rows = shuffled(Windows(40), 30)
    windows = rows[:, 0].reshape(10, 3)
    assert (windows == windows[:, :1]).all()
    assert (rows[:, 1].reshape(10, 3) == [0, 1, 2]).all()
    assert len(set(windows[:, 0])) == 10
    assert windows[:, 0].tolist() != sorted(windows[:, 0])


def test_a_site_is_read_as_it_was_written(block, tmp_path):
    store = Windows(40)
    write_site(store, block, tmp_path, n_tokens=100)
    found, rows = site(str(tmp_path), 0), shuffled(store, 100)
    assert (len(found.train), len(found.held)) == (80, 20)
    np.testing.assert_allclose(np.vstack([found.train, found.held]), rows, atol=rows.max() / 250)
    np.testing.assert_allclose(outputs(found.block, rows), outputs(block, rows), rtol=0.02, atol=0.05)


@pytest.mark.parametrize("lost", [0.01, 0.06])
def test_a_coarse_site_loses_what_was_asked_for_and_has_few_values(lost):
    rng = np.random.default_rng(0)
    x = (rng.normal(size=(2000, 3)) @ np.diag([4, 2, 1]) + 5).astype(np.float32)
    off = coarse(x, lost) - x
    assert np.square(off).sum() / np.square(x - x.mean(0)).sum() == pytest.approx(lost, rel=0.1)
    np.testing.assert_allclose(off.mean(0), 0, atol=0.05)
    turned = (coarse(x, lost) - x.mean(0)) @ np.linalg.eigh(np.cov(x.T))[1]
    assert max(len(np.unique(column.round(3))) for column in turned.T) < 120


def test_what_has_no_gate_or_is_another_site_is_named(tmp_path):
    plain = Feedforward(np.ones((4, 3)), np.ones((3, 4)))
    with pytest.raises(ValueError, match="`block` must be gated"):
        write_site(Windows(4), plain, tmp_path / "site")
    np.save(tmp_path / "x.npy", np.eye(3))
    assert read_activations(tmp_path / "x.npy").info["site"] is None
    with pytest.raises(ValueError, match=r"`activations` must be of a site blocks\.N\.hook_mlp_in, got None"):
        main(str(tmp_path / "x.npy"), "smollm2", str(tmp_path / "site"))


def test_a_mean_that_is_kept_silences_features_before_training(block):
    rng = np.random.default_rng(0)
    x = (rng.normal(size=(600, 3)) + 3).astype(np.float32)
    cell = {row: next(each for each in dead.CELLS if each.row == row) for row in ("as it is", "mean kept")}
    found = {}
    for row in cell:
        settings = {"n_components": 30, "max_iter": 1, "batch_size": 200, "device": "cpu", "random_state": 0}
        bench = dead.Bench(dead.Site(x[:500], x[500:], block, ""), dead.CAUSES[row], settings)
        found[row] = bench.untrained(2)
    assert found["mean kept"] > found["as it is"] + 0.2


def test_every_method_is_counted_on_planted_activations():
    cell = next(each for each in dead.CELLS if each.row == "mean kept, own encoder")
    values = dead.run(cell, 0, "smoke", place=Place("cpu"))
    wanted = {each.value for each in dead.CELLS if each.always}
    assert wanted <= set(values)
    assert all(0 <= values[name] <= 1 for name in wanted if "explained" not in name)


def test_equal_variance_explained_is_not_guessed_from_afar():
    near, far = ({"input, explained": e, "input, held": h} for e, h in ((0.7, 0.1), (0.71, 0.2)))
    assert dead.at_equal(0.705, near, far) == pytest.approx(0.15)
    assert np.isnan(dead.at_equal(0.9, near, far))
    assert dead.at_equal(0.7, near, near) == 0.1
