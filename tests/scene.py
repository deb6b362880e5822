"""Small files that stand for those of the documents, each by its name there."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from unmix.estimators import SparseAutoencoder, save_sae

ROWS = 150
TEXT = "the sea is blue and wide so we sail on ."
VARIABLES = [f"{part}_{k}" for part in ("Cells", "Nuclei") for k in range(6)]


def _x(seed=0):
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(4, 12)) * (rng.random((4, 12)) < 0.6)
    return rng.laplace(size=(ROWS, 4)) @ mixing + 0.05 * rng.normal(size=(ROWS, 12))


def _frame(**more):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(_x(), columns=VARIABLES).assign(**more)


def _in_turn(*levels):
    return np.resize(np.array(levels), ROWS)


def _well():
    return [f"well {k}" for k in range(ROWS)]


def _csv(frame, path):
    frame.to_csv(path, index=False)


def wells(path):
    known = {
        "well": _well(),
        "week": _in_turn("w1", "w2"),
        "plate": _in_turn("a", "b", "c"),
        "compound": _in_turn("DMSO", "DMSO", "drug", "other", "drug"),
        "dose": _in_turn("0", "0", "1", "1", "10"),
    }
    _csv(_frame(**known), path)


def wells_with_gaps(path):
    frame = _frame(Metadata_Well=_well())
    frame.loc[3, VARIABLES[0]] = np.nan
    _csv(frame, path)


def wells_as_parquet(path):
    _frame(Metadata_Well=_well()).to_parquet(path)


def cells(path):
    anndata = pytest.importorskip("anndata")
    frame = _frame()
    frame.index = _well()
    made = anndata.AnnData(frame)
    made.obs["donor"], made.obs["cell_type"] = _in_turn("a", "b", "c"), _in_turn("T", "B")
    made.obsm["X_pca"] = _x()[:, :5]
    made.write_h5ad(path)


def embedding(path):
    _frame(well=_well()).to_parquet(path)


def meta(path):
    known = {
        "well": _well(),
        "experiment": _in_turn("e1", "e1", "e2", "e2"),
        "plate": _in_turn("p1", "p2", "p3", "p4"),
        "gene": _in_turn("EMPTY_control", "A", "B", "C", "D"),
        "treatment": _in_turn("s1", "s2", "s3"),
    }
    _csv(_frame(**known)[list(known)], path)


def with_batches(path):
    _csv(_frame(batch=_in_turn("a", "b", "c")), path)


def array(path):
    np.save(path, _x())


def labels(path):
    np.save(path, np.arange(ROWS) % 3)


def codes(path):
    rng = np.random.default_rng(len(path.name) + ord(path.stem[-1]))
    np.save(path, _x()[:, :4] + 0.3 * rng.normal(size=(ROWS, 4)))


def factors(path):
    rng = np.random.default_rng(0)
    known = np.column_stack([rng.integers(0, 3, 200), rng.normal(size=200), rng.integers(0, 4, 200)])
    np.savetxt(path, known, delimiter=",", header="shape,x,colour", comments="")


def shards(path):
    path.mkdir()
    for k, part in enumerate(np.array_split(_x()[:, :4], 3)):
        np.save(path / f"{k}.npy", part)


def mask(path):
    path.write_text("1,0,0,0\n1,1,0,0\n0,1,1,0\n0,0,1,1\n0,0,0,1\n")


def jacobians(path):
    pattern = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [0, 0, 0, 1]])
    np.save(path, np.random.default_rng(0).normal(size=(30, 5, 4)) * pattern)


def sets(path):
    path.write_text("one\tmade up\t" + "\t".join(VARIABLES[:4]) + "\ntwo\t\t" + "\t".join(VARIABLES[4:9]))


def book(path):
    path.write_text(f"{TEXT} " * 120)


def language_model(path):
    """Write a random model of 16 blocks, in a folder as `save_pretrained` leaves it."""
    tokenizers, transformers = (pytest.importorskip(name) for name in ("tokenizers", "transformers"))
    words = ["?", *dict.fromkeys(TEXT.split())]
    vocabulary = {word: place for place, word in enumerate(words)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="?"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    config = transformers.LlamaConfig(
        vocab_size=len(words),
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=16,
        num_attention_heads=2,
        max_position_embeddings=128,
    )
    transformers.LlamaForCausalLM(config).eval().save_pretrained(path)
    tokenizer.save(str(path / "tokenizer.json"))


def _sparse_codes(seed=0):
    rng = np.random.default_rng(seed)
    return ((rng.random((300, 9)) < 0.2) * rng.gamma(2, size=(300, 9)) @ rng.normal(size=(9, 6))).astype("f4")


def _dictionary(seed):
    settings = {"k": 2, "max_iter": 3, "batch_size": 100, "lr": 0.01}
    return SparseAutoencoder(9, random_state=seed, **settings).fit(_sparse_codes())


def dictionary(path):
    save_sae(_dictionary(ord(path.name[-1])), path, layout="sae_lens")


def foreign_dictionary(path):
    save_sae(_dictionary(0), path, layout="sparsify")


def activations(path):
    path.mkdir()
    np.save(path / "0.npy", _sparse_codes())


def digits(path):
    """Write as few digits as there may be, in the format of MNIST."""
    path.mkdir()
    rng = np.random.default_rng(0)
    for name, shape in (("train-images-idx3-ubyte", (300, 28, 28)), ("train-labels-idx1-ubyte", (300,))):
        values = rng.integers(0, 256 if len(shape) == 3 else 10, shape).astype(np.uint8)
        head = bytes([0, 0, 8, len(shape)]) + b"".join(size.to_bytes(4, "big") for size in shape)
        with gzip.open(path / f"{name}.gz", "wb") as file:
            file.write(head + values.tobytes())


FILES = {
    "wells.csv": wells,
    "wells.csv.gz": wells_with_gaps,
    "wells.parquet": wells_as_parquet,
    "million_rows.parquet": wells_as_parquet,
    "plates.csv.gz": wells,
    "cells.h5ad": cells,
    "emb.parquet": embedding,
    "meta.csv": meta,
    "table.csv": with_batches,
    "x.csv": with_batches,
    "x.npy": array,
    "labels.npy": labels,
    "run1.npy": codes,
    "run2.npy": codes,
    "run3.npy": codes,
    "codes.npy": codes,
    "factors.csv": factors,
    "shards1/": shards,
    "shards2/": shards,
    "mask.csv": mask,
    "mask1.csv": mask,
    "mask2.csv": mask,
    "J.npy": jacobians,
    "pathways.gmt": sets,
    "book.txt": book,
    "smollm2": language_model,
    "sae": dictionary,
    "sae1": dictionary,
    "sae2": dictionary,
    "sae3": dictionary,
    "layers.15": foreign_dictionary,
    "activations": activations,
    "mnist": digits,
}


def furnish(words, folder):
    """Make those files that a command reads and that are not there; what it writes is left to it."""
    words = words[:3] if words[1] == "convert" else words
    read = [word.removeprefix("./") for k, word in enumerate(words) if words[k - 1] != "--out"]
    for name in read:
        path = Path(folder) / name.rstrip("/")
        if name in FILES and not path.exists():
            FILES[name](path)
