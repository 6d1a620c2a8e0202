"""Trained weights that are float16 in some run, in a file whose gradients a scaler unscales.

The dtype flow says which dtype the weights have where they are trained, which call made them
float16, and under which conditions; a run that satisfies these and those of the scaler is needed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from precision_lint.facts.amp.freezing import is_frozen_after
from precision_lint.facts.amp.offered_training import may_train
from precision_lint.facts.amp.scaling.unscalers import UNSCALING, trains_in_fp16, unscaler
from precision_lint.facts.amp.trained_modules import (
    TRAINING_CALLS,
    TrainedModule,
    first_backward,
    given_to_trainers,
    optimized,
    with_adapters,
)
from precision_lint.facts.amp.trainer_runs import may_be_launched
from precision_lint.facts.amp.training_step.conditions import PathConditions, assuming, truth
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.domain.values import Model
from precision_lint.facts.dtypes.syntax.conditions import guard_excludes_float16
from precision_lint.facts.origin import Origin, PathCondition
from precision_lint.model.dtypes import FLOAT16
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.source.python.imports import imported_names
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import dotted
from precision_lint.source.python.syntax_tree import calls_by_span, syntax_tree

FLOAT16_CALLS = TRAINING_CALLS | UNSCALING

_ONLY_FLOAT16 = frozenset({FLOAT16})


@fact
def may_train_float16(file: PythonFile) -> bool:
    """True if the weights that a file trains count: it makes what unscales, or launches tell."""
    code = (
        *(node.id for node in file.nodes_of(ast.Name)),
        *(node.attr for node in file.nodes_of(ast.Attribute)),
        *(node.name.rpartition(".")[2] for node in file.nodes_of(ast.alias)),
    )
    return not UNSCALING.isdisjoint(code) or may_be_launched(file)


@frozen
class Float16Weights:
    """Weights that are float16 where they are trained.

    `node` is the call that makes them so, of adapters the one that adds them, and of what another
    file makes float16 the one that trains them. `cast` is the place that decides their dtype.
    """

    model: str
    node: ast.Call
    cast: Origin
    trained: Call
    is_certain: bool
    is_elsewhere: bool
    """True if another file makes them float16."""


def float16_adapters(calls: Sequence[Call], file: PythonFile) -> Iterator[Float16Weights]:
    """The layers that are added to a float16 model, and trained with a scaler."""
    scaling = unscaler(calls, file)
    found: set[ast.Call] = set()
    if scaling is None:
        return
    for trained in with_adapters(calls, file):
        adapter = trained.adapter
        assert adapter is not None
        cast = _cast(trained, (*scaling.conditions, *adapter.guards), calls, file)
        node = None if cast is None else _call_at(adapter, file)
        if (
            cast is not None
            and node is not None
            and node not in found  # the model, or a copy of it
            and not is_frozen_after(_adapted(node), node, file)
        ):
            found.add(node)
            is_certain = trained.weights.must_be(_ONLY_FLOAT16)
            is_elsewhere = cast.source.path != file.text.path
            yield Float16Weights(_adapted(node), node, cast, trained.call, is_certain, is_elsewhere)


def float16_models(calls: Sequence[Call], file: PythonFile) -> Iterator[Float16Weights]:
    """The models whose every parameter an optimizer, or a trainer with `fp16=True`, gets."""
    if any(name.partition(".")[0] == "peft" for name in imported_names(file).values()):
        return  # it does not train the model as it was loaded
    scaling = unscaler(calls, file)
    found: dict[ast.Call, Float16Weights] = {}
    if scaling is not None:
        for trained in optimized(calls, file):
            _add(found, trained, scaling.conditions, calls, file)
    if trains_in_fp16(file):
        for trained in given_to_trainers(calls, file):
            _add(found, trained, (), calls, file)
    yield from found.values()


def _add(
    found: dict[ast.Call, Float16Weights],
    trained: TrainedModule,
    conditions: Iterable[PathCondition],
    calls: Sequence[Call],
    file: PythonFile,
) -> None:
    cast = None if trained.adapter else _cast(trained, conditions, calls, file)
    if cast is None:
        return
    is_elsewhere = cast.source.path != file.text.path
    node = _call_of(trained.call, file) if is_elsewhere else _call_at(cast, file)
    if node is not None and (is_elsewhere or _is_offered(trained, node, file)):
        is_certain = trained.weights.must_be(_ONLY_FLOAT16)
        found.setdefault(
            node,
            Float16Weights(trained.name, node, cast, trained.call, is_certain, is_elsewhere),
        )


def _is_offered(trained: TrainedModule, cast: ast.Call, file: PythonFile) -> bool:
    """False if the runs that the project offers train something else under this name."""
    network = dotted(cast.func.value) if isinstance(cast.func, ast.Attribute) else None
    name = trained.name.partition(".")[0]
    return not network or may_train(name, network, file.text.path, file.project)


def _cast(
    trained: TrainedModule,
    conditions: Iterable[PathCondition],
    calls: Sequence[Call],
    file: PythonFile,
) -> Origin | None:
    """The place that makes the weights float16 in a run that trains them under some conditions."""
    weights, value = trained.weights, trained.value
    if FLOAT16 not in weights.dtypes or (isinstance(value, Model) and value.is_widened):
        return None
    cast = value.cast if isinstance(value, Model) else weights.origin
    if cast is None or cast.kind != "dtype" or cast.source.path.suffix != ".py":
        return None
    if cast.source.path != file.text.path:
        return cast
    conditions = (*conditions, *trained.call.guards)
    if any(guard_excludes_float16(one, file.text) for one in (*conditions, *cast.guards)):
        return None
    assumed: PathConditions = {}
    for condition in conditions:
        assumed = assuming(_test(condition, file), condition.holds, assumed)
    if any(truth(_test(one, file), assumed) is (not one.holds) for one in cast.guards):
        return None
    return cast if _comes_first(cast, trained.call, calls, file) else None


def _test(condition: PathCondition, file: PythonFile) -> ast.expr:
    return ast.parse(f"({file.text[condition.span]}\n)", mode="eval").body


def _comes_first(cast: Origin, call: Call, calls: Sequence[Call], file: PythonFile) -> bool:
    """True if a cast runs before the first backward pass.

    What is cast after the training loop is saved, not trained. Which of two methods runs first is
    not known, but for the constructor.
    """
    syntax = syntax_tree(file)
    made, user = _call_at(cast, file), _call_of(call, file)
    if made is None or user is None:
        return False
    scope = syntax.function(made)
    if scope is syntax.function(user):
        backward = first_backward(call, calls)
        return backward is None or cast.span.start < backward.span.start
    is_method = scope is not None and isinstance(syntax.parent(scope), ast.ClassDef)
    return not is_method or (isinstance(scope, FunctionDefinition) and scope.name == "__init__")


def _call_at(origin: Origin, file: PythonFile) -> ast.Call | None:
    """The call of a function whose name ends where an origin does; else the one around it."""
    around = None
    for node in calls_by_span(file).values():
        if file.span_of(node.func).end == origin.span.end:
            return node
        span = file.span_of(node)
        if span.start <= origin.span.start and origin.span.end <= span.end:
            around = node  # inner calls come after those around them
    return around


def _call_of(call: Call, file: PythonFile) -> ast.Call | None:
    return calls_by_span(file).get(call.span)


def _adapted(node: ast.Call) -> str:
    """The model that a call adds layers to."""
    match node:
        case ast.Call(func=ast.Attribute(value=model, attr="add_adapter")):
            return ast.unparse(model)
        case ast.Call(args=[model, *_]):
            return ast.unparse(model)
    return next((ast.unparse(one.value) for one in node.keywords if one.arg == "model"), "it")
