"""A rule as data: its identity, and what the engine must know before it runs it.

A rule is a module with a `RULE` and one or more hooks, each a generator of findings:

    check_source(file: PythonFile)                  for every Python file: what needs no dtypes
    check_call(call: Call, file: PythonFile)        for every call that `RULE.calls` names
    check_step(step: TrainingStep, file)            for every function that uses a scaler
    check_kernel(kernel: Kernel, file: PythonFile)  for every `@triton.jit` function
    check_config(file: ConfigFile)                  for every configuration file

`hooks.HOOKS` says how each is called. A rule with `check_call` may define `asks_about(node, file)`:
the dtypes of calls for which it is false are not computed. The docstring is the page of the rule:
what it does, why it hurts, example, use instead, fix safety, references.
"""

from __future__ import annotations

from typing import Literal

from precision_lint.model.finding import Severity
from precision_lint.model.frozen import frozen
from precision_lint.model.precision import Precision
from precision_lint.model.searched import Searched

FixAvailability = Literal["always", "sometimes", "display", "never"]

DOCS = "https://github.com/precision-lint/precision-lint/blob/main/docs/rules"


@frozen
class Rule:
    """The identity of a rule and what the engine must know before it runs it.

    `triggers` are byte strings in conjunctive form: a file is parsed for this rule only if it
    contains at least one literal of every group, and matches `pattern`. `calls` are what
    `check_call` wants to see: the last component of a callee (`numpy`), or a package and all of its
    functions (`matplotlib.*`).
    """

    code: str
    name: str
    summary: str
    severity: Severity
    since: str
    fix: FixAvailability = "never"
    triggers: tuple[tuple[bytes, ...], ...] = ()
    pattern: bytes = b""
    """A regular expression for what no literal says, or nothing. It has to match notebooks, too."""

    calls: frozenset[str] = frozenset()
    intraprocedural: frozenset[str] = frozenset()
    """Those of `calls` for which callers, classes and other files need not be asked."""

    precisions: tuple[Precision, ...] = ()
    """Those of a run in which its findings happen; none if they do in any, or each says it."""

    pitfalls: tuple[str, ...] = ()
    yields_to: tuple[str, ...] = ()
    """The codes of rules that know more: where they report a place, this one does not."""

    preview: bool = False
    """Whether it runs only with `--preview`: its accuracy on unseen code is not known yet."""

    hooks: frozenset[str] = frozenset()
    """Filled in by the generated index from the functions that the module defines."""

    @property
    def module(self) -> str:
        """The name of the rule's module under `rules/`."""
        return self.name.replace("-", "_")

    @property
    def url(self) -> str:
        return f"{DOCS}/{self.name}.md"

    def wants(self, content: Searched) -> bool:
        """True if the bytes hold a literal of every trigger group, and match the pattern."""
        return all(any(map(content.holds, group)) for group in self.triggers) and (
            not self.pattern or content.matches(self.pattern)
        )
