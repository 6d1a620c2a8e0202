"""Device types that a region can have, and whether CUDA is one of them in some run.

`torch.autocast(self.device.type)` has the device that the callers of `__init__` give, in this file
or in others, and that functions of theirs return: `device = pick_device(args)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from precision_lint.facts.amp.regions.autocast import AutocastCall
from precision_lint.facts.context import PythonFile
from precision_lint.facts.settings.taking import Taker, functions_named
from precision_lint.source.python.bindings import assigned, binding
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition, own_nodes
from precision_lint.source.python.syntax import qualified
from precision_lint.source.python.syntax_tree import syntax_tree

_HOPS = 10
"""Variables, attributes, calls and returns that are followed from a region to a device."""
_MOST_CALLS = 8
"""Calls of a function, and files with such, that are read."""

Types = frozenset[str]


def may_be_cuda(made: AutocastCall, file: PythonFile) -> bool:
    """True if the device type of a region is CUDA, in some runs at least.

    All devices that it can be must be written out: `str(device)` after `device =
    torch.device("cuda" if torch.cuda.is_available() else "cpu")`. Of several callers, one says it.
    """
    if made.device is not None:
        return made.device == "cuda"
    if not made.is_generic:
        return True  # the class for CUDA, or that for the CPU
    given = made.argument("device_type")
    return given is not None and "cuda" in _types(given, file, file, _HOPS)


def _types(node: ast.expr, module: ParsedPython, file: PythonFile, hops: int) -> Types:
    """The device types that an expression can be; none if one of them is not seen."""
    syntax = syntax_tree(module)
    values: list[ast.expr] = []
    match node:
        case (
            ast.Constant(value=str(text))
            | ast.JoinedStr(values=[ast.Constant(value=str(text)), *_])
        ):
            return frozenset({text.partition(":")[0]})
        case ast.IfExp(body=body, orelse=orelse):
            values = [body, orelse]
        case ast.Call(func=ast.Attribute(attr="get"), args=[_, ast.Constant() as default]):
            values = [default]
        case ast.Call(func=ast.Name(id="getattr"), args=[_, _, ast.Constant() as default]):
            values = [default]
        case (
            ast.Call(func=ast.Name(id="str"), args=[inner])
            | ast.Attribute(value=inner, attr="type")
        ):
            values = [inner]
        case ast.Call(func=func, args=[inner, *_]) if (
            qualified(func, syntax.names) == "torch.device"
        ):
            values = [inner]
        case ast.Call(func=ast.Name(id=name)):
            return _returned(name, module, file, hops)
        case ast.Name():
            held = binding(node, syntax)
            if isinstance(held, ast.arg):
                return _given(held, module, file, hops)
            values = held if isinstance(held, list) else []
        case ast.Attribute():
            values = assigned(node, syntax)
    return _all(values, module, file, hops)


def _all(values: list[ast.expr], module: ParsedPython, file: PythonFile, hops: int) -> Types:
    found = [_types(value, module, file, hops - 1) for value in values] if hops else []
    return frozenset().union(*found) if all(found) else frozenset()


def _returned(name: str, module: ParsedPython, file: PythonFile, hops: int) -> Types:
    """What a function of the project returns; none if it is not one, or returns something else."""
    for home, function in functions_named(name, module, file.project):
        returned = [each.value for each in own_nodes(function) if isinstance(each, ast.Return)]
        values = [value for value in returned if value is not None]
        return _all(values, home, file, hops) if len(values) == len(returned) else frozenset()
    return frozenset()


def _given(parameter: ast.arg, module: ParsedPython, file: PythonFile, hops: int) -> Types:
    """What one of the calls of a function gives to a parameter, CUDA if one of them does."""
    taker = Taker.of(parameter, module)
    if taker is None or not hops:
        return frozenset()
    found: Types = frozenset()
    for caller in _callers(taker.called, module, file):
        for call in syntax_tree(caller).calls(taker.called)[:_MOST_CALLS]:
            given = taker.given_by(call)
            if given is not None:
                found |= _types(given, caller, file, hops - 1)
    return found


def _callers(name: str, module: ParsedPython, file: PythonFile) -> Iterator[ParsedPython]:
    """The files that may call a function, its own first; not tests."""
    yield module
    is_method = any(
        isinstance(each, ast.ClassDef) and any(_defines(one, name) for one in each.body)
        for each in module.tree.body
    )
    importing = () if is_method else file.project.importing(module.text.path, name)
    for path in islice(importing, _MOST_CALLS):
        found = None if file.project.is_test(path) else file.project.module(path)
        if found is not None and found is not module:
            yield found


def _defines(node: ast.stmt, name: str) -> bool:
    return isinstance(node, FunctionDefinition) and node.name == name
