"""Threads: as many as work is worth, the user's setting afterwards, and the same latents with one or two."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
import torch
from sklearn.base import clone
from threadpoolctl import threadpool_info

from families import DICTIONARIES, ESTIMATORS, IMAGE_MAKERS, IMAGE_READERS, TRANSFORMERS, label
from unmix import PDGMM, FastICA, trust
from unmix._threads import threads, worth
from unmix.evidence import _mixtures_rest, _probe, _surrogate
from unmix.training import Minibatches, minimise

MEMBERS = (*ESTIMATORS, *TRANSFORMERS, *DICTIONARIES)


@pytest.fixture
def user():
    """Let tests set torch's threads as a user would."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def data():
    rng = np.random.default_rng(0)
    u = np.arange(400) % 3
    z = rng.laplace(size=(400, 2)) * (1 + u[:, None] * [1.0, -0.3])
    return np.tanh(z @ rng.normal(size=(2, 6))) + 0.1 * rng.normal(size=(400, 6)), u


def images():
    rng = np.random.default_rng(0)
    return rng.integers(0, 256, (24, 8, 8, 3), dtype=np.uint8), np.arange(24) % 2


def codes_of(member, n_threads, user, drawn=data):
    user(n_threads)
    x, u = drawn()
    codes = clone(member).fit(x, u).transform(x)
    assert torch.get_num_threads() == n_threads, "the setting is the user's again"
    return codes.toarray() if hasattr(codes, "toarray") else codes


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: label(member))
def test_one_and_two_threads_find_the_same_latents_in_the_same_order(member, user):
    one, two = (codes_of(member, n, user) for n in (1, 2))
    np.testing.assert_allclose(two, one, rtol=0, atol=1e-5 * np.abs(one).max())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("member", (*IMAGE_MAKERS, *IMAGE_READERS), ids=lambda member: label(member))
def test_models_of_images_find_the_same_latents_with_one_and_two_threads(member, user):
    one, two = (codes_of(member, n, user, images) for n in (1, 2))
    np.testing.assert_allclose(two, one, rtol=0, atol=1e-5 * np.abs(one).max())


def test_a_long_table_has_more_threads_and_the_same_components(user):
    rng = np.random.default_rng(0)
    x = rng.laplace(size=(60_000, 256)).astype(np.float32)
    found, seen = [], []
    for n in (1, 2):
        user(n)
        with threads(worth(60_000 * 256**2 / 4)) as given:
            seen.append(given)
        found.append(FastICA(20, max_iter=3, random_state=0, device="cpu"))
        with pytest.warns(UserWarning):
            found[-1].fit(x)
    assert seen == [1, 2]
    np.testing.assert_allclose(found[1].components_, found[0].components_, atol=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_a_verdict_searches_on_one_thread_as_fits_do(user, monkeypatch):
    seen = []
    for module in (_mixtures_rest, _surrogate):
        search = module.sparsest_rows
        monkeypatch.setattr(
            module,
            "sparsest_rows",
            lambda *a, search=search, **k: seen.append(torch.get_num_threads()) or search(*a, **k),
        )
    user(2)
    x, _ = data()
    found = trust(PDGMM(2, max_iter=2, n_restarts=1, random_state=0).fit(x), x, effort="full")
    assert found.surrogate and len(seen) > 3 and set(seen) == {1} and torch.get_num_threads() == 2


def test_a_probe_leaves_linear_algebra_one_thread(monkeypatch):
    seen, solve = [], np.linalg.eigh

    def eigh(kernel):
        seen.extend(each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas")
        return solve(kernel)

    monkeypatch.setattr(np.linalg, "eigh", eigh)
    z = np.random.default_rng(0).normal(size=(60, 2))
    assert _probe.readable(z, z) > 0.9 and seen and set(seen) == {1}


def test_threads_are_those_of_the_work_and_never_more_than_set(user):
    user(2)
    with threads(1) as outer:
        with threads(worth(1e12)) as inner:
            assert (outer, inner, torch.get_num_threads()) == (1, 2, 2), "large work within small work"
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 2
    user(1)
    with threads(8) as n:
        assert n == 1
    with pytest.raises(ZeroDivisionError), threads(1):
        1 / 0  # noqa: B018
    assert torch.get_num_threads() == 1


WAITING = """
import glob, sys, threading, time, torch
from contextlib import nullcontext
from unmix._threads import threads

def sleeps():
    beside = set(glob.glob("/proc/self/task/*")) - {f"/proc/self/task/{threading.get_native_id()}"}
    lines = [line.split() for task in beside for line in open(f"{task}/status")]
    return sum(int(line[1]) for line in lines if line[0] == "voluntary_ctxt_switches:")

torch.set_num_threads(2)
with threads(2) if sys.argv[1] == "ours" else nullcontext():
    work = torch.zeros(2**17)
    work.add_(1)
    start = sleeps()
    for _ in range(200):
        work.add_(1)
        until = time.perf_counter() + 3e-4
        while time.perf_counter() < until:
            pass
    print(sleeps() - start)
assert torch.get_num_threads() == 2
"""


def times_asleep(whose, **environment):
    """Return how often, in 200 short waits for the first thread, the threads beside it went to sleep.

    The time they took would depend on what else the machine does.
    """
    known = {name: v for name, v in os.environ.items() if name not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
    known |= {"PYTHONPATH": os.pathsep.join(sys.path), **environment}
    line = [sys.executable, "-c", WAITING, whose]
    return int(subprocess.run(line, env=known, capture_output=True, check=True, text=True).stdout)


@pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2, reason="two cores of Linux"
)
def test_threads_that_wait_sleep_unless_the_user_says_otherwise():
    assert times_asleep("ours") > 100
    assert times_asleep("torch's") < 50
    assert times_asleep("ours", OMP_WAIT_POLICY="active") < 50


def test_those_at_rest_are_gone_afterwards(user):
    user(2)
    before = threading.active_count()
    with threads(2):
        pass
    with pytest.raises(ZeroDivisionError), threads(2):
        1 / 0  # noqa: B018
    assert threading.active_count() == before and torch.get_num_threads() == 2
    seen = []
    another = threading.Thread(target=lambda: seen.append(torch.get_num_threads()))
    with threads(2):
        another.start()
        another.join()
    assert seen == [2], "threads that begin meanwhile have as many as were set"


@pytest.mark.parametrize(("width", "expected"), [(4, 1), (2**15, 2)])
def test_steps_have_threads_by_their_size(width, expected, user):
    user(2)
    w, seen = torch.zeros(width, 64, requires_grad=True), []
    batches = Minibatches(torch.ones(600, 1), batch_size=600, generator=torch.Generator())
    minimise(
        lambda batch: {"fit": (w[0, 0] - batch[0].mean()).square()},
        {"w": w},
        batches,
        n_steps=1,
        on_step=lambda step, terms: seen.append(torch.get_num_threads()),
        progress=False,
    )
    assert seen == [expected] and torch.get_num_threads() == 2
