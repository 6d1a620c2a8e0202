"""The hooks that a rule may define: what each one reads, and the facts that it is called with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar, get_args

from precision_lint.model.finding import Finding
from precision_lint.model.frozen import frozen
from precision_lint.model.rule import Rule

if TYPE_CHECKING:
    import ast

    from precision_lint.facts.amp.training_step.protocol import TrainingStep
    from precision_lint.facts.context import ConfigFile, PythonFile
    from precision_lint.facts.dtypes.domain.calls import Call
    from precision_lint.facts.dtypes.interpreter.asked import Question
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

    def follows(self, call: Call) -> bool:
        """False for calls that `check_call` does not report, whatever their callers give.

        Optional, as well. What the body of the call itself says is known.
        """

    def reads_dtypes(self, file: PythonFile) -> bool:
        """True if `check_call` reads which dtypes variables hold at the calls (`Call.dtypes`).

        Optional: of a `GradScaler` they are known anyway. A file in which they do not count takes
        less time.
        """

    def check_step(self, step: TrainingStep, file: PythonFile) -> Iterator[Finding]: ...
    def check_kernel(self, kernel: Kernel, file: PythonFile) -> Iterator[Finding]: ...
    def check_config(self, file: ConfigFile) -> Iterator[Finding]: ...


@frozen
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
                yield from _shallow(getattr(module(rule), name)(file), rule, file, notes)
            continue
        modules = {rule: module(rule) for rule in defining}
        for fact in hook.facts(file, modules, notes):
            for rule in defining:
                if hook.wants is None or hook.wants(rule, fact):
                    yield from getattr(modules[rule], name)(fact, file)


def _shallow(
    found: Iterable[Finding], rule: Rule, file: PythonFile | ConfigFile, notes: list[str]
) -> Iterator[Finding]:
    """What a rule finds as far as Python's stack reaches; the other rules go on."""
    try:
        yield from found
    except RecursionError:
        notes.append(f"{file.text.path}: too deeply nested for {rule.code}, which did not check it")


def asked_by(rule: Rule, call: Call) -> bool:
    """True if the facts of a call are those that the `check_call` of a rule asked for."""
    return call.module.asker is rule


def _calls(file: PythonFile, rules: Mapping[Rule, RuleModule], notes: list[str]) -> Iterable[Call]:
    """The calls that each rule asks for.

    Preview rules have a flow of their own, so that they take nothing of the budget of the others.
    """
    from precision_lint.facts.dtypes.flow import answers

    found: list[Call] = []
    is_complete = True
    for is_preview in (False, True):
        asking = [rule for rule in rules if rule.preview is is_preview]
        for calls in answers(file, [_question(rule, rules[rule], file) for rule in asking]):
            found += calls
            is_complete &= calls.is_complete
    if not is_complete:
        notes.append(f"{file.text.path}: too much code to analyse: its calls were not checked")
    return found


def _question(rule: Rule, module: RuleModule, file: PythonFile) -> Question:
    from precision_lint.facts.dtypes.interpreter.asked import Question

    asks_about = getattr(module, "asks_about", None)
    reads_dtypes = getattr(module, "reads_dtypes", None)
    return Question(
        rule.calls,
        rule.intraprocedural,
        None if asks_about is None else cache(partial(asks_about, file=file)),
        getattr(module, "follows", None),
        rule,
        reads_dtypes is not None and reads_dtypes(file),
    )


def _steps(
    file: PythonFile, rules: Mapping[Rule, RuleModule], notes: list[str]
) -> Iterable[TrainingStep]:
    from precision_lint.facts.amp.training_step.protocol import training_steps

    return training_steps(file)


def _kernels(
    file: PythonFile, rules: Mapping[Rule, RuleModule], notes: list[str]
) -> Iterable[Kernel]:
    from precision_lint.facts.triton.kernels import find_kernels

    return find_kernels(file.tree, file.text, file.project.version_of("triton"), file.project)


HOOKS: Mapping[str, Hook[Any, Any]] = {
    "check_source": Hook("python"),
    "check_call": Hook("python", _calls, asked_by),
    "check_step": Hook("python", _steps),
    "check_kernel": Hook("python", _kernels),
    "check_config": Hook("settings"),
}
"""Every hook by the name of its function, in the order in which they are called."""

_BY_INPUT: Mapping[Input, frozenset[str]] = {
    what: frozenset(name for name, hook in HOOKS.items() if hook.reads == what)
    for what in get_args(Input)
}
