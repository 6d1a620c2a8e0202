"""Where Triton would stop compiling a kernel, as one evaluation of the kernel finds it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from precision_lint.facts.triton.module import Module
from precision_lint.facts.triton.values import UNKNOWN, Value
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen

Kind = Literal[
    "branch",
    "mismatch",
    "none",
    "loop",
    "return",
    "return in a loop",
    "ternary",
    "math",
    "dot",
    "atomic",
    "bitcast",
    "condition",
    "tuple",
    "name",
    "argument",
    "sum",
    "float8",
]
Block = Literal["then", "else"]
Choice = tuple[int, Block]
"""A compile-time `if` that is not decided here, by its offset, and the block that is evaluated."""


@frozen
class Key:
    """What makes it the same refusal under another assumption."""

    kind: Kind
    path: Path
    place: Span
    subject: str
    crossing: Span | None


@frozen
class CompileError:
    """One thing that Triton refuses, if the types are what this evaluation assumes.

    `before` and `after` are the types that do not agree: of a variable before and after it is
    redefined, of the blocks of an `if`, of two returns, of two operands. What a function refuses is
    `after`, all of its operands are `before`. `start` and `given` are the expressions that they
    come from, where there is one.
    """

    kind: Kind
    module: Module
    place: Span
    """The condition, the loop, the helper, the call."""
    at: Span
    """What to point at."""
    subject: str
    """The variable, or the function."""
    before: Value
    after: Value
    start: ast.expr | None
    given: ast.expr | None
    block: Block | None
    test: ast.expr | None
    choices: tuple[Choice, ...]
    crossing: Span | None
    """The call in the kernel's own file that leads there, if `module` is another file."""

    @property
    def key(self) -> Key:
        return Key(self.kind, self.module.text.path, self.place, self.subject, self.crossing)


@dataclass(slots=True)
class CompileErrors:
    """Collected while a kernel is evaluated."""

    module: Module
    call: Span = field(default_factory=lambda: Span(0, 0))
    """The call that is being evaluated."""
    choices: tuple[Choice, ...] = ()
    crossing: Span | None = None
    found: dict[Key, CompileError] = field(default_factory=dict)

    def add(
        self,
        kind: Kind,
        subject: str,
        before: Value = UNKNOWN,
        after: Value = UNKNOWN,
        *,
        place: Span | None = None,
        at: Span | None = None,
        start: ast.expr | None = None,
        given: ast.expr | None = None,
        block: Block | None = None,
        test: ast.expr | None = None,
        choices: tuple[Choice, ...] | None = None,
    ) -> None:
        """Triton stops at `place`, which is the current call if nothing else is said."""
        place = self.call if place is None else place
        refusal = CompileError(
            kind=kind,
            module=self.module,
            place=place,
            at=place if at is None else at,
            subject=subject,
            before=before,
            after=after,
            start=start,
            given=given,
            block=block,
            test=test,
            choices=self.choices if choices is None else choices,
            crossing=self.crossing,
        )
        self.found.setdefault(refusal.key, refusal)
