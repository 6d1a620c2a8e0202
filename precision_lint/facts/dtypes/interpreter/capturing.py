"""What the patterns of a `match` statement capture, and which of them a value never matches."""

from __future__ import annotations

import ast
from collections.abc import Container
from dataclasses import replace

from precision_lint.facts.dtypes.domain.containers import starred, unpacked
from precision_lint.facts.dtypes.domain.environment import Environment, bind, join_into
from precision_lint.facts.dtypes.domain.lattice import join_all, reading
from precision_lint.facts.dtypes.domain.terms import Step
from precision_lint.facts.dtypes.domain.values import (
    UNKNOWN,
    Constant,
    Dictionary,
    Instance,
    Sequence,
    Symbol,
    Tensor,
    Value,
    Variable,
)
from precision_lint.facts.dtypes.interpreter import attributes
from precision_lint.facts.dtypes.interpreter.protocols import Evaluate
from precision_lint.source.python.statements import captured

_OF_ITSELF = frozenset(
    {
        "bool",
        "bytearray",
        "bytes",
        "dict",
        "float",
        "frozenset",
        "int",
        "list",
        "set",
        "str",
        "tuple",
    }
)
"""Classes whose one positional pattern is the object itself: `case list(items)`."""


def capture(
    evaluate: Evaluate, pattern: ast.pattern, subject: ast.expr, value: Value, env: Environment
) -> None:
    """Bind the names that a pattern captures; `subject` is the expression of the value."""
    match pattern:
        case ast.MatchAs(pattern=inner, name=name):
            if name is not None:
                _bind(name, value, env)
            if inner is not None:
                capture(evaluate, inner, subject, value, env)
        case ast.MatchSequence(patterns=patterns):
            _items(evaluate, patterns, subject, value, env)
        case ast.MatchMapping(keys=keys, patterns=patterns, rest=rest):
            for key, inner in zip(keys, patterns, strict=True):
                entry = ast.copy_location(ast.Subscript(subject, key, ast.Load()), pattern)
                held = attributes.item(evaluate, reading(value), evaluate.read(key, env), entry)
                capture(evaluate, inner, entry, held, env)
            if rest is not None:
                named = [each.value for each in keys if isinstance(each, ast.Constant)]
                _bind(rest, _rest(value, named if len(named) == len(keys) else None), env)
        case ast.MatchClass():
            _attributes(evaluate, pattern, subject, value, env)
        case ast.MatchOr(patterns=patterns):
            branches = [env.copy() for _ in patterns]
            for inner, branch in zip(patterns, branches, strict=True):
                capture(evaluate, inner, subject, value, branch)
            join_into(branches, env)
        case _:
            for name in captured(pattern):
                _bind(name, UNKNOWN, env)


def _bind(name: str, value: Value, env: Environment) -> None:
    bind(ast.Name(name, ast.Store()), value, env)


def _items(
    evaluate: Evaluate,
    patterns: list[ast.pattern],
    subject: ast.expr,
    value: Value,
    env: Environment,
) -> None:
    star = next((at for at, one in enumerate(patterns) if isinstance(one, ast.MatchStar)), None)
    for at, inner in enumerate(patterns):
        after = len(patterns) - 1 - at
        if isinstance(inner, ast.MatchStar):
            if inner.name is not None:
                _bind(inner.name, starred(value, at, after), env)
            continue
        position = at if star is None or at < star else -1 - after
        index = ast.copy_location(ast.Constant(position), inner)
        item = ast.copy_location(ast.Subscript(subject, index, ast.Load()), inner)
        capture(evaluate, inner, item, unpacked(value, position), env)


def _rest(value: Value, named: Container[object] | None) -> Value:
    """The entries of a mapping without those that a pattern names."""
    match reading(value):
        case Dictionary(items=tuple(items)) as mapping if named is not None:
            kept = tuple((key, held) for key, held in items if key not in named)
            return replace(mapping, item=join_all(held for _, held in kept), items=kept)
        case Dictionary(item=item):
            return Dictionary(item)
        case Variable() as variable:
            return variable.then(Step("mapping"))
    return UNKNOWN


def _attributes(
    evaluate: Evaluate,
    pattern: ast.MatchClass,
    subject: ast.expr,
    value: Value,
    env: Environment,
) -> None:
    """`case Output(logits, loss=loss)`: fields in their order, and attributes by their names."""
    read = reading(value)
    named = dict(zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True))
    match pattern.cls, pattern.patterns, read:
        case ast.Name(id=name), [inner], _ if name in _OF_ITSELF:
            capture(evaluate, inner, subject, value, env)
        case _, [_, *_], Instance(fields=fields) if evaluate.analysis.classes.is_record(
            read.definition
        ):
            named |= dict(zip((name for name, _ in fields), pattern.patterns, strict=False))
        case _:
            for inner in pattern.patterns:
                capture(evaluate, inner, subject, UNKNOWN, env)
    for name, inner in named.items():
        node = ast.copy_location(ast.Attribute(subject, name, ast.Load()), pattern)
        capture(evaluate, inner, node, attributes.attribute(evaluate, read, node), env)


def never_matches(evaluate: Evaluate, pattern: ast.pattern, value: Value, env: Environment) -> bool:
    """True for a pattern of another kind of object than a value certainly is."""
    match pattern, value:
        case ast.MatchAs(pattern=ast.pattern() as inner), _:
            return never_matches(evaluate, inner, value, env)
        case ast.MatchOr(patterns=patterns), _:
            return all(never_matches(evaluate, each, value, env) for each in patterns)
        case ast.MatchSequence(patterns=patterns), Sequence(items=tuple(items)):
            is_open = any(isinstance(each, ast.MatchStar) for each in patterns)
            return len(patterns) - 1 > len(items) if is_open else len(patterns) != len(items)
        case (ast.MatchSequence(), Dictionary()) | (ast.MatchMapping(), Sequence()):
            return True
        case ((ast.MatchSequence() | ast.MatchMapping()), (Tensor() | Constant())):
            return not isinstance(value, Tensor) or not value.is_open
        case ast.MatchClass(cls=kind), (Sequence() | Dictionary() | Tensor()):
            asked = _kind(evaluate, kind, env)
            own = {Sequence: "sequence", Dictionary: "mapping", Tensor: "tensor"}[type(value)]
            is_known = not isinstance(value, Tensor) or not value.is_open
            return is_known and asked is not None and asked != own
    return False


def _kind(evaluate: Evaluate, kind: ast.expr, env: Environment) -> str | None:
    """What a pattern asks for by a class, if that is one of containers or of tensors."""
    match kind:
        case ast.Name(id="dict"):
            return "mapping"
        case ast.Name(id="list" | "tuple" | "set"):
            return "sequence"
    return "tensor" if evaluate(kind, env) == Symbol("torch.Tensor") else None
