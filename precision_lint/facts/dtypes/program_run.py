"""The run of a file as a program: its statements outside of functions, and what they call.

Whoever starts the file does what these statements say. So they are interpreted from the first to
the last, top down: each function gets what this run gives it, and all of its statements count, not
those alone that its result depends on. What such a call is certainly given, it is given in this
run. Functions of other modules that do not come back to the file (see `leading_back`) count for
their results.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import closing

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.domain.environment import Environment
from precision_lint.facts.dtypes.interpreter.asked import Asked, Question
from precision_lint.facts.dtypes.interpreter.budget import BudgetExceeded
from precision_lint.facts.dtypes.interpreter.frame import Frame
from precision_lint.facts.dtypes.interpreter.handing import HANDING
from precision_lint.facts.dtypes.interpreter.statements import StatementInterpreter
from precision_lint.facts.dtypes.syntax.definitions import module_of
from precision_lint.facts.dtypes.whole_program.interpretation import Interpretation, Subject
from precision_lint.model.regex import regex
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import Definition, blocks
from precision_lint.source.python.syntax import callee_name, dotted

_MAKING = regex(
    r"(?:torch\.)?nn\.[A-Z]"
    r"|torch\.(?:rand|zeros|ones|full|empty|arange|linspace|tensor|as_tensor|eye|from_numpy|load)"
)
"""Functions of torch that make a tensor or a module."""

_RELATIVE = regex(r"^from\s+\.", re.MULTILINE)


def calls_in_program(file: PythonFile, names: frozenset[str]) -> list[Call]:
    """The calls of some names that the run of a file comes to, with what it gives them.

    A call that it comes to by several ways is there for each kind of arguments. The list ends where
    the budget does: what was found until then is given such arguments, whatever comes later.
    """
    if not _starts_something(file):
        return []
    subject = Subject(file, Asked.of(module_of(file), [Question(names)]), None, is_aside=True)
    subject.budget.begin_program()
    calls: list[Call] = []
    resolved: list[Call] = []
    run = Interpretation(subject, {}, is_intraprocedural=False, of_program=calls)
    with closing(subject), closing(run):
        try:
            top = StatementInterpreter(run, Frame(subject.module))
            top.block(file.tree.body, Environment())
            for call in calls[:]:
                resolved.append(run.resolve.call(call))
        except (BudgetExceeded, RecursionError):
            pass
    return [*resolved, *calls[len(resolved) :]]


def _starts_something(file: PythonFile) -> bool:
    """True if a statement outside of functions calls a function of the file, has one called
    (`mp.spawn(main)`), or makes a tensor.

    A file that imports relative to its package cannot be started, unless it says that it can.
    """
    text = file.text.text
    is_of_package = _RELATIVE.search(text) is not None and "__main__" not in text
    return not is_of_package and any(
        isinstance(node, ast.Call) and _is_worth_a_run(node, file)
        for statement in _top(file.tree.body)
        for node in walk(statement)
    )


def _is_worth_a_run(node: ast.Call, file: PythonFile) -> bool:
    called, top = dotted(node.func) or "", module_of(file).top
    if called in top or _MAKING.match(called) is not None:
        return True
    given = (*node.args, *(keyword.value for keyword in node.keywords))
    return callee_name(node) in HANDING and any(dotted(each) in top for each in given)


def _top(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that a file runs, without those that define or import something."""
    for node in body:
        if not isinstance(node, Definition | ast.Import | ast.ImportFrom):
            inner = [each for block in blocks(node) for each in block.body]
            yield from _top(inner) if inner else [node]
