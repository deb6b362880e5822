"""Names that were meant: for arguments and options that do not exist, the nearest that do."""

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import wraps
from inspect import signature
from typing import Any

# what other libraries, and papers, call the same thing
SAME = {
    "n_components": (
        "n_latents", "n_latent", "latent_dim", "latent_dims", "z_dim", "n_factors", "n_sources",
        "num_latents", "num_components", "output_dimension", "d_sae", "dict_size", "n_features", "n_dims",
        "dim", "k",
    ),
    "max_iter": ("n_epochs", "epochs", "num_epochs", "n_iter", "max_epochs", "n_steps", "max_iterations"),
    "lr": ("learning_rate", "learning_rate_init", "step_size"),
    "random_state": ("seed", "rng", "random_seed"),
    "n_restarts": ("n_init", "restarts", "n_starts"),
    "batch_size": ("minibatch_size", "batch"),
    "device": ("cuda", "gpu"),
}  # fmt: skip


def meant(given: str, known: Iterable[str]) -> str | None:
    """Return the name that was meant: one that is called so elsewhere, or that looks alike.

    >>> meant("n_latents", ["n_components", "lr"]), meant("n_componets", ["n_components"])
    ('n_components', 'n_components')
    >>> meant("colour", ["n_components"]) is None
    True
    """
    names = list(known)
    plain = given.lower().replace("-", "_")
    elsewhere = [name for name in names if plain in SAME.get(name.lower().replace("-", "_"), ())]
    return next(iter([*elsewhere, *get_close_matches(given, names, n=1, cutoff=0.6)]), None)


def suggesting(init: Callable[..., None], owner: str) -> Callable[..., None]:
    """Let a constructor name the argument that was meant where it is given one that does not exist."""
    known = [name for name in signature(init).parameters if name != "self"]

    @wraps(init)
    def checked(self: Any, *args: Any, **given: Any) -> None:
        unknown = next((name for name in given if name not in known), None)
        if unknown is not None:
            raise TypeError(refusal(owner, unknown, known))
        init(self, *args, **given)

    return checked


def refusal(owner: str, given: str, known: list[str]) -> str:
    """Say that an argument does not exist, and which one was meant or which there are."""
    name = meant(given, known)
    way_out = f"Did you mean `{name}`?" if name else f"There are {', '.join(known)}."
    return f"{owner} has no argument `{given}`. {way_out}"
