"""The hooks that a rule may define: what each one reads, and the facts that it is called with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar, get_args

from precision_lint.model.finding import Finding
from precision_lint.model.rule import Rule

if TYPE_CHECKING:
    import ast

    from precision_lint.facts.amp.protocol import TrainingStep
    from precision_lint.facts.context import ConfigFile, PythonFile
    from precision_lint.facts.dtypes.asked import Worth
    from precision_lint.facts.dtypes.calls import Call
    from precision_lint.facts.triton.kernels import Kernel

Input = Literal["python", "settings"]
"""What a hook reads: a `PythonFile`, or the `ConfigFile` that a file of any kind is read as."""

F = TypeVar("F")
T = TypeVar("T")


class RuleModule(Protocol):
    """A module under `rules/`. The hooks are optional: `RULE.hooks` says which it has."""

    __doc__: str | None
    RULE: Rule

    def check_source(self, file: PythonFile) -> Iterator[Finding]: ...
    def check_call(self, call: Call, file: PythonFile) -> Iterator[Finding]: ...
    def asks_about(self, node: ast.expr, file: PythonFile) -> bool:
        """False for calls that `check_call` does not report, whatever their dtypes are.

        Optional: a rule asks about every call that `RULE.calls` names. Only the syntax is known.
        """

    def check_step(self, step: TrainingStep, file: PythonFile) -> Iterator[Finding]: ...
    def check_kernel(self, kernel: Kernel, file: PythonFile) -> Iterator[Finding]: ...
    def check_config(self, file: ConfigFile) -> Iterator[Finding]: ...


@dataclass(frozen=True, slots=True)
class Hook(Generic[F, T]):
    """How the engine calls a hook: once for each fact with the fact and the file.

    A hook without `facts` is called once, with the file. `facts` gets the file, the rules that
    define the hook with their modules, and the list of notes for the user, to which it may append.
    """

    reads: Input
    facts: Callable[[F, Mapping[Rule, RuleModule], list[str]], Iterable[T]] | None = None
    wants: Callable[[Rule, T], bool] | None = None
    """Which rules see a fact; None if every rule sees each."""


def reads(rule: Rule, what: Input) -> bool:
    """True if a hook of the rule reads such a file."""
    return not rule.hooks.isdisjoint(_BY_INPUT[what])


def run(
    what: Input,
    file: PythonFile | ConfigFile,
    rules: Iterable[Rule],
    module: Callable[[Rule], RuleModule],
    notes: list[str],
) -> Iterator[Finding]:
    """The findings of every hook that reads such a file; `module` imports the module of a rule."""
    for name, hook in HOOKS.items():
        defining = [rule for rule in rules if name in rule.hooks]
        if hook.reads != what or not defining:
            continue
        if hook.facts is None:
            for rule in defining:
                yield from getattr(module(rule), name)(file)
            continue
        modules = {rule: module(rule) for rule in defining}
        for fact in hook.facts(file, modules, notes):
            for rule in defining:
                if hook.wants is None or hook.wants(rule, fact):
                    yield from getattr(modules[rule], name)(fact, file)


def asks_for(rule: Rule, call: Call) -> bool:
    """True if the `check_call` of a rule wants to see a call."""
    package = (call.function or "").partition(".")[0]
    return call.name in rule.calls or f"{package}.*" in rule.calls


def _calls(file: PythonFile, rules: Mapping[Rule, RuleModule], notes: list[str]) -> Iterable[Call]:
    from precision_lint.facts.dtypes.flow import calls_in

    wanted = frozenset[str]().union(*(rule.calls for rule in rules))
    followed = frozenset[str]().union(*(rule.calls - rule.intraprocedural for rule in rules))
    calls = calls_in(file, wanted, wanted - followed, worth=_worth(file, rules))
    if not calls.is_complete:
        notes.append(f"{file.text.path}: too much code to analyse: its calls were not checked")
    return calls


def _worth(file: PythonFile, rules: Mapping[Rule, RuleModule]) -> dict[str, Worth]:
    """By the name of a call, whether one of the rules asks about it, where not all of them do."""
    asking: dict[str, list[Worth | None]] = {}
    for rule, module in rules.items():
        asks_about = getattr(module, "asks_about", None)
        worth = None if asks_about is None else cache(partial(asks_about, file=file))
        for name in rule.calls:
            asking.setdefault(name, []).append(worth)
    found: dict[str, Worth] = {}
    for name, each in asking.items():
        known = [one for one in each if one is not None]
        if len(known) == len(each):
            found[name] = partial(_is_asked_about, known)
    return found


def _is_asked_about(asks: Sequence[Worth], node: ast.expr) -> bool:
    return any(asks_about(node) for asks_about in asks)


def _steps(
    file: PythonFile, rules: Mapping[Rule, RuleModule], notes: list[str]
) -> Iterable[TrainingStep]:
    from precision_lint.facts.amp.protocol import training_steps

    return training_steps(file)


def _kernels(
    file: PythonFile, rules: Mapping[Rule, RuleModule], notes: list[str]
) -> Iterable[Kernel]:
    from precision_lint.facts.triton.kernels import find_kernels

    return find_kernels(file.tree, file.text, file.project.version_of("triton"), file.project)


HOOKS: Mapping[str, Hook[Any, Any]] = {
    "check_source": Hook("python"),
    "check_call": Hook("python", _calls, asks_for),
    "check_step": Hook("python", _steps),
    "check_kernel": Hook("python", _kernels),
    "check_config": Hook("settings"),
}
"""Every hook by the name of its function, in the order in which they are called."""

_BY_INPUT: Mapping[Input, frozenset[str]] = {
    what: frozenset(name for name, hook in HOOKS.items() if hook.reads == what)
    for what in get_args(Input)
}
