"""Changes to a kernel that keep digits, or a float32 parameter float32."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.triton.expressions import Cast, Patches
from precision_lint.facts.triton.module import JitFunction, Module
from precision_lint.facts.triton.notes.sights import Observation
from precision_lint.facts.triton.refusals import CompileError
from precision_lint.facts.triton.remedies import Conversion, Remedy, RepairCandidates
from precision_lint.facts.triton.values import UNKNOWN, Pointer
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.source.python.nodes import walk

_INT64 = frozenset({"int64"})


@frozen
class Pin:
    """A first statement that makes a parameter float32, whatever it is passed as."""

    at: int
    statement: str
    """With the line end and the indentation of what follows."""
    is_safe: bool
    """The parameter is shown to be a float: an integer may be larger than float32 holds exactly."""


@frozen
class Change:
    """A remedy, and what it changes in any evaluation."""

    remedy: Remedy
    patches: Patches


def changes(
    module: Module, function: JitFunction, sights: list[Observation], pinned: frozenset[Span]
) -> Iterator[Change]:
    """What could be done about what was seen at one place, under each assumption that has it."""
    first = sights[0]
    if first.is_elsewhere:
        return
    match first.kind:
        case "reduction" | "accumulator" | "infinity" | "zero":
            refusals = [_as_refusal(sight, module) for sight in sights]
            for candidate in RepairCandidates(module, function, pinned).candidates(refusals, None):
                yield Change(candidate.remedy, candidate.patches)
        case "offset" | "late cast":
            yield from _widened_grid(module, first)


def _as_refusal(sight: Observation, module: Module) -> CompileError:
    """What is accepted, as the Doctor takes it."""
    return CompileError(
        kind="sum",
        module=module,
        place=sight.place,
        at=sight.place,
        subject=sight.subject,
        before=UNKNOWN,
        # A loop is repaired where it starts from.
        after=sight.before if sight.kind == "accumulator" else sight.value,
        start=sight.start,
        given=sight.given,
        block=None,
        test=None,
        choices=(),
        crossing=None,
    )


def _widened_grid(module: Module, sight: Observation) -> Iterator[Change]:
    """`tl.program_id(0).to(tl.int64)`, from which the products follow."""
    int64 = module.name_of("int64")
    if int64 is None or not isinstance(sight.value, Pointer):
        return
    for trace in sorted(sight.value.traces, key=lambda trace: trace.place):
        if trace.kind == "grid":
            remedy = Conversion(trace.place, int64, False, is_load=False, is_safe=False)
            yield Change(remedy, {trace.place: Cast(_INT64)})


def pin(module: Module, function: JitFunction, name: str, *, is_float: bool) -> Pin | None:
    """`s = tl.cast(s, tl.float32)` as the first statement.

    Not `s.to(...)`: a number that is fixed at compile time has no such method. `None` cannot be
    converted, so what may be None is left alone.
    """
    cast, float32 = module.name_of("cast"), module.name_of("float32")
    first = next(iter(_after_pins(function.node.body)), None)
    if cast is None or float32 is None or first is None or _may_be_none(function, name):
        return None
    at = module.span(first).start
    before = module.text.text[:at]
    indent = before[before.rfind("\n") + 1 :]
    if indent.strip():
        return None
    statement = f"{name} = {cast}({name}, {float32})"
    return Pin(at, statement + module.text.newline + indent, is_float)


def _after_pins(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements without a docstring, and without `s = tl.cast(s, ...)` at the front."""
    is_front = True
    for statement in body:
        match statement:
            case ast.Expr(value=ast.Constant()) if is_front:
                continue
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(args=[ast.Name(id=same), *_])
            ) if is_front and name == same:
                continue
        is_front = False
        yield statement


def _may_be_none(function: JitFunction, name: str) -> bool:
    default = function.defaults.get(name)
    if isinstance(default, ast.Constant) and default.value is None:
        return True
    return any(
        isinstance(node.ops[0], ast.Is | ast.IsNot)
        for node in walk(function.node)
        if isinstance(node, ast.Compare)
        and isinstance(node.left, ast.Name)
        and node.left.id == name
    )
