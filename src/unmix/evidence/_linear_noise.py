"""What the components leave out of x: noise, which is within them too, or latents that were not asked for."""

import numpy as np

from ._case import Case
from ._common import correlations, match_strength
from ._linear_planes import standard
from ._link import Link, link

_WIDE = 2000
_UNSEEN = 0.5  # strength of what cannot be seen in these data: neither for nor clearly against


def free_of_noise(case: Case) -> Link:
    """Tell how much of each component noise leaves, if it is as large everywhere as outside the components.

    Its rank correlation with itself and as much noise again, since that is how a component is judged.
    """
    name, (n_rows, n) = "free of noise", case.codes.shape
    spread = _outside(case)
    if not len(spread):
        words = ["there are no more variables than components, so that noise does not show"] * n
        return link(name, np.nan, 1.0, _UNSEEN, words)
    weights = case.model.components_ / np.maximum(case.codes.std(0), 1e-300)[:, None]
    share = np.clip((spread[1:] if len(spread) > 1 else spread).mean() * np.square(weights).sum(1), 0, 1)
    noise = case.rng(24).normal(size=(n_rows, 1))
    again = standard(case.codes) * np.sqrt(1 - share) + noise * np.sqrt(share)
    kept = np.abs(np.diagonal(correlations(case.codes, again)))
    told = "{:.1%} of it is noise, if that is as large within as it is outside: a correlation of {:.3f}"
    words = [told.format(*each) for each in zip(share, kept, strict=True)]
    return link(name, kept, 1.0, match_strength(kept), words)


def none_left_out(case: Case) -> Link:
    """Compare the widest direction that the components leave out with the others: noise is as wide in all."""
    name, n, spread = "no latent left out", case.codes.shape[1], _outside(case)
    if len(spread) < 2:
        words = [f"{len(spread)} direction(s) of x are left out, too few to compare"] * n
        return link(name, np.nan, 1.0, _UNSEEN, words)
    ratio = spread[0] / max(spread[1:].mean(), 1e-12 * case.x.var(0, ddof=1).sum())
    words = [f"of what is left out one direction varies {ratio:.1f} times as much as the others"] * n
    return link(name, ratio, 1.0, 1 - 2 * np.log10(max(ratio, 1e-3)), words)


def _outside(case: Case) -> np.ndarray:
    """Variances of the directions of x that the components leave out, the widest first."""
    d, n = case.x.shape[1], case.codes.shape[1]
    left = case.x - case.model.inverse_transform(case.codes)
    if len(left) < d > _WIDE:  # then most variances are 0, and the covariance is too large to look at
        sizes = np.linalg.svd(left - left.mean(0), compute_uv=False)
        return np.pad(np.square(sizes) / (len(left) - 1), (0, d - len(left)))[: d - n]
    return np.linalg.eigvalsh(np.atleast_2d(np.cov(left, rowvar=False)))[::-1][: d - n]
