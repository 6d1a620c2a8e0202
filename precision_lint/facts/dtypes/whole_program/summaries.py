"""Summaries of the project's functions: what a call returns, and what it leaves in its arguments.

A function is interpreted once for each kind of arguments that it is called with. What is a term in
them stays one in the summary, and is replaced by what each call gives.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable
from contextlib import nullcontext
from dataclasses import replace

from precision_lint.facts.dtypes.domain.calls import CallSite, Region
from precision_lint.facts.dtypes.domain.environment import Environment, bind, replace_everywhere
from precision_lint.facts.dtypes.domain.lattice import join, join_all
from precision_lint.facts.dtypes.domain.terms import Parameter, Root
from precision_lint.facts.dtypes.domain.values import (
    UNKNOWN,
    AutocastContext,
    Bottom,
    Dictionary,
    Dtype,
    FunctionValue,
    Instance,
    Mixed,
    Model,
    ModelOutput,
    OneOf,
    Partial,
    Sequence,
    Tensor,
    Value,
)
from precision_lint.facts.dtypes.interpreter import casts, outer_variables
from precision_lint.facts.dtypes.interpreter.annotations import annotated
from precision_lint.facts.dtypes.interpreter.entries import Summary, Table
from precision_lint.facts.dtypes.interpreter.expressions import Evaluator
from precision_lint.facts.dtypes.interpreter.frame import Change, Frame
from precision_lint.facts.dtypes.interpreter.invocation import applied
from precision_lint.facts.dtypes.interpreter.protocols import Interprocedural
from precision_lint.facts.dtypes.syntax.definitions import Function
from precision_lint.facts.dtypes.syntax.relevance import DefUse, backward_slice
from precision_lint.facts.dtypes.whole_program import casts_by_calls, decorating, surely_given
from precision_lint.facts.dtypes.whole_program.activations import Activations
from precision_lint.facts.dtypes.whole_program.constructions import attributes_left
from precision_lint.facts.dtypes.whole_program.leading_back import leads_to
from precision_lint.facts.dtypes.whole_program.parameters import bind_self, bound
from precision_lint.facts.dtypes.whole_program.resolution import Resolution, as_term
from precision_lint.facts.origin import Origin
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import bound_names

_OBJECT = "self.*"
"""What a method leaves of its object, among what it leaves in its arguments."""

_MOST_KINDS = 48
"""Kinds of arguments that a function is summarized for; for others its annotation counts."""


class Summaries:
    """What the project's functions return."""

    def __init__(self, analysis: Interprocedural, activations: Activations, table: Table) -> None:
        self._analysis = analysis
        self._activations = activations
        self._table = table
        self._decorating = decorating.Decorating(analysis)
        self._kinds: dict[Function, int] = {}
        """How many kinds of arguments each function was summarized for."""

    def summary(
        self,
        frame: Frame,
        routine: FunctionValue,
        given: CallSite,
        node: ast.Call,
        env: Environment,
    ) -> Summary:
        """What calling a function of the project does; `env` takes what the call changes."""
        definition = routine.definition
        parameters = bound(self._analysis, definition, routine.receiver, given)
        wrapper = None if self._analysis.is_intraprocedural else self._decorating.wrapper(routine)
        if wrapper is not None:
            return self._wrapped(frame, wrapper, routine, parameters, given, node, env)
        self._analysis.records.call_of(frame, node, definition, parameters)
        surely_given.mark(definition, parameters, node, given, frame)
        is_followed = (
            node is not frame.discarded
            or self._counts_whole(routine, parameters)
            or any(_is_changeable(definition, *each) for each in parameters.items())
            or outer_variables.may_change(routine, parameters)
            or bool(self._changed_fields(routine))
        )
        if is_followed:
            routine = outer_variables.called_in(self._analysis.closures, frame, routine, env)
            with self._analysis.records.through(frame, node, definition.name):
                summary = self.result(routine, parameters, given.autocast)
        else:
            summary = Summary(UNKNOWN)  # nobody looks at what it returns
        outer_variables.take(summary.changed, frame, env)
        self._analysis.records.rejected(frame, node, summary.rejections)
        _apply_side_effects(summary, routine, parameters, node, env)
        if self._changed_fields(routine):
            self._change_object(summary, routine, env)
        taken = frozenset[str]()
        if self._analysis.is_program_run:
            left, evaluate = summary.out_state, Evaluator(self._analysis, frame)
            taken = casts_by_calls.take(evaluate, routine, parameters, left, node, env)
        casts.cast_by(routine, parameters, env, taken)
        return summary

    def _wrapped(
        self,
        frame: Frame,
        wrapper: Value,
        routine: FunctionValue,
        parameters: Environment,
        given: CallSite,
        node: ast.Call,
        env: Environment,
    ) -> Summary:
        """What a call of a function does that a decorator has put another one in the place of."""
        if not decorating.hands_on(wrapper):
            parameters = Environment(dict.fromkeys(parameters, UNKNOWN))
        self._analysis.records.call_of(frame, node, routine.definition, parameters)
        evaluate = Evaluator(self._analysis, frame)
        inner = decorating.given_to_wrapper(routine, given)
        return Summary(applied(evaluate, node, UNKNOWN, wrapper, inner, env))

    def _changed_fields(self, routine: FunctionValue) -> frozenset[str]:
        """The fields of its object that a method may change."""
        match routine.receiver:
            case Instance(fields=fields, definition=definition) if fields:
                changed = self._analysis.classes.changed_by(definition, routine.definition)
                return changed.intersection(name for name, _ in fields) if changed else changed
        return frozenset()

    def _change_object(self, summary: Summary, routine: FunctionValue, env: Environment) -> None:
        """The object of a method after a call; without the fields that may be anything."""
        made, changed = routine.receiver, self._changed_fields(routine)
        assert isinstance(made, Instance)
        left = summary.out_state.get(_OBJECT)
        if not isinstance(left, Instance):
            kept = tuple((name, value) for name, value in made.fields if name not in changed)
            left = replace(made, fields=kept)
        replace_everywhere(made, left, env)

    def result(self, routine: FunctionValue, given: Environment, region: Region | None) -> Summary:
        """What a function returns for arguments like these."""
        definition = routine.definition
        is_followed = not (self._analysis.is_intraprocedural or definition.is_stub)
        if not is_followed or self._activations.is_too_deep:
            return self._unknown(definition)
        env = given.copy()
        roots: dict[Root, Value] = {}
        for name, value in given.items():
            env[name] = as_term(value, root := Parameter(definition, name))
            if env[name] is not value:
                roots[root] = value
        if routine.receiver is not None and definition.parameters:
            bind_self(definition, env, routine.receiver)
        key = _key_of_call(routine, env, region)
        if key not in self._table:
            self._kinds[definition] = self._kinds.get(definition, 0) + 1
            if self._kinds[definition] > _MOST_KINDS:
                return self._unknown(definition)
        summary = self._entry(key, routine, env, region)
        if not roots:
            return summary
        resolve = Resolution(self._analysis, roots.get)
        left = {name: resolve(each) for name, each in summary.out_state.items()}
        changed = {
            place: Change(each.before, resolve(each.value))
            for place, each in summary.changed.items()
        }
        return Summary(resolve(summary.value), left, changed, summary.rejections)

    def _entry(
        self, key: Hashable, routine: FunctionValue, env: Environment, region: Region | None
    ) -> Summary:
        """What a body does; in the run of a program, other modules have a budget of their own."""
        budget = self._analysis.budget
        is_charged = key in self._table or budget.is_aside or not self._is_elsewhere(routine, env)
        if not is_charged and not budget.may_go_aside:
            return self._unknown(routine.definition)
        with nullcontext() if is_charged else budget.aside():
            return self._table.entry(key, lambda: self._summarized(routine, env, region))
        return self._unknown(routine.definition)  # the budget was spent on the way

    def _counts_whole(self, routine: FunctionValue, given: Environment) -> bool:
        """True in the run of a program for a body all of whose statements count.

        Only calls of the program's own file are judged. Another module comes to these by what it is
        given; else it counts for what it returns and changes, as in any other analysis.
        """
        return self._analysis.is_program_run and (
            routine.definition.is_initialiser or not self._is_elsewhere(routine, given)
        )

    def _is_elsewhere(self, routine: FunctionValue, given: Environment) -> bool:
        """True in the run of a program for a body that does not come back to its own file."""
        if not self._analysis.is_program_run:
            return False
        own = self._analysis.records.module
        is_own = routine.definition.module is own
        return not is_own and not leads_to(own, (routine.receiver, *given.values()))

    def _unknown(self, definition: Function) -> Summary:
        """What a body can do that is not followed."""
        return Summary(self._declared(definition), {}, outer_variables.anything(definition))

    def _declared(self, definition: Function) -> Value:
        """What the annotation of a function says that it returns."""
        node = definition.node
        if isinstance(node, ast.Lambda) or node.returns is None or "token" in node.name:
            return UNKNOWN
        return annotated(self._analysis, definition.module, node.returns, node.returns)

    def _summarized(
        self, routine: FunctionValue, env: Environment, region: Region | None
    ) -> Summary:
        """Interpret the body, as far as its result and its containers need it."""
        definition = routine.definition
        held = tuple(name for name, value in env.items() if _is_changeable(definition, name, value))
        closure = routine.closure or {}
        fields = self._changed_fields(routine)
        changing = (*held, *definition.scope.changed, *(f"self.{name}" for name in sorted(fields)))
        calling = outer_variables.calling(definition, env, closure)
        within = None
        if not self._counts_whole(routine, env):
            within = definition.module.fact(
                (Summaries, definition.node, changing, calling),
                lambda: backward_slice(
                    definition.def_uses, _returning_or_changing(changing, calling)
                ),
            )
        # a copy: the entry is computed again, from the same arguments, if it needs itself
        frame = self._activations.run_closing_over(
            routine.closure, definition, env.copy(), within, region
        )
        value = frame.returned
        if not isinstance(frame.yielded, Bottom):
            opened = definition.is_context and any(frame.yielding)
            is_each = definition.yields_in_order == len(frame.yields) and not definition.is_context
            in_order = Sequence(frame.yielded, tuple(frame.yields) if is_each else None)
            value = _region_entered(frame) if opened else in_order
        if self._analysis.is_program_run and definition.is_initialiser:
            held += attributes_left(definition, frame)
        elif self._counts_whole(routine, env):
            held += tuple(sorted(casts_by_calls.modules_cast(definition, env)))
        left = {name: join_all([end.get(name, UNKNOWN) for end in frame.exits]) for name in held}
        if fields:
            left[_OBJECT] = join_all([end.get("self", UNKNOWN) for end in frame.exits])
        rejections = tuple(one for found in frame.rejections.values() for one in found)
        return Summary(value, left, outer_variables.left(definition, closure, frame), rejections)


