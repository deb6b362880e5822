"""The normal form of code: what it computes, written down without names that could be others."""

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple


class Address(NamedTuple):
    """A definition of ours: `name` is that of a function, class or value, or `Class.method`.

    An empty name stands for the module as a whole.
    """

    module: str
    name: str


class Import(NamedTuple):
    """What an import brings: a name of a module, or with an empty name the module itself."""

    module: str
    name: str


Target = Address | str  # ours, or the dotted name of something in another package
Names = dict[str, Import | None]  # local names; an import says where it comes from


class Space(NamedTuple):
    """How names are looked up outside functions.

    Attributes
    ----------
    package : str
        Where relative imports start from.
    look : callable (name) -> Target or None
        A global name of the module.
    find : callable (import) -> Target or None
        What an import brings.
    """

    package: str
    look: Callable[[str], Target | None]
    find: Callable[[Import], Target | None]


class Scope(NamedTuple):
    """Local names: those seen here, and those that functions defined here see; a class hides its own."""

    seen: Names
    closure: Names

    def function(self, names: Names) -> "Scope":
        """Return the scope inside a function or a comprehension."""
        inside = self.closure | names
        return Scope(inside, inside)

    def of_class(self, names: Names) -> "Scope":
        """Return the scope of the statements of a class."""
        return Scope(self.closure | names, self.closure)

    @property
    def is_class(self) -> bool:
        return self.seen is not self.closure


def module_scope() -> Scope:
    """Return the scope of a module's statements: all that is not local is looked up."""
    nothing: Names = {}
    return Scope(nothing, nothing)


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# where a variable is kept, what a reader is told and what a type checker sees
_UNCOUNTED = {"ctx", "kind", "simple", "annotation", "returns", "type_comment", "type_params"}


