"""Scalers of the code that calls a function which saves an optimizer, and no scaler.

`def save(path, *, model, optimizer)` writes down `optimizer.state_dict()`. Who calls it makes the
scaler, in the same function or in the same object.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.amp.scaling.handed_scalers import is_kept
from precision_lint.facts.amp.scaling.unsaved_scalers import UnsavedScaler, of_class
from precision_lint.facts.amp.scaling.users import Users
from precision_lint.facts.amp.training_step.events import scalers_made
from precision_lint.facts.amp.training_step.helpers import owner_at
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.whole_program.program import Program
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax_tree import syntax_tree


def scalers_of_callers(optimizer: ast.Name, file: PythonFile) -> tuple[UnsavedScaler, ...]:
    """The scalers that live where a function is called whose parameter is the optimizer.

    Those of a caller that may save the state of its scaler are left out.
    """
    syntax = syntax_tree(file)
    function = syntax.function(optimizer)
    if not isinstance(function, FunctionDefinition) or syntax.parent(function) is not syntax.tree:
        return ()
    given = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    is_scaled = file.project.python_source_matches(rb"\.scale\(")
    if optimizer.id not in {each.arg for each in given} or not is_scaled:
        return ()
    program = Program(file)
    users = Users(program)
    found: dict[str, UnsavedScaler] = {}
    for call, caller in users.calls_of(function.name, file):
        called = users.function(call.func, caller)
        if called is None or called.node is not function:
            continue  # `torch.save`
        for scaler in _next_to(call, caller, program, file):
            found.setdefault(f"{caller.text.path}:{scaler.name}", scaler)
    return tuple(found.values())


def _next_to(
    call: ast.Call, caller: ParsedPython, program: Program, file: PythonFile
) -> Iterator[UnsavedScaler]:
    """The scalers of the function, or of the object, that calls the one that saves."""
    module = program.module(caller.text.path)
    owner = None if module is None else owner_at(call, module)
    if owner is not None:
        yield from of_class(owner, owner.node.name, program, file)
    source = PythonFile.of(caller, file.project)
    syntax = syntax_tree(caller)
    scope = syntax.function(call)
    made = {
        name: made
        for name, made in scalers_made(caller).items()
        if "." not in name and syntax.function(made) is scope
    }
    if made and not is_kept(source, made):
        for name, each in made.items():
            yield UnsavedScaler(name, each, source, is_always=False)
