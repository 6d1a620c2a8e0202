"""Calls whose result nobody uses: some change what they are called on."""

from __future__ import annotations

import ast
from dataclasses import replace

from precision_lint.facts.dtypes.domain.containers import (
    concatenated,
    item_of,
    keyword_of,
    updated,
    with_default,
)
from precision_lint.facts.dtypes.domain.environment import Environment, bind, replace_everywhere
from precision_lint.facts.dtypes.domain.lattice import join, join_tensors
from precision_lint.facts.dtypes.domain.terms import Step
from precision_lint.facts.dtypes.domain.values import (
    BOTTOM,
    Constant,
    Dictionary,
    Instance,
    Mixed,
    Model,
    ModelOutput,
    OneOf,
    Sequence,
    Symbol,
    Tensor,
    Unknown,
    Value,
    Variable,
    as_variable,
    caller_chosen,
)
from precision_lint.facts.dtypes.interpreter import casts, models, training
from precision_lint.facts.dtypes.interpreter.assignments import Assignments
from precision_lint.facts.dtypes.interpreter.invocation import call_site
from precision_lint.facts.dtypes.interpreter.protocols import Evaluate
from precision_lint.facts.dtypes.syntax.mutations import (
    CHANGING,
    CHANGING_LISTS,
    MUTATING,
    TAKING_IN,
    changed,
)
from precision_lint.facts.dtypes.syntax.relevance import (
    filled_by_mapping,
    kept_by,
    registration,
    stored_by_name,
)
from precision_lint.facts.origin import Origin
from precision_lint.model.dtypes import FLOAT32, FLOATING
from precision_lint.source.python.syntax import callee_name, dotted


