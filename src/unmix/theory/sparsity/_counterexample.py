"""Explicit second models: same data, same structure, other latents."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from unmix.structure import Structure

from .._certificate import positions
from ._certify import certify

_BEND = 0.3  # slopes stay within 0.7 and 1.3, so that the matched latent dominates every Jacobian


@dataclass(frozen=True, eq=False)
class Counterexample:
    """Two models of the same data and structure that disagree about a latent; see `counterexample`.

    Both have the observed variables `mix(z) = mix_hat(z_hat)`, with `z_hat = estimate(z)`, and both densities
    are positive. The true latents are independent standard normals.

    Attributes
    ----------
    structure : Structure
    i, j : int
        z_i depends on the estimate of z_j.
    kind : str
        "shear" (z_i = ẑ_i + ẑ_j), "rotation" (of z_i and z_j by 45 degrees) or "turn" (of z_i and `partner`
        by an angle of ẑ_j).
    independent_latents : bool
        Whether the estimated latents are independent standard normals as well.
    partner : int
        The other latent of the plane in which the latents are turned; j for a shear.
    numbers : Structure
        One row for each observed number. Observed variables are repeated, as groups of numbers, where that is
        needed for the mixing to be injective.
    """

    structure: Structure
    i: int
    j: int
    kind: str
    independent_latents: bool
    partner: int
    numbers: Structure
    weights: np.ndarray = field(repr=False)
    frequencies: np.ndarray = field(repr=False)
    phases: np.ndarray = field(repr=False)

    def mix(self, z: ArrayLike) -> np.ndarray:
        """Return x of shape (n, numbers): x_r = sum_j w_rj (z_j + 0.3 sin(a_rj z_j + b_rj) / a_rj)."""
        z = np.asarray(z)[:, None, :]
        bent = z + _BEND * np.sin(self.frequencies * z + self.phases) / self.frequencies
        return np.asarray((self.weights * bent).sum(-1))

    def jacobian(self, z: ArrayLike) -> np.ndarray:
        """Return dx/dz of shape (n, numbers, latents)."""
        slopes = 1 + _BEND * np.cos(self.frequencies * np.asarray(z)[:, None, :] + self.phases)
        return np.asarray(self.weights * slopes)

    def mix_hat(self, z_hat: ArrayLike) -> np.ndarray:
        """Return x from the estimated latents."""
        return self.mix(self.latents(z_hat))

    def jacobian_hat(self, z_hat: ArrayLike) -> np.ndarray:
        """Return dx/dẑ of shape (n, numbers, latents), by the chain rule."""
        return self.jacobian(self.latents(z_hat)) @ self.mixing(z_hat)

    def latents(self, z_hat: ArrayLike) -> np.ndarray:
        """Return z from the estimated latents."""
        return self._turned(np.array(z_hat, dtype=float), 1)

    def estimate(self, z: ArrayLike) -> np.ndarray:
        """Return the estimated latents from z."""
        return self._turned(np.array(z, dtype=float), -1)

    def mixing(self, z_hat: ArrayLike) -> np.ndarray:
        """Return dz/dẑ of shape (n, latents, latents); its determinant is 1."""
        z_hat = np.asarray(z_hat, dtype=float)
        found = np.tile(np.eye(z_hat.shape[1]), (len(z_hat), 1, 1))
        if self.kind == "shear":
            found[:, self.i, self.j] = 1.0
            return found
        i, k, cos, sin = self.i, self.partner, *self._angles(z_hat)
        found[:, i, i], found[:, i, k], found[:, k, i], found[:, k, k] = cos, sin, -sin, cos
        if self.kind == "turn":
            found[:, i, self.j] = -sin * z_hat[:, i] + cos * z_hat[:, k]
            found[:, k, self.j] = -cos * z_hat[:, i] - sin * z_hat[:, k]
        return found

    def log_density(self, z: ArrayLike) -> np.ndarray:
        """Return log p(z), of independent standard normals."""
        z = np.asarray(z)
        return np.asarray(-0.5 * (z**2 + np.log(2 * np.pi)).sum(1))

    def log_density_hat(self, z_hat: ArrayLike) -> np.ndarray:
        """Return the log density of estimated latents, by the change of variables (determinant 1)."""
        return self.log_density(self.latents(z_hat))

    def __str__(self) -> str:
        how = {
            "shear": f"z{self.i} = ẑ{self.i} + ẑ{self.j}",
            "rotation": f"z{self.i} and z{self.j} are ẑ{self.i} and ẑ{self.j} turned by 45 degrees",
            "turn": f"z{self.i} and z{self.partner} are their estimates turned by the angle ẑ{self.j}",
        }[self.kind]
        law = "independent" if self.independent_latents else "dependent"
        return f"Same data, same structure, {law} estimated latents: {how}."

    def _turned(self, points: np.ndarray, sign: int) -> np.ndarray:
        if self.kind == "shear":
            points[:, self.i] += sign * points[:, self.j]
            return points
        cos, sin = self._angles(points)
        a, b = points[:, self.i].copy(), points[:, self.partner].copy()
        points[:, self.i], points[:, self.partner] = cos * a + sign * sin * b, cos * b - sign * sin * a
        return points

    def _angles(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """ẑ_j = z_j for a turn, so that the angle is the same both ways."""
        angle = points[:, self.j] if self.kind == "turn" else np.full(len(points), np.pi / 4)
        return np.cos(angle), np.sin(angle)


def counterexample(
    structure: Structure, i: int, j: int, *, independent_latents: bool = False, random_state: int = 0
) -> Counterexample:
    """Build a second model of the same data and structure in which z_i depends on the estimate of z_j.

    There is one for every pair that `certify` does not separate. If latents may be dependent it is a shear.
    If they are independent, latents with the same children are turned by 45 degrees, and two latents with
    the same children below z_j by the angle z_j.

    Parameters
    ----------
    structure : Structure
    i, j : int
        Latents with `certify(structure, ...).may_depend[i, j]`, and i not j.
    independent_latents : bool
        Keep the estimated latents independent, too.
    random_state : int
        Seed of the weights of the mixing.

    Returns
    -------
    Counterexample

    Examples
    --------
    >>> second = counterexample(Structure([[1, 1], [0, 1]]), 0, 1)
    >>> print(second)
    Same data, same structure, dependent estimated latents: z0 = ẑ0 + ẑ1.
    >>> z = np.random.default_rng(0).normal(size=(5, 2))
    >>> bool(np.allclose(second.mix(z), second.mix_hat(second.estimate(z))))
    True

    References
    ----------
    Zheng et al. (2026), Diverse dictionary learning, Definition 5, arXiv:2604.17568, whose case (ii) does not
    follow where children are nested.
    """
    certificate = certify(structure, independent_latents=independent_latents)
    _check_pair(certificate.may_depend, i, j)
    same = structure.support[:, i] == structure.support[:, j]
    others = [k for k in structure.atoms()[structure.influence(i)] if k not in (i, j)]
    kind = "shear" if not independent_latents else "rotation" if same.all() else "turn"
    partner = others[0] if kind == "turn" else j
    numbers = _injective(structure)
    return Counterexample(
        structure,
        int(i),
        int(j),
        kind,
        independent_latents,
        partner,
        numbers,
        **_mixing(numbers, random_state),
    )


def _mixing(numbers: Structure, seed: int) -> dict[str, Any]:
    """Draw a mixing whose Jacobian is dominated, everywhere, by a matching of latents and numbers.

    Matched entries are at least 0.7, and the others of a row add up to less: so the mixing is injective.
    """
    rng = np.random.default_rng(seed)
    parents = numbers.support.sum(1, keepdims=True)
    small = (
        rng.uniform(0.25, 0.5, numbers.shape) * rng.choice([-1, 1], numbers.shape) / np.maximum(parents, 1)
    )
    weights = np.where(numbers.support, small, 0.0)
    rows = maximum_bipartite_matching(csr_array(numbers.support), perm_type="row")
    weights[rows, np.arange(numbers.n_latents)] = 1.0
    return {
        "weights": weights,
        "frequencies": rng.uniform(0.7, 1.5, numbers.shape),
        "phases": rng.uniform(-np.pi, np.pi, numbers.shape),
    }


def _injective(structure: Structure) -> Structure:
    """Repeat the observed variables until every latent can have a number of its own."""
    copies = (np.tile(structure.support, (k, 1)) for k in range(1, structure.n_latents + 1))
    return next(numbers for numbers in map(Structure, copies) if numbers.is_injective())


def _check_pair(may_depend: np.ndarray, i: int, j: int) -> None:
    n = len(may_depend)
    positions((i, j), "i, j")
    for name, index in (("i", i), ("j", j)):
        if not 0 <= index < n:
            raise ValueError(f"`{name}` must be a latent from 0 to {n - 1}, got {index}.")
    if i == j:
        raise ValueError(f"`i` and `j` must be two latents, got {i} twice. Name another one.")
    if not may_depend[i, j]:
        raise ValueError(
            f"`i` and `j` must not be separated, got z{i}, which never depends on the estimate of z{j}. "
            "No second model exists: see `certify(structure).may_depend`."
        )
