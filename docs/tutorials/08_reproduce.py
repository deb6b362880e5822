# %% [markdown]
# # Reproduce a paper's table, and add your method to it
#
# Every table of the papers is a module with its cells, the published numbers and the code that runs one of
# them. `unmix reproduce` fills it, keeps every run, and `unmix report` puts ours beside theirs.

# %%
# !unmix reproduce --list | head -12

# %% [markdown]
# ## Run one
#
# Budgets go from `smoke` (does it run?) over `laptop` to `full` (the paper's own sizes). Here `smoke`,
# which is judged by nobody; `--dry-run` tells beforehand what a budget costs.

# %%
# !unmix reproduce ddl.table4 --budget smoke --seeds 1 --out results | grep runs

# %% [markdown]
# The same command again does nothing: a run is found by a digest of all that its numbers depend on, the
# code included. A killed sweep goes on where it stopped.

# %%
# !unmix reproduce ddl.table4 --budget smoke --seeds 1 --out results | grep runs

# %% [markdown]
# ## Add your method
#
# Any class with `fit` and `transform`; it is given `n_components` and `random_state` if its constructor
# takes them.

# %%
from pathlib import Path

_ = Path("mine.py").write_text('''
from sklearn.decomposition import PCA


class Whitening(PCA):
    """Principal components of variance 1."""

    def __init__(self, n_components=None):
        super().__init__(n_components, whiten=True)
''')

# %%
# !unmix reproduce ddl.table4 --method mine:Whitening --budget smoke --seeds 1 --out results | grep runs

# %% [markdown]
# ## Read the table
#
# Beside the methods stand two that learned nothing, raw x and a random rotation of the truth. Where a
# number is not above them, it says nothing. At the budget `smoke` no fit comes to its end, and none is
# above them.

# %%
from unmix.experiments import Store, summarise

table = summarise(Store("results").records())[0]
for line in table.lines:
    if line.column == "n = 5" and line.value == "mcc" and line.ours is not None:
        paper = "" if line.paper is None else f", paper {line.paper:.2f}"
        print(f"{line.row:32s} {line.ours:.2f}{paper}")

# %% [markdown]
# `unmix report results` writes all of it as one page, with a verdict for each number (*better*, *within*,
# *worse*) where the budget and the data are those of the paper.

# %%
# !unmix report results --out page.html
# !ls -1 results page.html

# %% [markdown]
# **Next.** [Reproduce the papers](../reproduce.md) has budgets, keys and tables of your own,
# [Results](../results.md) what we measured, and [Run on a cluster](09_cluster.ipynb) how to run many at
# once.
