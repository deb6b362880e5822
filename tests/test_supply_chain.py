"""What comes from elsewhere: locked, listed, and never fetched while the library works."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OFFLINE = """
import socket

def refuse(*_, **__):
    raise AssertionError("a socket was opened")

for name in ("connect", "connect_ex", "bind", "sendto"):
    setattr(socket.socket, name, refuse)
socket.getaddrinfo = socket.create_connection = refuse
import importlib, pkgutil
import numpy as np
import unmix

for room in pkgutil.iter_modules(unmix.__path__):
    if room.name != "__main__":
        importlib.import_module(f"unmix.{room.name}")
x = np.random.default_rng(0).laplace(size=(300, 3))
model = unmix.Autoencoder(2, max_iter=2, random_state=0).fit(x)
unmix.FastICA(random_state=0).fit(x).transform(x)
unmix.metrics.evaluate(x, model.transform(x), n_boot=5, random_state=0)
"""


def test_nothing_opens_a_socket_at_import_or_in_a_fit():
    done = subprocess.run([sys.executable, "-c", OFFLINE], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr


def test_sockets_would_be_noticed():
    asks = (
        OFFLINE.partition("import importlib")[0]
        + "import urllib.request as u; u.urlopen('http://localhost:9')"
    )
    done = subprocess.run([sys.executable, "-c", asks], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "a socket was opened" in done.stderr


def test_the_bill_of_materials_names_every_core_dependency(tmp_path):
    pytest.importorskip("packaging")
    command = [sys.executable, str(ROOT / "tools/sbom.py"), str(tmp_path / "sbom.json")]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    document = json.loads((tmp_path / "sbom.json").read_text())
    listed = {each["name"]: each for each in document["components"]}
    assert document["bomFormat"] == "CycloneDX"
    assert {"numpy", "scipy", "scikit-learn", "torch", "pyarrow", "typer", "joblib"} <= listed.keys()
    assert listed["numpy"]["purl"] == f"pkg:pypi/numpy@{listed['numpy']['version']}"


def test_the_lock_pins_the_same_versions_as_the_constraints_and_what_has_a_digest_has_a_whole_one():
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    pinned = [line for line in lines if not line.startswith("#")]
    constraints = [c for c in (ROOT / "constraints.txt").read_text().splitlines() if not c.startswith("#")]
    assert [line.partition(" ")[0] for line in pinned] == constraints
    without = [line for line in pinned if "--hash=" not in line]
    assert all(line.startswith("torch==") for line in without)
    assert all(len(line.rpartition("sha256:")[2]) == 64 for line in pinned if line not in without)


def test_a_lock_is_not_waited_for_without_end():
    with socket.create_server(("127.0.0.1", 0)) as silent:  # it takes the question, and never answers
        asked = {"PIP_INDEX_URL": f"http://127.0.0.1:{silent.getsockname()[1]}/simple", "PIP_NO_INDEX": "0"}
        line = [sys.executable, "tools/lock.py", "--check", "--seconds", "3"]
        environment = os.environ | asked | {"PIP_CONFIG_FILE": os.devnull, "no_proxy": "127.0.0.1"}
        told = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, env=environment, timeout=60)
    assert told.returncode == 1
    assert told.stderr.splitlines()[-1].startswith("the index gave no whole answer in 3 s.")
