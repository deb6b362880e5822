"""The search for the number of latents: bottlenecks of few widths, compared on rows they have not seen."""

from functools import cached_property

import numpy as np
import torch

from ._bottleneck import bottleneck, narrowing
from ._factors import FLOOR, factors
from ._number import ENOUGH, NEXT, RESOLUTION, SURE, Number, Trial, shortest
from ._witnesses import agreed

MOST = 30
_ROWS = 10_000
_HELD_OUT = 0.2
_FEWEST = 10  # different rows
_PATIENCE = 4  # narrower bottlenecks that encode worse than the best so far, before the search ends
SHARP = 0.3  # nats that the last linear latent saves where they end sharply; further ones a fifteenth of it
GAP, LEAD, OPEN, LEFT = 2.0, 2.0, 1.5, 0.3  # see `_Search.gap`
_WALK = 4  # bent bottlenecks from starts of their own, at most
_MOST_COLUMNS = 2000  # of tables with fewer rows than columns


def find_number(x: np.ndarray, *, most: int = MOST, seed: int = 0) -> Number:
    """Find how many latents a table of finite numbers has, of at most `most`.

    Factor analysis of every width up to `most`, which is linear and gives each variable noise of its own, and
    variational autoencoders, which may bend, encode rows that were held out. A latent counts if it saves 0.1
    nats in each of them. The widest autoencoder silences the latents it does not need; from what is left one
    after the other is taken out, and training goes on, so that widths are compared within one history. A few
    around the best start anew. A tie goes to fewer latents. Where factor analysis ends sharply, or the
    eigenvalues of the correlations have one gap that is twice any other, that decides alone. Where nothing
    else stops, or bent latents hold more linear ones, what eigenvalues and factor analysis agree on counts;
    and nothing does where the same columns, each shuffled, are encoded as well.

    Parameters
    ----------
    x : array of shape (n_rows, n_features)
        At most 10,000 different rows are used. Shift and scale of columns, the order of rows and rows that
        repeat others change nothing.
    most : int
    seed : int

    Returns
    -------
    Number

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.laplace(size=(500, 2)) @ rng.normal(size=(2, 6)) + 0.1 * rng.normal(size=(500, 6))
    >>> find_number(x, most=3).n_latents
    2

    References
    ----------
    Dai and Wipf (2019), Diagnosing and enhancing VAE models, Theorem 5, arXiv:1903.05789.
    """
    if len(x) < x.shape[1] > _MOST_COLUMNS:
        raise ValueError(
            f"`n_components` must be an integer where rows are fewer than columns, got {len(x):,} rows and "
            f"{x.shape[1]:,} columns: so few rows do not tell where latents end. Name the number, or choose "
            "fewer columns."
        )
    rows = rows_of(x, seed)
    if len(rows) < _FEWEST:
        raise ValueError(
            f"`n_components` must be an integer where fewer than {_FEWEST} rows differ, got {len(rows)} of "
            "them. Name the number, or bring more rows."
        )
    search = _Search(rows, min(most, x.shape[1] - 1), seed)
    search.linear()
    if ends := search.sharp or search.gap(LEAD):
        search.start(ends)  # which tells whether the mixing bends
    else:
        search.narrow()
        search.walk()
    return search.number()


