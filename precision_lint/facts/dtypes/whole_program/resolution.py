"""What terms are where their roots are known: the steps of each are taken from there."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import reduce
from typing import TypeAlias, TypeVar

from precision_lint.facts.dtypes.domain.calls import Argument, Call, CallSite, Region, as_receiver
from precision_lint.facts.dtypes.domain.containers import (
    item_of,
    keyword_of,
    starred,
    unpacked,
    value_of,
)
from precision_lint.facts.dtypes.domain.environment import Environment
from precision_lint.facts.dtypes.domain.lattice import (
    join,
    join_all,
    join_dtypes,
    join_tensors,
    reading,
)
from precision_lint.facts.dtypes.domain.terms import Root, Step, Term
from precision_lint.facts.dtypes.domain.values import (
    ANONYMOUS,
    BOTTOM,
    SOME_DTYPE,
    UNKNOWN,
    AutocastContext,
    Bottom,
    Clause,
    Constant,
    Dictionary,
    Dtype,
    DtypeSet,
    Instance,
    Mixed,
    Model,
    ModelOutput,
    OneOf,
    Partial,
    Sequence,
    Tensor,
    Unknown,
    Value,
    Variable,
    as_variable,
    clauses_of,
    tensor,
)
from precision_lint.facts.dtypes.interpreter import (
    attributes,
    defaults,
    invocation,
    iterating,
    narrowing,
    record_fields,
)
from precision_lint.facts.dtypes.interpreter.expressions import Evaluator
from precision_lint.facts.dtypes.interpreter.frame import Frame
from precision_lint.facts.dtypes.interpreter.protocols import Interprocedural
from precision_lint.facts.dtypes.operators import functions
from precision_lint.facts.dtypes.operators.autocast import dtype_of, outside
from precision_lint.facts.dtypes.operators.conversions import as_dtype
from precision_lint.facts.dtypes.operators.lookup import prepared
from precision_lint.facts.dtypes.operators.promotion import promote
from precision_lint.facts.origin import Origin, Setting

Lookup: TypeAlias = "Callable[[Root], Value | None]"
"""What a root is; None if that is not known here, so that its terms stay."""

Note: TypeAlias = "Callable[[Callable[[], object]], None]"
"""Takes down how to undo something: see `FixpointTable.note`."""

_DEEPEST = 8
"""Terms whose results are resolved, one for the sake of the other."""

_D = TypeVar("_D", bound=DtypeSet)


class Resolution:
    """Replaces the terms in values by what they are."""

    def __init__(self, analysis: Interprocedural, lookup: Lookup, note: Note | None = None) -> None:
        self._analysis = analysis
        self._note = note
        self._lookup = lookup
        self._known: dict[Term, Value] = {}
        self._ending: set[Term] = set()
        """The terms whose results are being resolved, one for the sake of the other."""

    def __call__(self, value: Value) -> Value:
        """The value with every term replaced whose root is known."""
        match value:
            case Variable(terms=terms, is_partial=is_partial):
                found = join_all([self._term(term) for term in _in_order(terms)])
                return join(found, UNKNOWN) if is_partial else found
            case Tensor(clauses=clauses) if clauses:
                return self._tensor(value)
            case Dtype(clauses=clauses) if clauses:
                known, of_terms = self._choices(value)
                return reduce(_join_dtype, of_terms, known)
            case ModelOutput(tensor=tensor) if tensor.clauses:
                found = self._tensor(tensor)
                return ModelOutput(found) if isinstance(found, Tensor) else found
            case Model(parameters=parameters) if parameters.clauses:
                given = as_variable(value)
                if isinstance(given, Variable) and not isinstance(held := self(given), Unknown):
                    if value.widens and isinstance(held, Model | Instance):
                        return replace(held, widens=True)
                    return held
                found = self._tensor(parameters)
                return replace(value, parameters=found) if isinstance(found, Tensor) else value
            case Sequence(items=None, item=item, head=head):
                return Sequence(self(item), head=tuple(map(self, head)))
            case Sequence(items=tuple(items)):
                known_items = tuple(map(self, items))
                return Sequence(join_all(known_items), known_items)
            case Dictionary(items=None, item=item):
                return replace(value, item=self(item), default=self(value.default))
            case Dictionary(items=tuple(members)):
                known_members = tuple((key, self(one)) for key, one in members)
                default = self(value.default)
                item = join_all([*(one for _, one in known_members), default])
                return Dictionary(item, known_members, default)
            case OneOf(members=members):
                return join_all(map(self, members))
            case Partial(function=function, arguments=arguments, keywords=keywords):
                of_keywords = tuple((name, self(one)) for name, one in keywords)
                return Partial(self(function), tuple(map(self, arguments)), of_keywords)
            case AutocastContext(dtype=Dtype() as dtype):
                return replace(value, dtype=self.dtype(dtype))
            case Instance(parameters=Tensor(clauses=clauses) as weights) if clauses:
                moved = self._tensor(weights)
                return self._fields_of(
                    replace(value, parameters=moved if isinstance(moved, Tensor) else None)
                )
            case Instance(fields=fields) if fields:
                return self._fields_of(value)
            case Mixed(tensor=tensor, array=array, sequence=sequence, mapping=mapping, other=other):
                facets = (tensor, array, sequence, mapping, other)
                return join_all([self(facet) for facet in facets if facet is not None])
        return value

    def _fields_of(self, value: Instance) -> Instance:
        """An object with what it holds resolved."""
        return replace(value, fields=tuple((name, self(one)) for name, one in value.fields))

    def _tensor(self, tensor: Tensor) -> Value:
        """A tensor whose clauses are replaced; unknown if no term is a tensor."""
        known, of_terms = self._choices(tensor)
        if not (of_terms or known.dtypes or known.is_open):
            terms = [element for clause in tensor.clauses for element in clause]
            is_cycle = all(isinstance(self._element(each), Bottom | Tensor) for each in terms)
            return BOTTOM if is_cycle else UNKNOWN
        return reduce(join_tensors, [replace(one, scalar=known.scalar) for one in of_terms], known)

    def _choices(self, of: _D) -> tuple[_D, list[Tensor]]:
        """What is known without its clauses, and the tensors that these stand for."""
        unknown = Tensor(caller_chosen=of.caller_chosen, may_be_other=of.may_be_other)
        found: list[Tensor] = []
        for clause in sorted(of.clauses - {ANONYMOUS}, key=_clause_place):
            values = [_placed(each, self._element(each)) for each in _in_order(clause)]
            tensors = [one for value in values if (one := _dtypes_of(value, unknown)) is not None]
            if len(tensors) == len(values):
                alike = [replace(one, scalar=False) for one in tensors]
                found.append(tensors[0] if len(tensors) == 1 else promote(alike))
        if ANONYMOUS in of.clauses:
            return replace(of, clauses=frozenset()), found
        return replace(of, caller_chosen=False, may_be_other=False, clauses=frozenset()), found

    def _element(self, element: Term | str) -> Value:
        return tensor(element) if isinstance(element, str) else self._term(element)

    def _term(self, term: Term) -> Value:
        if term in self._known:
            return self._known[term]
        cycles = self._analysis.callers.cycles
        value = self._without_memo(term)
        if cycles == self._analysis.callers.cycles:  # else it is a part of what is being worked out
            self._known[term] = value
            if self._note is not None:
                self._note(lambda: self._known.pop(term, None))
        return value

    def _without_memo(self, term: Term) -> Value:
        # Terms that lead to each other are not memoized, and there may be many ways through them.
        self._analysis.budget.count()
        if term.steps:
            *before, last = term.steps
            start = self._term(replace(term, steps=tuple(before)))
            taken = self._take(last, start)
            return taken if isinstance(start, Variable) else self._to_the_end(term, taken)
        value = self._lookup(term.root)
        return Variable(frozenset({term})) if value is None else value

    def _to_the_end(self, term: Term, value: Value) -> Value:
        """What a term led to, with its own terms replaced: `forward` of an object that is given."""
        if term in self._ending:  # `d[k] = v` in a loop over `d`: that adds nothing
            self._analysis.callers.cycles += 1
            return BOTTOM if isinstance(value, Variable) else value
        if len(self._ending) == _DEEPEST:
            return value
        self._ending.add(term)
        try:
            return self(value)
        finally:
            self._ending.discard(term)

    def _take(self, step: Step, value: Value) -> Value:
        """What a step makes of an object."""
        if step.kind == "each":
            return item_of(value)
        if step.kind == "mapping":
            return functions.as_mapping(value)
        if step.kind == "fields":
            return record_fields.as_mapping(self._analysis, value)
        if step.kind == "unpacked":
            return unpacked(iterating.unpacked(self._analysis, value), step.position)
        if step.kind == "starred":
            return starred(value, step.position, int(step.name))
        if step.kind == "value":
            return value_of(value)
        if step.kind == "keyword":
            return keyword_of(value, step.name)
        if step.kind == "region":
            return dtype_of(value)
        if step.kind == "outside":
            assert isinstance(step.operand, Dtype)
            around = self.dtype(step.operand)
            if around.clauses:  # of a function whose callers are not asked yet
                return outside(value, Region(None, around))
            return BOTTOM if around.dtypes or around.is_open else value
        if step.kind == "as tensor":
            return narrowing.as_tensor(value)
        if step.kind == "no tensor":
            return narrowing.without_tensor(value)
        if step.kind == "prepared":
            return prepared(value, *step.name.split(" "))
        assert step.module is not None
        evaluator = Evaluator(self._analysis, Frame(step.module))
        value = reading(value)
        operand = self(step.operand) if isinstance(step.operand, Value) else UNKNOWN
        match step.kind, step.node:
            case "attribute", ast.Attribute() as node:
                found = attributes.attribute(evaluator, value, node)
                span = evaluator.span_of(node)
                return defaults.or_default(found, operand, evaluator.source, span)
            case "item", ast.Subscript() as node:
                return attributes.item(evaluator, value, reading(operand), node)
            case "key", ast.Subscript() as node:
                return attributes.item(evaluator, operand, value, node)
            case "left of", ast.BinOp(op=op) | ast.AugAssign(op=op):
                return evaluator.operate(value, reading(operand), type(op))
            case "right of", ast.BinOp(op=op) | ast.AugAssign(op=op):
                return evaluator.operate(reading(operand), value, type(op))
            case "cast", _ if not isinstance(value, Model | Instance | OneOf):
                return value.then(step) if isinstance(value, Variable) else value
            case (("call" | "method" | "cast"), ast.Call() as node) if isinstance(
                step.operand, CallSite
            ):
                given = self.given(step.operand)
                env = Environment()
                if step.kind == "call":
                    return invocation.applied(evaluator, node, UNKNOWN, value, given, env)
                assert isinstance(node.func, ast.Attribute)
                function = invocation.member(evaluator, value, node.func)
                return invocation.applied(evaluator, node, value, function, given, env)
        raise AssertionError(step.kind)

    def given(self, given: CallSite) -> CallSite:
        """What a call gives, with its terms replaced."""
        return replace(
            given,
            arguments=tuple(map(self.argument, given.arguments)),
            keywords={name: self.argument(one) for name, one in given.keywords.items()},
            autocast=self._region(given.autocast),
        )

    def dtype(self, dtype: Dtype) -> Dtype:
        """A dtype with its terms replaced."""
        value = self(dtype)
        return value if isinstance(value, Dtype) else SOME_DTYPE

    def _region(self, region: Region | None) -> Region | None:
        """A region with its terms replaced; none if they stand for none."""
        if region is None or not region.dtype.clauses:
            return region
        dtype = self.dtype(region.dtype)
        return Region(region.device, dtype) if dtype.dtypes or dtype.is_open else None

    def argument(self, argument: Argument) -> Argument:
        """An argument with its value resolved."""
        return replace(argument, value=self(argument.value))

    def _receiver(self, value: Value) -> Value:
        """What a method is called on. `x.cpu()` is taken for a tensor, and may be a module."""
        match value:
            case Tensor(dtypes=dtypes, may_be_other=True, clauses=clauses) if (
                clauses and not dtypes
            ):
                terms = [element for clause in clauses for element in clause]
                found = [self._element(each) for each in terms]
                if all(isinstance(each, Model | Instance) for each in found):
                    return join_all(found)
        return self(value)

    def call(self, call: Call) -> Call:
        """A call that a rule asked for with its terms replaced."""
        return replace(
            call,
            receiver=as_receiver(reading(self._receiver(call.receiver))),
            called=reading(self(call.called)),
            arguments=tuple(self.argument(one).read() for one in call.arguments),
            keywords={name: self.argument(one).read() for name, one in call.keywords.items()},
            autocast=self._region(call.autocast),
            dtypes={name: self.dtype(value) for name, value in call.dtypes.items()},
        )


def _placed(element: Term | str, value: Value) -> Value:
    """A string that names a dtype, as a dtype that is chosen where it is read: `cfg.dtype`."""
    if not isinstance(value, Constant) or isinstance(element, str) or not element.steps:
        return value
    node, module = element.steps[-1].node, element.steps[-1].module
    dtype = as_dtype(value)
    if not dtype.dtypes or not isinstance(node, ast.expr) or module is None:
        return value
    text = f"{' or '.join(sorted(dtype.dtypes))} is chosen here"
    return replace(dtype, origin=Origin(module.file.text, module.file.span_of(node), text))


def as_term(value: Value, root: Root) -> Value:
    """What is given to a parameter, with the parameter as its only term."""
    term = Variable(frozenset({Term(root)}))
    match value:
        case Variable():
            return term
        case Tensor(clauses=clauses) | Dtype(clauses=clauses) if clauses:
            return replace(value, clauses=clauses_of(term))
        case ModelOutput(tensor=tensor) if tensor.clauses:
            return ModelOutput(replace(tensor, clauses=clauses_of(term)))
        case Model(parameters=tensor) if tensor.clauses:
            return replace(value, parameters=replace(tensor, clauses=clauses_of(term)))
    return value


_Element = TypeVar("_Element", bound=Term | str)


def _in_order(elements: Iterable[_Element]) -> list[_Element]:
    """Terms in an order that does not depend on the run: that of what they read."""
    return sorted(elements, key=_place)


_Place: TypeAlias = "tuple[str, tuple[tuple[int, int, int, str, tuple[str, tuple[str, ...]]], ...]]"


def _place(term: Term | str) -> _Place:
    if isinstance(term, str):
        return term, ()
    steps = (
        (
            getattr(step.node, "lineno", 0),
            getattr(step.node, "col_offset", 0),
            step.position,
            step.name,
            step.region or ("", ()),
        )
        for step in term.steps
    )
    return term.root.place, tuple(steps)


def _clause_place(clause: Clause) -> list[_Place]:
    return sorted(map(_place, clause))


def _join_dtype(one: Dtype, other: Tensor) -> Dtype:
    return join_dtypes(one, other.dtype())


def _dtypes_of(value: Value, unknown: Tensor) -> Tensor | None:
    """The dtypes that an object has or holds, as a tensor; None if it has nothing to do with any.

    `unknown` is the tensor that an object is of which nothing is known.
    """
    match reading(value):
        case Tensor(dtypes=dtypes, caller_chosen=False, may_be_other=True) as tensor if not dtypes:
            return replace(unknown, clauses=tensor.clauses)
        case Tensor() as tensor:
            return tensor
        case ModelOutput(tensor=tensor):
            return tensor
        case Dtype() | Setting() | Constant(value=str()) as named:
            dtype = as_dtype(named)
            return dtype.of_tensor() if dtype.dtypes or dtype.clauses else None
        case Model(parameters=parameters):
            return parameters
        case Instance(parameters=parameters):
            return parameters
        case OneOf(members=members):
            each = [_dtypes_of(member, unknown) for member in members]
            known = [tensor for tensor in each if tensor is not None]
            return reduce(join_tensors, known) if len(known) == len(members) else None
        case Sequence(item=item) | Dictionary(item=item):
            return _dtypes_of(item, unknown)
        case Unknown() as given:
            return replace(unknown, clauses=clauses_of(given))
    return None
