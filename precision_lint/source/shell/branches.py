"""The ways through the constructs of a script, and the conditions that open them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from precision_lint.model.frozen import frozen

Construct: TypeAlias = Literal["if", "case", "loop", "function", "list"]


@frozen
class Branch:
    """One way through a construct of the script; `list` is what `&&` and `||` connect.

    The condition is what has to hold on it, as it is written; empty where nothing has to, or where
    that has no words of its own.
    """

    construct: Construct
    number: int  # tells the constructs of a script apart
    arm: int
    condition: str = ""


def excluded(one: Iterable[Branch], other: Iterable[Branch]) -> bool:
    """True if no run of the script takes both ways: they are two arms of one construct."""
    arms = {(branch.construct, branch.number): branch.arm for branch in other}
    return any(
        arms.get((branch.construct, branch.number), branch.arm) != branch.arm
        for branch in one
        if branch.construct not in ("loop", "function")
    )


def further(one: Sequence[Branch], other: Iterable[Branch]) -> tuple[Branch, ...]:
    """What one way has and another one has not, but for loops and functions."""
    shared = {(branch.construct, branch.number) for branch in other}
    return tuple(
        branch
        for branch in one
        if branch.construct not in ("loop", "function")
        if (branch.construct, branch.number) not in shared
    )


class Tests:
    """The conditions of one construct, in the order in which a shell tries them."""

    def __init__(self) -> None:
        self.subject = ""  # of a `case`
        self._tried: list[str] = []

    def holds(self, text: str) -> str:
        """The condition of an arm that is taken if this one holds: words, or patterns."""
        before, text = [*self._tried], _on_one_line(text)
        self._tried.append(text)
        if not self.subject:
            return text
        if text != "*":
            return f"{self.subject} is {text}"
        return f"{self.subject} is not {' or '.join(before)}" if before else ""

    def otherwise(self) -> str:
        """The condition of the arm that is taken if none of them holds."""
        if len(self._tried) < 2:
            return f"not {self._tried[0]}" if self._tried else ""
        return f"neither {' nor '.join(self._tried)}"


def _on_one_line(text: str) -> str:
    return " ".join(text.replace("\\\n", " ").split()).rstrip("; ")
