"""Two ways to the rotation that makes white data independent: the fixed point and a quasi-Newton method."""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

_FLOOR = 0.01  # of the curvature of a plane, so that nearly Gaussian pairs do not turn wildly
_MEMORY = 7
_TURN = 0.5  # radians that a component may turn in one step: beyond, slopes say nothing about the way there
_PATIENCE = 10  # passes without more non-Gaussianity, after which planes of Gaussian pairs are left alone

Moments = tuple[Tensor, Tensor]  # E[g(y) y^T] and E[g'(y)]
Evaluate = Callable[[Tensor], Moments]
Label = Callable[[Tensor], Tensor]


class Point(NamedTuple):
    """A rotation, and the sign-adjusted gradient and curvature of the contrast there."""

    rotation: Float[Tensor, "z z"]
    cross: Float[Tensor, "z z"]
    excess: Float[Tensor, " z"]

    @property
    def signs(self) -> Float[Tensor, " z"]:
        """+1 for super-Gaussian components, -1 for sub-Gaussian ones (log cosh)."""
        return torch.where(self.excess < 0, -1.0, 1.0).to(self.excess)

    def gradient(self, signs: Tensor | None = None) -> Float[Tensor, "z z"]:
        """Return the skew part of diag(s) E[g(y) y^T], which vanishes at the fixed points of FastICA."""
        signed = (self.signs if signs is None else signs)[:, None] * self.cross
        return (signed - signed.T) / 2

    @property
    def curvature(self) -> Float[Tensor, "z z"]:
        """Return (|a_i| + |a_j|) / 2, the curvature of each plane when components are independent."""
        size = self.excess.abs()
        return (size[:, None] + size) / 2


class Solution(NamedTuple):
    """Where a solver stopped, the largest gradient at each pass, and which components settled."""

    point: Point
    gradients: tuple[float, ...]
    settled: Bool[Tensor, " z"]


class Goal:
    """When to stop: no gradient above `tol`, save between components that look Gaussian and keep turning.

    Those are left alone only once the total non-Gaussianity has stopped growing: at a random rotation, where
    a solver starts, every component looks Gaussian.
    """

    def __init__(self, tol: float, label: Label) -> None:
        self.tol, self.label = tol, label
        self.gradients: list[float] = []
        self.totals: list[float] = []
        self.stalled = False
        self.aside: Tensor | None = None

    def reached(self, point: Point) -> bool:
        """Record a pass, and say whether it was the last one needed."""
        self.gradients.append(float(point.gradient().abs().max()))
        self.totals.append(float(point.excess.abs().sum()))
        before, lately = self.totals[:-_PATIENCE], self.totals[-_PATIENCE:]
        if not self.stalled and before and max(lately) <= 1.01 * max(before):
            flat = self.label(point.excess)
            self.stalled, self.aside = True, flat[:, None] & flat
        return bool(self.settled(point).all())

    def relevant(self, planes: Float[Tensor, "z z"]) -> Float[Tensor, "z z"]:
        """Return values of planes with 0 for those that are left alone."""
        return planes if self.aside is None else planes.masked_fill(self.aside, 0)

    def settled(self, point: Point) -> Bool[Tensor, " z"]:
        """Mark the components without a gradient."""
        return (self.relevant(point.gradient()).abs() <= self.tol).all(1)

    def solution(self, point: Point) -> Solution:
        """Return the point with what was recorded on the way to it."""
        return Solution(point, tuple(self.gradients), self.settled(point))


def evaluate_at(evaluate: Evaluate, rotation: Tensor) -> Point:
    """Pass over the data once."""
    cross, slope = evaluate(rotation)
    return Point(rotation, cross, slope - cross.diagonal())


def fixed_point(evaluate: Evaluate, start: Float[Tensor, "z z"], goal: Goal, *, max_iter: int) -> Solution:
    """Iterate W <- (M M^T)^{-1/2} M with M = E[g(Wx) x^T] - diag(E[g'(Wx)]) W, all rows at once.

    References
    ----------
    Hyvärinen (1999), Fast and robust fixed-point algorithms for independent component analysis, Eq. (21)
    and (26).
    """
    point = evaluate_at(evaluate, start)
    while not goal.reached(point) and len(goal.gradients) < max_iter:
        point = evaluate_at(evaluate, _fixed_point_step(point, goal))
    return goal.solution(point)


