"""Places of scalers that say nothing more: what a program only saves and loads, and where it scales
the loss.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from precision_lint.facts.amp.scaling.idle_scalers import keeps
from precision_lint.facts.runs.code.torch_sinks import TorchPlace
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import last_name, positional_parameters
from precision_lint.source.python.syntax_tree import syntax_tree

_MOST_HOPS = 3
"""Functions that give a scaler to the next one."""


def without_kept(places: Sequence[TorchPlace], program: Program) -> tuple[TorchPlace, ...]:
    """Some places without the scalers that scale nothing, if another one is left."""
    scalers = [place for place in places if place.kind == "scaler"]
    if len({place.node for place in scalers}) < 2:
        return tuple(places)
    kept = {place.node for place in scalers if _is_only_kept(place, program)}
    if kept.issuperset(place.node for place in scalers):
        return tuple(places)
    return tuple(place for place in places if place.node not in kept)


def without_uses(places: Sequence[TorchPlace]) -> tuple[TorchPlace, ...]:
    """Some places without `scaler.scale(loss)`, if one of them is where a scaler is made."""
    uses = {place for place in places if place.kind == "scaler" and _scales(place.node)}
    is_made = any(place.kind == "scaler" and place not in uses for place in places)
    return tuple(place for place in places if place not in uses or not is_made)


def _scales(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="scale")):
            return True
    return False


def _is_only_kept(place: TorchPlace, program: Program) -> bool:
    """True for a scaler in a local variable that is read, and only to save it or to load it."""
    syntax = syntax_tree(place.file)
    function = syntax.function(place.node)
    match syntax.parent(place.node):
        case ast.Assign(targets=[ast.Name(id=name)]) if isinstance(function, FunctionDefinition):
            is_read = bool(syntax.reads(function, name))
            return is_read and _is_kept(name, function, place.file, program, _MOST_HOPS)
    return False


def _is_kept(
    name: str, function: FunctionDefinition, file: ParsedPython, program: Program, hops: int
) -> bool:
    """True if a function does nothing with a variable but to save, load or test it."""
    syntax = syntax_tree(file)
    return all(
        isinstance(each, ast.expr)
        and (keeps(each, syntax) or _is_kept_by_call(each, file, program, hops))
        for each in syntax.reads(function, name)
    )


def _is_kept_by_call(node: ast.expr, file: ParsedPython, program: Program, hops: int) -> bool:
    """True for an argument that the functions which get it only save, load or test."""
    syntax = syntax_tree(file)
    parent = syntax.parent(node)
    call = syntax.parent(parent) if isinstance(parent, ast.keyword) else parent
    if not hops or not isinstance(call, ast.Call) or node is call.func:
        return False
    functions = program.functions(last_name(call.func))
    return bool(functions) and all(
        (parameter := _parameter(node, parent, call, function)) is not None
        and _is_kept(parameter, function, home, program, hops - 1)
        for home, function in functions
    )


def _parameter(
    node: ast.expr, parent: ast.AST | None, call: ast.Call, function: FunctionDefinition
) -> str | None:
    """The parameter of a function that gets an argument of a call by the name of the function."""
    if isinstance(parent, ast.keyword):
        return parent.arg
    if not isinstance(call.func, ast.Name) or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    names = positional_parameters(function.args)
    position = call.args.index(node)
    return names[position].arg if position < len(names) else None
