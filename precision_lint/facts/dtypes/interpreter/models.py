"""Modules whose code is not seen: what they give when they are called, asked or moved."""

from __future__ import annotations

import re
from dataclasses import replace

from precision_lint.facts.dtypes._generated.operators import FUNCTIONS
from precision_lint.facts.dtypes.domain.calls import Argument, CallSite
from precision_lint.facts.dtypes.domain.lattice import (
    join_all,
    join_tensors,
    tensor_of,
)
from precision_lint.facts.dtypes.domain.terms import Step
from precision_lint.facts.dtypes.domain.values import (
    NON_TENSOR,
    UNKNOWN,
    WITH_BUFFER,
    WITHOUT_HEAD,
    Constant,
    Dictionary,
    Dtype,
    Instance,
    Model,
    ModelOutput,
    NonTensor,
    Sequence,
    Tensor,
    Value,
    Variable,
    caller_chosen,
    clauses_of,
    output_after,
    tensor,
)
from precision_lint.facts.dtypes.interpreter import training
from precision_lint.facts.dtypes.libraries.networks import IMAGES
from precision_lint.facts.dtypes.operators import functions
from precision_lint.facts.dtypes.operators.autocast import cast
from precision_lint.facts.dtypes.operators.conversions import is_setting_of_dtype
from precision_lint.facts.dtypes.operators.signature import Operator
from precision_lint.facts.dtypes.syntax import mutations, sources
from precision_lint.facts.origin import Origin, Setting
from precision_lint.model.dtypes import FLOAT32, FLOATING, HALF, INT64
from precision_lint.model.regex import regex

OF_THE_OUTPUT = "model outputs have the model's dtype"
CAST = "the model is cast here"
OF_THE_WEIGHTS = "the weights have the checkpoint's dtype"
_OF_THE_MODEL = "parameters have the model's dtype"
_DEVICE = regex(r"device|cuda|cpu|gpu|rank|\"|'", re.IGNORECASE)
_CASTS = {"half": "float16", "bfloat16": "bfloat16", "float": "float32", "double": "float64"}
_FLOAT32 = frozenset({FLOAT32})
_OF_WEIGHTS = regex(
    r"\.|(?:^|_)(?:weights?|bias|state|state_dict|model|module|params?|parameters|lora\w*|ema)(?:_|$)"
)
"""Keys of a file under which a program stores weights."""

_PARAMETERS = frozenset({"parameters", "buffers"})
OF_ALL_PARTS = frozenset({"parameters", "named_parameters"})
"""Methods of modules that give the parameters of all parts."""
_NAMED = frozenset({"named_parameters", "named_buffers"})
_MODULES = frozenset({"modules", "children"})
_NAMED_MODULES = frozenset({"named_modules", "named_children"})
INSIDE = _MODULES | _NAMED_MODULES | {"get_submodule"}
"""Methods of modules that give the modules inside."""
PARTS = frozenset(
    {
        "get_input_embeddings",
        "get_output_embeddings",
        "get_encoder",
        "get_decoder",
        "get_base_model",
    }
)
"""Methods of models of transformers and PEFT that return a module of the model."""

OF_MODULES = (
    _PARAMETERS | _NAMED | INSIDE | PARTS | {"eval", "train", "state_dict"}
)  # fmt: skip
"""Methods that modules have and tensors do not."""

