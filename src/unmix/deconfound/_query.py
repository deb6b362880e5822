"""A small language for choosing rows: `gene == 'EMPTY' and not (dose > 0 or plate in [3, 4])`.

Expressions are read by this module alone; nothing is ever evaluated as Python.
"""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
    r"|(?P<number>-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>`[^`]+`|[^\W\d][\w.]*)"
    r"|(?P<sign>==|!=|<=|>=|<|>|\(|\)|\[|\]|,))"
)
_WORDS = ("and", "or", "not", "in")
_ORDERS = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}


def matching(query: str, metadata: Mapping[str, Any]) -> np.ndarray:
    """Return which rows an expression is true for.

    Comparisons `==`, `!=`, `<`, `<=`, `>`, `>=`, `in [...]` and `not in [...]` of a column with numbers or
    quoted text; `and`, `or`, `not` and parentheses between them. A name with spaces stands in backticks.

    Parameters
    ----------
    query : str
    metadata : mapping from names to columns

    Returns
    -------
    array of bool of shape (n_samples,)

    Examples
    --------
    >>> rows = {"gene": np.array(["EMPTY", "PLK1", "EMPTY"]), "dose": np.array([0.0, 1.0, 2.0])}
    >>> matching("gene == 'EMPTY' and not dose > 1", rows).tolist()
    [True, False, False]
    """
    reader = _Reader(query, metadata)
    chosen = reader.any_of()
    if reader.kind != "end":
        raise reader.wrong("the end")
    return chosen


def columns_in(query: str) -> list[str]:
    """List the columns that an expression names, whether or not there are such.

    >>> columns_in("gene == 'EMPTY' and `plate no` in [1, 2]")
    ['gene', 'plate no']
    """
    names = [found["name"] for found in _TOKEN.finditer(query) if found["name"]]
    return list(dict.fromkeys(name.strip("`") for name in names if name not in _WORDS))


class _Reader:
    """Reads an expression from left to right, with one token of foresight."""

    def __init__(self, query: str, metadata: Mapping[str, Any]) -> None:
        self.query, self.metadata, self.at = query, metadata, 0
        self.step()

    def step(self) -> None:
        """Take the next token."""
        rest = self.query[self.at :]
        if not rest.strip():
            self.kind, self.token = "end", "the end"
            return
        found = _TOKEN.match(rest)
        if found is None:
            self.kind, self.token = "sign", rest.strip()[0]
            raise self.wrong("a name, a number, quoted text or a comparison")
        self.at += found.end()
        self.kind, self.token = str(found.lastgroup), found[found.lastgroup or 0]
        if self.kind == "name" and self.token in _WORDS:
            self.kind = "word"

    def taken(self, *tokens: str) -> bool:
        """Step over a token, if it is the next one."""
        here = self.kind in ("word", "sign") and self.token in tokens
        if here:
            self.step()
        return here

    def wrong(self, expected: str) -> ValueError:
        return ValueError(
            f"`control` must be an expression like gene == 'EMPTY', expected {expected} and got {self.token!r} "
            f"in {self.query!r}. Quote text, and join comparisons with and, or, not."
        )

    def any_of(self) -> np.ndarray:
        chosen = self.all_of()
        while self.taken("or"):
            chosen = chosen | self.all_of()
        return chosen

    def all_of(self) -> np.ndarray:
        chosen = self.one()
        while self.taken("and"):
            chosen = chosen & self.one()
        return chosen

    def one(self) -> np.ndarray:
        """Read a negation, something in parentheses, or a comparison."""
        if self.taken("not"):
            return ~self.one()
        if self.taken("("):
            chosen = self.any_of()
            self.close(")")
            return chosen
        return self.comparison()

    def close(self, token: str) -> None:
        if not self.taken(token):
            raise self.wrong(repr(token))

    def comparison(self) -> np.ndarray:
        values = self.column()
        negated = self.taken("not")
        if self.taken("in"):
            return _equal_any(values, self.listed()) != negated
        sign = self.token
        if negated or not self.taken("==", "!=", *_ORDERS):
            raise self.wrong("in" if negated else "a comparison")
        other = self.constant()
        if sign in _ORDERS:
            return self.ordered(values, sign, other)
        return _equal_any(values, [other]) == (sign == "==")

    def ordered(self, values: np.ndarray, sign: str, other: Any) -> np.ndarray:
        if isinstance(other, str) or values.dtype.kind not in "fiub":
            raise self.wrong(f"numbers on both sides of {sign}")
        return _ORDERS[sign](values, other)

    def column(self) -> np.ndarray:
        name = self.token.strip("`")
        if self.kind != "name":
            raise self.wrong("the name of a column")
        if name not in self.metadata:
            raise ValueError(
                f"`control` must name columns that exist, got {name!r}. They are: {', '.join(self.metadata)}."
            )
        self.step()
        return np.asarray(self.metadata[name])

    def constant(self) -> Any:
        kind, token = self.kind, self.token
        if kind not in ("text", "number"):
            raise self.wrong("a number or quoted text")
        self.step()
        return float(token) if kind == "number" else re.sub(r"\\(.)", r"\1", token[1:-1])

    def listed(self) -> list[Any]:
        if not self.taken("[", "("):
            raise self.wrong("'['")
        values = [self.constant()]
        while self.taken(","):
            values.append(self.constant())
        if not self.taken("]", ")"):
            raise self.wrong("']'")
        return values


def _equal_any(values: np.ndarray, others: list[Any]) -> np.ndarray:
    """Say which values equal one of the constants; a number written as text equals the number."""
    chosen = np.zeros(len(values), dtype=bool)
    for other in others:
        if values.dtype.kind in "fiub":
            chosen |= values == other if not isinstance(other, str) else values.astype(str) == other
        elif isinstance(other, str):
            chosen |= values.astype(str) == other
        else:
            chosen |= np.array([_as_number(value) == other for value in values], dtype=bool)
    return chosen


def _as_number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
