"""What the variables of a script hold at a point, with its branches kept apart.

What a branch assigns is known inside of it, and unknown after it; what a branch adds to a variable
(`ARGS+=(--x)`) may follow what it had before. What a subshell assigns is gone
after it. A loop is passed more than once: what is assigned anywhere in it is unknown at its start.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from precision_lint.model.finding import Place, Span
from precision_lint.model.frozen import frozen
from precision_lint.source.shell.branches import Branch
from precision_lint.source.shell.words import UNKNOWN, Text


@frozen
class Word:
    """A word after expansion and splitting; `UNKNOWN` characters stand for what it lacks.

    The span is where it is written, in a command or in a variable's value. It can be edited if it
    is `verbatim`: what stands there is this word and nothing else. What a sourced file says has
    the span of the word that sources it, and `elsewhere` is its own place.
    """

    traced: Text
    span: Span
    verbatim: bool
    elsewhere: Place | None = None

    @property
    def text(self) -> str:
        return self.traced.chars

    @property
    def is_one(self) -> bool:
        """True if it is one word, whatever it says: what is not known may be several, or none."""
        return UNKNOWN not in self.text or self.verbatim


@frozen
class Assigned:
    """The known value of a variable, or its elements if it is an array, and its last assignment.

    `elsewhere` is its place if that is in a sourced file, `branches` are the ways that lead to it.
    """

    span: Span
    text: Text
    elements: tuple[Word, ...] = ()
    is_array: bool = False
    elsewhere: Place | None = None
    branches: tuple[Branch, ...] = ()

    def with_more(self) -> Assigned:
        """The same, and perhaps more options after it: no value of what is before."""
        more = Text(f"--{UNKNOWN}", (self.span.start,) * 3)
        if self.is_array:
            word = Word(more, self.span, verbatim=False, elsewhere=self.elsewhere)
            if self.elements[-1:] == (word,):
                return self
            return replace(self, elements=(*self.elements, word))
        blank = Text(" ", more.origins[:1])
        if self.text.chars.endswith(f" {more.chars}"):
            return self
        return replace(self, text=Text.join((self.text, blank, more)))


@frozen
class _Fact:
    """Something learned at a time, at a token. The value is None if a variable became unknown."""

    value: Assigned | None
    time: int
    token: int


@frozen
class _View:
    """Which facts still hold: those since `floor`, unless a loop may have changed them.

    In a child process only what was exported before `child` is left of its parent's variables.
    """

    last: Mapping[str, int]  # the last token that assigns each name
    floor: int = 0
    child: int = 0
    loops: tuple[int, ...] = ()  # the tokens that open them

    def shows(self, name: str, fact: _Fact) -> bool:
        if fact.time < self.floor:
            return False
        between = bisect_right(self.loops, fact.token)
        return between == len(self.loops) or self.last.get(name, -1) < self.loops[between]


@frozen(eq=False)
class Environment(Mapping[str, Assigned]):
    """The variables that a command is known to get: exported ones, and those before its name.

    One that is absent is unknown. All environments of a script share one history.
    """

    history: Mapping[str, list[tuple[int, _Fact]]]
    view: _View
    time: int
    own: Mapping[str, Assigned]

    def __getitem__(self, name: str) -> Assigned:
        if name in self.own:
            return self.own[name]
        past = self.history[name]
        index = bisect_right(past, self.time, key=lambda entry: entry[0]) - 1
        fact = past[index][1] if index >= 0 else None
        if fact is None or not self.view.shows(name, fact):
            raise KeyError(name)
        if fact.value is None or fact.value.is_array:  # no process gets an array
            raise KeyError(name)
        return fact.value

    def __iter__(self) -> Iterator[str]:
        names = dict.fromkeys((*self.history, *self.own))
        return (name for name in names if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclass(slots=True)
class _Scope:
    """What was known of the names that are changed in a branch, a loop, a function, a subshell."""

    view: _View
    exports_all: bool
    before: dict[str, _Fact | None] = field(default_factory=dict)
    fresh: set[str] = field(default_factory=set)  # changed in the arm that is being read
    replaced: set[str] = field(default_factory=set)  # and not only added to
    exported: set[str] = field(default_factory=set)  # in this arm, and not before
    local: set[str] | None = None  # names of a function's own
    lost: int = 0  # when everything became unknown, if it did
    hidden: int = 0  # the same, for as long as the function lasts
    stays: bool = False  # what the arm changes that is being read counts after it


class Variables:
    """Walks along with the reader: assignments, and the scopes that they stand in."""

    def __init__(self, last: Mapping[str, int]) -> None:
        self.token = -1  # before the first
        self.exports_all = False
        self._time = 0
        self._facts: dict[str, _Fact] = {}
        self._history: dict[str, list[tuple[int, _Fact]]] = {}
        self._exported: set[str] = set()
        self._changed: dict[str, int] = {}
        self._unknown: dict[tuple[str, str | None], tuple[int, _Fact]] = {}
        self._view = _View(last)
        self._scopes: list[_Scope] = []

    # Facts

    def __getitem__(self, name: str) -> Assigned | None:
        """The value of a variable; None if it is unknown."""
        fact = self._facts.get(name)
        if fact is None or not self._view.shows(name, fact):
            return None
        is_array = fact.value is not None and fact.value.is_array
        if fact.time < self._view.child and (is_array or name not in self._exported):
            return None  # no process gets an array
        return fact.value

    def is_of_caller(self, name: str) -> bool:
        """True if only who starts the script can have set a variable: nothing in it did."""
        loops = self._view.loops
        is_set_in_loop = bool(loops) and self._view.last.get(name, -1) >= loops[0]
        return not (name in self._facts or self.is_lost or is_set_in_loop)

    def known(self) -> dict[str, Assigned]:
        """All that is known, by name."""
        values = ((name, self[name]) for name in self._facts)
        return {name: value for name, value in values if value is not None}

    @property
    def changed(self) -> frozenset[str]:
        """The names that were ever assigned or forgotten."""
        return frozenset(self._facts)

    @property
    def is_lost(self) -> bool:
        """True if there was a time when everything became unknown."""
        return self._view.floor > 0

    def set(
        self, name: str, value: Assigned | None, *, local: bool = False, grows: bool = False
    ) -> None:
        """Assign; None if the value is not known. It `grows` if it begins with what it was."""
        if local:
            for scope in reversed(self._scopes):
                if scope.local is not None:
                    scope.local.add(name)
                    break
        if self._scopes:
            scope = self._scopes[-1]
            scope.before.setdefault(name, self._facts.get(name))
            scope.fresh.add(name)
            if not grows:
                scope.replaced.add(name)
        self._learn(name, value)

    def forget(self, name: str) -> None:
        self.set(name, None)

    def forget_all(self, *, in_function: bool = False) -> None:
        """Nothing is known any more, or nothing until the function ends."""
        self._time += 1
        self._view = replace(self._view, floor=self._time)
        if self._scopes and in_function:
            self._scopes[-1].hidden = self._time
        elif self._scopes:
            self._scopes[-1].lost = self._time

    def export(self, name: str) -> None:
        """Give a variable to the commands that follow."""
        if name not in self._exported:
            self._exported.add(name)
            if self._scopes:
                self._scopes[-1].exported.add(name)
            if fact := self._facts.get(name):
                self._time += 1  # commands before this one do not get it
                self._history.setdefault(name, []).append((self._time, fact))

    def hide(self, name: str) -> None:
        """Give a variable no more to the commands that follow, or nobody knows if it is given."""
        if name in self._exported:
            self._exported.discard(name)
            self._time += 1
            unknown = _Fact(None, self._time, self.token)
            self._history.setdefault(name, []).append((self._time, unknown))

    def environment(self, own: Mapping[str, Assigned]) -> Environment:
        return Environment(self._history, self._view, self._time, own)

    def identity(self, name: str, default: str | None, origin: int) -> int:
        """An origin for an unknown value: the same one as long as the variable cannot change."""
        key = (name, default)
        found = self._unknown.get(key)
        if found is not None:
            first, fact = found
            if self._view.shows(name, fact) and self._changed.get(name, 0) <= fact.time:
                return first
        self._unknown[key] = (origin, _Fact(None, self._time, self.token))
        return origin

    def _learn(self, name: str, value: Assigned | None) -> None:
        self._time += 1
        self._put(name, _Fact(value, self._time, self.token))

    def _put(self, name: str, fact: _Fact) -> None:
        self._facts[name] = fact
        self._changed[name] = self._time
        if name in self._exported:
            self._history.setdefault(name, []).append((self._time, fact))
        elif self.exports_all and name.isidentifier():
            self.export(name)

    # Scopes

    def open(self, *, loop: bool = False, function: bool = False, child: bool = False) -> None:
        local: set[str] | None = set() if function else None
        self._scopes.append(_Scope(self._view, self.exports_all, local=local))
        view = self._view
        if loop:
            view = replace(view, loops=(*view.loops, self.token))
        if function:  # who knows when it is called
            self._time += 1
            view = replace(view, floor=self._time)
        if child:
            self._time += 1
            view = replace(view, child=self._time)
        self._view = view

    def stay(self) -> None:
        """The arm that begins certainly runs, and no other one."""
        self._scopes[-1].stays = True

    def switch(self, *, restore: bool) -> None:
        """Another arm: it starts with what was known before, or without what this one changed."""
        scope = self._scopes[-1]
        if scope.stays:
            return
        for name in scope.fresh:
            before = scope.before[name]
            self._leave(name, before if restore else self._grown(name, before, scope))
        scope.fresh.clear()
        self._end_exports(scope)
        if restore:
            self._view = replace(self._view, floor=scope.view.floor)

    def close(self, *, restore: bool) -> None:
        """The end of a scope: what it changed is as before, or unknown."""
        scope = self._scopes.pop()
        outer = self._scopes[-1] if self._scopes else None
        if not scope.stays:
            self._end_exports(scope)
        elif outer is not None:
            outer.exported |= scope.exported
        for name, before in scope.before.items():
            is_local = scope.local is not None and name in scope.local
            is_back = restore or is_local
            if not scope.stays:
                self._leave(name, before if is_back else self._grown(name, before, scope))
            if outer is not None and not is_local:
                outer.before.setdefault(name, before)
                outer.fresh.add(name)
                outer.replaced |= {name} & scope.replaced
        floor = scope.view.floor
        if not restore:
            hidden = scope.hidden if scope.local is None else 0
            floor = max(floor, scope.lost, hidden)
            if outer is not None:
                outer.lost = max(outer.lost, scope.lost)
                outer.hidden = max(outer.hidden, hidden)
        self._view = replace(scope.view, floor=floor)

    def _end_exports(self, scope: _Scope) -> None:
        """What was exported in an arm may not be, after it."""
        for name in scope.exported:
            self.hide(name)
        scope.exported.clear()
        self.exports_all = scope.exports_all

    def _grown(self, name: str, before: _Fact | None, scope: _Scope) -> _Fact | None:
        """What is known of a variable after a scope that added something to it, or did not."""
        if before is None or before.value is None or name in scope.replaced:
            return None
        if scope.lost or scope.hidden or not scope.view.shows(name, before):
            return None
        return replace(before, value=before.value.with_more(), time=self._time + 1)

    def _leave(self, name: str, before: _Fact | None) -> None:
        """Go back to what was known before, if anything."""
        self._time += 1
        if before is None:
            before = _Fact(None, self._time, self.token)
        self._put(name, before)
