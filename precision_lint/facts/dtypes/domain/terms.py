"""Terms: what a body says of objects that others give it.

A term starts from a root, such as a parameter, and takes steps from there: `batch["x"].mean` is an
item and an attribute of the parameter `batch`. Whoever knows what the root is can take the steps
with the same functions that evaluate expressions, and so learns what the term is (`resolution`).
"""

from __future__ import annotations

import ast
from dataclasses import field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from precision_lint.model.frozen import frozen

if TYPE_CHECKING:
    from precision_lint.facts.dtypes.syntax.definitions import Function, Module

_MOST_STEPS = 8


@frozen
class Parameter:
    """What the callers of a function give to one of its parameters."""

    definition: Function
    name: str

    @property
    def place(self) -> str:
        """A text to sort roots by."""
        module = self.definition.module.file.text.path
        return f"{module}:{self.definition.node.lineno}:{self.name}"


Root: TypeAlias = "Parameter"


@frozen
class Step:
    """A use of an object: where it is, and what takes part in it.

    "each" is what iterating yields, "mapping" what `dict(…)` makes of it, "value" any value of a
    mapping, "as tensor" what is in a branch for tensors, "no tensor" what is in the other one,
    "cast" a module after a method that casts it in place, and anything else as it was, "region" the
    dtype of the autocast region that a context opens, if it is one, "outside" the object where the
    region of the dtype `operand` is off, "key" what is in the mapping `operand` under the object,
    "fields" the mapping that `asdict(…)` makes of a record, "prepared" a module as the library and
    for the precision in `name` prepare it.

    `position` is that of an unpacked item, from the end if it is negative; "starred" is the list
    that a starred target gets, with `position` targets before it and as many after it as `name`
    says. Else `name` is a keyword that `f(**mapping)` gives, or the key of an item, `operand` the
    value of an index, or of the other side of an operator, or the `CallSite` of a call; `module`
    the module that it is written in. `region` is the autocast region around a call, its device, and
    its dtypes or the places of its terms: a body can be called in one and outside of it.
    """

    kind: Literal[
        "attribute",
        "item",
        "key",
        "each",
        "mapping",
        "fields",
        "unpacked",
        "starred",
        "value",
        "keyword",
        "call",
        "method",
        "cast",
        "region",
        "outside",
        "left of",
        "right of",
        "as tensor",
        "no tensor",
        "prepared",
    ]
    node: ast.AST | None = None
    position: int = 0
    name: str = ""
    operand: object = field(default=None, compare=False)
    module: Module | None = field(default=None, compare=False)
    region: tuple[str, tuple[str, ...]] | None = None


@frozen
class Term:
    """What one gets from a root in some steps."""

    root: Root
    steps: tuple[Step, ...] = ()

    def then(self, step: Step) -> Term | None:
        """The term after one more step; None if that is too far to follow."""
        if len(self.steps) == _MOST_STEPS:
            return None
        return replace(self, steps=(*self.steps, step))
