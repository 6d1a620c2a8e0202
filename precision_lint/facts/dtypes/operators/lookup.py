"""What a call of a library gives: the row of its name, and its value.

The door for the dtype flow:

- `of_function(name)` finds the row of a qualified name: of a function, of a class (its call makes
  an object or wraps a module), or of a method, `accelerate.Accelerator.gather`, where the class of
  the object is known (`torchvision.transforms.ToTensor.__call__` if the object itself is called).
- `of_method(owner, method)` finds the row of a method of an object of unknown class, by the name of
  the variable or attribute that holds it (`accelerator.gather`), or by the method alone where no
  other library has such a name (`gather_for_metrics`).
- `result(row, given, receiver, call)` is the value that the row says; `effects(row, given)` are
  the values that the call leaves in its arguments.

A row whose `gives` is an `Object` says that the call makes an object of a class of which methods
are known, here or among the sinks, by the name of the class and the method: `faiss.Index.add`,
`torchvision.transforms.ToPILImage.__call__`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from precision_lint.facts.dtypes.domain.calls import Argument, CallSite
from precision_lint.facts.dtypes.domain.containers import item_of
from precision_lint.facts.dtypes.domain.lattice import by_facet, join_all, join_tensors, reading
from precision_lint.facts.dtypes.domain.terms import Step
from precision_lint.facts.dtypes.domain.values import (
    BOTTOM,
    NON_TENSOR,
    UNKNOWN,
    WITHOUT_HEAD,
    Bottom,
    Constant,
    Dictionary,
    Instance,
    LibraryObject,
    Model,
    ModelOutput,
    NonTensor,
    Sequence,
    Tensor,
    Value,
    Variable,
    caller_chosen,
    tensor,
)
from precision_lint.facts.dtypes.libraries import (
    images,
    networks,
    objects,
    parallel,
    standard,
    tensors,
    torch_helpers,
)
from precision_lint.facts.dtypes.libraries.terms import (
    Alone,
    Anything,
    Cast,
    Checkpoint,
    Collated,
    Default,
    Distribution,
    Either,
    Fixed,
    FromArray,
    Given,
    Item,
    Library,
    Loaded,
    Many,
    Mapped,
    Member,
    Network,
    NotATensor,
    Object,
    Option,
    Prepared,
    Receiver,
    Rest,
    Result,
    Stacked,
    Term,
    Torch,
    Tuple,
    Weights,
    Widened,
    Zipped,
)
from precision_lint.facts.dtypes.operators import functions
from precision_lint.facts.dtypes.operators.promotion import promote
from precision_lint.facts.origin import Kind
from precision_lint.model.dtypes import BFLOAT16, FLOAT16, FLOAT32, INT64

Call = Callable[[Value, CallSite], Value]
"""Calls a function or module of the flow."""

OF_CHECKPOINT = "the checkpoint chooses the dtype"

TABLES = (standard, torch_helpers, parallel, tensors, images, networks, objects)

ROWS: Mapping[str, Library] = {
    f"{module}.{name}": row
    for table in TABLES
    for row in table.ROWS
    for module in row.modules.split()
    for name in row.names.split()
}
"""By qualified name."""

_PATTERNS: Mapping[str, tuple[tuple[re.Pattern[str], Library], ...]] = networks.PATTERNS
"""Rows of many classes of one package."""

_PARAMETERS = frozenset({"loc", "scale", "low", "high", "rate", "base_distribution"})
"""The keywords of distributions that are parameters."""

_OWNERS: Mapping[str, str] = {
    "accelerator": "accelerate.Accelerator",
    "fabric": "lightning.fabric.Fabric",
}
"""What holds an object of a class is named like this."""

_ALONE: Mapping[str, str] = {
    **dict.fromkeys(
        ("gather_for_metrics", "pad_across_processes", "unwrap_model"), "accelerate.Accelerator"
    ),
    "get_base_model": "peft.PeftModel",
    "merge_and_unload": "peft.LoraModel",
}
"""Methods that only one class has."""


def of_function(name: str) -> Library | None:
    """The row of a qualified name; None if nothing is known."""
    found = ROWS.get(name)
    if found is not None:
        return found
    package = name.partition(".")[0]
    return next(
        (row for pattern, row in _PATTERNS.get(package, ()) if pattern.fullmatch(name)), None
    )


def of_method(owner: str, method: str) -> Library | None:
    """The row of a method of an object of unknown class, held by a variable of the name `owner`."""
    holder = _OWNERS.get(owner.lstrip("_"), _ALONE.get(method))
    return None if holder is None else ROWS.get(f"{holder}.{method}")


def result(
    row: Library,
    given: CallSite,
    receiver: Value = UNKNOWN,
    call: Call = lambda _, __: UNKNOWN,
) -> Value:
    """The value of a call of what the row describes; `given` is without the receiver."""
    return _Reading(given, receiver, call).of(row.gives)


def effects(row: Library, given: CallSite) -> Iterator[tuple[int, str, Value]]:
    """Position and keyword of the arguments that the call writes into, and their values then."""
    if row.effect is not None:
        into = row.effect.into
        value = _Reading(given, UNKNOWN, lambda _, __: UNKNOWN).of(row.effect.value)
        yield into.position, into.keyword, value


class _Reading:
    """Terms read at one call."""

    def __init__(self, given: CallSite, receiver: Value, call: Call) -> None:
        self.given = given
        self.receiver = receiver
        self.call = call

    def of(self, term: Term) -> Value:
        match term:
            case Given(position, keyword):
                return self.given.argument(position, keyword)
            case Rest(start):
                return self._rest(start)
            case Receiver():
                return self.receiver
            case Alone(of):
                value = self.of(of)
                match value:
                    case Sequence(items=(only,)):
                        return only
                return value
            case Item(Given() as argument) if self._is_absent(argument):
                return BOTTOM
            case Item(of):
                return by_facet(item_of, self.of(of))
            case Member(of, index):
                return _member(self.of(of), index)
            case Many(of):
                return Sequence(self.of(of))
            case Tuple(of):
                items = tuple(map(self.of, of))
                return Sequence(join_all(items), items)
            case Zipped(of):
                return _zipped(self.of(of))
        return self._computed(term)

    def _computed(self, term: Term) -> Value:
        match term:
            case Stacked(of):
                return self._stacked(self.of(of))
            case Collated(of):
                return self._collated(item_of(self.of(of)))
            case Loaded(dataset):
                return self._loaded(self.of(dataset))
            case Torch(function, arguments):
                return functions.function(f"torch.{function}", self._with(self.of(arguments)))
            case Distribution(parameters):
                return self._distribution(self.of(parameters))
            case Result(function, arguments):
                return self.call(self.of(function), self._with(self.of(arguments)))
            case Mapped(function, of):
                return self._mapped(self.of(function), self.of(of))
            case Widened(of):
                return widened(self.of(of))
            case Prepared(of):
                return self._prepared(self.of(of))
            case Cast(of, dtype, default):
                return self._cast(self.of(of), dtype, default)
            case Option(argument, terms, absent):
                return self._chosen(argument, terms, absent)
        return self._fixed(term)

    def _fixed(self, term: Term) -> Value:
        match term:
            case Fixed(dtype):
                return tensor(dtype)
            case FromArray(of):
                return functions.function("torch.from_numpy", self._with(Sequence(self.of(of))))
            case Checkpoint(kind):
                loaded: Kind = "data" if kind == "anything" else "checkpoint"
                saved = caller_chosen(self.given.origin(OF_CHECKPOINT, loaded))
                return Dictionary(saved) if kind == "mapping" else ModelOutput(saved)
            case Default():
                return tensor(self.given.default_dtype)
            case Network(dtype, kind, headless):
                is_headless = headless is not None and self._is_headless(*headless)
                kind = WITHOUT_HEAD if is_headless else kind
                return Model(self._parameters(dtype), kind, is_known=True)
            case Weights(of):
                return self._of_parameters(self.of(of))
            case Either(terms):
                return join_all(map(self.of, terms))
            case NotATensor(dtype):
                return NonTensor(frozenset({dtype}), False) if dtype else NON_TENSOR
            case Object(name, precision):
                text = self._text(precision)
                if not text and name == parallel.ACCELERATOR and self._leaves_to_launch():
                    text = parallel.UNKNOWN_PRECISION
                return LibraryObject(name, text)
            case Anything():
                return UNKNOWN
        raise TypeError(term)

    def _is_headless(self, classes: Given, name: Given) -> bool:
        """True for `num_classes=0`, and for a model of the hub whose settings may say so."""
        given = self.given.argument(classes.position, classes.keyword)
        if given != UNKNOWN:
            return given == Constant(0)
        return self._text(name).startswith(("hf-hub:", "hf_hub:"))

    def _text(self, argument: Given | None) -> str:
        """The text that an argument is; nothing where it is absent."""
        if argument is None or not self._is_given(argument):
            return ""
        match self.given.argument(argument.position, argument.keyword):
            case Constant(value=str(text)):
                return text
            case Constant(value=None):
                return ""
        return parallel.UNKNOWN_PRECISION

    def _leaves_to_launch(self) -> bool:
        """True for a program that reads which precision `accelerate launch` gave it."""
        return ".mixed_precision" in self.given.source.text

    def _prepared(self, value: Value) -> Value:
        library, precision = preparing(self.receiver)
        return prepared(value, library, precision)

    def _parameters(self, dtype: Given | None) -> Tensor:
        if dtype is not None and self._is_given(dtype):
            named = self.given.argument(dtype.position, dtype.keyword)
            if named != Constant(None):
                return functions.as_dtype(named).of_tensor()
        return tensor(self.given.default_dtype)

    def _of_parameters(self, module: Value) -> Value:
        match module:
            case Model(parameters=parameters):
                return replace(parameters, scalar=False)
        return caller_chosen(self.given.origin(OF_CHECKPOINT, "load"))

    def _is_given(self, argument: Given) -> bool:
        return argument.keyword in self.given.keywords or (
            0 <= argument.position < len(self.given.arguments)
        )

    def _is_absent(self, argument: Given) -> bool:
        return self.given.find(argument.position, argument.keyword) is None

    def _rest(self, start: int) -> Sequence:
        """The positional arguments; of a star, what it yields, any number of times."""
        arguments = self.given.arguments[start:]
        item = join_all([one.value for one in arguments])
        if any(one.starred for one in self.given.arguments):
            return Sequence(item)
        return Sequence(item, tuple(one.value for one in arguments))

    def _with(self, arguments: Value) -> CallSite:
        """The call with other arguments, all by position."""
        match arguments:
            case Sequence(items=tuple(items)):
                given = tuple(Argument(item, self.given.span) for item in items)
            case _:
                given = (Argument(item_of(arguments), self.given.span, starred=True),)
        return replace(self.given, arguments=given, keywords={})

    def _stacked(self, value: Value) -> Value:
        match reading(value):
            case Sequence() as several:
                listed = Sequence(several, (several,))
                return functions.function("torch.stack", self._with(listed))
            case single:
                return single

    def _distribution(self, parameters: Value) -> Value:
        """What a distribution gives: `sample` and `mean` have the dtype of its first parameter."""
        keywords = [one.value for name, one in self.given.keywords.items() if name in _PARAMETERS]
        match parameters:
            case Sequence(items=tuple(items)) if given := (*items, *keywords):
                default = self.given.default_dtype
                made = join_tensors(promote(given, default), promote(given[:1], default))
                return ModelOutput(replace(made, scalar=None))
        return UNKNOWN

    def _collated(self, sample: Value) -> Value:
        """A batch of samples that are like this one."""
        match reading(sample):
            case Tensor() as one:
                return replace(one, scalar=False)
            case NonTensor(dtypes=dtypes, scalar=False) if dtypes:
                return tensor(*dtypes)
            case NonTensor():
                return UNKNOWN  # an array, or a number, which becomes float64 or int64
            case Constant(value=bool() | int() as number):
                return tensor("bool" if isinstance(number, bool) else INT64)
            case Constant(value=float()):
                return tensor("float64")
            case Sequence(item=item, items=items):
                parts = None if items is None else tuple(map(self._collated, items))
                return Sequence(self._collated(item) if parts is None else join_all(parts), parts)
            case Dictionary(item=item, items=items):
                if items is None:
                    return Dictionary(self._collated(item))
                held = tuple((key, self._collated(one)) for key, one in items)
                return Dictionary(join_all([one for _, one in held]), held)
        return UNKNOWN

    def _loaded(self, dataset: Value) -> Value:
        sample = item_of(dataset)
        collate = self.given.argument(6, "collate_fn")
        if "collate_fn" in self.given.keywords and collate != Constant(None):
            return Sequence(self.call(collate, self._with(Sequence(UNKNOWN, (Sequence(sample),)))))
        if self.given.argument(1, "batch_size") == Constant(None):
            return Sequence(sample)
        return Sequence(self._collated(sample))

    def _mapped(self, function: Value, value: Value) -> Value:
        """The function of each leaf."""
        match reading(value):
            case Sequence(item=item, items=items):
                parts = None if items is None else tuple(self._mapped(function, x) for x in items)
                whole = self._mapped(function, item) if parts is None else join_all(parts)
                return Sequence(whole, parts)
            case Dictionary(item=item, items=items):
                if items is None:
                    return Dictionary(self._mapped(function, item))
                held = tuple((key, self._mapped(function, one)) for key, one in items)
                return Dictionary(join_all([one for _, one in held]), held)
            case leaf:
                return self.call(function, self._with(Sequence(leaf, (leaf,))))

    def _cast(self, value: Value, dtype: Given, default: str) -> Value:
        named = self.given.argument(dtype.position, dtype.keyword)
        match named:
            case Bottom():
                return value
            case _ if self._is_given(dtype):
                return functions.as_dtype(named).of_tensor()
        return tensor(default) if default else value

    def _chosen(
        self, argument: Given, terms: tuple[tuple[object, Term], ...], absent: Term
    ) -> Value:
        """The term for the value of an argument; of several where that is not known."""
        has_stars = "**" in self.given.keywords or any(one.starred for one in self.given.arguments)
        if not self._is_given(argument) and not has_stars:
            return self.of(absent)
        match self.given.argument(argument.position, argument.keyword):
            case Constant(value=value):
                return self.of(dict(terms).get(value, absent))
        return join_all([self.of(absent), *(self.of(term) for _, term in terms)])


def _member(value: Value, index: int) -> Value:
    match reading(value):
        case Sequence(items=tuple(items)) if index < len(items):
            return items[index]
        case Sequence(item=item):
            return item
    return UNKNOWN


def _zipped(iterables: Value) -> Value:
    match iterables:
        case Sequence(items=tuple(items)):
            members = tuple(by_facet(item_of, item) for item in items)
            return Sequence(join_all(members), members)
        case Sequence(item=item):
            return Sequence(by_facet(item_of, item))
    return UNKNOWN


_WIDENED = frozenset({BFLOAT16, FLOAT16})


def preparing(receiver: Value) -> tuple[str, str]:
    """The library and the precision of what prepares modules; any precision, if not known."""
    match receiver:
        case LibraryObject(name, precision) if name in parallel.WIDENING:
            return name, precision
    return parallel.ACCELERATOR, parallel.UNKNOWN_PRECISION


def prepared(value: Value, library: str, precision: str) -> Value:
    """A module as an object of a library prepares it for a precision, inside of containers, too."""
    match value:
        case Model() | Instance() as module:
            dtype = parallel.CASTING.get(library, {}).get(precision)
            if dtype is not None:
                module = replace(module, parameters=tensor(dtype))
            widens = precision in parallel.WIDENING[library]
            if precision == parallel.UNKNOWN_PRECISION:
                widens = not _stores_half(module)
            return replace(module, widens=module.widens or widens)
        case Sequence(item=item, items=items):
            parts = None if items is None else tuple(prepared(x, library, precision) for x in items)
            whole = prepared(item, library, precision) if parts is None else join_all(parts)
            return Sequence(whole, parts)
        case Variable():
            return value.then(Step("prepared", name=f"{library} {precision}"))
    return value


def _stores_half(module: Model | Instance) -> bool:
    """True if the weights of a module are in half precision in every run.

    What makes them half precision in some runs is mostly the setting that also enables autocast.
    """
    weights = module.parameters
    return weights is not None and weights.must_be(_WIDENED)


def widened(value: Value) -> Value:
    """A value with the half tensors in it as float32: what accelerate makes of model outputs."""
    return by_facet(_widened, value)


def _widened(value: Value) -> Value:
    match value:
        case Tensor(dtypes=dtypes, caller_chosen=chosen):
            if not chosen and not dtypes & _WIDENED:
                return value
            of_caller = {"float64"} if chosen else set()
            known = dtypes - _WIDENED | {FLOAT32} | of_caller
            return replace(value.decided(), dtypes=known)
        case ModelOutput(tensor=inner):
            whole = widened(inner)
            return ModelOutput(whole) if isinstance(whole, Tensor) else UNKNOWN
        case Sequence(item=item, items=items):
            parts = None if items is None else tuple(map(widened, items))
            return Sequence(widened(item), parts)
        case Dictionary(item=item, items=items):
            held = None if items is None else tuple((key, widened(one)) for key, one in items)
            return Dictionary(widened(item), held)
    return value
