"""Whether a run resumes from a checkpoint: something loads an optimizer, and all that it reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.amp.scaling.users import Users, argument_for
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.whole_program.program import Program
from precision_lint.facts.project.uncalled import is_uncalled
from precision_lint.model.finding import Confidence
from precision_lint.model.regex import regex
from precision_lint.source.python.functions import functions_around
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import dotted, with_defaults
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_RESUMING = regex(r"(?i)opt\w*(?:\[[^\]\n]*\])?\.load_state_dict\(")
"""How the state of an optimizer is loaded: `self.optimizers["g"].load_state_dict(…)`."""

_OF_OPTIMIZER = regex(r"(?i)opt\w*(?:\[[^\]\n]*\])?$")


def resumption(file: PythonFile) -> Confidence | None:
    """How sure it is that a run loads the state of an optimizer; None if no code does.

    Low if all code of the file, and of those that run with it, that does is never reached.
    """
    path, project = file.text.path, file.project
    paths = project.python_sources_matching(_RESUMING.pattern.encode())
    others = (project.module(each) for each in paths if project.runs_with(each, path))
    found = None
    for each in (file, *filter(None, others)):
        for place in _RESUMING.finditer(each.text.text):
            is_run = not is_uncalled(each, place.start(), project)
            if is_run and _is_given(place.start(), each, file):
                return Confidence.MEDIUM
            found = Confidence.LOW
    return found


def _is_given(place: int, loading: ParsedPython, file: PythonFile) -> bool:
    """False for an optimizer that is None by default, and that no call of the function gives."""
    functions = functions_around(loading, place)
    function = functions[-1] if functions else None
    if not isinstance(function, FunctionDefinition) or function not in loading.tree.body:
        return True
    for parameter, default in with_defaults(function.args):
        is_optional = isinstance(default, ast.Constant) and default.value is None
        if is_optional and loading.text.text.startswith(f"{parameter.arg}.load_state", place):
            calls = Users(Program(file)).calls_of(function.name, loading)
            return any(_may_give(call, parameter, function) for call, _ in calls)
    return True


def _may_give(call: ast.Call, parameter: ast.arg, function: FunctionDefinition) -> bool:
    """True if a call gives a parameter, or unpacks what may have it."""
    unpacks = any(isinstance(each, ast.Starred) for each in call.args) or any(
        keyword.arg is None for keyword in call.keywords
    )
    return unpacks or argument_for(call, parameter, function, is_method=False) is not None


def is_refused(saved: ast.Dict, file: PythonFile) -> bool:
    """True if all loads of an optimizer's state in the file come with an entry that is not saved.

    `scheduler.load_state_dict(checkpoint["scheduler"])` raises KeyError: no run resumes.
    """
    keys = {key.value for key in saved.keys if isinstance(key, ast.Constant)}
    if len(keys) < len(saved.keys):
        return False
    syntax = syntax_tree(file)
    added = {*_written(file)}
    loads = [*_loads(syntax)]
    return bool(loads) and all(
        any(key not in keys | added for key in _read_with(call, checkpoint, syntax))
        for call, checkpoint in loads
    )


def _loads(syntax: SyntaxTree) -> Iterator[tuple[ast.Call, str]]:
    """The calls that load an optimizer's state, and the name of the checkpoint it comes from."""
    for call in syntax.calls("load_state_dict"):
        match call:
            case ast.Call(func=ast.Attribute(value=owner)) if _OF_OPTIMIZER.search(
                ast.unparse(owner)
            ):
                given = [
                    dotted(each.value) for each in call.args if isinstance(each, ast.Subscript)
                ]
                yield call, next(filter(None, given), "")


def _read_with(call: ast.Call, checkpoint: str, syntax: SyntaxTree) -> Iterator[object]:
    """The entries of the checkpoint that the function reads whenever the call runs."""
    around = {*syntax.within_function(call)}
    for node in walk(syntax.body(call)):
        match node:
            case ast.Subscript(value=value, slice=ast.Constant(value=key), ctx=ast.Load()) if (
                checkpoint and dotted(value) == checkpoint
            ):
                guards = (ast.If, ast.IfExp, ast.Try, ast.BoolOp)
                inside = [each for each in syntax.within_function(node) if isinstance(each, guards)]
                if around.issuperset(inside) and not any(isinstance(x, ast.Try) for x in inside):
                    yield key


def _written(file: PythonFile) -> Iterator[object]:
    """The keys that the file stores by themselves: `state["scheduler"] = …`."""
    for node in file.nodes_of(ast.Subscript):
        match node:
            case ast.Subscript(slice=ast.Constant(value=key), ctx=ast.Store()):
                yield key
