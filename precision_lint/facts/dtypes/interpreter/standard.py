"""Functions of the standard library that call others, or choose among what they are given."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from precision_lint.facts.dtypes.domain.calls import Argument, CallSite
from precision_lint.facts.dtypes.domain.containers import item_of
from precision_lint.facts.dtypes.domain.lattice import join, join_all, reading
from precision_lint.facts.dtypes.domain.values import (
    BOTTOM,
    UNKNOWN,
    Constant,
    Partial,
    Sequence,
    Symbol,
    Value,
    Variable,
)
from precision_lint.facts.dtypes.interpreter import attributes
from precision_lint.facts.dtypes.interpreter.protocols import Evaluate

Call = Callable[[Value, CallSite], Value]
"""Calls something with what a call gives."""

Method = Callable[[Value, ast.Call, CallSite], Value]
"""Calls a method of an object; the node has its name."""

_MOST_ITEMS = 8
"""Items that are taken one by one."""

_MOST_ROUNDS = 4
"""How often a function is called with its own result, where the items are not known."""

_BINARY: dict[str, type[ast.operator]] = {
    "add": ast.Add, "iadd": ast.Add, "concat": ast.Add, "sub": ast.Sub, "isub": ast.Sub,
    "mul": ast.Mult, "imul": ast.Mult, "truediv": ast.Div, "itruediv": ast.Div,
    "floordiv": ast.FloorDiv, "mod": ast.Mod, "pow": ast.Pow, "matmul": ast.MatMult,
    "or_": ast.BitOr, "and_": ast.BitAnd, "xor": ast.BitXor,
}  # fmt: skip

_GETTERS = frozenset({"itemgetter", "attrgetter", "methodcaller"})

_AWAITED = frozenset({"create_task", "ensure_future", "run", "shield", "wait_for"})
"""Functions of asyncio that give what a coroutine gives: what is awaited is that."""

_TAKING = frozenset({"heappop", "heappushpop", "heapreplace"})


def called(
    evaluate: Evaluate, name: str, node: ast.Call, given: CallSite, call: Call
) -> Value | None:
    """What a function gives that is called by its full name; None if it is none of these."""
    package, _, last = name.rpartition(".")
    match package:
        case "functools" if last == "reduce" and len(given.arguments) > 1:
            return _reduced(given, call)
        case "itertools" if last == "accumulate" and given.arguments:
            return _accumulated(given, call)
        case "operator" if last in _GETTERS:
            return _getter(name, given)
        case "operator" if last == "getitem" and len(given.values) == 2:
            return _item(evaluate, node, given.values[0], given.values[1])
        case "operator" if last in _BINARY and len(given.values) == 2:
            return _operated(evaluate, node, last, given)
        case "asyncio" if last == "gather" and not any(each.starred for each in given.arguments):
            return Sequence(join_all(given.values), tuple(given.values))
        case "asyncio" if last in _AWAITED and given.arguments:
            return given.first
        case "heapq" if last in _TAKING and given.arguments:
            return join_all([item_of(given.first), *given.values[1:]])
        case "heapq" if last == "merge":
            return Sequence(join_all(map(item_of, given.values)))
    return None


def _calls(given: CallSite, call: Call) -> Callable[[Value, Value, Value], Value]:
    def apply(function: Value, left: Value, right: Value) -> Value:
        arguments = (Argument(left, given.span), Argument(right, given.span))
        return call(function, replace(given, arguments=arguments, keywords={}))

    return apply


def _reduced(given: CallSite, call: Call) -> Value:
    """`reduce(function, iterable, initial)`."""
    function, iterable, *initial = given.values
    return _steps(_calls(given, call), function, iterable, initial)[-1]


def _accumulated(given: CallSite, call: Call) -> Value:
    """`accumulate(iterable, function, initial=initial)`: each of the results on the way."""
    function = given.find(1, "func")
    initial = [given.keywords["initial"].value] if "initial" in given.keywords else []
    called = Symbol("operator.add") if function is None else function.value
    iterable = given.argument(0, "iterable")
    found = _steps(_calls(given, call), called, iterable, initial)
    if isinstance(reading(iterable), Sequence) and _items(iterable) is not None:
        return Sequence(join_all(found), tuple(found))
    return Sequence(join_all(found))


def _steps(
    apply: Callable[[Value, Value, Value], Value],
    function: Value,
    iterable: Value,
    initial: list[Value],
) -> list[Value]:
    """The results of a function that gets its own result and the next item, in order."""
    items = _items(iterable)
    if items is not None:
        found = [*initial] if initial else [*items[:1]]
        for item in items if initial else items[1:]:
            found.append(apply(function, found[-1], item))
        return found or [BOTTOM]
    item = item_of(iterable)
    value = join_all(initial) if initial else item
    for _ in range(_MOST_ROUNDS):
        before, value = value, join(value, apply(function, value, item))
        if value == before:
            return [value]
    return [UNKNOWN]


def _items(iterable: Value) -> tuple[Value, ...] | None:
    match reading(iterable):
        case Sequence(items=tuple(items)) if len(items) <= _MOST_ITEMS:
            return items
    return None


def _operated(evaluate: Evaluate, node: ast.Call, name: str, given: CallSite) -> Value:
    """`operator.add(x, y)`; of terms, the step that `x + y` is."""
    left, right = map(reading, given.values)
    operator = _BINARY[name]
    if isinstance(left, Variable) or isinstance(right, Variable):
        written = evaluate.frame.module.fact(
            (_operated, node, name),
            lambda: ast.copy_location(
                ast.BinOp(ast.Name("left", ast.Load()), operator(), ast.Name("right", ast.Load())),
                node,
            ),
        )
        return evaluate.operation(written, left, right)
    return evaluate.operate(left, right, operator)


def _getter(name: str, given: CallSite) -> Value:
    """`itemgetter("x")`, `attrgetter("weight")`, `methodcaller("half")`: see `got`."""
    if not given.arguments or any(each.starred for each in given.arguments):
        return UNKNOWN
    keywords = tuple((key, one.value) for key, one in given.keywords.items())
    return Partial(Symbol(f"{name}()"), tuple(given.values), keywords)


def got(
    evaluate: Evaluate, name: str, node: ast.Call, given: CallSite, method: Method
) -> Value | None:
    """What a getter gives of an object, which comes after what it was made with."""
    *made, owner = given.values or [UNKNOWN]
    match name:
        case "operator.itemgetter()":
            found = [_item(evaluate, node, owner, key) for key in made]
        case "operator.attrgetter()":
            found = [_attribute(evaluate, node, owner, path) for path in made]
        case "operator.methodcaller()":
            return _method(evaluate, node, owner, given, method)
        case _:
            return None
    return found[0] if len(found) == 1 else Sequence(join_all(found), tuple(found))


def _item(evaluate: Evaluate, node: ast.Call, owner: Value, key: Value) -> Value:
    constant = key.value if isinstance(key, Constant) else None
    written = evaluate.frame.module.fact(
        (_item, node, repr(constant)),
        lambda: ast.copy_location(ast.Subscript(_object(node), _key(constant), ast.Load()), node),
    )
    return attributes.item(evaluate, reading(owner), reading(key), written)


def _key(value: object) -> ast.expr:
    return ast.Constant(value) if isinstance(value, str | int) else ast.Name("key", ast.Load())


def _object(node: ast.Call) -> ast.expr:
    return ast.copy_location(ast.Name("object", ast.Load()), node)


def _attribute(evaluate: Evaluate, node: ast.Call, owner: Value, path: Value) -> Value:
    if not isinstance(path, Constant) or not isinstance(path.value, str):
        return UNKNOWN
    names = path.value.split(".")
    for at, name in enumerate(names):
        read = ast.Attribute(_object(node), name, ast.Load())
        made = partial(ast.copy_location, read, node)
        written = evaluate.frame.module.fact((_attribute, node, *names[: at + 1]), made)
        owner = attributes.attribute(evaluate, reading(owner), written)
    return owner


def _method(
    evaluate: Evaluate, node: ast.Call, owner: Value, given: CallSite, method: Method
) -> Value:
    match given.first:
        case Constant(value=str(name)) if len(given.arguments) > 1:
            pass
        case _:
            return UNKNOWN
    written = evaluate.frame.module.fact(
        (_method, node, name),
        lambda: ast.copy_location(
            ast.Call(
                ast.copy_location(ast.Attribute(_object(node), name, ast.Load()), node), [], []
            ),
            node,
        ),
    )
    return method(reading(owner), written, replace(given, arguments=given.arguments[1:-1]))
