"""Casts of every tensor of a batch, token ids and masks included.

`{name: value.to(device, torch.float16) for name, value in batch.items()}`, the same as a loop, and
`ids, mask = [each.half() for each in batch]`. That the batch has integers is known where the
function reads them by their names, makes the batch of them, or gets it from a tokenizer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.dtypes.operators.conversions import CASTS
from precision_lint.facts.dtypes.syntax.sources import INTEGRAL_NAME, TOKENS
from precision_lint.model.dtypes import ALIASES, FLOATING
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import callee_name, dotted, last_name, qualified
from precision_lint.source.python.syntax_tree import Scope, SyntaxTree, syntax_tree

_TOKENIZERS = regex(r"(?:^|_)tokenizer?$|^tokenize$|^batch_encode_plus$|^encode_plus$")
_SWEEPING: tuple[type[ast.AST], ...] = (ast.DictComp, ast.ListComp, ast.GeneratorExp, ast.For)
_OF_TYPES = frozenset({"isinstance", "hasattr", "is_tensor"})
"""Conditions that hold for tensors of any dtype."""


@frozen
class BlanketCast:
    """The cast of each item of a batch.

    `call` casts the `item`, to what `dtype` says (None for `.half()`), and `integer` is where the
    function shows that an item of the batch holds integers.
    """

    call: ast.Call
    item: str
    dtype: ast.expr | None
    integer: ast.expr
    name: str


@frozen
class _Sweep:
    """Something that is done to each item of a batch: a value, and what is made of the values.

    Nothing is `made` by a loop that changes the batch.
    """

    value: ast.expr
    item: str
    key: str
    batch: ast.expr
    made: ast.expr | None

    def results(self, syntax: SyntaxTree) -> tuple[ast.expr, ...]:
        """What the values are assigned to, each by its own name if they are unpacked."""
        return (self.batch,) if self.made is None else _targets(self.made, syntax)


@fact
def blanket_casts(file: ParsedPython) -> tuple[BlanketCast, ...]:
    """The casts of every item of a batch that has integers."""
    syntax = syntax_tree(file)
    found = []
    for sweep in _sweeps(file):
        cast = _cast(sweep, syntax)
        if cast is None:
            continue
        scope: Scope = syntax.function(cast[0]) or file.tree
        integer = _integer(sweep, scope, syntax)
        if integer is not None and not _is_restored(scope, integer[1]):
            found.append(BlanketCast(cast[0], sweep.item, cast[1], *integer))
    return tuple(found)


# What is done to each item


def _sweeps(file: ParsedPython) -> Iterator[_Sweep]:
    for node in (each for kind in _SWEEPING for each in file.nodes_of(kind)):
        match node:
            case ast.DictComp(value=value, generators=[ast.comprehension(ifs=[]) as each]):
                item, key = _names(each.target)
                if item and _is_items(each.iter):
                    batch = each.iter.func.value  # type: ignore[attr-defined]
                    yield _Sweep(value, item, key, batch, node)
            case ast.ListComp(elt=value, generators=[ast.comprehension(ifs=[]) as each]) | (
                ast.GeneratorExp(elt=value, generators=[ast.comprehension(ifs=[]) as each])
            ):
                if isinstance(each.target, ast.Name):
                    yield _Sweep(value, each.target.id, "", each.iter, node)
            case ast.For(target=target, body=[ast.Assign() as stored]):
                yield from _loop(target, stored)


def _loop(target: ast.expr, stored: ast.Assign) -> Iterator[_Sweep]:
    """`for name, value in batch.items(): batch[name] = …`."""
    item, key = _names(target)
    match stored.targets:
        case [ast.Subscript(value=batch, slice=ast.Name(id=index))] if item and index == key:
            yield _Sweep(stored.value, item, key, batch, None)
        case [ast.Subscript(value=batch, slice=ast.Name(id=index))] if (
            isinstance(target, ast.Name) and index == target.id
        ):
            item = f"{ast.unparse(batch)}[{index}]"  # for name in batch: batch[name] = …
            yield _Sweep(stored.value, item, index, batch, None)


def _names(target: ast.expr) -> tuple[str, str]:
    """The names of a value and of its key in `for key, value in …`."""
    match target:
        case ast.Tuple(elts=[ast.Name(id=key), ast.Name(id=item)]):
            return item, key
    return "", ""


def _is_items(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="items"), args=[]):
            return True
    return False


def _targets(node: ast.expr, syntax: SyntaxTree) -> tuple[ast.expr, ...]:
    """What a comprehension is assigned to, name by name if it is unpacked."""
    parent = syntax.parent(node)
    while isinstance(parent, ast.Call) and last_name(parent.func) in ("tuple", "list", "dict"):
        parent = syntax.parent(parent)
    match parent:
        case ast.Assign(targets=[ast.Tuple(elts=names)]):
            return tuple(names)
        case ast.Assign(targets=[target]):
            return (target,)
    return ()


# Whether it is a cast


def _cast(sweep: _Sweep, syntax: SyntaxTree) -> tuple[ast.Call, ast.expr | None] | None:
    """The cast of an item to a floating dtype, unless a condition asks for more than a tensor."""
    node = sweep.value
    if isinstance(node, ast.IfExp) and _asks_for_tensors(node.test):
        node = node.body
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if ast.unparse(node.func.value) == sweep.item or isinstance(node.func.value, ast.Call):
            method = node.func.attr
            if method == "to" and (dtype := _dtype(node, syntax)) is not None:
                return node, dtype
            if CASTS.get(method) in FLOATING and not node.args:
                return node, None
        node = node.func.value
    return None


def _asks_for_tensors(test: ast.expr) -> bool:
    return isinstance(test, ast.Call) and callee_name(test) in _OF_TYPES


def _dtype(call: ast.Call, syntax: SyntaxTree) -> ast.expr | None:
    """The argument of `.to(…)` that is a floating dtype."""
    given = [*call.args, *(each.value for each in call.keywords if each.arg == "dtype")]
    return next((each for each in given if _is_floating(each, syntax)), None)


def _is_floating(node: ast.expr, syntax: SyntaxTree, depth: int = 3) -> bool:
    """True for a floating dtype of torch, and for what is named as the dtype of weights is."""
    module, _, name = qualified(node, syntax.names).rpartition(".")
    if module == "torch" and name in ALIASES:
        return ALIASES[name] in FLOATING
    if isinstance(node, ast.IfExp):
        if "is_floating_point" in ast.unparse(node.test) or "dtype" in ast.unparse(node.test):
            return False  # it asks what each item is
        return _is_floating(node.body, syntax) and _is_floating(node.orelse, syntax)
    if not last_name(node).endswith("dtype"):
        return False
    held = binding(node, syntax) if isinstance(node, ast.Name) and depth else None
    if isinstance(held, list) and all(isinstance(each, ast.Attribute) for each in held):
        return all(_is_floating(each, syntax, depth - 1) for each in held)
    return True


# Whether the batch has integers


def _integer(sweep: _Sweep, scope: Scope, syntax: SyntaxTree) -> tuple[ast.expr, str] | None:
    """Where a function shows that an item holds integers, and the name of the item."""
    results = sweep.results(syntax)
    if len(results) > 1:
        named = ((each, last_name(each)) for each in results)
        return next(((each, name) for each, name in named if _is_integral(name)), None)
    holders = {ast.unparse(each) for each in (sweep.batch, *results)}
    for node in walk(scope):
        match node:
            case ast.Subscript(value=owner, slice=ast.Constant(value=str(name))) if (
                isinstance(node.ctx, ast.Load) and ast.unparse(owner) in holders
            ):
                if _is_integral(name):
                    return node, name
            case ast.Attribute(value=owner, attr=name, ctx=ast.Load()) if (
                name in TOKENS and ast.unparse(owner) in holders
            ):
                return node, name
    return _made(sweep.batch, scope, syntax)


def _made(batch: ast.expr, scope: Scope, syntax: SyntaxTree) -> tuple[ast.expr, str] | None:
    """What makes the batch, if it is made of integers: a display, or a tokenizer."""
    stores = syntax.stores(scope, batch.id) if isinstance(batch, ast.Name) else []
    statements = map(syntax.parent, stores)
    values = [each.value for each in statements if isinstance(each, ast.Assign)]
    for value in (batch, *values):
        match value:
            case ast.Dict(keys=keys):
                for key in keys:
                    match key:
                        case ast.Constant(value=str(name)) if _is_integral(name):
                            return key, name
            case ast.Call() if _TOKENIZERS.search(callee_name(value)):
                return value, "input_ids"
    return None


def _is_integral(name: str) -> bool:
    return name in TOKENS or INTEGRAL_NAME.search(name) is not None


def _is_restored(scope: Scope, name: str) -> bool:
    """True if a function casts the item to integers again."""
    for node in walk(scope):
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr="long" | "int" | "bool")):
                if name in (dotted(owner) or ""):
                    return True
            case ast.Call(func=ast.Attribute(value=owner, attr="to"), args=args):
                is_integer = any(last_name(each) in ("long", "int64", "int32") for each in args)
                if is_integer and name in (dotted(owner) or ""):
                    return True
    return False