# Classes of torch.nn whose result has the dtype of their parameters, whatever comes in.
_BY_PARAMETERS = (
    "Linear", "Conv", "LazyLinear", "LazyConv", "Bilinear", "Embedding", "BatchNorm", "LayerNorm",
    "GroupNorm", "RMSNorm", "InstanceNorm", "PReLU",
)  # fmt: skip
# Those named otherwise than the function that they call.
_FUNCTION_OF = {
    "ReLU": "relu", "GELU": "gelu", "SiLU": "silu", "ELU": "elu", "Softmax": "softmax",
    "LogSoftmax": "log_softmax", "Sigmoid": "sigmoid", "Tanh": "tanh", "Dropout": "dropout",
    "Flatten": "flatten", "CrossEntropyLoss": "cross_entropy",
    "NLLLoss": "nll_loss", "MSELoss": "mse_loss", "L1Loss": "l1_loss",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits", "KLDivLoss": "kl_div",
    "SmoothL1Loss": "smooth_l1_loss", "HuberLoss": "huber_loss", "Softplus": "softplus",
    "LeakyReLU": "leaky_relu", "CosineSimilarity": "cosine_similarity", "Hardtanh": "hardtanh",
}  # fmt: skip


# Those without parameters, whose result has the dtype of what comes in.
_BY_INPUT = (
    "AdaptiveAvgPool", "AdaptiveMaxPool", "AvgPool", "ChannelShuffle", "CircularPad", "ConstantPad",
    "Fold", "Identity", "LPPool", "MaxPool", "PixelShuffle", "PixelUnshuffle", "ReflectionPad",
    "ReplicationPad", "Unflatten", "Unfold", "Upsample", "ZeroPad",
)  # fmt: skip


_INNER_NORM = "inner norm"
"""A norm inside a model, of whose class nothing is known.

With weights in half precision nearly all of transformers 5.23.0 return float32 for a float32
input, as that of Llama does: it multiplies its weights with what it has cast back to the dtype of
the input. That of T5 returns the dtype of its weights.
"""

SEEN = "seen"
"""A module of the project, all of whose insides return what they compute in its dtype."""

_SEEN_PART = "seen part"
"""A module inside of one whose code is seen; what it returns may be integers as well."""

_TENSOR_OUTPUTS = (Constant("pt"), Constant("latent"))
"""The values of `output_type=` with which a pipeline of diffusers gives tensors."""

_CONTAINERS = frozenset({"Module", "ModuleDict", "ModuleList", "ParameterDict", "Sequential"})
"""Classes whose parameters are those of what they are given, then or later."""

_AFFINE = {
    "LayerNorm": (2, "elementwise_affine", True),
    "RMSNorm": (2, "elementwise_affine", True),
    "GroupNorm": (3, "affine", True),
    "InstanceNorm": (3, "affine", False),
}
"""Norms by the argument that gives them weights: where it stands, its name, its default."""

_LINEAR = FUNCTIONS["nn.functional.linear"]
# The layers with weights that autocast does not cast as it casts a matrix product: on CUDA it makes
# float32 of what most norms are given, weights included (torch 2.13; seen on an H100).
_NOT_PRODUCTS = {
    "Embedding": "embedding", "BatchNorm": "batch_norm", "GroupNorm": "group_norm",
    "InstanceNorm": "instance_norm", "LayerNorm": "layer_norm", "RMSNorm": "rms_norm",
}  # fmt: skip


def of_torch(name: str, given: CallSite) -> Model:
    """An instance of a class of `torch.nn`: its parameters have the default dtype, or `dtype=`.

    `dtype` is the last argument of these classes, whose number differs.
    """
    parameters = tensor(given.default_dtype)
    layers: tuple[str, ...] = ()
    apart: tuple[Model, ...] = ()
    last = given.values[-1] if given.values else UNKNOWN
    if "dtype" in given.keywords:
        parameters = functions.as_dtype(given.keywords["dtype"].value).of_tensor()
    elif isinstance(last, Dtype) or (name == "Linear" and len(given.values) == 5):
        parameters = functions.as_dtype(last).of_tensor()
    elif "**" in given.keywords:
        parameters = caller_chosen(given.origin(_OF_THE_MODEL))
    if not (has_weights := _has_weights(name, given)):  # then the input decides the dtype
        unknown = caller_chosen(given.origin(_OF_THE_MODEL))
        return Model(unknown, None if has_weights is None else "Identity")
    if name in _CONTAINERS:
        members = [value for value in given.values if isinstance(value, Model)]
        of_members = join_all([member.parameters for member in members])
        if isinstance(of_members, Tensor) and len(members) == len(given.values):
            parameters = of_members
            if name == "Sequential":
                layers = _layers(members)
                differ = any(each.parameters != of_members for each in members)
                apart = tuple(members) if differ else ()
        else:
            parameters = caller_chosen(given.origin(_OF_THE_MODEL))
    is_known = name not in _CONTAINERS or bool(layers)
    return Model(parameters, name, layers=layers, is_known=is_known, members=apart)


