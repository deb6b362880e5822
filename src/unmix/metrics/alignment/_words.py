"""What an alignment means, in a sentence."""

from typing import Any

CLOSE = 0.2  # a map is close when it leaves at most a fifth of the deviation from the mean: R2 of 0.96
FAR = 0.9


def agreement(found: Any) -> str:
    """Name the smallest family of maps that brings the runs close: a key of `_SENTENCES`."""
    close = {name: share <= CLOSE for name, share in _left(found).items()}
    if found.linear >= FAR * min(found.mean, found.shuffled):
        return "none"
    if close["permutation"]:
        return "permutation"
    if close["ica"]:
        return "rotation, removed by ICA" if close["rigid"] else "linear map, removed by ICA"
    return "rotation" if close["rigid"] else "linear map" if close["linear"] else "partial"


def meaning(found: Any) -> str:
    """Say what agrees, with the numbers that say so."""
    said = {name: f"{share:.0%}" for name, share in _left(found).items()}
    return _SENTENCES[agreement(found)].format(**said)


def _left(found: Any) -> dict[str, float]:
    """Return the root mean square that each map leaves, over that of predicting the mean."""
    return {name: max(0.0, 1 - error.r2) ** 0.5 for name, error in found.errors.items()}


_NONE = (
    "The runs do not agree: even the best linear map leaves {linear} of the error of predicting the mean, no "
    "better than chance."
)
_PERMUTATION = (
    "The runs agree latent by latent, up to order and sign: the best signed permutation leaves {permutation} "
    "of the error of predicting the mean."
)
_ICA_RIGID = (
    "The runs agree up to a rotation, and ICA on each alone removes it: of the error of predicting the mean "
    "it leaves {ica}, the best signed permutation {permutation}."
)
_ICA_LINEAR = (
    "The runs agree up to a linear map, and ICA on each alone removes it: of the error of predicting the "
    "mean it leaves {ica}, the best rotation {rigid}."
)
_RIGID = (
    "The runs agree up to a rotation and a scale, but not latent by latent: of the error of predicting the "
    "mean the best rotation leaves {rigid}, ICA on each alone {ica}, the best signed permutation "
    "{permutation}."
)
_LINEAR = (
    "The runs hold the same information up to a linear map, but neither distances nor single latents agree: "
    "of the error of predicting the mean the best linear map leaves {linear}, the best rotation {rigid}."
)
_PARTLY = (
    "The runs agree in part: of the error of predicting the mean the best linear map leaves {linear}, the "
    "best rotation {rigid}, ICA on each alone {ica}, the best signed permutation {permutation}."
)

_SENTENCES = {
    "none": _NONE,
    "permutation": _PERMUTATION,
    "rotation, removed by ICA": _ICA_RIGID,
    "linear map, removed by ICA": _ICA_LINEAR,
    "rotation": _RIGID,
    "linear map": _LINEAR,
    "partial": _PARTLY,
}