class Changes:
    """The expression statements of one frame."""

    def __init__(self, evaluate: Evaluate, assignments: Assignments) -> None:
        self._evaluate = evaluate
        self._assignments = assignments
        self._frame = evaluate.frame
        self._records = evaluate.analysis.records

    def expression(self, node: ast.expr, env: Environment) -> Value:
        """The value of an expression statement; some methods change what they are called on."""
        value = self._evaluate(node, env)
        if self._frame.owner is not None:
            for name, expression in kept_by(node).items():
                target = ast.Attribute(ast.Name("self", ast.Load()), name, ast.Store())
                self._assignments.assign(target, self._evaluate(expression, env), None, env)
        if isinstance(node, ast.Call):
            self._set_by_name(node, env)
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in TAKING_IN:
                parts = [self._evaluate(part, env) for part in node.args]
                casts.take_in(self._evaluate.read(owner, env), parts, env)
        match node:
            case ast.Call(args=[owner, *given]) if callee_name(node) in CHANGING_LISTS:
                method = CHANGING_LISTS[callee_name(node)]
                change = ast.copy_location(ast.Call(node.func, given[:1], []), node)
                if isinstance(self._evaluate.read(node.func, env), Symbol):
                    self._change(self._entry(owner, env), method, change, env)
            case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in MUTATING:
                self._change(self._entry(owner, env), method, node, env)
            case ast.Call() if (made := registration(node)) is not None and made[1] is not None:
                held = self._assignments.parameter(self._evaluate(made[1], env), node)
                target = ast.Attribute(ast.Name("self", ast.Load()), made[0], ast.Store())
                self._assignments.assign(target, held, None, env)
            case ast.Call(func=ast.Attribute()):
                module, methods = changed(node)
                if methods & CHANGING:
                    for part, call in self._elements(module, node):
                        result = value if call is node else self._unseen(call, env)
                        self._cast(part, result, call, env)
        return value

    def _set_by_name(self, node: ast.Call, env: Environment) -> None:
        """`setattr(self, "x", x)`, `self.__dict__.update(options)`: attributes are assigned."""
        if (stored := stored_by_name(node)) is not None:
            holder, key, expression = stored
            known = env.get(key.id) if isinstance(key, ast.Name) else key
            name = known.value if isinstance(known, Constant | ast.Constant) else None
            if isinstance(name, str) and name.isidentifier():
                value = self._evaluate(expression, env)
                self._assign_attribute(holder, name, value, expression, env)
        elif (filled := filled_by_mapping(node)) is not None:
            holder, mappings = filled
            for each in mappings:
                given = self._evaluate.read(each, env)
                for name in self._names_in(given):
                    self._assign_attribute(holder, name, keyword_of(given, name), None, env)

    def _names_in(self, mapping: Value) -> list[str]:
        """The keys of a mapping; the attribute alone that is being resolved, if there is one."""
        if self._frame.asked_name is not None:
            return [self._frame.asked_name]
        match mapping:
            case Dictionary(items=tuple(items)):
                return [key for key, _ in items if isinstance(key, str) and key.isidentifier()]
        return []

    def _assign_attribute(
        self,
        holder: ast.expr,
        name: str,
        value: Value,
        expression: ast.expr | None,
        env: Environment,
    ) -> None:
        target = ast.copy_location(ast.Attribute(holder, name, ast.Store()), holder)
        self._assignments.assign(target, value, expression, env)

    # Modules

    def _cast(self, module: ast.expr, value: Value, node: ast.Call, env: Environment) -> None:
        """`model.bfloat16()`, `self.model.eval().to(dtype)`: the module changes in place."""
        known = _moved(self._evaluate.read(module, env), value)
        moved = self._given_module(node, env) or known
        if moved is None:
            return
        if isinstance(moved, Model) and moved.cast is None:
            moved = replace(moved, cast=self._cast_at(node.func))
        if isinstance(module, ast.Subscript):
            whole = self._evaluate(module.value, env)
            if isinstance(whole, Model):  # a layer of a Sequential: the others stay as they were
                module, moved = module.value, _with_part(whole, moved)
        before = self._evaluate(module, env)
        if isinstance(module, ast.Attribute) and known is not None and _is_float32(known):
            training.widen(self._evaluate, module.value, env)  # forgets what its parts are
        casts.change(self._evaluate, module, before, moved, env)
        self._cast_part(module, moved, env)
        self._record_cast(module, moved, env)

    def _elements(self, module: ast.expr, node: ast.Call) -> list[tuple[ast.expr, ast.Call]]:
        """What `for part in (self.a, self.b): part.half()` casts, and the call as one of each."""
        parts = self._frame.elements.get(module.id) if isinstance(module, ast.Name) else None
        if parts is None:
            return [(module, node)]
        calls = ((part, _called_on(part, node)) for part in parts)
        return [(part, call) for part, call in calls if isinstance(call, ast.Call)]

    def _unseen(self, node: ast.expr, env: Environment) -> Value:
        """The value of an expression that stands for one of the file: rules do not see it."""
        records, self._frame.records = self._frame.records, False
        try:
            return self._evaluate(node, env)
        finally:
            self._frame.records = records

    def _given_module(self, node: ast.Call, env: Environment) -> Value | None:
        """What a cast makes of what somebody else gives: another module, or the same tensor."""
        analysis = self._evaluate.analysis
        assert isinstance(node.func, ast.Attribute)
        held = as_variable(self._evaluate.read(node.func.value, env))
        if not isinstance(held, Variable) or analysis.is_intraprocedural:
            return None
        given = call_site(self._evaluate, node, env)
        return held.then(Step("cast", node, operand=given, module=self._frame.module))

    def _cast_part(self, module: ast.expr, moved: Value, env: Environment) -> None:
        """`model.head.float()`: the object has parameters of more than one dtype."""
        match module:
            case ast.Attribute(value=ast.Name(id=holder), attr=name):
                self._assignments.set_field(holder, name, moved, env)
            case ast.Attribute(value=owner):
                held = self._evaluate.read(owner, env)
                if isinstance(held, Instance):
                    self._cast_part(owner, replace(held, parameters=None), env)

    def _cast_at(self, method: ast.expr) -> Origin:
        """A call of a method as the place where a module is cast."""
        guards = tuple(self._frame.guards)
        span = self._evaluate.span_of(method)
        return Origin(self._evaluate.source, span, models.CAST, guards=guards)

    def _record_cast(self, module: ast.expr, moved: Value, env: Environment) -> None:
        """`self.model.bfloat16()`, `runner.model.to(dtype)`: other methods see the cast."""
        match module:
            case ast.Attribute(value=ast.Name(id="self"), attr=name) if self._frame.owner:
                self._records.attribute_cast(self._frame, name, moved)
            case ast.Attribute(value=holder, attr=name):
                held = self._evaluate.read(holder, env)
                self._records.attribute_from_outside(self._frame, held, name, moved)

    # Containers

    def _entry(self, owner: ast.expr, env: Environment) -> ast.expr:
        """`d.setdefault(key, [])` as `d[key]`, which holds the list afterwards."""
        match owner:
            case ast.Call(
                func=ast.Attribute(value=mapping, attr="setdefault"), args=[key, default]
            ) if isinstance(held := self._evaluate.read(mapping, env), Dictionary):
                entry = ast.copy_location(ast.Subscript(mapping, key, ast.Store()), owner)
                known = key.value if isinstance(key, ast.Constant) else None
                if known is None or known not in dict(held.items or ()):
                    value = self._evaluate(default, env)
                    self._assignments.assign(entry, join(held.item, value), None, env)
                return entry
        return owner

    def _change(self, owner: ast.expr, method: str, node: ast.Call, env: Environment) -> None:
        """`xs.append(x)` and its like: the container changes under every name."""
        match owner, node.args:
            case ast.Attribute(value=holder, attr=name), [given] if (
                method == "append" and self._frame.records and dotted(holder) != "self"
            ):  # what the object holds may be what is being worked out
                item = self._evaluate(given, env)
                holding = self._evaluate.read(holder, env)
                self._records.item_from_outside(self._frame, holding, name, item)
        held = self._evaluate(owner, env)
        match held:
            case Sequence():
                result: Value = self._changed(held, method, node.args, env)
            case Mixed(sequence=Sequence() as listed):
                result = replace(held, sequence=self._changed(listed, method, node.args, env))
            case Dictionary() if method == "update":
                others = [self._evaluate(argument, env) for argument in node.args]
                keywords = [(key.arg, self._evaluate(key.value, env)) for key in node.keywords]
                result = updated(held, others, keywords)
            case Dictionary() if method == "setdefault" and node.args:
                result = with_default(held, *(self._evaluate(each, env) for each in node.args))
            case Model(members=(_, *_)):  # a Sequential that takes another module
                result = replace(held, parameters=caller_chosen(), members=())
            case _:
                return
        replace_everywhere(held, result, env)
        match owner:
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                bind(owner, result, env)
                if self._frame.owner:
                    self._records.attribute(self._frame, name, result)
            case ast.Subscript():
                self._assignments.assign(owner, result, None, env)
            case _:
                bind(owner, result, env)

    def _changed(
        self, held: Sequence, method: str, arguments: list[ast.expr], env: Environment
    ) -> Sequence:
        """A list after a method that changes it."""
        added = self._evaluate(arguments[-1], env) if arguments else BOTTOM
        match method:
            case "append" | "add" | "appendleft" | "insert" | "put" | "put_nowait":
                if method.startswith("put") and arguments:  # `queue.put(x, timeout)`
                    added = self._evaluate(arguments[0], env)
                more: Value = Sequence(added, (added,))
            case "extend" | "update":
                more = added
            case _:
                return Sequence(held.item)
        if method in {"append", "extend"}:
            return concatenated(held, more)
        return Sequence(join(held.item, item_of(more)))


