"""What the code around the read of a setting says of it: what it makes, asks, or only tells."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence, Set

from precision_lint.facts.runs.code.becoming import Step
from precision_lint.facts.runs.code.taking_calls import holds_them, is_telling
from precision_lint.facts.runs.code.ways import places_within, switches_off
from precision_lint.model.regex import regex
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import Definition
from precision_lint.source.python.syntax import callee_name, last_name
from precision_lint.source.python.syntax_tree import Scope, SyntaxTree, syntax_tree

_OF_MODULE = frozenset({"parameters", "named_parameters", "buffers", "state_dict"})
"""Methods of modules that give tensors."""
_SAYING = frozenset({"print", "log", "info", "debug", "warning", "warn", "error"})
_STATE = regex(r"(?:^|_)(?:checkpoint|ckpt|snapshot|state|state_dict)$")
"""Names of what a checkpoint keeps."""
_OF_SCALERS = frozenset({"update", "unscale_", "step"})
"""Methods of scalers that take a step."""
_USING = _OF_SCALERS | {"scale", "get_scale", "state_dict", "load_state_dict"}
"""Methods of scalers."""


def made_by(node: ast.expr, found: ast.expr, file: ParsedPython) -> Step | None:
    """The expression around a read, if that is what goes on: it makes something of the value."""
    syntax = syntax_tree(file)
    parent = syntax.parent(node)
    if isinstance(parent, ast.keyword):
        parent = syntax.parent(parent)
    if isinstance(parent, ast.Attribute) and found is not parent:
        parent = syntax.parent(parent)  # `name.lower()`
    is_plain = isinstance(parent, ast.Attribute) or (
        isinstance(parent, ast.Call) and parent.func is node
    )
    return (
        Step(node, parent, file)
        if isinstance(parent, ast.expr) and found is parent and not is_plain
        else None
    )


def nested(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """What conditions inside of a branch assign: `if has_native_amp: args.native_amp = True`."""
    for inner in body:
        for each in (*inner.body, *inner.orelse) if isinstance(inner, ast.If) else ():
            if isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant):
                yield each


def makes_object(call: ast.Call) -> bool:
    """True for the call of a class, by its name, that holds no settings."""
    name = callee_name(call)
    return name[:1].isupper() and not holds_them(name)


def after_exit(test: ast.If, file: ParsedPython) -> Sequence[ast.stmt]:
    """What a condition keeps a function from that leaves early: `if not enabled: return`."""
    if test.orelse or not isinstance(test.body[-1], ast.Return):
        return ()
    around = syntax_tree(file).block(test)
    return around[around.index(test) + 1 :]


def is_within(node: ast.AST, file: ParsedPython, names: Set[str]) -> bool:
    """True for a place in a function or a class with one of some names."""
    return bool(names) and any(
        isinstance(each, Definition) and each.name in names
        for each in syntax_tree(file).around(node)
    )


def says_nothing(node: ast.expr, file: ParsedPython) -> bool:
    """True for a read that only tells people of a value, or checks it: it is printed, or raised.

    The same holds for what uses a scaler, or decides that a step is taken with it, as the place is
    where it is made, for what keeps a part of the network out of autocast, and for a section into
    which something is put: `table["fp16"]["enabled"] = True`.
    """
    match syntax_tree(file).parent(node):
        case ast.Subscript(value=holder, ctx=ast.Store()) if holder is node:
            return True
        case ast.Attribute(attr=method) if method in _USING and _is_scaler(node):
            return True
    for parent in syntax_tree(file).around(node):
        match parent:
            case ast.withitem(
                context_expr=ast.Call(func=ast.Name() as region) | (ast.Name() as region)
            ):
                return is_region(region, file)
            case ast.Call(func=ast.Name(id="isinstance")):
                return True
            case ast.JoinedStr() | ast.Raise() | ast.Assert():
                return True
            case ast.Call() if is_telling(parent, file):
                return True
            case ast.If(test=test, body=body, orelse=orelse) if test is node:
                return all(map(_only_checks, (*body, *orelse))) or any(
                    _steps_scaler(each) or switches_off(each, file) for each in (*body, *orelse)
                )
            case ast.stmt():
                return isinstance(parent, ast.Expr)
    return False


def _only_checks(statement: ast.stmt) -> bool:
    """True for what a condition decides that says nothing of it: it raises, prints something, saves
    or loads a state, or steps a scaler, which is a place itself: `if amp: scaler.update()`.
    """
    match statement:
        case ast.Raise() | ast.Pass():
            return True
        case ast.If(body=body, orelse=orelse):
            return all(map(_only_checks, (*body, *orelse)))
        case ast.Assign(value=ast.Call(func=ast.Attribute(attr="state_dict"))):
            return True  # `saved["amp"] = amp.state_dict()`
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=method))):
            return _steps_scaler(statement) or method == "load_state_dict" or method in _SAYING
        case ast.Expr(value=ast.Call(func=ast.Name(id=name))):
            return name in _SAYING
    return False


def _steps_scaler(statement: ast.stmt) -> bool:
    """True for `scaler.step(optimizer)`: beside it stands how a step is taken without a scaler."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr=method))):
            return method in _OF_SCALERS and _is_scaler(owner)
    return False


