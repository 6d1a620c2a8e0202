"""The texts that an argument can be where a dtype is wanted, and where each of them is said.

A text is a literal, the default of a parameter, what the file itself gives to a parameter, or a
default or a choice that Python declares for a setting. A text that conditions keep away from the
call, and a name or an attribute that is assigned more than once, give none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.calls import Argument, Call
from precision_lint.facts.names.declared import Text, of_setting
from precision_lint.facts.names.subject import is_reached_with
from precision_lint.facts.origin import Setting
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.syntax import positional_parameters, with_defaults
from precision_lint.source.python.syntax_tree import argument_at, calls_by_span, syntax_tree


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


def _of_parameter(parameter: ast.arg, file: PythonFile) -> Iterator[Text]:
    """The default of a parameter, and the literals that calls in the same file give to it."""
    syntax = syntax_tree(file)
    function = next(
        (each for each in syntax.around(parameter) if isinstance(each, ast.FunctionDef)), None
    )
    if function is None:
        return
    default = dict(with_defaults(function.args)).get(parameter)
    if isinstance(default, ast.Constant) and isinstance(default.value, str):
        span = file.span_of(default)
        message = f"the default of `{parameter.arg}`"
        yield Text(default.value, file.related(span, message), (span,))
    if syntax.parent(function) is not file.tree:
        return  # a method: which class is called is not known
    names = [each.arg for each in positional_parameters(function.args)]
    for call in syntax.calls(function.name):
        if not isinstance(call.func, ast.Name) or any(
            isinstance(each, ast.Starred) for each in call.args
        ):
            continue
        given: dict[str | None, ast.expr] = dict(zip(names, call.args, strict=False))
        given |= {each.arg: each.value for each in call.keywords}
        match given.get(parameter.arg):
            case ast.Constant(value=str(value)) as literal:
                span = file.span_of(literal)
                message = f"`{parameter.arg}` is `{value}` in this call"
                yield Text(value, file.related(span, message), (span,))
