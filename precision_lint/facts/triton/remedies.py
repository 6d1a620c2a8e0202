"""Changes to a kernel that may make Triton accept it; whether one does, an evaluation shows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import field

from precision_lint.facts.triton import dtypes as types
from precision_lint.facts.triton.expressions import Cast, Patches
from precision_lint.facts.triton.module import JitFunction, Module
from precision_lint.facts.triton.parameters import Parameter
from precision_lint.facts.triton.refusals import CompileError
from precision_lint.facts.triton.values import Constant, Items, Tensor, TypeRef, Value
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.source.python.nodes import walk

_STARTS = {"triton.language.zeros": 1, "triton.language.full": 2}
"""Where the functions that accumulators start from have their dtype."""

_NOT_HELD = frozenset(
    {"float64", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))}
)
"""Element types of which float32 does not hold every value or every sum."""


@frozen
class Conversion:
    """`.to(dtype)` after an expression. It is not safe where precision or meaning may change."""

    expression: Span
    dtype: str
    needs_parentheses: bool
    is_load: bool
    is_safe: bool


@frozen
class Replacement:
    """Another text for an expression: `tl.float32` for the dtype of an accumulator."""

    expression: Span
    text: str
    is_safe: bool


@frozen
class Annotation:
    """An annotation for a parameter that makes a branch a compile-time one."""

    at: int
    constexpr: str
    is_safe: bool = False


Remedy = Conversion | Replacement | Annotation


@frozen
class Candidate:
    """A remedy, and what it changes in an evaluation."""

    remedy: Remedy
    patches: Patches = field(default_factory=dict)
    static: str | None = None


@frozen
class RepairCandidates:
    """What could be done about a refusal, in the order in which it is tried.

    `refusals` are those of one place, under each assumption that has it.
    """

    module: Module
    function: JitFunction
    pinned: frozenset[Span]
    """Loads whose elements are used where their dtype matters beyond its precision."""

    def candidates(
        self, refusals: list[CompileError], flag: Parameter | None
    ) -> Iterator[Candidate]:
        first = refusals[0]
        if first.module is not self.module:
            return
        match first.kind:
            case "float8":
                yield from self._widened(first.start, [r.before for r in refusals])
                yield from self._widened(first.given, [r.after for r in refusals])
            case "math":
                yield from self._widened(first.given, [r.after for r in refusals])
                yield from self._loaded(refusals)
            case "branch" | "mismatch" | "loop":
                yield from self._loaded(refusals)
                yield from self._started(first)
                if first.kind != "mismatch":
                    yield from self._cast_back(refusals)
                yield from self._annotated(flag)
            case "ternary" | "return":
                yield from self._loaded(refusals)
                yield from self._widened(first.start, [r.before for r in refusals])
                yield from self._widened(first.given, [r.after for r in refusals])
            case "sum":
                yield from self._loaded(refusals)
                values = [r.after for r in refusals]
                if (factor := _first_factor(first.given)) is not None:
                    yield from self._widened(first.given, values, at=factor)
                yield from self._widened(first.given, values)
                yield from self._started(first)
            case "dot" if first.subject == "dot":
                yield from self._multiplied(refusals)
            case "dot" if first.subject == "out_dtype" and first.given is not None:
                yield from self._in_float32(first.given)
            case "dot":
                yield from self._accumulated(first)

    def _loaded(self, refusals: list[CompileError]) -> Iterator[Candidate]:
        """float32 from the one load on."""
        values = [value for refusal in refusals for value in (refusal.before, refusal.after)]
        loads = frozenset[Span]().union(*map(loads_of, values))
        float32 = self.module.name_of("float32")
        if len(loads) == 1 and float32 is not None:
            (load,) = loads
            is_safe = self._may_widen(load) and load not in self.pinned
            remedy = Conversion(load, float32, False, is_load=True, is_safe=is_safe)
            yield Candidate(remedy, {load: Cast(types.FLOAT32)})

    def _widened(
        self, node: ast.expr | None, values: list[Value], *, at: ast.expr | None = None
    ) -> Iterator[Candidate]:
        """An expression of half precision or float8 as float32, by a conversion of a part of it."""
        is_narrow = all(isinstance(v, Tensor) and v.dtypes <= types.NARROW for v in values)
        float32 = self.module.name_of("float32")
        if node is None or not is_narrow or float32 is None:
            return
        part = at or node
        span = self.module.span(part)
        remedy = Conversion(
            span, float32, _binds_weakly(part), is_load=False, is_safe=self._may_widen(span)
        )
        yield Candidate(remedy, {span: Cast(types.FLOAT32)})

    def _started(self, refusal: CompileError) -> Iterator[Candidate]:
        """A variable that starts in float32."""
        match refusal.start:
            case ast.Call() as call if (dtype := self._dtype_of_start(call)) is not None:
                yield from self._in_float32(dtype)
            case ast.Constant(value=bool()):
                return
            case ast.Constant(value=int() as number) as node:
                if _dtypes(refusal.after) <= types.FLOATS:
                    span = self.module.span(node)
                    remedy = Replacement(span, f"{number}.0", is_safe=self._contains(span))
                    yield Candidate(remedy, {span: Constant(float(number))})

    def _accumulated(self, refusal: CompileError) -> Iterator[Candidate]:
        """The accumulator of a product in float32."""
        match refusal.given:
            case ast.Call() as call if (dtype := self._dtype_of_start(call)) is not None:
                yield from self._in_float32(dtype)
            case ast.Name(id=name):
                starts = [
                    dtype
                    for node in walk(self.function.node)
                    if isinstance(node, ast.Assign)
                    and any(isinstance(t, ast.Name) and t.id == name for t in node.targets)
                    and isinstance(node.value, ast.Call)
                    and (dtype := self._dtype_of_start(node.value)) is not None
                ]
                if len(starts) == 1:
                    yield from self._in_float32(starts[0])

    def _in_float32(self, dtype: ast.expr) -> Iterator[Candidate]:
        float32 = self.module.name_of("float32")
        if float32 is not None:
            span = self.module.span(dtype)
            remedy = Replacement(span, float32, is_safe=self._contains(span))
            yield Candidate(remedy, {span: TypeRef(types.FLOAT32)})

    def _dtype_of_start(self, call: ast.Call) -> ast.expr | None:
        """The dtype that `tl.zeros` and `tl.full` are given."""
        position = _STARTS.get(self.module.qualified(call.func) or "")
        if position is None:
            return None
        named = [keyword.value for keyword in call.keywords if keyword.arg == "dtype"]
        return next(iter([*named, *call.args[position : position + 1]]), None)

    def _cast_back(self, refusals: list[CompileError]) -> Iterator[Candidate]:
        """What is assigned in the dtype that the variable had; less precise, so never safe."""
        first = refusals[0]
        node = first.given
        narrows = all(
            isinstance(r.before, Tensor)
            and isinstance(r.after, Tensor)
            and r.before.dtypes <= types.HALF
            and r.after.dtypes <= types.FLOATS
            for r in refusals
        )
        if node is None or not narrows:
            return
        span = self.module.span(node)
        like = f"{first.subject}.dtype"
        remedy = Conversion(span, like, _binds_weakly(node), is_load=False, is_safe=False)
        variable = ast.copy_location(ast.Name(first.subject, ast.Load()), node)
        yield Candidate(remedy, {span: Cast(variable)})

    def _multiplied(self, refusals: list[CompileError]) -> Iterator[Candidate]:
        """The float32 or float8 operand of a product in the half precision of the other one."""
        first = refusals[0]
        for node, like, is_left in (
            (first.start, first.given, True),
            (first.given, first.start, False),
        ):
            others = [r.before if is_left else r.after for r in refusals]
            halves = [r.after if is_left else r.before for r in refusals]
            fits = all(_dtypes(half) <= types.HALF for half in halves) and all(
                _dtypes(other) == types.FLOAT32 or _dtypes(other) <= types.FLOAT8
                for other in others
            )
            if not fits or node is None or not isinstance(like, ast.Name):
                continue
            span = self.module.span(node)
            remedy = Conversion(
                span, f"{like.id}.dtype", _binds_weakly(node), is_load=False, is_safe=False
            )
            yield Candidate(remedy, {span: Cast(like)})

    def _annotated(self, flag: Parameter | None) -> Iterator[Candidate]:
        constexpr = self.module.name_of("constexpr")
        if flag is None or flag.annotation_at is None or constexpr is None or not flag.is_boolean:
            return
        yield Candidate(Annotation(flag.annotation_at, constexpr), static=flag.name)

    def _may_widen(self, span: Span) -> bool:
        """True if float32 in the place of an expression loses nothing for anybody."""
        return self._contains(span) and not _asks_for_other_elements(self.function.node)

    def _contains(self, span: Span) -> bool:
        """True if `span` is in the kernel itself, not in a helper that others may call."""
        own = self.module.span(self.function.node)
        return own.start <= span.start < own.end


def _asks_for_other_elements(kernel: ast.AST) -> bool:
    """True if a kernel asks whether it has integers or float64, which float32 does not hold."""
    for node in walk(kernel):
        match node:
            case ast.Compare():
                inside = (each for each in walk(node) if isinstance(each, ast.Attribute))
                if any(each.attr in _NOT_HELD for each in inside):
                    return True
            case ast.Attribute(attr="is_int" | "is_int_signed" | "is_int_unsigned" | "is_fp64"):
                return True
    return False


def loads_of(value: Value) -> frozenset[Span]:
    """The loads whose half-precision elements a value was computed from."""
    if isinstance(value, Items):
        return frozenset[Span]().union(*map(loads_of, value.values))
    return value.loads if isinstance(value, Tensor) else frozenset()


def _dtypes(value: Value) -> types.Dtypes:
    return value.dtypes if isinstance(value, Tensor) else types.ANY


def _first_factor(node: ast.expr | None) -> ast.expr | None:
    """`x` of `x * y * z`: in float32 it makes the products float32, not only their sum."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)):
        return None
    return _first_factor(node.left) or node.left


def _binds_weakly(node: ast.expr) -> bool:
    """True if `.to(...)` after an expression would bind to its last part only."""
    return not isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
