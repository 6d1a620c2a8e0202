"""What a call gives, in terms of what it is given: the words that the tables are written in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Given:
    """An argument, by position and keyword. A module that goes through a wrapper is one as well."""

    position: int
    keyword: str = ""


@dataclass(frozen=True, slots=True)
class Rest:
    """The positional arguments from a position on: a tuple of them."""

    start: int = 0


@dataclass(frozen=True, slots=True)
class Receiver:
    """The object whose method is called."""


@dataclass(frozen=True, slots=True)
class Alone:
    """The items of a tuple, or its only item: `prepare(a, b)` gives a tuple, `prepare(a)` none."""

    of: Term


@dataclass(frozen=True, slots=True)
class Item:
    """What iterating over it yields."""

    of: Term


@dataclass(frozen=True, slots=True)
class Member:
    """The item with a number."""

    of: Term
    index: int


@dataclass(frozen=True, slots=True)
class Many:
    """A list, tuple or iterator of it, of any length."""

    of: Term


@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple of these."""

    of: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Zipped:
    """A tuple of one item of each."""

    of: Term


@dataclass(frozen=True, slots=True)
class Stacked:
    """One tensor of the tensors of a list, as `torch.stack` makes it; a tensor stays as it is."""

    of: Term


@dataclass(frozen=True, slots=True)
class Collated:
    """One batch of a list of samples, as `default_collate` makes it of tensors, arrays, numbers,
    tuples and mappings of these."""

    of: Term


@dataclass(frozen=True, slots=True)
class Loaded:
    """The batches of a `DataLoader`: collated unless `collate_fn` or `batch_size=None` is given."""

    dataset: Term


@dataclass(frozen=True, slots=True)
class Torch:
    """The result of a function of torch, by its name in torch."""

    function: str
    arguments: Term
    """A tuple of the arguments."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of calling it with a tuple of arguments."""

    function: Term
    arguments: Term


@dataclass(frozen=True, slots=True)
class Mapped:
    """A container with a function applied to each of its leaves."""

    function: Term
    of: Term


@dataclass(frozen=True, slots=True)
class Widened:
    """The same, with bfloat16 and float16 tensors as float32, inside of containers, too."""

    of: Term


@dataclass(frozen=True, slots=True)
class Prepared:
    """A module as the receiver prepares it for its precision, inside of containers, too."""

    of: Term


@dataclass(frozen=True, slots=True)
class Fixed:
    """A tensor of a dtype whatever comes in."""

    dtype: str


@dataclass(frozen=True, slots=True)
class FromArray:
    """A tensor of the dtype of the array that comes in: never one that NumPy lacks."""

    of: Term


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Tensors as they were saved: weights, a mapping of weights, or any object, as `pickle` has."""

    kind: Literal["weights", "mapping", "anything"] = "weights"


@dataclass(frozen=True, slots=True)
class Default:
    """A tensor of the default dtype: float32 unless `torch.set_default_dtype` says otherwise."""


@dataclass(frozen=True, slots=True)
class Network:
    """A module whose floating parameters have the default dtype, or the one that is given.

    Whatever the checkpoint holds is copied into them. `kind` says what it is, if calls of it give
    something else than tensors of that dtype.
    """

    dtype: Given | None = None
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Weights:
    """A tensor of the dtype of a module's parameters."""

    of: Term


@dataclass(frozen=True, slots=True)
class Either:
    """One or the other."""

    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Cast:
    """The same in the dtype that an argument names, or in `default` if it is absent."""

    of: Term
    dtype: Given
    default: str = ""
    """"" for the dtype that it has."""


@dataclass(frozen=True, slots=True)
class Option:
    """By the value of an argument: a term for each, and one where it is absent or another."""

    argument: Given
    terms: tuple[tuple[object, Term], ...]
    absent: Term


@dataclass(frozen=True, slots=True)
class Object:
    """An object of a class whose methods have rows of their own, or convert what they get.

    An object that is called has the method `__call__`.
    """

    name: str
    """The class, as it stands in the tables: `faiss.Index` for each kind of index."""
    precision: Given | None = None
    """The argument that names the precision of a run."""


@dataclass(frozen=True, slots=True)
class NotATensor:
    """A number, an array of NumPy, an image: nothing that holds a tensor of torch."""

    dtype: str = ""
    """That of an array, where it is always the same."""


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Effect:
    """What a call writes into one of its arguments."""

    into: Given
    value: Term


@dataclass(frozen=True, slots=True)
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