class Writer:
    """Writes syntax trees as text, in which every reference to a definition of ours is a blank.

    Parameters
    ----------
    space : Space
    own : Address, optional
        What is being defined; it may refer to itself.

    Attributes
    ----------
    references : list of Address
        What belongs in the blanks, in order.
    mentions : set of str
        Names by which a method could be called.
    """

    def __init__(self, space: Space, own: Address | None = None) -> None:
        self.space, self.own = space, own
        self.references: list[Address] = []
        self.mentions: set[str] = set()

    def write(self, part: object, scope: Scope) -> str:
        """Return a tree, a list of trees or a plain value as text; what does not count is empty."""
        if isinstance(part, list):
            return f"[{','.join(text for item in part if (text := self.write(item, scope)))}]"
        if not isinstance(part, ast.AST):
            return repr(part)
        return _HOW.get(type(part), Writer._plain)(self, part, scope)

    def stand_for(self, target: Target) -> str:
        """Write a target: a blank for one of ours, its full name for any other."""
        if isinstance(target, str):
            return target
        if target == self.own:
            return "<own>"
        self.references.append(target)
        return "<>"

    def _plain(self, node: ast.AST, scope: Scope) -> str:
        # what is empty is left out, as other versions of Python have other optional fields
        given = (
            f"{name}={self.write(value, scope)}"
            for name, value in ast.iter_fields(node)
            if name not in _UNCOUNTED and value not in (None, [])
        )
        return f"{type(node).__name__}({','.join(given)})"

    def _target(self, node: ast.AST, scope: Scope) -> Target | None:
        """Return what a name or a chain of attributes stands for, None for what is local or not known."""
        if isinstance(node, ast.Name):
            return self._named(node.id, scope)
        if not isinstance(node, ast.Attribute) or (of := self._target(node.value, scope)) is None:
            return None
        if isinstance(of, str):
            return f"{of}.{node.attr}"
        return None if of.name else self.space.find(Import(of.module, node.attr))

    def _named(self, name: str, scope: Scope) -> Target | None:
        if name not in scope.seen:
            return self.space.look(name)
        source = scope.seen[name]
        return None if source is None else self.space.find(source)

    def _identifier(self, name: str, scope: Scope) -> str:
        target = self._named(name, scope)
        if target is not None:
            return self.stand_for(target)
        self.mentions.add(name)
        return name

    def _name(self, node: ast.Name, scope: Scope) -> str:
        return self._identifier(node.id, scope)

    def _attribute(self, node: ast.Attribute, scope: Scope) -> str:
        target = self._target(node, scope)
        if target is not None:
            return self.stand_for(target)
        self.mentions.add(node.attr)
        return f"{self.write(node.value, scope)}.{node.attr}"

    def _constant(self, node: ast.Constant, scope: Scope) -> str:
        if isinstance(node.value, str) and node.value.isidentifier():
            self.mentions.add(node.value)  # for getattr
        return repr(node.value)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> str:
        inside = scope.function(_arguments(node.args) | names_in(node.body, self.space.package))
        parts = (
            self._identifier(node.name, scope),
            self.write(node.args, scope),
            self.write(node.decorator_list, scope),
            self.write(node.body, inside),
        )
        return f"{type(node).__name__}({','.join(parts)})"

    def _lambda(self, node: ast.Lambda, scope: Scope) -> str:
        inside = scope.function(_arguments(node.args))
        return f"Lambda({self.write(node.args, scope)},{self.write(node.body, inside)})"

    def _class(self, node: ast.ClassDef, scope: Scope) -> str:
        return self.class_of(node, node.body, scope)

    def class_of(self, node: ast.ClassDef, body: list[ast.stmt], scope: Scope) -> str:
        """Write a class with some of its statements."""
        inside = scope.of_class(names_in(node.body, self.space.package))
        parts = (
            self._identifier(node.name, scope),
            self.write(node.bases, scope),
            self.write(node.keywords, scope),
            self.write(node.decorator_list, scope),
            self.write(body, inside),
        )
        return f"ClassDef({','.join(parts)})"

    def _comprehension(self, node: ast.AST, scope: Scope) -> str:
        loops: list[ast.comprehension] = node.generators  # type: ignore[attr-defined]
        inside = scope.function({name: None for loop in loops for name, _ in _bound(loop.target, "")})
        first = self.write(loops[0].iter, scope)  # looked up outside, unlike all that follows
        rest = [part for loop in loops for part in (loop.target, loop.ifs, loop.is_async)]
        rest += [loop.iter for loop in loops[1:]]
        rest += [getattr(node, name) for name in ("key", "value", "elt") if hasattr(node, name)]
        return f"{type(node).__name__}({first},{','.join(self.write(part, inside) for part in rest)})"

    def _annotated(self, node: ast.AnnAssign, scope: Scope) -> str:
        if scope.is_class:  # a field of a data class, with or without a default
            return self._plain(node, scope)
        if node.value is None:
            return ""
        return self._plain(ast.Assign(targets=[node.target], value=node.value), scope)

    def _raise(self, node: ast.Raise, scope: Scope) -> str:
        """Leave out what an error says: it changes no number."""
        if not isinstance(node.exc, ast.Call):
            return self._plain(node, scope)
        kept = [part for part in node.exc.args if not _is_text(part)]
        called = ast.Call(func=node.exc.func, args=kept, keywords=node.exc.keywords)
        return f"Raise({self.write(called, scope)})"

    def _expression(self, node: ast.Expr, scope: Scope) -> str:
        return "" if _is_text(node.value) else self._plain(node, scope)

    def _import(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> str:
        """Write what is imported where a module has several ways to define a name; elsewhere nothing."""
        brought = _imported(node, self.space.package)
        found = [self.space.find(source) for name, source in brought if name not in scope.seen]
        return ",".join(self.stand_for(target) for target in found if target is not None)

    def _silent(self, node: ast.AST, scope: Scope) -> str:
        return ""


_HOW: dict[type[ast.AST], Callable[..., str]] = {
    ast.Name: Writer._name,
    ast.Attribute: Writer._attribute,
    ast.Constant: Writer._constant,
    ast.FunctionDef: Writer._function,
    ast.AsyncFunctionDef: Writer._function,
    ast.Lambda: Writer._lambda,
    ast.ClassDef: Writer._class,
    ast.AnnAssign: Writer._annotated,
    ast.Raise: Writer._raise,
    ast.Expr: Writer._expression,
    ast.Import: Writer._import,
    ast.ImportFrom: Writer._import,
    ast.Global: Writer._silent,
    ast.Nonlocal: Writer._silent,
    **dict.fromkeys(_COMPREHENSIONS, Writer._comprehension),
}


def names_in(body: Iterable[ast.AST], package: str) -> Names:
    """Return the names that statements bind, not looking into functions and classes.

    Examples
    --------
    >>> sorted(names_in(ast.parse("x, y = [(a, b) for a in c]; import numpy as np").body, ""))
    ['np', 'x', 'y']
    """
    names = dict(pair for node in body for pair in _bound(node, package))
    elsewhere = [name for node in body for part in _here(node) for name in _declared(part)]
    return {name: source for name, source in names.items() if name not in elsewhere}


def _declared(node: ast.AST) -> list[str]:
    return node.names if isinstance(node, ast.Global) else []


def _bound(node: ast.AST, package: str) -> Iterator[tuple[str, Import | None]]:
    for part in _here(node):
        if isinstance(part, ast.Import | ast.ImportFrom):
            yield from _imported(part, package)
        elif isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            yield part.id, None
        else:
            yield from ((name, None) for name in _names_of(part))


def _names_of(node: ast.AST) -> list[str]:
    """Return the names that a node binds by itself: of functions, classes, errors and patterns."""
    if isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        return [node.name] if node.name else []
    return [node.rest] if isinstance(node, ast.MatchMapping) and node.rest else []


def _here(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all within it that shares its scope."""
    if isinstance(node, _COMPREHENSIONS):  # only `:=` reaches out of it
        yield from (part.target for part in ast.walk(node) if isinstance(part, ast.NamedExpr))
        return
    yield node
    if not isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
        for child in ast.iter_child_nodes(node):
            yield from _here(child)


def _imported(node: ast.Import | ast.ImportFrom, package: str) -> Iterator[tuple[str, Import]]:
    """Yield each name that an import binds, and what it brings."""
    if isinstance(node, ast.ImportFrom):
        base = _absolute(node.level, node.module or "", package)
        yield from ((alias.asname or alias.name, Import(base, alias.name)) for alias in node.names)
        return
    for alias in node.names:
        first = alias.name.partition(".")[0]
        yield (alias.asname, Import(alias.name, "")) if alias.asname else (first, Import(first, ""))


def _absolute(level: int, module: str, package: str) -> str:
    """Return the full name of a module that an import gives from here.

    >>> _absolute(2, "metrics", "unmix.experiments")
    'unmix.metrics'
    """
    if not level:
        return module
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - level + 1], *([module] if module else [])])


def _arguments(arguments: ast.arguments) -> Names:
    return {node.arg: None for node in ast.walk(arguments) if isinstance(node, ast.arg)}


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
