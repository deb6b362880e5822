"""What code a result was made by: a digest of everything that could have changed it."""

import sys
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path

from ._definitions import Definition, Sources
from ._syntax import Address, Import

_PACKAGE = next(folder for folder in Path(__file__).parents if folder.name == __name__.partition(".")[0])
# methods that other libraries call: nothing of ours need mention them
_CALLED = {
    "forward",
    "close",
    "backward",
    "setup_context",
    "vmap",
    "jvp",
    "fit",
    "transform",
    "predict",
    "score",
}
_OF_ESTIMATORS = {"save"}  # knows how all of them are stored, and changes no number


def code_version(*modules: str) -> str:
    """Name the code behind an experiment by a digest of what it computes.

    From `run` of a table every name is followed to what it stands for, through imports and re-exports, and
    what is reached counts by its syntax tree. Neither the version nor the names of files, modules, functions
    and imports count, so that a result outlives a move; nor do comments, docstrings, annotations and the
    texts of errors, nor functions and methods that nothing reached mentions, nor `save` of an estimator. Of
    other packages nothing is followed; a user's module without `CELLS` and `run` counts as a whole.

    Parameters
    ----------
    *modules : str
        Dotted names: the experiment's module, and the module of a user's method.

    Returns
    -------
    str
        Twelve hexadecimal digits.

    Examples
    --------
    >>> len(code_version("unmix.experiments.papers.ddl.table4"))
    12
    """
    ours = _ours()
    others = {name: path for name in modules if not ours.owns(name) and (path := _file(name))}
    sources = ours.beside_it(others) if others else ours
    return digest(sources, [name for name in modules if sources.module(name)])


def digest(sources: Sources, modules: Iterable[str]) -> str:
    """Digest what is reached from these modules.

    Each definition is first named by its own text, then again and again by its text and the names of those
    that it refers to, until no more of them can be told apart (Weisfeiler and Lehman's refinement); so
    definitions may refer to each other in circles.
    """
    roots = [root_of(sources, name) for name in modules]
    found = reached(sources, roots)
    links = {address: _links(found, each) for address, each in found.items()}
    texts = {address: _texts(found, each) for address, each in found.items()}
    marks, n_marks = {address: _hash(text) for address, text in texts.items()}, 0
    while n_marks < (n_marks := len(set(marks.values()))):
        marks = {
            address: _hash(text, *map(marks.__getitem__, links[address])) for address, text in texts.items()
        }
    return _hash(*(marks[root] for root in roots), *sorted(set(marks.values())))[:12]


def root_of(sources: Sources, module: str) -> Address:
    """Return where to start: `run` of a table, wherever it is defined, or all of any other module."""
    found = [sources.find(Import(module, name)) for name in ("run", "CELLS")]
    run = found[0]
    return run if isinstance(run, Address) and found[1] is not None else Address(module, "")


def reached(sources: Sources, roots: Iterable[Address]) -> dict[Address, Definition]:
    """Return all definitions that these refer to, directly or not.

    A method counts where its name is mentioned in what counts already, and always if Python or a library
    calls it.
    """
    found: dict[Address, Definition] = {}
    mentioned, waiting = set(_CALLED), list(roots)
    while waiting:
        address = waiting.pop()
        if address not in found:
            found[address] = sources.definition(address)
            mentioned |= found[address].mentions
            waiting += found[address].references
        if not waiting:
            waiting = [m for each in found.values() for m in _called(each, mentioned) if m not in found]
    return found


def _called(definition: Definition, mentioned: set[str]) -> list[Address]:
    wanted = mentioned - (_OF_ESTIMATORS if {"fit", "findings"} & definition.methods.keys() else set())
    return [a for name, a in definition.methods.items() if name in wanted or name.startswith("__")]


def _links(found: dict[Address, Definition], of: Definition) -> list[Address]:
    methods = (address for _, address in sorted(of.methods.items()))
    return [*of.references, *(address for address in methods if address in found)]


def _texts(found: dict[Address, Definition], of: Definition) -> str:
    """Return the text of a definition, and of a class which methods count."""
    return f"{of.text}{sorted(name for name, address in of.methods.items() if address in found)}"


def _hash(*texts: str) -> str:
    return blake2b("\0".join(texts).encode(), digest_size=16).hexdigest()


@lru_cache(maxsize=1)
def _ours() -> Sources:
    return Sources(_PACKAGE)


def _file(module: str) -> Path | None:
    loaded = sys.modules.get(module)
    origin = getattr(loaded, "__file__", None) if loaded else getattr(find_spec(module), "origin", None)
    return Path(origin) if origin and origin.endswith(".py") else None
