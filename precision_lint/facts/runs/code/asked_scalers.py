"""Scalers that a setting turns on, where code asks whether there is one.

`scaler = GradScaler()` under `if args.fp16` says what the setting is for. What gets the variable
may ask for it again: `autocast(enabled=scaler is not None)` is for the same setting.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TypeAlias

from precision_lint.facts.amp.scaling.scalers import makes_grad_scaler
from precision_lint.source.python.bindings import given_by_position
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import (
    callee_name,
    named_parameters,
    qualified,
)
from precision_lint.source.python.syntax_tree import Scope, syntax_tree

_MOST_HOPS = 3
"""Functions that give a scaler to the next one."""
_MOST_QUESTIONS = 12

_Read: TypeAlias = "tuple[ast.expr, ParsedPython]"
Functions: TypeAlias = Callable[
    [str, ast.Call, ParsedPython], list[tuple[ParsedPython, FunctionDefinition]]
]
"""The functions of a program that a call may mean."""


def makes_scaler(statement: ast.AST, file: ParsedPython) -> bool:
    """True for `scaler = GradScaler()`."""
    match statement:
        case ast.Assign(targets=[ast.Name()], value=ast.Call(func=function)):
            return makes_grad_scaler(qualified(function, syntax_tree(file).names))
    return False


def asked_for(statement: ast.Assign, file: ParsedPython, functions: Functions) -> Iterator[_Read]:
    """The expressions that are true if a statement has made its scaler, and false if not."""
    (target,) = statement.targets
    assert isinstance(target, ast.Name)
    syntax = syntax_tree(file)
    scope = syntax.function(statement) or syntax.tree
    found = _questions(scope, target.id, file, functions, _MOST_HOPS)
    yield from islice(found, _MOST_QUESTIONS)


def _questions(
    scope: Scope, name: str, file: ParsedPython, functions: Functions, hops: int
) -> Iterator[_Read]:
    syntax = syntax_tree(file)
    for read in syntax.reads(scope, name):
        parent = syntax.parent(read)
        match parent:
            case ast.Compare(
                left=left, ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]
            ) if left is read:
                yield parent, file
        call = syntax.parent(parent) if isinstance(parent, ast.keyword) else parent
        if not hops or not isinstance(call, ast.Call) or call.func is read:
            continue
        for home, function in functions(callee_name(call), call, file):
            parameter = _parameter(read, parent, call, function, home)
            if parameter:
                yield from _questions(function, parameter, home, functions, hops - 1)


def _parameter(
    read: ast.AST,
    parent: ast.AST | None,
    call: ast.Call,
    function: FunctionDefinition,
    home: ParsedPython,
) -> str:
    """The parameter of a function that gets a variable in a call; empty if none is seen to."""
    if isinstance(parent, ast.keyword):
        names = [each.arg for each in named_parameters(function.args)]
        return parent.arg if parent.arg in names and parent.arg is not None else ""
    names = given_by_position(function, syntax_tree(home))
    before = call.args[: call.args.index(read)] if read in call.args else []
    if any(isinstance(each, ast.Starred) for each in before) or len(before) >= len(names):
        return ""
    return names[len(before)] if read in call.args else ""
