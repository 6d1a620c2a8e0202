"""Whether a place of a program is reached in one run, as far as its conditions are known."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeGuard

from precision_lint.facts.frameworks.sources import Occurrence
from precision_lint.facts.runs.interpreter.command_groups import is_another_command
from precision_lint.facts.runs.interpreter.exits import exits
from precision_lint.facts.runs.interpreter.mentioned import handed
from precision_lint.facts.runs.interpreter.questions import Questions
from precision_lint.facts.runs.interpreter.reachable import CALLED
from precision_lint.facts.runs.interpreter.tables import asked_keys
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.source.python.cases import runs_case
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import (
    FUNCTIONS,
    FunctionDefinition,
    Leaving,
)
from precision_lint.source.python.syntax import is_main, last_name
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_MOST_CALLS = 16
_MOST_HOPS = 6


@frozen(eq=False)
class Condition:
    """What has to hold, or to fail, for a run to come to a place: None if no expression says it."""

    test: ast.expr | None
    is_met: bool
    file: ParsedPython
    holds: bool | None
    """Whether it is fulfilled; None if that is not known."""
    read: tuple[Occurrence, ...] = ()
    """The settings that were read to find out."""
    is_check: bool = False
    """True for what only raises: it chooses nothing."""

    @property
    def shown(self) -> str:
        """The condition as people write it."""
        assert self.test is not None
        text = ast.unparse(self.test)
        match self.test:
            case _ if self.is_met:
                return text
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return ast.unparse(operand)
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _OPPOSITE:
                opposite = ast.Compare(left, [_OPPOSITE[type(op)]()], [right])
                return ast.unparse(opposite)
            case ast.Compare() | ast.BoolOp():
                return f"not ({text})"
        return f"not {text}"


_OPPOSITE: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}  # fmt: skip


def reached(
    node: ast.AST, file: ParsedPython, evaluator: Questions, hops: int = _MOST_HOPS
) -> bool | None:
    """Whether the conditions around a node, and around the calls of its function, hold.

    None if a condition is not known. Loops and callbacks are taken to run.
    """
    found: list[bool | None] = []
    for condition in conditions(node, file, evaluator):
        if condition.holds is False:
            return False
        found.append(condition.holds)
    syntax = syntax_tree(file)
    function = syntax.function(node)
    if isinstance(function, ast.Lambda):
        state = reached(function, file, evaluator, hops)
        return False if state is False else None if None in found else state
    if isinstance(function, FunctionDefinition):
        if not hops:
            return None
        owner = function
        state = evaluator.reaches_function(
            owner, file, hops, lambda: _called(owner, file, evaluator, syntax, hops)
        )
        if state is False:
            return False
        found.append(state)
    return None if None in found else True


def undecided(node: ast.AST, file: ParsedPython, evaluator: Questions) -> Iterator[Condition]:
    """The conditions of which it is not known whether a run fulfills them on its way to a node, the
    nearest first: in its function, and around the only call of it that the run may come to.
    """
    for own in _way(node, file, evaluator, _MOST_HOPS):
        for condition in own:
            if condition.holds is None and condition.test is not None:
                yield condition


def fulfilled(node: ast.AST, file: ParsedPython, evaluator: Questions) -> tuple[Occurrence, ...]:
    """The settings that fulfill conditions on the way of a run to a node, but for checks."""
    return _read(node, file, evaluator, are_checks=False)


def without_checks(
    read: Iterable[Occurrence], node: ast.AST, file: ParsedPython, evaluator: Questions
) -> tuple[Occurrence, ...]:
    """Settings that are read on the way of a run to a node, but for those that only checks read."""
    leading = {*map(_place, fulfilled(node, file, evaluator))}
    checks = {*map(_place, _read(node, file, evaluator, are_checks=True))} - leading
    return tuple(one for one in read if _place(one) not in checks)


def _place(one: Occurrence) -> tuple[Path, Span]:
    return one.file.text.path, one.origin.span


def _read(
    node: ast.AST, file: ParsedPython, evaluator: Questions, are_checks: bool
) -> tuple[Occurrence, ...]:
    found: dict[Occurrence, None] = {}
    for own in _way(node, file, evaluator, _MOST_HOPS):
        for condition in own:
            if condition.holds and condition.is_check is are_checks:
                found |= dict.fromkeys(condition.read)
    return (*found,)


def _way(
    node: ast.AST, file: ParsedPython, evaluator: Questions, hops: int
) -> Iterator[list[Condition]]:
    """The conditions in the function of a node, and in those that call it, as far as a run comes to
    one call alone.
    """
    yield [*conditions(node, file, evaluator)]
    uses = _uses_of_function(node, file, evaluator) if hops else []
    alive = [row for row in uses if reached(row[1], row[0], evaluator, hops - 1) is not False]
    if len(alive) == 1:
        home, use = alive[0]
        yield from _way(use, home, evaluator, hops - 1)


def refuting(
    node: ast.AST,
    file: ParsedPython,
    evaluator: Questions,
    hops: int = _MOST_HOPS,
    is_own: Callable[[Occurrence], bool] = lambda _: False,
) -> tuple[Occurrence, ...]:
    """The settings because of which a run does not come to a node; none if there are other reasons
    as well. Where a condition asks for one that `is_own`, or that is a reason by itself, others in
    it are none.
    """
    failing = [each for each in conditions(node, file, evaluator) if each.holds is False]
    reasons = [(*filter(is_own, each.read),) or each.read for each in failing]
    uses = _uses_of_function(node, file, evaluator) if hops else []
    if uses and all(reached(use, home, evaluator, hops - 1) is False for home, use in uses):
        reasons += [refuting(use, home, evaluator, hops - 1, is_own) for home, use in uses]
    if not all(reasons):
        return ()
    alone = {each[0] for each in reasons if len(each) == 1}
    chosen = ((*filter(alone.__contains__, each),) or each for each in reasons)
    return (*dict.fromkeys(one for each in chosen for one in each),)


def _uses_of_function(
    node: ast.AST, file: ParsedPython, evaluator: Questions
) -> Sequence[tuple[ParsedPython, ast.AST]]:
    """Where the function around a node is called, if these are few places; of a method, where its
    class is used, if torch calls the method or a condition chooses the class.
    """
    syntax = syntax_tree(file)
    function = syntax.function(node)
    if isinstance(function, ast.Lambda):
        return [(file, function)]
    if not isinstance(function, FunctionDefinition):
        return ()
    owner, program = syntax.parent(function), evaluator.program
    found: list[tuple[ParsedPython, ast.AST]] = []
    if isinstance(owner, ast.ClassDef):
        chosen = ((one, _chosen(one).get(owner.name, ())) for one in program.files)
        found = [(one, each) for one, nodes in chosen for each in nodes]
        if found or function.name in ("__init__", *CALLED):
            found += program.calls_of(owner.name, file)
    found = found or [*program.calls_of(function.name, file), *_handed(function, file, evaluator)]
    return found if len(found) <= _MOST_CALLS else ()


def conditions(node: ast.AST, file: ParsedPython, evaluator: Questions) -> Iterator[Condition]:
    """The conditions that decide about a node in its function, the nearest first."""
    syntax = syntax_tree(file)

    def judged(test: ast.expr, is_met: bool) -> Condition:
        holds, read = evaluator.noting(lambda: evaluator.truth(test, file))
        return Condition(test, is_met, file, holds if holds is None else holds is is_met, read)

    inner = node
    for parent in syntax.around(node):
        if isinstance(inner, ast.stmt) and isinstance(parent, ast.stmt):
            for statement in exits(file).before.get(inner, ()):
                leaves, read = evaluator.noting(partial(_leaves, statement, file, evaluator))
                test = statement.test if _leaves_whole(statement) else None
                stays = leaves if leaves is None else not leaves
                yield Condition(test, False, file, stays, read, _only_raises(statement))
        match parent:
            case ast.If() if is_main(parent):
                yield Condition(None, True, file, file is evaluator.program.files[0])
            case ast.If(test=test, body=body) if inner is not test:
                yield judged(test, inner in body)
            case ast.IfExp(test=test, body=one) if inner is not test:
                yield judged(test, inner is one)
            case ast.BoolOp(op=op, values=values):
                for value in values[: values.index(inner)] if inner in values else ():
                    yield judged(value, isinstance(op, ast.And))
            case ast.ExceptHandler():
                yield Condition(None, True, file, None)
            case ast.Match(subject=subject, cases=cases) if isinstance(inner, ast.match_case):
                yield _of_case(subject, cases, inner, file, evaluator)
            case ast.Dict(values=values) if inner in values:
                yield from _of_entry(parent, values.index(inner), file, evaluator)
        if isinstance(parent, FUNCTIONS):
            return
        inner = parent


def _of_case(
    subject: ast.expr,
    cases: Sequence[ast.match_case],
    case: ast.match_case,
    file: ParsedPython,
    evaluator: Questions,
) -> Condition:
    """Whether a case of `match args.command:` runs."""
    known, read = evaluator.noting(lambda: evaluator.value(subject, file))
    is_plain = known is not None and known.is_plain
    holds = runs_case(cases, case, known.value) if is_plain and known is not None else None
    return Condition(None, True, file, holds, read)


def _of_entry(
    table: ast.Dict, at: int, file: ParsedPython, evaluator: Questions
) -> Iterator[Condition]:
    """What fails for an entry of a table in which a run looks up other entries alone:
    `COMMANDS[args.command](args)`.
    """
    key, asked = table.keys[at], asked_keys(file).get(table, ())
    match syntax_tree(file).parent(table):
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            is_own = all(other is file for other in evaluator.program.mentioning(name))
        case _:
            is_own = False
    if not asked or not is_own or not isinstance(key, ast.Constant):
        return
    known, read = evaluator.noting(lambda: [evaluator.value(each, file) for each in asked])
    if all(one is not None and one.is_plain and one.value != key.value for one in known):
        yield Condition(None, True, file, False, read)


def _only_raises(statement: ast.stmt) -> bool:
    leaving = (node for node in walk(statement) if isinstance(node, Leaving))
    return all(isinstance(node, ast.Raise) for node in leaving)


def _leaves_whole(statement: ast.stmt) -> TypeGuard[ast.If]:
    """True for a condition whose block certainly leaves, and that has no other one."""
    return (
        isinstance(statement, ast.If)
        and not statement.orelse
        and isinstance(statement.body[-1], Leaving)
    )


def _leaves(statement: ast.stmt, file: ParsedPython, evaluator: Questions) -> bool | None:
    """Whether a statement leaves its block; None if that is not known.

    A condition that is not known and only raises is taken to check something that holds.
    """
    match statement:
        case ast.Return() | ast.Raise() | ast.Break() | ast.Continue():
            return True
        case ast.If(test=test, body=body, orelse=orelse):
            if statement not in exits(file).leaving:
                return False
            holds = evaluator.truth(test, file)
            if holds is not None:
                return _any(body if holds else orelse, file, evaluator)
            ways = {_any(body, file, evaluator), _any(orelse, file, evaluator)}
            if ways == {True}:
                return True
            return None if statement in exits(file).returning else False
        case ast.With(body=body) | ast.AsyncWith(body=body):
            return _any(body, file, evaluator)
    return False


def _any(body: Sequence[ast.stmt], file: ParsedPython, evaluator: Questions) -> bool | None:
    states = {_leaves(statement, file, evaluator) for statement in body}
    return True if True in states else None if None in states else False


def _called(
    function: FunctionDefinition,
    file: ParsedPython,
    evaluator: Questions,
    syntax: SyntaxTree,
    hops: int,
) -> bool | None:
    """Whether a function is called; one that nothing is seen to call may be a callback."""
    if is_another_command(function, file, evaluator):
        return False
    owner = syntax.parent(function)
    name = function.name
    made: bool | None = True
    if isinstance(owner, ast.ClassDef):
        made = _made(owner, file, evaluator, hops)
        if made is False:
            return False
        name = owner.name if name == "__init__" else name
    found = _any_called(name, file, evaluator, hops)
    if uses := _handed(function, file, evaluator):
        states = [reached(use, where, evaluator, hops - 1) for where, use in uses]
        if not evaluator.program.calls_of(name, file):
            found = _any_of(states)
        elif found is False and any(state is not False for state in states):
            found = None  # what gets it may call it: `spawn(train, nprocs=count)`
    return found if made or found is False else None


def _handed(
    function: FunctionDefinition, file: ParsedPython, evaluator: Questions
) -> Sequence[tuple[ParsedPython, ast.AST]]:
    """Where a function is handed on, if these are few places."""
    called = {call.func for _, call in evaluator.program.calls_of(function.name, file)}
    found = [row for row in handed(function, file, evaluator.program) if row[1] not in called]
    return found if len(found) <= _MOST_CALLS else ()


def _any_called(name: str, file: ParsedPython, evaluator: Questions, hops: int) -> bool | None:
    calls = evaluator.program.calls_of(name, file)
    if name.startswith("__") or not calls or len(calls) > _MOST_CALLS:
        return True if not calls else None
    state = _any_of([reached(call, where, evaluator, hops - 1) for where, call in calls])
    return None if state is False and name in CALLED else state  # libraries call it as well


def _made(owner: ast.ClassDef, home: ParsedPython, evaluator: Questions, hops: int) -> bool | None:
    """Whether a class is used that a condition chooses: `(AMP if args.amp else Plain)(model)`.

    One that no other extends is not used where none of its calls is reached.
    """
    files = evaluator.program.files
    chosen = [(node, file) for file in files for node in _chosen(file).get(owner.name, ())]
    if len(chosen) > _MOST_CALLS or hops < 1:
        return None if chosen else True
    if any(owner.name in _bases(file) for file in files):
        return None if chosen else True
    calls = [(call, file) for file, call in evaluator.program.calls_of(owner.name, home)]
    if not chosen and not 0 < len(calls) <= _MOST_CALLS:
        return True
    state = _any_of([reached(node, file, evaluator, hops - 1) for node, file in (*chosen, *calls)])
    return state if chosen or state is False else True


def _any_of(states: Sequence[bool | None]) -> bool | None:
    if True in states:
        return True
    return False if all(state is False for state in states) else None


@fact
def _chosen(file: ParsedPython) -> Mapping[str, list[ast.expr]]:
    """The names that are one of two in a conditional expression."""
    found: dict[str, list[ast.expr]] = {}
    for node in file.nodes:
        if isinstance(node, ast.IfExp):
            for branch in (node.body, node.orelse):
                if isinstance(branch, ast.Name | ast.Attribute):
                    found.setdefault(last_name(branch), []).append(branch)
    return found


@fact
def _bases(file: ParsedPython) -> frozenset[str]:
    """The classes that others in a file extend."""
    return frozenset(
        last_name(base)
        for node in file.nodes
        if isinstance(node, ast.ClassDef)
        for base in node.bases
    )
