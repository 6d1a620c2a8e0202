"""Optimizers that update weights in half precision, without a copy of these in float32.

The flow says which dtype the tensors have that an optimizer gets. What is meant to be trained in
half precision is left out: adapters, frozen models, optimizers that round stochastically, and
backends that keep float32 weights of their own.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from precision_lint.facts.amp.adapted_modules import (
    ADDING,
    adds_by_calls_alone,
    beside_adapters,
    runs_adding_by_calls,
    takes_dtype_of_model,
    trains_beside_adapters,
)
from precision_lint.facts.amp.beside_optimizers import beside_unused_imports
from precision_lint.facts.amp.handed_models import (
    Given,
    may_be_changed_elsewhere,
    may_be_given_layers,
    may_freeze_elsewhere,
)
from precision_lint.facts.amp.launch_backends import (
    has_command_with_backend,
    is_started_with_backend,
    names_backend,
)
from precision_lint.facts.amp.module_paths import (
    is_widened,
    may_add_layers,
    may_freeze,
    may_freeze_all,
)
from precision_lint.facts.amp.optimizers import OPTIMIZERS, parameters_of
from precision_lint.facts.amp.optional_adapters import (
    casts_after_adapters,
    has_adapters,
    may_always_adapt,
    names_adapters,
)
from precision_lint.facts.amp.optional_backends import (
    names_own_backend,
    runs_without_backend,
)
from precision_lint.facts.amp.own_trainers import TRAINERS, extends_trainer
from precision_lint.facts.amp.parameter_groups import as_value, parameter_groups
from precision_lint.facts.amp.scaling.unscalers import UNSCALING, unscaler
from precision_lint.facts.amp.trainer_setups import starts_training, trainer_setups
from precision_lint.facts.amp.unused_optimizers import is_unused
from precision_lint.facts.amp.weights_in_runs import ChosenDtype, chosen_in_runs
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.domain.values import (
    Dictionary,
    Model,
    OneOf,
    Symbol,
    Tensor,
    Value,
)
from precision_lint.facts.dtypes.domain.values import Sequence as Items
from precision_lint.facts.dtypes.operators.sinks import tensors
from precision_lint.facts.hardware.on_cuda import is_chosen_on_cuda
from precision_lint.facts.numerics.bfloat16_runs import cast_in_a_run
from precision_lint.facts.numerics.update_rates import has_small_rate, rate_in, rate_of
from precision_lint.facts.origin import Origin
from precision_lint.facts.settings.default_runs import chosen_by_default
from precision_lint.facts.settings.missing_files import lacks_its_settings
from precision_lint.model.dtypes import BFLOAT16, FLOAT16, FLOAT32
from precision_lint.model.finding import Related
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.code import code_of
from precision_lint.source.python.syntax_tree import syntax_tree

HALF_UPDATES = (
    OPTIMIZERS
    | UNSCALING
    | TRAINERS
    | ADDING
    | {"parameters", "named_parameters", "backward", "train"}
)
"""The calls that show it."""

_STUCK_UP_TO = 3e-5
"""Learning rates at which most bfloat16 weights stay what they are (torch 2.13).

At 3e-5, AdamW moves 6 of 100 weights of a layer of 64 features in 20 steps, 17 of 512, 48 of 4096;
at 3e-4, 97. float16 has three more bits.
"""
_WITH_LARGE_STEPS = frozenset({"RMSprop", "Rprop"})
"""Those whose first steps are a multiple of the rate: at 2e-5, RMSprop moves 90 of 100."""

_STOCK = regex(
    r"(?:torch\.optim|bitsandbytes\.optim(?:\.\w+)?|transformers(?:\.\w+)*|lion_pytorch"
    r"|apex\.optimizers|timm\.optim(?:\.\w+)?)\.\w+"
)
"""Optimizers that store what they computed with the rounding of the weights' dtype."""
_OWN_COPY = regex(
    r"master_weight|main_param|fp32_param|stochastic|kahan|copy_stochastic|optimi\b|anyprecision"
    r"|galore|hqq",
    re.IGNORECASE,
)
"""What keeps float32 weights, rounds stochastically, or trains something else than the weights."""
_HALF = frozenset({BFLOAT16, FLOAT16})


