"""Definitions of a package: what each refers to, through all imports and re-exports."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ._syntax import FUNCTIONS, Address, Import, Names, Space, Target, Writer, module_scope, names_in

_IMPORTS = (ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Definition:
    """One function, class, method or value of a module.

    Attributes
    ----------
    text : str
        Its normal form, with a blank for each reference to another definition.
    references : tuple of Address
        What belongs in the blanks.
    mentions : frozenset of str
        Names by which methods could be called.
    methods : dict
        Of a class: its methods by name; they count one by one.
    """

    text: str
    references: tuple[Address, ...]
    mentions: frozenset[str]
    methods: dict[str, Address] = field(default_factory=dict)


class Sources:
    """The modules of a package, read from its folder and never imported, and single modules beside it.

    Parameters
    ----------
    folder : Path
        Of the package; its name is that of the package.
    beside : dict
        Files of other modules that are to be followed, by dotted name.
    """

    def __init__(self, folder: Path, beside: dict[str, Path] | None = None) -> None:
        self.folder = folder
        self.beside = {} if beside is None else beside
        self._modules: dict[str, Module | None] = {}

    def module(self, name: str) -> "Module | None":
        """Return a module of ours, None for any other."""
        if name not in self._modules:
            path = self._path(name)
            self._modules[name] = None if path is None else Module(name, path, self)
        return self._modules[name]

    def beside_it(self, beside: dict[str, Path]) -> "Sources":
        """Return the same package, of which nothing is read twice, with other modules beside it."""
        other = Sources(self.folder, beside)
        other._modules = {n: module for n, module in self._modules.items() if n not in beside}
        return other

    def _path(self, name: str) -> Path | None:
        if name in self.beside:
            return self.beside[name]
        if not self.owns(name):
            return None
        path = self.folder.joinpath(*name.split(".")[1:])
        places = (path / "__init__.py", path.with_name(f"{path.name}.py"))
        return next((place for place in places if place.is_file()), None)

    def owns(self, name: str) -> bool:
        """Whether a module lies in the package."""
        return name.partition(".")[0] == self.folder.name

    def find(self, source: Import) -> Target | None:
        """Return what an import brings: a definition of ours, or the name of something elsewhere."""
        module = self.module(source.module)
        if module is None:
            return None if self.owns(source.module) else ".".join(filter(None, source))
        if not source.name:
            return Address(module.name, "")
        return module.look(source.name) or self._submodule(source)

    def _submodule(self, source: Import) -> Address | None:
        found = self.module(".".join(source))
        return None if found is None else Address(found.name, "")

    def definition(self, address: Address) -> Definition:
        """Return a definition of ours."""
        module = self.module(address.module)
        if module is None:
            raise ValueError(
                f"`address` must lie in {self.folder.name}, got {address}. Resolve it with `find`."
            )
        return module.definition(address.name)


class Module:
    """One file: its definitions and its imports."""

    def __init__(self, name: str, path: Path, sources: Sources) -> None:
        self.name, self.path, self.sources = name, path, sources
        self.package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        self._definitions: dict[str, Definition] = {}

    @cached_property
    def _body(self) -> list[ast.stmt]:
        return ast.parse(self.path.read_bytes()).body

    @cached_property
    def imports(self) -> dict[str, Import]:
        """Where names that are not defined here come from."""
        found = {name: source for name, source in self._names.items() if source is not None}
        return {**_lazy(self._body, self.name), **found}

    @cached_property
    def _names(self) -> Names:
        return names_in(self._body, self.package)

    @cached_property
    def statements(self) -> dict[str, list[ast.stmt]]:
        """The statements that define each name."""
        found: dict[str, list[ast.stmt]] = {}
        for node in self._body:
            for name in _defines(node, self.package):
                if name in self._names:
                    found.setdefault(name, []).append(node)
        return found

    def look(self, name: str) -> Target | None:
        """Return what a global name of this module stands for."""
        if name == "__version__":
            return name  # no number depends on it
        if name in self.statements:
            return Address(self.name, name)
        source = self.imports.get(name)
        if source == (self.name, name):  # `from . import module`
            return self.sources._submodule(source)
        return None if source is None else self.sources.find(source)

    def definition(self, name: str) -> Definition:
        """Return a definition: a name, `Class.method`, or with an empty name all of the module."""
        if name not in self._definitions:
            self._definitions[name] = self._make(name)
        return self._definitions[name]

    def _make(self, name: str) -> Definition:
        if not name:
            return self._whole()
        holder, _, method = name.partition(".")
        nodes = self.statements[holder]
        by_method = self.sources.owns(self.name)  # classes of others may override what their bases call
        if by_method and len(nodes) == 1 and isinstance(nodes[0], ast.ClassDef):
            return self._method(nodes[0], method) if method else self._class(nodes[0])
        writer = self._writer(name)
        return _made(writer, writer.write(nodes, module_scope()))

    def _writer(self, own: str) -> Writer:
        return Writer(Space(self.package, self.look, self.sources.find), Address(self.name, own))

    def _class(self, node: ast.ClassDef) -> Definition:
        """Take a class without its methods, which count by themselves."""
        methods = [part.name for part in node.body if isinstance(part, FUNCTIONS)]
        rest = [part for part in node.body if not isinstance(part, FUNCTIONS)]
        writer = self._writer(node.name)
        text = writer.class_of(node, rest, module_scope())
        return _made(writer, text, {name: Address(self.name, f"{node.name}.{name}") for name in methods})

    def _method(self, node: ast.ClassDef, name: str) -> Definition:
        same = [part for part in node.body if isinstance(part, FUNCTIONS) and part.name == name]
        writer = self._writer(f"{node.name}.{name}")
        return _made(writer, writer.write(same, module_scope().of_class(names_in(node.body, self.package))))

    def _whole(self) -> Definition:
        """Take all that this module defines, imports or does, under the names it has here."""
        writer = self._writer("")
        named = [(name, self.look(name)) for name in sorted({*self.statements, *self.imports})]
        parts = [f"{name}={writer.stand_for(target)}" for name, target in named if target is not None]
        defining = [node for nodes in self.statements.values() for node in nodes]
        does = [node for node in self._body if node not in defining and not isinstance(node, _IMPORTS)]
        return _made(writer, ",".join([*parts, writer.write(does, module_scope())]))


def _made(writer: Writer, text: str, methods: dict[str, Address] | None = None) -> Definition:
    return Definition(text, tuple(writer.references), frozenset(writer.mentions), methods or {})


def _defines(node: ast.stmt, package: str) -> Iterable[str]:
    """Return the names whose meaning a statement of a module contributes to.

    An assignment also belongs to what it changes (`table["x"] = 1`), any other statement but a definition to
    all that it speaks of (`table.update(x=1)`).
    """
    if isinstance(node, _IMPORTS):
        return ()
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return (node.name,)
    if isinstance(node, ast.Assign):
        return dict.fromkeys(name for target in node.targets for name in _roots(target))
    if isinstance(node, ast.AnnAssign | ast.AugAssign):
        return dict.fromkeys(_roots(node.target))
    spoken = (part.id for part in ast.walk(node) if isinstance(part, ast.Name))
    return dict.fromkeys(
        [*(name for name, source in names_in([node], package).items() if not source), *spoken]
    )


def _roots(target: ast.expr) -> Iterator[str]:
    """Yield the variables that an assignment to a target changes."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        yield from (name for part in target.elts for name in _roots(part))
    elif isinstance(target, ast.Attribute | ast.Subscript | ast.Starred):
        yield from _roots(target.value)


def _lazy(body: list[ast.stmt], package: str) -> dict[str, Import]:
    """Return the names that a package imports on first use, from its lists `_FROM_<ROOM>`."""
    lists = {
        target.id.removeprefix("_FROM_").lower(): node.value
        for node in body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id.startswith("_FROM_")
    }
    return {
        part.value: Import(f"{package}.{room}", part.value)
        for room, names in lists.items()
        for part in ast.walk(names)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    }
