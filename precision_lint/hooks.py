"""The hooks of a rule's module: how the engine calls it.

A rule is a module with a `RULE` and one or more hooks, each a generator of findings:

    check_source(file: PythonFile)                  for every Python file: what needs no dtypes
    check_call(call: Call, file: PythonFile)        for every call that `RULE.calls` names
    check_step(step: TrainingStep, file)            for every function in which a scaler is at work
    check_kernel(kernel: Kernel, file: PythonFile)  for every `@triton.jit` function
    check_config(file: ConfigFile)                  for every configuration file
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from precision_lint.finding import Finding
from precision_lint.rule import Rule

if TYPE_CHECKING:
    from precision_lint.amp.protocol import TrainingStep
    from precision_lint.context import ConfigFile, PythonFile
    from precision_lint.dtypes.calls import Call
    from precision_lint.triton_types.kernels import Kernel


class RuleModule(Protocol):
    """A module under `rules/`. The hooks are optional: `RULE.hooks` says which it has."""

    __doc__: str | None
    RULE: Rule

    def check_source(self, file: PythonFile) -> Iterator[Finding]: ...
    def check_call(self, call: Call, file: PythonFile) -> Iterator[Finding]: ...
    def check_step(self, step: TrainingStep, file: PythonFile) -> Iterator[Finding]: ...
    def check_kernel(self, kernel: Kernel, file: PythonFile) -> Iterator[Finding]: ...
    def check_config(self, file: ConfigFile) -> Iterator[Finding]: ...