def is_weightless(model: Model) -> bool:
    """True for a layer of torch without parameters of its own."""
    name = model.name or ""
    return name == "Identity" or name in _FUNCTION_OF or name.startswith(_BY_INPUT)


def with_layers(given: CallSite) -> CallSite:
    """`Sequential(OrderedDict(conv=…, act=…))` as if the layers were given one by one."""
    match given.values:
        case [Dictionary(items=tuple(items))]:
            return replace(given, arguments=tuple(Argument(one, given.span) for _, one in items))
    return given


def sequential(given: CallSite) -> Model | None:
    """A `Sequential` of modules of the project, and of torch; None if one is not known.

    All have parameters of one dtype: that of the whole is the dtype of each.
    """
    members = tuple(value for value in given.values if isinstance(value, Model | Instance))
    weights = {member.parameters for member in members}
    if len(members) < len(given.values) or given.keywords or len(weights) != 1:
        return None
    parameters = weights.pop()
    if parameters is None or parameters.is_open:
        return None
    if all(isinstance(member, Model) for member in members):
        return None
    return Model(parameters, "Sequential", members=members)


def _has_weights(name: str, given: CallSite) -> bool | None:
    """Whether a norm has weights, as others always do; None if a variable says so."""
    for kind, (position, keyword, default) in _AFFINE.items():
        if name.startswith(kind):
            switch = given.find(position, keyword)
            match Constant(default) if switch is None else switch.value:
                case Constant(value=value):
                    return bool(value)
            return None
    return True


def _layers(members: list[Model]) -> tuple[str, ...]:
    """The classes of the modules in a `Sequential`, those inside of others included."""
    names = [member.layers or (member.name,) for member in members]
    flat = tuple(name for each in names for name in each)
    return tuple(filter(None, flat)) if all(flat) else ()


def unknown(given: CallSite) -> ModelOutput:
    """What a module returns of which nothing is known: a module runs in the dtype of its input."""
    parameters = caller_chosen()
    match given.first:
        case Tensor() | ModelOutput() as value if (floating := _floating(value)) is not None:
            parameters = join_tensors(parameters, floating)
    return output(Model(parameters), given)


def _floating(value: Tensor | ModelOutput) -> Tensor | None:
    """An input as far as its dtypes are floating; None if nothing is known of such."""
    made = tensor_of(value)
    floating = replace(made, dtypes=made.dtypes & FLOATING)
    return floating if floating.dtypes or floating.caller_chosen else None


def _in_dtype_of(given: Value, parameters: Tensor) -> Tensor:
    """The result of a layer whose parameters somebody may have cast: it takes their dtype only.

    An input in half precision says that somebody has; where nothing else is said of the cast, it is
    one of the dtypes that they have.
    """
    opened = parameters
    if parameters.origin is None:
        opened = replace(parameters, caller_chosen=False, may_be_other=True)
    match given:
        case Variable():
            return join_tensors(opened, Tensor(clauses=clauses_of(given)))
        case Tensor() | ModelOutput() if (floating := _floating(given)) is not None:
            if floating.dtypes & HALF:
                return join_tensors(opened, floating)
    return parameters