def _region_entered(frame: Frame) -> Value:
    """The autocast region that a generator is in where it yields, as who enters it has it."""
    return join_all(
        [
            AutocastContext(None, None)
            if each is None
            else AutocastContext(each.device, each.dtype)
            for each in frame.yielding
        ]
    )


def _is_container(value: Value) -> bool:
    return isinstance(value, Sequence | Dictionary)


def _is_changeable(definition: Function, name: str, value: Value) -> bool:
    return _is_container(value) or _is_changed_object(definition, name, value)


def _is_changed_object(definition: Function, name: str, value: Value) -> bool:
    """True for a record of whose fields a function may assign or change some."""
    if not isinstance(value, Instance) or not value.fields or name == "self":
        return False
    is_written = any(name in effect.writes for effect in definition.def_uses)
    return is_written and name in {each.arg for each in definition.parameters}


def _apply_side_effects(
    summary: Summary,
    routine: FunctionValue,
    bound: Environment,
    node: ast.Call,
    env: Environment,
) -> None:
    """What the call did to the lists and objects that it was given; anything, if not known."""
    names = [parameter.arg for parameter in routine.definition.parameters]
    if routine.receiver is not None and names:
        _forget_attributes(node, env)
        names = names[1:]
    by_name = ((each.arg, each.value) for each in node.keywords if each.arg is not None)
    for name, argument in (*zip(names, node.args, strict=False), *by_name):
        made = bound.get(name)
        if isinstance(made, Instance) and _is_changed_object(routine.definition, name, made):
            left = summary.out_state.get(name)
            known = left if isinstance(left, Instance) else replace(made, fields=())
            is_same = not any(
                name in bound_names(each.node) for each in routine.definition.def_uses
            )
            replace_everywhere(made, known if is_same else join(made, known), env)
        if isinstance(argument, ast.Name | ast.Attribute) and isinstance(
            given := bound.get(name), Sequence | Dictionary
        ):
            grown = join(given, summary.out_state.get(name, type(given)(UNKNOWN)))
            if grown != given:
                bind(argument, grown, env)


