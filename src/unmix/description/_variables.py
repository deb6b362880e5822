"""The observed variables that a latent moves most, with sign and size."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

BOTH_WAYS = 0.5  # of the mean size of a slope: a mean slope below this is up here and down there


@dataclass(frozen=True)
class Variable:
    """An observed variable and how much of it a latent moves.

    Attributes
    ----------
    name : str
    size : float
        Change in standard deviations of the variable where the latent rises by one of its own.
    steady : bool
        Whether it is moved the same way everywhere; if not, the sign of `size` is that of the mean.
    """

    name: str
    size: float
    steady: bool = True

    @property
    def sign(self) -> str:
        """Plus, minus, or both."""
        return sign_of(self.size) if self.steady else "±"

    def __str__(self) -> str:
        return f"{self.sign}{self.name} {abs(self.size):.2f}"


def sign_of(value: float) -> str:
    """Return plus or minus, as it is printed.

    >>> sign_of(-0.3)
    '−'
    """
    return "−" if value < 0 else "+"


def strongest(
    loadings: np.ndarray, names: Sequence[str], *, most: int = 5, steadiness: np.ndarray | None = None
) -> tuple[tuple[Variable, ...], ...]:
    """Return for each latent the variables that it moves most, the strongest first.

    Parameters
    ----------
    loadings : array of shape (n_observed, n_latents)
        In standard deviations of variable and latent.
    names : sequence of str
    most : int
    steadiness : array of shape (n_observed, n_latents), optional
        The size of the mean slope over the mean size of slopes: 1 where a variable always goes the same way.

    Returns
    -------
    tuple of tuples of Variable

    Examples
    --------
    >>> [str(each) for each in strongest([[0.1], [-0.9], [0.4]], ["a", "b", "c"], most=2)[0]]
    ['−b 0.90', '+c 0.40']
    """
    values = np.asarray(loadings, dtype=float)
    steady = np.ones(values.shape, bool) if steadiness is None else np.asarray(steadiness) >= BOTH_WAYS
    order = np.argsort(-np.abs(values), axis=0, kind="stable")[:most]
    return tuple(
        tuple(Variable(str(names[i]), float(values[i, j]), bool(steady[i, j])) for i in order[:, j])
        for j in range(values.shape[1])
    )
