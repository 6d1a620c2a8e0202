"""A rule as data: its identity, and what the engine must know before it runs it.

The module of a rule has more: see `hooks`. Its docstring is its page: what it does, why it hurts,
example, use instead, fix safety, references.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from precision_lint.finding import Severity

FixAvailability = Literal["always", "sometimes", "display", "never"]
Hook = Literal["check_source", "check_call", "check_step", "check_kernel", "check_config"]

DOCS = "https://github.com/precision-lint/precision-lint/blob/main/docs/rules"


@dataclass(frozen=True, slots=True)
class Rule:
    """The identity of a rule and what the engine must know before it runs it.

    `triggers` are byte strings in conjunctive form: a file is parsed for this rule only if it
    contains at least one literal of every group. `calls` are what `check_call` wants to see: the
    last component of a callee (`numpy`), or a package and all of its functions (`matplotlib.*`).
    """

    code: str
    name: str
    summary: str
    severity: Severity
    since: str
    fix: FixAvailability = "never"
    triggers: tuple[tuple[bytes, ...], ...] = ()
    calls: frozenset[str] = frozenset()
    glanced: frozenset[str] = frozenset()
    """Those of `calls` for which callers, classes and other files need not be asked."""

    pitfalls: tuple[str, ...] = ()
    hooks: frozenset[Hook] = frozenset()
    """Filled in by the generated index from the functions that the module defines."""

    @property
    def module(self) -> str:
        """The name of the rule's module under `rules/`."""
        return self.name.replace("-", "_")

    @property
    def url(self) -> str:
        return f"{DOCS}/{self.name}.md"

    def wants(self, content: bytes) -> bool:
        """True if the bytes hold a literal of every trigger group."""
        return all(any(literal in content for literal in group) for group in self.triggers)
