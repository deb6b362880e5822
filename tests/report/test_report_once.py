"""A report asks the model for each thing once, and opens the data once."""

import sys
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from models import verdict
from unmix import report
from unmix.cli import main
from unmix.estimators import DiverseDictionaryLearning
from unmix.structure import Structure

MIXING = np.array([[1.0, 0.0], [0.7, -0.8], [0.0, 1.2]])
OPENED: Counter = Counter()
sys.addaudithook(lambda event, details: OPENED.update([str(details[0])]) if event == "open" else None)


class Spy:
    """A linear model that counts what it is asked for."""

    def __init__(self):
        self.structure_, self.asked = Structure(MIXING != 0), Counter()

    def transform(self, x):
        self.asked["transform"] += 1
        return np.asarray(x) @ np.linalg.pinv(MIXING).T

    def inverse_transform(self, z):
        self.asked["inverse_transform"] += 1
        return z @ MIXING.T

    def jacobian(self, x):
        self.asked["jacobian"] += 1
        return np.tile(MIXING, (len(x), 1, 1))


@pytest.mark.parametrize("n_samples", [300, 4500])
@pytest.mark.parametrize("with_truth", [True, False])
def test_the_model_is_asked_once(with_truth, n_samples, tmp_path):
    z = np.random.default_rng(0).normal(size=(n_samples, 2))
    x = z @ MIXING.T
    data = SimpleNamespace(x=x, z=z) if with_truth else x
    model = Spy()
    html = report.write(tmp_path / "r.html", model=model, data=data).read_text(encoding="utf-8")
    assert 'aria-label="Traversal of latent 1"' in html and "Explained" in html
    # encoded are the data for the verdict, and for the page, which thins them; decoded are the data and, all
    # in one call, the walks through latents, which no row of the data holds
    assert model.asked == {"transform": 2, "inverse_transform": 2, "jacobian": 1}
    model.asked.clear()
    report.write(tmp_path / "r.html", model=model, data=data, trust=verdict(1, 1))
    assert model.asked == {"transform": 1, "inverse_transform": 2, "jacobian": 1}


@pytest.mark.parametrize("suffix", [pytest.param("npz", marks=pytest.mark.slow), "npy"])
def test_the_command_opens_the_data_once(suffix, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    z = np.random.default_rng(0).normal(size=(60, 2))
    x = z @ MIXING.T
    DiverseDictionaryLearning(2, max_iter=2, n_restarts=1, random_state=0).fit(x).save("model")
    if suffix == "npz":
        np.savez("data.npz", x=x, z=z, structure=MIXING != 0)
    else:
        np.save("data.npy", x)
    OPENED.clear()
    with pytest.raises(SystemExit) as left:
        main(["report", "model", "--data", f"data.{suffix}", "--out", "r.html"])
    assert left.value.code == 0 and OPENED[f"data.{suffix}"] == 1
