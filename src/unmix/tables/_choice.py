"""Which columns are features and which are metadata: by what they hold, and by names and patterns."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import NamedTuple

from ._names import listed, names_in
from ._table import Columns

NUMBER, FLAG, TEXT, DATE, EMPTY, OTHER = "numbers", "true and false", "text", "dates", "nothing", "lists"


class Choice(NamedTuple):
    """Names of the columns by what becomes of them; several ids come first among the metadata."""

    features: tuple[str, ...]
    metadata: tuple[str, ...]
    ids: tuple[str, ...]
    notes: tuple[str, ...] = ()


def choose(kinds: Mapping[str, str], columns: Columns, source: str) -> Choice:
    """Tell features from metadata, and refuse names that no column has.

    >>> kinds = {"Metadata_Dose": NUMBER, "well": TEXT, "area": NUMBER, "round": NUMBER}
    >>> choose(kinds, Columns(drop=("r*",)), "t.csv")[:2]
    (('area',), ('Metadata_Dose', 'well'))
    """
    names = list(kinds)
    gone = set(matched(names, columns.drop, "--drop", source))
    ids = ids_in(columns, names)
    for name in ids:
        if name not in kinds:
            raise ValueError(_unknown(name, names, "--id", source))
    kept = [name for name in names if name not in gone and name not in ids]
    asked = set(matched(names, columns.features, "--features", source))
    features = [n for n in kept if n in asked] if columns.features else _numeric(kinds, kept, columns)
    if columns.features:
        _check_numeric(kinds, features, source)
    if not features:
        raise ValueError(_no_features(kinds, kept, columns, source))
    chosen = set(features)
    rest = tuple(name for name in kept if name not in chosen)
    first = ids if len(ids) > 1 else ()
    return Choice(tuple(features), (*first, *rest), ids, _notes(kinds, rest, columns))


def ids_in(columns: Columns, names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that name the rows: one, or several together.

    >>> ids_in(Columns(id="plate,well"), ["plate", "well", "area"])
    ('plate', 'well')
    """
    return () if columns.id is None else tuple(dict.fromkeys(names_in([columns.id], names)))


def matched(names: Sequence[str], patterns: Sequence[str], option: str, source: str) -> list[str]:
    """Return the names that patterns name, in the order of the names; each pattern must match one."""
    there, found = set(names), set[str]()
    for pattern in names_in(patterns, names):
        hits = {pattern} if pattern in there else {name for name in names if fnmatchcase(name, pattern)}
        if not hits:
            raise ValueError(_unknown(pattern, names, option, source))
        found |= hits
    return [name for name in names if name in found]


def nearest(name: str, names: Sequence[str]) -> str:
    """Say which names are close to one that is not there, or else which there are."""
    close = get_close_matches(name, names, n=3, cutoff=0.7)
    lower = {each.lower(): each for each in names}
    if not close and name.lower() in lower:
        close = [lower[name.lower()]]
    return f"Did you mean {' or '.join(map(repr, close))}?" if close else f"It has {listed(list(names))}."


def _numeric(kinds: Mapping[str, str], kept: list[str], columns: Columns) -> list[str]:
    """Return the numeric columns; where there are only columns of true and false, these."""
    aside = set(names_in(columns.labels, kept))
    free = [name for name in kept if name not in aside and not name.startswith(columns.metadata_prefix)]
    numbers = [name for name in free if kinds[name] == NUMBER]
    return numbers or [name for name in free if kinds[name] == FLAG]


def _check_numeric(kinds: Mapping[str, str], features: list[str], source: str) -> None:
    wrong = [name for name in features if kinds[name] not in (NUMBER, FLAG, EMPTY)]
    if wrong:
        raise ValueError(
            f"`--features` must name columns of numbers, {wrong[0]!r} of `{source}` holds {kinds[wrong[0]]}. "
            "Leave it out, or encode it as numbers."
        )


def _unknown(name: str, names: Sequence[str], option: str, source: str) -> str:
    return f"`{option}` must name columns of `{source}`, got {name!r}. {nearest(name, names)}"


def _no_features(kinds: Mapping[str, str], kept: list[str], columns: Columns, source: str) -> str:
    if any(kinds[name] in (NUMBER, FLAG) for name in kept):
        return (
            f"`{source}` must have a numeric column that is a feature, all are ids, labels or metadata. "
            "Name the features with --features."
        )
    held = sorted({kinds[name] for name in kept})
    return (
        f"`{source}` must have a numeric column, its columns hold {' and '.join(held) or 'nothing'}. "
        "Check how numbers are written, and what separates cells."
    )


def _notes(kinds: Mapping[str, str], rest: tuple[str, ...], columns: Columns) -> tuple[str, ...]:
    aside = set(names_in(columns.labels, rest))
    free = [n for n in rest if n not in aside and not n.startswith(columns.metadata_prefix)]
    flags = [name for name in free if kinds[name] == FLAG]
    told = f"Metadata, since they hold true and false: {listed(flags)}; --features takes them as 0 and 1."
    empty = [name for name in free if kinds[name] == EMPTY]
    blank = f"No features, since they hold nothing: {listed(empty)}."
    return (*([told] if flags else []), *([blank] if empty else [])) if not columns.features else ()
