"""Shared test settings: hypothesis profiles, one torch thread, draws from a seed, a working Ctrl-C."""

import os
import signal

import matplotlib
import pytest
import torch
from hypothesis import settings

matplotlib.use("Agg")
torch.set_num_threads(1)
# a run started in the background ignores SIGINT and hands that down to the processes that tests interrupt
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("fast", max_examples=15, deadline=None, derandomize=True)
settings.register_profile("nightly", max_examples=500, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))

torch.manual_seed(
    0
)  # torch's own seed differs from process to process: what is built while tests are collected


@pytest.fixture(autouse=True)
def drawn_from_a_seed():
    """What a test builds without naming a seed is the same in every run, and whatever ran before."""
    torch.manual_seed(0)
