"""The texts that an argument can be where a dtype is wanted, and where each of them is said.

A text is a literal, the default of a parameter, what the file itself gives to a parameter, an entry
of a dict that the file writes out, or a default or a choice that Python declares for a setting. A
text that conditions keep away from the call, and a name or an attribute that is assigned more than
once, give none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Argument, Call
from precision_lint.facts.names.declared import Text, of_setting
from precision_lint.facts.names.subject import is_reached_with
from precision_lint.facts.origin import Setting
from precision_lint.source.python.bindings import arguments_of, binding, default_of
from precision_lint.source.python.syntax_tree import (
    SyntaxTree,
    argument_at,
    calls_by_span,
    syntax_tree,
)


def texts(argument: Argument, call: Call, file: PythonFile) -> tuple[Text, ...]:
    """The texts that an argument of a call can be, each once."""
    node = calls_by_span(file).get(call.span)
    given = None if node is None else argument_at(argument.span, node, file)
    if node is None or given is None or argument.starred:
        return ()
    found: dict[str, Text] = {}
    for text in _texts(given, argument, file):
        if is_reached_with(text.value, given, node, file):
            found.setdefault(text.value, text)
    return tuple(found.values())


def _texts(node: ast.expr, argument: Argument, file: PythonFile) -> Iterator[Text]:
    syntax = syntax_tree(file)
    source: ast.expr | ast.arg = node
    if isinstance(node, ast.Name):
        match binding(node, syntax):
            case ast.arg() as parameter:
                source = parameter
            case [value]:
                source = value
            case _:
                return
    match source:
        case ast.Constant(value=str(name)):
            span = file.span_of(source)
            related = None if source is node else file.related(span, f"`{name}` is chosen here")
            yield Text(name, related, (span,))
        case ast.arg():
            yield from _of_parameter(source, file)
        case ast.Attribute() if isinstance(argument.value, Setting):
            yield from of_setting(argument.value, source, file)
        case ast.Subscript(value=table, slice=ast.Constant(value=str(key))):
            yield from _of_entry(table, key, file)


def _of_parameter(parameter: ast.arg, file: PythonFile) -> Iterator[Text]:
    """The default of a parameter, and the literals that calls in the same file give to it."""
    default = default_of(parameter, syntax_tree(file))
    if default is not None:
        yield from _literal(default, f"the default of `{parameter.arg}`", file)
    for _, given in arguments_of(parameter, syntax_tree(file)):
        if given is not None:
            yield from _literal(given, f"`{parameter.arg}` is `{{}}` in this call", file)


def _literal(node: ast.expr, message: str, file: PythonFile) -> Iterator[Text]:
    """The text that an expression is: a literal, or a name that is one."""
    if isinstance(node, ast.Name):
        match binding(node, syntax_tree(file)):
            case [value]:
                node = value
    match node:
        case ast.Constant(value=str(text)):
            span = file.span_of(node)
            yield Text(text, file.related(span, message.format(text)), (span,))


def _of_entry(table: ast.expr, key: str, file: PythonFile) -> Iterator[Text]:
    """The text of an entry of a dict that the file writes out, and does not change."""
    if not isinstance(table, ast.Name) or _is_changed(key, file):
        return
    syntax = syntax_tree(file)
    held = binding(table, syntax)
    tables: list[ast.expr | None] = []
    if isinstance(held, ast.arg):
        tables += [given for _, given in arguments_of(held, syntax)]
    elif held is not None and len(held) == 1:
        tables += held
    for each in tables:
        if (value := _entry(each, key, syntax)) is not None:
            yield from _literal(value, f"`{key}` is `{{}}` here", file)


def _entry(table: ast.expr | None, key: str, syntax: SyntaxTree) -> ast.expr | None:
    """What a dict display, or a name that is one, has under a key."""
    if isinstance(table, ast.Name):
        match binding(table, syntax):
            case [value]:
                table = value
    if not isinstance(table, ast.Dict) or None in table.keys:
        return None
    found: ast.expr | None = None
    for name, value in zip(table.keys, table.values, strict=True):
        if isinstance(name, ast.Constant) and name.value == key:
            found = value
    return found


def _is_changed(key: str, file: PythonFile) -> bool:
    """True if the file writes an entry of this name, or may put others over those of a dict."""
    for node in file.nodes:
        match node:
            case ast.Subscript(slice=ast.Constant(value=name), ctx=ast.Store()) if name == key:
                return True
            case ast.Call(func=ast.Attribute(attr="update"), args=[given]):
                if not isinstance(given, ast.Constant):
                    return True
            case ast.Call(func=ast.Attribute(attr="update"), keywords=[_, *_]):
                return True
            case ast.AugAssign(op=ast.BitOr()):
                return True
    return False
