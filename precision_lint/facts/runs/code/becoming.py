"""What a value becomes on its way through a program, where the steps that change it are plain.

`torch.float32 if args.fp16 else torch.bfloat16` makes `float32` of `true`. Where a step is not
plain, such as the call of a function that is not followed, what comes out of it is not known, and
the step itself says how the value is made. The name of a precision stays what it is in such a step:
tables and functions that get a name give what it means.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeAlias

from precision_lint.facts.frameworks.sources import typed
from precision_lint.facts.settings.vocabulary import names_precision
from precision_lint.model.dtypes import ALIASES
from precision_lint.model.frozen import frozen
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import callee_name, dotted, last_name
from precision_lint.source.python.syntax_tree import syntax_tree

NOT_USED = "not used"
"""What a value is for a place to which no run with it comes."""
_LIBRARIES = frozenset({"torch", "np", "numpy", "jnp", "jax", "tf", "mx"})
_Members = ast.Attribute | ast.Subscript
_MOST_TRIED = 400
"""Steps of all ways to one place."""
_PLAIN_METHODS = frozenset({"lower", "upper", "strip", "casefold", "replace", "removeprefix"})


@frozen(slots=False)
class Step:
    """An expression that makes something of the value that a part of it stands for; or a condition,
    with the statement that it decides, and whether a place in that counts, or what it assigns.
    """

    part: ast.expr
    whole: ast.expr | ast.If
    file: ParsedPython
    chosen: ast.AST | None = None
    has_place: bool = False


Way: TypeAlias = "tuple[Step, ...]"
Asking: TypeAlias = "Callable[[ast.expr, ParsedPython], bool | None]"
"""Whether a condition holds that other settings decide; None if that is not known."""
_Known: TypeAlias = "tuple[tuple[Step, object], ...]"
"""The steps up to one, each with the value that its part has."""


@frozen(slots=False)
class Become:
    """What a value is in the end; or, if that is not known, the expression that makes it, and what
    the value is in it.
    """

    value: object = None
    by: str = ""
    only_if: str = ""
    """The condition under which it is asked at all: one that is not known comes first."""


class _NotPlain(Exception):
    """What comes out of an expression is not known, but perhaps what the value is in it: of `not
    args.no_amp and device.type == "cuda"` the first part is `True` by default.
    """

    def __init__(self, node: ast.AST, value: object = None) -> None:
        self.node = node
        self.value = value


class _NotTaken(Exception):
    """No run with the value goes this way."""


def become(ways: Sequence[Way], value: object, asking: Asking) -> Become | None:
    """What a value comes to at a place that some ways lead to; None if nothing changes it."""
    if not any(ways):
        return None
    is_name = names_precision(value)
    found: list[object] = []
    first: list[str] = []
    is_decided = True
    for way in ways:
        before = [(test, asking(test, file)) for test, file in _asked_before(way)]
        if any(holds for _, holds in before):
            continue  # a branch of another setting is taken in its place
        try:
            found.append(_along(way, _start(value)))
            own = frozenset(name for step in way for name in _read_in(step.part))
            open_ones = (test for test, holds in before if holds is None)
            others = (ast.unparse(test) for test in open_ones if own.isdisjoint(_read_in(test)))
            first += islice(others, 1)
        except _NotTaken:
            continue
        except _NotPlain as lost:
            if _is_of_condition(lost.node, way):
                is_decided = False  # what the branch assigns may never count
                continue
            return None if is_name else Become(lost.value, ast.unparse(lost.node))
    if not found and not is_decided:
        return None
    distinct = {repr(each): each for each in found if not is_name or _says_more(each)}
    if len(distinct) > 1:
        step = next(step for way in ways for step in way)
        return Become(
            by=ast.unparse(step.whole.test if isinstance(step.whole, ast.If) else step.whole)
        )
    if not found and not is_name:
        return Become(NOT_USED)  # a branch that it does not take would give something, or has it
    only_if = f"not {first[0]}" if first and len(first) == len(found) else ""
    return Become(next(iter(distinct.values())), only_if=only_if) if distinct else None


def _asked_before(way: Way) -> Iterator[tuple[ast.expr, ParsedPython]]:
    """The conditions that come first: of `if cfg.bf16` for `elif cfg.fp16`."""
    for step in way:
        syntax, branch = syntax_tree(step.file), step.whole
        while isinstance(outer := syntax.parent(branch), ast.If) and branch in outer.orelse:
            yield outer.test, step.file
            branch = outer


def _read_in(node: ast.AST) -> frozenset[str]:
    """What a condition reads, without what it is read from."""
    nodes = [each for each in walk(node) if isinstance(each, ast.Name | _Members)]
    inner = {id(each.value) for each in nodes if isinstance(each, _Members)}
    return frozenset(ast.dump(each) for each in nodes if id(each) not in inner)


def _is_of_condition(node: ast.AST, way: Way) -> bool:
    """True for the condition of an `if` on a way, and for what stands in it."""
    tests = (step.whole.test for step in way if isinstance(step.whole, ast.If))
    return any(each is node for test in tests for each in walk(test))


def _says_more(value: object) -> bool:
    """True for what the name of a precision may become: not for a switch that it turns on."""
    return value is False or names_precision(value)


def _start(value: object) -> object:
    """The value as a program has it: a word is what a parser makes of it."""
    return typed(value) if isinstance(value, str) else value


def _along(way: Way, first: object) -> object:
    value = first
    known: _Known = ()
    is_inside = False
    for step, after in zip(way, (*way[1:], None), strict=False):
        if not is_inside:
            known = (*known, (step, value))
        # Of an expression in another one the outer one says whether it counts.
        is_inside = step.chosen is None and after is not None and after.part is step.whole
        is_inside = is_inside and after is not None and after.chosen is None
        if is_inside:
            continue
        if step.chosen is None:
            assert isinstance(step.whole, ast.expr)
            value = _Plain(known).of(step.whole)
        elif _is_taken(step) is not bool(value):
            raise _NotTaken
        elif step.has_place:  # the value is the reason; a switch that keeps off is not the place
            value = True if first is False else first
        else:
            value = _of_statement(known, step)
    return value


def _is_taken(step: Step) -> bool:
    """Whether a condition has to hold for what it decides."""
    assert isinstance(step.whole, ast.If | ast.IfExp)
    body = step.whole.body if isinstance(step.whole, ast.If) else [step.whole.body]
    return any(each is step.chosen for inner in body for each in walk(inner))


def _of_statement(known: _Known, step: Step) -> object:
    """What a statement says that a condition chooses: a constant that it assigns."""
    match step.chosen:
        case (
            ast.Assign(value=ast.expr() as said)
            | ast.AnnAssign(value=ast.expr() as said)
            | ast.Return(value=ast.expr() as said)
        ):
            return _Plain(known).of(said)
    return known[0][1]


class _Plain:
    """Works out an expression in which the parts have values that a way has come through."""

    def __init__(self, known: _Known) -> None:
        self.known = known
        self.file = known[-1][0].file

    def of(self, node: ast.expr) -> object:
        for step, value in reversed(self.known):
            if node is step.part or self._is_again(node, step):
                return value
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Attribute() if (dotted(node) or "").partition(".")[0] in _LIBRARIES:
                return last_name(node)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self.of(operand)
            case ast.BoolOp():
                return self._connected(node)
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                return self._compared(self.of(left), operator, right)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._chosen(node, test, body, orelse)
            case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
                return [self.of(each) for each in items]
            case ast.Subscript(value=table, slice=key):
                return self._entry(node, table, self.of(key))
            case ast.Call():
                return self._called(node)
        raise _NotPlain(node)

    def _is_again(self, node: ast.expr, step: Step) -> bool:
        """True for another mention of the same value: `x if x in names else None`."""
        if step.file is not self.file or not isinstance(
            node, ast.Name | ast.Attribute | ast.Subscript
        ):
            return False
        function = syntax_tree(self.file).function
        return ast.dump(node) == ast.dump(step.part) and function(node) is function(step.part)

    def _chosen(self, node: ast.IfExp, test: ast.expr, body: ast.expr, orelse: ast.expr) -> object:
        try:
            holds = bool(self.of(test))
        except _NotPlain:
            raise _NotPlain(node) from None
        return self.of(body if holds else orelse)

    def _connected(self, node: ast.BoolOp) -> object:
        """`a and b`, `a or b`, of which one part may be enough."""
        stops = isinstance(node.op, ast.Or)
        value: object = None
        is_known = True
        for each in node.values:
            try:
                value = self.of(each)
            except _NotPlain:
                is_known = False
                continue
            if bool(value) is stops:
                if is_known or value is False:
                    return value
                raise _NotPlain(node)
        if not is_known:
            raise _NotPlain(node, value)
        return value

    def _compared(self, value: object, operator: ast.cmpop, right: ast.expr) -> bool:
        other = self.of(right)
        match operator:
            case ast.Eq() | ast.Is():
                return _is_same(value, other)
            case ast.NotEq() | ast.IsNot():
                return not _is_same(value, other)
            case ast.In() | ast.NotIn() if isinstance(other, list):
                is_in = any(_is_same(value, each) for each in other)
                return is_in is isinstance(operator, ast.In)
        raise _NotPlain(right)

    def _entry(self, node: ast.expr, table: ast.expr, key: object) -> object:
        """`{"bf16": torch.bfloat16}[kind]`, and the same by a name that has one value."""
        if isinstance(table, ast.Name):
            syntax = syntax_tree(self.file)
            stores = [*syntax.stores(syntax.tree, table.id)]
            if function := syntax.function(table):
                stores = [*syntax.stores(function, table.id)] or stores
            parents = [syntax.parent(store) for store in stores]
            values = [each.value for each in parents if isinstance(each, ast.Assign)]
            table = values[0] if len(parents) == len(values) == 1 else table
        if isinstance(table, ast.Dict):
            for name, value in zip(table.keys, table.values, strict=True):
                if isinstance(name, ast.Constant) and _is_same(name.value, key):
                    return self.of(value)
        raise _NotPlain(node)

    def _called(self, call: ast.Call) -> object:
        name = callee_name(call)
        match call:
            case ast.Call(func=ast.Attribute(value=inner), args=args, keywords=[]) if (
                name in _PLAIN_METHODS
            ):
                text, given = self.of(inner), [self.of(each) for each in args]
                if isinstance(text, str) and all(isinstance(each, str) for each in given):
                    try:
                        return getattr(text, name)(*given)
                    except TypeError:
                        raise _NotPlain(call) from None
            case ast.Call(args=[inner], keywords=[]) if name in ("str", "bool", "int"):
                value = self.of(inner)
                return bool(value) if name == "bool" else value
            case ast.Call(args=[ast.Name(id=module), inner, *_]) if (
                name == "getattr" and module in _LIBRARIES
            ):
                text = self.of(inner)
                if isinstance(text, str) and "." not in text:
                    return text
        raise _NotPlain(call)


def _is_same(one: object, other: object) -> bool:
    """Equality; a word of digits is a number if the program says so."""
    if isinstance(one, bool | None) or isinstance(other, bool | None):
        return one is other
    return one == other or str(one) == str(other)


def made_of(become: Become) -> str:
    """What a value has come to, or how it is made, as people write it."""
    if become.by:
        is_name = become.by.replace(".", "").isidentifier()
        return become.by if is_name else f"made by {become.by}"
    return ALIASES.get(str(become.value).removeprefix("torch."), shown(become.value))


def shown(value: object) -> str:
    """A value as people write it."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return str(value)


def ways_back(
    key: object, back: dict[object, list[tuple[object, Step | None]]], starts: Iterable[object]
) -> tuple[Way, ...] | None:
    """The ways from where a value is read to a key, by what leads to each; None if many do."""
    first = frozenset(starts)
    found: dict[tuple[int, ...], Way] = {}
    pending: list[tuple[object, Way, frozenset[object]]] = [(key, (), frozenset({key}))]
    for _ in range(_MOST_TRIED):
        if not pending:
            return tuple(found.values())
        at, way, passed = pending.pop()
        leading = [row for row in back.get(at, ()) if row[0] not in passed]
        if at in first or not leading:
            found.setdefault(tuple(map(id, way)), way)
        for before, step in leading:
            pending.append((before, (step, *way) if step else way, passed | {before}))
    return None