def called(model: Model, given: CallSite) -> Value:
    """The result of `model(…)`."""
    name = model.name or ""
    if name == IMAGES:
        kind = given.find(-1, "output_type")
        is_tensor = kind is not None and kind.value in _TENSOR_OUTPUTS
        return output(model, given) if is_tensor else NON_TENSOR
    if model.layers and given.autocast is not None and len(given.arguments) == 1:
        return _one_after_the_other(model, given)
    if name.startswith(_BY_PARAMETERS):
        row = _row_of_layer(name)
        computed = cast(model.parameters, row, given.autocast)
        if given.autocast is not None and row is _LINEAR:
            return computed
        parameters = computed if isinstance(computed, Tensor) else model.parameters
        if parameters.caller_chosen and name != "Embedding":
            parameters = _in_dtype_of(given.first, parameters)
        return replace(parameters, scalar=False)
    if name.startswith(_BY_INPUT):
        return given.first if isinstance(given.first, Tensor | ModelOutput) else UNKNOWN
    if name in _FUNCTION_OF:
        return functions.function(f"torch.nn.functional.{_FUNCTION_OF[name]}", given)
    if name == WITHOUT_HEAD:
        return _guessed(output(model, given))
    match given.first:
        case Tensor() | ModelOutput() as value if name == _INNER_NORM:
            keeps = tensor_of(value).must_be(_FLOAT32)
            return output(replace(model, is_known=model.is_known and not keeps), given)
    return output(model, given)


def _row_of_layer(name: str) -> Operator:
    """The function that a layer with weights calls, which says what autocast makes of it."""
    for kind, function in _NOT_PRODUCTS.items():
        if name.startswith(kind):
            return FUNCTIONS[f"nn.functional.{function}"]
    return _LINEAR


def _one_after_the_other(model: Model, given: CallSite) -> Value:
    """The result of a `Sequential` of layers of torch: under autocast, the last ones decide."""
    for layer in model.layers:
        value = called(replace(model, name=layer, layers=()), given)
        given = replace(given, arguments=(replace(given.arguments[0], value=value),))
    return given.first


def output(model: Model, given: CallSite) -> ModelOutput:
    """What a forward pass returns: in the dtype of the parameters, or of the autocast around it.

    Code that is not seen may widen what it returns, as the heads of many models do: that half
    precision leaves it is a guess.
    """
    parameters = model.parameters
    origin = parameters.origin or given.origin(OF_THE_OUTPUT)
    if given.autocast is not None:
        of_region = given.autocast.dtype
        if of_region.dtypes:
            # the last layer mostly computes in the dtype of the region, and not of the weights:
            # float16 that is added to bfloat16 is float32
            kept = parameters.dtypes - (HALF - of_region.dtypes)
            open_parameters = replace(parameters, dtypes=kept, caller_chosen=True, origin=origin)
            if not of_region.is_open and of_region.dtypes <= HALF:  # whatever callers give
                open_parameters = replace(open_parameters, clauses=frozenset())
            result = join_tensors(
                open_parameters, replace(of_region, may_be_other=False).of_tensor()
            )
            return ModelOutput(replace(result, scalar=None))
    if model.name == _SEEN_PART:
        parameters = replace(parameters, may_be_other=True)
    if not model.is_known:
        origin = replace(origin, is_guess=True)
        is_open = parameters.may_be_other or bool(parameters.dtypes & HALF)
        parameters = replace(parameters, may_be_other=is_open)
    return ModelOutput(replace(parameters, origin=origin, scalar=None))


