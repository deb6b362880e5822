"""Shared test settings: hypothesis profiles, one torch thread, a working Ctrl-C."""

import os
import signal

import matplotlib
import torch
from hypothesis import settings

matplotlib.use("Agg")
torch.set_num_threads(1)
# a run started in the background ignores SIGINT and hands that down to the processes that tests interrupt
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("fast", max_examples=15, deadline=None, derandomize=True)
settings.register_profile("nightly", max_examples=500, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))
