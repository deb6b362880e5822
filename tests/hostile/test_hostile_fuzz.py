"""Damaged files and edited models, drawn at random: every command ends with 0, or with one line and 2.

`make test` draws a few, `make test-slow` some more, and `make test-all` five thousand (UNMIX_HOSTILE).
"""

import json
import os
import shutil

import numpy as np
import pytest

from hostile import commands, damage
from hostile.whole import MASKS, MODELS, SETS, TABLES

N = int(os.environ.get("UNMIX_HOSTILE", "0"))
ROLES = (  # files, the commands that read them, and how often one of them is drawn
    (TABLES, commands.TABLE, 5),
    (MASKS, commands.MASK, 1),
    (SETS, commands.SETS, 1),
    (MODELS, commands.MODEL, 4),
    (("lens",), commands.SAE, 1),
    (("store",), commands.STORE, 1),
    (("images.npy",), commands.IMAGES, 1),
    (("results",), commands.RESULTS, 1),
)
DRAWN = [role for role in ROLES for _ in range(role[2])]


def drawn(seed, whole, folder):
    """Write a damaged copy of some file, and return its path and a command that reads it."""
    rng = np.random.default_rng(seed)
    names, able, _ = DRAWN[seed % len(DRAWN)]
    name = names[int(rng.integers(len(names)))]
    target = folder / name
    if (whole / name).is_dir():
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(whole / name, target)
        inside = sorted(path for path in target.rglob("*") if path.is_file())
        part = inside[int(rng.integers(len(inside)))]
        part.write_bytes(damage.bytes_of(part.read_bytes(), rng))
    elif name in MODELS and rng.integers(4):
        key = "unmix-pipeline" if name == "pipeline" else "unmix"
        damage.model_of(whole / name, target, rng, key)
    elif name.endswith(".json") and rng.integers(2):
        target.write_text(json.dumps(damage.json_of(json.loads((whole / name).read_text()), rng)))
    else:
        target.write_bytes(damage.bytes_of((whole / name).read_bytes(), rng))
    return target, able[int(rng.integers(len(able)))]


@pytest.mark.parametrize("part", range(4))
def test_damage_drawn_at_random_breaks_nothing(part, whole_files, tried, tmp_path):
    check(range(25 * part, 25 * part + 25), whole_files, tried, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("part", range(max(N, 200) // 20))
def test_more_damage_drawn_at_random_breaks_nothing(part, whole_files, tried, tmp_path):
    check(range(1000 + 20 * part, 1020 + 20 * part), whole_files, tried, tmp_path)


def check(seeds, whole, tried, folder):
    """Draw files and commands by seed, and collect what went wrong."""
    found = []
    for seed in seeds:
        file, command = drawn(seed, whole, folder)
        if bad := tried(command, file):
            found.append(f"seed {seed}, {file.name}: {bad}")
    assert found == []


CLAIMS = [
    ("", [], "a list"),
    ("", 5, "a number"),
    ("fitted components_", None, "no components"),
    ("fitted structure_", {"array": "loadings"}, "an array for a structure"),
    ("fitted n_features_in_", 10**12, "terabytes of columns"),
    ("fitted n_features_in_", "4", "columns in words"),
    ("settings n_components", 10**9, "as many latents"),
    (
        "settings encoder",
        {"partial": {"function": "unmix.nn._networks:mlp"}, "args": [], "keywords": {"hidden": [10**9]}},
        "a network of terabytes",
    ),
    (
        "settings decoder",
        {"partial": {"function": "unmix.nn._networks:mlp"}, "args": [], "keywords": {"hidden": [8] * 10**5}},
        "endless layers",
    ),
    ("settings encoder", {"function": "os:system"}, "a function of others"),
    ("fitted history_", {"history": "x", "terms": 5, "extras": [], "rest": {}}, "no history"),
    ("class", "os.system", "another class"),
    ("settings nobody", 1, "an unknown setting"),
    ("fitted mixing_", None, "no way back"),
    ("settings fun", "../x", "an unknown contrast"),
]


OF_ICA = ("fitted components_", "fitted mixing_", "settings fun")


@pytest.mark.parametrize(("place", "value"), [case[:2] for case in CLAIMS], ids=[case[2] for case in CLAIMS])
def test_a_model_that_claims_what_it_has_not_is_refused(place, value, whole_files, tried, tmp_path):
    from unmix.training import read_sealed, write_sealed

    text, tensors = read_sealed(whole_files / ("ica" if place in OF_ICA else "ddl"), "unmix")
    header = json.loads(text)
    *path, last = place.split() or [None]
    inside = header
    for name in path:
        inside = inside[name]
    if last is None:
        header = value
    elif value is None:
        del inside[last]
    else:
        inside[last] = value
    write_sealed(tmp_path / "model", "unmix", json.dumps(header), tensors)
    for command in (
        "transform {f} {w}/x.npy --out {o}/z.csv",
        "certify {f}",
        "report {f} --data {w}/x.npy --out {o}/r.html",
    ):
        assert not tried(command, tmp_path / "model", refuse=True)


@pytest.mark.parametrize(
    "content", [b"", b"5", b"[]", b"{}", b'{"settings": 5}', b'{"settings": {}, "seed": "x"}', b"[" * 9999]
)
def test_a_damaged_checkpoint_is_named_and_not_removed(content, tried, tmp_path, whole_files, unmix):
    folder = tmp_path / "m.checkpoint"
    folder.mkdir()
    (folder / "settings.json").write_bytes(content)
    line = [
        "fit",
        whole_files / "x.npy",
        "--method",
        "ddl",
        "--n-components",
        2,
        "--max-iter",
        1,
        "--n-restarts",
        1,
    ]
    result = unmix(*line, "--out", tmp_path / "m")
    assert result.code == 2 and result.err.count("\n") == 1
    assert "settings.json' is damaged or of another program" in result.err
    assert (folder / "settings.json").read_bytes() == content
    assert unmix(*line, "--out", tmp_path / "m", "--fresh").code == 0