def _fixed_point_step(point: Point, goal: Goal) -> Tensor:
    # M = (E[g(y) y^T] - diag E[g'(y)]) W, since x = W^T y; rows keep their signs, so that steps are small
    beside = point.cross - torch.diag(point.cross.diagonal())
    step = polar(torch.diag(point.excess) - goal.relevant(beside))
    return (point.signs[:, None] * step) @ point.rotation


def quasi_newton(evaluate: Evaluate, start: Float[Tensor, "z z"], goal: Goal, *, max_iter: int) -> Solution:
    """Descend on sum_i s_i E[G(y_i)] over rotations, with limited memory and a curvature known beforehand.

    Steps are W <- exp(P) W with P skew. Far from the solution, where components would turn by more than half
    a radian, the fixed point is quicker, and its steps are taken as long as they lead on. Of a step only the
    slope at its end is looked at, which must not be steeply uphill: each try costs one pass, the same that
    gives the next gradient.

    References
    ----------
    Ablin, Cardoso, Gramfort (2018), Faster ICA under orthogonal constraint, arXiv:1711.10873.
    """
    point = evaluate_at(evaluate, start)
    memory: deque[tuple[Tensor, Tensor]] = deque(maxlen=_MEMORY)
    while not goal.reached(point) and len(goal.gradients) < max_iter:
        gradient = goal.relevant(point.gradient())
        direction = goal.relevant(_direction(gradient, point.curvature, memory))
        if _turn(direction) > _TURN and not goal.stalled:
            memory.clear()
            point = evaluate_at(evaluate, _fixed_point_step(point, goal))
            continue
        direction *= min(1.0, _TURN / _turn(direction))
        step, following = _line_search(evaluate, point, direction)
        change = goal.relevant(following.gradient(point.signs)) - gradient
        if not torch.equal(following.signs, point.signs):
            memory.clear()  # the objective is another one now
        elif float((change * direction).sum()) > 0:
            memory.append((step * direction, change))
        point = following
    return goal.solution(point)


def _direction(gradient: Tensor, curvature: Tensor, memory: deque[tuple[Tensor, Tensor]]) -> Tensor:
    """Return the direction of limited-memory BFGS; without memory it is Newton's, plane by plane."""
    q, scales = gradient, []
    for s, y in reversed(memory):
        scales.append((s * q).sum() / (s * y).sum())
        q = q - scales[-1] * y
    r = q / curvature.clamp_min(_FLOOR)
    for (s, y), scale in zip(memory, reversed(scales), strict=True):
        r = r + s * (scale - (y * r).sum() / (s * y).sum())
    if float((r * gradient).sum()) > 0:
        return -r
    memory.clear()
    return -gradient / curvature.clamp_min(_FLOOR)


def _turn(direction: Tensor) -> float:
    """Return the largest angle by which a component turns."""
    return float(direction.norm(dim=1).max())


def _line_search(evaluate: Evaluate, point: Point, direction: Tensor) -> tuple[float, Point]:
    """Shorten the step by the secant rule until the slope at its end is at most 0.9 of the first, uphill."""
    downhill = float((point.gradient() * direction).sum())
    step = 1.0
    for _ in range(10):
        turn = torch.linalg.matrix_exp(step * direction)
        following = evaluate_at(evaluate, turn @ point.rotation)
        uphill = float((following.gradient(point.signs) * direction).sum())
        if uphill <= -0.9 * downhill:
            break
        step *= max(0.1, downhill / (downhill - uphill))
    return step, following


def polar(matrix: Float[Tensor, "z z"]) -> Float[Tensor, "z z"]:
    """Return the orthogonal factor (M M^T)^{-1/2} M, by the iteration X <- (3 X - X X^T X) / 2.

    It needs nothing but products, which every device is quick at; a matrix too near to a singular one for it
    is decomposed instead.

    References
    ----------
    Björck, Bowie (1971), An iterative algorithm for computing the best estimate of an orthogonal matrix.
    """
    x = matrix / (matrix.abs().sum(0).max() * matrix.abs().sum(1).max()).sqrt()  # at least the spectral norm
    eye = torch.eye(len(x), dtype=x.dtype, device=x.device)
    for _ in range(40):
        gram = x @ x.T
        if float((gram - eye).abs().max()) < 1e-13 * len(x):
            return x
        x = 1.5 * x - 0.5 * (gram @ x)
    left, _, right = torch.linalg.svd(matrix)
    return left @ right
