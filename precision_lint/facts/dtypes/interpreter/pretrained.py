"""Models that a program loads or configures by their classes: their weights and their outputs."""

from __future__ import annotations

from dataclasses import replace

from precision_lint.facts.dtypes.domain.calls import Argument, CallSite
from precision_lint.facts.dtypes.domain.containers import keyword_of
from precision_lint.facts.dtypes.domain.lattice import join_dtypes
from precision_lint.facts.dtypes.domain.values import (
    UNKNOWN,
    WITH_BUFFER,
    WITHOUT_HEAD,
    Constant,
    Dtype,
    Instance,
    Model,
    Tensor,
    Value,
    caller_chosen,
    tensor,
)
from precision_lint.facts.dtypes.interpreter.protocols import Evaluate
from precision_lint.facts.dtypes.libraries.networks import IMAGES, PIPELINE
from precision_lint.facts.dtypes.operators import functions
from precision_lint.facts.dtypes.syntax import sources
from precision_lint.facts.dtypes.syntax.definitions import Class
from precision_lint.facts.origin import Origin
from precision_lint.model.dtypes import FLOAT32

_TAKING_NAMES = frozenset({"liger_kernel", "transformers"})
"""Packages whose `from_pretrained` takes the name of a dtype for it (transformers 5.23)."""


def loaded(evaluator: Evaluate, function: str, shown: str, given: CallSite) -> Model:
    """What `from_pretrained` gives: `function` is its full name, if known, `shown` as written."""
    configuration = evaluator.analysis.configuration
    package = function.partition(".")[0]
    keeps_dtype = not package or package in sources.KEEPING
    is_float32 = configuration.loads_in_float32(function)
    takes_names = package in _TAKING_NAMES
    made = _with_weights(given, is_float32, keeps_dtype=keeps_dtype, takes_names=takes_names)
    kind = IMAGES if PIPELINE.search(shown) else _kind_of_network(function, given)
    widens = configuration.widens_logits(shown)
    is_known = not package or package in sources.SEEN
    return replace(made, name=kind, widens=widens, is_known=is_known)


def _kind_of_network(function: str, given: CallSite) -> str | None:
    """What is known of the outputs of a class of transformers under autocast."""
    owner = function.removesuffix(".from_pretrained")
    if sources.BASE_MODEL.search(owner):
        return WITHOUT_HEAD
    is_t5 = isinstance(given.first, Constant) and "t5" in str(given.first.value).lower()
    return WITH_BUFFER if sources.ADDING_A_BUFFER.search(owner) and not is_t5 else None


def configured(evaluator: Evaluate, name: str, given: CallSite) -> Model:
    """What `AutoModelForCausalLM.from_config(config)` makes: the configuration may name a dtype."""
    made = _with_weights(given, is_float32=True)
    widens = evaluator.analysis.configuration.widens_logits(
        name.replace("from_config", "from_pretrained")
    )
    is_named = not given.keywords.keys().isdisjoint({"dtype", "torch_dtype"})
    weights = made.parameters if is_named else replace(made.parameters, may_be_other=True)
    return replace(made, parameters=weights, widens=widens, is_known=True)


def of_project(evaluator: Evaluate, definition: Class, given: CallSite) -> Value:
    """An object of the project's own class, with the weights of a checkpoint."""
    classes = evaluator.analysis.classes
    if not classes.has_weights(definition):
        return UNKNOWN
    configuration = evaluator.analysis.configuration
    made = _with_weights(given, configuration.loads_in_float32(""))
    names = (f"{each}.from_pretrained" for each in classes.forward_outside(definition))
    widens = any(map(configuration.widens_logits, names))
    return Instance(definition, parameters=made.parameters, cast=made.cast, widens=widens)


def _with_weights(
    given: CallSite, is_float32: bool, *, keeps_dtype: bool = True, takes_names: bool = False
) -> Model:
    """`from_pretrained(…)`: the dtype of its arguments, else float32 or that of the checkpoint.

    A checkpoint that the code names is that one alone: nothing says that it is in half precision.
    Nor does anything if it is not known that the class keeps the dtype of a checkpoint.
    """
    text = "the checkpoint, or its caller, chooses the dtype"
    for keyword in ("torch_dtype", "dtype"):
        if keyword in given.keywords:
            dtype = _asked(given.keywords[keyword], given, takes_names=takes_names)
            if dtype.dtypes:
                loaded = given.origin("the model is loaded here", "dtype")
                return Model(dtype.of_tensor(), cast=loaded)
            is_auto = given.keywords[keyword].value == Constant("auto")
            origin = given.origin(text, "auto" if is_auto else "load")
            return Model(Tensor(caller_chosen=True, origin=origin, clauses=dtype.clauses))
    if is_float32 and "**" not in given.keywords:
        return Model(tensor(FLOAT32))
    if "**" in given.keywords:
        spread = given.keywords["**"].value
        asked = (functions.as_dtype(keyword_of(spread, name)) for name in ("torch_dtype", "dtype"))
        chosen = replace(join_dtypes(*asked).of_tensor(), may_be_other=False)
        return Model(replace(chosen, caller_chosen=True, origin=given.origin(text, "load")))
    is_open = isinstance(given.first, Constant) or not keeps_dtype
    return Model(caller_chosen(given.origin(text, "caller" if is_open else "load")))


def _asked(argument: Argument, given: CallSite, *, takes_names: bool) -> Dtype:
    """The dtype that an argument asks for; a text names one for some libraries only."""
    dtype = functions.as_dtype(argument.value)
    if not takes_names or dtype.origin is not None or not isinstance(argument.value, Constant):
        return dtype
    named = f"{argument.value.value} is chosen here"
    return replace(dtype, origin=Origin(given.source, argument.span, named, "dtype"))
