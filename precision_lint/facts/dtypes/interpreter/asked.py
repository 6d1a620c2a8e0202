"""The calls that rules ask for: what one file calls them, where they are, which are decided."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Set

from precision_lint.facts.dtypes._generated.operators import FUNCTIONS
from precision_lint.facts.dtypes.domain.calls import Call
from precision_lint.facts.dtypes.domain.open_values import may_be_half
from precision_lint.facts.dtypes.domain.values import (
    Instance,
    LibraryObject,
    Model,
    NonTensor,
    OneOf,
    Symbol,
    Tensor,
    Unknown,
    Value,
)
from precision_lint.facts.dtypes.libraries.copies import COPIES
from precision_lint.facts.dtypes.syntax.definitions import Module
from precision_lint.facts.dtypes.syntax.mentions import (
    aliases,
    holders,
    rows_calling,
    rows_storing_items,
    words_called,
)
from precision_lint.facts.dtypes.syntax.relevance import DefUse
from precision_lint.model.frozen import frozen
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import callee_name
from precision_lint.source.python.syntax_tree import syntax_tree

SETTING_ITEM = "__setitem__"
"""`x[key] = value` as a call: of the key and the value, as Python makes it."""

SETTING_ATTRIBUTE = "__setattr__"
"""`tensor.grad = value` as a call: of the name and the value, as Python makes it."""

MODULE = "Module"
"""Calls of objects of the project's classes: of modules, mostly."""

Worth = Callable[[ast.expr], bool]
"""Whether dtypes decide on a call: a cheap question about its syntax."""

_WITH_DTYPES = frozenset({"GradScaler"})
"""Calls that are judged by the dtypes around them, and not by their arguments alone."""

_SCALERS = _WITH_DTYPES | {"ShardedGradScaler"}
"""Those, and what else is compared with the dtypes that variables hold."""

_ON_TENSORS = frozenset(
    {
        "masked_fill", "masked_fill_", "fill_", "index_fill", "index_fill_", "new_full", "where",
        "softmax", "log_softmax", "mean", "sum",
    }
)  # fmt: skip
"""Methods with arguments that are judged by the dtype of their object."""


@frozen
class Callee:
    """What is called.

    `name` is its last component, as it is called where it is imported from; `function` its
    qualified name, if that is known.
    """

    name: str
    function: str | None
    is_instance: bool
    """True for an object that is called, so that there is no receiver."""


@frozen
class Question:
    """What a rule asks of a file: the calls of some `names` (see `Rule.calls`).

    For those in `intraprocedural`, what their own body says is enough. `worth` is false for calls
    that the rule does not report whatever their dtypes are, by their syntax, and `follows` for
    those that it does not report whatever callers, classes and other files say.
    """

    names: frozenset[str]
    intraprocedural: frozenset[str] = frozenset()
    worth: Worth | None = None
    follows: Callable[[Call], bool] | None = None
    asker: object = None
    reads_dtypes: bool = False
    """True if the dtypes that variables hold at the calls count as well (`Call.dtypes`)."""

    def asks_for(self, call: Call) -> bool:
        """True for a call of one of the names, or of a package (`matplotlib.*`)."""
        package = (call.function or "").partition(".")[0]
        return call.name in self.names or f"{package}.*" in self.names

    def is_worth_a_look(self, node: ast.expr) -> bool:
        return self.worth is None or self.worth(node)

    def is_open(self, node: ast.expr, call: Call, *, names_torch: bool) -> bool:
        """True if callers, classes or other files may know better what a call is given."""
        return (
            call.name not in self.intraprocedural
            and self.asks_for(call)
            and self.is_worth_a_look(node)
            and _is_open(call, names_torch=names_torch)
            and (self.follows is None or self.follows(call))
        )


