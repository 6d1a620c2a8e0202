"""Which function of a group of commands the words of a run name: `@cli.command("train")`.

click and typer call the one function of the group whose command is given. A command is called as
its decorator says, or as its function with `-` for `_`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from precision_lint.facts.runs.interpreter.questions import Questions
from precision_lint.model.memo import fact
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import dotted


def is_another_command(
    function: FunctionDefinition, file: ParsedPython, evaluator: Questions
) -> bool:
    """True for a command where the words of a run name another one of its group, and not this."""
    own = _commands(file).get(function)
    launch = None if own is None else evaluator.run.launch
    if own is None or launch is None:
        return False
    group, names = own
    words = {*launch.program.split()[1:], *(word.text for word in launch.words)}
    others = {
        name
        for other, (of, called) in _commands(file).items()
        if of == group and other is not function
        for name in called
    }
    return words.isdisjoint(names) and not words.isdisjoint(others)


@fact
def _commands(file: ParsedPython) -> Mapping[FunctionDefinition, tuple[str, frozenset[str]]]:
    """The commands at the top of a file: the group of each, and what it may be called."""
    return {
        node: (group, _names(node, decorator))
        for node in file.tree.body
        if isinstance(node, FunctionDefinition)
        for decorator in node.decorator_list
        if (group := _group(decorator)) is not None
    }


def _group(decorator: ast.expr) -> str | None:
    """`cli` of `@cli.command("train")` and `@cli.command`."""
    match decorator.func if isinstance(decorator, ast.Call) else decorator:
        case ast.Attribute(value=group, attr="command"):
            return dotted(group)
    return None


def _names(function: FunctionDefinition, decorator: ast.expr) -> frozenset[str]:
    given = (
        [*decorator.args[:1], *(one.value for one in decorator.keywords if one.arg == "name")]
        if isinstance(decorator, ast.Call)
        else []
    )
    written = [one.value for one in given if isinstance(one, ast.Constant)]
    names = [str(name) for name in written] if written else [function.name]
    return frozenset({*names, *(name.replace("_", "-") for name in names)})
