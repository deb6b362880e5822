# %% [markdown]
# # Run on a cluster
#
# Two things are worth a cluster: one fit that several processes share, and a sweep of many fits. Neither
# needs another script than that of one machine, and both survive being killed. Here all of it runs in
# processes of one machine.

# %% [markdown]
# ## One script
#
# `checkpoint=` names a folder from which a fit that was killed goes on.

# %%
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import unmix

x = unmix.data.sparse_mixing(500, n_latents=3, n_observed=9, random_state=0).x
np.save("x.npy", x)
_ = Path("fit.py").write_text("""
import sys
import numpy as np
import unmix

name, passes = sys.argv[1:]
model = unmix.BetaVAE(3, max_iter=int(passes), batch_size=100, checkpoint=f"{name}.run", random_state=0)
model.fit(np.load("x.npy")).save(name)
""")

# %% [markdown]
# ## A job that is killed
#
# A scheduler ends a job whose time is up. The same command again goes on, and ends with the bits of a fit
# that nobody killed.

# %%
calm = subprocess.run([sys.executable, "fit.py", "calm", "150"], check=True)
job = subprocess.Popen([sys.executable, "fit.py", "killed", "150"])
while not list(Path().glob("killed.run/**/checkpoint.safetensors")) and job.poll() is None:
    time.sleep(0.01)
job.send_signal(signal.SIGKILL)
print("exit code", job.wait())
subprocess.run([sys.executable, "fit.py", "killed", "150"], check=True)
codes = [unmix.load(name).transform(x) for name in ("calm", "killed")]
print("largest difference:", np.abs(codes[0] - codes[1]).max())

# %% [markdown]
# ## One fit by several processes
#
# `torchrun`, or `srun` of Slurm, starts the script several times. Each process takes its share of every
# batch, gradients are averaged, and only the first one writes checkpoints. Nothing in the script changes.

# %%
together = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"]
subprocess.run([*together, "fit.py", "together", "20"], check=True, stderr=subprocess.DEVNULL)
subprocess.run([sys.executable, "fit.py", "alone", "20"], check=True)
codes = [unmix.load(name).transform(x) for name in ("together", "alone")]
print("same to three digits:", np.allclose(*codes, atol=1e-3))

# %% [markdown]
# On a cluster, with four GPUs on each of two nodes, this is the whole job:
#
# ```bash
# #!/bin/bash
# #SBATCH --nodes=2
# #SBATCH --ntasks-per-node=4
# #SBATCH --gpus-per-task=1
# #SBATCH --time=12:00:00
# srun python fit.py model 200
# ```

# %% [markdown]
# ## A sweep
#
# A table of an experiment is a module with `CELLS` and `run`. Its runs are independent, so that they can be
# handed to processes, to Dask or to Slurm. Results are found by a digest of settings, seed and code:
# nothing is computed twice, and a lost node costs the runs in flight.

# %%
_ = Path("mytable.py").write_text('''
"""The mean of few numbers (a notebook)."""

import numpy as np

from unmix.experiments import Cell

CELLS = tuple(Cell("mean", f"n = {n}", paper=0.5, spread=0.1, settings={"n": n}) for n in (10, 1000))


def run(cell, seed, budget):
    return {"mcc": np.random.default_rng(seed).normal(0.5, 1, cell.settings["n"]).mean()}
''')

# %%
# !unmix reproduce mytable --budget laptop --seeds 3 --workers 2 --out results | grep runs
# !unmix reproduce mytable --budget laptop --seeds 3 --workers 2 --out results | grep runs

# %%
from unmix.experiments import Store, summarise

for line in summarise(Store("results").records())[0].lines:
    print(f"{line.column}: {line.ours:.2f} ± {line.our_spread:.2f} over {line.n} seeds, paper {line.paper}")

# %% [markdown]
# The same by Slurm, every run a job of its own, submitted from a login node; `--slurm cluster=local` tries
# it with processes of this machine. And by Dask, where workers are there already:
#
# ```bash
# unmix reproduce mytable --executor slurm --slurm slurm_partition=gpu --workers 32 --out results
# unmix reproduce mytable --executor dask --dask tcp://host:8786 --workers 16 --out results
# ```
#
# **Next.** [Several processes](../cluster.md) says what is divided and what stays the same,
# [Checkpoints](../checkpoints.md) how to go on.