def _is_scaler(node: ast.expr) -> bool:
    return last_name(node).lower().endswith("scaler")


def is_region(name: ast.Name, file: ParsedPython) -> bool:
    """True for a variable that a region of autocast is assigned to: the place is there."""
    syntax = syntax_tree(file)
    stores = syntax.stores(syntax.function(name) or syntax.tree, name.id)
    assigned = [syntax.parent(store) for store in stores]
    return any(
        place.kind == "autocast"
        for each in assigned
        if isinstance(each, ast.Assign)
        for place in places_within(each, file)
    )


def is_of_one_object(test: ast.expr, chosen: ast.IfExp, file: ParsedPython) -> bool:
    """True for a condition that chooses what becomes of an object:
    `mask.clone() if plain else mask.float()`.
    """
    match chosen.body, chosen.orelse:
        case ast.expr() as one, ast.expr() as other if test is chosen.test:
            names = {_first_object(each) for each in (one, other)}
            return len(names) == 1 and names.isdisjoint({"", *syntax_tree(file).names})
    return False


def _first_object(node: ast.expr) -> str:
    """The variable that methods are called on one after the other; empty for anything else."""
    calls = 0
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node, calls = node.func.value, calls + 1
    return node.id if isinstance(node, ast.Name) and calls else ""


def is_parsed(store: ast.AST, syntax: SyntaxTree) -> bool:
    """True for a name that gets what a parser gives: `first, second = parser.parse()`."""
    parent = syntax.parent(store)
    if isinstance(parent, ast.Tuple):
        parent = syntax.parent(parent)
    match parent:
        case ast.Assign(value=ast.Call(func=ast.Attribute(attr=name))):
            return name.startswith("parse")
    return False


def is_of_tensors(node: ast.expr, holder: ast.expr) -> bool:
    """True for a tensor of a module or of a list: `next(model.parameters()).dtype` and
    `rewards[0].dtype` read no setting.
    """
    match node, holder:
        case ast.Attribute(), ast.Subscript(
            slice=ast.Constant(value=int()) | ast.UnaryOp(operand=ast.Constant(value=int()))
        ):
            return True
    return any(
        isinstance(each, ast.Call)
        and isinstance(each.func, ast.Attribute)
        and each.func.attr in _OF_MODULE
        for each in walk(holder)
    )


def is_of_state(holder: ast.expr) -> bool:
    """True for what a checkpoint keeps of a run: `checkpoint["amp"]` is the state of a scaler."""
    return isinstance(holder, ast.Name) and _STATE.search(holder.id) is not None


def is_chosen(holder: ast.expr) -> bool:
    """True for a section that only run time knows: `cfg[args.mode]`."""
    return isinstance(holder, ast.Subscript) and not isinstance(holder.slice, ast.Constant)


def scope_of(target: ast.Name, file: ParsedPython) -> Scope:
    """Where a variable is read that a statement binds: the whole file for a global one."""
    syntax = syntax_tree(file)
    function = syntax.function(target)
    if function is None or syntax.is_declared_global(function, target.id):
        return syntax.tree
    return function
