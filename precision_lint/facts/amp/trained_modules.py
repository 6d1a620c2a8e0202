"""The modules that a file trains, as the dtype flow knows them at the last call that says so.

Such calls are the optimizer (of its parameters, the flow says which module they are of),
`accelerator.prepare`, the first backward pass, and a `Trainer`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from precision_lint.facts.amp.module_paths import optimized_parts
from precision_lint.facts.amp.optimizers import OPTIMIZERS, parameters_of
from precision_lint.facts.amp.own_trainers import TRAINERS, extends_trainer
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Argument, Call
from precision_lint.facts.dtypes.domain.values import Model, Tensor
from precision_lint.facts.dtypes.domain.weights import as_module
from precision_lint.facts.dtypes.operators.sinks import tensors
from precision_lint.facts.origin import Origin
from precision_lint.model.dtypes import FLOAT16
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.source.python.syntax import callee_name
from precision_lint.source.python.syntax_tree import calls_by_span, syntax_tree

TRAINING_CALLS = frozenset({"parameters", "prepare", "backward", "train", *TRAINERS}) | OPTIMIZERS
"""The calls that show what is trained."""

_PLAIN = frozenset({"Trainer", "Seq2SeqTrainer"})


@frozen
class TrainedModule:
    """A module, or its parameters, where it is trained; `name` is what the code calls it."""

    name: str
    value: Model | Tensor
    call: Call

    @property
    def weights(self) -> Tensor:
        return self.value.parameters if isinstance(self.value, Model) else self.value

    @property
    def adapter(self) -> Origin | None:
        """The call that added layers to it, which are trained then."""
        return self.value.adapter if isinstance(self.value, Model) else None


def with_adapters(calls: Sequence[Call], file: PythonFile) -> Iterator[TrainedModule]:
    """The modules that layers were added to, each at the last call that trains it."""
    last: dict[tuple[Span, bool], TrainedModule] = {}
    for trained in _shown(calls, file):
        adapter = trained.adapter
        if adapter is None or adapter.source.path != file.text.path:
            continue
        is_copy = _is_copy(trained, file)
        if not is_copy or _is_copy_trained(trained, calls, file):
            last[adapter.span, is_copy] = trained
    yield from last.values()


def _is_copy(trained: TrainedModule, file: PythonFile) -> bool:
    """True for `average = copy.deepcopy(model)`: what is done to it is not done to the model."""
    syntax = syntax_tree(file)
    return any(
        isinstance(statement, ast.Assign)
        and any(ast.unparse(target) == trained.name for target in statement.targets)
        for statement in map(syntax.parent, syntax.calls("deepcopy"))
    )


def _is_copy_trained(trained: TrainedModule, calls: Sequence[Call], file: PythonFile) -> bool:
    """True if a copy is prepared for training, or an optimizer gets its parameters.

    A copy that is there when the backward pass runs may be an average, or a reference.
    """
    if trained.call.name != "parameters":
        return trained.call.name == "prepare"
    optimizers = ((each, parameters_of(each)) for each in calls)
    return any(
        given is not None and _reaches(trained.call, given, optimizer, file)
        for optimizer, given in optimizers
    )


def optimized(calls: Sequence[Call], file: PythonFile) -> Iterator[TrainedModule]:
    """The modules that optimizers are made for, as they are when the first backward pass runs."""
    for optimizer in calls:
        yield from optimized_by(optimizer, calls, file)


def optimized_by(
    optimizer: Call, calls: Sequence[Call], file: PythonFile
) -> Iterator[TrainedModule]:
    """The modules that a call makes an optimizer for, if it makes one."""
    given = parameters_of(optimizer)
    if given is None:
        return
    for call in calls:
        if call.name == "parameters" and _reaches(call, given, optimizer, file):
            trained = _receiver(call, file)
            if trained is not None:
                yield _at_backward(trained, calls)
    yield from _wholes(optimizer, given, calls, file)


def _wholes(
    optimizer: Call, given: Argument, calls: Sequence[Call], file: PythonFile
) -> Iterator[TrainedModule]:
    """The modules of which an optimizer gets parts: a cast of the whole reaches these as well."""
    backward, node = first_backward(optimizer, calls), file.node_at(given.span)
    if backward is None or node is None:
        return
    for name, model in sorted(backward.models.items()):
        cast = model.cast
        if cast is not None and cast.source.path == file.text.path:
            parts = optimized_parts(node, cast.span.start, file)
            if any(part.startswith(f"{name}.") for part in parts):
                yield TrainedModule(name, model, optimizer)


def given_to_trainers(calls: Sequence[Call], file: PythonFile) -> Iterator[TrainedModule]:
    """The modules that a `Trainer` of transformers gets, or a class of the project like it."""
    for call in calls:
        is_known = (call.function or "").startswith("transformers.") and call.name in _PLAIN
        if is_known or (call.name in TRAINERS and extends_trainer(call)):
            argument = call.argument(0, "model")
            value = as_module(None if argument is None else argument.value)
            if argument is not None and value is not None:
                yield TrainedModule(file.text[argument.span], value, call)


def first_backward(call: Call, calls: Sequence[Call]) -> Call | None:
    """The first backward pass in the function of a call."""
    passes = [one for one in calls if one.name == "backward" and one.scope == call.scope]
    return min(passes, key=lambda one: one.span.start, default=None)


def _shown(calls: Sequence[Call], file: PythonFile) -> Iterator[TrainedModule]:
    """The modules at the calls before they are trained, in the order of the source."""
    for call in calls:
        backward = first_backward(call, calls)
        if backward is not None and call.span.start > backward.span.start:
            continue  # the training has begun
        match call.name:
            case "parameters":
                yield from filter(None, [_receiver(call, file)])
            case "prepare":
                for argument in call.arguments:
                    value = as_module(argument.value)
                    if value is not None:
                        yield TrainedModule(file.text[argument.span], value, call)
            case "backward":
                for name, model in call.models.items():
                    yield TrainedModule(name, model, call)


def _reaches(call: Call, given: Argument, optimizer: Call, file: PythonFile) -> bool:
    """True if the parameters that a call gives are among those that an optimizer gets."""
    if given.span.start <= call.span.start and call.span.end <= given.span.end:
        return True
    module = as_module(call.receiver)
    if module is None or call.scope != optimizer.scope:
        return False
    if _makes_an_object(call, file) or _is_frozen(call, file):
        return False
    weights = module.parameters if isinstance(module, Model) else module
    return weights.origin is not None and any(
        FLOAT16 in one.dtypes and one.origin == weights.origin for one in tensors(given.value)
    )


def _makes_an_object(call: Call, file: PythonFile) -> bool:
    """True if an object is made of what a call gives: `EMA(copy.parameters())`."""
    return any(
        span.start < call.span.start and call.span.end <= span.end and _is_class(callee_name(node))
        for span, node in calls_by_span(file).items()
    )


def _is_frozen(call: Call, file: PythonFile) -> bool:
    """True for `for parameter in copy.parameters(): parameter.requires_grad = False`."""
    node = calls_by_span(file).get(call.span)
    match syntax_tree(file).parent(node) if node is not None else None:
        case ast.For(
            iter=iterated,
            body=[
                ast.Assign(
                    targets=[ast.Attribute(attr="requires_grad")], value=ast.Constant(value=False)
                )
                | ast.Expr(
                    ast.Call(
                        func=ast.Attribute(attr="requires_grad_"), args=[ast.Constant(value=False)]
                    )
                )
            ],
        ):
            return iterated is node
    return False


def _is_class(name: str | None) -> bool:
    return name is not None and name[:1].isupper()


def _at_backward(trained: TrainedModule, calls: Sequence[Call]) -> TrainedModule:
    """A module as it is at the first backward pass after the optimizer was made."""
    backward = first_backward(trained.call, calls)
    if backward is None or backward.span.start < trained.call.span.start:
        return trained
    value = backward.models.get(trained.name, trained.value)
    return TrainedModule(trained.name, value, trained.call)


def _receiver(call: Call, file: PythonFile) -> TrainedModule | None:
    value = as_module(call.receiver)
    if value is None or call.receiver_span is None:
        return None
    return TrainedModule(file.text[call.receiver_span], value, call)
