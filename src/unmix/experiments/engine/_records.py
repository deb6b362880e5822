"""How results are written: one by itself, and a table of them with one run a line.

The first line of a table says once what many runs share (titles, commands, cells, versions, machines); the
lines after it are the runs, which refer to that by short digests. The checksum of a run is that of all it
says, whether in its own line or in the first.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..._untrusted import parse_json
from ._task import canonical

Record = dict[str, Any]
FORMAT, TABLE_FORMAT = 1, 2
_NEEDED = ("key", "experiment", "settings", "cells", "seed", "budget", "code", "values", "error", "seconds")
_SHARED = ("title", "command", "cells", "versions", "machine")


def sealed(record: Record) -> Record:
    """Return a record with its format and its checksum."""
    document = {"format": FORMAT, **record}
    return document | {"checksum": _digest(document)[:16]}


def fault_of(record: Any) -> str:
    """Say what is wrong with a sealed record, if anything is, and take its checksum off.

    Examples
    --------
    >>> fault_of({"values": {"mcc": 1.0}})
    'it is not a result'
    """
    if not isinstance(record, dict) or any(name not in record for name in _NEEDED):
        return "it is not a result"
    checksum = record.pop("checksum", None)
    return "" if checksum == _digest(record)[:16] else "its checksum does not agree with its content"


@dataclass(frozen=True)
class Lines:
    """A table of results as it was read.

    Attributes
    ----------
    records : dict
        Results that can be trusted, by key.
    shared : dict
        What the first line says for all of them.
    damaged : dict
        Other lines, by number, and what is wrong with each.
    fault : str
        What is wrong with the first line, if anything is: nothing can be read then.
    """

    records: dict[str, Record] = field(default_factory=dict)
    shared: dict[str, dict[str, Any]] = field(default_factory=dict)
    damaged: dict[int, tuple[bytes, str]] = field(default_factory=dict)
    fault: str = ""


def from_lines(content: bytes, experiment: str) -> Lines:
    """Read a table of results; what can't be trusted is set apart."""
    first, *rest = content.rstrip(b"\n").split(b"\n")
    header = _parsed(first)
    if not isinstance(header, dict) or not all(isinstance(header.get(name), dict) for name in _SHARED):
        return Lines(fault="its first line can't be read")
    if (header.get("format"), header.get("experiment")) != (TABLE_FORMAT, experiment):
        return Lines(fault=f"its first line is not that of {experiment} in format {TABLE_FORMAT}")
    found = Lines(shared={name: header[name] for name in _SHARED})
    for number, line in enumerate(rest, start=2):
        record = _unfolded(_parsed(line), found.shared, experiment)
        if fault := fault_of(record):
            found.damaged[number] = line, fault
        else:
            found.records[record["key"]] = record
    return found


def to_lines(experiment: str, records: Iterable[Record], old: Lines | None = None) -> bytes:
    """Write a table of results, sorted by their place in it.

    Damaged lines of an older one are kept as they are, and so is what they may refer to, but for those whose
    result is among the records.
    """
    ordered = sorted(records, key=_order)
    kept = [] if old is None else _not_among({record["key"] for record in ordered}, old)
    shared = {name: dict(old.shared[name]) if old and kept else {} for name in _SHARED}
    lines = [_text(_folded(record, shared)) for record in ordered]
    header = {name: dict(sorted(said.items(), key=_header_order)) for name, said in shared.items()}
    first = _text({"format": TABLE_FORMAT, "experiment": experiment, **header})
    return b"\n".join([first, *lines, *kept, b""])


def _not_among(keys: set[str], old: Lines) -> list[bytes]:
    return [line for line, _ in old.damaged.values() if line.strip() and _key_of(line) not in keys]


def _key_of(line: bytes) -> str:
    """Read the key off a damaged line, which it begins with."""
    start, _, rest = line.partition(b'"key": "')
    return rest.partition(b'"')[0].decode(errors="replace") if start == b"{" else ""


def _order(record: Record) -> tuple[Any, ...]:
    place = min((cell.get("place", 0) for cell in record["cells"]), default=0)
    return place, canonical(record["settings"]), record["seed"], record["budget"], record["key"]


def _header_order(entry: tuple[str, Any]) -> tuple[Any, ...]:
    name, said = entry
    cells = said if isinstance(said, list) else []
    return min((cell.get("place", 0) for cell in cells if isinstance(cell, dict)), default=0), name


def _folded(record: Record, shared: dict[str, dict[str, Any]]) -> Record:
    """Return what the line of a record says, and note for the first line what it refers to."""
    line = {name: value for name, value in sealed(record).items() if name != "experiment"}
    if line["format"] == FORMAT:
        del line["format"]
    return line | {name: _noted(line[name], shared[name]) for name in _SHARED if name in line}


def _noted(value: Any, said: dict[str, Any]) -> str:
    digest = _digest(value)
    name = digest[:8] if said.get(digest[:8], value) == value else digest
    said[name] = value
    return name


def _unfolded(line: Any, shared: dict[str, dict[str, Any]], experiment: str) -> Any:
    """Return the record that a line stands for; what is no line of a table is not a record either."""
    if not isinstance(line, dict):
        return None
    said = {name: line[name] for name in _SHARED if name in line}
    if not all(isinstance(name, str) and name in shared[of] for of, name in said.items()):
        return None
    return {"format": FORMAT, "experiment": experiment, **line} | {
        of: shared[of][n] for of, n in said.items()
    }


def _parsed(text: bytes) -> Any:
    try:
        return parse_json(text, "a line")
    except ValueError:
        return None


def _text(document: Record) -> bytes:
    return json.dumps(document, allow_nan=False, ensure_ascii=False).encode(errors="surrogatepass")


def _digest(document: Any) -> str:
    return hashlib.sha256(canonical(document).encode()).hexdigest()