@frozen
class HalfUpdate:
    """Weights of a half dtype that an optimizer updates; `origin` made them so.

    `rate` is the learning rate, None if it is not known.
    """

    call: Call
    optimizer: str
    dtype: str
    origin: Origin
    rate: float | None
    is_pretrained: bool
    is_certain: bool
    """False if it is so in some runs only, or if the program stops before."""
    is_on_gpu: bool = False
    """True if the program computes in float32 without a GPU."""
    has_small_rate: bool = False
    """True if the learning rate is not known, but all that the project's files give are small."""
    by_default: Related | None = None
    """The option whose default makes these weights half precision, where others may not be so."""
    by_command: Related | None = None
    """The command whose options do so."""
    adapter: Related | None = None
    """Where adapters are added that take on the dtype of the model: these are trained alone."""
    is_beside_backend: bool = False
    """True if other commands may start a backend with float32 weights; this one does not."""
    may_be_other_half: bool = False
    """True if these weights are in the other half dtype in some runs."""

    @property
    def is_so_in_all_runs(self) -> bool:
        """False where a GPU or an option decides that these weights are in this half dtype."""
        is_chosen = self.by_default is not None or self.by_command is not None
        return not (self.is_on_gpu or is_chosen or self.may_be_other_half)

    @property
    def is_stuck(self) -> bool:
        """True if most of these weights stay what they are."""
        is_small = self.rate is not None and self.rate <= _STUCK_UP_TO
        is_large = any(name in self.optimizer for name in _WITH_LARGE_STEPS)
        return is_small and self.dtype == BFLOAT16 and not is_large


@fact
def keeps_float32(file: PythonFile) -> bool:
    """True if something in the file keeps float32 weights, or does not train all of them.

    What an optimizer does that the file may choose instead (`bf16_stochastic_round=True`) is not
    done by the others. A comment on LoRA makes no adapters.
    """
    if names_own_backend(file) and not runs_without_backend(file):
        return True
    always_adapts = names_adapters(file) and may_always_adapt(file)
    if always_adapts and not (
        casts_after_adapters(file) or adds_by_calls_alone(file) or runs_adding_by_calls(file)
    ):
        return True
    return any(_OWN_COPY.search(part) for part in beside_unused_imports(file))


def half_updates(calls: Sequence[Call], file: PythonFile) -> Iterator[HalfUpdate]:
    """The optimizers of a file that update weights in half precision."""
    if keeps_float32(file):
        return
    for each in _half_updates(calls, file):
        update = _without_backend(each, file)
        if update is None:
            continue
        if has_adapters(file):
            adapter = _adapter(update, calls, file)
            is_beside = _are_cast_too(update, file) or _is_beside_adapters(update, calls, file)
            if adapter is None and not is_beside:
                continue
            update = update if adapter is None else _with_adapter(update, adapter, file)
        if not _is_partial(update, file):
            is_reached = not lacks_its_settings(file) and not _is_fallback(update.call, file)
            yield update if is_reached else replace(update, is_certain=False)


def _without_backend(update: HalfUpdate, file: PythonFile) -> HalfUpdate | None:
    """An update in the runs that start no backend, where others may start one.

    One command of a script or a page is enough; it is certain without one if nothing in the project
    names a backend. None if all commands have a backend.
    """
    is_trainer = update.call.name in TRAINERS or extends_trainer(update.call)
    started = is_started_with_backend if is_trainer else has_command_with_backend
    is_started = started(file)
    if not is_started and not names_own_backend(file):
        return update
    node = file.node_at(update.call.span)
    runs = [
        run
        for run in runs_without_backend(file)
        if node is not None and run.reaches(node) and (not is_trainer or starts_training(run, file))
    ]
    shown = next((run.place for run in runs if run.is_shown), None)
    if shown is not None:
        return replace(update, by_command=update.by_command or shown, is_beside_backend=True)
    if is_started or not runs:
        return None
    return replace(update, is_certain=update.is_certain and not names_backend(file))


def _adapter(update: HalfUpdate, calls: Sequence[Call], file: PythonFile) -> Related | None:
    """Where PEFT adds adapters in the dtype of these weights."""
    added = (model.adapter for model in _models(update.origin, calls))
    return next(
        (each.related for each in added if each is not None and takes_dtype_of_model(each, file)),
        None,
    )


def _with_adapter(update: HalfUpdate, adapter: Related, file: PythonFile) -> HalfUpdate:
    """An update of adapters, in a run that does not quantize the model if others may do so."""
    found = replace(update, adapter=adapter)
    if adds_by_calls_alone(file):
        return found
    places = [run.place for run in runs_adding_by_calls(file) if run.is_shown]
    if not places:
        return replace(found, is_certain=False)
    return replace(found, by_command=found.by_command or places[0])


