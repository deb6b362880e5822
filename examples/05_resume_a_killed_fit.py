"""Kill a fit with SIGKILL, give the same line again, and get the same bits as without the kill.

python examples/05_resume_a_killed_fit.py [--quick]
"""

# %% One fit, written down once
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import unmix

EPOCHS = 110 if "--quick" in sys.argv else 1000  # five steps each; a checkpoint is written every 500 steps
x = unmix.data.sparse_mixing(500, n_latents=3, n_observed=9, random_state=0).x


def fit(checkpoint: Path) -> unmix.BetaVAE:
    model = unmix.BetaVAE(3, max_iter=EPOCHS, batch_size=100, checkpoint=checkpoint, random_state=0)
    return model.fit(x)


if "--child" in sys.argv:  # this script again, in another process that can be killed
    sys.exit(fit(Path(sys.argv[-1])) is None)

with tempfile.TemporaryDirectory() as name:
    # %% Once without trouble
    calm = fit(Path(name, "calm"))

    # %% Once killed without mercy, as soon as there is a checkpoint
    folder = Path(name, "killed")
    child = subprocess.Popen([sys.executable, *sys.argv, "--child", str(folder)])
    while not list(folder.rglob("checkpoint.safetensors")) and child.poll() is None:
        time.sleep(0.01)
    child.kill()
    print(f"killed: exit code {child.wait()}")

    # %% The same line goes on from there
    start = time.perf_counter()
    resumed = fit(folder)
    print(f"went on and finished in {time.perf_counter() - start:.1f} s")

# %% Bit for bit the same
difference = np.abs(calm.transform(x) - resumed.transform(x)).max()
steps = calm.history_.n_steps, resumed.history_.n_steps
print(f"steps: {steps[0]} and {steps[1]}, largest difference: {difference}")
