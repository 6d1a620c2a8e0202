"""What a branch knows: `if x.dtype == torch.bfloat16`, `isinstance(x, np.ndarray)` …"""

from __future__ import annotations

import ast
from dataclasses import replace

from precision_lint.facts.dtypes.domain.environment import Environment, bind, join_into
from precision_lint.facts.dtypes.domain.lattice import by_facet, of_each_item, reading
from precision_lint.facts.dtypes.domain.terms import Step
from precision_lint.facts.dtypes.domain.values import (
    BOTTOM,
    NON_TENSOR,
    SOME_TENSOR,
    UNKNOWN,
    Bottom,
    ClassObject,
    Clause,
    Dtype,
    Instance,
    Mixed,
    Model,
    ModelOutput,
    Sequence,
    Symbol,
    Tensor,
    Unknown,
    Value,
    Variable,
    caller_chosen,
    some_tensor,
)
from precision_lint.facts.dtypes.interpreter.capturing import capture
from precision_lint.facts.dtypes.interpreter.protocols import Evaluate
from precision_lint.facts.dtypes.syntax.sources import INTEGRAL_NAME
from precision_lint.facts.origin import Origin
from precision_lint.model.dtypes import BFLOAT16, DTYPES, FLOAT8, FLOATING

_ORDINARY = FLOATING - FLOAT8 - {"bfloat16"}


