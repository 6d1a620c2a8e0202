"""The laws of the join, for values of every class, and functions of values that keep the order."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import permutations
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from precision_lint.facts.dtypes.domain.calls import Argument, CallSite
from precision_lint.facts.dtypes.domain.containers import concatenated, item_of, with_item
from precision_lint.facts.dtypes.domain.environment import Environment, as_named, join_into
from precision_lint.facts.dtypes.domain.lattice import (
    by_facet,
    deep_reading,
    is_at_most,
    join,
    join_all,
    reading,
)
from precision_lint.facts.dtypes.domain.terms import Parameter, Term
from precision_lint.facts.dtypes.domain.values import (
    BOTTOM,
    NON_TENSOR,
    SOME_TENSOR,
    UNKNOWN,
    AutocastContext,
    Bottom,
    ClassObject,
    Condition,
    Constant,
    Dictionary,
    Dtype,
    FunctionValue,
    Instance,
    LibraryObject,
    Mixed,
    Model,
    ModelOutput,
    NonTensor,
    OneOf,
    Partial,
    Sequence,
    Symbol,
    Tensor,
    Unknown,
    Value,
    Variable,
    caller_chosen,
    clauses_of,
    tensor,
)
from precision_lint.facts.dtypes.operators import functions, kinds, promotion
from precision_lint.facts.dtypes.syntax.definitions import Class, Module
from precision_lint.facts.origin import Choice, Origin, Setting
from precision_lint.model.finding import Span
from precision_lint.source.python.parse import parse_python
from precision_lint.source.text.text import SourceText

ROOT = Path("/nowhere")
SOURCE = SourceText(
    ROOT / "a.py",
    "\n".join(
        [*(f"class {name}: ..." for name in "ABCD"), *(f"def {name}(): ..." for name in "fghi"), ""]
    ),
)
OTHER_SOURCE = SourceText(ROOT / "b.py", "x = 1\n")
MODULE = Module(parse_python(SOURCE))
CLASSES = [MODULE.top[name] for name in "ABCD"]
FUNCTIONS = [MODULE.top[name] for name in "fghi"]
DEFINED = [*map(ClassObject, CLASSES), *map(FunctionValue, FUNCTIONS)]
GIVEN = CallSite(SOURCE, Span(0, 5), (), {})
BF16 = tensor("bfloat16")
PERHAPS_BF16 = replace(BF16, may_be_other=True, scalar=None)

ANY_SCALAR = st.sampled_from([True, False, None])
origins = st.none() | st.builds(
    Origin,
    st.sampled_from([SOURCE, OTHER_SOURCE]),
    st.sampled_from([Span(0, 1), Span(0, 2), Span(3, 4)]),
    st.sampled_from(["here", "there"]),
)
names = st.frozensets(st.sampled_from(["bfloat16", "float16", "float32", "int64"]), max_size=2)
terms = st.sampled_from([Term(Parameter(each, "x")) for each in FUNCTIONS])
variables = st.builds(Variable, st.frozensets(terms, min_size=1), st.booleans())


def _with_clauses(made: Any, given: Value) -> Any:
    return replace(made, clauses=clauses_of(given)) if made.is_open else made


tensors = st.builds(
    _with_clauses,
    st.builds(Tensor, names, st.booleans(), st.booleans(), origins, ANY_SCALAR),
    st.just(UNKNOWN) | variables,
)
choices = st.builds(Choice, st.sampled_from(["bf16", "fp16", 1, True, 0.5]), origins.filter(bool))
OTHERS: dict[type, st.SearchStrategy[Any]] = {
    Unknown: st.just(UNKNOWN) | variables,
    Constant: st.sampled_from([None, None, 1, 1.0, True, "bf16", -1, -2]).map(Constant),
    Dtype: st.builds(
        _with_clauses,
        st.builds(Dtype, names, st.booleans(), st.booleans(), origins),
        st.just(UNKNOWN) | variables,
    ),
    Setting: st.lists(choices, min_size=1, max_size=3).map(lambda made: Setting(tuple(made))),
    Condition: st.sampled_from(["x > 0", "y > 0"]).map(Condition),
    LibraryObject: st.sampled_from(["faiss.Index", "h5py.Group"]).map(LibraryObject),
    Symbol: st.sampled_from(["torch.add", "torch.sub"]).map(Symbol),
    Model: st.builds(Model, tensors, st.sampled_from([None, "Linear", "Conv2d"])),
    FunctionValue: st.builds(
        FunctionValue,
        st.sampled_from(FUNCTIONS),
        st.none() | st.sampled_from([Instance(each, (("x", BF16),)) for each in CLASSES]),
    ),
    ClassObject: st.sampled_from(CLASSES).map(ClassObject),
    OneOf: st.lists(st.sampled_from(DEFINED), min_size=2, max_size=4, unique=True).map(join_all),
}
OTHERS[AutocastContext] = st.builds(
    AutocastContext, st.sampled_from([None, "cpu", "cuda"]), st.none() | OTHERS[Dtype]
)
OTHERS[Partial] = st.builds(
    Partial, OTHERS[FunctionValue], st.lists(tensors, max_size=1).map(tuple)
)
others = st.one_of(*OTHERS.values())
SIMPLE: dict[type, st.SearchStrategy[Any]] = {
    Bottom: st.just(BOTTOM),
    Tensor: tensors,
    ModelOutput: tensors.map(ModelOutput),
    NonTensor: st.builds(
        NonTensor,
        st.frozensets(st.sampled_from(["int64", "float64"]), max_size=2),
        ANY_SCALAR,
        st.sampled_from([(), ("json",), ("json", "dtype")]),
    ),
    **OTHERS,
}
keys = st.sampled_from(["a", "b", "é", 1, True, -1, -2, None, 2.5])


def _mapping(made: dict[object, Value], default: Value) -> Dictionary:
    return Dictionary(join_all([*made.values(), default]), tuple(made.items()), default)


def containers(held: st.SearchStrategy[Value]) -> Mapping[type, st.SearchStrategy[Any]]:
    by_key = st.dictionaries(keys, held, max_size=3)
    attributes = st.dictionaries(st.sampled_from(["x", "y", "z"]), held, max_size=2)
    return {
        Sequence: st.builds(Sequence, held)
        | st.lists(held, max_size=3).map(lambda made: Sequence(join_all(made), tuple(made)))
        | st.lists(held, min_size=1, max_size=3).map(
            lambda made: Sequence(join_all(made), head=tuple(made[:-1]))
        ),
        Dictionary: st.builds(Dictionary, held)
        | st.builds(_mapping, by_key, st.just(BOTTOM) | held),
        Instance: st.builds(
            Instance,
            st.sampled_from(CLASSES),
            attributes.map(lambda made: tuple(made.items())),
            st.none() | tensors,
        ),
        Mixed: st.builds(join, held, held),
    }


values: st.SearchStrategy[Value] = st.recursive(
    st.one_of(*SIMPLE.values()), lambda held: st.one_of(*containers(held).values()), max_leaves=6
)
mixed = st.builds(join, values, values).filter(lambda value: isinstance(value, Mixed))


def exact(value: Any) -> Any:
    """A value with everything that it consists of, places of origin included."""
    if isinstance(value, Origin):
        return "origin", value.source.path, value.span, value.text
    if is_dataclass(value) and not any(value is each for each in (*CLASSES, *FUNCTIONS)):
        return type(value), *(exact(getattr(value, each.name)) for each in fields(value))
    return tuple(map(exact, value)) if isinstance(value, tuple) else value


def copied(value: Any) -> Any:
    """An equal value of other objects."""
    if isinstance(value, tuple):
        return tuple(map(copied, value))
    if isinstance(value, Value | Choice):
        made = {each.name: copied(getattr(value, each.name)) for each in fields(value) if each.init}
        return type(value)(**made)
    return value


LAWS = settings(max_examples=200, deadline=None)


def test_values_of_every_class_are_generated() -> None:
    assert SIMPLE.keys() | containers(values).keys() == set(get_args(Value))


@LAWS
@given(values, values, values)
@example(
    Sequence(Variable(frozenset({Term(Parameter(FUNCTIONS[0], "x"))}))),
    Sequence(AutocastContext(None, None)),
    Sequence(Tensor(scalar=True)),
)
@example(
    FunctionValue(FUNCTIONS[0]),
    Instance(CLASSES[0], (("z", AutocastContext(None, None)),)),
    Instance(CLASSES[0], (("z", Tensor(scalar=True)),)),
)
def test_join_is_associative(one: Value, two: Value, three: Value) -> None:
    assert exact(join(join(one, two), three)) == exact(join(one, join(two, three)))


def test_fields_that_hold_conditions_keep_the_laws() -> None:
    owner = CLASSES[0]
    assert isinstance(owner, Class)
    one = Symbol("torch.add")
    two = Instance(owner, (("y", Condition("x > 0")),))
    three = Instance(owner, (("y", Tensor(scalar=True)),))
    assert exact(join(join(one, two), three)) == exact(join(one, join(two, three)))


@LAWS
@given(values, values)
def test_join_is_commutative(one: Value, two: Value) -> None:
    assert exact(join(one, two)) == exact(join(two, one))


@LAWS
@given(values)
def test_join_is_idempotent(value: Value) -> None:
    assert exact(join(value, value)) == exact(value)
    assert exact(join(value, copied(value))) == exact(value)


@LAWS
@given(values, values)
def test_join_is_an_upper_bound(one: Value, two: Value) -> None:
    joined = join(one, two)
    assert exact(join(one, joined)) == exact(joined)
    assert is_at_most(one, joined)
    assert is_at_most(two, joined)


@LAWS
@given(values, values, values)
def test_join_is_the_least_upper_bound(one: Value, two: Value, more: Value) -> None:
    bound = join(join(one, more), two)
    assert is_at_most(join(one, two), bound)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (Instance(CLASSES[0]), NonTensor(scalar=True)),
        (FunctionValue(FUNCTIONS[0]), Symbol("torch.add")),
        (Condition("x > 0"), Constant(1)),
        (Constant(None), Instance(CLASSES[0])),
        (Sequence(BF16), FunctionValue(FUNCTIONS[0])),
        (Sequence(BF16), BF16),
        (Instance(CLASSES[0]), Instance(CLASSES[1])),
    ],
)
def test_a_field_of_two_sorts(one: Value, two: Value) -> None:
    kind = CLASSES[0]
    left, right = (Instance(kind, (("x", each),)) for each in (one, two))
    for law in (test_join_is_an_upper_bound, test_join_is_commutative):
        law.hypothesis.inner_test(left, right)
    for each in (ClassObject(CLASSES[1]), Instance(kind, (("x", Tensor()),)), Instance(kind)):
        test_join_is_associative.hypothesis.inner_test(left, right, each)
        test_join_is_the_least_upper_bound.hypothesis.inner_test(left, right, each)


def test_an_attribute_that_is_a_tensor_or_a_function_is_open() -> None:
    kind, function = CLASSES[0], FunctionValue(FUNCTIONS[0])
    of_function, of_tensor = Instance(kind, (("x", function),)), Instance(kind, (("x", BF16),))
    assert join(of_function, of_tensor) == Instance(kind)
    test_join_is_the_least_upper_bound.hypothesis.inner_test(
        ClassObject(kind), of_function, of_tensor
    )


@LAWS
@given(values)
def test_bottom_is_neutral(value: Value) -> None:
    assert exact(join(BOTTOM, value)) == exact(value) == exact(join(value, BOTTOM))


@LAWS
@given(others)
def test_unknown_absorbs_what_has_no_dtype(value: Value) -> None:
    match join(UNKNOWN, value):
        case Dtype(may_be_other=True) | Variable(is_partial=True) | AutocastContext():
            pass
        case Model(parameters=parameters):
            assert parameters.may_be_other
        case joined:
            assert joined == UNKNOWN


def test_of_too_many_objects_nothing_is_known() -> None:
    assert isinstance(join_all(DEFINED[:6]), OneOf)
    assert join_all(DEFINED[:7]) == UNKNOWN
    assert join(join_all(DEFINED[:4]), join_all(DEFINED[4:])) == UNKNOWN


@LAWS
@given(values)
def test_unknown_keeps_the_evidence_of_a_tensor(value: Value) -> None:
    assert join(join(UNKNOWN, value), BF16) == join(
        value, Tensor(BF16.dtypes, may_be_other=True, scalar=None)
    )


@LAWS
@given(values)
def test_none_is_below_all_but_constants(value: Value) -> None:
    joined = join(Constant(None), value)
    if isinstance(value, Bottom):
        assert joined == Constant(None)
    elif isinstance(value, Constant | Condition):
        assert joined == (value if value == Constant(None) else UNKNOWN)
    else:
        assert exact(joined) == exact(value)


@LAWS
@given(mixed)
def test_a_mixed_value_has_several_facets(value: Mixed) -> None:
    assert sum(getattr(value, each.name) is not None for each in fields(value)) > 1
    assert value.tensor is None or value.other is None
    assert not isinstance(value.other, Constant | Condition)
    assert exact(by_facet(lambda facet: facet, value)) == exact(value)


@LAWS
@given(values | mixed)
def test_a_reader_sees_one_kind(value: Value) -> None:
    assert not isinstance(reading(value), Mixed)
    assert isinstance(value, Mixed) or reading(value) is value
    assert is_of_one_kind(deep_reading(value))


def is_of_one_kind(value: Value) -> bool:
    """True if neither a value nor an item of a container is mixed."""
    match value:
        case Sequence(item=item, beginning=beginning):
            return all(map(is_of_one_kind, (item, *beginning)))
        case Dictionary(item=item, items=items):
            return all(map(is_of_one_kind, (item, *(one for _, one in items or ()))))
    return not isinstance(value, Mixed)


ORIGINS = [Origin(SOURCE, Span(at, at + 1), "here") for at in range(3)]


@pytest.mark.parametrize(
    ("tensors", "place"),
    [
        pytest.param([tensor("float16"), caller_chosen(), BF16], 2, id="bfloat16"),
        pytest.param([tensor("float32"), tensor("float16"), caller_chosen()], 2, id="a choice"),
        pytest.param([tensor("float32"), tensor("float16"), tensor("int8")], 1, id="float16"),
        pytest.param([tensor("int64"), BF16, BF16], 1, id="the first of several"),
        pytest.param([tensor("float32"), tensor("int64"), tensor("int8")], 0, id="the first"),
    ],
)
def test_the_origin_does_not_depend_on_the_order(tensors: list[Tensor], place: int) -> None:
    placed = [replace(one, origin=origin) for one, origin in zip(tensors, ORIGINS, strict=True)]
    for ordered in permutations(placed):
        joined = join_all(ordered)
        assert isinstance(joined, Tensor)
        assert joined.origin == ORIGINS[place]


@pytest.mark.parametrize(
    ("parts", "read"),
    [
        pytest.param([BF16, NON_TENSOR], ModelOutput(PERHAPS_BF16), id="an array"),
        pytest.param([BF16, Sequence(BF16)], ModelOutput(BF16), id="a tuple of tensors"),
        pytest.param([BF16, Sequence(UNKNOWN)], PERHAPS_BF16, id="a tuple"),
        pytest.param(
            [Sequence(BF16), UNKNOWN], ModelOutput(replace(BF16, may_be_other=True)), id="a list"
        ),
        pytest.param([Sequence(NON_TENSOR), UNKNOWN], UNKNOWN, id="a list of numbers"),
        pytest.param([NON_TENSOR, UNKNOWN], UNKNOWN, id="an array, perhaps"),
        pytest.param(
            [BF16, NON_TENSOR, Constant(1)],
            ModelOutput(PERHAPS_BF16),
            id="three",
        ),
    ],
)
def test_what_a_reader_takes_a_mixed_value_for(parts: list[Value], read: Value) -> None:
    for ordered in permutations(parts):
        assert reading(join_all(ordered)) == read


# Functions of values that keep the order


def operated(operand: Value, other: Value, op: type[ast.operator]) -> Value:
    return promotion.operator(operand, other, op)


def called(name: str, receiver: Value, *arguments: Value) -> Value:
    made = tuple(Argument(argument, Span(0, 1)) for argument in arguments)
    return functions.method(name, receiver, replace(GIVEN, arguments=made))


def kind(name: str, operand: Value) -> Value:
    return kinds.result_dtype(name, operand, "float32") if isinstance(operand, Tensor) else operand


OF_ANY: dict[str, Callable[[Value], Value]] = {
    "item_of": item_of,
    "-x": lambda value: promotion.unary(value, ast.USub),
    "a name": lambda value: as_named("x", value),
    "a name of integers": lambda value: as_named("input_ids", value),
    "[x]": lambda value: Sequence(value, (value,)),
    "[*xs, x]": lambda value: concatenated(Sequence(NON_TENSOR), Sequence(value, (value,))),
    "d['a'] = x": lambda value: with_item(Dictionary(BOTTOM, ()), Constant("a"), value),
}
OF_TENSORS: dict[str, Callable[[Value], Value]] = {
    "x + bf16": lambda value: operated(value, BF16, ast.Add),
    "x + 1": lambda value: operated(value, Constant(1), ast.Add),
    "x * 0.5": lambda value: operated(value, Constant(0.5), ast.Mult),
    "x / x": lambda value: operated(value, value, ast.Div),
    "x + unknown": lambda value: operated(value, UNKNOWN, ast.Add),
    "x < 1": lambda value: promotion.compare(value, Constant(1)),
    "promoted": lambda value: promotion.promote([value, SOME_TENSOR]),
    "x.float()": lambda value: called("float", value),
    "x.to(bfloat16)": lambda value: called("to", value, Dtype(frozenset({"bfloat16"}))),
    "x.cpu()": lambda value: called("cpu", value),
    "x.numpy()": lambda value: called("numpy", value),
    **{
        f"x.{name}()": lambda value, name=name: called(name, value)
        for name in ("sum", "mean", "softmax", "abs", "exp", "argmax", "reshape", "clone")
    },
    **{f"kind {name}": lambda value, name=name: kind(name, value) for name in kinds.KINDS},
}


def keeps_the_order(function: Callable[[Value], Value], one: Value, two: Value) -> None:
    upper = join(one, two)
    assert is_at_most(function(one), function(upper)), (function(one), function(upper))


@pytest.mark.parametrize("name", OF_TENSORS)
@settings(max_examples=60, deadline=None)
@given(one=tensors, two=tensors)
def test_functions_of_tensors_keep_the_order(name: str, one: Tensor, two: Tensor) -> None:
    """Where there is evidence of a dtype: functions guess for tensors that have none."""
    assume((one.dtypes or one.caller_chosen) and (two.dtypes or two.caller_chosen))
    keeps_the_order(OF_TENSORS[name], one, two)


@pytest.mark.parametrize("name", OF_ANY)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(one=values, two=values)
def test_functions_of_values_keep_the_order(name: str, one: Value, two: Value) -> None:
    """What reads a value of several facets as another kind is no function of each facet.

    A step from a variable is a new term: the clauses of a tensor name the term before the step.
    """
    assume(not isinstance(join(one, two), Mixed))
    assume(name != "item_of" or not isinstance(one, Variable))
    keeps_the_order(OF_ANY[name], one, two)


def test_merged_names_hold_one_object_if_they_do_in_every_branch() -> None:
    def branch(*held: Value) -> Environment:
        return Environment(dict(zip("abc", held, strict=True)))

    one, two, three = (Sequence(BF16) for _ in range(3))
    for branches in permutations([branch(one, one, one), branch(two, two, three)]):
        env = Environment()
        assert join_into(list(branches), env)
        assert env["a"] is env["b"]
        assert env["a"] is not env["c"]


def test_a_name_bound_in_some_branches_keeps_their_join() -> None:
    branches = [
        Environment({"x": BF16}),
        Environment({"x": NON_TENSOR, "y": BF16}),
        Environment({"x": UNKNOWN, "z": UNKNOWN}),
    ]
    for ordered in permutations(branches):
        env = Environment()
        assert join_into(list(ordered), env)
        assert env == {"x": join_all([BF16, NON_TENSOR, UNKNOWN]), "y": BF16, "z": UNKNOWN}


def test_a_path_bound_in_some_branches_is_forgotten() -> None:
    def branch(path: str | None) -> Environment:
        env = Environment({"x": BF16})
        if path is not None:
            env[path] = BF16
            env.paths.add(path)
        return env

    for ordered in permutations([branch("x.grad"), branch(None), branch("x.grad")]):
        env = Environment()
        assert join_into(list(ordered), env)
        assert env == {"x": BF16}
        assert not env.paths


def test_no_branch_reaches_the_end() -> None:
    assert not join_into([], Environment())