def method(model: Model, name: str, given: CallSite) -> Value:
    """The result of `model.name(…)`."""
    if name in mutations.STAYING:
        return model
    if name in _CASTS:
        origin = given.origin(f"{_CASTS[name]} is chosen here", "dtype")
        return _cast(model, tensor(_CASTS[name], origin=origin), given)
    parameters = model.parameters
    of_checkpoint = given.origin(_OF_THE_MODEL, "weights")
    weight = replace(parameters, origin=parameters.origin or of_checkpoint)
    kind = _SEEN_PART if model.name == SEEN else None
    part = Model(weight, kind, is_known=model.is_known, kin=model.kin)
    match name:
        case "to" | "type":
            return _moved(model, given)
        case mutations.ADAPTING:
            return training.with_adapter(model, given)
        case "state_dict" if not _may_hold_integers(model):
            return Dictionary(weight)
        case "state_dict":
            return Dictionary(replace(weight, may_be_other=True))
        case _ if name in _PARAMETERS:
            return Sequence(weight)
        case _ if name in _NAMED:
            return Sequence(Sequence(UNKNOWN, (NON_TENSOR, weight)))
        case _ if name in _MODULES or name in PARTS or name == "get_submodule":
            return Sequence(part) if name in _MODULES else part
        case "values" if model.name in _CONTAINERS:
            return Sequence(part)
        case "items" if model.name in _CONTAINERS:
            return Sequence(Sequence(UNKNOWN, (NON_TENSOR, part)))
        case _ if name in _NAMED_MODULES:
            return Sequence(Sequence(UNKNOWN, (NON_TENSOR, part)))
        case "generate" if _is_on(given, "return_dict_in_generate"):
            return _generated(output(model, given))
    if sources.OUTPUT_METHOD.search(name):
        returned = output(model, given)
        return _guessed(returned) if name == sources.FEATURES else returned
    if sources.NORM.search(name):
        return called(replace(part, name=_INNER_NORM), given)
    return UNKNOWN


def _guessed(returned: ModelOutput) -> ModelOutput:
    """What autocast may have left in float32, as the stream of residuals mostly is."""
    origin = returned.tensor.origin
    if origin is None or origin.kind != "autocast":
        return returned
    return ModelOutput(replace(returned.tensor, origin=replace(origin, is_guess=True)))


def _may_hold_integers(model: Model) -> bool:
    """True unless all layers are known: of those of torch, `BatchNorm` has an integer buffer."""
    return not model.is_known or any("Batch" in name for name in (model.name or "", *model.layers))


def _is_on(given: CallSite, keyword: str) -> bool:
    argument = given.keywords.get(keyword)
    return argument is not None and argument.value == Constant(True)


def _generated(returned: ModelOutput) -> Dictionary:
    """What `generate` of transformers returns (5.23): scores and logits are float32."""
    of_layers = Sequence(returned)
    fields: dict[object, Value] = {
        "sequences": tensor(INT64),
        "scores": Sequence(tensor(FLOAT32)),
        "logits": Sequence(tensor(FLOAT32)),
        "sequences_scores": tensor(FLOAT32),
        "beam_indices": tensor(INT64),
        **dict.fromkeys(
            (
                "hidden_states",
                "encoder_hidden_states",
                "decoder_hidden_states",
                "attentions",
                "encoder_attentions",
                "decoder_attentions",
                "cross_attentions",
            ),
            of_layers,
        ),
    }
    return Dictionary(join_all([UNKNOWN, *fields.values()]), tuple(fields.items()))


def _cast(model: Model, parameters: Tensor, given: CallSite) -> Model:
    """A module whose parameters are all cast."""
    is_widened = parameters.must_be(_FLOAT32)
    place = given.origin(CAST, "dtype")
    return replace(model, parameters=parameters, cast=place, is_widened=is_widened, is_given=False)


def _moved(model: Model, given: CallSite) -> Model:
    """`model.to(…)`: a dtype is taken on, an unknown argument that is no device may be one."""
    for key, argument in [*enumerate(given.arguments), *given.keywords.items()]:
        match argument.value:
            case Dtype() as dtype:
                return _cast(model, dtype.of_tensor(), given)
            case Setting() as setting if is_setting_of_dtype(setting):
                return _cast(model, functions.as_dtype(setting).of_tensor(), given)
            case Tensor() as other:
                return _cast(model, other, given)
            case Variable() as term if key == "dtype":
                return _cast(model, functions.as_dtype(term).of_tensor(), given)
            case Constant() | NonTensor():
                continue
        if key != "device" and not _DEVICE.search(given.source[argument.span]):
            chosen = model.parameters.clauses | clauses_of(argument.value)
            weights = replace(model.parameters, caller_chosen=True, clauses=chosen)
            return replace(model, parameters=weights)
    return model


