"""What code a result was made by: a digest of everything that could have changed it."""

import ast
import hashlib
import sys
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from .._version import __version__

ROOMS = ("structure", "nn", "training", "penalties", "data", "estimators", "metrics")
_PACKAGE = Path(__file__).parent.parent
_ROOM = Path(__file__).parent
_SHARED = ("_methods.py", "_references.py")  # what tables of this room call, besides the library


def code_version(*modules: str) -> str:
    """Name the code behind an experiment: the version, and a digest of the library and of these modules.

    Comments, docstrings and layout do not count, so that results outlive a better explanation. Modules of
    one's own count by their own file.

    Parameters
    ----------
    *modules : str
        Dotted names: the experiment's module, and the module of a user's method.

    Returns
    -------
    str

    Examples
    --------
    >>> code_version("unmix.experiments.ddl.table4").startswith("0.")
    True
    """
    parts = (_library(), *(_digest(files) for files in sorted(set(map(_files, modules)))))
    return f"{__version__}+{hashlib.sha256(''.join(parts).encode()).hexdigest()[:10]}"


@lru_cache(maxsize=1)
def _library() -> str:
    rooms = [path for room in ROOMS for path in sorted((_PACKAGE / room).rglob("*.py"))]
    return _digest((*sorted(_PACKAGE.glob("_*.py")), *rooms))


def _files(module: str) -> tuple[Path, ...]:
    """Return the files that speak for a module: within this room its folder and those it imports from."""
    path = _file(module)
    if path is None:
        return ()
    if path.parent.parent != _ROOM:
        return (path,)
    folders, seen = {path.parent.name}, {path.parent.name}
    while folders:
        folders = {name for folder in folders for name in _imported(folder)} - seen
        seen |= folders
    tables = [file for name in sorted(seen) for file in sorted((_ROOM / name).glob("*.py"))]
    return (*(_ROOM / name for name in _SHARED), *tables)


@lru_cache(maxsize=64)
def _imported(folder: str) -> frozenset[str]:
    """Return the folders of this room that one of them imports from, as in `from ..ddl._common import`."""
    trees = [ast.parse(file.read_bytes()) for file in (_ROOM / folder).glob("*.py")]
    imports = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    named = {(node.module or "").partition(".")[0] for node in imports if node.level == 2}
    return frozenset(name for name in named if (_ROOM / name).is_dir() and name)


def _file(module: str) -> Path | None:
    loaded = sys.modules.get(module)
    origin = getattr(loaded, "__file__", None) if loaded else getattr(find_spec(module), "origin", None)
    return Path(origin) if origin and origin.endswith(".py") else None


@lru_cache(maxsize=64)
def _digest(files: tuple[Path, ...]) -> str:
    total = hashlib.sha256()
    for path in files:
        total.update(f"{path.name}\0{_meaning(path)}\0".encode())
    return total.hexdigest()


def _meaning(path: Path) -> str:
    """Return a file's syntax tree without docstrings, as text."""
    tree = ast.parse(path.read_bytes())
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_text(body[0]):
            del body[0]
    return ast.dump(tree)


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
