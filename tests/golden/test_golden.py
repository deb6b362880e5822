"""Small seeded tables that may change only on purpose: `make golden` rewrites them, a reader compares."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch

from families import METRICS, PENALTIES, STRUCTURES, label
from unmix import DiverseDictionaryLearning
from unmix.data import sparse_mixing
from unmix.metrics import mcc, r2, rotation_floor, structure_f1
from unmix.nn import mlp
from unmix.theory import certify

HERE = Path(__file__).parent
KEPT = ("blocks", "clauses", "levels", "sparser_than_triangular", "reasons")


def certificates():
    """What named structures identify, in words."""
    found = {label(make): certify(make()).to_dict() for make in STRUCTURES}
    return {name: {key: document[key] for key in KEPT} for name, document in found.items()}


def penalties():
    """Each deterministic penalty of one smooth network whose weights are written out here."""
    decoder = mlp(4, 6, hidden=(5,), activation="tanh").double()
    with torch.no_grad():
        for number, p in enumerate(decoder.parameters()):
            p.copy_(torch.sin(torch.arange(p.numel(), dtype=p.dtype).square() + number).reshape(p.shape))
    z = torch.cos(torch.arange(40, dtype=torch.float64)).reshape(10, 4)
    drawn = ("columns", "exact=False", "perturbation")
    fixed = (p for p in PENALTIES if not any(word in label(p) for word in drawn))
    return {label(penalty): penalty(decoder, z).item() for penalty in fixed}


def metrics():
    """Scores of a fixed distortion of fixed factors."""
    z = np.sin(np.arange(300.0)[:, None] * [1.0, 1.7, 2.3])
    z_hat = np.column_stack([z[:, 1] ** 3, z[:, 0] + z[:, 2], np.abs(z[:, 2])])
    return {label(metric): metric(z, z_hat) for metric in METRICS}


def floors():
    """The score of random rotations of normal factors, by their number."""
    rng = np.random.default_rng(0)
    return {str(n): rotation_floor(rng.normal(size=(2000, n)), random_state=0) for n in (2, 3, 4, 5, 10)}


def data():
    """Means and spreads of generated data, raw x against the latents."""
    found = {}
    for profile in ("tall", "square", "dense"):
        made = sparse_mixing(500, n_latents=4, profile=profile, random_state=0)
        found[profile] = {
            "structure": repr(made.structure).splitlines()[1:],
            "mean": made.x.mean(0).tolist(),
            "std": made.x.std(0).tolist(),
            "raw x": mcc(made.z, made.x),
        }
    return found


def fit():
    """One short fit of diverse dictionary learning, beside raw x and the rotation floor."""
    made = sparse_mixing(400, n_latents=4, n_observed=12, random_state=0)
    model = DiverseDictionaryLearning(
        4, max_iter=20, batch_size=100, n_restarts=2, device="cpu", random_state=0
    )
    z_hat = model.fit_transform(made.x)
    return {
        "mcc": mcc(made.z, z_hat),
        "r2": r2(made.z, z_hat),
        "structure f1": structure_f1(made.structure, model.structure_),
        "score": model.score(made.x),
        "raw x": mcc(made.z, made.x),
        "floor": rotation_floor(made.z, random_state=0),
    }


# training amplifies rounding, which differs between processors; everything else is arithmetic
TABLES = [(certificates, 0.0), (penalties, 1e-8), (metrics, 1e-8), (floors, 1e-8), (data, 1e-8), (fit, 0.03)]


@pytest.mark.parametrize(("table", "tolerance"), TABLES, ids=[table.__name__ for table, _ in TABLES])
def test_table_is_as_it_was(table, tolerance):
    path = HERE / f"{table.__name__}.json"
    found = json.loads(json.dumps(table()))
    if os.environ.get("UNMIX_GOLDEN") == "write":
        path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    differ = list(differences(json.loads(path.read_text(encoding="utf-8")), found, tolerance))
    assert not differ, "\n".join([*differ, "Meant to change? `make golden` rewrites the tables."])


def differences(old, new, tolerance, where=""):
    """Name each place where two documents differ, numbers by more than the tolerance."""
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        for key in old:
            yield from differences(old[key], new[key], tolerance, f"{where}/{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, pair in enumerate(zip(old, new, strict=True)):
            yield from differences(*pair, tolerance, f"{where}/{number}")
    elif isinstance(old, float) and isinstance(new, float):
        if not abs(old - new) <= tolerance * max(1.0, abs(old)):
            yield f"{where}: {new} was {old}"
    elif old != new:
        yield f"{where}: {new!r} was {old!r}"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"a": [1.0, "x"]}, {"a": [1.0 + 1e-4, "x"]}, []),
        ({"a": [1.0, "x"]}, {"a": [1.1, "y"]}, ["/a/0: 1.1 was 1.0", "/a/1: 'y' was 'x'"]),
        ({"a": 1.0}, {"b": 1.0}, [": {'b': 1.0} was {'a': 1.0}"]),
        ([1.0], [float("nan")], ["/0: nan was 1.0"]),
        ([1], [1, 2], [": [1, 2] was [1]"]),
    ],
)
def test_differences_are_found(old, new, expected):
    assert list(differences(old, new, 1e-3)) == expected
