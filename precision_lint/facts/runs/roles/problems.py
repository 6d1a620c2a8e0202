"""What is wrong with a single setting of a run: the program has no use for its value.

Each problem is some settings by the names that the table "PyTorch" knows: the setting itself under
`refused`, `undeclared`, `unused`, `misread` or `lost`, and the texts of `reason` and `error`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from precision_lint.facts.frameworks.sources import CodePlace, Occurrence
from precision_lint.facts.runs.code.losers import losers
from precision_lint.facts.runs.code.torch_sinks import NOTES
from precision_lint.facts.runs.formats import yacs
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.interpreter.evaluation import Evaluator
from precision_lint.facts.runs.interpreter.places import Miss
from precision_lint.facts.runs.interpreter.reaching import reached
from precision_lint.facts.runs.options.never_read import never_read
from precision_lint.facts.runs.options.undeclared import undeclared
from precision_lint.facts.runs.roles.uses import Use
from precision_lint.facts.runs.written.words import refused
from precision_lint.facts.settings.vocabulary import (
    is_about_precision,
    is_precise,
    names_bfloat16,
    names_float16,
    names_precision,
)
from precision_lint.model.finding import Related
from precision_lint.model.memo import fact
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax_tree import syntax_tree

Problem: TypeAlias = Mapping[str, Occurrence]
Form: TypeAlias = Literal["refused", "undeclared", "unused", "misread", "lost"]


def problems_of(
    evaluator: Evaluator, used: Sequence[Use], run: RunEnvironment
) -> Iterator[Problem]:
    """The settings of a run that its program refuses, misreads or does not ask for."""
    seen = set()
    for miss in evaluator.missed:
        if miss.node not in seen:
            seen.add(miss.node)
            yield from _of_miss(miss, evaluator)
    for word in refused(run):
        form: Form = "refused" if word.raises else "misread"
        at = _used(word.declaration, word.file, "its declaration")
        yield problem(form, word.written, at, word.reason, word.says)
    yield from _of_yacs(run)
    for one in undeclared(run):
        option = one.option
        written = Occurrence(option.name, option.value, option, run.file)
        at = _used(one.node, one.file, one.note)
        found = problem("undeclared", written, at, one.reason, one.error)
        yield {**found, "undeclared": replace(_only(found), value=f"--{option.name}")}
    yield from _of_unread(run)
    for use in used:
        if use.is_certain:
            yield from _of_branches(use, evaluator)
            yield from _of_losers(use, evaluator)


def _of_unread(run: RunEnvironment) -> Iterator[Problem]:
    """An option that the parser takes, and whose value no code asks for."""
    for option, call, file in never_read(run):
        written = Occurrence(option.name, option.value, option, run.file)
        says = "the parser keeps it in an attribute that is never read"
        at = _used(call, file, "its declaration")
        found = problem("unused", written, at, "no code of the program reads it", says)
        yield {**found, "unused": replace(_only(found), value=f"--{option.name}")}


def _of_miss(miss: Miss, evaluator: Evaluator) -> Iterator[Problem]:
    """A value for which a table or a look-up raises on the way to a place that is reached."""
    written, syntax = miss.known.written, syntax_tree(miss.file)
    if written is None or isinstance(written.origin, CodePlace):
        return
    if not (is_about_precision(written.name) or names_precision(miss.known.value)):
        return
    if syntax.may_fail_on_purpose(miss.node) or not reached(miss.node, miss.file, evaluator):
        return
    reason = "`torch` has no dtype of that name"
    if miss.accepted:
        reason = f"its table has {', '.join(miss.accepted)}"
    at = _used(miss.node, miss.file, "it is looked up here")
    yield problem("refused", written, at, reason, miss.error)


def _of_yacs(run: RunEnvironment) -> Iterator[Problem]:
    """A word of a command line that yacs does not take: `SOLVER.AMP.ENABLED true`."""
    found = yacs.configured(run)
    if found is None:
        return
    for name, written in found.words.items():
        declared = found.tree.only(name)
        error = found.tree.mistyped(name, written.value)
        file = run.program.project.config_files.at(declared.path) if declared else None
        if error and declared and file is not None and is_precise(name):
            at = Related(file.text.place(declared.span), "its declaration")
            yield problem("refused", written, at, f"its default is {declared.default}", error)


def _of_branches(use: Use, evaluator: Evaluator) -> Iterator[Problem]:
    """The name of a dtype that the program compares with nothing, and takes for another one."""
    sink, written = use.sink, use.written
    if written is None or isinstance(written.origin, CodePlace):
        return
    meant = _meant(written.value)
    if sink.kind not in ("autocast", "weights") or meant in ("", use.value):
        return
    if any(written.value in _compared(file) for file in evaluator.program.files):
        return
    reason = f"{NOTES[sink.kind]} gets {use.value}"
    says = f"no comparison and no key of the program is {written.value!r}: the fallback is taken"
    at = _used(sink.node, sink.file, NOTES[sink.kind])
    yield problem("misread", written, at, reason, says)


def _of_losers(use: Use, evaluator: Evaluator) -> Iterator[Problem]:
    """A setting that is given and loses against another one."""
    for one in losers(use.sink, evaluator):
        taken, lost = (str(value).removeprefix("torch.") for value in (one.taken, one.lost))
        reason = f"`{one.winner.name}` is checked first"
        says = f"the dtype is {taken}, and {lost} only if `{one.winner.name}` is off"
        at = _used(one.test, one.file, "this condition is not checked")
        found = problem("lost", one.written, at, reason, says)
        yield {**found, "lost": replace(_only(found), value=one.written.name)}


def _only(found: Problem) -> Occurrence:
    return next(iter(found.values()))


def _meant(value: object) -> str:
    """The dtype that a text names; empty if none."""
    if names_bfloat16(value):
        return "bfloat16"
    return "float16" if names_float16(value) else ""


@fact
def _compared(file: ParsedPython) -> frozenset[str]:
    """The texts that a file compares with, or has as keys."""
    found = set()
    for node in file.nodes:
        inner: list[ast.expr | None] = []
        match node:
            case ast.Compare(left=left, comparators=others):
                inner = [left, *others]
            case ast.Dict(keys=keys):
                inner = keys
            case ast.MatchValue(value=value):
                inner = [value]
        for each in inner:
            for part in walk(each) if each is not None else ():
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    found.add(part.value)
    return frozenset(found)


def _used(node: ast.expr | ast.stmt, file: ParsedPython, note: str) -> Related:
    return Related(file.text.place(file.span_of(node)), note)


def problem(form: Form, written: Occurrence, used_at: Related, reason: str, says: str) -> Problem:
    """What is wrong with a setting, the place in the program that shows it, and what happens."""
    at = replace(written, is_derived=True, used_at=used_at)
    return {form: at, "reason": replace(at, value=reason), "error": replace(at, value=says)}