@frozen
class Asked:
    """The questions about a file, the names of all of them, and what the file makes of these."""

    questions: tuple[Question, ...]
    names: frozenset[str]
    aliases: Mapping[str, str]
    holders: Mapping[str, str]
    wants_dtypes: bool
    """True if which names hold a dtype counts for one of the calls."""
    names_torch: bool
    """False for a file that makes no tensors: it may get some from others."""

    @classmethod
    def of(cls, module: Module, questions: Iterable[Question]) -> Asked:
        """What is asked of one file."""
        every = tuple(questions)
        names = frozenset[str]().union(*(each.names for each in every))
        text = module.file.text.text
        local = aliases(names, module.imports, text)
        scalers = {name for name, meant in local.items() if meant in _SCALERS} | _SCALERS & names
        wants_dtypes = any(each.reads_dtypes for each in every) or any(
            called in scalers for _, called in words_called(text)
        )
        return cls(every, names, local, holders(names, text), wants_dtypes, "torch" in text)

    def rows(self, module: Module) -> list[int]:
        """The rows of the file with what looks like one of the calls."""
        local = self._local()
        worth = self._worth_by_local_name({word for _, word in words_called(module.file.text.text)})
        called = self.names.union(dict(local)) - worth.keys()
        rows = _rows_worth_a_look(module.file, worth)
        if called:
            rows |= {*rows_calling(module.file.text, called, module.imports)}
        if SETTING_ITEM in called:
            rows |= {*rows_storing_items(module.file.text)}
        return sorted(rows)

    def open_rows(self, calls: Mapping[ast.expr, Call]) -> list[frozenset[int]]:
        """For each question, the rows of the calls whose facts others may know better."""
        return [
            frozenset(
                node.lineno
                for node, call in calls.items()
                if each.is_open(node, call, names_torch=self.names_torch)
            )
            for each in self.questions
        ]

    def _worth_by_local_name(self, words: Set[str]) -> dict[str, list[Question]]:
        """The questions about a name that the file calls, if none is about all calls.

        Rules ask for hundreds of names, of which a file calls a few.
        """
        local = [(name, meant) for name, meant in self._local() if name in words]
        called = {SETTING_ITEM, *words, *(meant for _, meant in local)}
        asking: dict[str, list[Question]] = {}
        for question in self.questions:
            for name in question.names & called:
                asking.setdefault(name, []).append(question)
        worth = {
            name: each
            for name, each in asking.items()
            if all(question.worth is not None for question in each)
        }
        every = (*((name, name) for name in worth), *local)
        return {name: worth[meant] for name, meant in every if meant in worth}

    def _local(self) -> tuple[tuple[str, str], ...]:
        """What the file calls some of the names by, with what it means."""
        return (*self.aliases.items(), *self.holders.items())

    def criterion(self, rows: Iterable[int]) -> Callable[[DefUse], bool]:
        """Whether a statement is at one of some rows, or says which names hold a needed dtype."""
        wants_dtypes = self.wants_dtypes
        in_order = sorted(rows)

        def is_asked(effect: DefUse) -> bool:
            if wants_dtypes and effect.mentions_dtype:
                return True
            first = bisect_left(in_order, effect.node.lineno)
            return first < len(in_order) and in_order[first] <= effect.last_row

        return is_asked

    def callee(self, node: ast.Call, function: Value, *, is_intraprocedural: bool) -> Callee | None:
        """What a call calls; None if no rule asks for it."""
        name = _name_of(function)
        package = (name or "").partition(".")[0]
        called = callee_name(node)
        if isinstance(node.func, ast.Name):
            called = self.aliases.get(called, called)
        is_instance = False
        match function:
            case LibraryObject(name=qualified):
                called, name = qualified.rpartition(".")[2], f"{qualified}.__call__"
                package, is_instance = qualified.partition(".")[0], True
            case Instance() if MODULE in self.names:
                called, name, is_instance = MODULE, f"torch.nn.{MODULE}.forward", True
            case Model(name=str(layer)):
                called, name, is_instance = layer, f"torch.nn.{layer}.forward", True
            case Unknown() | Tensor() | Model() if is_intraprocedural and called in self.holders:
                called, is_instance = self.holders[called], True  # as far as can be seen here
        if called not in self.names and f"{package}.*" not in self.names:
            return None
        return Callee(called, name, is_instance)


_AUTOCAST_OF_DEVICES = frozenset({"torch.cpu.amp.autocast", "torch.cuda.amp.autocast"})


