"""Branches that would give a variable two types, found by evaluating a kernel for every dtype."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from precision_lint.finding import Span
from precision_lint.triton_types import dtypes as types
from precision_lint.triton_types.interpreter import Block, Interpreter, Redefinition, TooLong
from precision_lint.triton_types.language import Version
from precision_lint.triton_types.launches import launches_of
from precision_lint.triton_types.module import JitFunction, Module
from precision_lint.triton_types.parameters import Parameter, describe, values_of
from precision_lint.triton_types.usage import Usage
from precision_lint.triton_types.values import (
    COMPILE_TIME,
    Constant,
    Items,
    Pointer,
    Tensor,
    Value,
    origins,
)

ASSUMPTIONS = ("bf16", "fp16", "fp32")
"""What the pointers that may be half are assumed to point to, one after the other."""
_MAX_ROUNDS = 6


@dataclass(frozen=True, slots=True)
class Widening:
    """A cast to float32 at a load that makes the types agree.

    `is_contained` is False if the elements are also used where their dtype matters beyond its
    precision: in an address, a mask, `tl.dot`, a function that is not known.
    """

    load: Span
    float32: str
    is_contained: bool


@dataclass(frozen=True, slots=True)
class Annotation:
    """An annotation for a parameter that makes the branch a compile-time one."""

    at: int
    constexpr: str


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A run-time `if` that gives `variable` another type than it must keep.

    `before` and `after` are the types as Triton prints them, and `block` is where `after` comes
    from; if the variable `is_new`, `before` is its type in the other block. `fails_for` holds the
    dtypes of the pointers for which Triton raises. It `promotes_itself` if the wider value is
    computed from the elements of the narrower one, and is not another value. `flag` is the
    parameter whose missing `tl.constexpr` makes the branch a run-time one, if that is why. With the
    `remedy` the kernel compiles for the dtypes that it fails for, as far as this variable goes.
    """

    variable: str
    assigned: Span
    condition: Span
    block: Block
    is_new: bool
    before: str
    after: str
    fails_for: frozenset[str]
    loads: tuple[Span, ...]
    promotes_itself: bool
    flag: Parameter | None
    remedy: Widening | Annotation | None

    @property
    def always_fails(self) -> bool:
        return self.fails_for == frozenset(ASSUMPTIONS)


@dataclass(frozen=True, slots=True)
class _Run:
    """What one evaluation found."""

    redefinitions: dict[tuple[Span, str], Redefinition]
    problems: frozenset[tuple[str, Span]]
    usage: Usage
    has_branches: bool

    @property
    def keys(self) -> frozenset[tuple[Span, str]]:
        return frozenset(self.redefinitions)


