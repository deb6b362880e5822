"""Pictures of balls (D.10 and D.11): how codes are found, and how they are scored ball by ball.

The paper trains a convolutional autoencoder to 128 features, then a perceptron from these to two codes for
each ball, then its second stage. What limits it is the first stage: positions mixed linearly are found again.
Ours is an autoencoder whose codes are points in the image, which are affine in what moves there. It is told
how many numbers a scene has, as the paper's is, and begins with four times as many, since a code without any
to spare gets stuck. A start that explains less than .95 of the variance of the pixels has lost a ball; others
are tried then, and the one that explains most is kept. No position takes part in any choice.

Scenes are drawn by the published recipe, with centres that need not be whole pixels. Codes are scored on
scenes that no stage has seen.
"""

from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from torch import Tensor

from unmix.data import balls
from unmix.estimators import Autoencoder, SparseBasis
from unmix.metrics import block_r2, r2
from unmix.nn import mlp, points_decoder, points_encoder, strided_decoder, strided_encoder
from unmix.training import device

from ...engine import RAW, ROTATION, Place
from .._references import rotated
from ._common import SECOND

BUDGETS = ("smoke", "laptop", "gpu")
POINTS, PUBLISHED, UNTRAINED = (
    "points, then the second stage",
    "convolutions and a perceptron, then the second stage",
    "points, not trained, then the second stage",
)
METHODS = (POINTS, PUBLISHED, UNTRAINED, SECOND, RAW, ROTATION)
PIXELS = {"smoke": 16, "laptop": 16, "gpu": 64}
SCENES = {"smoke": (80, 80), "laptop": (8000, 4000), "gpu": (20_000, 5000)}  # to fit, and to score
STEPS = {"smoke": 3, "laptop": 3000, "gpu": 7000}
STARTS, ENOUGH = {"smoke": 1, "laptop": 2, "gpu": 3}, 0.95  # another start where less variance is explained
FEATURES, PUBLISHED_STEPS = 128, {"smoke": (3, 3), "laptop": (1000, 1000), "gpu": (4000, 4000)}
_APART = 10_000  # between the seeds of starts
ANOTHER = "other scenes, drawn by the published recipe"


def codes_of(settings: dict[str, Any], seed: int, budget: str, place: Place) -> dict[str, np.ndarray]:
    """Draw scenes, fit, and return codes of scenes that no stage has seen, by stage, and their positions."""
    n_fit, n_fresh = SCENES[budget]
    scenes = {"n_balls": settings["n_balls"], "together": settings["together"], "size": PIXELS[budget]}
    data = balls(n_fit + n_fresh, random_state=seed, **scenes)
    positions = data.positions[n_fit:].reshape(n_fresh, -1)
    found = {"positions": positions, "resting": data.resting[n_fit:].reshape(n_fresh, -1)}
    method, n = settings["method"], positions.shape[1]
    if method == ROTATION:
        return found | {"code": rotated((positions - positions.mean(0)) / positions.std(0), seed)}
    spot = "cpu" if method in (RAW, SECOND) else device(place.device)
    images: Any = data.images
    with place.training():
        first = _fitted(method, n, seed, budget, place.device, images.rendered(slice(0, n_fit), spot))
        seen = [images.rendered(part, spot) for part in _parts(n_fit, n_fresh)]
        codes = [np.asarray(first.transform(part), float) for part in seen]
    if method == RAW:
        return found | {"code": codes[1]}
    second = SparseBasis(random_state=seed).fit(codes[0])
    return found | {"first": codes[1], "code": second.transform(codes[1])}


def _fitted(method: str, n: int, seed: int, budget: str, place: str, images: Tensor) -> Any:
    """Fit the first stage; one that loses a ball reconstructs badly, and another start is tried."""
    starts = [seed + _APART * start for start in range(STARTS[budget])] if method == POINTS else [seed]
    best, explained = None, -np.inf
    for start in starts:
        model = first_stage(method, n, start, budget, place).fit(images)
        found = model.score(images[: SCENES[budget][1]]) if len(starts) > 1 else 0.0
        if found > explained:
            best, explained = model, found
        if explained >= ENOUGH:
            break
    return best


def _parts(n_fit: int, n_fresh: int) -> tuple[slice, slice]:
    """Return rows for the second stage, and those that are scored."""
    return slice(0, min(n_fit, n_fresh)), slice(n_fit, n_fit + n_fresh)