def attribute(model: Model, name: str, origin: Origin) -> Value:
    """`model.name`: a parameter, or a module inside."""
    if name in sources.WEIGHTS:
        return replace(model.parameters, origin=model.parameters.origin or origin, scalar=False)
    if name == "dtype":
        weights = model.parameters.dtype()
        is_chosen = weights.origin is not None and weights.origin.kind == "dtype"
        return weights if is_chosen else replace(weights, origin=origin)
    if name in sources.PLAIN_ATTRIBUTES or name == "generate":  # a method that gives token ids
        return UNKNOWN
    if sources.BESIDE_MODULES.search(name):
        return UNKNOWN
    kind = _INNER_NORM if sources.NORM.search(name) else None
    parameters = model.parameters
    if model.name is not None:  # it is made in the code, and so is what is inside
        parameters = replace(parameters, origin=parameters.origin or origin)
    widens = widens_inside(model, name)
    return Model(parameters, kind, widens=widens, is_known=model.is_known, kin=model.kin)


def adds_float32(model: Model, given: CallSite) -> bool:
    """True for logits to which a buffer is added that autocast does not cast."""
    is_half = model.parameters.must_be(HALF)
    return model.name == WITH_BUFFER and given.autocast is not None and not is_half


def widens_inside(model: Model, name: str) -> bool:
    """True if a module inside returns float32, since the whole one does.

    Vision-language models return the logits of their `language_model` (transformers 4.45.2).
    """
    return model.widens and name == "language_model"


def of_output(output: ModelOutput, name: str, step: Step | None = None) -> Value:
    """`outputs.name` or `outputs["name"]`: ids and masks are integers, the rest is floating.

    Models of transformers and diffusers name their outputs: what is read by such a name is of one.
    """
    if name in sources.TOKENS or sources.INTEGRAL_NAME.search(name) or name in sources.IDS:
        return tensor(INT64)
    if name in sources.PLAIN_ATTRIBUTES:
        return UNKNOWN
    held = output.tensor
    if held.origin is not None and name in sources.OUTPUTS | sources.OUTPUT_SEQUENCES:
        named = ModelOutput(replace(held, origin=replace(held.origin, is_guess=False)))
        output = _guessed(named) if name in sources.WIDE_UNDER_AUTOCAST else named
    if _is_data(held):
        return as_weights(output) if _OF_WEIGHTS.search(name) else _of_results(held)
    return output if step is None else output_after(output, step)


def as_weights(output: ModelOutput) -> ModelOutput:
    """What is read from a file as weights are: all entries alike, or one under a computed key.

    Other data can be anything that the program has saved: no key says that weights are among it.
    """
    held = output.tensor
    if held.origin is None or not _is_data(held):
        return output
    return ModelOutput(replace(held, origin=replace(held.origin, kind="checkpoint")))


def under_own_names(output: ModelOutput) -> Value | None:
    """What a program has saved, with a name for each value: they are not all alike.

    None for what is no such data.
    """
    return Sequence(_of_results(output.tensor)) if _is_data(output.tensor) else None


def _of_results(held: Tensor) -> ModelOutput:
    """An entry under a name that is not one of weights: what is in it are no weights either."""
    origin = None if held.origin is None else replace(held.origin, is_guess=True)
    return ModelOutput(replace(held, origin=origin))


def _is_data(held: Tensor) -> bool:
    origin = held.origin
    return origin is not None and origin.kind == "data" and not origin.is_guess
