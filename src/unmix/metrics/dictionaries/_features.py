"""Which features of a sparse autoencoder come back in others: by their atoms, and by their codes."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._checks import unmasked
from ..alignment import Counterparts, replicate
from ..alignment._spans import subspaces
from ._atoms import Nearest, assigned, match, span
from ._census import census
from ._floor import participation_ratio, random_dictionary, unit
from ._result import FeatureReplication, Level

LEVEL = 0.05  # random atoms that do as well more often than this are no replication
_NULL, _LEAST = 2048, 512  # atoms of the reference that are compared with random ones: at most, at least


class _Rule(NamedTuple):
    """When an atom counts as found."""

    threshold: float
    most: int
    signed: bool


def replicate_features(
    dictionaries: Sequence[ArrayLike],
    codes: Sequence[Any] | None = None,
    *,
    names: Sequence[str] | None = None,
    covariance: ArrayLike | None = None,
    untrained: Sequence[ArrayLike] | None = None,
    threshold: float = 0.9,
    most: int = 4,
    signed: bool = True,
    random_state: int = 0,
    on_progress: Callable[[float], None] | None = None,
) -> FeatureReplication:
    """Say of each feature of the first dictionary whether the others have it: alone, in a subspace, or not.

    By atoms, a feature *replicates alone* where its atom and the nearest one elsewhere are each other's
    nearest with a cosine of at least `threshold`; *as part of a subspace* where a projection on a few atoms
    (`most`, chosen greedily) has that length; and random atoms in the directions of the data do as well in at
    most 5% of cases. By codes, as `replicate` has it, apart: dictionaries agree where codes do not, and the
    other way round. Agreement is not identification.

    Parameters
    ----------
    dictionaries : sequence of array-like of shape (n_features, n_observed)
        At least two, of any numbers of features; the first is the reference. Lengths do not matter.
    codes : sequence of sparse arrays of shape (n_samples, n_features), optional
        Of the same rows, one for each dictionary.
    names : sequence of str, optional
        What they are called.
    covariance : array-like of shape (n_observed, n_observed), optional
        Of the data, masked as in training: it sets the effective dimension, and so what random dictionaries
        score. Without it the second moments of the reference's atoms stand in.
    untrained : sequence of array-like, optional
        The dictionaries before training, by the same rule and seeds: what a shared beginning explains.
    threshold : float
        The cosine and the correlation to ask for.
    most : int
        How many atoms may span one. Any atom is in the span of many.
    signed : bool
        Whether opposite atoms are different features, as they are where codes are not negative.
    random_state : int
        Draws random atoms, and the rows held out.
    on_progress : callable, optional
        Is told the share of the work that is done.

    Returns
    -------
    FeatureReplication

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> first = rng.normal(size=(5, 40))
    >>> turned = first[1:3].T @ [[0.6, 0.8], [-0.8, 0.6]]
    >>> second = np.vstack([turned.T, 3 * first[0], first[4], rng.normal(size=(2, 40))])
    >>> found = replicate_features([first, second])
    >>> found.atoms[0].status.tolist()
    ['alone', 'subspace', 'subspace', 'none', 'alone']
    >>> found.atoms[0].partner[[0, 4]].tolist(), found.atoms[0].subspaces
    ([2, 3], (Subspace(latents=(1, 2), counterparts=(0, 1)),))
    >>> print(found.meaning)
    By atoms, of 5 features of run 1, 4 replicate in the other run (2 alone, 2 with the help ...

    References
    ----------
    Song et al. (2025), Position: mechanistic interpretability should prioritize feature consistency in sparse
    autoencoders, arXiv:2505.20254, for the mean cosine of assigned atoms. Paulo, Belrose (2025), Sparse
    autoencoders trained on the same data learn different features, arXiv:2501.16615. Pati et al. (1993),
    Orthogonal matching pursuit.
    """
    tables = _checked(dictionaries, names, codes, threshold, most)
    called = tuple(names) if names is not None else tuple(f"run {k + 1}" for k in range(len(tables)))
    spread = _spread(covariance, tables[0])
    rule = _Rule(threshold, most, signed)
    before = None if untrained is None else _before(untrained, tables)
    found, levels = [], []
    for k, (other, name) in enumerate(zip(tables[1:], called[1:], strict=True), start=1):
        chance = _random(len(tables[0]), len(other), spread, random_state + 1000 * k)
        found.append(_counterparts(tables[0], other, chance, name, rule))
        levels.append(_level(tables[0], other, chance, None if before is None else (before[0], before[k])))
        if on_progress is not None:
            on_progress(k / (len(tables) - 1) * (0.5 if codes is not None else 1.0))
    return FeatureReplication(
        names=called,
        sizes=tuple(map(len, tables)),
        n_observed=tables[0].shape[1],
        effective=participation_ratio(spread),
        threshold=threshold,
        atoms=tuple(found),
        levels=tuple(levels),
        codes=None if codes is None else _by_codes(codes, called, threshold, random_state, on_progress),
        census=None if codes is None else census(codes[0], tables[0]),
        notes=_notes(covariance, codes, untrained),
    )


def _random(n_first: int, n_second: int, spread: np.ndarray, seed: int) -> list[np.ndarray]:
    """Draw random dictionaries of the second's size, as many as make some hundreds of comparisons."""
    draws = max(1, -(-_LEAST // n_first))
    return [random_dictionary(n_second, spread, random_state=seed + k) for k in range(draws)]


def _by_chance(first: np.ndarray, chance: list[np.ndarray], rule: _Rule) -> tuple[np.ndarray, np.ndarray]:
    """Return the cosines with the best of random atoms, and the reach of spans of a few of them."""
    some = first[:: -(-len(first) // _NULL)]
    found = [match(some, each, signed=rule.signed) for each in chance]
    cosines = np.concatenate([each.cosine for each in found])
    pairs = zip(chance, found, strict=True)
    spans = [span(some, each, near.candidates, rule.most, rule.threshold).reach for each, near in pairs]
    return cosines if rule.signed else np.abs(cosines), np.concatenate(spans)


def _counterparts(
    first: np.ndarray, second: np.ndarray, chance: list[np.ndarray], name: str, rule: _Rule
) -> Counterparts:
    """Find single matches and spans, beside those among random atoms, and join atoms into subspaces."""
    matches = match(first, second, signed=rule.signed)
    value = matches.cosine if rule.signed else np.abs(matches.cosine)
    random_cosine, random_span = _by_chance(first, chance, rule)
    noise = _rate(value, random_cosine)
    alone = matches.mutual & (value >= rule.threshold) & (noise <= LEVEL)
    reach, members = _reach(first, second, matches, ~alone, rule)
    spanned = _rate(reach, random_span)
    together = ~alone & (reach >= rule.threshold) & (spanned <= LEVEL)
    status = np.select([~first.any(1), alone, together], ["constant", "alone", "subspace"], "none")
    groups = _joined((len(first), len(second)), status, matches.best, members)
    number = np.full(len(first), -1)
    for k, group in enumerate(groups):
        number[list(group.latents)] = k
    return Counterparts(
        name=name,
        n_latents=len(second),
        status=status,
        partner=matches.best,
        correlation=matches.cosine,
        span=reach,
        noise=np.where(together, spanned, noise),
        rotated=np.full(len(first), float(random_cosine.mean())),
        subspaces=groups,
        subspace=np.where(status == "subspace", number, -1),
    )


def _reach(
    first: np.ndarray, second: np.ndarray, matches: Nearest, which: np.ndarray, rule: _Rule
) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """Return how much of each atom a few elsewhere span, and which; of one that is there alone, that one."""
    reach, rows = np.abs(matches.cosine), np.flatnonzero(which)
    if not len(rows):
        return reach, {}
    found = span(first[rows], second, matches.candidates[rows], rule.most, rule.threshold)
    reach[rows] = found.reach
    return reach, dict(zip(rows.tolist(), found.members, strict=True))


def _joined(
    sizes: tuple[int, int], status: np.ndarray, best: np.ndarray, members: dict[int, np.ndarray]
) -> tuple[Any, ...]:
    edges = [(a, members[a]) for a in np.flatnonzero(status == "subspace").tolist()]
    single = {a: int(best[a]) for a in np.flatnonzero(status == "alone").tolist()}
    return tuple(subspaces(sizes, edges, single))


def _rate(values: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """Return the share of random atoms that do as well, counting each as one of them."""
    above = len(chance) - np.searchsorted(np.sort(chance), values, side="left")
    return np.asarray((above + 1) / (len(chance) + 1))


def _level(
    first: np.ndarray,
    second: np.ndarray,
    chance: list[np.ndarray],
    before: tuple[np.ndarray, np.ndarray] | None,
) -> Level:
    """Measure how near the nearest atoms are, beside random and untrained ones."""
    pairs = {"trained": (first, second), "random": (first, chance[0]), "untrained": before}
    best = {name: float("nan") if pair is None else _mean_best(*pair) for name, pair in pairs.items()}
    one = {name: float("nan") if pair is None else assigned(*pair) for name, pair in pairs.items()}
    return Level(best=best, assigned=one)


def _mean_best(first: np.ndarray, second: np.ndarray) -> float:
    some = first[:: -(-len(first) // _NULL)]
    return float(np.abs(match(some, second, signed=False).cosine).mean())


def _by_codes(
    codes: Sequence[Any],
    names: tuple[str, ...],
    threshold: float,
    seed: int,
    tell: Callable[[float], None] | None,
) -> Any:
    told = None if tell is None else lambda share: tell(0.5 + 0.5 * share)
    return replicate(codes, names=names, threshold=threshold, random_state=seed, on_progress=told)


def _spread(covariance: ArrayLike | None, first: np.ndarray) -> np.ndarray:
    if covariance is None:
        return first.T @ first / len(first)
    table = np.asarray(covariance, dtype=np.float64)
    d = first.shape[1]
    if table.shape != (d, d) or not np.isfinite(table).all():
        raise ValueError(
            f"`covariance` must be a finite table ({d}, {d}), got shape {table.shape}. Give that of the data."
        )
    return table


def _before(untrained: Sequence[ArrayLike], tables: list[np.ndarray]) -> list[np.ndarray]:
    found = [unit(np.asarray(each, dtype=np.float32)) for each in untrained]
    shapes, asked = [each.shape for each in found], [each.shape for each in tables]
    if shapes != asked:
        raise ValueError(
            f"`untrained` must have the shapes {asked} of `dictionaries`, got {shapes}. Build them alike."
        )
    return found


def _checked(
    dictionaries: Sequence[ArrayLike], names: Any, codes: Any, threshold: float, most: int
) -> list[np.ndarray]:
    """Return unit atoms in single precision, or say what is wrong before any work."""
    if isinstance(dictionaries, np.ndarray) or len(dictionaries) < 2:
        raise ValueError("`dictionaries` must be at least two, got fewer. The first one is the reference.")
    given = [unmasked(each, f"dictionaries[{k}]") for k, each in enumerate(dictionaries)]
    tables = [np.asarray(each, dtype=np.float32) for each in given]
    for k, table in enumerate(tables):
        if table.ndim != 2 or 0 in table.shape or not np.isfinite(table).all():
            raise ValueError(
                f"`dictionaries[{k}]` must be a finite table (n_features, n_observed), got {table.shape}."
            )
        if table.shape[1] != tables[0].shape[1]:
            raise ValueError(
                f"`dictionaries[{k}]` must have {tables[0].shape[1]} columns, got {table.shape[1]}. Compare "
                "features of the same activations."
            )
    for what, given in (("names", names), ("codes", codes)):
        if given is not None and len(given) != len(tables):
            raise ValueError(
                f"`{what}` must be one for each dictionary, got {len(given)} for {len(tables)}. Add the rest."
            )
    for k, table in enumerate(tables if codes is not None else ()):
        if codes[k].shape[1] != len(table):
            raise ValueError(
                f"`codes[{k}]` must have {len(table)} columns, got {codes[k].shape[1]}. One for each atom."
            )
    if not 0 < threshold < 1:
        raise ValueError(f"`threshold` must be a cosine in (0, 1), got {threshold}. 0.9 is usual.")
    if most < 1:
        raise ValueError(f"`most` must be at least 1, got {most}. 4 is usual.")
    return [unit(table) for table in tables]


def _notes(covariance: Any, codes: Any, untrained: Any) -> tuple[str, ...]:
    notes = {
        "no covariance of data was given: random atoms have the second moments of the reference's atoms, and "
        "the effective dimension is theirs.": covariance is None,
        "no codes were given: what fires, and whether codes agree, was not looked at.": codes is None,
        "no untrained dictionaries were given: what a shared beginning explains was not looked at.": (
            untrained is None
        ),
    }
    return tuple(note for note, applies in notes.items() if applies)
