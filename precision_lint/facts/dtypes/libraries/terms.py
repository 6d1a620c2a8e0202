"""What a call gives, in terms of what it is given: the words that the tables are written in."""

from __future__ import annotations

from typing import Literal

from precision_lint.model.frozen import frozen


@frozen
class Given:
    """An argument, by position and keyword. A module that goes through a wrapper is one as well."""

    position: int
    keyword: str = ""


@frozen
class Rest:
    """The positional arguments from a position on: a tuple of them."""

    start: int = 0


@frozen
class Receiver:
    """The object whose method is called."""


@frozen
class Alone:
    """The items of a tuple, or its only item: `prepare(a, b)` gives a tuple, `prepare(a)` none."""

    of: Term


@frozen
class Item:
    """What iterating over it yields."""

    of: Term


@frozen
class Member:
    """The item with a number."""

    of: Term
    index: int


@frozen
class Many:
    """A list, tuple or iterator of it, of any length."""

    of: Term


@frozen
class Tuple:
    """A tuple of these."""

    of: tuple[Term, ...]


@frozen
class Zipped:
    """A tuple of one item of each."""

    of: Term


@frozen
class Stacked:
    """One tensor of the tensors of a list, as `torch.stack` makes it; a tensor stays as it is."""

    of: Term


@frozen
class Collated:
    """One batch of a list of samples, as `default_collate` makes it of tensors, arrays, numbers,
    tuples and mappings of these."""

    of: Term


@frozen
class Loaded:
    """The batches of a `DataLoader`: collated unless `collate_fn` or `batch_size=None` is given."""

    dataset: Term


@frozen
class Torch:
    """The result of a function of torch, by its name in torch."""

    function: str
    arguments: Term
    """A tuple of the arguments."""


@frozen
class Distribution:
    """An object of tensors in the dtype that its parameters promote to, or that of the first."""

    parameters: Term
    """A tuple of them."""


@frozen
class Result:
    """The result of calling it with a tuple of arguments."""

    function: Term
    arguments: Term


@frozen
class Mapped:
    """A container with a function applied to each of its leaves."""

    function: Term
    of: Term


@frozen
class Widened:
    """The same, with bfloat16 and float16 tensors as float32, inside of containers, too."""

    of: Term


@frozen
class Prepared:
    """A module as the receiver prepares it for its precision, inside of containers, too."""

    of: Term


@frozen
class Fixed:
    """A tensor of a dtype whatever comes in."""

    dtype: str


@frozen
class FromArray:
    """A tensor of the dtype of the array that comes in: never one that NumPy lacks."""

    of: Term


@frozen
class Checkpoint:
    """Tensors as they were saved: weights, a mapping of weights, or any object, as `pickle` has."""

    kind: Literal["weights", "mapping", "anything"] = "weights"


@frozen
class Default:
    """A tensor of the default dtype: float32 unless `torch.set_default_dtype` says otherwise."""


@frozen
class Network:
    """A module whose floating parameters have the default dtype, or the one that is given.

    Whatever the checkpoint holds is copied into them. `kind` says what it is, if calls of it give
    something else than tensors of that dtype.
    """

    dtype: Given | None = None
    kind: str | None = None
    headless: tuple[Given, Given] | None = None
    """The arguments for the number of classes, of which 0 makes no head, and for the name."""


@frozen
class Weights:
    """A tensor of the dtype of a module's parameters."""

    of: Term


@frozen
class Either:
    """One or the other."""

    terms: tuple[Term, ...]


@frozen
class Cast:
    """The same in the dtype that an argument names, or in `default` if it is absent."""

    of: Term
    dtype: Given
    default: str = ""
    """"" for the dtype that it has."""


@frozen
class Option:
    """By the value of an argument: a term for each, and one where it is absent or another."""

    argument: Given
    terms: tuple[tuple[object, Term], ...]
    absent: Term


@frozen
class Object:
    """An object of a class whose methods have rows of their own, or convert what they get.

    An object that is called has the method `__call__`.
    """

    name: str
    """The class, as it stands in the tables: `faiss.Index` for each kind of index."""
    precision: Given | None = None
    """The argument that names the precision of a run."""


@frozen
class NotATensor:
    """A number, an array of NumPy, an image: nothing that holds a tensor of torch."""

    dtype: str = ""
    """That of an array, where it is always the same."""


@frozen
class Anything:
    """Nothing is known of it."""


Term = (
    Given
    | Rest
    | Receiver
    | Alone
    | Item
    | Member
    | Many
    | Tuple
    | Zipped
    | Stacked
    | Collated
    | Loaded
    | Torch
    | Distribution
    | Result
    | Mapped
    | Widened
    | Prepared
    | Fixed
    | FromArray
    | Checkpoint
    | Default
    | Network
    | Weights
    | Either
    | Cast
    | Option
    | Object
    | NotATensor
    | Anything
)


@frozen
class Effect:
    """What a call writes into one of its arguments."""

    into: Given
    value: Term


@frozen
class Library:
    """A group of rows: who was measured, and what the names give.

    `measured` says what ran: "einops 0.8.2"; it begins with "read:" where the library could not
    be run here, and then says what was read. `scripts/measure_libraries.py` runs the libraries;
    what it found is in `tests/facts/dtypes/libraries.json`.
    """

    measured: str
    modules: str
    """The modules that have the names, apart by blanks; for methods, their class."""
    names: str
    gives: Term
    effect: Effect | None = None
