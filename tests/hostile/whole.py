"""Small files of every kind that a command reads, as they should be; damage begins with them."""

import gzip
import json
from pathlib import Path

import anndata
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
from safetensors.numpy import save_file
from sklearn.pipeline import make_pipeline

import unmix
from unmix.cli import main
from unmix.data import store_activations

TABLES = ("x.csv", "x.tsv.gz", "x.parquet", "x.feather", "x.h5ad", "x.npy", "x.npz", "x.safetensors")
MASKS = ("mask.csv", "mask.npy", "mask.json", "mask.npz")
SETS = ("sets.json", "sets.gmt", "sets.csv")
MODELS = ("ica", "ddl", "cgvae", "pipeline", "sae")


def write_all(folder):
    """Write one file of every kind into a folder."""
    folder = Path(folder)
    rng = np.random.default_rng(0)
    x = rng.laplace(size=(24, 4)) @ rng.normal(size=(4, 4))
    _tables(folder, x)
    mask = np.array([[1, 0], [1, 1], [0, 1], [1, 0]])
    np.savetxt(folder / "mask.csv", mask, delimiter=",", fmt="%d")
    np.save(folder / "mask.npy", mask)
    np.savez(folder / "mask.npz", structure=mask)
    (folder / "mask.json").write_text(json.dumps(mask.tolist()))
    (folder / "sets.json").write_text('{"first": ["a", "b"], "rest": ["c", "d"]}')
    (folder / "sets.gmt").write_text("first\t\ta\tb\nrest\t\tc\td\n")
    (folder / "sets.csv").write_text("variable,set\na,first\nb,first\nc,rest\nd,rest\n")
    _models(folder, x)
    images = rng.integers(0, 255, size=(6, 16, 16, 3), dtype=np.uint8)
    np.save(folder / "images.npy", images)
    _results(folder / "results")


def _results(folder):
    """Copy the stored runs of a small table."""
    kept = Path(__file__).parents[2] / "results"
    smallest = min(kept.glob("*.jsonl"), key=lambda path: path.stat().st_size)
    folder.mkdir()
    (folder / smallest.name).write_bytes(smallest.read_bytes())


def _tables(folder, x):
    names = ("a", "b", "c", "d")
    groups = np.array(["p", "q"] * 12)
    lines = [
        ",".join((*names, "batch")),
        *(",".join([*map(repr, map(float, r)), g]) for r, g in zip(x, groups, strict=True)),
    ]
    text = "\n".join(lines) + "\n"
    (folder / "x.csv").write_text(text)
    (folder / "x.tsv.gz").write_bytes(gzip.compress(text.replace(",", "\t").encode()))
    table = pa.table({**{n: x[:, j] for j, n in enumerate(names)}, "batch": groups})
    pa.parquet.write_table(table, folder / "x.parquet")
    pa.feather.write_feather(table, folder / "x.feather")
    cells = anndata.AnnData(x)
    cells.var_names, cells.obs["batch"] = list(names), groups
    cells.write_h5ad(folder / "x.h5ad")
    np.save(folder / "x.npy", x)
    np.savez_compressed(folder / "x.npz", x=x, z=x[:, :2], x_names=np.array(names), batch=np.arange(24) % 2)
    save_file({"x": x.astype(np.float32)}, folder / "x.safetensors")


def _models(folder, x):
    unmix.FastICA(2, random_state=0).fit(x).save(folder / "ica")
    unmix.DiverseDictionaryLearning(2, n_restarts=1, max_iter=1, random_state=0).fit(x).save(folder / "ddl")
    unmix.CGVAE(2, max_iter=1, random_state=0).fit(x, domains=np.arange(24) % 3).save(folder / "cgvae")
    first = unmix.Autoencoder(3, max_iter=1, random_state=0)
    piped = make_pipeline(first, unmix.FastICA(2, random_state=0)).fit(x)
    unmix.estimators.save(piped, folder / "pipeline")
    unmix.SparseAutoencoder(6, activation="topk", k=2, max_iter=1, random_state=0).fit(x).save(folder / "sae")
    main_ = ["convert", str(folder / "sae"), str(folder / "lens"), "--to", "sae_lens"]
    try:
        main(main_)
    except SystemExit as left:
        assert not left.code
    store_activations(folder / "x.npy", folder / "store")