def _name_of(function: Value) -> str | None:
    """The qualified name of what is called.

    Of `cuda.amp.autocast if on_cuda else cpu.amp.autocast`, which take the same arguments, it is
    the one for CUDA: half precision is judged as it is there.
    """
    match function:
        case Symbol(name=name):
            return name
        case OneOf(members=members):
            names = {each.name for each in members if isinstance(each, Symbol)}
            if len(names) == len(members) and names <= _AUTOCAST_OF_DEVICES:
                return max(names)
    return None


def _rows_worth_a_look(file: ParsedPython, worth: Mapping[str, list[Question]]) -> set[int]:
    """The rows of the calls that not every question about their name is about."""
    rows: set[int] = set()
    for name, asking in worth.items():
        for call in syntax_tree(file).calls(name):
            if any(each.is_worth_a_look(call) for each in asking):
                rows.add(call.func.end_lineno or call.lineno)
    asking = worth.get(SETTING_ITEM, [])
    for node in _stored_items(file) if asking else ():
        rows |= {node.lineno for each in asking if each.is_worth_a_look(node)}
    return rows


def _is_open(call: Call, *, names_torch: bool) -> bool:
    """True if it is not yet known that a call has nothing to do with half precision.

    What a function of another package is given counts only once it is known for a tensor; operators
    of torch take tensors, and what copies modules takes these. A file without torch makes no
    tensors: only who calls it knows of any.
    """
    if call.name in _WITH_DTYPES:
        return True
    values = [argument.value for argument in (*call.arguments, *call.keywords.values())]
    if call.name.endswith("Trainer") and _may_be_own(call):
        return any(isinstance(value, Unknown | Model) for value in values)
    if call.name == SETTING_ITEM:  # most are of mappings: both have to be tensors, one a known one
        both = (call.receiver, values[1])
        tensors = [one for one in both if isinstance(one, Tensor)]
        return len(tensors) == 2 and sorted(one.is_open for one in tensors) == [False, True]
    if call.name == MODULE:
        if not isinstance(call.called, Instance):
            return True
        weights = call.called.parameters
        return weights is None or any(map(may_be_half, (weights, *values)))
    is_on_object = not call.arguments or call.name in _ON_TENSORS
    if call.receiver_span is None or is_on_object or isinstance(call.receiver, Tensor):
        values.append(call.receiver)
    is_of_package = call.function is not None and not _is_operator(call.function)
    is_method = call.receiver_span is not None and not is_of_package
    if is_method and is_on_object and isinstance(call.receiver, Unknown):
        return True
    is_object_taken = (
        not (is_of_package and names_torch)
        or call.name in COPIES
        or (call.function or "").startswith(_OF_ANYTHING)
    )
    if call.name in COPIES and any(map(_is_given_module, values)):
        return True
    if is_method and not names_torch and isinstance(call.receiver, NonTensor):  # `axes.plot(x)`
        return any(isinstance(value, Unknown) or may_be_half(value) for value in values)
    if (call.receiver_span is None or call.function is not None) and is_object_taken:
        return any(isinstance(value, Unknown) or may_be_half(value) for value in values)
    return any(map(may_be_half, values))


def _may_be_own(call: Call) -> bool:
    """True for a trainer whose class may be one of the project, in another file."""
    package = (call.function or "").partition(".")[0]
    return isinstance(call.called, Unknown) and package not in _WITH_TRAINERS


def _is_given_module(value: Value) -> bool:
    """True for a module whose dtype callers know: `student: nn.Module`."""
    return isinstance(value, Model) and may_be_half(value.parameters)


_WITH_TRAINERS = frozenset({"transformers", "trl", "lightning", "pytorch_lightning"})

_OF_ANYTHING = (
    "numpy.array", "numpy.asarray", "numpy.save", "sklearn.metrics.", "torch.optim.", "torchvision."
)  # fmt: skip
"""Beginnings of functions of other packages that tensors are given to as often as anything else."""


def _is_operator(function: str) -> bool:
    return function.removeprefix("torch.") in FUNCTIONS


def _stored_items(file: ParsedPython) -> Iterator[ast.Subscript]:
    """The items that statements set: `x[key]` in `x[key] = value`."""
    return (node for node in file.nodes_of(ast.Subscript) if isinstance(node.ctx, ast.Store))