def _called_on(part: ast.expr, node: ast.expr) -> ast.expr:
    """A chain of calls of methods, on another object."""
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr=name, ctx=context) as function):
            method = ast.Attribute(_called_on(part, inner), name, context)
            call = ast.Call(ast.copy_location(method, function), node.args, node.keywords)
            return ast.copy_location(call, node)
    return part


def _moved(owner: Value, result: Value) -> Value | None:
    """A module after a cast whose result nobody takes; None for what is no module."""
    match owner, result:
        case _, Model() | Instance() | OneOf():
            return result
        case (
            (Unknown() | Tensor(may_be_other=True) | ModelOutput(tensor=Tensor(may_be_other=True))),
            Tensor(dtypes=dtypes),
        ) if dtypes & FLOATING:  # the cast of a tensor would be lost
            return Model(result)
    return None


def _with_part(whole: Model, part: Value) -> Model:
    """A container after one of its layers was cast: its parameters can have both dtypes."""
    parameters = part.parameters if isinstance(part, Model | Instance) else None
    joined = join_tensors(whole.parameters, parameters or Tensor(caller_chosen=True))
    return replace(whole, parameters=joined, layers=(), members=())


def _is_float32(value: Value) -> bool:
    """True for a module whose parameters are float32."""
    return isinstance(value, Model) and value.parameters.must_be(frozenset({FLOAT32}))
