"""What makes a module under `rules/` a rule.

A rule is a module with a `RULE` and one or more hooks, each a generator of findings:

    check_source(file: PythonFile)                  for every Python file: what needs no dtypes
    check_call(call: Call, file: PythonFile)        for every call that `RULE.calls` names
    check_step(step: TrainingStep, file)            for every function in which a scaler is at work
    check_kernel(kernel: Kernel, file: PythonFile)  for every `@triton.jit` function
    check_config(file: ConfigFile)                  for every configuration file

Its docstring is its page: what it does, why it hurts, example, use instead, fix safety, references.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from precision_lint.finding import Finding, Severity

if TYPE_CHECKING:
    from precision_lint.amp.protocol import TrainingStep
    from precision_lint.dtypes.calls import Call
    from precision_lint.source.config import ConfigFile
    from precision_lint.source.python import PythonFile
    from precision_lint.triton_types.kernels import Kernel

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

    def asks_for(self, call: Call) -> bool:
        """True if `check_call` wants to see a call."""
        package = (call.function or "").partition(".")[0]
        return call.name in self.calls or f"{package}.*" in self.calls

    def wants(self, content: bytes) -> bool:
        """True if the bytes hold a literal of every trigger group."""
        return all(any(literal in content for literal in group) for group in self.triggers)


class RuleModule(Protocol):
    """A module under `rules/`. The hooks are optional: `RULE.hooks` says which it has."""

    __doc__: str | None
    RULE: Rule

    def check_source(self, file: PythonFile) -> Iterator[Finding]: ...
    def check_call(self, call: Call, file: PythonFile) -> Iterator[Finding]: ...
    def check_step(self, step: TrainingStep, file: PythonFile) -> Iterator[Finding]: ...
    def check_kernel(self, kernel: Kernel, file: PythonFile) -> Iterator[Finding]: ...
    def check_config(self, file: ConfigFile) -> Iterator[Finding]: ...
