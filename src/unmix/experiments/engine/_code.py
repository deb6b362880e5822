"""What code a result was made by: a digest of everything that could have changed it."""

import ast
import hashlib
import sys
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec, resolve_name
from pathlib import Path

from ..._version import __version__

_PACKAGE = Path(__file__).parent.parent.parent
_ROOM = Path(__file__).parent
_SHARED = ("_methods.py",)  # what tables of this room call; the rest of it only runs them
_STORAGE = _PACKAGE / "estimators/_storage.py"  # knows every estimator, and changes nothing in a result


def code_version(*modules: str) -> str:
    """Name the code behind an experiment: the version, and a digest of these modules and what they import.

    What is imported from this package is followed name by name, so that a result outlives changes of methods
    that its table does not use. Comments, docstrings and layout do not count either, so that it outlives a
    better explanation. Of other packages nothing is followed; a module of one's own counts by its file.

    Parameters
    ----------
    *modules : str
        Dotted names: the experiment's module, and the module of a user's method.

    Returns
    -------
    str

    Examples
    --------
    >>> code_version("unmix.experiments.papers.ddl.table4").startswith("0.")
    True
    """
    files = _reached(*(path for module in modules if (path := _file(module))))
    total = hashlib.sha256()
    for path in sorted(files):
        total.update(f"{path.name}\0{_meaning(path)}\0".encode())
    return f"{__version__}+{total.hexdigest()[:10]}"


def _reached(*files: Path) -> set[Path]:
    """Return these files and all of this package that they import, directly or not."""
    seen: set[Path] = set()
    waiting = [*files, *(_ROOM / name for name in _SHARED)]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting += (file for file in _imports(path) if file != _STORAGE)
    return {path for path in seen if path.parent != _ROOM or path.name in _SHARED or path in files}


@lru_cache(maxsize=512)
def _imports(path: Path) -> tuple[Path, ...]:
    """Return the files of this package that a file imports names from."""
    found: list[Path] = []
    for base, name in _named(path):
        found += _sources(base, name)
    return tuple(found)


def _named(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each import of this package in a file, as module and name; the name is empty for all of it."""
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if _own(alias.name))
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            base = resolve_name(base, _dotted(path)) if node.level else base
            yield from ((base, alias.name.replace("*", "")) for alias in node.names if _own(base))


def _sources(base: str, name: str) -> list[Path]:
    """Return the files behind a name of a module: through `__init__.py` where it is a room's.

    A name that `__init__.py` does not import stands for the whole room.
    """
    path = _PACKAGE.joinpath(*base.split(".")[1:])
    if not path.is_dir():
        return [path.with_suffix(".py")]
    if name and ((path / name).is_dir() or (path / f"{name}.py").is_file()):
        return _sources(f"{base}.{name}", "")
    sources = [
        resolve_name("." * node.level + (node.module or ""), base)
        for node in _tree(path / "__init__.py").body
        if isinstance(node, ast.ImportFrom) and node.level and name in (alias.name for alias in node.names)
    ]
    return [file for source in sources for file in _sources(source, name)] or sorted(path.rglob("*.py"))


def _own(module: str) -> bool:
    return module.partition(".")[0] == _PACKAGE.name


def _dotted(path: Path) -> str:
    """Return the package that a file's relative imports start from."""
    return ".".join((_PACKAGE.name, *path.parent.relative_to(_PACKAGE).parts))


def _file(module: str) -> Path | None:
    loaded = sys.modules.get(module)
    origin = getattr(loaded, "__file__", None) if loaded else getattr(find_spec(module), "origin", None)
    return Path(origin) if origin and origin.endswith(".py") else None


@lru_cache(maxsize=512)
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes())


@lru_cache(maxsize=512)
def _meaning(path: Path) -> str:
    """Return a file's syntax tree without docstrings, as text."""
    tree = ast.parse(path.read_bytes())
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_text(body[0]):
            del body[0]
    return _dump(tree)


def _dump(part: object) -> str:
    """Write a tree down; what is empty is left out, as other versions of Python have other optional fields.

    >>> _dump(ast.parse("def f(): pass"))
    "Module(body=[FunctionDef(name='f',args=arguments(),body=[Pass()])])"
    """
    if isinstance(part, list):
        return f"[{','.join(map(_dump, part))}]"
    if not isinstance(part, ast.AST):
        return repr(part)
    given = ((name, value) for name, value in ast.iter_fields(part) if value not in (None, []))
    return f"{type(part).__name__}({','.join(f'{name}={_dump(value)}' for name, value in given)})"


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
