"""Groups of observed variables: found in their names, or read from a file of sets."""

import csv
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unmix._untrusted import parse_json

LEAST = 3  # variables in a group, and outside of it
MOST = 500  # groups
_BETWEEN = re.compile(r"[_.\-\s/:|]+")
_SUFFIXES = (".json", ".gmt", ".csv", ".tsv")
_COLUMNS = {"group": ("group", "set", "term"), "variable": ("variable", "feature", "gene", "name")}

Groups = dict[str, np.ndarray]


def groups_of_names(names: Sequence[str]) -> Groups:
    """Find groups in the names of variables: those that share a word.

    Words are what stands between `_`, `.`, `-`, `/`, `:`, `|` and blanks, wherever it stands in the name;
    numbers are no words. A word that fewer than three variables have, or that fewer than three lack, is left
    out; words that the same variables have are one group.

    Parameters
    ----------
    names : sequence of str

    Returns
    -------
    dict of str to array of int
        The variables of each group, in order of the place that its word has in the names.

    Examples
    --------
    >>> names = [f"{a}_{b}_{k}" for a in ("Cells", "Nuclei") for b in ("ER", "RNA") for k in "123"]
    >>> {name: found.tolist() for name, found in groups_of_names(names).items()}["ER"]
    [0, 1, 2, 6, 7, 8]
    """
    places: dict[str, list[int]] = {}
    members: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        words = [word for word in _BETWEEN.split(str(name)) if word]
        for place, word in enumerate(dict.fromkeys(words)):
            if not word.replace("+", "").isnumeric():
                places.setdefault(word, []).append(place)
                members.setdefault(word, []).append(i)
    ordered = sorted(members, key=lambda word: (round(float(np.mean(places[word])), 6), members[word][0]))
    found = {word: np.array(members[word]) for word in ordered}
    return _largest(_merged({word: each for word, each in found.items() if _usable(each, len(names))}))


def _usable(members: np.ndarray, n: int) -> bool:
    return LEAST <= len(members) <= n - LEAST


def _merged(groups: Groups) -> Groups:
    """Join groups that hold the same variables under one name."""
    same: dict[tuple[int, ...], list[str]] = {}
    for name, members in groups.items():
        same.setdefault(tuple(members.tolist()), []).append(name)
    return {"/".join(names[:3]): np.array(members) for members, names in same.items()}


def _largest(groups: Groups) -> Groups:
    """Keep the largest groups where there are too many, in the order that they had."""
    kept = sorted(groups, key=lambda name: -len(groups[name]))[:MOST]
    return {name: members for name, members in groups.items() if name in set(kept)}


def checked_groups(groups: Any, names: Sequence[str]) -> Groups:
    """Return groups as they are meant: found in the names, read from a file, or given by name.

    >>> checked_groups({"front": ["a", "b", "c", "unknown"]}, list("abcdef"))
    {'front': array([0, 1, 2])}
    """
    if groups is None:
        return groups_of_names(names)
    given = read_groups(groups) if isinstance(groups, str | os.PathLike) else groups
    if not isinstance(given, Mapping):
        raise TypeError(
            f"`groups` must be a mapping of names to variables or a file, got {type(given).__name__}. "
            "Pass {} for none."
        )
    place = {str(name): i for i, name in enumerate(names)}
    found = {str(name): _known(members, place) for name, members in given.items()}
    if given and not any(map(len, found.values())):
        raise ValueError(
            f"`groups` must hold names of observed variables such as {names[0]!r}, got none of them. "
            "Compare the names in both files."
        )
    return _largest({name: each for name, each in found.items() if _usable(each, len(names))})


def _known(members: Any, place: dict[str, int]) -> np.ndarray:
    return np.array(sorted({place[str(each)] for each in members if str(each) in place}), dtype=int)


def read_groups(path: str | os.PathLike[str]) -> dict[str, tuple[str, ...]]:
    r"""Read sets of variables from a file.

    Parameters
    ----------
    path : path-like
        JSON (names to lists of variables), GMT (name, description and variables with tabs between them), or
        CSV or TSV with columns `group` and `variable`, one line for each pair.

    Returns
    -------
    dict of str to tuple of str

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "sets.gmt"
    >>> _ = path.write_text("ER\tof the channel\tx1\tx2\n")
    >>> read_groups(path)
    {'ER': ('x1', 'x2')}
    """
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix not in _SUFFIXES or not file.is_file():
        raise ValueError(
            f"`groups` must be a file that ends in {', '.join(_SUFFIXES)}, got {str(path)!r}. Check the path."
        )
    try:
        text = file.read_text(encoding="utf-8")
        return _of_json(text) if suffix == ".json" else _of_gmt(text) if suffix == ".gmt" else _of_csv(text)
    except (ValueError, TypeError, AttributeError, csv.Error) as error:
        raise ValueError(
            f"`groups` must be names with lists of variables, {str(path)!r} can't be read ({error})."
        ) from error


def _of_json(text: str) -> dict[str, tuple[str, ...]]:
    return {name: _variables(name, members) for name, members in parse_json(text, "the sets").items()}


def _variables(name: str, members: Any) -> tuple[str, ...]:
    """Return the members of a set as text; a number may be a name, a missing value or a list is none."""
    if not isinstance(members, list):
        raise ValueError(f"{name!r} holds {members!r}, which is no list")
    odd = [each for each in members if not isinstance(each, str | int | float) or each != each]
    if odd:
        raise ValueError(f"{name!r} holds {odd[0]!r}, which is no name")
    return tuple(map(str, members))


def _of_gmt(text: str) -> dict[str, tuple[str, ...]]:
    lines = [line.split("\t") for line in text.splitlines() if line.strip()]
    twice = [name for name, count in Counter(cells[0] for cells in lines).items() if count > 1]
    if twice:
        raise ValueError(f"{twice[0]!r} is there twice")
    return {cells[0]: tuple(cell for cell in cells[2:] if cell) for cells in lines}


def _of_csv(text: str) -> dict[str, tuple[str, ...]]:
    between = "\t" if "\t" in text.partition("\n")[0] else ","
    lines = list(csv.DictReader(text.splitlines(), delimiter=between))
    heads = {head.strip().lower(): head for head in (lines[0] if lines else {})}
    group, variable = (next((heads[n] for n in _COLUMNS[key] if n in heads), None) for key in _COLUMNS)
    if group is None or variable is None:
        raise ValueError(f"needs columns `group` and `variable`, has {', '.join(heads) or 'none'}")
    found: dict[str, list[str]] = {}
    for line in lines:
        found.setdefault(line[group], []).append(line[variable])
    return {name: tuple(members) for name, members in found.items()}
