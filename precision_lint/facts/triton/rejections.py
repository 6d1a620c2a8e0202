"""What Triton rejects in a kernel, found by evaluating it for every dtype of its pointers."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import suppress

from precision_lint.facts.triton import dtypes as types
from precision_lint.facts.triton import wording
from precision_lint.facts.triton.expressions import Patches
from precision_lint.facts.triton.hosts.view import HostView
from precision_lint.facts.triton.interpreter import Interpreter, TooLong
from precision_lint.facts.triton.language import Version
from precision_lint.facts.triton.module import JitFunction, Module
from precision_lint.facts.triton.parameters import Parameter, describe, values_of
from precision_lint.facts.triton.refusals import Block, CompileError, Key, Kind
from precision_lint.facts.triton.remedies import Candidate, Remedy, RepairCandidates, loads_of
from precision_lint.facts.triton.usage import Usage
from precision_lint.facts.triton.values import COMPILE_TIME, Value, is_only, origins
from precision_lint.model.finding import Related, Span
from precision_lint.model.frozen import frozen

ASSUMPTIONS = ("bf16", "fp16", "fp32")
"""What the pointers that may be half are assumed to point to, one after the other."""
_ANYTHING = "anything"
"""The assumption that they hold integers, fp8 or whatever."""
_MAX_ROUNDS = 6
_MAX_STEPS = 40_000
"""Statements that are evaluated for one kernel; then no more remedies are looked for."""


@frozen
class ReportedError:
    """Why Triton does not compile a kernel.

    `subject` is the variable or function, `before` and `after` the types that do not agree, as
    Triton prints values: of a variable before and after a branch or loop redefines it, of the two
    blocks for a variable that is new in both (a `mismatch`), of two returns, of two operands.
    `fails_for` holds the dtypes of the pointers for which Triton raises `compiler_message`. With
    the `remedy` the kernel compiles for them, as far as this rejection goes.
    """

    kind: Kind
    span: Span
    subject: str
    before: str
    after: str
    compiler_message: str
    fails_for: frozenset[str]
    always: bool
    """Whatever the pointers point to, integers and fp8 too."""
    is_conditional: bool
    """For some compile-time choices only."""
    promotes_itself: bool
    """The wider value is computed from the elements of the narrower one, it is no other value."""
    varies: bool
    """The kernel prepares elsewhere for more than one dtype of what does not fit here."""
    block: Block | None
    """The block of a branch from which `after` comes."""
    flag: Parameter | None
    """The parameter whose missing `tl.constexpr` makes the branch a run-time one, if it is that."""
    loads: tuple[Span, ...]
    """Where the half-precision elements enter."""
    related: tuple[Related, ...]
    remedy: Remedy | None

    @property
    def shown(self) -> tuple[str, str]:
        """`before` and `after` as what differs: a block and a scalar, else their dtypes."""
        shapes = {"[]": "a scalar", "[...]": "a block"}
        before, after = (
            dtypes.replace("|", " or ").partition("[") for dtypes in (self.before, self.after)
        )
        sides = shapes.get(f"[{before[2]}"), shapes.get(f"[{after[2]}")
        if sides[0] and sides[1] and sides[0] != sides[1]:
            return sides[0], sides[1]
        return (before[0], after[0]) if before[0] != after[0] else ("".join(before), "".join(after))

    @property
    def is_of_float8(self) -> bool:
        return "fp8" in self.before or "fp8" in self.after

    @property
    def is_of_none(self) -> bool:
        return self.before == "None" or self.after == "None"

    @property
    def compiler_says(self) -> str:
        """What happens, as one line."""
        stage = "RuntimeError" if "PassManager" in self.compiler_message else "CompilationError"
        said = f"{stage}: {self.compiler_message or 'AssertionError'}".removesuffix(".")
        if "fp32" in self.fails_for:
            return f"{said}."
        return f"{said}. Tests with float32 tensors do not show it."


@frozen
class _Run:
    """What one evaluation found."""

    refusals: dict[Key, CompileError]
    usage: Usage


class Analysis:
    """One kernel under every assumption."""

    def __init__(
        self, module: Module, function: JitFunction, version: Version, hosts: HostView
    ) -> None:
        self.module = module
        self.function = function
        self.version = version
        self.hosts = hosts
        self.launches = hosts.launches(function)
        self.usage = Usage()
        self._steps = 0

    def facts(self) -> tuple[tuple[Parameter, ...], tuple[ReportedError, ...]]:
        """The parameters of the kernel, and its rejections in source order."""
        rejections: tuple[ReportedError, ...] = ()
        may_fail = self._learn()
        parameters = describe(self.module, self.function, self.hosts, self.launches, self.usage)
        if may_fail:
            with suppress(TooLong):
                rejections = tuple(self._rejections(parameters))
        return parameters, rejections

    def _learn(self) -> bool:
        """Evaluate until uses of the parameters tell nothing new; False if it takes too long."""
        with suppress(TooLong):
            for _ in range(_MAX_ROUNDS):
                if not self.usage.learn(self._run(ASSUMPTIONS[0]).usage):
                    break
            return True
        return False

    def _run(
        self, elements: str, patches: Patches | None = None, static: str | None = None
    ) -> _Run:
        interpreter = Interpreter(self.module, self.version, patches)
        parameters = values_of(self.function, self.launches, self.usage, elements)
        if static is not None:
            parameters[static] = COMPILE_TIME
        interpreter.run(self.function, parameters)
        self._steps += interpreter.steps
        return _Run(interpreter.refusals.found, interpreter.usage)

    def _rejections(self, parameters: tuple[Parameter, ...]) -> Iterator[ReportedError]:
        runs = {elements: self._run(elements) for elements in ASSUMPTIONS}
        if not any(run.refusals for run in runs.values()):
            return
        with_anything = self._run(_ANYTHING)
        pinned = frozenset[Span]().union(*(run.usage.pinned for run in runs.values()))
        varying = self._varying(runs[ASSUMPTIONS[0]].usage)
        doctor = RepairCandidates(self.module, self.function, pinned)
        first = {key: refusal for run in runs.values() for key, refusal in run.refusals.items()}
        ordered = sorted(first, key=lambda key: (first[key].crossing or first[key].at, key.subject))
        for key in ordered:
            failing = {e: run.refusals[key] for e, run in runs.items() if key in run.refusals}
            refusals = list(failing.values())
            refusal = refusals[0]
            flag = self._flag(refusal.test, parameters)
            values = [value for r in refusals for value in (r.before, r.after)]
            loads = frozenset[Span]().union(*map(loads_of, values))
            yield ReportedError(
                kind=refusal.kind,
                span=refusal.crossing or refusal.at,
                subject=refusal.subject,
                before=wording.value_of(refusal.before),
                after=wording.value_of(refusal.after),
                compiler_message=wording.compiler_message(refusal, self.version),
                fails_for=frozenset(failing),
                always=len(failing) == len(ASSUMPTIONS) and key in with_anything.refusals,
                is_conditional=all(r.choices for r in refusals),
                promotes_itself=any(map(_promotes_itself, refusals)),
                varies=not origins(
                    *(value for value in values if is_only(value, types.HALF))
                ).isdisjoint(varying),
                block=refusal.block,
                flag=flag,
                loads=tuple(sorted(loads)),
                related=tuple(self._related(refusal, loads, flag)),
                remedy=self._remedy(runs, key, doctor.candidates(refusals, flag)),
            )

    def _varying(self, usage: Usage) -> frozenset[str]:
        """The pointers that the kernel or, if it reads one only, the host takes as they come."""
        found = frozenset(usage.varying)
        if len(usage.read) == 1:
            found |= usage.read & self.launches.following
        return found - self.launches.doubtful

    def _related(
        self, refusal: CompileError, loads: Iterable[Span], flag: Parameter | None
    ) -> Iterator[Related]:
        text = self.module.text
        for load in sorted(loads):
            yield Related(text.place(load), "half precision enters here")
        if flag is not None:
            message = f"`{flag.name}` has no tl.constexpr annotation"
            yield Related(text.place(flag.span), message)
        if refusal.crossing is not None:
            place = refusal.module.text.place(refusal.at)
            yield Related(place, "Triton stops here, in the helper")

    def _flag(self, test: ast.expr | None, parameters: tuple[Parameter, ...]) -> Parameter | None:
        """The parameter whose missing annotation makes a branch a run-time one."""
        if test is None:
            return None
        name = _name_asked_about(test)
        own, asked = self.module.span(self.function.node), self.module.span(test)
        if name in self.function.stored or not own.start <= asked.start < own.end:
            return None
        return next((p for p in parameters if p.name == name and p.is_run_time_flag), None)

    def _remedy(
        self, runs: dict[str, _Run], key: Key, candidates: Iterable[Candidate]
    ) -> Remedy | None:
        """The first remedy that helps wherever the kernel fails, and makes nothing new fail."""
        for candidate in candidates:
            if self._steps < _MAX_STEPS and self._cures(candidate, runs, key):
                return candidate.remedy
        return None

    def _cures(self, candidate: Candidate, runs: dict[str, _Run], key: Key) -> bool:
        for elements, before in runs.items():
            after = self._run(elements, candidate.patches, candidate.static)
            if key in after.refusals or after.refusals.keys() - before.refusals.keys():
                return False
        return True


def _name_asked_about(test: ast.expr) -> str | None:
    """The one name in a condition: `FLAG`, `not FLAG`, `FLAG == 1`."""
    match test:
        case ast.Name(id=name):
            return name
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _name_asked_about(operand)
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[ast.Constant()]):
            return _name_asked_about(left)
    return None


def _promotes_itself(refusal: CompileError) -> bool:
    """True if the half-precision elements of the narrower value are in the wider one, too."""
    before, after = refusal.before, refusal.after
    if refusal.kind in ("branch", "mismatch", "loop"):
        narrow: tuple[Value, ...] = (before,)
    else:
        narrow = (before, after)
    related = not origins(before).isdisjoint(origins(after))
    return related and any(map(loads_of, narrow))
