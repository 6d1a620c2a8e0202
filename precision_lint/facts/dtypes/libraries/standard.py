"""The standard library and progress bars: what iterates, copies and chooses."""

from __future__ import annotations

from precision_lint.facts.dtypes.libraries.terms import (
    Anything,
    Given,
    Item,
    Library,
    Many,
    Rest,
    Tuple,
    Zipped,
)

_PYTHON = "Python 3.11"
_FIRST = Given(0)
_ITEM = Item(_FIRST)
_TQDM = "tqdm tqdm.auto tqdm.std tqdm.asyncio tqdm.autonotebook tqdm.notebook tqdm.rich"

ROWS = (
    Library(_PYTHON, "copy", "copy deepcopy", Given(0, "x")),
    Library(_PYTHON, "typing typing_extensions", "cast", Given(1, "val")),
    Library(_PYTHON, "typing typing_extensions", "assert_type", Given(0, "val")),
    Library(_PYTHON, "typing typing_extensions", "reveal_type", Given(0, "obj")),
    Library(_PYTHON, "contextlib", "nullcontext", Given(0, "enter_result")),
    Library(_PYTHON, "itertools", "chain", Many(Item(Item(Rest())))),
    Library(_PYTHON, "itertools.chain", "from_iterable", Many(Item(_ITEM))),
    Library(_PYTHON, "itertools", "islice", Many(_ITEM)),
    Library(_PYTHON, "itertools", "cycle", Many(Item(Given(0, "iterable")))),
    Library(_PYTHON, "itertools", "compress", Many(Item(Given(0, "data")))),
    Library(_PYTHON, "itertools", "takewhile dropwhile filterfalse", Many(Item(Given(1)))),
    Library(_PYTHON, "itertools", "repeat", Many(Given(0, "object"))),
    Library(_PYTHON, "itertools", "tee", Many(_FIRST)),
    Library(_PYTHON, "itertools", "product", Many(Zipped(Rest()))),
    Library(_PYTHON, "itertools", "zip_longest", Many(Zipped(Rest()))),
    Library(_PYTHON, "itertools", "pairwise", Many(Tuple((_ITEM, _ITEM)))),
    Library(
        _PYTHON,
        "itertools",
        "combinations combinations_with_replacement permutations batched",
        Many(Many(Item(Given(0, "iterable")))),
    ),
    Library(
        _PYTHON, "itertools", "groupby", Many(Tuple((Anything(), Many(Item(Given(0, "iterable"))))))
    ),
    Library(_PYTHON, "collections", "deque", Many(Item(Given(0, "iterable")))),
    Library(_PYTHON, "heapq", "nlargest nsmallest", Many(Item(Given(1, "iterable")))),
    Library(_PYTHON, "random", "choice", Item(Given(0, "seq"))),
    Library(_PYTHON, "random", "choices sample", Many(Item(Given(0, "population")))),
    Library("tqdm 4.70", _TQDM, "tqdm", Given(0, "iterable")),
    Library("tqdm 4.70", "tqdm.notebook", "tqdm_notebook", Given(0, "iterable")),
    Library("tqdm 4.70", "tqdm.contrib", "tzip", Many(Zipped(Rest()))),
    Library("rich 15.0", "rich.progress", "track", Many(Item(Given(0, "sequence")))),
    Library("transformers 5.23", "transformers.utils.logging", "tqdm", _FIRST),
)
