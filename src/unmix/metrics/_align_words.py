"""What an alignment means, in a sentence."""

from typing import Any

CLOSE = 0.2  # a map is close when it leaves at most a fifth of the deviation from the mean: R2 of 0.96
FAR = 0.9


def meaning(found: Any) -> str:
    """Name the smallest family of maps that brings the runs close, with the numbers that say so."""
    left = {name: max(0.0, 1 - error.r2) ** 0.5 for name, error in found.errors.items()}  # root mean squares
    close = {name: share <= CLOSE for name, share in left.items()}
    said = {name: f"{share:.0%}" for name, share in left.items()}
    if found.linear >= FAR * min(found.mean, found.shuffled):
        text = _NONE
    elif close["permutation"]:
        text = _PERMUTATION
    elif close["ica"]:
        text = _ICA_RIGID if close["rigid"] else _ICA_LINEAR
    elif close["rigid"] or close["linear"]:
        text = _RIGID if close["rigid"] else _LINEAR
    else:
        text = _PARTLY
    return text.format(**said)


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