def _are_cast_too(update: HalfUpdate, file: PythonFile) -> bool:
    """True if these weights are cast when all adapters have been added, so that they are, too."""
    at = update.origin.span
    return update.origin.source.path == file.text.path and any(
        span.start <= at.start and at.end <= span.end for span in casts_after_adapters(file)
    )


def _is_beside_adapters(update: HalfUpdate, calls: Sequence[Call], file: PythonFile) -> bool:
    """True if an optimizer gets such weights alone, or in a group of their own."""
    given = parameters_of(update.call)
    return given is not None and trains_beside_adapters(given, calls, file)


def _is_partial(update: HalfUpdate, file: PythonFile) -> bool:
    """True if an optimizer rounds well, or if what it is given may be frozen, or not be all."""
    call = update.call
    given = parameters_of(call) or call.argument(0, "model")
    node = None if given is None else file.node_at(given.span)
    rounds_well = _OWN_COPY.search(code_of(file)[call.span.start : call.span.end]) is not None
    if rounds_well or node is None:
        return True
    weights = Given(node, update.origin, call.span)
    return may_be_changed_elsewhere(weights, file) or _trains_others(weights, update, file)


def _trains_others(given: Given, update: HalfUpdate, file: PythonFile) -> bool:
    """True if some weights may be frozen, and those that are trained may be others.

    What is left of weights that are all in half precision is so as well, but for layers that are
    put into the model later.
    """
    if not may_freeze(given.node, file) and not may_freeze_elsewhere(given, file):
        return False
    return (
        not update.is_certain
        or may_freeze_all(given.node, file)
        or may_add_layers(given.node, file)
        or may_be_given_layers(given, file)
    )


def _is_fallback(call: Call, file: PythonFile) -> bool:
    """True for an optimizer of an `except`, which is there for when another one fails."""
    node = file.node_at(call.span)
    around = () if node is None else syntax_tree(file).within_function(node)
    return any(isinstance(each, ast.ExceptHandler) for each in around)


def _half_updates(calls: Sequence[Call], file: PythonFile) -> Iterator[HalfUpdate]:
    scaled = unscaler(calls, file) is not None
    for call in calls:
        given = parameters_of(call)
        made = [] if given is None else _classes(call)
        if given is None or not made or not all(map(_STOCK.fullmatch, made)):
            continue
        if is_unused(call, file):
            continue
        groups = beside_adapters(parameter_groups(given, file), calls, file)
        trained = as_value(groups) if groups else given.value
        weights = list(tensors(_without_settings(trained)))
        rate = rate_of(call, trained, groups, file)
        optimizer = "` or `".join(dict.fromkeys(each.rpartition(".")[2] for each in made))
        update = _update(call, optimizer, weights, rate, calls, file) or _in_a_run(
            call, rate, calls, file
        )
        if update is not None and not (scaled and update.dtype == FLOAT16):
            is_small = rate is None and has_small_rate(call, file)
            yield replace(update, has_small_rate=is_small)  # of float16 the scaler raises
    if any(call.name == "train" for call in calls):
        yield from _by_trainers(calls, file)


def _classes(call: Call) -> list[str]:
    """What a call makes an object of: one class, or one of those that a variable may hold."""
    match call.called:
        case OneOf(members=members):
            return [each.name if isinstance(each, Symbol) else "" for each in members]
    return [call.function or ""]


def _by_trainers(calls: Sequence[Call], file: PythonFile) -> Iterator[HalfUpdate]:
    """The trainers of a file that update weights in half precision."""
    for setup in trainer_setups(calls, file):
        optimizer = setup.optimizer
        if optimizer is None or setup.is_on("fp16") or setup.model.is_widened:
            continue  # float16 weights raise with `fp16`
        weights = [setup.model.parameters]
        update = _update(setup.call, optimizer, weights, setup.rate, calls, file, setup.chosen)
        if update is None:
            continue
        yield update if setup.is_offered else replace(update, is_certain=False)


def _update(
    call: Call,
    optimizer: str,
    weights: Sequence[Tensor],
    rate: float | None,
    calls: Sequence[Call],
    file: PythonFile,
    chosen: ChosenDtype | None = None,
) -> HalfUpdate | None:
    """An update of weights, if they are in half precision, as they are or as a run chooses."""
    origins = [one.origin for one in weights]
    if not weights or any(origin is None or origin.kind != "dtype" for origin in origins):
        return None
    dtypes = frozenset[str]().union(*(one.dtypes for one in weights))
    origin = origins[0]
    if not dtypes & _HALF or origin is None or _is_changed(origin, calls, file):
        return None
    found = HalfUpdate(
        call,
        optimizer,
        dtype=BFLOAT16 if BFLOAT16 in dtypes else FLOAT16,
        origin=origin,
        rate=rate,
        is_pretrained=_is_loaded(origin, calls),
        is_certain=all(one.must_be(_HALF) for one in weights),
    )
    if dtypes == _HALF:
        return _half_by_default(found, weights, file) or replace(found, may_be_other_half=True)
    if dtypes <= _HALF:
        return found
    if chosen is not None:
        return replace(found, dtype=chosen.dtype, is_certain=True, by_command=chosen.command)
    if all(_is_half_on_gpu(one, file) for one in weights):
        return replace(found, is_certain=True, is_on_gpu=True)
    return _half_by_default(found, weights, file) or _half_in_a_run(found, weights, file)


