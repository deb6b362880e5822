"""Scores of codes of images, beside those of codes that learned nothing."""

from functools import partial

import numpy as np
import torch
from scipy.stats import differential_entropy
from sklearn.preprocessing import KBinsDiscretizer

from unmix.estimators import FastICA
from unmix.metrics import dci, factor_vae_score, infomec, mcc, mig, sap
from unmix.solvers.ica import linear_part
from unmix.training import device as device_of

from ...engine import NOISE, PIXELS, ROTATION, Place
from .._references import rotated
from .codes import drawn
from .pixels import coarse, pixel_components
from .twins import Pictures

PARTS = {"InfoM": "modularity", "InfoE": "explicitness", "InfoC": "compactness"}
MORE = ("mcc", "FactorVAE score", "DCI, forest", "MIG", "SAP")
PUBLISHED = "DCI, boosting"
REFERENCES = (PIXELS, ROTATION, NOISE)
CONTRASTS = ("logcosh", "exp")
VOTES = {"smoke": (100, 50), "laptop": (10_000, 5_000), "gpu": (10_000, 5_000)}
PROBED = {"smoke": 48, "laptop": 1500, "gpu": 2000}  # images that the forests of DCI see
BOOSTED = {"smoke": 48, "laptop": 1500, "gpu": 2000}  # images that its gradient boosting sees
LOOKED_AT = 16_000  # images that say which directions pixels tell, at most
_DRAWN = 2000  # images that are drawn at a time
PREDICTED = {"smoke": 1, "laptop": 100, "gpu": 100}  # factors that probes predict, at most


def information(pictures: Pictures, codes: np.ndarray, *, discrete: bool = False) -> dict[str, float]:
    """Return InfoM, InfoE and InfoC of the codes of images that are scored.

    `codes` are those of all images; `discrete` says that they are numbers of levels.
    """
    found = infomec(pictures.factors, codes[pictures.scored], discrete=True, discrete_codes=discrete)
    return {name: getattr(found, part) for name, part in PARTS.items()}


def scores(
    pictures: Pictures, codes: np.ndarray, budget: str, *, discrete: bool = False, published: bool = False
) -> dict[str, float]:
    """Return every score of the codes of all images.

    Parameters
    ----------
    pictures : Pictures
    codes : array of shape (n_images, n_codes)
    budget : {"smoke", "laptop", "gpu"}
    discrete : bool
        Whether codes are numbers of levels.
    published : bool
        Whether DCI is also taken by the gradient boosting of published tables, which takes minutes.

    Returns
    -------
    dict of str to float
    """
    factors, shown = pictures.factors, codes[pictures.scored]
    predicted = slice(0, PREDICTED[budget])
    probes = {"DCI, forest": ("forest", PROBED)} | ({PUBLISHED: ("boosting", BOOSTED)} if published else {})
    found = information(pictures, codes, discrete=discrete)
    found["mcc"] = mcc(factors, shown)
    found["FactorVAE score"] = _votes(pictures, codes, budget)
    for name, (probe, few) in probes.items():
        seen = slice(0, few[budget])
        score = dci(factors[seen, predicted], shown[seen], probe=probe, discrete=True)
        found[name] = score.disentanglement
    separated = sap(factors[:, predicted], shown, discrete=True)
    return found | {"MIG": mig(factors, shown, discrete=True), "SAP": separated}


def _votes(pictures: Pictures, codes: np.ndarray, budget: str) -> float:
    """Take the FactorVAE score: factors are held still exactly where every combination has an image."""
    n_train, n_eval = VOTES[budget]
    score = partial(factor_vae_score, n_train=n_train, n_eval=n_eval, discrete=True)
    if not pictures.whole:
        return score(pictures.factors, codes[pictures.scored])
    sizes = pictures.data.sizes
    return score(
        pictures.factors,
        lambda rows: codes[rows],
        generator=lambda factors: np.ravel_multi_index(tuple(np.asarray(factors, int).T), sizes),
    )


def independent(codes: np.ndarray, seed: int, device: str, *, rtol: float = 1e-3) -> np.ndarray:
    """Return the independent components of the codes of all images, each in the units of what it carries.

    All images take part: a factorial is exactly independent only as a whole. Directions of less than a
    thousandth of the largest variance are latents that are not used. Of two contrasts that counts whose
    components have the least entropies: the sum is their mutual information, up to what a rotation keeps.
    """
    given = {"rtol": rtol, "scale": "mixing", "n_restarts": 3, "device": device, "random_state": seed}
    found = [FastICA(fun=fun, **given).fit(codes).transform(codes) for fun in CONTRASTS]  # type: ignore[arg-type]
    return min(found, key=entropy)


def told_by_pixels(pictures: Pictures, codes: np.ndarray, place: Place) -> np.ndarray:
    """Return the part of the codes of all images that pixels tell linearly: its directions, uncorrelated.

    Some of the images say which directions these are, at 16 x 16 pixels.
    """
    spot, few = device_of(place.device), np.random.default_rng(1).permutation(len(codes))[:LOOKED_AT]
    with place.training():
        parts = np.split(few, range(_DRAWN, len(few), _DRAWN))
        shown = torch.cat([coarse(pictures.images(spot, at)) for at in parts])
    part = linear_part(torch.from_numpy(codes[few].astype(float)).to(spot), shown)
    return codes @ part.cpu().numpy()


def levels(components: np.ndarray, n_values: int = 10) -> np.ndarray:
    """Return the number of the value that each component is nearest to, of as many as codes of `QLAE` have.

    The values of a component are its own, by k-means in one dimension.

    Examples
    --------
    >>> levels(np.array([[0.0], [0.1], [5.0], [5.2]]), 2).T
    array([[0., 0., 1., 1.]])
    """
    nearest = KBinsDiscretizer(
        n_values, encode="ordinal", strategy="kmeans", subsample=20_000, random_state=0
    )
    return nearest.fit_transform(components)


def entropy(codes: np.ndarray) -> float:
    """Return the sum of the entropies of columns that were brought to unit variance.

    Examples
    --------
    >>> two = np.random.default_rng(0).uniform(size=(10_000, 2))
    >>> bool(entropy(two) < entropy(two @ [[1, 1], [1, -1]]))
    True

    References
    ----------
    Comon (1994), Independent component analysis, a new concept?, Eq. (2.14); Vasicek (1976), A test for
    normality based on sample entropy.
    """
    return float(differential_entropy((codes - codes.mean(0)) / codes.std(0)).sum())


def reference_codes(row: str, pictures: Pictures, n_codes: int, seed: int, place: Place) -> np.ndarray:
    """Return codes of all images that no network learned, as many columns as a model would have.

    Parameters
    ----------
    row : {"pixel PCA + ICA", "random rotation of the truth", "noise"}
    pictures : Pictures
    n_codes : int
    seed : int
    place : Place

    Returns
    -------
    array of shape (n_images, n_codes)
    """
    rng = np.random.default_rng(seed)
    if row == NOISE:
        return rng.normal(size=(len(pictures.rows), n_codes))
    if row == PIXELS:
        with place.training():
            codes = pixel_components(drawn(pictures, place), n_codes)
        return independent(codes, seed, place.device, rtol=1e-6)
    factors = pictures.data.factors[pictures.rows].astype(float)
    white = (factors - factors.mean(0)) / factors.std(0)
    return rotated(np.pad(white, ((0, 0), (0, max(0, n_codes - white.shape[1])))), seed)
