"""Evaluates a kernel and writes down what compiles and still goes wrong."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from precision_lint.finding import Span
from precision_lint.triton_types import dtypes as types
from precision_lint.triton_types.expressions import Patches, Variable
from precision_lint.triton_types.interpreter import Interpreter
from precision_lint.triton_types.language import Version
from precision_lint.triton_types.literals import overflows, vanishes
from precision_lint.triton_types.module import JitFunction, Module
from precision_lint.triton_types.values import (
    UNKNOWN,
    Arguments,
    Constant,
    Function,
    Pointer,
    Tensor,
    Trace,
    Value,
    merged,
)

Kind = Literal[
    "reduction",
    "accumulator",
    "atomic",
    "offset",
    "late cast",
    "update",
    "float64",
    "infinity",
    "zero",
    "tf32",
]
Key = tuple[Kind, Span, str]

_REDUCTIONS = frozenset({"sum", "cumsum", "cumprod"})
_COMBINED = frozenset({"reduce", "associative_scan"})
_ACCESSES = frozenset({"load", "store", "atomic_add"})
_LOCKS = frozenset({"atomic_cas"})
_BOUNDED = frozenset({"where", "maximum", "minimum", "clamp"})
"""What takes numbers beside elements, and gives them their dtype."""
_KEEPS_ELEMENTS = frozenset(
    "load cast where reshape view broadcast_to expand_dims trans permute ravel".split()
)
"""What leaves each element what it was, or takes it from one of several."""
_OF_ELEMENTS = frozenset({"load", "update", "exact"})
"""The traces that say what the elements are: what is computed from them is something else."""
_FITS_TF32 = types.NARROW | {"int1", "int8", "uint8"}
"""Every number of these dtypes is one of TF32, too."""
_BF16 = frozenset({"bf16"})
_INT64 = frozenset({"int64"})
_MAX_STEPS = 6
"""How far the definition of an operand is followed."""
_MAX_STORES = 8
"""The stores through one parameter that a later load is held against."""


@dataclass(frozen=True, slots=True)
class Sight:
    """One thing that an evaluation sees.

    `subject` is the function, the variable, the parameter or the number that it is about; `value`
    what is summed, accumulated, addressed or computed, `before` what a loop starts to accumulate
    from. `start` and
    `given` are the expressions that they come from.
    """

    kind: Kind
    place: Span
    subject: str
    value: Value = UNKNOWN
    before: Value = UNKNOWN
    start: ast.expr | None = None
    given: ast.expr | None = None
    related: Span | None = None
    is_conditional: bool = False
    """For some compile-time choices only."""
    is_elsewhere: bool = False
    """In another file; `place` is the call that leads there."""

    @property
    def key(self) -> Key:
        return self.kind, self.place, self.subject


@dataclass(frozen=True, slots=True, eq=False)
class _Loop:
    """A run-time loop: the variables before it, and the names that its body assigns."""

    before: dict[str, Variable]
    assigned: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Load:
    """Where elements were loaded that may be stored again."""

    address: str
    is_of_stored: bool
    """This run has stored through the same parameter before."""
    loop: _Loop | None
    """The innermost loop, if the address is the same in all of its iterations."""


class Observer(Interpreter):
    """Evaluates one kernel for one choice of parameter types."""

    def __init__(
        self, function: JitFunction, version: Version, patches: Patches | None = None
    ) -> None:
        super().__init__(function.module, version, patches)
        self.sights: dict[Key, Sight] = {}
        """What was seen, in the order in which it was; after the run."""
        self._sights: dict[Key, Sight] = {}
        self.wide: set[str] = set()
        """The pointer parameters that int64 offsets are added to."""
        self.factors: set[str] = set()
        """The float64 parameters that floats are added to or multiplied with: counts divide."""
        self.takes_lock = False
        self.meets_small_numbers = False
        """Half precision meets a number that is zero in bf16, perhaps in bf16 only."""
        self._nodes: list[ast.expr | ast.stmt] = []
        self._loops: list[_Loop] = []
        self._blocks = tuple(_exclusive_blocks(function))
        self._stores: dict[str, list[Span]] = {}
        self._loaded: dict[Span, _Load] = {}
        self._indices: set[Span] = set()
        """The products that are multiplied further as int64: rows, no offsets of elements."""

    def run(self, function: JitFunction, parameters: dict[str, Value]) -> Value:
        found = super().run(function, parameters)
        self.sights = {
            key: sight
            for key, sight in self._sights.items()
            if sight.kind != "late cast" or sight.place not in self._indices
        }
        return found

    # Where the evaluation is.

    def _evaluate(self, node: ast.expr) -> Value:
        self._nodes.append(node)
        found = super()._evaluate(node)
        self._nodes.pop()
        return found

    def _execute(self, statement: ast.stmt) -> None:
        self._nodes.append(statement)
        name = _accumulator(statement)
        before = self.frame.variables.get(name) if name is not None else None
        super()._execute(statement)
        self._nodes.pop()
        if name is not None and before is not None:
            self._accumulate(statement, name, before)

    def _loop(self, body: list[ast.stmt], head: ast.expr, index: str = "") -> None:
        names = {name for statement in body for name in _stored_names(statement)}
        self._loops.append(_Loop(self.frame.variables, frozenset({index, *names})))
        super()._loop(body, head, index)
        self._loops.pop()

    @property
    def _here(self) -> Span:
        return self.module.span(self._nodes[-1])

    def _see(
        self,
        kind: Kind,
        place: Span,
        subject: str,
        value: Value,
        *,
        before: Value = UNKNOWN,
        start: ast.expr | None = None,
        given: ast.expr | None = None,
        related: Span | None = None,
    ) -> None:
        is_conditional, crossing = bool(self.refusals.choices), self.refusals.crossing
        if crossing is not None:
            sight = Sight(
                kind, crossing, subject, value, is_conditional=is_conditional, is_elsewhere=True
            )
        else:
            sight = Sight(
                kind, place, subject, value, before, start, given, related, is_conditional
            )
        self._sights.setdefault(sight.key, sight)

    # Operators.

    def binary(self, op: ast.operator, left: Value, right: Value) -> Value:
        found = super().binary(op, left, right)
        match found:
            case Pointer(traces=traces):
                for offset in (left, right):
                    if isinstance(offset, Tensor):
                        traces = merged(traces, self._offset_traces(offset))
                return replace(found, traces=traces)
            case Tensor():
                self._widen(found)
                if isinstance(op, ast.Add | ast.Sub | ast.Mult):
                    self._multiply(left, right)
                    self._convert(op, left, right, found)
                return _traced(found, self._traces(op, left, right, found))
        return found

    def _offset_traces(self, offset: Tensor) -> frozenset[Trace]:
        traces = offset.provenance.traces
        integers = offset.dtypes & types.INTEGERS
        if integers == types.INT32 or any(trace.kind == "late" for trace in traces):
            return traces
        if integers == _INT64:
            return traces | {Trace("wide", self._here)}
        return traces | {Trace("doubtful", self._here)}

    def _traces(
        self, op: ast.operator, left: Value, right: Value, found: Tensor
    ) -> frozenset[Trace]:
        traces = frozenset(trace for trace in found.provenance.traces if trace.kind != "exact")
        loads = {trace for trace in traces if trace.kind in ("load", "update")}
        if self.refusals.crossing is not None:
            return traces - loads  # places in another file are none in this one
        match op:
            case ast.Add() | ast.Sub():
                if _counts(op, left) or _counts(op, right):
                    return traces - loads
                updates = {Trace("update", one.place, one.parameter) for one in loads}
                return traces | updates
            case ast.Mult() | ast.FloorDiv() if late := {t for t in traces if t.kind == "late"}:
                self._indices |= {trace.place for trace in late}
                return traces - loads - late
            case ast.Mult() if _is_grid_times_scalar(left, right) and _is_int32(found):
                return (traces - loads) | {Trace("product", self._here)}
        return traces - loads

    def _multiply(self, left: Value, right: Value) -> None:
        for one, other in ((left, right), (right, left)):
            if not isinstance(one, Tensor) or not isinstance(other, Tensor):
                continue
            doubles = doubles_in(one)
            if len(doubles) == 1 and one.rank == 0 and other.dtypes <= types.FLOATS:
                self.factors |= doubles

    def _widen(self, found: Value) -> None:
        """A block of float64 that a scalar parameter made so."""
        if isinstance(found, Tensor) and found.dtypes == {"fp64"} and found.rank:
            for parameter in sorted(doubles_in(found)):
                self._see("float64", self._here, parameter, found)

    # Numbers that half precision has not.

    def _convert(self, op: ast.operator, left: Value, right: Value, found: Tensor) -> None:
        for value, number, is_left in ((left, right, True), (right, left, False)):
            if not isinstance(number, Constant) or not isinstance(value, Tensor):
                continue
            # Infinity that is added or selected does what a large number is there for.
            if isinstance(op, ast.Mult) and overflows(number.value, found.dtypes):
                self._see_number("infinity", value, is_left)
            elif self._vanishes(number.value, found.dtypes):
                self._see_number("zero", value, is_left)

    def _comparison(self, op: ast.cmpop, left: Value, right: Value) -> Value:
        match op, left, right:
            # `x > 1e-8` and `x > 0` are the same, unless there are elements between.
            case ast.Lt() | ast.GtE(), Tensor(dtypes=dtypes), Constant(value=number):
                if self._vanishes(number, dtypes):
                    self._see_number("zero", left, True)
            case ast.Gt() | ast.LtE(), Constant(value=number), Tensor(dtypes=dtypes):
                if self._vanishes(number, dtypes):
                    self._see_number("zero", right, False)
        return super()._comparison(op, left, right)

    def _bound(self, arguments: Arguments, found: Value, site: Span) -> None:
        if not isinstance(found, Tensor):
            return
        for key, node in arguments.nodes.items():
            number = arguments.keywords[key] if isinstance(key, str) else arguments.positional[key]
            if isinstance(number, Constant) and self._vanishes(number.value, found.dtypes):
                self._see("zero", site, self._written(node), found)

    def _vanishes(self, number: object, dtypes: types.Dtypes) -> bool:
        if dtypes <= types.HALF and vanishes(number, _BF16):
            self.meets_small_numbers = True
        return vanishes(number, dtypes)

    def _see_number(self, kind: Kind, value: Value, is_left: bool) -> None:
        """A number beside `value`, the left operand or the right one of what is evaluated."""
        match self._nodes[-1]:
            case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
                given, number = (left, right) if is_left else (right, left)
                self._see(kind, self._here, self._written(number), value, given=given)
            case ast.AugAssign(value=number) if is_left:
                self._see(kind, self._here, self._written(number), value)

    def _written(self, node: ast.expr) -> str:
        span = self.module.span(node)
        return self.module.text.text[span.start : span.end]

    # Functions of Triton.

    def _library(self, path: str, arguments: Arguments, site: Span) -> Value:
        found = _without_doubles(super()._library(path, arguments, site))
        package, _, name = path.rpartition(".")
        if not package.startswith("triton.language"):
            return found
        self._widen(found)
        if name in _REDUCTIONS or (name in _COMBINED and _adds(arguments.get(2, "combine_fn"))):
            self._reduce(name, arguments, found, site)
        if name in _ACCESSES:
            self._access(name, arguments, site)
        if name in _LOCKS:
            self.takes_lock = True
        if name in _BOUNDED:
            self._bound(arguments, found, site)
        if not isinstance(found, Tensor):
            return found
        if name == "cast" and _is_float32(found) and _may_fit_tf32(arguments.get(0, "input")):
            return _traced(found, found.provenance.traces | {Trace("exact", site)})
        if self.refusals.crossing is not None:
            return found
        match name:
            case "program_id":
                return _traced(found, frozenset({Trace("grid", site)}))
            case "load":
                return self._load(arguments, found, site)
            case "cast" if found.dtypes == _INT64:
                return _traced(found, _late(arguments.get(0, "input")))
            case "dot":
                self._multiply_matrices(arguments, site)
        if name in _KEEPS_ELEMENTS:
            return found
        traces = found.provenance.traces
        return _traced(found, frozenset(t for t in traces if t.kind not in _OF_ELEMENTS))

    def _multiply_matrices(self, arguments: Arguments, site: Span) -> None:
        """Only what was computed in float32 loses digits in TF32."""
        operands = [arguments.get(0, "input"), arguments.get(1, "other")]
        told = [arguments.get(3, "input_precision"), arguments.get(4, "allow_tf32")]
        if told != [None, None] or self.refusals.crossing is not None:
            return
        if all(map(_is_float32, operands)) and not all(map(_is_exact, operands)):
            self._see("tf32", site, "dot", operands[0] or UNKNOWN)

    def _reduce(self, name: str, arguments: Arguments, found: Value, site: Span) -> None:
        value, node = arguments.get(0, "input"), arguments.node(0, "input")
        if not isinstance(value, Tensor) or not isinstance(found, Tensor):
            return
        if _is_half(value) and _is_half(found) and not self._picks_one(node):
            self._see("reduction", site, name, value, given=node)

    def _accumulate(self, statement: ast.stmt, name: str, before: Variable) -> None:
        """`acc += x` in a loop that carries `acc`."""
        if not self._loops or self._loops[-1].before.get(name) is not before:
            return
        after = self.frame.variables[name].value
        if _is_half(after) and _is_half(before.value) and not self._counts_up(statement):
            place = self.module.span(statement)
            self._see(
                "accumulator",
                place,
                name,
                after,
                before=before.value,
                start=before.given,
                related=before.assigned,
            )

    def _counts_up(self, statement: ast.stmt) -> bool:
        """True for `n += 1`: elements that integers are added to are none that lose digits."""
        match statement:
            case ast.AugAssign(value=value):
                return _is_integer(self.evaluate(value))
            case ast.Assign(value=ast.BinOp(left=left, right=right)):
                return any(_is_integer(self.evaluate(operand)) for operand in (left, right))
        return False

    def _access(self, name: str, arguments: Arguments, site: Span) -> None:
        pointer = arguments.get(0, "pointer")
        if not isinstance(pointer, Pointer):
            return
        self._offset(pointer)
        if name == "load" or pointer.parameter is None:
            return
        is_half = pointer.elements <= types.HALF
        if name == "atomic_add" and is_half and not _is_integer(arguments.get(1, "val")):
            self._see(
                "atomic", site, pointer.parameter, pointer, given=arguments.node(0, "pointer")
            )
        if name == "store" and self.refusals.crossing is None:
            if is_half:
                self._store(pointer.parameter, arguments, site)
            stores = self._stores.setdefault(pointer.parameter, [])
            if len(stores) < _MAX_STORES:
                stores.append(site)

    def _offset(self, pointer: Pointer) -> None:
        if any(trace.kind == "wide" for trace in pointer.traces):
            # Indices are few: that theirs are int64 shows nothing.
            if pointer.parameter is not None and not pointer.elements <= types.INTEGERS:
                self.wide.add(pointer.parameter)
            return
        if any(trace.kind == "doubtful" for trace in pointer.traces):
            return
        late = [trace.place for trace in pointer.traces if trace.kind == "late"]
        if late and pointer.parameter is not None:
            self._see("late cast", min(late), pointer.parameter, pointer)
            return
        products = [trace.place for trace in pointer.traces if trace.kind == "product"]
        if products and pointer.parameter is not None:
            # With the first product, the sum is int64.
            self._see("offset", min(products), pointer.parameter, pointer)

    # What is loaded, changed and stored again.

    def _load(self, arguments: Arguments, found: Tensor, site: Span) -> Value:
        pointer, node = arguments.get(0, "pointer"), arguments.node(0, "pointer")
        if not isinstance(pointer, Pointer) or pointer.parameter is None or node is None:
            return found
        stores = self._stores.get(pointer.parameter, [])
        loop = self._loops[-1] if self._loops else None
        if loop is not None and not loop.assigned.isdisjoint(_names(node)):
            loop = None
        self._loaded[site] = _Load(
            ast.unparse(node),
            any(one < site and not self._exclude_each_other(one, site) for one in stores),
            loop,
        )
        return _traced(found, frozenset({Trace("load", site, pointer.parameter)}))

    def _store(self, parameter: str, arguments: Arguments, site: Span) -> None:
        value, node = arguments.get(1, "value"), arguments.node(0, "pointer")
        if not isinstance(value, Tensor) or node is None:
            return
        address = ast.unparse(node)
        for trace in value.provenance.traces:
            if trace.kind != "update" or trace.parameter != parameter:
                continue
            load = self._loaded[trace.place]
            repeats = load.loop is not None and load.loop in self._loops
            if load.address == address and (load.is_of_stored or repeats or self.takes_lock):
                self._see("update", site, parameter, value, related=trace.place)

    def _exclude_each_other(self, one: Span, other: Span) -> bool:
        """True if no run sees both places."""
        return any(
            _is_in(one, then) and _is_in(other, otherwise) for then, otherwise in self._blocks
        )

    def _picks_one(self, node: ast.expr | None, steps: int = _MAX_STEPS) -> bool:
        """True for `tl.where(columns == label, x, 0)`: a sum of it rounds nothing."""
        match node if steps else None:
            case ast.Name(id=name):
                return self._picks_one(self._definition(name), steps - 1)
            case ast.Call(func=ast.Attribute(value=value, attr="to")):
                return self._picks_one(value, steps - 1)
            case ast.Call(func=func, args=[condition, *_]) if (
                self.module.qualified(func) == "triton.language.where"
            ):
                return self._is_equality(condition, steps)
            case ast.BinOp(op=ast.Mult(), left=left, right=right):
                return any(
                    self._is_equality(one, steps - 1) or self._picks_one(one, steps - 1)
                    for one in (left, right)
                )
        return False

    def _is_equality(self, node: ast.expr | None, steps: int) -> bool:
        match node if steps else None:
            case ast.Name(id=name):
                return self._is_equality(self._definition(name), steps - 1)
            case ast.Subscript(value=value) | ast.Call(func=ast.Attribute(value=value, attr="to")):
                return self._is_equality(value, steps - 1)
            case ast.BinOp(op=ast.BitAnd(), left=left, right=right):
                return self._is_equality(left, steps - 1) or self._is_equality(right, steps - 1)
            case ast.BinOp(op=ast.Sub(), left=ast.Constant(value=1), right=right):
                return self._is_equality(right, steps - 1)
            case ast.Call(func=func, args=[ast.Constant(value=0), ast.Constant(value=2)]):
                # 0 and 1 along an axis of two
                return (self.module.qualified(func) or "").endswith(".arange")
            case ast.Compare(ops=[ast.Eq()]):
                return True
        return False

    def _definition(self, name: str) -> ast.expr | None:
        variable = self.frame.variables.get(name)
        return None if variable is None else variable.given


def doubles_in(value: Value) -> frozenset[str]:
    """The parameters that make a value float64."""
    if not isinstance(value, Tensor) or value.dtypes != {"fp64"}:
        return frozenset()
    return frozenset(
        trace.parameter
        for trace in value.provenance.traces
        if trace.kind == "double" and trace.parameter is not None
    )


def _traced(value: Tensor, traces: frozenset[Trace]) -> Tensor:
    if traces == value.provenance.traces:
        return value
    return replace(value, provenance=replace(value.provenance, traces=traces))


def _without_doubles(value: Value) -> Value:
    """A value that was converted from float64 bears no mark of it."""
    if not isinstance(value, Tensor) or "fp64" in value.dtypes:
        return value
    traces = value.provenance.traces
    return _traced(value, frozenset(trace for trace in traces if trace.kind != "double"))


def _is_float32(value: Value | None) -> bool:
    return isinstance(value, Tensor) and value.dtypes == types.FLOAT32


def _may_fit_tf32(value: Value | None) -> bool:
    return not isinstance(value, Tensor) or not value.dtypes.isdisjoint(_FITS_TF32)


def _is_exact(value: Value | None) -> bool:
    """True for float32 elements that were half precision, as far as is known."""
    return isinstance(value, Tensor) and any(t.kind == "exact" for t in value.provenance.traces)


def _is_half(value: Value | None) -> bool:
    return isinstance(value, Tensor) and bool(value.dtypes) and value.dtypes <= types.HALF


def _late(value: Value | None) -> frozenset[Trace]:
    """The marks on a product that is converted to int64 after it may have overflowed."""
    if not isinstance(value, Tensor):
        return frozenset()
    late = {Trace("late", t.place) for t in value.provenance.traces if t.kind == "product"}
    return frozenset(late.union(t for t in value.provenance.traces if t.kind == "grid" and late))


def _is_integer(value: Value | None) -> bool:
    match value:
        case Tensor(dtypes=dtypes):
            return dtypes <= types.INTEGERS
        case Constant(value=int()):
            return True
    return False


def _counts(op: ast.operator, operand: Value) -> bool:
    """True for an operand that an integer has, too: `n + 1`; of `p - 1` it is not known."""
    is_number = isinstance(operand, Constant)
    return _is_integer(operand) and not (is_number and isinstance(op, ast.Sub))


def _is_int32(product: Tensor) -> bool:
    """True unless it is int64, or may be, or is of a dtype that is not known here."""
    return product.dtypes & types.INTEGERS == types.INT32


def _is_grid_times_scalar(left: Value, right: Value) -> bool:
    """True for a place in the grid times an integer that is only known at run time."""
    return any(
        isinstance(one, Tensor)
        and isinstance(other, Tensor)
        and any(trace.kind == "grid" for trace in one.provenance.traces)
        and other.rank == 0
        and bool(other.provenance.parameters)
        and not other.provenance.traces
        for one, other in ((left, right), (right, left))
    )


def _adds(combine: Value | None) -> bool:
    """True if a function that combines two elements adds or multiplies them."""
    if not isinstance(combine, Function) or combine.helper is None:
        return False
    return any(
        isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult)
        for node in ast.walk(combine.helper.node)
    )


def _accumulator(statement: ast.stmt) -> str | None:
    """The variable that a statement adds to: `acc += x`, `acc = acc + x`."""
    match statement:
        case ast.AugAssign(target=ast.Name(id=name), op=ast.Add() | ast.Sub()):
            return name
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right),
        ) if any(isinstance(one, ast.Name) and one.id == name for one in (left, right)):
            return name
    return None


def _exclusive_blocks(function: JitFunction) -> Iterator[tuple[Span, Span]]:
    """Pairs of places of which one run sees one: the blocks of an `if`, and what a block that
    returns is not followed by."""
    end = function.module.span(function.node).end
    for node in ast.walk(function.node):
        if isinstance(node, ast.If):
            then = _whole(function.module, node.body)
            if node.orelse:
                otherwise = _whole(function.module, node.orelse)
                yield then, otherwise
                yield otherwise, then
            if isinstance(node.body[-1], ast.Return):
                yield then, Span(then.end, end)


def _whole(module: Module, body: list[ast.stmt]) -> Span:
    return Span(module.span(body[0]).start, module.span(body[-1]).end)


def _is_in(place: Span, block: Span) -> bool:
    return block.start <= place.start < block.end


def _stored_names(statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _names(node: ast.expr) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
