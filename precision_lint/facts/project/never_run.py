"""Why no run comes to a place, though its file is a part of a program."""

from __future__ import annotations

import ast

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.project.hydra_mains import lacked_by
from precision_lint.facts.project.raising import raising_before
from precision_lint.facts.project.switched_off import switched_off
from precision_lint.model.finding import Related
from precision_lint.source.python.functions import functions_around
from precision_lint.source.python.imports import imported_names
from precision_lint.source.python.parse import ParsedPython


def why_never_run(offset: int, file: ParsedPython, project: Recording) -> Related | None:
    """What raises before a place, the switch that keeps runs off its branch, or the file without
    which Hydra does not call its function.
    """
    stop = project.stop(file.text.path)
    if stop is not None and stop.end <= offset:
        return stop.related
    if (switch := switched_off(offset, file, project)) is not None:
        where = switch.file.text.place(switch.file.span_of(switch.node))
        return Related(where, "no run comes here: nothing changes this switch")
    for function in functions_around(file, offset):
        if (lacked := lacked_by(function, file, project)) is not None:
            span, missing = lacked
            why = f"{missing.relative_to(project.root).as_posix()} is not there"
            return Related(file.text.place(span), f"no run comes here: {why}")
    node = raising_before(offset, file, project)
    if node is None:
        return None
    match node:
        case ast.Name(id=name):
            why = f"nothing binds `{name}`"
        case ast.Attribute(value=owner, attr=name):
            is_module = isinstance(owner, ast.Name) and owner.id in imported_names(file)
            why = f"the module has no `{name}`" if is_module else f"the object has no `{name}`"
        case ast.Call():
            why = "this call raises"
    return Related(file.text.place(file.span_of(node)), f"no run comes here: {why}")
