"""What a program that Fire starts does not take from its command line.

Fire (0.7) calls the function with the options that are names of its parameters, and then ends with
an error, as it could do nothing with the rest. What the function returns could take the rest.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.settings.given import normal
from precision_lint.model.memo import fact
from precision_lint.source.config.options import Option, options
from precision_lint.source.python.functions import functions_named
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition, Try, With
from precision_lint.source.python.syntax import dotted, named_parameters, qualified
from precision_lint.source.python.syntax_tree import syntax_tree
from precision_lint.source.shell.words import UNKNOWN

_FIRE = ("fire.Fire", "fire.core.Fire")
_ELSEWHERE = ("sys.argv", "SystemExit", "FireExit")
_KEEPS_SIGNATURE = frozenset({"torch.no_grad", "torch.inference_mode"})
"""Decorators whose functions have the parameters of what they get."""


def not_taken_by_fire(run: RunEnvironment) -> Iterator[tuple[Option, FunctionDefinition]]:
    """The options of a launch that are no parameters of the function which Fire calls."""
    if run.launch is None or not run.program.files:
        return
    function = _started(run.program.files[0])
    if function is None:
        return
    taken = parameters_of(function)
    words = run.launch.words
    own = next((at for at, word in enumerate(words) if word.text == "--"), len(words))
    for option in options(words[:own]):
        name = normal(option.name)
        if UNKNOWN not in option.text and not {name, name.removeprefix("no")} & {*taken}:
            yield option, function


def parameters_of(function: FunctionDefinition) -> Sequence[str]:
    """The names of the options that Fire takes for a function."""
    return [each.arg for each in named_parameters(function.args)]


@fact
def _started(file: ParsedPython) -> FunctionDefinition | None:
    """The one function of a file that Fire calls with all words, if all it can do is in sight."""
    syntax = syntax_tree(file)
    if any(word in file.text.text for word in _ELSEWHERE):
        return None
    match syntax.calls("Fire"):
        case [ast.Call(args=[ast.Name(id=name)], keywords=[]) as call]:
            pass
        case _:
            return None
    if any(isinstance(each, Try | With | FunctionDefinition) for each in syntax.around(call)):
        return None
    defined = [
        each
        for each in functions_named(file, name)
        if not isinstance(syntax.parent(each), ast.ClassDef)
    ]
    is_alone = len(defined) == 1 and not syntax.stores(file.tree, name)
    is_imported = (dotted(call.func) or "").partition(".")[0] in syntax.names
    if not is_imported or qualified(call.func, syntax.names) not in _FIRE or not is_alone:
        return None
    is_of_file = defined[0] in file.tree.body
    return defined[0] if is_of_file and _is_plain(defined[0], file) else None


def _is_plain(function: FunctionDefinition, file: ParsedPython) -> bool:
    """True for a function that takes only its parameters, and returns nothing that could be called
    with the rest.
    """
    names = syntax_tree(file).names
    for decorator in function.decorator_list:
        node = decorator.func if isinstance(decorator, ast.Call) else decorator
        if qualified(node, names) not in _KEEPS_SIGNATURE:
            return False
    if function.args.kwarg is not None:
        return False
    return not any(
        isinstance(node, ast.Return | ast.Yield | ast.YieldFrom)
        and node.value is not None
        and syntax_tree(file).function(node) is function
        for node in walk(function)
    )
