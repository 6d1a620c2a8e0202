"""One activation of a kernel or helper: its variables, and what is known on the way."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from precision_lint.facts.triton.choices import Chosen, decided, follows
from precision_lint.facts.triton.module import JitFunction, names_in
from precision_lint.facts.triton.refusals import Choice
from precision_lint.facts.triton.values import Value
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen


@frozen
class Variable:
    """What a name stands for, and the assignment that made it so.

    Not `certain` where the name exists for some compile-time choices only. `alternatives` are what
    it stands for under each choice, if their types differ. `given` is the expression assigned.
    """

    value: Value
    assigned: Span
    certain: bool = True
    alternatives: tuple[Variable, ...] = ()
    given: ast.expr | None = None


@frozen
class Returned:
    """What a `return` gives, and the compile-time choices that lead to it."""

    value: Value
    node: ast.Return
    choices: tuple[Choice, ...]


@dataclass(slots=True)
class Frame:
    """One activation of a kernel or helper."""

    variables: dict[str, Variable]
    returned: list[Returned] = field(default_factory=list)
    depth: int = 0
    loops: int = 0
    """Run-time loops around the statement that is executed."""
    chosen: Chosen = field(default_factory=dict)
    """What the compile-time choices on the way to the statement say."""
    local: frozenset[str] = frozenset()
    """The names that the function certainly assigns by statements."""
    stored: frozenset[str] = frozenset()
    """The names that it binds anywhere: what is known of them holds until then only."""

    def choose(self, test: ast.expr, truth: bool) -> None:
        """From here on `test` is known, if nothing that it names can change."""
        if self.stored.isdisjoint(names_in(test)):
            self.chosen = {**self.chosen, **follows(test, truth)}

    def handed_on(self, helper: JitFunction, call: ast.Call) -> Chosen:
        """What the choices on the way here say of the parameters of a helper."""
        if not self.chosen:
            return {}
        names = [parameter.arg for parameter in helper.parameters]
        given = [*zip(names, call.args, strict=False), *((k.arg, k.value) for k in call.keywords)]
        truths = {
            name: decided(value, self.chosen)
            for name, value in given
            if name is not None and name not in helper.stored
        }
        return {name: truth for name, truth in truths.items() if truth is not None}
