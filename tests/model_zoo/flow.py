"""What the dtype flow says of each expression that ran, held to what torch had there.

`claims` is all that depends on how the flow works inside.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TypeGuard
from unittest import mock

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.analysis import InterproceduralAnalysis
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.domain.environment import Environment
from precision_lint.facts.dtypes.domain.lattice import join_all, reading
from precision_lint.facts.dtypes.domain.values import (
    Condition,
    ModelOutput,
    Sequence,
    Tensor,
    Unknown,
    Value,
)
from precision_lint.facts.dtypes.flow import calls_in
from precision_lint.facts.dtypes.interpreter.expressions import Evaluator
from precision_lint.facts.dtypes.syntax.definitions import Function
from precision_lint.facts.dtypes.whole_program.interpretation import Interpretation, Subject
from precision_lint.facts.dtypes.whole_program.tracing import Tracing
from precision_lint.model.dtypes import FLOATING
from precision_lint.source.python.syntax import callee_name
from precision_lint.source.text.text import SourceText
from tests.context import python_file
from tests.model_zoo.facts import ByMode, Result, SourceFacts, Span

EXPRESSIONS = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Attribute)
"""What makes a tensor of others. The tracer sees no names and no displays."""


class Verdict(Enum):
    """How what the flow says of an expression compares with what occurred there."""

    CONTRADICTED = "contradicted"
    EXACT = "exact"
    WIDER = "wider"
    CHOSEN = "chosen by the caller"
    PARTIAL = "one of the dtypes is known"
    SOME_TENSOR = "some tensor"
    UNKNOWN = "unknown"
    NOT_EVALUATED = "not evaluated"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One expression: the claim, and the dtypes that were seen."""

    path: str
    span: Span
    node: ast.expr
    claim: Value | None
    seen: ByMode
    verdict: Verdict

    @property
    def source(self) -> str:
        """The expression in one line."""
        return ast.unparse(self.node)

    @property
    def place(self) -> str:
        row, column, end_row, end_column = self.span
        return f"{self.path}:{row}:{column}-{end_row}:{end_column}"

    @property
    def contradicted_in(self) -> frozenset[str]:
        """The modes in which something occurred that the claim excludes."""
        claim = self.claim
        if claim is None:
            return frozenset()
        return frozenset(
            mode
            for mode, results in self.seen.items()
            if verdict(claim, results) is Verdict.CONTRADICTED
        )

    @property
    def is_of_autocast(self) -> bool:
        """True if only autocast contradicts the claim: a caller of another file enabled it."""
        return self.contradicted_in == {"autocast bfloat16"}


def claims(file: PythonFile) -> Mapping[ast.expr, Value]:
    """What the flow says of the expressions of a file, asked for all of its calls."""
    names = {callee_name(node) for node in ast.walk(file.tree) if isinstance(node, ast.Call)}
    alone: dict[ast.expr, list[Value]] = {}
    followed: dict[ast.expr, list[Value]] = {}
    settled: dict[ast.expr, Value] = {}
    """What interpretations with callers and classes say that came to their end."""
    evaluate = Evaluator.__call__
    begin = Interpretation.__init__
    again = Tracing.again
    resolve = InterproceduralAnalysis._resolve

    def evaluated(self: Evaluator, node: ast.expr | None, env: Environment) -> Value:
        value = evaluate(self, node, env)
        if self.frame.records and self.frame.module.file is file and node is not None:
            found = alone if self.analysis.is_intraprocedural else followed
            found.setdefault(node, []).append(value)
        return value

    def begun(
        self: Interpretation,
        subject: Subject,
        found: dict[ast.expr, Call],
        *,
        is_intraprocedural: bool,
    ) -> None:
        followed.clear()
        begin(self, subject, found, is_intraprocedural=is_intraprocedural)

    def begun_again(self: Tracing, definition: Function, rows: frozenset[int]) -> None:
        followed.clear()
        again(self, definition, rows)

    def resolved(
        self: InterproceduralAnalysis, interpretation: Interpretation, rows: list[int]
    ) -> None:
        resolve(self, interpretation, rows)
        for node, values in list(followed.items()):
            settled[node] = interpretation.resolve(join_all(values))

    with (
        mock.patch.object(Evaluator, "__call__", evaluated),
        mock.patch.object(Interpretation, "__init__", begun),
        mock.patch.object(Tracing, "again", begun_again),
        mock.patch.object(InterproceduralAnalysis, "_resolve", resolved),
    ):
        calls_in(file, frozenset(names - {""}))
    return {**{node: join_all(values) for node, values in alone.items()}, **settled}