def _half_by_default(
    update: HalfUpdate, weights: Sequence[Tensor], file: PythonFile
) -> HalfUpdate | None:
    """An update of weights that options make float32, or leave in half precision by default."""
    is_named = update.origin.witness is not None  # an option may name any dtype
    if not is_named and not all(one.must_be(_HALF | {FLOAT32}) for one in weights):
        return None
    choice = chosen_by_default(update.origin, file)
    if choice is None or choice.dtype not in _HALF:
        return None
    if any(one.origin != update.origin for one in weights):
        return None
    return replace(update, dtype=choice.dtype, is_certain=True, by_default=choice.option)


def _half_in_a_run(
    update: HalfUpdate, weights: Sequence[Tensor], file: PythonFile
) -> HalfUpdate | None:
    """An update of weights that the options or the files of a command leave in half precision."""
    node, origin = file.node_at(update.call.span), update.origin
    is_choice = all(one.must_be(_HALF | {FLOAT32}) and one.origin == origin for one in weights)
    if node is None or not is_choice or _is_widened(update, file):
        return None
    for chosen, run in chosen_in_runs(origin, node, file):
        if chosen.dtype in _HALF:
            rate = update.rate or rate_in(run, update.call, file)
            return replace(
                update, dtype=chosen.dtype, rate=rate, is_certain=True, by_command=chosen.command
            )
    return None


def _is_widened(update: HalfUpdate, file: PythonFile) -> bool:
    """True if the file casts something that an optimizer gets to float32, in some runs at least."""
    given = parameters_of(update.call)
    node = None if given is None else file.node_at(given.span)
    return node is None or is_widened(node, file)


def _is_half_on_gpu(weights: Tensor, file: PythonFile) -> bool:
    """True if these weights are in half precision on a GPU, and in float32 only elsewhere."""
    if weights.must_be(_HALF):
        return True
    return (
        weights.must_be(_HALF | {FLOAT32})
        and weights.origin is not None
        and is_chosen_on_cuda(weights.origin, file, file.project)
    )


def _in_a_run(
    call: Call, rate: float | None, calls: Sequence[Call], file: PythonFile
) -> HalfUpdate | None:
    """An optimizer of weights that are bfloat16 in some runs."""
    origin = cast_in_a_run(call, calls, file)
    if origin is None:
        return None
    is_loaded = _is_loaded(origin, calls)
    return HalfUpdate(call, call.name, BFLOAT16, origin, rate, is_loaded, is_certain=True)


def _is_changed(origin: Origin, calls: Sequence[Call], file: PythonFile) -> bool:
    """True if some of these weights are cast to float32, or layers of another dtype are added."""
    return any(
        model.is_widened
        or (model.adapter is not None and not takes_dtype_of_model(model.adapter, file))
        for model in _models(origin, calls)
    )


def _is_loaded(origin: Origin, calls: Sequence[Call]) -> bool:
    """True if the weights are those of a checkpoint."""
    cast = (model.cast for model in _models(origin, calls))
    return any(one is not None and one.text == "the model is loaded here" for one in cast)


def _models(origin: Origin, calls: Sequence[Call]) -> Iterator[Model]:
    """The modules of these weights, wherever the calls show them."""
    for call in calls:
        given = (one.value for one in (*call.arguments, *call.keywords.values()))
        for value in (call.receiver, *call.models.values(), *given):
            held = value.parameters.origin if isinstance(value, Model) else None
            if isinstance(value, Model) and held is not None and held.span == origin.span:
                yield value


def _without_settings(value: Value) -> Value:
    """Groups of parameters without what else they say: `{"params": weights, "lr": 1e-5}`."""
    match value:
        case Dictionary(items=tuple(items)) if "params" in dict(items):
            return dict(items)["params"]
        case Items(items=tuple(items)):
            groups = tuple(map(_without_settings, items))
            return Items(value.item, groups)
    return value