class Analysis:
    """One kernel under every assumption."""

    def __init__(self, module: Module, function: JitFunction, version: Version) -> None:
        self.module = module
        self.function = function
        self.version = version
        self.launches = launches_of(module, function)
        self.usage = Usage()

    def facts(self) -> tuple[tuple[Parameter, ...], tuple[Mismatch, ...]]:
        """The parameters of the kernel, and its mismatches in source order."""
        mismatches: tuple[Mismatch, ...] = ()
        has_branches = self._learn()
        parameters = describe(self.module, self.function, self.launches, self.usage)
        if has_branches:
            with suppress(TooLong):
                mismatches = tuple(self._mismatches(parameters))
        return parameters, mismatches

    def _learn(self) -> bool:
        """Evaluate until the uses of the parameters tell nothing new; False if nothing branches."""
        try:
            for _ in range(_MAX_ROUNDS):
                run = self._run("bf16")
                is_new = self.usage.learn(run.usage)
                if not run.has_branches:
                    return False
                if not is_new:
                    return True
        except TooLong:
            return False
        return True

    def _run(
        self, half: str, widened: frozenset[Span] = frozenset(), static: str | None = None
    ) -> _Run:
        interpreter = Interpreter(self.module, self.version, widened)
        parameters = values_of(self.function, self.launches, self.usage, half)
        if static is not None:
            parameters[static] = COMPILE_TIME
        interpreter.run(self.function, parameters)
        found: dict[tuple[Span, str], Redefinition] = {}
        for redefinition in interpreter.redefinitions:
            found.setdefault(self._key(redefinition), redefinition)
        usage = interpreter.usage
        return _Run(found, frozenset(usage.rejected), usage, interpreter.has_branches)

    def _key(self, redefinition: Redefinition) -> tuple[Span, str]:
        return self.module.span(redefinition.branch.test), redefinition.variable

    def _mismatches(self, parameters: tuple[Parameter, ...]) -> Iterator[Mismatch]:
        runs = {half: self._run(half) for half in ASSUMPTIONS}
        for key in sorted(set().union(*(run.keys for run in runs.values()))):
            failing = {half: run for half, run in runs.items() if key in run.keys}
            sides = [run.redefinitions[key] for run in failing.values()]
            loads = {load for r in sides for v in (r.before, r.after) for load in _loads(v)}
            flag = self._flag(sides[0].branch.test, parameters)
            yield Mismatch(
                variable=sides[0].variable,
                assigned=sides[0].assigned,
                condition=key[0],
                block=sides[0].block,
                is_new=sides[0].is_new,
                before=_shown(sides[0].before),
                after=_shown(sides[0].after),
                fails_for=frozenset(failing),
                loads=tuple(sorted(loads)),
                promotes_itself=any(map(_promotes_itself, sides)),
                flag=flag,
                remedy=self._widening(failing, key, loads) or self._annotation(failing, key, flag),
            )

    def _flag(self, test: ast.expr, parameters: tuple[Parameter, ...]) -> Parameter | None:
        """The parameter whose missing annotation makes a branch a run-time one."""
        name = _name_asked_about(test)
        stored = {
            node.id
            for node in ast.walk(self.function.node)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        if name in stored or not self._contains(self.module.span(test)):
            return None
        return next((p for p in parameters if p.name == name and p.is_run_time_flag), None)

    def _contains(self, span: Span) -> bool:
        """True if `span` is in the kernel itself, not in a helper."""
        own = self.module.span(self.function.node)
        return own.start <= span.start < own.end

    def _annotation(
        self, failing: dict[str, _Run], key: tuple[Span, str], flag: Parameter | None
    ) -> Annotation | None:
        constexpr = self.module.name_of("constexpr")
        if flag is None or flag.annotation_at is None or constexpr is None or not flag.is_boolean:
            return None
        if not self._is_cured(failing, key, static=flag.name):
            return None
        return Annotation(flag.annotation_at, constexpr)

    def _widening(
        self, failing: dict[str, _Run], key: tuple[Span, str], loads: set[Span]
    ) -> Widening | None:
        float32 = self.module.name_of("float32")
        if len(loads) != 1 or float32 is None:
            return None
        (load,) = loads
        if not self._is_cured(failing, key, widened=frozenset(loads)):
            return None
        is_pinned = any(load in run.usage.pinned for run in failing.values())
        return Widening(load, float32, is_contained=self._contains(load) and not is_pinned)

    def _is_cured(
        self,
        failing: dict[str, _Run],
        key: tuple[Span, str],
        widened: frozenset[Span] = frozenset(),
        static: str | None = None,
    ) -> bool:
        """True if with a change this mismatch is gone wherever it was, and nothing new is wrong."""
        for half, before in failing.items():
            after = self._run(half, widened, static)
            if key in after.keys or after.keys - before.keys or after.problems - before.problems:
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


def _loads(value: Value) -> frozenset[Span]:
    if isinstance(value, Items):
        return frozenset().union(*map(_loads, value.values))
    return value.loads if isinstance(value, Tensor) else frozenset()


def _promotes_itself(redefinition: Redefinition) -> bool:
    before, after = redefinition.before, redefinition.after
    return bool(_loads(before)) and not origins(before).isdisjoint(origins(after))


def _shown(value: Value) -> str:
    """A type as Triton prints it, without the sizes: `bf16[...]`, `fp32[]`, `pointer<bf16>[]`."""
    if isinstance(value, Items):
        return f"[{', '.join(map(_shown, value.values))}]"
    if not isinstance(value, Tensor | Pointer):
        return "constexpr" if isinstance(value, Constant) else "?"
    dtypes = value.dtypes if isinstance(value, Tensor) else value.elements
    name = "|".join(sorted(dtypes)) if dtypes != types.ANY else "?"
    name = f"pointer<{name}>" if isinstance(value, Pointer) else name
    return f"{name}[]" if value.rank == 0 else f"{name}[...]"
