"""Models that FSDP wraps, the policies that it gets, and the variables that hold such a model."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.context import PythonFile
from precision_lint.model.regex import regex
from precision_lint.source.python.bindings import binding, enclosing_class
from precision_lint.source.python.statements import FunctionDefinition, own_nodes
from precision_lint.source.python.syntax import (
    callee_name,
    dotted,
    parameters,
    positional_parameters,
    qualified,
)
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_OF_FSDP = r"torch\.distributed\.(?:_composable\.)?fsdp\.(?:\w+\.)*"
_WRAPPER = regex(_OF_FSDP + r"(?:FullyShardedDataParallel|fully_shard)")
_POLICY = regex(_OF_FSDP + r"(?:MixedPrecision|MixedPrecisionPolicy)")
_NAMES_OF_POLICY = ("mixed_precision", "mp_policy")
_IN_PLACE = "fully_shard"
"""What wraps the model that it is given, which needs no new name."""

Holder = tuple[ast.AST, str]
"""A variable of a function or of the module, `self.x` of a class, or what is in one of them."""


def wrapped_models(file: PythonFile) -> Iterator[tuple[ast.Call, ast.Call]]:
    """The calls that wrap models with a policy of mixed precision, and these policies."""
    syntax = syntax_tree(file)
    for call in file.nodes_of(ast.Call):
        if _WRAPPER.fullmatch(qualified(call.func, syntax.names)) is not None:
            policy = _policy(call, syntax)
            if policy is not None:
                yield call, policy


def keyword_of(call: ast.Call, name: str) -> ast.expr | None:
    return next((each.value for each in call.keywords if each.arg == name), None)


def is_conditional(node: ast.AST, syntax: SyntaxTree) -> bool:
    return any(isinstance(each, ast.If | ast.IfExp) for each in syntax.within_function(node))


def _policy(call: ast.Call, syntax: SyntaxTree) -> ast.Call | None:
    """The policy that a model is wrapped with, if it can be one only."""
    unpacked = [each.value for each in call.keywords if each.arg is None]
    given = [keyword_of(call, name) for name in _NAMES_OF_POLICY]
    given += [_entry(each, syntax) for each in unpacked]
    for each in given:
        match None if each is None else _only_value(each, syntax):
            case ast.Call(func=func) as policy if _POLICY.fullmatch(qualified(func, syntax.names)):
                return policy
    return None


def _entry(unpacked: ast.expr, syntax: SyntaxTree) -> ast.expr | None:
    """The policy in a dictionary that is unpacked into the call."""
    match _only_value(unpacked, syntax):
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant) and key.value in _NAMES_OF_POLICY:
                    return value
        case ast.Call(func=ast.Name(id="dict")) as made:
            found = (keyword_of(made, name) for name in _NAMES_OF_POLICY)
            return next((each for each in found if each is not None), None)
    return None


def _only_value(node: ast.expr, syntax: SyntaxTree) -> ast.expr | None:
    if not isinstance(node, ast.Name):
        return node
    held = binding(node, syntax)
    return held[0] if isinstance(held, list) and len(held) == 1 else None


# Which variables hold it


def holders_of_model(call: ast.Call, file: PythonFile, *, always: bool = False) -> set[Holder]:
    """The variables that hold a model which a call wraps, in all functions of the file.

    With `always`, only those that hold it in every run: no condition is on the way.
    """
    syntax = syntax_tree(file)

    def is_open(node: ast.AST) -> bool:
        return always and is_conditional(node, syntax)

    if is_open(call):
        return set()
    pending = [*_targets(call, syntax)]
    is_in_place = callee_name(call) == _IN_PLACE
    if is_in_place and call.args:
        pending += [*filter(None, [holder(call.args[0], syntax)])]
    held: set[Holder] = set()
    for made in _returned_by(call, set(), syntax):
        pending += [] if is_open(made) else _targets(made, syntax)
    while pending:
        one = pending.pop()
        if one in held:
            continue
        held.add(one)
        for made in _returned_by(call, {one}, syntax):
            pending += [] if is_open(made) else _targets(made, syntax)
        for read in _reads(one, syntax):
            pending += [] if is_open(read) else [*_handed_on(read, syntax)]
        if is_in_place:
            pending += [
                given for node in _given(one, syntax) if (given := holder(node, syntax)) is not None
            ]
    return held


def holder(node: ast.expr, syntax: SyntaxTree) -> Holder | None:
    """The variable that an expression is."""
    path = dotted(node)
    if path is None:
        return None
    root = path.partition(".")[0]
    if root == "self":
        owner = enclosing_class(node, syntax)
        return None if owner is None else (owner, path)
    scope = syntax.function(node)
    while scope is not None:
        names = {each.arg for each in parameters(scope.args)}
        if root in names or syntax.stores(scope, root):
            return scope, path
        scope = syntax.function(scope)
    return syntax.tree, path


def _targets(call: ast.Call, syntax: SyntaxTree) -> Iterator[Holder]:
    """What a call is assigned to."""
    match syntax.parent(call):
        case ast.Assign(targets=targets, value=value) if value is call:
            for each in targets:
                if (found := holder(each, syntax)) is not None:
                    yield found


def _returned_by(call: ast.Call, held: set[Holder], syntax: SyntaxTree) -> Iterator[ast.Call]:
    """The calls of a function that returns the wrapped model, and nothing else."""
    scopes: list[ast.AST | None] = [scope for scope, _ in held]
    for scope in scopes or [syntax.function(call)]:
        if not isinstance(scope, FunctionDefinition):
            continue
        returned = [node.value for node in own_nodes(scope) if isinstance(node, ast.Return)]
        if returned and all(
            each is not None and (each is call or holder(each, syntax) in held) for each in returned
        ):
            yield from (
                each for each in syntax.calls(scope.name) if isinstance(each.func, ast.Name)
            )


def _reads(one: Holder, syntax: SyntaxTree) -> Iterator[ast.expr]:
    scope, path = one
    for root in syntax.reads(scope, path.partition(".")[0]):
        node: ast.AST | None = root
        for _ in range(path.count(".")):
            node = None if node is None else syntax.parent(node)
        if isinstance(node, ast.Name | ast.Attribute) and holder(node, syntax) == one:
            yield node


def _handed_on(read: ast.expr, syntax: SyntaxTree) -> Iterator[Holder]:
    """The parameter that gets what is read, and the variable that it is assigned to."""
    parent = syntax.parent(read)
    match parent:
        case ast.Assign(targets=targets, value=value) if value is read:
            found = (holder(each, syntax) for each in targets)
            yield from filter(None, found)
        case ast.Call(func=ast.Name(id=name), args=args) if read in args:
            yield from _parameter(name, args.index(read), syntax)
        case ast.keyword(arg=str(key)):
            match syntax.parent(parent):
                case ast.Call(func=ast.Name(id=name)):
                    yield from _parameter(name, key, syntax)


def _parameter(function: str, place: int | str, syntax: SyntaxTree) -> Iterator[Holder]:
    for each in syntax.tree.body:
        if isinstance(each, FunctionDefinition) and each.name == function:
            names = [one.arg for one in positional_parameters(each.args)]
            if isinstance(place, str) and place in {one.arg for one in parameters(each.args)}:
                yield each, place
            elif isinstance(place, int) and place < len(names):
                yield each, names[place]


def _given(one: Holder, syntax: SyntaxTree) -> Iterator[ast.expr]:
    """What the calls of a function give to a parameter that it wraps in place."""
    scope, path = one
    if not isinstance(scope, FunctionDefinition) or syntax.stores(scope, path):
        return
    names = [each.arg for each in positional_parameters(scope.args)]
    for call in syntax.calls(scope.name):
        if isinstance(call.func, ast.Name):
            given = dict(zip(names, call.args, strict=False))
            value = given.get(path) or keyword_of(call, path)
            if value is not None:
                yield value
