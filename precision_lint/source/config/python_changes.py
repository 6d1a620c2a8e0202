"""What becomes of a value after it was written: `config["fp16"]["enabled"] = False`.

Every store, deletion and changing call is traced back, without regard to order, to whatever its
target can be: through names, attributes, loops, what functions of the file return and are given.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Set
from enum import Enum
from typing import TypeAlias

from precision_lint.model.regex import regex
from precision_lint.source.config.settings_tree import Merge
from precision_lint.source.python.names import Names, assigned
from precision_lint.source.python.scopes import Binding, Step
from precision_lint.source.python.statements import FunctionDefinition, own_nodes
from precision_lint.source.python.syntax import callee_name, positional_parameters

_MOST_STEPS = 100_000  # of a file; where there are more, anything may have changed
_MAX_PATH = 3  # a change below is one of what it is in

_METHOD = regex(
    r"__setitem__|set|set_\w+|update\w*|merge\w*|override\w*|pop|popitem|clear|setdefault"
    r"|append|extend|insert|remove"
)
_BY_KEY = frozenset({"pop", "setdefault", "__setitem__", "set"})
_FUNCTION = regex(r"_*(?:update|merge|override|patch|fill|adjust|modify)(_\w+)?")
_GETTERS = frozenset({"get", "setdefault", "pop"})
_SETTERS = frozenset({"setattr", "delattr", "setitem"})
_COPIES = frozenset({"dict", "list", "tuple", "copy", "enumerate", "zip", "reversed", "sorted"})
_VIEWS = frozenset({"copy", "items", "values"})
_SELF = frozenset({"self", "cls"})


class Unknown(Enum):
    """A key that only run time knows."""

    KEY = "*"


Path: TypeAlias = tuple[object, ...]
_Change: TypeAlias = tuple[ast.expr, Path]
_EVERYTHING = frozenset({Unknown.KEY})


_CHANGING = (
    ast.Call, ast.Attribute, ast.Subscript, ast.Assign, ast.AnnAssign, ast.AugAssign,
    ast.FunctionDef, ast.AsyncFunctionDef,
)  # fmt: skip
"""The nodes that store or change something, or hand it on."""


class MutationTracker:
    """The keys that are stored in the displays and the objects of a file."""

    def __init__(self, nodes: Iterable[ast.AST], names: Names) -> None:
        self._names = names
        self._changed: dict[ast.expr, set[object]] = {}
        self._members: dict[ast.Dict, dict[object, list[ast.expr]]] = {}
        self._calls: dict[str, list[ast.Call]] = {}
        self._functions: dict[str, list[FunctionDefinition]] = {}
        self._returned: dict[str, list[ast.expr]] = {}
        self._stored: dict[object, list[ast.expr]] = {}
        changes = dict.fromkeys(self._augmented())
        for node in nodes:
            if isinstance(node, _CHANGING):
                self._index(node)
                changes.update(dict.fromkeys(self._made_by(node)))
        self._is_lost = not self._trace([*changes])

    def keys(self, node: ast.expr) -> Set[object]:
        """The keys of a display, or of what a call makes, that change; `Unknown.KEY` for all."""
        return _EVERYTHING if self._is_lost else self._changed.get(node, frozenset())

    def _trace(self, pending: list[_Change]) -> bool:
        """Follow every change to what it changes; False if there is no end of it."""
        seen = set(pending)
        steps = 0
        while pending:
            for change in self._traced(*pending.pop()):
                steps += 1
                if steps > _MOST_STEPS:
                    return False
                if change not in seen:
                    seen.add(change)
                    pending.append(change)
        return True

    def _index(self, node: ast.AST) -> None:
        match node:
            case ast.Call():
                self._calls.setdefault(callee_name(node), []).append(node)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                self._functions.setdefault(name, []).append(node)
        for key, value in _stores(node):
            self._stored.setdefault(key, []).append(value)

    # Where something is changed

    def _made_by(self, node: ast.AST) -> Iterator[_Change]:
        """The changes that a node makes."""
        match node:
            case (
                ast.Attribute(ctx=ast.Store() | ast.Del())
                | ast.Subscript(ctx=ast.Store() | ast.Del())
            ):
                yield node.value, (_key(node),)
            case ast.AugAssign(target=ast.Attribute() | ast.Subscript() as target):
                yield target, (Unknown.KEY,)
            case ast.Call(args=[changed, key, *_]) if callee_name(node) in _SETTERS:
                yield changed, (_constant(key),)
            case ast.Call(func=ast.Attribute(value=owner, attr=method)) if _METHOD.fullmatch(
                method
            ):
                yield from ((owner, (key,)) for key in _keys_of(node, method))
        if isinstance(node, ast.Call) and _changes_what_it_is_given(node):
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            yield from ((each, (Unknown.KEY,)) for each in given)

    def _augmented(self) -> Iterator[_Change]:
        """`config |= {...}` changes what the name was bound to before."""
        for scope in self._names.scopes.all:
            for bindings in scope.bindings.values():
                if any(isinstance(each.at.node, ast.AugAssign) for each in bindings):
                    for each in bindings:
                        value = assigned(each)
                        if value is not None:
                            yield value, (Unknown.KEY,)

    # What it is that is changed

    def _traced(self, value: ast.expr, path: Path) -> Iterator[_Change]:
        """A change of `value[path[0]][path[1]]…` as changes of what `value` is made of."""
        match value:
            case ast.Name():
                for binding in self._names.bindings(value):
                    yield from self._bound(binding, value.id, path)
            case ast.Attribute(value=owner) | ast.Subscript(value=owner):
                key = _key(value)
                yield owner, (key, *path)[:_MAX_PATH]
                for name in {key} if isinstance(value, ast.Attribute) else {key, Unknown.KEY}:
                    yield from ((held, path) for held in self._stored.get(name, ()))
            case ast.IfExp(body=one, orelse=other):
                yield one, path
                yield other, path
            case ast.BoolOp(values=values):
                yield from ((each, path) for each in values)
            case ast.NamedExpr(value=inner) | ast.Await(value=inner) | ast.Starred(value=inner):
                yield inner, path
            case ast.Call(func=ast.Attribute(value=owner, attr=name), args=[key, *_]) if (
                name in _GETTERS
            ):
                yield owner, (_constant(key), *path)[:_MAX_PATH]
            case ast.BinOp(left=left, op=ast.BitOr(), right=right) if path[1:]:
                yield left, path
                yield right, path
            case ast.Call(func=ast.Attribute(value=owner, attr=name), args=[]) if (
                name in _VIEWS and path[1:]
            ):
                yield owner, path
            case ast.Call():
                yield from self._of_call(value, path)
            case ast.Dict():
                yield from self._of_members(value, self._members_of(value), path)
            case ast.List(elts=items) | ast.Tuple(elts=items) if path[1:]:
                yield from ((item, path[1:]) for item in items)
            case ast.List() | ast.Tuple():
                self._note(value, Unknown.KEY)

    def _of_call(self, call: ast.Call, path: Path) -> Iterator[_Change]:
        name = callee_name(call)
        members: dict[object, list[ast.expr]] = {}
        for keyword in call.keywords:
            members.setdefault(keyword.arg or Merge.KEY, []).append(keyword.value)
        yield from self._of_members(call, members, path)
        # An object may hold what it is made of; a function rarely hands back what it is given.
        is_kept = name[:1].isupper() or (name in _COPIES and len(path) > 1)
        for argument in call.args:
            if is_kept or (isinstance(argument, ast.Dict) and name not in _COPIES):
                yield argument, path
        for returned in self._returned_by(name):
            yield returned, path

    def _returned_by(self, name: str) -> list[ast.expr]:
        """What the functions of a name return."""
        if name not in self._returned:
            self._returned[name] = [
                each.value
                for function in self._functions.get(name, ())
                for each in own_nodes(function)
                if isinstance(each, ast.Return) and each.value is not None
            ]
        return self._returned[name]

    def _of_members(
        self, node: ast.expr, members: dict[object, list[ast.expr]], path: Path
    ) -> Iterator[_Change]:
        """A change in a member that is written there, else of the display itself."""
        key, *rest = path
        if not rest or (key is not Unknown.KEY and key not in members):
            self._note(node, key)
        if not rest:
            return
        # What is spread is a copy, whose members are those of the original.
        yield from ((each, path) for each in members.get(Merge.KEY, ()))
        for name in members if key is Unknown.KEY else {key, Unknown.KEY} & members.keys():
            if name is not Merge.KEY:
                yield from ((each, (*rest,)) for each in members[name])

    def _members_of(self, node: ast.Dict) -> dict[object, list[ast.expr]]:
        if node not in self._members:
            members: dict[object, list[ast.expr]] = {}
            for key, value in _items(node):
                members.setdefault(key, []).append(value)
            self._members[node] = members
        return self._members[node]

    def _bound(self, binding: Binding, name: str, path: Path) -> Iterator[_Change]:
        match binding.at:
            case Step(node=ast.Tuple() | ast.List(), above=Step() as around):
                yield from self._unpacked(around, (Unknown.KEY, *path)[:_MAX_PATH])
            case Step(node=ast.NamedExpr(value=value), field="target"):
                yield value, path
            case Step(node=ast.arguments()) if name not in _SELF:
                yield from self._given(binding.at, name, path)
            case Step(node=ast.Assign(value=value)):
                yield value, path
            case Step(node=ast.AnnAssign(value=ast.expr() as value)):
                yield value, path
            case around:
                yield from self._unpacked(around, (Unknown.KEY, *path)[:_MAX_PATH])

    def _unpacked(self, around: Step, path: Path) -> Iterator[_Change]:
        """A change of something in what is assigned or looped over."""
        match around.node:
            case ast.Assign(value=value):
                yield value, path
            case ast.For(iter=value) | ast.AsyncFor(iter=value) | ast.comprehension(iter=value):
                yield value, path

    def _given(self, parameter: Step, name: str, path: Path) -> Iterator[_Change]:
        """What the calls in the file give for a parameter."""
        step = parameter.above
        function = None if step is None else step.node
        if not isinstance(function, FunctionDefinition):
            return
        around = None if step is None or step.above is None else step.above.node
        is_method = isinstance(around, ast.ClassDef)
        called = function.name
        if isinstance(around, ast.ClassDef) and called == "__init__":
            called = around.name
        names = [each.arg for each in positional_parameters(function.args)]
        index = names.index(name) - is_method if name in names else -1
        for call in self._calls.get(called, ()):
            yield from ((each.value, path) for each in call.keywords if each.arg == name)
            if 0 <= index < len(call.args):
                yield call.args[index], path

    def _note(self, node: ast.expr, key: object) -> None:
        self._changed.setdefault(node, set()).add(key)


def _key(node: ast.Attribute | ast.Subscript) -> object:
    return node.attr if isinstance(node, ast.Attribute) else _constant(node.slice)


def _constant(node: ast.expr | None) -> object:
    return node.value if isinstance(node, ast.Constant) else Unknown.KEY


def _stores(node: ast.AST) -> Iterator[tuple[object, ast.expr]]:
    """The values that a node stores in something, by the keys that they get."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target, each in (pair for one in targets for pair in _pairs(one, value)):
                if isinstance(target, ast.Attribute | ast.Subscript):
                    yield _key(target), each
        case ast.AnnAssign(target=ast.Attribute(attr=name), value=ast.expr() as value):
            yield name, value
        case ast.AugAssign(value=ast.Dict() as display):
            yield from _items(display)
        case ast.Call(args=[key, value]) if callee_name(node) == "setdefault":
            yield _constant(key), value
        case ast.Call(args=[_, key, value]) if callee_name(node) in _SETTERS:
            yield _constant(key), value
        case ast.Call(args=arguments, keywords=keywords) if callee_name(node) == "update":
            for argument in arguments:
                if isinstance(argument, ast.Dict):
                    yield from _items(argument)
            yield from ((keyword.arg or Unknown.KEY, keyword.value) for keyword in keywords)


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """`a, b = c, d` target by target."""
    match target, value:
        case ast.Tuple(elts=targets), ast.Tuple(elts=values):
            yield from zip(targets, values, strict=False)
        case _:
            yield target, value


def _items(display: ast.Dict) -> Iterator[tuple[object, ast.expr]]:
    for key, value in zip(display.keys, display.values, strict=True):
        yield Merge.KEY if key is None else _constant(key), value


def _changes_what_it_is_given(call: ast.Call) -> bool:
    """True for `update_config(config)` and `OmegaConf.update(config, …)`, by their names.

    `other.update(config)` only reads it.
    """
    found = _FUNCTION.fullmatch(callee_name(call))
    match call.func:
        case ast.Attribute(value=ast.Name(id=owner)) if found and not found[1]:
            return owner[:1].isupper()
    return found is not None


def _keys_of(call: ast.Call, method: str) -> Iterator[object]:
    """The keys that a changing method stores or takes out."""
    if method in _BY_KEY and call.args:
        yield _constant(call.args[0])
        return
    if method in ("popitem", "clear"):
        yield Unknown.KEY
    for argument in call.args:
        if isinstance(argument, ast.Dict):
            yield from map(_constant, argument.keys)
        else:
            yield Unknown.KEY
    for keyword in call.keywords:
        yield keyword.arg or Unknown.KEY
