"""What the components leave out of x: noise, which is within them too, or latents that were not asked for."""

import numpy as np

from unmix._fitted import thinned

from ._case import Case
from ._common import correlations, match_strength
from ._linear_planes import standard
from ._link import Link, link

_WIDE = 2000
_MOST = 600  # rows on which a correlation of ranks is taken
_SPREAD_ON, _ROWS_EACH = 2000, 10  # rows that variances are taken from, at most, or so many for each column
_UNSEEN = 0.5  # strength of what cannot be seen in these data: neither for nor clearly against


def free_of_noise(case: Case, spread: np.ndarray) -> Link:
    """Tell how much of each component noise leaves, if it is as large everywhere as outside the components.

    Its rank correlation with itself and as much noise again, since that is how a component is judged.
    """
    name, n = "free of noise", case.codes.shape[1]
    if not len(spread):
        words = ["there are no more variables than components, so that noise does not show"] * n
        return link(name, np.nan, 1.0, _UNSEEN, words)
    weights = case.model.components_ / np.maximum(case.codes.std(0), 1e-300)[:, None]
    share = np.clip((spread[1:] if len(spread) > 1 else spread).mean() * np.square(weights).sum(1), 0, 1)
    codes = standard(thinned(case.codes, _MOST))
    again = codes * np.sqrt(1 - share) + case.rng(24).normal(size=(len(codes), 1)) * np.sqrt(share)
    kept = np.abs(np.diagonal(correlations(codes, again)))
    told = "{:.1%} of it is noise, if that is as large within as it is outside: a correlation of {:.3f}"
    words = [told.format(*each) for each in zip(share, kept, strict=True)]
    return link(name, kept, 1.0, match_strength(kept), words)


def none_left_out(case: Case, spread: np.ndarray) -> Link:
    """Compare the widest direction that the components leave out with the others: noise is as wide in all."""
    name, n = "no latent left out", case.codes.shape[1]
    if len(spread) < 2:
        words = [f"{len(spread)} direction(s) of x are left out, too few to compare"] * n
        return link(name, np.nan, 1.0, _UNSEEN, words)
    ratio = spread[0] / max(spread[1:].mean(), 1e-12 * case.x.var(0, ddof=1).sum())
    words = [f"of what is left out one direction varies {ratio:.1f} times as much as the others"] * n
    return link(name, ratio, 1.0, 1 - 2 * np.log10(max(ratio, 1e-3)), words)


def outside(case: Case) -> np.ndarray:
    """Variances of the directions of x that the components leave out, the widest first."""
    d, n = case.x.shape[1], case.codes.shape[1]
    if d == n:
        return np.empty(0)
    most = max(_SPREAD_ON, _ROWS_EACH * d)
    left = thinned(case.x, most) - thinned(case.codes, most) @ case.model.mixing_.T  # but for the mean
    left -= left.mean(0)
    if len(left) < d > _WIDE:  # then most variances are 0, and the covariance is too large to look at
        sizes = np.linalg.svd(left, compute_uv=False)
        return np.pad(np.square(sizes) / (len(left) - 1), (0, d - len(left)))[: d - n]
    return np.linalg.eigvalsh(left.T @ left / (len(left) - 1))[::-1][: d - n]