class _Search:
    """Trials so far, with the code length of each held-out row."""

    def __init__(self, rows: np.ndarray, most: int, seed: int) -> None:
        n_held = max(1, round(_HELD_OUT * len(rows)))
        self.held_out, self.rows = rows[:n_held], rows[n_held:]
        self.most, self.seed = most, seed
        self.lengths: dict[Trial, np.ndarray] = {}
        self.started: set[int] = set()

    def linear(self) -> None:
        """Try factor analysis at every width."""
        covariance = self.rows.T @ self.rows / len(self.rows)
        for n in range(self.most + 1):
            self._keep(n, n, factors(covariance, n).lengths(self.held_out), bent=False)

    def narrow(self) -> None:
        """Try bent bottlenecks from the widest on, until several in turn encode worse than the best."""
        best, idle = np.inf, 0
        tables = _tensors(self.rows, self.held_out)
        for n, found in narrowing(*tables, self.most, seed=self.seed) if self.most else ():
            trial = self._keep(n, found.n_active, found.lengths, bent=True)
            cost = trial.length + RESOLUTION * trial.n_latents
            best, idle = (cost, 0) if cost < best else (best, idle + 1)
            if idle == _PATIENCE:
                return

    def walk(self) -> None:
        """Try bent bottlenecks from starts of their own: the best number so far and its neighbours."""
        for _ in range(_WALK if self.most else 0):
            near = (n + step for n in (self._best(), self._fewest()) for step in (0, -1, 1))
            n = next((n for n in near if 1 <= n <= self.most and n not in self.started), None)
            if n is None:
                return
            self.start(n)

    def start(self, n: int) -> None:
        """Try a bent bottleneck from a start of its own."""
        self.started.add(n)
        found = bottleneck(*_tensors(self.rows, self.held_out), n, seed=self.seed)
        self._keep(n, found.n_active, found.lengths, bent=True)

    @cached_property
    def sharp(self) -> int:
        """The latents of factor analysis where they end sharply, else 0.

        Then latents are as many, bent or not: one that bends may save a latent of a linear mixing by folding
        it into another, and what bends asks for more and more linear latents.
        """
        linear = [each.length for each in shortest(self.lengths).values()]
        gains = -np.diff(linear)
        n = int(max(np.flatnonzero(gains > NEXT), default=-1)) + 1
        ends = n > 0 and gains[n - 1] >= SHARP and (gains[n:] <= SHARP / 15).all()
        return n if ends and not self._at_edge(n) else 0

    def gap(self, lead: float) -> int:
        """Return after how many eigenvalues of the correlations there is a gap that tells alone, else 0.

        Their largest ratio must be at least 2 and `lead` times the next, and leave less than 30% of the
        variance behind: a common factor has a gap behind it, too, and does not end the latents. On worlds
        for development a lead of 2 was right in 205 of 208 cases, one of 1.5 in 240 of 247; the latter counts
        where else nothing would stop.
        """
        values = np.linalg.eigvalsh(np.corrcoef(self.rows, rowvar=False))[::-1] if self.most else np.ones(1)
        few = np.maximum(values[: self.most + 1], FLOOR)
        ratios = np.append(few[:-1] / few[1:], 1.0)
        n = int(ratios.argmax()) + 1
        clear = ratios[n - 1] >= max(GAP, lead * np.delete(ratios, n - 1).max(initial=1.0))
        return n if clear and values[n:].sum() <= LEFT * values.sum() and not self._at_edge(n) else 0

    def number(self) -> Number:
        """Take the fewest latents that encode as well as the best, and see whether they end there."""
        told = self.sharp or self.gap(LEAD)
        if not told and self._alone():
            return self._ended(0, 0)
        found = self._ended(told or self._fewest(), told)
        n = found.n_latents
        weaker = 0 if told else self.gap(OPEN) or self._agreed() if n is None else self._agreed()
        return self._ended(weaker, weaker) if weaker > (n or 0) else found

    def _agreed(self) -> int:
        """Return the number that eigenvalues and linear latents agree on, else 0."""
        linear = [length.mean() for trial, length in self.lengths.items() if not trial.bent]
        n = agreed(self.rows, -np.diff(linear)) if self.most else 0
        return n if n and not self._at_edge(n) else 0

    def _alone(self) -> bool:
        """Whether latents save as much where nothing is shared: in the table with each column shuffled.

        A latent of its own may encode the law of a single variable better than a Gaussian does.
        """
        if not (n := self._fewest()):
            return False
        rows = np.concatenate([self.held_out, self.rows])
        mixed = np.random.default_rng(self.seed).permuted(rows, axis=0)
        held_out, rows = mixed[: len(self.held_out)], mixed[len(self.held_out) :]
        found = bottleneck(*_tensors(rows, held_out), n, seed=self.seed)
        without = 0.5 * np.square(held_out).sum(1).mean()
        beyond = self._gain(0, n) - (without - float(found.lengths.mean()))
        return bool(beyond <= max(RESOLUTION * n, SURE * self._error(0, n)))

    def _ended(self, n: int, told: int) -> Number:
        """Return what is known of n latents; whether they end there, unless that is told already."""
        gain, error = (self._gain(n - 1, n), self._error(n - 1, n)) if n else (0.0, 0.0)
        after = self._gain(n, n + 1)
        stops = n > 0 and not self._at_edge(n) and gain >= max(RESOLUTION, SURE * error)
        stops = bool(told) or (stops and after <= NEXT and self._surely_little(n, gain))
        rows = (len(self.rows) + len(self.held_out), len(self.held_out))
        return Number(n if stops else None, n, self.most, gain, error, after, tuple(self.lengths), *rows)

    def _at_edge(self, n: int) -> bool:
        """Whether an end can't be told from the limit, of the search or of the table."""
        return n >= (self.most if self.most == self.rows.shape[1] - 1 else ENOUGH * self.most)

    def _surely_little(self, n: int, gain: float) -> bool:
        """Whether one more latent would save little, also where the rows are unlucky."""
        error = self._error(n, n + 1) if n + 1 in shortest(self.lengths) else 0.0
        return self._gain(n, n + 1) + SURE * error <= max(RESOLUTION, gain / 4)

    def _keep(self, n_allowed: int, n_latents: int, lengths: np.ndarray, *, bent: bool) -> Trial:
        trial = Trial(n_allowed, n_latents, float(lengths.mean()), bent)
        self.lengths[trial] = lengths
        return trial

    def _best(self) -> int:
        return min(shortest(self.lengths), key=self._cost)

    def _fewest(self) -> int:
        """Return the fewest latents within a standard error of the best number."""
        best = self._best()
        most = self._cost(best)
        return next(n for n in shortest(self.lengths) if self._cost(n) <= most + self._error(n, best))

    def _cost(self, n: int) -> float:
        return shortest(self.lengths)[n].length + RESOLUTION * n

    def _gain(self, n: int, m: int) -> float:
        """Return what m latents save against n; nothing where no trial uses m."""
        winners = shortest(self.lengths)
        return winners[n].length - winners[m].length if m in winners else 0.0

    def _error(self, n: int, m: int) -> float:
        """Return the standard error of that, paired over rows."""
        winners = shortest(self.lengths)
        apart = self.lengths[winners[n]] - self.lengths[winners[m]]
        return float(apart.std() / np.sqrt(len(apart)))


def _tensors(rows: np.ndarray, held_out: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    x, other = (torch.as_tensor(part, dtype=torch.float32) for part in (rows, held_out))
    return x, other


def rows_of(x: np.ndarray, seed: int) -> np.ndarray:
    """Return different rows of a table, standardised, in an order that does not depend on theirs."""
    rng = np.random.default_rng(seed)
    rows = np.asarray(x, dtype=np.float64)
    if len(rows) > _ROWS:
        rows = rows[rng.choice(len(rows), _ROWS, replace=False)]
    rows = rng.permutation(np.unique(rows, axis=0))
    return (rows - rows.mean(0)) / rows.std(0)
