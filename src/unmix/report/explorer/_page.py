"""What an explorer is made of, and the page that shows it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ..._files import atomic_write
from .._write import filled
from ._columns import Column

SCRIPTS = ("data", "draw", "latents", "latent", "plane", "start")


@dataclass(frozen=True, eq=False)
class Explorer:
    """Everything that the page shows.

    Attributes
    ----------
    about : dict
        What is said in words and small numbers: the verdict, a card for each latent, runs.
    columns : tuple of Column
        One number or category for each row.
    ids : sequence of str or None
        Names of the rows; None where these are their numbers.
    tokens : sequence of str or None
        Of activations of text: the token of each row.
    """

    about: dict[str, Any]
    columns: tuple[Column, ...]
    ids: Sequence[str] | None = None
    tokens: Sequence[str] | None = None
    documents: Sequence[int] | None = None
    folder: dict[str, bytes] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.columns[0].places)

    def page(self, *, served: bool = False) -> str:
        """Return the page: with all its numbers inside, or one that asks its server for each column."""
        about = self.about | {"columns": [column.to_dict() for column in self.columns], "served": served}
        inline = [] if served else [column.text for column in self.columns]
        rows = None if served else {"ids": self._ids, "tokens": self.tokens, "documents": self.documents}
        return filled(
            "explorer.html",
            title=self.about["title"],
            about=as_json(about),
            inline=inline,
            rows=as_json(rows),
            scripts=([f"explorer/{name}" for name in SCRIPTS],),
            served=served,
            headline=self.about["headline"],
        )

    @property
    def _ids(self) -> list[str] | None:
        return None if self.ids is None else [str(each) for each in self.ids]

    def write(self, path: str | Path) -> Path:
        """Write the page, atomically."""
        return atomic_write(Path(path), self.page())

    def named(self, rows: Sequence[int], columns: Sequence[int] = ()) -> dict[str, list[Any] | None]:
        """Return what rows are called, and their places in some columns, for a page that is served."""
        told = {"ids": self.ids, "tokens": self.tokens, "documents": self.documents}
        names = {
            name: None if all_ is None else [_plain(all_[row]) for row in rows] for name, all_ in told.items()
        }
        return names | {"cells": [self.columns[k].places[list(rows)].tolist() for k in columns]}


def _plain(value: Any) -> Any:
    return int(value) if not isinstance(value, str) and hasattr(value, "__int__") else str(value)


def as_json(value: Any) -> Markup:
    r"""Write values so that no text of theirs can end the script that holds them.

    >>> print(as_json({"name": "</script>"}))
    {"name":"\u003c/script>"}
    """
    text = json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=True)
    return Markup(text.replace("<", "\\u003c"))  # noqa: S704 (no tag can begin)
