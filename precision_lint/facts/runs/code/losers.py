"""Settings that lose against another one: `if args.fp16: … elif args.bf16: …` with both given."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.frameworks.sources import CodePlace, Occurrence
from precision_lint.facts.runs.code.torch_sinks import TorchPlace
from precision_lint.facts.runs.interpreter.evaluation import Evaluator
from precision_lint.facts.runs.interpreter.known import Known, equal
from precision_lint.model.frozen import frozen
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax_tree import Scope, syntax_tree


@frozen(slots=False)
class Loser:
    """A setting whose branch is not asked for, because that of the winner comes first."""

    written: Occurrence
    winner: Occurrence
    test: ast.expr
    file: ParsedPython
    taken: object
    lost: object


def losers(sink: TorchPlace, evaluator: Evaluator) -> Iterator[Loser]:
    """The settings that choose a dtype for a sink and do not get it."""
    if not isinstance(sink.dtype, ast.Name):
        return
    syntax = syntax_tree(sink.file)
    scope: Scope = syntax.function(sink.dtype) or syntax.tree
    for store in syntax.stores(scope, sink.dtype.id):
        assignment = syntax.parent(store)
        chain = syntax.parent(assignment) if assignment is not None else None
        if isinstance(chain, ast.If) and assignment in chain.body:
            yield from _in_chain(chain, sink.dtype.id, sink.file, evaluator)


def _in_chain(
    chain: ast.If, name: str, file: ParsedPython, evaluator: Evaluator
) -> Iterator[Loser]:
    """What loses against the first branch of a chain, if that one is taken."""
    winner, taken = _chosen(chain, name, file, evaluator)
    if winner is None or taken is None:
        return
    rest = chain.orelse
    while len(rest) == 1 and isinstance(other := rest[0], ast.If):
        written, lost = _chosen(other, name, file, evaluator)
        is_other = written is not None and written.origin != winner.origin
        if is_other and lost is not None and not equal(taken.value, lost.value):
            assert written is not None
            yield Loser(written, winner, other.test, file, taken.value, lost.value)
        rest = other.orelse


def _chosen(
    branch: ast.If, name: str, file: ParsedPython, evaluator: Evaluator
) -> tuple[Occurrence | None, Known | None]:
    """What somebody wrote that makes a condition true, and what the branch assigns."""
    known = evaluator.value(branch.test, file)
    written = known.written if known is not None and known.value is True else None
    if written is None or isinstance(written.origin, CodePlace):
        return None, None
    for statement in branch.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                return written, evaluator.value(value, file)
    return None, None
