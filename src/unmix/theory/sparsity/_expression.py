"""Set expressions such as `(A & B) - C`, read by Python's own parser and never executed."""

import ast
from collections.abc import Mapping
from typing import Any

_OPERATIONS = {
    ast.BitAnd: frozenset.__and__,
    ast.BitOr: frozenset.__or__,
    ast.Sub: frozenset.__sub__,
    ast.BitXor: frozenset.__xor__,
}
_LONGEST = 1000
_ALLOWED = "names of sets, the operators & | - ^ ~ and parentheses"


def evaluate(
    expression: str, sets: Mapping[str, frozenset[int]], everything: frozenset[int]
) -> frozenset[int]:
    """Return the members of a set expression.

    Parameters
    ----------
    expression : str
        Over the names in `sets`, with `&`, `|`, `-`, `^`, `~` and parentheses; operators bind as in Python,
        so that `-` comes before `&`, then `^`, then `|`.
    sets : mapping of str to frozenset of int
    everything : frozenset of int
        What a complement is taken in.

    Examples
    --------
    >>> sets = {"A": frozenset({0, 1, 2}), "B": frozenset({1, 2, 3}), "C": frozenset({2})}
    >>> sorted(evaluate("(A & B) - C", sets, frozenset(range(5))))
    [1]
    >>> sorted(evaluate("~(A ^ B)", sets, frozenset(range(5))))
    [1, 2, 4]
    """
    return _value(parse(expression), sets, everything)


def parse(expression: str) -> ast.expr:
    """Read an expression as a tree, or refuse it."""
    if not isinstance(expression, str) or len(expression) > _LONGEST:
        raise ValueError(
            f"`expression` must be text of at most {_LONGEST} characters, got {expression!r:.60}."
        )
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, RecursionError, MemoryError, ValueError):
        raise ValueError(
            f"`expression` must be a set expression, got {expression!r}. Use {_ALLOWED}."
        ) from None
    return tree


def is_monotone(tree: ast.expr) -> bool:
    """Say whether only intersections and unions occur."""
    if isinstance(tree, ast.BinOp):
        joined = isinstance(tree.op, ast.BitAnd | ast.BitOr)
        return joined and is_monotone(tree.left) and is_monotone(tree.right)
    return isinstance(tree, ast.Name)


def names_in(tree: ast.expr) -> frozenset[str]:
    """Return the names of sets that occur."""
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


def _value(tree: ast.expr, sets: Mapping[str, frozenset[int]], everything: frozenset[int]) -> frozenset[int]:
    if isinstance(tree, ast.Name):
        return _named(tree.id, sets)
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Invert):
        return everything - _value(tree.operand, sets, everything)
    if isinstance(tree, ast.BinOp) and type(tree.op) in _OPERATIONS:
        operation: Any = _OPERATIONS[type(tree.op)]
        found: frozenset[int] = operation(
            _value(tree.left, sets, everything), _value(tree.right, sets, everything)
        )
        return found
    raise ValueError(
        f"`expression` must hold only {_ALLOWED}, got `{ast.unparse(tree)}`. Write it with these."
    )


def _named(name: str, sets: Mapping[str, frozenset[int]]) -> frozenset[int]:
    if name not in sets:
        known = ", ".join(sorted(sets)) or "none"
        raise ValueError(
            f"`expression` must name given sets ({known}), got `{name}`. Pass {name}=[...] as well."
        )
    return sets[name]