def _forget_attributes(node: ast.Call, env: Environment) -> None:
    """A method may have assigned attributes: what the class says of them holds again."""
    if not isinstance(node.func, ast.Attribute):
        return
    owner = ast.unparse(node.func.value)
    for path in [path for path in env.paths if path.startswith(f"{owner}.")]:
        env.paths.discard(path)
        env.pop(path, None)


def _returning_or_changing(
    names: tuple[str, ...], calling: frozenset[str]
) -> Callable[[DefUse], bool]:
    """Whether a statement returns, yields, or changes what one of some names holds.

    So does what names a function of `calling`, which changes variables of other scopes.
    """

    of_object = any(name.startswith("self.") for name in names)

    def changes(effect: DefUse) -> bool:
        is_call_of_own = of_object and "self.*" in effect.writes
        return is_call_of_own or not effect.writes.isdisjoint(names)

    def is_asked(effect: DefUse) -> bool:
        if calling and not effect.reads.isdisjoint(calling):
            return True
        match effect.node:
            case ast.Return():
                return True
            case ast.Expr(value=value) | ast.Assign(value=value):
                is_yielding = isinstance(value, ast.Yield | ast.YieldFrom)
                return is_yielding or changes(effect)
            case ast.AugAssign() | ast.AnnAssign():
                return changes(effect)
        return False

    return is_asked


