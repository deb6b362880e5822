"""Tables whose cells are shaded: names stay text, which wraps, can be searched and is escaped by the page."""

from dataclasses import dataclass

import numpy as np

_BLUE, _ORANGE = "59, 125, 216", "224, 123, 57"


@dataclass(frozen=True)
class Cell:
    """A number with its shade, and a smaller one below."""

    text: str
    colour: str
    bold: bool = False
    below: str = ""


@dataclass(frozen=True)
class Heat:
    """A shaded table: heading, caption, latents in columns, named rows, and how many rows are missing."""

    title: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, str], ...]
    cells: tuple[tuple[Cell, ...], ...]
    left_out: int

    @property
    def lines(self) -> list[tuple[tuple[str, str], tuple[Cell, ...]]]:
        """Each row with its cells."""
        return list(zip(self.rows, self.cells, strict=True))


def warm(ratio: float, bold: bool, text: str = "", below: str = "") -> Cell:
    """Shade a ratio by how far it is above 1.

    >>> warm(1.6, True).text
    '1.6'
    """
    return Cell(text or f"{ratio:.1f}", _shade(_BLUE, (ratio - 1) / 1.5), bold, below)


def signed(value: float) -> Cell:
    """Shade a number from -1 to 1, with a colour for each sign.

    >>> signed(-0.5).text, signed(0.02).text, signed(-0.001).text
    ('−.50', '.02', '.00')
    """
    digits = f"{abs(value):.2f}".removeprefix("0")
    sign = "−" if value < 0 and digits != ".00" else ""
    return Cell(sign + digits, _shade(_ORANGE if value < 0 else _BLUE, abs(value)))


def _shade(colour: str, share: float) -> str:
    return f"rgba({colour}, {0.6 * float(np.clip(share, 0, 1)):.2f})"