def refine(evaluate: Evaluate, test: ast.expr, env: Environment, holds: bool) -> Environment:
    """The environment of the branch where `test` is true (or false)."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return refine(evaluate, operand, env, not holds)
        case ast.BoolOp(op=ast.And(), values=values) if holds:
            for value in values:
                env = refine(evaluate, value, env, True)
            return env
        case ast.BoolOp(op=ast.And(), values=values) if not holds and all(map(_asks_dtype, values)):
            return _one_fails(evaluate, values, env)
        case ast.BoolOp(op=ast.And(), values=values) if not holds:
            # `if on_gpu and x.dtype == torch.bfloat16: x = x.float()`: whoever asks for the dtype
            # has thought of it, so after the `if` it counts as dealt with. Nothing follows from
            # `x.dtype != ...` there: another condition may have failed.
            for value in values:
                match value:
                    case ast.Compare(
                        left=ast.Attribute(attr="dtype"), ops=[ast.Eq() | ast.Is() | ast.In()]
                    ):
                        env = refine(evaluate, value, env, False)
                    case ast.expr() if _by_text(value) is not None:
                        env = refine(evaluate, value, env, False)
            return env
        case ast.BoolOp(op=ast.Or(), values=values) if not holds:
            for value in values:
                env = refine(evaluate, value, env, False)
            return env
        case ast.expr() if (asked := _by_text(test)) is not None:
            return _by_dtype(evaluate, asked[0], Dtype(asked[1]), env, holds)
        case ast.Call(func=ast.Name(id="isinstance"), args=[subject, kind]):
            return _by_class(evaluate, subject, evaluate(kind, env), env, holds)
        case ast.Compare(
            left=ast.Call(func=ast.Name(id="type"), args=[subject]),
            ops=[ast.Eq() | ast.Is()],
            comparators=[kind],
        ):
            return _by_class(evaluate, subject, evaluate(kind, env), env, holds)
        case (
            ast.Call(func=ast.Attribute(attr="is_tensor" | "is_floating_point"), args=[subject])
            | ast.Call(func=ast.Attribute(value=subject, attr="is_floating_point"), args=[])
        ):
            return _by_kind(evaluate, subject, test, env, holds)
        case ast.Compare(
            left=ast.Attribute(value=subject, attr="dtype"), ops=[operator], comparators=[other]
        ):
            given = evaluate.read(other, env)
            match operator:
                case ast.Eq() | ast.Is() | ast.In():
                    return _by_dtype(evaluate, subject, given, env, holds)
                case ast.NotEq() | ast.IsNot() | ast.NotIn():
                    return _by_dtype(evaluate, subject, given, env, not holds)
    return env


def _asks_dtype(test: ast.expr) -> bool:
    match test:
        case ast.Compare(left=ast.Attribute(attr="dtype")):
            return True
        case ast.Call(func=ast.Attribute(attr="is_floating_point")):
            return True
    return _by_text(test) is not None


def _one_fails(evaluate: Evaluate, tests: list[ast.expr], env: Environment) -> Environment:
    """The environment where not all of some tests hold: the first of them fails, or the next …"""
    branches = []
    before = env
    for test in tests:
        branches.append(refine(evaluate, test, before, False).copy())
        before = refine(evaluate, test, before, True)
    failed = env.copy()
    join_into(branches, failed)
    return failed


def _by_text(test: ast.expr) -> tuple[ast.expr, frozenset[str]] | None:
    """What `str(x.dtype) == "torch.bfloat16"` and its like ask, and the dtypes that they hold for.

    `"float16" in str(x.dtype)` holds for bfloat16, too.
    """
    match test:
        case ast.Compare(left=text, ops=[ast.Eq()], comparators=[ast.Constant(value=str(name))]):
            found = {dtype for dtype in DTYPES if f"torch.{dtype}" == name}
        case ast.Compare(left=ast.Constant(value=str(name)), ops=[ast.In()], comparators=[text]):
            found = {dtype for dtype in DTYPES if name in f"torch.{dtype}"}
        case ast.Call(
            func=ast.Attribute(value=text, attr="endswith"), args=[ast.Constant(value=str(name))]
        ):
            found = {dtype for dtype in DTYPES if f"torch.{dtype}".endswith(name)}
        case _:
            return None
    match text:
        case ast.Call(
            func=ast.Name(id="str"), args=[ast.Attribute(value=subject, attr="dtype")]
        ) if found:
            return subject, frozenset(found)
    return None


def _by_dtype(
    evaluate: Evaluate, subject: ast.expr, given: Value, env: Environment, equal: bool
) -> Environment:
    dtypes = _dtypes_of(given)
    current = evaluate.read(subject, env)
    if isinstance(current, ModelOutput):
        current = current.tensor
    if not dtypes or not isinstance(current, Tensor | Unknown):
        return env
    if equal:
        if isinstance(current, Tensor) and current.must_be(DTYPES):
            kept = replace(current, dtypes=dtypes & current.dtypes or dtypes)
            return _with(subject, kept, env)
        origin = given.origin if isinstance(given, Dtype) else None
        if origin is not None:  # a test for a dtype gives nobody that dtype
            origin = replace(origin, text="this dtype is tested for here", kind="caller")
        scalar = current.scalar if isinstance(current, Tensor) else None
        return _with(subject, Tensor(dtypes, origin=origin, scalar=scalar), env)
    known = current if isinstance(current, Tensor) else some_tensor(current)
    if known.caller_chosen:
        rest = replace(known.decided(), dtypes=_excluding(dtypes, known))
        return _like_its_first(evaluate, subject, dtypes, _with(subject, rest, env))
    clauses = frozenset[Clause]() if BFLOAT16 in dtypes else known.clauses
    rest = replace(known, dtypes=known.dtypes - dtypes, clauses=clauses)
    return _with(subject, rest if rest.dtypes or rest.may_be_other else known, env)


def _excluding(dtypes: frozenset[str], known: Tensor) -> frozenset[str]:
    """What is left of a dtype that the caller chooses, where it is none of some dtypes."""
    ordinary = _ORDINARY if BFLOAT16 in dtypes else _ORDINARY | {BFLOAT16}
    return (ordinary | known.dtypes) - dtypes


def without_bfloat16(value: Value) -> Value:
    """A value where bfloat16 was asked for, and is dealt with elsewhere.

    What the program itself makes bfloat16 in each case stays so, whatever was asked.
    """
    match value:
        case Tensor(caller_chosen=True):
            return replace(value.decided(), dtypes=_ORDINARY | value.dtypes - {BFLOAT16})
        case Tensor(dtypes=dtypes) if dtypes - {BFLOAT16}:
            return replace(value, dtypes=dtypes - {BFLOAT16}, clauses=frozenset())
        case ModelOutput(tensor=tensor):
            stripped = without_bfloat16(tensor)
            return ModelOutput(stripped) if isinstance(stripped, Tensor) else value
        case Sequence(items=None):
            return of_each_item(without_bfloat16, value)
        case Mixed():
            return by_facet(without_bfloat16, value)
    return value


def _like_its_first(
    evaluate: Evaluate, subject: ast.expr, dtypes: frozenset[str], env: Environment
) -> Environment:
    """`if xs[0].dtype != torch.bfloat16`: whoever asks the first of a list means them all."""
    match subject:
        case ast.Subscript(value=owner, slice=ast.Constant(value=int())):
            match evaluate.read(owner, env):
                case Sequence(item=Tensor() as item):
                    rest = Tensor((_ORDINARY | item.dtypes) - dtypes)
                    return _with(owner, Sequence(rest), env)
                case ModelOutput(tensor=item):
                    rest = Tensor((_ORDINARY | item.dtypes) - dtypes)
                    return _with(owner, ModelOutput(rest), env)
    return env


def _dtypes_of(given: Value) -> frozenset[str]:
    match given:
        case Dtype(dtypes=dtypes, caller_chosen=False, may_be_other=False):
            return dtypes
        case Sequence(items=tuple(items)) if all(isinstance(item, Dtype) for item in items):
            return frozenset[str]().union(*map(_dtypes_of, items))
    return frozenset()


def _by_kind(
    evaluate: Evaluate, subject: ast.expr, test: ast.Call, env: Environment, holds: bool
) -> Environment:
    """`torch.is_tensor(x)`, `x.is_floating_point()`."""
    assert isinstance(test.func, ast.Attribute)
    if test.func.attr == "is_tensor":
        return _by_class(evaluate, subject, Symbol("torch.Tensor"), env, holds)
    current = evaluate.read(subject, env)
    is_open = isinstance(current, Unknown) or (isinstance(current, Tensor) and current.is_open)
    if is_open and not holds:  # `if x.is_floating_point(): x = x.float()`
        return _with(subject, Tensor(DTYPES - FLOATING), env)
    if not isinstance(current, Tensor) or current.caller_chosen:
        return env
    floating = current.dtypes & FLOATING
    if holds:
        origin = _origin(evaluate, subject)
        value = (
            replace(current, dtypes=floating, caller_chosen=True, may_be_other=False, origin=origin)
            if current.may_be_other
            else replace(current, dtypes=floating)
        )
    else:
        value = replace(current, dtypes=current.dtypes - FLOATING)
    return (
        env
        if not (value.dtypes or value.caller_chosen or value.may_be_other)
        else _with(subject, value, env)
    )


def _by_class(
    evaluate: Evaluate, subject: ast.expr, kind: Value, env: Environment, holds: bool
) -> Environment:
    kinds = kind.items or () if isinstance(kind, Sequence) else (kind,)
    if any(isinstance(one, Instance | ClassObject) for one in kinds):
        return _by_project_class(evaluate, subject, kinds, env, holds)
    names = {one.name for one in kinds if isinstance(one, Symbol)}
    if len(names) != len(kinds) or not names:
        return env
    is_tensor = names <= _TENSORS
    is_array = all(name.startswith(("numpy.", "pandas.", "PIL.")) for name in names)
    current = evaluate(subject, env)
    match as_tensor(current), holds:
        case _, True if is_array:
            return _with(subject, NON_TENSOR, env)
        case Unknown() as known, True if is_tensor:
            # whoever asks expects tensors; a summary is for arguments that may be none
            is_expected = evaluate.frame.records and not _is_integral(subject)
            given = known.then(Step("as tensor")) if isinstance(known, Variable) else known
            value = (
                caller_chosen(_origin(evaluate, subject), given)
                if is_expected
                else some_tensor(given)
            )
            return _with(subject, value, env)
        case Tensor() as tensor, True if is_tensor:
            return _with(subject, tensor, env)
        case Bottom(), True if is_tensor:
            return _with(subject, SOME_TENSOR, env)
        case ((Tensor() | ModelOutput()), False) if is_tensor:
            return _with(subject, UNKNOWN, env)
        case Variable() as variable, False if is_tensor:
            return _with(subject, variable.then(Step("no tensor")), env)
    return env


def without_tensor(value: Value) -> Value:
    """What a value is where a test found no tensor: of several objects, the others."""
    match value:
        case Tensor():
            return NON_TENSOR
        case ModelOutput():
            return UNKNOWN
        case Mixed():
            return by_facet(without_tensor, value)
    return value


def as_tensor(value: Value) -> Value:
    """What a value is where a test found a tensor: of several objects, the tensor."""
    match value:
        case Mixed(tensor=tensor) if tensor is not None:
            return as_tensor(tensor)
        case Mixed():
            return as_tensor(reading(value))
        case ModelOutput(tensor=tensor):
            return as_tensor(tensor)
        case Tensor(caller_chosen=True, may_be_other=True) if not _is_loaded_data(value):
            return replace(value, may_be_other=False)
        case Tensor() | Unknown():
            return value
    return BOTTOM


def _is_loaded_data(tensor: Tensor) -> bool:
    """True for data of a file: what it may be besides can be another tensor."""
    return tensor.origin is not None and tensor.origin.kind in ("checkpoint", "data")


_TENSORS = frozenset(
    {"torch.Tensor", "torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.FloatTensor"}
)


def _by_project_class(
    evaluate: Evaluate,
    subject: ast.expr,
    kinds: tuple[Value, ...],
    env: Environment,
    holds: bool,
) -> Environment:
    match kinds, evaluate.read(subject, env):
        case [ClassObject(definition=definition)], Unknown() | Model() if holds:
            # of a module inside a module, nothing but the dtype of the whole was known
            return _with(subject, Instance(definition), env)
    return env


def _is_integral(subject: ast.expr) -> bool:
    """True for what is named like ids, masks, labels …"""
    match subject:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return INTEGRAL_NAME.search(name) is not None
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            return INTEGRAL_NAME.search(name) is not None
    return False


def _origin(evaluate: Evaluate, subject: ast.expr) -> Origin:
    return Origin(
        evaluate.source, evaluate.span_of(subject), "this tensor has an unknown dtype", "caller"
    )


def refine_case(
    evaluate: Evaluate, subject: ast.expr, value: Value, pattern: ast.pattern, env: Environment
) -> Environment:
    """The environment of a `case`: its captures bound, its subject narrowed by a class."""
    branch = env.copy()
    match pattern:
        case ast.MatchClass(cls=kind):
            branch = _by_class(evaluate, subject, evaluate(kind, env), branch, True).copy()
            value = evaluate(subject, branch)
        case ast.MatchAs(pattern=ast.MatchClass(cls=kind)):
            branch = _by_class(evaluate, subject, evaluate(kind, env), branch, True).copy()
            value = evaluate(subject, branch)
    capture(evaluate, pattern, subject, value, branch)
    return branch


def _with(subject: ast.expr, value: Value, env: Environment) -> Environment:
    inner = env.copy()
    match subject:
        case ast.NamedExpr(target=target):
            bind(target, value, inner)
        case _:
            bind(subject, value, inner)
    return inner
