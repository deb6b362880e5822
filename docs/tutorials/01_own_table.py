# %% [markdown]
# # Your own table, from file to named latents
#
# You have a table: rows are samples, columns are measurements, and beside them stand a few columns that say
# where each row comes from. Six commands tell how many hidden variables it has, which method could find
# them, which of them to trust, and what each stands for.
#
# The table here is made up, so that the answer is known: 2400 wells, 24 features of cells, four hidden
# variables behind them. Put the name of your own file instead.

# %%
import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
z = rng.laplace(size=(2400, 4))  # what nobody sees
compound = rng.choice(["DMSO", "taxol", "nocodazole"], size=2400)
z[compound == "taxol", 0] += 3  # one of the drugs moves the first of them
parts, channels = ("Cells", "Nuclei", "Cytoplasm"), ("ER", "RNA", "Mito", "DNA")
names = [f"{part}_{kind}_{channel}" for channel in channels for part in parts for kind in ("Size", "Texture")]
loadings = np.kron(np.eye(4), np.ones(6)) + 0.4 * rng.normal(
    size=(4, 24)
)  # mostly one cause for each channel
x = z @ loadings + 0.3 * rng.normal(size=(2400, 24))
table = pd.DataFrame(x, columns=names)
table.insert(0, "well", [f"P{i // 240 + 1:02d}_{i % 240:03d}" for i in range(2400)])
table["plate"], table["compound"] = [f"P{i // 240 + 1:02d}" for i in range(2400)], compound
table.loc[[3, 70], "Cells_Size_ER"] = np.nan  # and two holes, as tables have them
table.to_csv("wells.csv", index=False)
table.iloc[:3, [0, 1, 2, 3, -2, -1]]

# %% [markdown]
# ## How many latents, and which method?
#
# `unmix choose` looks at the table alone. Holes are an error until you say what becomes of them. With
# `--out choice.html` the curves behind the answer are drawn on a page.

# %%
# !unmix choose wells.csv --id well --missing median

# %% [markdown]
# Two hidden variables could be turned into each other without a trace if they were Gaussian; here they are
# not, so that independent components are supported. Plates and compounds are text, and so no features;
# `--drop` leaves out others.
#
# ## Fit
#
# The model remembers the names of the columns, what was filled, and what it was given. It ends with one
# line for each latent: what it moves and what it goes with.

# %%
# !unmix fit wells.csv --method ica --n-components 4 --id well --missing median --out model

# %% [markdown]
# ## Which latents can be trusted?
#
# A fit always returns latents. `unmix trust` asks of each how likely it is right, which evidence speaks for
# it, and what its weakest link is. Nothing here has seen the truth. `--effort full` fits again, up to three
# times as long as the fit took.

# %%
# !unmix trust model wells.csv --effort full

# %% [markdown]
# Three of them pass. The fourth came back changed when one component more was asked for; it is right, as we
# shall see, but a verdict would rather say no than be wrong.
#
# ## What do they stand for?
#
# The same in Python. A model that a command saved is an estimator like any other.

# %%
import unmix

model = unmix.load("model")
wells = unmix.tables.prepared(
    unmix.tables.read("wells.csv", columns=unmix.tables.Columns(id="well", missing="median"))
)
print(*unmix.describe(model, wells).lines, sep="\n")

# %% [markdown]
# The latent of one channel goes with one compound, which the fit did not know. A name says what a latent
# moves, not that it is right; that was the question before.
#
# ## Take it along
#
# Latents go into a table with ids and metadata, and a page lets you look around: latents by trust,
# examples, histograms by plate, any two in a plane. It is one file, and opens without a network.

# %%
# !unmix transform model wells.csv --id well --out latents.csv
# !unmix explore model --data wells.csv --effort quick --out explorer.html | tail -1
# !head -3 latents.csv | cut -c1-100

# %% [markdown]
# ## Was it right?
#
# Only a table that was made up can tell. A score is read beside that of the raw columns and that of a
# random rotation of the truth, which knows everything and identifies nothing.

# %%
z_hat = pd.read_csv("latents.csv")[["z0", "z1", "z2", "z3"]]
score = unmix.metrics.evaluate(z, z_hat.to_numpy(), x=wells.values, random_state=0)["mcc"]
print(f"MCC {score.value:.2f}, raw columns {score.raw:.2f}, rotation floor {score.floor:.2f}")

# %% [markdown]
# **Next.** [How to choose](../choose.md) has other assumptions than independence, [Trust](../trust.md) says
# what to do about a weakest link, [Your table](../tables.md) how files are read, and [Names](../names.md)
# what a name is worth.
