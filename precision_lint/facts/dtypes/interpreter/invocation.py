"""What a call gives: the callee is found, the arguments are evaluated, the call is reported."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal

from precision_lint.facts.dtypes._generated.operators import METHODS
from precision_lint.facts.dtypes.domain.calls import Argument, CallSite, Rejection
from precision_lint.facts.dtypes.domain.containers import in_containers, item_of, with_default
from precision_lint.facts.dtypes.domain.environment import Environment, bind, replace_everywhere
from precision_lint.facts.dtypes.domain.lattice import join_all, reading
from precision_lint.facts.dtypes.domain.terms import Step
from precision_lint.facts.dtypes.domain.values import (
    BOTTOM,
    NON_TENSOR,
    UNKNOWN,
    Bottom,
    ClassObject,
    Constant,
    Dictionary,
    Dtype,
    FunctionValue,
    Instance,
    LibraryObject,
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
    as_variable,
    caller_chosen,
    tensor,
)
from precision_lint.facts.dtypes.interpreter import (
    attributes,
    builders,
    casts,
    contexts,
    defaults,
    handing,
    hooking,
    iterating,
    loaded_in_half,
    methods,
    models,
    parsed_files,
    pretrained,
    record_fields,
    sections,
    standard,
    training,
)
from precision_lint.facts.dtypes.interpreter.attributes import named
from precision_lint.facts.dtypes.interpreter.protocols import Evaluate, Interprocedural
from precision_lint.facts.dtypes.libraries.terms import Checkpoint, Library, Loaded
from precision_lint.facts.dtypes.operators import functions, lookup
from precision_lint.facts.dtypes.operators.autocast import opened, opened_by
from precision_lint.facts.dtypes.operators.module_inputs import rejected
from precision_lint.facts.dtypes.syntax import mutations, sources
from precision_lint.facts.dtypes.syntax.file_names import file_name, name_written
from precision_lint.facts.dtypes.syntax.mutations import ADAPTING, changed
from precision_lint.facts.dtypes.syntax.own_attributes import MODULE_STATE
from precision_lint.facts.origin import Origin, Setting
from precision_lint.source.python.syntax import dotted, innermost_name, last_name

_APPLYING = frozenset({"map", "starmap", "filter", "imap", "imap_unordered"})
_TENSOR_ONLY = frozenset({"cpu", "detach", "cuda", "numpy", "float", "half", "bfloat16"})
_CONTAINERS: dict[str, Sequence | Dictionary] = {
    "ModuleDict": Dictionary(BOTTOM, ()),
    "ModuleList": Sequence(BOTTOM, ()),
    "ParameterDict": Dictionary(BOTTOM, ()),
    "ParameterList": Sequence(BOTTOM, ()),
}
"""Classes of torch that hold what a list or a mapping does, and what they are when empty."""

_OF_CONTAINERS = frozenset(
    {"append", "extend", "get", "insert", "items", "keys", "pop", "setdefault", "update", "values"}
)
"""Methods that these have as containers, and not as modules."""

_CASTING = frozenset({"to", "half", "bfloat16", "float"})
_DATA = ("Dataset", "IterableDataset", "LightningDataModule")
_OF_THE_BUFFERS = "parameters and buffers have the dtype that their module is moved to"
_CHOSEN_ON_LOAD = "the checkpoint chooses the dtype"
_LOADING = frozenset(
    {
        "torch.distributed.checkpoint.load",
        "accelerate.utils.load_state_dict", "transformers.modeling_utils.load_state_dict",
    }
)  # fmt: skip


_WRITING = frozenset({"torch.save", "safetensors.torch.save_file"})
_READING = frozenset({"torch.load", "safetensors.torch.load_file"})


def call(evaluator: Evaluate, node: ast.Call, env: Environment) -> Value:
    """The value of a call."""
    receiver, function = _callee(evaluator, node, env)
    given = call_site(evaluator, node, env)
    evaluator.analysis.records.call(evaluator.frame, node, function, receiver, given, env)
    if "**" in given.keywords:
        given = sections.with_keys(evaluator, node, function, given)
        given = replace(given, keywords=_spread(given.keywords))
    result = applied(evaluator, node, receiver, function, given, env)
    result = casts.with_kin(node, receiver, function, given, result)
    casts.cast_in_place(evaluator, node, receiver, function, result, env)
    training.apply_casts(evaluator, node, function, env)
    out = given.keywords.get("out")
    if out is not None and isinstance(out.value, Tensor):  # it takes the result's shape
        replace_everywhere(out.value, replace(out.value, scalar=None), env)
    return result


def call_site(evaluator: Evaluate, node: ast.Call, env: Environment) -> CallSite:
    """What a call gives."""
    arguments = tuple(each for one in node.args for each in _given(evaluator, one, env))
    keywords = {
        keyword.arg or "**": Argument(
            evaluator(keyword.value, env), evaluator.span_of(keyword.value), keyword.arg is None
        )
        for keyword in node.keywords
    }
    return CallSite(
        evaluator.source,
        evaluator.span_of(node.func),
        arguments,
        keywords,
        evaluator.frame.region,
        _default_dtype(evaluator, node),
        tuple(evaluator.frame.guards),
    )


def _default_dtype(evaluator: Evaluate, node: ast.Call) -> str:
    """The default dtype at a call: what its file sets, or the linted one."""
    defaults = evaluator.frame.module.default_dtypes
    return evaluator.analysis.default_dtype if defaults is None else defaults.at(node)


def _given(evaluator: Evaluate, argument: ast.expr, env: Environment) -> Iterator[Argument]:
    """An argument; each of those that a starred one stands for, where no rule sees the call.

    In the run of a program, rules see calls with all that they are given.
    """
    span = evaluator.span_of(argument)
    is_open = evaluator.analysis.is_program_run or not evaluator.frame.records
    if isinstance(argument, ast.Starred) and is_open:
        match reading(evaluator(argument.value, env)):
            case Sequence(items=tuple(items)):
                yield from (Argument(item, span) for item in items)
                return
    yield Argument(evaluator.spread(argument, env), span, isinstance(argument, ast.Starred))


def _spread(keywords: Mapping[str, Argument]) -> dict[str, Argument]:
    """Keyword arguments with the items of `**mapping`, where they are known."""
    spread: dict[str, Argument] = {}
    for name, argument in keywords.items():
        match name, argument.value:
            case "**", Dictionary(items=tuple(items)):
                spread |= {str(key): Argument(held, argument.span) for key, held in items}
            case _:
                spread[name] = argument
    return spread


def _callee(evaluator: Evaluate, node: ast.Call, env: Environment) -> tuple[Value, Value]:
    """What stands before the dot, and what is called."""
    function = node.func
    if not isinstance(function, ast.Attribute):
        return UNKNOWN, evaluator.read(function, env)
    match function.value:
        case ast.Call(func=ast.Name(id="super")):
            evaluator(function.value, env)
            frame = evaluator.frame
            return UNKNOWN, evaluator.analysis.classes.inherited(frame, function.attr, env)
    receiver = evaluator.read(function.value, env)
    path = dotted(function)
    if path is not None and path in env:
        return receiver, reading(env[path])
    return receiver, member(evaluator, receiver, function)


def member(evaluator: Evaluate, receiver: Value, function: ast.Attribute) -> Value:
    """What `receiver.name` is that is called; unknown for what is no definition of the project."""
    match receiver:
        case Symbol(name=name):
            return named(evaluator, f"{name}.{function.attr}", function)
        case Instance():
            found = evaluator.analysis.instances.attribute(receiver, function.attr)
            return reading(found or UNKNOWN)
        case ClassObject(definition=definition):
            found = evaluator.analysis.instances.of_class(definition, function.attr)
            return reading(found or UNKNOWN)
        case Dictionary(items=tuple(items)):
            return reading(dict(items).get(function.attr, UNKNOWN))
        case LibraryObject(name=name):
            return Symbol(f"{name}.{function.attr}")
        case OneOf(members=members):
            return reading(join_all([member(evaluator, each, function) for each in members]))
    return UNKNOWN


def applied(
    evaluator: Evaluate,
    node: ast.Call,
    receiver: Value,
    function: Value,
    given: CallSite,
    env: Environment,
) -> Value:
    """What a call gives; of a variable, the variable that it makes of it."""
    function = as_variable(function)  # nobody calls a tensor: it was a module that was moved
    match receiver, node.func:
        case Tensor(), ast.Attribute(attr=name) if name in models.OF_MODULES:
            receiver = as_variable(receiver)  # no tensor has such a method
        case Model(), ast.Attribute(attr=name) if name not in _OF_ANY_MODULE:
            receiver = as_variable(receiver)  # its class may define the method
    value = _result(evaluator, node, receiver, function, given, env)
    if isinstance(value, Unknown) and evaluator.analysis.is_half_run:
        value = loaded_in_half.looked_up(node, given, value)
    if isinstance(function, Variable):
        evaluator.analysis.records.open_function(evaluator.frame, node, function, given)
        return function.then(_step(evaluator, "call", node, given), value)
    if isinstance(value, Unknown):  # no tensor has such a method
        receiver = as_variable(receiver)
    if isinstance(receiver, Variable) and isinstance(node.func, ast.Attribute):
        evaluator.analysis.records.open_call(evaluator.frame, node, receiver, given)
        return receiver.then(_step(evaluator, "method", node, given), value)
    return value


_OF_ANY_MODULE = models.OF_MODULES | mutations.CHANGING | mutations.STAYING
"""Methods that a module has whatever its class is."""


def _step(
    evaluator: Evaluate, kind: Literal["call", "method"], node: ast.Call, given: CallSite
) -> Step:
    region = None if given.autocast is None else given.autocast.of_step
    module, key = evaluator.frame.module, given.first
    # in a loop over keys, `options.get(key)` is another object for each of them
    name = str(key.value) if isinstance(key, Constant) and kind == "method" else ""
    return Step(kind, node, name=name, operand=given, module=module, region=region)


def _result(
    evaluator: Evaluate,
    node: ast.Call,
    receiver: Value,
    function: Value,
    given: CallSite,
    env: Environment,
) -> Value:
    analysis = evaluator.analysis
    if isinstance(receiver, Bottom) or isinstance(function, Bottom):
        return BOTTOM
    if overriding := _overriding(analysis, receiver, function, node):
        return join_all(
            analysis.summaries.summary(evaluator.frame, each, given, node, env).value
            for each in overriding
        )
    if isinstance(node.func, ast.Name) and node.func.id in _APPLYING and given.arguments:
        return _applied(evaluator, node, node.func.id, given, env)

    def call_with(target: Value, inner: CallSite) -> Value:
        return applied(evaluator, node, UNKNOWN, target, inner, env)

    if isinstance(function, Unknown | Symbol):
        handed = handing.called(last_name(node.func), given, call_with)
        if handed is not None:
            return handed
    match function:
        case Partial(function=called):
            whole = builders.with_arguments(function, given, given.arguments)
            return _result(evaluator, node, UNKNOWN, reading(called), whole, env)
        case OneOf(members=members):
            return join_all(
                _result(evaluator, node, receiver, each, given, env) for each in members
            )
        case FunctionValue():
            return analysis.summaries.summary(evaluator.frame, function, given, node, env).value
        case ClassObject(definition=made_by) if analysis.classes.derives_from(made_by, "TypedDict"):
            return functions.builtin("dict", given)
        case ClassObject():
            made = analysis.instances.made(evaluator.frame, function.definition, given, node, env)
            if made.fields and not analysis.is_program_run:
                handing.call_held(made, given, call_with)
            return made
        case Instance():
            attribute = analysis.instances.attribute
            target = attribute(function, "__call__") or attribute(function, "forward")
            if isinstance(target, FunctionValue):
                output = analysis.summaries.summary(evaluator.frame, target, given, node, env).value
            else:
                output = methods.of_module(function, given)
            return lookup.widened(output) if function.widens else output
    return _of_others(evaluator, node, receiver, function, given.read(), env)


def _of_others(
    evaluator: Evaluate,
    node: ast.Call,
    receiver: Value,
    function: Value,
    given: CallSite,
    env: Environment,
) -> Value:
    """The result of a call of what the project does not define."""
    match function:
        case Model(members=(_, *_)) if len(given.arguments) == 1:
            for member in methods.members_of(function):
                value = applied(evaluator, node, UNKNOWN, member, given, env)
                given = replace(given, arguments=(replace(given.arguments[0], value=value),))
            return given.first
        case Model(widens=widens):
            _reject(evaluator, node, function, given)
            output = models.called(function, given)
            is_wide = widens or models.adds_float32(function, given)
            return lookup.widened(output) if is_wide else output
        case Tensor():  # nobody calls a tensor: it was a module that was moved
            return models.called(Model(function), given)
        case Symbol(name=name):
            return _of_symbol(evaluator, name, node, receiver, given, env)
        case LibraryObject(name=name):
            return _of_symbol(evaluator, f"{name}.__call__", node, function, given, env)
        case Dtype() | NonTensor() | ModelOutput() | Tensor():
            return UNKNOWN if not isinstance(function, NonTensor) else NON_TENSOR
    match node.func:
        case ast.Attribute(attr=name):
            return _of_method(evaluator, name, receiver, given, node, env)
        case ast.Name(id="vars") if isinstance(given.first, Instance):
            return record_fields.of_object(evaluator.analysis, given.first)
        case ast.Name(id="getattr"):
            return _getattr(evaluator, node, given)
        case ast.Name(id=name):
            if sources.MODEL_NAME.search(name):
                return methods.of_named_model(name, given)
            return functions.builtin(name, given)
    return UNKNOWN


def _reject(evaluator: Evaluate, node: ast.Call, model: Model, given: CallSite) -> None:
    """Take down that a layer rejects what it is given; autocast casts for it."""
    dtypes = rejected(model, reading(given.first)) if given.autocast is None else None
    if dtypes is not None:
        span = evaluator.span_of(node)
        place = Origin(evaluator.source, span, f"{dtypes[1]} parameters meet {dtypes[0]} here")
        found = Rejection(place, *dtypes)
        evaluator.analysis.records.rejected(evaluator.frame, node, (found,))


def _of_library(
    evaluator: Evaluate,
    row: Library,
    node: ast.Call,
    receiver: Value,
    given: CallSite,
    env: Environment,
) -> Value:
    """The result of a call that the tables of libraries know, and what it writes."""

    def called(function: Value, inner: CallSite) -> Value:
        return applied(evaluator, node, UNKNOWN, reading(function), inner, env)

    for position, keyword, value in lookup.effects(row, given):
        for target in _given_as(node, position, keyword):
            bind(target, value, env)
    if isinstance(row.gives, Checkpoint) and _is_in_dataset(evaluator):
        return UNKNOWN  # it reads data, and no weights
    if isinstance(row.gives, Loaded):
        given = _with_samples(evaluator, given)
    return lookup.result(row, given, receiver, called)


def _with_samples(evaluator: Evaluate, given: CallSite) -> CallSite:
    """A call of `DataLoader` with the samples of the data set in its place."""

    def samples(argument: Argument) -> Argument:
        return replace(argument, value=iterating.iterated(evaluator.analysis, argument.value))

    keywords = {
        name: samples(each) if name == "dataset" else each for name, each in given.keywords.items()
    }
    return replace(
        given,
        arguments=(*map(samples, given.arguments[:1]), *given.arguments[1:]),
        keywords=keywords,
    )


def _is_in_dataset(evaluator: Evaluate) -> bool:
    """True in the methods of a data set."""
    owner, classes = evaluator.frame.owner, evaluator.analysis.classes
    return owner is not None and any(classes.derives_from(owner, each) for each in _DATA)


def _given_as(node: ast.Call, position: int, keyword: str) -> list[ast.expr]:
    """The variable or attribute that an argument is."""
    given = [each.value for each in node.keywords if each.arg == keyword]
    given += node.args[position : position + 1] if position >= 0 else []
    return [each for each in given if isinstance(each, ast.Name | ast.Attribute)]


def _write(evaluator: Evaluate, node: ast.Call, given: CallSite) -> None:
    """`torch.save(value, path)`: who reads the file gets the value."""
    frame = evaluator.frame
    if (name := name_written(node, frame.module, frame.function)) is not None:
        evaluator.analysis.records.written_to(frame, node, name, given.first)


def _read(evaluator: Evaluate, node: ast.Call) -> Value | None:
    """What `torch.load(path)` gives, if programs of the project write bfloat16 into the file."""
    match [*node.args, *(each.value for each in node.keywords if each.arg in {"f", "filename"})]:
        case [path, *_]:
            frame = evaluator.frame
            name = file_name(path, frame.module, frame.function)
            if name is not None:
                return evaluator.analysis.files.holding_bfloat16(name, frame.module)
    return None


def _of_symbol(
    evaluator: Evaluate,
    name: str,
    node: ast.Call,
    receiver: Value,
    given: CallSite,
    env: Environment,
) -> Value:
    """The result of a function or class of another package."""
    package = name.partition(".")[0]
    if package in _STANDARD:
        found = _of_standard(evaluator, name, node, given, env)
        if found is not None:
            return found
    if name.endswith(".autocast"):
        if isinstance(receiver, LibraryObject):
            return opened_by(receiver, given)
        return opened(name, given)
    if name in _WRITING:
        _write(evaluator, node, given)
    elif name in _READING and (written := _read(evaluator, node)) is not None:
        return written
    last = name.rpartition(".")[2]
    keeps_float32 = evaluator.analysis.configuration.adapts_in_float32
    if (adapted := training.wrapped(last, given, keeps_float32)) is not None:
        return adapted
    row = lookup.of_function(name)
    if row is not None:
        return _of_library(evaluator, row, node, receiver, given, env)
    if name.startswith("torch.nn.") and (made := _of_nn(evaluator, name, given)) is not None:
        return made
    if name in _LOADING:
        value = caller_chosen(given.origin(_CHOSEN_ON_LOAD, "checkpoint"))
        return ModelOutput(value)
    if last == "from_pretrained" and sources.PRETRAINED.search(name):
        return pretrained.loaded(evaluator, name, name, given)
    if sources.CONFIGURED.search(name):
        widens = evaluator.analysis.configuration.widens_logits(f"{name}.from_pretrained")
        return Model(tensor(given.default_dtype), widens=widens, is_known=True)
    if sources.CONFIGURING.search(name):
        return pretrained.configured(evaluator, name, given)
    if last in _APPLYING and given.arguments:
        return _applied(evaluator, node, last, given, env)
    match name:
        case _ if name in builders.NAMESPACES or builders.is_of_outputs(name, given):
            return functions.builtin("dict", given)
        case "collections.defaultdict":
            return _default_dictionary(evaluator, node, given, env)
        case _ if name in record_fields.AS_MAPPING:
            return record_fields.as_mapping(evaluator.analysis, given.first)
        case _ if name in record_fields.AS_TUPLE:
            return record_fields.as_tuple(evaluator.analysis, given.first)
        case _ if name in builders.QUEUES:
            return Sequence(BOTTOM, ())
        case "collections.namedtuple":
            return builders.named_tuple(evaluator, node, given)
        case "functools.partial":
            return builders.partial(given)
        case "typing.cast" if len(given.arguments) > 1:
            return given.arguments[1].value
        case "copy.copy" | "copy.deepcopy":
            return given.first
        case "dataclasses.replace" | "attr.evolve" | "attrs.evolve":
            return methods.with_fields(given.first, given)
        case "os.getenv" | "os.environ.get":
            return builders.environment_variable(evaluator, given)
        case "itertools.chain" if given.arguments:
            return Sequence(join_all([item_of(value) for value in given.values]))
        case "torch.compile" | "torch.jit.script" | "torch.nn.parallel.DistributedDataParallel":
            return given.first
    result = parsed_files.contents(name) or functions.function(name, given)
    if isinstance(result, Unknown) and sources.MODEL_NAME.search(last):
        return methods.of_named_model(last, given)
    return result


def _of_nn(evaluator: Evaluate, name: str, given: CallSite) -> Value | None:
    """What a class of `torch.nn` makes; None for a function."""
    last = name.rpartition(".")[2]
    if name.startswith("torch.nn.functional."):
        return None
    if last in MODULE_STATE:
        data = given.argument(0, "data")
        is_tensor = isinstance(data, Tensor)
        return data if is_tensor else caller_chosen(given.origin(models.OF_THE_WEIGHTS))
    if last in _CONTAINERS:
        held = reading(given.first) if given.arguments else _CONTAINERS[last]
        if isinstance(held, Sequence | Dictionary):
            return held
    if last == "Sequential":
        given = models.with_layers(given)
        if evaluator.analysis.is_program_run and (made := models.sequential(given)) is not None:
            return made
    if last[:1].isupper() and not name.startswith("torch.nn.utils."):
        return models.of_torch(last, given)
    return None


_STANDARD = frozenset({"asyncio", "functools", "heapq", "itertools", "operator"})


def _of_standard(
    evaluator: Evaluate, name: str, node: ast.Call, given: CallSite, env: Environment
) -> Value | None:
    """The result of a function of the standard library that calls others."""

    def called(function: Value, inner: CallSite) -> Value:
        return applied(evaluator, node, UNKNOWN, reading(function), inner, env)

    def method(owner: Value, written: ast.Call, inner: CallSite) -> Value:
        assert isinstance(written.func, ast.Attribute)
        function = member(evaluator, owner, written.func)
        return applied(evaluator, written, owner, function, inner, env)

    if name.endswith("()"):
        return standard.got(evaluator, name, node, given, method)
    return standard.called(evaluator, name, node, given, called)


def _overriding(
    analysis: Interprocedural, receiver: Value, function: Value, node: ast.Call
) -> list[FunctionValue]:
    """What `self.step(x)` runs if the class leaves `step` to its subclasses: methods of these."""
    if not isinstance(receiver, Instance) or not isinstance(node.func, ast.Attribute):
        return []
    is_left = (
        function.definition.is_stub
        if isinstance(function, FunctionValue)
        else (isinstance(function, Unknown))
    )
    return analysis.instances.overriding(receiver, node.func.attr) if is_left else []


def _of_modules(
    evaluator: Evaluate,
    name: str,
    modules: Sequence | Dictionary,
    given: CallSite,
    node: ast.Call,
    env: Environment,
) -> Value:
    """A method of a `ModuleList` or `ModuleDict`: a cast is one of each module in it."""
    if name in mutations.CASTING or name in mutations.STAYING:
        return in_containers(
            lambda one: _of_method(evaluator, name, one, given, node, env), modules
        )
    return models.method(modules.item, name, given) if isinstance(modules.item, Model) else UNKNOWN


def _of_method(
    evaluator: Evaluate,
    name: str,
    receiver: Value,
    given: CallSite,
    node: ast.Call,
    env: Environment,
) -> Value:
    """The result of a method whose definition is not in the project."""
    match name, receiver:
        case "autocast", _:
            return opened("", given)
        case _, Unknown() if name in contexts.ENTERING and given.arguments:
            return contexts.entered(evaluator, given.first)
        case _ if name in hooking.HOOKS:
            _call_hook(evaluator, name, receiver, given, node, env)
            return UNKNOWN
        case _, Model() | Tensor(scalar=None) if (
            name not in METHODS
            and sources.MODEL_NAME.search(name)
            and not sources.MAKING_NAME.search(name)
        ):
            whole = receiver if isinstance(receiver, Model) else Model(receiver)
            output = models.called(Model(whole.parameters), given)  # of a layer
            return lookup.widened(output) if models.widens_inside(whole, name) else output
    match receiver:
        case Model():
            if name in sources.PLAIN_ATTRIBUTES:
                return UNKNOWN
            if (row := lookup.of_method("", name)) is not None:  # of a class that wraps modules
                return lookup.result(row, given, receiver)
            return models.method(receiver, name, given)
        case ModelOutput(tensor=tensor):
            return methods.of_output(receiver, tensor, name, given)
        case Instance() if name in record_fields.OWN:
            return record_fields.as_mapping(evaluator.analysis, receiver)
        case Instance():
            if name in models.OF_ALL_PARTS and isinstance(node.func, ast.Attribute):
                added = env.below(dotted(mutations.changed(node.func.value)[0]))
                receiver = evaluator.analysis.insides.with_weights_of_parts(receiver, added)
            is_seen = name in models.INSIDE and evaluator.analysis.insides.are_seen(receiver)
            return methods.of_instance(receiver, name, given, is_seen=is_seen)
        case OneOf(members=members):
            return join_all(_of_method(evaluator, name, each, given, node, env) for each in members)
        case Sequence() | Dictionary() if name == "copy":
            return receiver
        case Dictionary() if name == "setdefault" and given.arguments:
            changed = with_default(receiver, *given.values[:2])
            replace_everywhere(receiver, changed, env)
            key = given.first
            return changed.of(key.value) if isinstance(key, Constant) else changed.item
        case Sequence(item=Model()) | Dictionary(item=Model()) if name not in _OF_CONTAINERS:
            return _of_modules(evaluator, name, receiver, given, node, env)
        case ClassObject(definition=definition) if name == "from_pretrained":
            loaded = pretrained.of_project(evaluator, definition, given)
            evaluator.analysis.records.module_load(evaluator.frame, node, loaded)
            return loaded
        case Setting() | ClassObject() | FunctionValue():
            return UNKNOWN
        case Unknown():
            return _of_unknown(evaluator, name, receiver, given, node, env)
        case NonTensor() if (setting := _taken_setting(evaluator, name, given, node)) is not None:
            return setting  # out of what `json.load` gives
        case NonTensor(parsed=(_, *_)) if name in _TAKING_OUT and (
            (read := parsed_files.under(evaluator, receiver, given.first)) is not None
        ):
            return read
        case NonTensor(parsed=(_, *_)) if name == "copy":
            return receiver
        case Tensor() if sources.OUTPUT_METHOD.search(name) or name in models.OF_MODULES:
            # a module that was moved, too
            return models.method(Model(receiver), name, given)
    return functions.method(name, receiver, given)


def _call_hook(
    evaluator: Evaluate,
    name: str,
    receiver: Value,
    given: CallSite,
    node: ast.Call,
    env: Environment,
) -> None:
    """`module.register_forward_hook(hook)`: the hook is called as soon as it is registered."""
    handed = hooking.handed(evaluator, name, receiver, given, node)
    if handed is not None:
        inner = replace(given, arguments=handed, keywords={})
        applied(evaluator, node, UNKNOWN, reading(given.first), inner, env)


def _of_unknown(
    evaluator: Evaluate,
    name: str,
    receiver: Value,
    given: CallSite,
    node: ast.Call,
    env: Environment,
) -> Value:
    """A method of an object that nothing is known of: by the names that the field uses."""
    assert isinstance(node.func, ast.Attribute)
    owner = innermost_name(node.func.value)
    row = lookup.of_method(owner, name)
    if row is not None:
        return _of_library(evaluator, row, node, receiver, given, env)
    if name in _APPLYING and len(given.arguments) > 1:  # of a pool of threads
        return _applied(evaluator, node, name, given, env)
    if name in models.PARTS:
        return models.method(Model(caller_chosen()), name, given)
    if sources.MODEL_NAME.search(name) and not given.keywords.keys() & {"return_tensors"}:
        return methods.of_named_model(name, given)
    if sources.MODEL_NAME.search(owner):
        result = models.method(Model(caller_chosen()), name, given)
        if isinstance(result, ModelOutput):
            return result
    if name in _TENSOR_ONLY and methods.owner_is_module(node.func.value):
        return functions.method(name, caller_chosen(given.origin(_OF_THE_BUFFERS)), given)
    if name == ADAPTING:
        return models.method(Model(caller_chosen()), name, given)
    if name in _CASTING and sources.NETWORK_NAME.search(innermost_name(changed(node)[0])):
        moved = models.method(Model(caller_chosen()), name, given)
        if isinstance(moved, Model):  # what is moved to a device alone stays what it is
            return moved if moved.parameters.dtypes else receiver
    if name == "from_pretrained" and sources.PRETRAINED.search(f"{owner}.{name}"):
        return pretrained.loaded(evaluator, "", f"{owner}.{name}", given)
    if name == "state_dict" and not given.arguments:
        return Dictionary(caller_chosen(given.origin(models.OF_THE_WEIGHTS, "weights")))
    if (setting := _taken_setting(evaluator, name, given, node)) is not None:
        return setting
    if name in _TAKING_OUT and len(given.arguments) > 1 and not isinstance(receiver, Variable):
        default = given.arguments[1]
        return defaults.or_default(UNKNOWN, default.value, given.source, default.span)
    return functions.method(name, UNKNOWN, given)


def _taken_setting(
    evaluator: Evaluate, name: str, given: CallSite, node: ast.Call
) -> Setting | None:
    """What the project says of a setting that is read by `cfg.get("dtype")` or taken out."""
    match node.func, given.first:
        case ast.Attribute(value=owner), Constant(value=str(key)) if name in _TAKING_OUT:
            path = dotted(ast.Subscript(owner, ast.Constant(key), ast.Load()))
            return evaluator.analysis.configuration.setting(evaluator.frame.module, path)
    return None


_TAKING_OUT = frozenset({"get", "pop"})
"""Methods of mappings that give what is under a key."""


def _getattr(evaluator: Evaluate, node: ast.Call, given: CallSite) -> Value:
    match given.values:
        case [Symbol(name=name), Constant(value=str(attribute)), *_]:
            return named(evaluator, f"{name}.{attribute}", node)
        case [Symbol(name="torch"), setting, *_]:
            return functions.as_dtype(setting)
        case [owner, Constant(value=str(attribute)), *rest]:
            read = ast.Attribute(node.args[0], attribute, ast.Load())
            ast.copy_location(read, node)
            found = attributes.attribute(evaluator, owner, read)
            if not rest:
                return found
            if isinstance(owner, Variable) and isinstance(found, Variable):
                step = Step("attribute", read, operand=rest[0], module=evaluator.frame.module)
                return owner.then(step)
            return defaults.or_default(found, rest[0], given.source, given.arguments[2].span)
    return UNKNOWN


def _default_dictionary(
    evaluator: Evaluate, node: ast.Call, given: CallSite, env: Environment
) -> Dictionary:
    """`defaultdict(list)`, `defaultdict(lambda: torch.zeros(2))`."""
    match node.args:
        case [ast.Name(id="list" | "set"), *_]:
            default: Value = Sequence(BOTTOM, ())
        case [ast.Name(id="dict"), *_]:
            default = Dictionary(BOTTOM, ())
        case [_, *_]:
            empty = replace(given, arguments=(), keywords={})
            default = applied(evaluator, node, UNKNOWN, reading(given.first), empty, env)
        case _:
            default = BOTTOM
    return Dictionary(default, (), default)


def _applied(
    evaluator: Evaluate, node: ast.Call, name: str, given: CallSite, env: Environment
) -> Value:
    """`map(f, xs)` and its like: `f` is called with each item."""
    items = [item_of(value) for value in given.values[1:]]
    if name == "filter":
        return Sequence(items[0]) if items else UNKNOWN
    if name == "starmap" and items:
        match reading(items[0]):
            case Sequence(items=tuple(values)):
                items = list(values)
            case _:
                return UNKNOWN
    function = reading(given.first)
    inner = replace(
        given,
        arguments=tuple(Argument(item, given.span) for item in items),
        keywords={},
    )
    if isinstance(function, Partial):
        inner = builders.with_arguments(function, inner, inner.arguments)
        function = reading(function.function)
    match function:
        case FunctionValue():
            return Sequence(
                evaluator.analysis.summaries.summary(
                    evaluator.frame, function, inner, node, env
                ).value
            )
        case Symbol(name=symbol) if symbol.partition(".")[0] in _STANDARD:
            found = _of_standard(evaluator, symbol, node, inner.read(), env)
            return UNKNOWN if found is None else Sequence(found)
        case Symbol(name=symbol):
            return Sequence(functions.function(symbol, inner.read()))
    return UNKNOWN
