"""A small file of the inputs of a feed-forward block, for tables that run where no language model is.

`unmix activations book.txt --model smollm2 --site blocks.15.hook_mlp_in --out acts`, then
`python -m unmix.experiments.papers.sae.site acts smollm2 site`: `site/site.safetensors` holds 70,000 tokens,
windows in random order, as integers of 8 bits, with a scale for each, and the weights of the block (46 MB for
SmolLM2). `unmix reproduce sae.dead --data site` reads it. For a file that packs into few megabytes (`xz`),
`... site 40000 0.06` takes 40,000 tokens and rounds them so that 6% of their variance is lost.
"""

import re
import sys
from pathlib import Path

import numpy as np

from unmix._files import atomic_path
from unmix.data import read_activations, read_language_model
from unmix.nn import Feedforward
from unmix.rows import ActivationStore

from ._common import SITE

N_TOKENS = 70_000


def shuffled(store: ActivationStore, n_tokens: int, seed: int = 0) -> np.ndarray:
    """Return the rows of windows drawn in random order, until there are enough; whole windows but the last.

    Examples
    --------
    >>> import tempfile, unmix
    >>> path = f"{tempfile.mkdtemp()}/x.npy"
    >>> np.save(path, np.eye(3))
    >>> shuffled(unmix.data.read_activations(path), 2).shape
    (2, 3)
    """
    window = np.arange(len(store)) if store.document is None else np.asarray(store.document)
    place = np.random.default_rng(seed).permutation(int(window.max()) + 1)
    order = np.argsort(place[window], kind="stable")[:n_tokens]
    x = np.concatenate([np.asarray(part) for part in store.blocks()])
    return x[order].astype(np.float32)


def rounded(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rows as integers of 8 bits, and the scale of each.

    >>> [part.tolist() for part in rounded(np.array([[1.0, -0.5]]))]
    [[[127, -64]], [0.007874015718698502]]
    """
    scale = np.abs(x).max(1).clip(1e-12) / 127
    return np.rint(x / scale[:, None]).astype(np.int8), scale.astype(np.float32)


def coarse(x: np.ndarray, lost: float) -> np.ndarray:
    """Round rows along their principal directions to multiples of one step, at a loss of so much variance.

    >>> x = np.random.default_rng(0).normal(size=(500, 4)).astype(np.float32)
    >>> round(float(np.var(coarse(x, 0.05) - x) / np.var(x)), 2)
    0.05
    """
    mean = x.mean(0)
    values, vectors = np.linalg.eigh(np.cov((x - mean).T))
    step = np.sqrt(12 * lost * values.mean())  # a uniform error of this width has the variance step^2 / 12
    return (mean + step * np.rint((x - mean) @ vectors / step) @ vectors.T).astype(np.float32)


def write_site(
    store: ActivationStore, block: Feedforward, folder: Path, n_tokens: int = N_TOKENS, lost: float = 0.0
) -> Path:
    """Write the file."""
    from safetensors.numpy import save

    if block.w_gate is None:
        raise ValueError("`block` must be gated, got a plain one. Choose a model of the Llama family.")
    x = shuffled(store, n_tokens)
    inputs, scale = rounded(coarse(x, lost) if lost else x)
    weights = {"gate": block.w_gate, "up": block.w_in, "down": block.w_out}
    halves = {name: weight.cpu().numpy().astype(np.float16) for name, weight in weights.items()}
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_path(folder / SITE) as temporary:
        temporary.write_bytes(save({"inputs": inputs, "scale": scale, **halves}))
    return folder / SITE


def main(activations: str, model: str, folder: str, n_tokens: str = str(N_TOKENS), lost: str = "0") -> None:
    """Read a store of `hook_mlp_in` and its model, and write the file."""
    store = read_activations(activations)
    found = re.fullmatch(r"blocks\.(\d+)\.hook_mlp_in", str(store.info.get("site")))
    if found is None:
        raise ValueError(
            f"`activations` must be of a site blocks.N.hook_mlp_in, got {store.info.get('site')!r}."
        )
    block = read_language_model(model).feedforward(int(found[1]))
    print(write_site(store, block, Path(folder), int(n_tokens), float(lost)))


if __name__ == "__main__":
    main(*sys.argv[1:6])
