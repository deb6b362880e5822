"""Kill a fit with SIGKILL, give the same command again, and get the same bits as without the kill.

python examples/05_resume_a_killed_fit.py [--quick]
"""

# %% The fit runs in a process of its own, so that it can be killed without mercy
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import unmix

EPOCHS = 120 if "--quick" in sys.argv else 1000
FIT = """
import sys, unmix
x = unmix.data.sparse_mixing(500, n_latents=3, n_observed=9, random_state=0).x
checkpoint, out, epochs = sys.argv[1:]
unmix.BetaVAE(3, max_iter=int(epochs), batch_size=100, checkpoint=checkpoint, random_state=0).fit(x).save(out)
"""


def start(checkpoint: Path, out: Path) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", FIT, str(checkpoint), str(out), str(EPOCHS)])


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)

    # %% Once without trouble
    start(folder / "calm", folder / "calm.model").wait()

    # %% Once killed, as soon as there is a checkpoint
    run = start(folder / "killed", folder / "killed.model")
    while not list((folder / "killed").rglob("checkpoint.safetensors")) and run.poll() is None:
        time.sleep(0.01)
    run.kill()
    print(f"killed: exit code {run.wait()}, model there: {(folder / 'killed.model').exists()}")

    # %% The same command goes on
    print(f"again: exit code {start(folder / 'killed', folder / 'killed.model').wait()}")
    calm, killed = unmix.load(folder / "calm.model"), unmix.load(folder / "killed.model")

# %% Bit for bit the same
x = unmix.data.sparse_mixing(500, n_latents=3, n_observed=9, random_state=0).x
difference = np.abs(calm.transform(x) - killed.transform(x)).max()
print(f"steps: {calm.history_.n_steps} and {killed.history_.n_steps}, largest difference: {difference}")
