"""What the parameters of a function can be: by what it says itself, and by what a call gives."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TypeVar

from precision_lint.facts.dtypes.domain.calls import CallSite
from precision_lint.facts.dtypes.domain.containers import keyword_of
from precision_lint.facts.dtypes.domain.environment import Environment, bind
from precision_lint.facts.dtypes.domain.lattice import by_dtypes, join, join_all
from precision_lint.facts.dtypes.domain.terms import Parameter, Term
from precision_lint.facts.dtypes.domain.values import (
    NON_TENSOR,
    UNKNOWN,
    ClassObject,
    Constant,
    Dictionary,
    Dtype,
    DtypeSet,
    Instance,
    Model,
    ModelOutput,
    OneOf,
    Sequence,
    Tensor,
    Unknown,
    Value,
    Variable,
    caller_chosen,
    clauses_of,
    perhaps_floating,
)
from precision_lint.facts.dtypes.interpreter import defaults
from precision_lint.facts.dtypes.interpreter.annotations import BY_THE_CALLER, annotated
from precision_lint.facts.dtypes.interpreter.expressions import Evaluator
from precision_lint.facts.dtypes.interpreter.frame import Frame
from precision_lint.facts.dtypes.interpreter.protocols import Interprocedural
from precision_lint.facts.dtypes.interpreter.test_runs import given_by_runner, in_a_run
from precision_lint.facts.dtypes.syntax import sources
from precision_lint.facts.dtypes.syntax.definitions import Function
from precision_lint.facts.origin import Origin, Setting
from precision_lint.facts.settings.declarations import names_of_option
from precision_lint.model.dtypes import FLOATING, HALF
from precision_lint.source.python.syntax import callee_name, with_defaults

_D = TypeVar("_D", bound=DtypeSet)


def entry_state(analysis: Interprocedural, definition: Function) -> Environment:
    """The parameters of a function whoever calls: terms, where callers know more."""
    env = Environment()
    for parameter, default in with_defaults(definition.node.args):
        name = parameter.arg
        of_run = _in_run_of_test(analysis, definition, name) or _of_option(
            analysis, definition, name
        )
        value = of_run or _declared_or_given(analysis, definition, parameter, default)
        bind(ast.Name(parameter.arg, ast.Store()), value, env)
    arguments = definition.node.args
    for star in (arguments.vararg, arguments.kwarg):
        if star is not None:
            env[star.arg] = _given(analysis, definition, star.arg)
    bind_self(definition, env, None)
    return env


def _in_run_of_test(analysis: Interprocedural, definition: Function, name: str) -> Dtype | None:
    """The dtype that a test runner gives to a parameter."""
    given = given_by_runner(definition, name) if definition.decorators or definition.owner else []
    evaluate = Evaluator(analysis, Frame(definition.module))
    return in_a_run(name, [evaluate(each, Environment()) for each in given])


def _of_option(analysis: Interprocedural, definition: Function, name: str) -> Setting | None:
    """What the command line gives to a parameter: `@click.option("--dtype", default="bf16")`."""
    options = (
        names_of_option(each)
        for each in definition.decorators
        if isinstance(each, ast.Call) and callee_name(each) in {"option", "argument"}
    )
    is_option = any(name in each for each in options)
    return analysis.configuration.option(definition.module, name) if is_option else None


def bind_self(definition: Function, env: Environment, receiver: Value | None) -> None:
    """Bind the first parameter of a method."""
    if definition.owner is None or definition.is_static or not definition.parameters:
        return
    value: Value = ClassObject(definition.owner)
    if not definition.is_class_method:
        value = Instance(definition.owner) if receiver is None else receiver
    env[definition.parameters[0].arg] = value


def _given(analysis: Interprocedural, definition: Function, name: str) -> Value:
    """What callers give to a parameter, as a term."""
    if analysis.is_intraprocedural or isinstance(definition.node, ast.Lambda):
        return UNKNOWN
    return Variable(frozenset({Term(Parameter(definition, name))}))


def _declared_or_given(
    analysis: Interprocedural,
    definition: Function,
    parameter: ast.arg,
    default: ast.expr | None,
) -> Value:
    """What a parameter can be: what annotation, name or default say, or what callers give."""
    declared = annotated(analysis, definition.module, parameter.annotation, parameter)
    value = _expected(analysis, definition, parameter, declared, default)
    given = _given(analysis, definition, parameter.arg)
    if not isinstance(given, Variable):
        return value
    is_name = _is_name_of_dtype(value, definition, parameter)
    is_record = isinstance(value, Instance) and not analysis.classes.has_weights(value.definition)
    if isinstance(value, Instance) and not is_record:
        return _of_given_weights(value, given, definition, parameter)
    is_rate = declared == NON_TENSOR and sources.LEARNING_RATE.search(parameter.arg) is not None
    is_known_to_callers = is_name or is_record or is_rate or _is_half_default(value, default)
    if is_known_to_callers or isinstance(value, Unknown) or _holds_anything(value):
        return given
    chosen = by_dtypes(lambda one: _chosen_by(given, one), value)
    if isinstance(chosen, Model) and not _is_of_loaded(analysis, definition):
        return replace(chosen, is_given=True)
    is_default = isinstance(declared, Unknown) and chosen == value
    return join(value, given) if is_default else chosen


def _of_given_weights(
    module: Instance, given: Variable, definition: Function, parameter: ast.arg
) -> Instance:
    """A module of the declared class, with the weights of the one that callers give."""
    file = definition.module.file
    origin = Origin(file.text, file.span_of(parameter), BY_THE_CALLER, "caller")
    return replace(module, parameters=caller_chosen(origin, given))


def _is_name_of_dtype(declared: Value, definition: Function, parameter: ast.arg) -> bool:
    """True for `dtype: str`, and for `half: str` in a function that tests `half == "float16"`."""
    return declared == NON_TENSOR and (
        sources.DTYPE_NAME.search(parameter.arg) is not None
        or parameter.arg in definition.compared_with_dtypes
    )


def _is_half_default(value: Value, default: ast.expr | None) -> bool:
    """True for `dtype=torch.bfloat16`, which counts for the calls alone that leave it out."""
    return default is not None and isinstance(value, Dtype) and bool(value.dtypes & HALF)


def _is_of_loaded(analysis: Interprocedural, definition: Function) -> bool:
    """True for a method of a class whose objects `from_pretrained` makes: it gives them modules."""
    owner = definition.owner
    return owner is not None and analysis.classes.loaded(owner) is not None


def _holds_anything(value: Value) -> bool:
    """True for a mapping of which nothing but its kind is known: `Dict[str, Any]`."""
    return isinstance(value, Dictionary) and value.item == UNKNOWN


def _holds_tensors_like(declared: Value, given: Value) -> bool:
    """True for `list[torch.Tensor]` where callers give a list of tensors, and know their dtypes."""
    match declared, given:
        case (Sequence(item=Tensor(is_open=True)), Sequence(item=Tensor() as item)) | (
            Dictionary(item=Tensor(is_open=True)),
            Dictionary(item=Tensor() as item),
        ):
            return bool(item.dtypes) or item.caller_chosen
    return False


def _chosen_by(given: Variable, dtypes: _D) -> _D:
    """Dtypes that are open, as those of what is given."""
    return replace(dtypes, clauses=clauses_of(given)) if dtypes.is_open else dtypes


def as_given(analysis: Interprocedural, definition: Function, name: str, given: Value) -> Value:
    """What a parameter can be if its callers give this: they know best."""
    for parameter, default in with_defaults(definition.node.args):
        if parameter.arg == name:
            return _merged(analysis, definition, parameter, default, given)
    return given


def _merged(
    analysis: Interprocedural,
    definition: Function,
    parameter: ast.arg,
    default: ast.expr | None,
    given: Value,
) -> Value:
    declared = annotated(analysis, definition.module, parameter.annotation, parameter)
    is_integral = sources.INTEGRAL_NAME.search(parameter.arg) is not None
    if is_integral and isinstance(given, Tensor | ModelOutput):
        given = UNKNOWN if given.may_be(FLOATING) else given
    if isinstance(declared, Tensor) and isinstance(given, Tensor) and given.may_be_other:
        given = join(declared, given) if given.dtypes or given.caller_chosen else UNKNOWN
    is_known_better = (
        isinstance(declared, Unknown | Tensor | Model)
        or (isinstance(declared, Dtype) and isinstance(given, Dtype))
        or (declared == NON_TENSOR and isinstance(given, Constant | Setting))
        or (isinstance(declared, Instance) and isinstance(given, Instance | OneOf))
        or (_holds_anything(declared) and isinstance(given, Dictionary))
        or _holds_tensors_like(declared, given)
    )
    if is_known_better and not isinstance(given, Unknown):
        return given
    return _expected(analysis, definition, parameter, declared, default)


def _expected(
    analysis: Interprocedural,
    definition: Function,
    parameter: ast.arg,
    declared: Value,
    default: ast.expr | None,
) -> Value:
    """What a parameter can be whoever calls: by its annotation, its name, its default."""
    name = parameter.arg
    module = definition.module
    span = module.file.span_of(parameter)
    is_integral = sources.INTEGRAL_NAME.search(name) is not None
    if not isinstance(declared, Unknown) or is_integral:
        is_dtype = isinstance(declared, Dtype) or _is_name_of_dtype(declared, definition, parameter)
        value = _default(analysis, definition, default) if default and is_dtype else UNKNOWN
        if isinstance(value, Dtype) and value.dtypes & HALF:
            return replace(value, may_be_other=True)
        is_half = is_dtype and defaults.names_half(value)
        return defaults.or_default(UNKNOWN, value, module.file.text, span) if is_half else declared
    origin = Origin(module.file.text, span, "the caller chooses its dtype", "caller")
    value = UNKNOWN if default is None else _default(analysis, definition, default)
    if default is not None and defaults.names_half(value):
        return defaults.or_default(UNKNOWN, value, module.file.text, span)
    if name.endswith("dtype"):
        by_caller = Dtype(caller_chosen=True, origin=origin)
        return join(value, by_caller) if isinstance(value, Dtype) else by_caller
    if default is None:
        is_floating = sources.FLOAT_NAME.search(name) is not None
        return ModelOutput(perhaps_floating(origin)) if is_floating else UNKNOWN
    match value:
        case Dtype():
            return replace(value, caller_chosen=True)
        case Constant():
            return UNKNOWN  # a default is one of many values
    return value


def _is_kept(default: ast.expr, passed: Value) -> bool:
    """True for a switch that `**mapping` may set: nothing shows that the mapping has its name."""
    is_switch = isinstance(default, ast.Constant) and isinstance(default.value, bool)
    return is_switch and passed is UNKNOWN


def _default(analysis: Interprocedural, definition: Function, default: ast.expr) -> Value:
    return Evaluator(analysis, Frame(definition.module))(default, Environment())


def bound(
    analysis: Interprocedural, definition: Function, receiver: Value | None, given: CallSite
) -> Environment:
    """The parameters of a function as one call gives them."""
    env = Environment()
    arguments = definition.node.args
    names = [parameter.arg for parameter in definition.parameters]
    is_bound = definition.owner is not None and not definition.is_static
    if is_bound and (receiver is not None or definition.is_class_method) and names:
        bind_self(definition, env, receiver)
        names = names[1:]
    rest: list[Value] = []
    is_open = any(argument.starred for argument in given.arguments) or "**" in given.keywords
    for position, argument in enumerate(given.arguments):
        if argument.starred:
            rest.append(argument.value)
            names = names[:0]
        elif position < len(names):
            env[names[position]] = argument.value
        else:
            rest.append(argument.value)
    known = {parameter.arg for parameter, _ in with_defaults(arguments)}
    extra: dict[str, Value] = {}
    for name, keyword in given.keywords.items():
        if name in known:
            env[name] = keyword.value
        else:
            extra[name] = keyword.value if name != "**" else UNKNOWN
    spread = given.keywords["**"].value if "**" in given.keywords else UNKNOWN
    for parameter, default in with_defaults(arguments):
        if parameter.arg not in env:
            passed = keyword_of(spread, parameter.arg) if is_open or default is None else None
            if default is not None and (passed is None or _is_kept(default, passed)):
                passed = _default(analysis, definition, default)
            env[parameter.arg] = UNKNOWN if passed is None else passed
    if arguments.vararg is not None:
        is_known = not is_open
        env[arguments.vararg.arg] = Sequence(join_all(rest), tuple(rest) if is_known else None)
    if arguments.kwarg is not None and isinstance(spread, Variable) and extra.keys() == {"**"}:
        env[arguments.kwarg.arg] = spread
    elif arguments.kwarg is not None:
        items = None if "**" in extra else tuple(extra.items())
        env[arguments.kwarg.arg] = Dictionary(join_all(extra.values()), items)
    return env