@dataclass(frozen=True, slots=True)
class FileComparison:
    """The expressions of a file that gave a tensor, and what the flow says of all of them."""

    file: PythonFile
    claims: Mapping[ast.expr, Value]
    expressions: tuple[Comparison, ...]


def compare(facts: SourceFacts, source: str, path: Path) -> FileComparison:
    """Hold the flow to the facts of a file; it follows what the file imports from beside `path`."""
    file = python_file(SourceText(path, source))
    claimed = claims(file)
    nodes = {_span(node): node for node in ast.walk(file.tree) if _is_compared(node)}
    found = []
    for span, seen in sorted(facts.spans.items()):
        node = nodes.get(span)
        if node is None:
            continue  # a statement: `x += y`, the decorator of a function
        claim = claimed.get(node)
        results = frozenset(result for each in seen.values() for result in each)
        reached = Verdict.NOT_EVALUATED if claim is None else verdict(claim, results)
        found.append(Comparison(facts.path, span, node, claim, seen, reached))
    return FileComparison(file, claimed, tuple(found))


def _is_compared(node: ast.AST) -> TypeGuard[ast.expr]:
    """True for what the tracer sees the result of: `x in y` compares on the way to its own."""
    if isinstance(node, ast.Compare):
        return not any(isinstance(operator, ast.In | ast.NotIn) for operator in node.ops)
    return isinstance(node, EXPRESSIONS)


def verdict(claim: Value, seen: frozenset[Result]) -> Verdict:
    """How a claim compares with all that was seen."""
    claim = reading(claim)
    match claim:
        case Unknown():
            return Verdict.UNKNOWN
        case ModelOutput():
            flat = frozenset(_flat(seen))
            return of_tensor(claim.tensor, flat)
        case Tensor() if all(isinstance(one, str) for one in seen):
            return of_tensor(claim, frozenset(_flat(seen)))
        case Tensor(may_be_other=True, scalar=None):
            return of_tensor(claim, frozenset(_flat(seen)))
        case Sequence() if seen:
            return _of_sequence(claim, seen)
        case Condition() if seen == {"bool"}:
            return Verdict.EXACT
    return Verdict.CONTRADICTED


def of_tensor(claim: Tensor, seen: frozenset[str]) -> Verdict:
    """How a claim of a tensor compares with the dtypes that it had."""
    possible = claim.dtypes | (FLOATING if claim.caller_chosen else frozenset())
    if claim.may_be_other:
        return Verdict.PARTIAL if possible else Verdict.SOME_TENSOR
    if not seen <= possible:
        return Verdict.CONTRADICTED
    if claim.caller_chosen:
        return Verdict.CHOSEN
    return Verdict.EXACT if claim.dtypes == seen else Verdict.WIDER


_WORST_FIRST = (
    Verdict.CONTRADICTED,
    Verdict.UNKNOWN,
    Verdict.SOME_TENSOR,
    Verdict.PARTIAL,
    Verdict.CHOSEN,
    Verdict.WIDER,
    Verdict.EXACT,
)


def _of_sequence(claim: Sequence, seen: frozenset[Result]) -> Verdict:
    """The worst verdict of the items that are tensors."""
    verdicts = []
    for result in seen:
        if isinstance(result, str):
            return Verdict.CONTRADICTED
        items = (claim.item,) * len(result) if claim.items is None else claim.items
        if len(items) != len(result):
            return Verdict.CONTRADICTED
        verdicts += [
            verdict(item, frozenset({one}))
            for item, one in zip(items, result, strict=True)
            if one is not None
        ]
    return min(verdicts, key=_WORST_FIRST.index)


def _flat(results: frozenset[Result]) -> Iterator[str]:
    for result in results:
        if isinstance(result, str):
            yield result
        elif result is not None:
            yield from _flat(frozenset(one for one in result if one is not None))


def _span(node: ast.expr) -> Span:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