def _key_of_call(routine: FunctionValue, env: Environment, region: Region | None) -> Hashable:
    """Calls with equal keys share a summary."""
    return (
        "result",
        routine.definition,
        tuple((name, key_of(value)) for name, value in env.items()),
        None if region is None else (region.device, key_of(region.dtype)),
        _closed_over(routine),
    )


def _closed_over(routine: FunctionValue) -> Hashable:
    """What a nested function reads of the function around it."""
    if routine.closure is None:
        return None
    closure = routine.closure
    reads = {name for effect in routine.definition.def_uses for name in effect.reads}
    reads |= routine.definition.changes
    if isinstance(routine.definition.node, ast.Lambda):
        reads = {each.id for each in walk(routine.definition.node) if isinstance(each, ast.Name)}
    return tuple((name, key_of(closure[name])) for name in sorted(reads) if name in closure)


def key_of(value: Value) -> Hashable:
    """A value with the places that its dtypes come from: summaries hand them on."""
    match value:
        case Tensor(origin=origin) | Dtype(origin=origin):
            return value, _place(origin)
        case ModelOutput(tensor=tensor):
            return "output", key_of(tensor)
        case Model(parameters=parameters, cast=cast, adapter=adapter):
            return value, key_of(parameters), _place(cast), _place(adapter)
        case Sequence(items=items, item=item, head=head):
            known = None if items is None else tuple(map(key_of, items))
            return "sequence", key_of(item), known, tuple(map(key_of, head))
        case Dictionary(items=items, item=item, default=default):
            return (
                "dictionary",
                key_of(item),
                None if items is None else tuple((key, key_of(held)) for key, held in items),
                key_of(default),
            )
        case Mixed(tensor=tensor, array=array, sequence=sequence, mapping=mapping, other=other):
            held = (tensor, array, sequence, mapping, other)
            return tuple(None if one is None else key_of(one) for one in held)
        case Partial(function=function, arguments=arguments, keywords=keywords):
            given = (*arguments, *(one for _, one in keywords))
            return "partial", key_of(function), tuple(map(key_of, given)), tuple(dict(keywords))
        case AutocastContext(device=device, dtype=Dtype() as dtype):
            return "autocast", device, key_of(dtype)
        case OneOf(members=members):
            return "one of", *map(key_of, members)
        case Instance(definition=definition, fields=fields, parameters=parameters):
            weights = None if parameters is None else key_of(parameters)
            return definition, tuple((name, key_of(held)) for name, held in fields), weights
    return value


def _place(origin: Origin | None) -> Hashable:
    return None if origin is None else (origin.span, id(origin.source))
