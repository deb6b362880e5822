"""What plain, usual and thorough fits of diverse dictionaries do: batches, updates and widths."""

from dataclasses import replace
from functools import partial
from inspect import signature
from typing import Any

from unmix.nn import residual_mlp
from unmix.training import Pace

from ._latent_estimator import Factory

EFFORTS = ("plain", "usual", "thorough")
FEW_ROWS, _BATCHES, _SMALLEST, LONG = 2000, 10, 50, 100  # few rows go in at least ten batches, in long fits
ENOUGH = 1000  # rows from which bends are followed by terms of their own
# of a thorough fit: starts and width of networks; passes; searches for coordinates; least updates
MORE, PASSES, SEARCHES, _UPDATES = 2, 1.25, 2, 5000
AUTOENCODER = {False: 1000, True: 2000}  # updates, in usual and in thorough fits
_SMOOTH: dict[str, Any] = {"hidden": (128, 128), "activation": "silu"}
# passes of smooth networks, with 5,000 rows and more and with fewer, and learning rate, in those asked for
_SHORTER, _SHORTEST, _MANY_ROWS, _FASTER = 0.4, 0.25, 5000, 4
_ORTHOGONAL = 20  # learning rate of matrices whose steps are orthogonal, in that of the others
_SMALLEST_SMOOTH, _UPDATES_SMOOTH = 150, 1600


def for_few(pace: Pace, n_samples: int) -> Pace:
    """Take smaller batches of few rows, which would else have too few updates; short fits stay short.

    >>> pace = Pace(200, 500, 1e-3, 0)
    >>> [for_few(pace, n).batch_size for n in (10_000, 2000, 500, 60)]
    [500, 500, 50, 50]
    """
    if n_samples >= FEW_ROWS or pace.max_iter < LONG:
        return pace
    return replace(pace, batch_size=min(pace.batch_size, max(_SMALLEST, n_samples // _BATCHES)))


def updated_often(pace: Pace, n_samples: int) -> Pace:
    """Take batches so small that there are 5,000 updates, but of 50 rows at least; short fits stay short.

    >>> pace = Pace(250, 500, 1e-3, 0)
    >>> [updated_often(pace, n).batch_size for n in (20_000, 10_000, 2000, 500)]
    [500, 500, 100, 50]
    """
    if pace.max_iter < LONG:
        return pace
    batch = max(_SMALLEST, n_samples * pace.max_iter // _UPDATES)
    return replace(pace, batch_size=min(pace.batch_size, batch))


def for_smooth(pace: Pace, n_samples: int, *, thorough: bool = False) -> Pace:
    """Take larger, orthogonal steps in two fifths of the passes, and batches of 1,600 updates, or 150 rows.

    With fewer rows what comes before counts for more, so that usual fits save some passes.

    >>> pace = Pace(200, 500, 1e-3, 0)
    >>> [(for_smooth(pace, n).batch_size, for_smooth(pace, n).steps(n)) for n in (20_000, 10_000, 5000, 2500)]
    [(500, 3200), (500, 1600), (250, 1600), (150, 850)]
    """
    share = _SHORTER if thorough or n_samples >= _MANY_ROWS else _SHORTEST
    passes = round(share * pace.max_iter)
    batch = min(pace.batch_size, max(_SMALLEST_SMOOTH, n_samples * passes // _UPDATES_SMOOTH))
    return replace(
        pace, max_iter=passes, batch_size=batch, lr=_FASTER * pace.lr, matrix_lr=_ORTHOGONAL * pace.lr
    )


def wider(factory: Factory) -> Factory:
    """Return networks with hidden layers twice as wide, where they are `residual_mlp`; else as they are."""
    if not is_residual(factory):
        return factory
    given = _given(factory)
    hidden = given.get("hidden", signature(residual_mlp).parameters["hidden"].default)
    return partial(residual_mlp, **given | {"hidden": tuple(MORE * width for width in hidden)})


def smooth(factory: Factory) -> Factory:
    """Return `residual_mlp` with smooth units, 128 in each layer, but for what is given.

    >>> smooth(partial(residual_mlp, hidden=(32,))).keywords
    {'hidden': (32,), 'activation': 'silu'}
    """
    return partial(residual_mlp, **_SMOOTH | _given(factory))


def is_residual(factory: Factory) -> bool:
    """Whether networks are `residual_mlp`, with any arguments."""
    return (factory.func if isinstance(factory, partial) else factory) is residual_mlp


def has_plain_skip(factory: Factory) -> bool:
    """Whether networks are `residual_mlp` with a plain linear map, which can start anywhere."""
    return is_residual(factory) and _given(factory).get("linear", "plain") == "plain"


def _given(factory: Factory) -> dict[str, Any]:
    return factory.keywords if isinstance(factory, partial) else {}