def first_stage(method: str, n: int, seed: int, budget: str, place: str) -> Any:
    """Make what finds n numbers in an image, not fitted."""
    run: dict[str, Any] = {"device": place, "random_state": seed, "max_iter": 10**6}
    small: dict[str, Any] = {"batch_size": 16} if budget == "smoke" else {}
    if method == PUBLISHED:
        return _published(n, budget, run | small)
    if method in (POINTS, UNTRAINED):
        run |= {"max_steps": STEPS[budget]} if method == POINTS else {"max_steps": 2, "lr": 1e-12}
        run |= {"encoder": points_encoder, "decoder": points_decoder, "wide": 4 * n, "loss": "bernoulli"}
        return Autoencoder(n, **({"batch_size": 64} | run | small))
    flat = FunctionTransformer(_flat)
    return make_pipeline(flat, PCA(n, svd_solver="randomized", random_state=seed))


def _published(n: int, budget: str, run: dict[str, Any]) -> Pipeline:
    """Make the two networks of the paper: convolutional features, and the code of a perceptron."""
    first, then = PUBLISHED_STEPS[budget]
    strided: dict[str, Any] = {"encoder": partial(strided_encoder, dense=(256,)), "decoder": strided_decoder}
    hidden = tuple(25 * n * k for k in (1, 2, 2, 1))
    perceptron = partial(mlp, hidden=hidden, activation="leaky_relu")
    common: dict[str, Any] = {"batch_size": 256, "lr": 1e-3} | run
    return make_pipeline(
        Autoencoder(FEATURES, loss="bernoulli", max_steps=first, **strided, **common),
        Autoencoder(n, encoder=perceptron, decoder=perceptron, max_steps=then, **common),
    )


def _flat(images: Tensor) -> np.ndarray:
    return images.flatten(1).numpy().astype(np.float32) / 255


def ball_scores(positions: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return for each ball how well its codes follow from its position.

    The R² of each code given (x, y) of each ball, by a linear map that is fitted to other scenes; each ball
    then claims two codes, so that the sum is largest. Where x and y rest together no more than a ball's plane
    can be known, and any two directions of it are right.

    Parameters
    ----------
    positions : array of shape (n_scenes, 2 n_balls)
        x and y of the first ball, then of the next.
    codes : array of shape (n_scenes, n_codes)

    Returns
    -------
    array of shape (n_balls,)

    Examples
    --------
    >>> z = np.random.default_rng(0).normal(size=(200, 4))
    >>> ball_scores(z, np.column_stack([z[:, 2] + z[:, 3], z[:, 0], z[:, 1], z[:, 3]])).round(2)
    array([1., 1.])
    """
    n_balls = positions.shape[1] // 2
    planes = [(2 * ball, 2 * ball + 1) for ball in range(n_balls)]
    table = block_r2(_moving(codes), positions, code_blocks=planes, probe="linear").T.clip(0)
    return _claimed(np.repeat(table, 2, axis=0)).reshape(n_balls, 2).mean(1)


def coordinate_scores(positions: np.ndarray, codes: np.ndarray) -> tuple[float, float]:
    """Return the mean R² of codes given the coordinate that claims each, and the largest given another."""
    table = block_r2(_moving(codes), positions, probe="linear").T.clip(0)
    own = np.zeros(table.shape, dtype=bool)
    own[linear_sum_assignment(-table)] = True
    return float(_claimed(table).mean()), float(table[~own].max())


def explained_positions(positions: np.ndarray, codes: np.ndarray) -> float:
    """Return the R² of all positions given all codes: what is there, whatever the coordinates."""
    return r2(positions, codes)


def _moving(codes: np.ndarray) -> np.ndarray:
    """Leave out codes that never vary; one stands for all if none does."""
    kept = codes[:, np.ptp(codes, axis=0) > 0]
    return kept if kept.size else np.arange(len(codes), dtype=float)[:, None]


def _claimed(table: np.ndarray) -> np.ndarray:
    """Give each row another column, so that the sum is largest; rows without any get 0."""
    rows, columns = linear_sum_assignment(-table)
    scores = np.zeros(len(table))
    scores[rows] = table[rows, columns]
    return scores
