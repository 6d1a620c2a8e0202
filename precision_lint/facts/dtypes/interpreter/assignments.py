"""What assignments do: variables, items, attributes, and what other methods see of these."""

from __future__ import annotations

import ast
from dataclasses import replace

from precision_lint.facts.dtypes.domain.calls import Argument
from precision_lint.facts.dtypes.domain.containers import concatenated
from precision_lint.facts.dtypes.domain.environment import (
    Environment,
    bind,
    replace_everywhere,
    with_assigned,
)
from precision_lint.facts.dtypes.domain.lattice import join, reading
from precision_lint.facts.dtypes.domain.values import (
    UNKNOWN,
    ClassObject,
    Dictionary,
    Instance,
    Model,
    ModelOutput,
    Sequence,
    Tensor,
    Unknown,
    Value,
)
from precision_lint.facts.dtypes.interpreter import casts, iterating, models, training
from precision_lint.facts.dtypes.interpreter.protocols import Evaluate
from precision_lint.facts.dtypes.syntax.own_attributes import MODULE_STATE
from precision_lint.facts.origin import Origin
from precision_lint.model.dtypes import FLOATING
from precision_lint.source.python.syntax import callee_name, dotted


class Assignments:
    """The assignments of one frame."""

    def __init__(self, evaluate: Evaluate) -> None:
        self._evaluate = evaluate
        self._frame = evaluate.frame
        self._records = evaluate.analysis.records

    def assign(
        self, target: ast.expr, value: Value, expression: ast.expr | None, env: Environment
    ) -> None:
        """Bind a target; attributes of `self` are recorded for the other methods of the class."""
        if isinstance(target, ast.Subscript) and expression is not None:
            self._item_set(target, value, expression, env)
        if isinstance(target, ast.Attribute) and target.attr == "grad" and expression is not None:
            self._gradient_set(target, value, expression, env)
        match target:
            case ast.Attribute(value=ast.Name(id="self"), attr=name) if self._frame.owner:
                if isinstance(expression, ast.Call) and callee_name(expression) in MODULE_STATE:
                    value = self.parameter(value, expression)
                bind(target, value, env)
                match env.get("self"):
                    case Instance() as instance if instance.field(name) is not None:
                        self.set_field("self", name, value, env)
                self._records.attribute(self._frame, name, value)
            case ast.Attribute(value=owner, attr="data") if isinstance(value, Tensor):
                training.cast_one_by_one(self._evaluate, value, env)
                is_tensor = isinstance(self._evaluate(owner, env), Tensor)
                # `x.data = …` changes the dtype of `x`
                bind(owner if is_tensor else target, value, env)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                value = iterating.unpacked(self._evaluate.analysis, value)
                bind(target, self._saved(expression, env) or value, env)
                for inner in targets:
                    if isinstance(inner, ast.Attribute):
                        path = dotted(inner)
                        if path is not None:
                            self.assign(inner, env.get(path, UNKNOWN), None, env)
            case ast.Attribute(value=ast.Name(id=holder) as owner, attr=name):
                held = self._evaluate.read(owner, env)
                if isinstance(held, ClassObject):
                    self._records.attribute_of_class(self._frame, held.definition, name, value)
                self._records.attribute_from_outside(self._frame, held, name, value)
                if isinstance(held, Model):
                    casts.take_in(held, [value], env)
                bind(target, value, env)
                self.set_field(holder, name, value, env)
            case ast.Subscript(value=ast.Attribute() | ast.Subscript() as owner, slice=key):
                held = self._evaluate(owner, env)
                if isinstance(held, Sequence | Dictionary):
                    changed = with_assigned(held, key, value, env)
                    replace_everywhere(held, changed, env)
                    self.assign(owner, changed, None, env)
                bind(target, value, env)
            case _:
                bind(target, value, env)

    def _saved(self, expression: ast.expr | None, env: Environment) -> Value | None:
        """The values of a file that `a, b = torch.load(path).values()` gives names to."""
        match expression:
            case ast.Call(func=ast.Attribute(value=owner, attr="values"), args=[]):
                held = self._evaluate(owner, env)
                return models.under_own_names(held) if isinstance(held, ModelOutput) else None
        return None

    def _item_set(
        self, target: ast.Subscript, value: Value, expression: ast.expr, env: Environment
    ) -> None:
        """Report `x[key] = value` to those who ask for it."""
        if self._records.wants_items(self._frame):
            owner = self._evaluate(target.value, env)
            key = self._evaluate(target.slice, env)
            given = Argument(value, self._evaluate.span_of(expression))
            self._records.item_set(self._frame, target, owner, key, given)

    def _gradient_set(
        self, target: ast.Attribute, value: Value, expression: ast.expr, env: Environment
    ) -> None:
        """Report `x.grad = value` to those who ask for it."""
        given = Argument(value, self._evaluate.span_of(expression))
        owner = self._evaluate(target.value, env)
        self._records.gradient_set(self._frame, target, owner, given)

    def set_field(self, holder: str, name: str, value: Value, env: Environment) -> None:
        """What the methods of an object read after `holder.name = value`."""
        held = env.get(holder)
        if not isinstance(held, Instance):
            return
        changed = held.with_field(name, value)
        for other in [each for each in env if env[each] is held]:  # perhaps the same object
            env[other] = join(held, changed)
        env[holder] = changed

    def parameter(self, value: Value, expression: ast.expr) -> Value:
        """A parameter or buffer of a module, as its methods see it: whoever moves it chooses."""
        if not isinstance(value, Tensor) or not (value.caller_chosen or value.dtypes & FLOATING):
            return value
        origin = Origin(
            self._evaluate.source,
            self._evaluate.span_of(expression),
            "the dtype of parameters and buffers is chosen by whoever moves or loads the module",
            "caller",
        )
        is_chosen = value.origin is not None and value.origin.is_named
        return replace(value, caller_chosen=True, origin=value.origin if is_chosen else origin)

    def augmented(self, node: ast.AugAssign, env: Environment) -> None:
        """`x += y` and its like: in place, for lists and tensors."""
        value = self._evaluate.read(node.value, env)
        current = self._evaluate(node.target, env)
        read = reading(current)
        match read, value:
            case Sequence(), Sequence():
                result: Value = concatenated(read, value)
                replace_everywhere(read, result, env)
            case ((Tensor() | ModelOutput()), _) if not isinstance(node.op, ast.MatMult):
                result = current  # in place: the dtype stays
            case Unknown(), _:  # in place if it is a tensor
                result = join(current, self._evaluate.operation(node, read, value))
            case _:
                result = self._evaluate.operation(node, read, value)
        self.assign(node.target, result, None, env)
