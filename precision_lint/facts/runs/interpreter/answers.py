"""What was worked out about a program in one run: each question once, with what it depends on.

Most of a program says the same in each of its runs. An answer holds in another run as well if what
it depends on are options that neither of the two gives. It is kept as long as the tree of its file.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeAlias
from weakref import WeakKeyDictionary

from precision_lint.facts.frameworks.sources import CodePlace, Occurrence
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.interpreter.known import Known
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import T
from precision_lint.source.python.parse import ParsedPython

Read: TypeAlias = "dict[tuple[Path, Span], Occurrence]"

_CLEAR = 1 << 30
"""No question waits for what is worked out."""
_DEEPEST = 60
"""Questions that wait for an answer; each takes some ten calls of Python's stack of 1,000."""
_UNCLEAR = -1
"""What is worked out depends on where somebody started to ask, or the budget was used up."""


@frozen
class Answer(Generic[T]):
    """What a question came to, and the settings that were read for it."""

    result: T | None
    read: Read
    names: frozenset[str]
    """The options that were asked for."""
    is_of_run: bool
    """True if something else of the run was looked at."""
    is_clear: bool


Shared: TypeAlias = "MutableMapping[ParsedPython, dict[ast.AST, Answer[T]]]"


@dataclass(eq=False)
class Dependence:
    """What the answer that is worked out now depends on."""

    read: Read = field(default_factory=dict)
    """The settings that were read for it."""
    names: set[str] = field(default_factory=set)
    is_of_run: bool = False
    first: int = _CLEAR
    """The outermost question whose answer depends on itself."""
    waiting: int = 0
    """How many questions wait for an answer."""

    def gave_up(self) -> None:
        """The budget or the stack is used up: with a larger one, the answer may be another."""
        self.first = _UNCLEAR

    def use(self, answer: Answer[T]) -> T | None:
        """Take over what is known."""
        self.read |= answer.read
        self.names |= answer.names
        self.is_of_run |= answer.is_of_run
        if not answer.is_clear:
            self.first = _UNCLEAR
        return answer.result


class Answers(Generic[T]):
    """The answers to one kind of question about nodes of the program of a run."""

    def __init__(self, run: RunEnvironment, now: Dependence, *question: Hashable) -> None:
        self._run = run
        self._now = now
        files = run.program.project.config_files
        # Where a file is open, what nothing else is known of may be its settings.
        unknown = (run.has_unknown_words, run.perhaps_given)
        key = (*question, run.program.path, *unknown, run.opened is not None)
        # What is kept for a file keeps no tree alive but its own.
        self._shared: Shared[T] = files.once(key, WeakKeyDictionary)
        self._known: dict[ast.AST, Answer[T]] = {}
        self._asked: dict[ast.AST, int] = {}
        """What is worked out now."""

    def of(self, node: ast.AST, file: ParsedPython, work: Callable[[], T | None]) -> T | None:
        """The answer for a node of a file; None while it is worked out, or too deep to follow."""
        known = self._known.get(node)
        if known is None:
            if node in self._asked:
                self._now.first = min(self._now.first, self._asked[node])
                return None
            if self._now.waiting >= _DEEPEST:
                self._now.gave_up()
                return None
            shared = self._shared.setdefault(file, {})
            known = shared.get(node)
            if known is None or not self._holds(known):
                known = self._worked_out(node, work)
                if self._is_shared(known):
                    shared[node] = known
            self._known[node] = known
        return self._now.use(known)

    def _worked_out(self, node: ast.AST, work: Callable[[], T | None]) -> Answer[T]:
        now = self._now
        outer = now.read, now.names, now.is_of_run, now.first
        now.read, now.names, now.is_of_run, now.first = {}, set(), False, _CLEAR
        self._asked[node] = depth = now.waiting
        now.waiting += 1
        result = work()
        now.waiting -= 1
        del self._asked[node]
        answer = Answer(
            result, now.read, frozenset(now.names), now.is_of_run, is_clear=now.first >= depth
        )
        now.read, now.names, now.is_of_run, first = outer
        now.first = first if answer.is_clear else min(first, now.first)
        return answer

    def _is_shared(self, answer: Answer[T]) -> bool:
        """True for an answer that other runs may take over: nothing in it belongs to this one."""
        if not answer.is_clear or answer.is_of_run:
            return False
        written = [*answer.read.values()]
        if isinstance(known := answer.result, Known):
            if known.value is not None and not known.is_plain:
                return False
            written += [known.written] if known.written is not None else []
        return all(isinstance(one.origin, CodePlace) for one in written) and self._holds(answer)

    def _holds(self, answer: Answer[T]) -> bool:
        """True if this run gives none of the options, and the code is still the same object."""
        if not all(map(self._run.is_silent, answer.names)):
            return False
        files = self._run.program.project.config_files
        return all(files.at(one.file.text.path) is one.file for one in answer.read.values())
