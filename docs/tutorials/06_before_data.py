# %% [markdown]
# # Is my structure identifiable, before I collect data?
#
# You plan a study: which variables will be measured, and which hidden variables could move each of them.
# Whether these could be told apart at all is a question of that plan and not of data. It takes milliseconds
# to ask.

# %% [markdown]
# ## Write the plan down
#
# Rows are measured variables, columns are hidden ones; 1 where the one could move the other. Say, three
# processes in a cell and six stains.

# %%
import matplotlib.pyplot as plt
import numpy as np

import unmix
from unmix.structure import Structure
from unmix.theory import certify

plan = Structure(
    [
        [1, 0, 0],
        [1, 1, 0],
        [0, 1, 0],
        [0, 1, 1],
        [0, 1, 1],
        [0, 1, 1],
    ]
)
print(certify(plan))

# %% [markdown]
# The third process moves nothing that the second does not move as well. So a part of the second can be
# hidden in the third, and nobody would notice: the certificate says what would be known of each.
#
# ## See the model that fits as well
#
# `counterexample` builds it: another set of latents, with the same structure and the same data.

# %%
second = unmix.theory.counterexample(plan, 2, 1)  # the third process, and the second
print(second)
z = np.random.default_rng(0).normal(size=(1000, 3))
print("same data:", np.allclose(second.mix(z), second.mix_hat(second.estimate(z))))

# %% [markdown]
# ## Mend the plan
#
# One more stain that reacts to the third process alone is enough. No number of rows would have been.

# %%
better = Structure(np.vstack([plan.support, [0, 0, 1]]))
print(certify(better).identifies)

# %%
figure, axes = plt.subplots(1, 2, figsize=(6, 3), layout="constrained")
for ax, each, title in zip(axes, (plan, better), ("first plan", "one more stain"), strict=True):
    unmix.plots.structure(each, ax=ax)
    ax.set_title(title)

# %% [markdown]
# ## Or change what is varied
#
# Sparsity is one kind of knowledge. The same system seen under several conditions is another: two hidden
# variables that move the same stains can be told apart if the conditions change them differently. The
# certificate counts.

# %%
from unmix.theory import certify_domains

same = Structure([[1, 1], [1, 1], [1, 1]])
for n_conditions in (1, 3, 5):
    print(n_conditions, "conditions:", certify_domains(same, n_conditions).identifies)

# %% [markdown]
# Knowledge adds up. `explain` asks every certifier that what you know suffices for.

# %%
for part, sentence in unmix.theory.explain(plan, domains=2, independent_latents=True).conclusions.items():
    print(f"{part}: {sentence}")

# %% [markdown]
# ## How many variables are needed for a fit to be trusted?
#
# A theorem speaks of the true structure; a fit has to find it among noise. Some zeros appear in any table,
# and only those beyond count as evidence. So more variables are needed to *find* a structure than to be
# identified by it.

# %%
for n_latents in (3, 5, 10):
    print(n_latents, "latents:", unmix.theory.variables_needed(n_latents))

# %% [markdown]
# From a shell: `unmix certify plan.csv`, with `--domains 5` or `--independent` for what else you know.
#
# A certificate says *if*. After the measurement, `unmix.trust` asks the data: see [Trust](../trust.md).
# What each theorem needs is in the [theorem map](../theorems.md).
