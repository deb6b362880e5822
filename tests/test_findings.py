"""Every estimator says what it found; a model of another make is read by the same names."""

import json
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import families
import unmix
from unmix import estimators
from unmix._findings import Findings, findings_of
from unmix._names import COMMANDS, ESTIMATORS
from unmix.cli._output import plain
from unmix.structure import ring

EVERY = (*families.ESTIMATORS, *families.TRANSFORMERS[:2])
PARTS = {
    "PDGMM": {"resting", "mixture"},
    "CGVAE": {"domains"},
    "IVAE": {"domains"},
    "SlotAutoencoder": {"slots"},
    "VaDE": {"mixture"},
    "FastICA": {"components"},
    "SparseBasis": {"resting"},
}


@families.every(EVERY)
@pytest.mark.filterwarnings("ignore")
def test_an_estimator_says_what_it_found(member):
    x = np.random.default_rng(0).normal(size=(120, 4))
    known = {"domains": np.arange(120) % 3} if isinstance(member, estimators.CGVAE | estimators.IVAE) else {}
    network = isinstance(member, estimators.LatentEstimator)
    assert not network or member.needs_domains == bool(known)
    model = families.quick(member) if network else member
    found = model.fit(x, **known).findings()
    assert found.method == type(member).__name__ and found.n_features_in == 4 and found.n_components > 0
    parts = {name for name in ("resting", "mixture", "domains", "slots", "components") if vars(found)[name]}
    assert parts == PARTS.get(found.method, set())
    assert (found.structure is not None) == network and found.structure is vars(model).get("structure_")
    assert json.dumps(plain(found.to_dict())) and found.method in " ".join(map(str, found.story))
    assert findings_of(found) is found and findings_of(model).to_dict().keys() == found.to_dict().keys()


def test_an_unfitted_estimator_has_found_nothing():
    with pytest.raises(NotFittedError):
        estimators.Autoencoder().findings()


def test_any_object_is_read_by_the_names_that_estimators_use():
    assert findings_of(None).to_dict() == Findings("NoneType").to_dict()
    model = SimpleNamespace(
        structure_=ring(3), masks_=[[1, 0]], n_domains_=4, flags_=("odd",), restarts_=[2.0]
    )
    found = findings_of(model)
    assert found.structure == ring(3) and found.mixture.masks == [[1, 0]] and found.domains.n_domains == 4
    assert found.flags == ("odd",) and found.restarts == [2.0] and found.degenerate is None


def test_one_table_names_the_estimators():
    assert set(ESTIMATORS) == {name for name in estimators.__all__ if name[0].isupper()} - {"LatentEstimator"}
    assert all(vars(estimators)[name].__name__ == name for name in ESTIMATORS)
    assert set(ESTIMATORS) <= set(unmix.__all__) and set(COMMANDS.values()) < set(ESTIMATORS)


@pytest.mark.parametrize("line", ["import unmix; dir(unmix)", "main(['--help'])", "main(['fit', '--help'])"])
def test_names_and_help_need_no_torch(line):
    code = f"import sys\nfrom unmix.cli import main\ntry: {line}\nexcept SystemExit: pass\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}assert 'torch' not in sys.modules"], capture_output=True
    )
    assert done.returncode == 0, done.stderr


def test_findings_hold_what_latents_stand_for_once_a_table_was_described():
    z = np.random.default_rng(0).laplace(size=(400, 2))
    x = np.repeat(z, 3, axis=1) + 0.3 * np.random.default_rng(1).normal(size=(400, 6))
    model = unmix.FastICA(2, random_state=0).fit(x)
    assert model.findings().description is None and model.findings().to_dict()["description"] is None
    found = unmix.describe(model, x, metadata={"dose": z[:, 0]})
    assert model.findings().description is found
    latents = model.findings().to_dict()["description"]["latents"]
    assert {"variables", "groups", "metadata", "lowest", "highest", "histogram"} <= set(latents[0])
