"""The objects of the project's classes: how they are made, and what their attributes are."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from precision_lint.facts.dtypes.domain.calls import CallSite
from precision_lint.facts.dtypes.domain.containers import in_containers, keyword_of
from precision_lint.facts.dtypes.domain.environment import Environment
from precision_lint.facts.dtypes.domain.kin import related
from precision_lint.facts.dtypes.domain.lattice import (
    by_dtypes,
    join,
    join_all,
    join_tensors,
    reading,
)
from precision_lint.facts.dtypes.domain.terms import Step
from precision_lint.facts.dtypes.domain.values import (
    BOTTOM,
    UNKNOWN,
    Bottom,
    ClassObject,
    Constant,
    Dictionary,
    Dtype,
    FunctionValue,
    Instance,
    Model,
    Partial,
    Sequence,
    Tensor,
    Unknown,
    Value,
    Variable,
    caller_chosen,
)
from precision_lint.facts.dtypes.interpreter import casts, defaults, loaded_in_half
from precision_lint.facts.dtypes.interpreter.annotations import annotated
from precision_lint.facts.dtypes.interpreter.entries import Summary, Table
from precision_lint.facts.dtypes.interpreter.expressions import Evaluator
from precision_lint.facts.dtypes.interpreter.frame import Frame
from precision_lint.facts.dtypes.interpreter.protocols import Interprocedural
from precision_lint.facts.dtypes.operators import functions
from precision_lint.facts.dtypes.operators.lookup import of_method, prepared, preparing
from precision_lint.facts.dtypes.syntax.bodies import bodies_at
from precision_lint.facts.dtypes.syntax.definitions import Class, Function, Module
from precision_lint.facts.dtypes.syntax.delegating import delegate_of
from precision_lint.facts.dtypes.syntax.mentions import (
    rows_where_added,
    rows_where_assigned,
    rows_where_cast,
)
from precision_lint.facts.dtypes.syntax.record_initialisers import default_of, is_given
from precision_lint.facts.dtypes.whole_program import (
    completing,
    computed_names,
    record_settings,
    registries,
)
from precision_lint.facts.dtypes.whole_program.classes import Classes
from precision_lint.facts.dtypes.whole_program.constructions import constructed
from precision_lint.facts.dtypes.whole_program.moving import Moving
from precision_lint.facts.dtypes.whole_program.parameters import bound, entry_state
from precision_lint.facts.dtypes.whole_program.program import Program
from precision_lint.facts.dtypes.whole_program.resolution import Resolution
from precision_lint.facts.dtypes.whole_program.summaries import key_of
from precision_lint.facts.dtypes.whole_program.tracing import Tracing
from precision_lint.facts.origin import Setting
from precision_lint.model.dtypes import FLOAT32, FLOATING, HALF
from precision_lint.source.python.syntax import last_name

_WRAPPED = frozenset({"module", "_orig_mod"})
"""What `DistributedDataParallel` and `torch.compile` call the module that they wrap."""

_HEAD = "lm_head"
"""A `Linear` in 304 of the 313 places of transformers 5.23.0 that assign it, and else a module that
ends with one."""

_EMPTY = Sequence(BOTTOM, ())

_MOST_OVERRIDING = 4
"""Subclasses whose methods are followed where their base class calls them."""


class Instances:
    """Objects of the project's classes."""

    def __init__(
        self,
        analysis: Interprocedural,
        program: Program,
        classes: Classes,
        tracing: Tracing,
        moving: Moving,
        resolve: Resolution,
        table: Table,
    ) -> None:
        self._analysis = analysis
        self._program = program
        self._classes = classes
        self._tracing = tracing
        self._moving = moving
        self._resolve = resolve
        self._table = table

    def made(
        self,
        frame: Frame,
        definition: Class,
        given: CallSite,
        node: ast.Call,
        env: Environment,
    ) -> Instance:
        """What a call of a class makes; `env` takes what the call changes."""
        initialiser = self._classes.method(definition, "__init__")
        instance = Instance(definition)
        if initialiser is None and self._classes.is_record(definition):
            fields = self._fields(frame, definition, given, node)
            self._made_record(frame, definition, dict(fields), node)
            return self._completed_record(Instance(definition, fields))
        if initialiser is None and self._classes.derives_from(definition, "dict"):
            return Instance(definition, _entries(given))
        if self._classes.is_module(definition):
            weights = Tensor(frozenset({given.default_dtype}))
            instance = replace(instance, parameters=weights)
        if initialiser is None:
            return instance
        if self._analysis.is_program_run:
            routine = FunctionValue(initialiser, instance)
            left = self._analysis.summaries.summary(frame, routine, given, node, env).out_state
            fields = constructed(self._classes, self._program, definition, initialiser, left)
            return replace(instance, fields=fields)
        parameters = bound(self._analysis, initialiser, instance, given)
        self._analysis.records.call_of(frame, node, initialiser, parameters)
        casts.cast_by(FunctionValue(initialiser, instance), parameters, env)
        return instance

    def _made_record(
        self, frame: Frame, definition: Class, fields: Mapping[str, Value], node: ast.Call
    ) -> None:
        """A call makes a record: its class and the bases take the fields that they declare."""
        for each in self._classes.bases(definition):
            if each.initialiser is not None:
                own = {name: fields[name] for name in each.annotated if name in fields}
                self._analysis.records.call_of(frame, node, each.initialiser, Environment(own))

    def _completed_record(self, made: Instance) -> Instance:
        """A record after its `__post_init__`. What that leaves to other methods, the class says."""
        method = completing.completing(self._classes, made.definition)
        if method is None:
            return made
        names = completing.completed_fields(self._classes, made.definition, method)
        lost = completing.left_open(self._classes, made.definition, method)
        if self._analysis.is_intraprocedural:
            lost |= names
            names = frozenset()
        kept = {name: value for name, value in made.fields if name not in lost}
        if not names:
            return replace(made, fields=tuple(kept.items()))

        def complete() -> Summary:
            given = replace(made, fields=tuple(kept.items()))
            return Summary(UNKNOWN, completing.completed(self._tracing, method, given, names))

        left = self._table.entry(("completed", key_of(made)), complete).out_state
        unknown = dict.fromkeys(names, UNKNOWN)  # none yet, if it needs itself
        return replace(made, fields=tuple({**kept, **unknown, **left}.items()))

    def _fields(
        self, frame: Frame, definition: Class, given: CallSite, node: ast.Call
    ) -> tuple[tuple[str, Value], ...]:
        """The fields of a record that is made of some arguments."""
        bases = self._classes.bases(definition)
        annotated_fields = {
            name: field for each in reversed(bases) for name, field in each.annotated.items()
        }
        names = [name for name, field in annotated_fields.items() if is_given(field)]
        by_default: dict[str, Value] = {}
        for each in reversed(bases):
            by_default.update(self._defaults(each))
        configuration = self._analysis.configuration
        by_default.update(record_settings.filled(configuration, definition, by_default))
        is_open = any(argument.starred for argument in given.arguments)
        fields = dict.fromkeys(names, UNKNOWN) | ({} if is_open else by_default)
        if "**" in given.keywords:
            spread = given.keywords["**"].value
            for name in names:
                said = record_settings.of_section(configuration, frame.module, node, name)
                fields[name] = self._spread(definition, spread, name, said)
        for name, argument in zip(names, given.arguments, strict=False):
            if argument.starred:
                break
            fields[name] = argument.value
        for name, argument in given.keywords.items():
            if name in fields:
                fields[name] = argument.value
        return tuple(fields.items())

    def _spread(self, definition: Class, spread: Value, name: str, said: Setting | None) -> Value:
        """What `Config(**vars(args))` gives to a field: what a run chooses, or its default.

        `said` is what files say of the field.
        """
        value = keyword_of(spread, name)
        if said is not None and isinstance(reading(value), Unknown):
            return said
        if not isinstance(reading(value), Unknown) or isinstance(value, Variable):
            return value
        owner = next(each for each in self._classes.bases(definition) if name in each.annotated)
        chosen = self._analysis.configuration.option(owner.module, name)
        given = () if chosen is None else tuple(one for one in chosen.choices if not one.of_field)
        if given:
            return Setting(given)
        return self._default_of(owner, name) or self._inner_record(owner, name) or value

    def _inner_record(self, owner: Class, name: str) -> Instance | None:
        """The record that a field of one holds, with what files say in the section of its name."""
        field = owner.annotated[name]
        declared = annotated(self._analysis, owner.module, field.annotation, field.target)
        if not isinstance(declared, Instance) or not self._classes.is_record(declared.definition):
            return None
        bases = self._classes.bases(declared.definition)
        inner = [each for base in bases for each in base.annotated]
        configuration = self._analysis.configuration
        said = record_settings.in_section(configuration, owner.module, name, inner)
        return replace(declared, fields=said) if said else None

    def _defaults(self, definition: Class) -> Mapping[str, Value]:
        """The defaults of the fields of a record."""

        def compute() -> Summary:
            evaluate = Evaluator(self._analysis, Frame(definition.module))
            declared = ((name, default_of(one)) for name, one in definition.annotated.items())
            found = {name: evaluate(one, Environment()) for name, one in declared if one}
            return Summary(UNKNOWN, found)

        return self._table.entry(("defaults", definition), compute).out_state

    def attribute(self, instance: Instance, name: str) -> Value | None:
        """`instance.name`; None if the project does not say."""
        known = instance.field(name)
        if known is not None:
            return self._completed(instance, name, known)
        definition = instance.definition
        method = self._classes.method(definition, name)
        if method is not None:
            if method.is_static:
                return FunctionValue(method)
            if method.is_class_method:
                return FunctionValue(method, ClassObject(definition))
            value = FunctionValue(method, instance)
            if method.is_property:
                return self._analysis.summaries.result(value, Environment(), None).value
            return value
        if self._analysis.is_intraprocedural:
            return None
        held = self._held(instance, name)
        if held is None:
            inner = self._classes.inner(definition, name) or self._inherited_head(instance, name)
            return self._delegated(instance, name) if inner is None else inner
        return related(held, instance.kin)

    def _inherited_head(self, instance: Instance, name: str) -> Value | None:
        """The layer that a model of transformers leaves to its subclasses: `self.lm_head`."""
        weights, definition = instance.parameters, instance.definition
        if name != _HEAD or weights is None or not self._classes.is_of_transformers(definition):
            return None
        head = Model(Tensor(frozenset({FLOAT32})), "Linear")
        return loaded_in_half.held(self._classes, definition, name, head, weights)

    def _delegated(self, instance: Instance, name: str) -> Value | None:
        """An attribute of what an object holds, if `__getattr__` of its class hands it on."""
        for each in self._classes.bases(instance.definition):
            held = delegate_of(each)
            if held is None or held.attr == name or name.startswith("__"):
                continue
            match self.attribute(instance, held.attr):
                case Instance(definition=definition) as inner if definition is not each:
                    return self.attribute(inner, name)
                case Variable() as given:
                    read = ast.copy_location(ast.Attribute(held, name, ast.Load()), held)
                    return given.then(Step("attribute", read, module=each.module))
            return None
        return None

    def _completed(self, instance: Instance, name: str, known: Value) -> Value | None:
        """A field; one that only some paths set holds there, and what the class says elsewhere."""
        match known:
            case Tensor(may_be_other=True) | Model(parameters=Tensor(may_be_other=True)):
                if self._analysis.is_intraprocedural:
                    return None
                held = self._held(instance, name)
                set_there = by_dtypes(lambda dtypes: replace(dtypes, may_be_other=False), known)
                return known if held is None else join(set_there, held)
        return known

    def of_class(self, definition: Class, name: str) -> Value | None:
        """`Class.name`: a method, or what the class or its methods assign; None if nothing does."""
        found = self._classes.attribute(definition, name)
        if isinstance(found, FunctionValue):
            return found
        if name == "apply" and self._classes.derives_from(definition, "Function"):
            return self._applied(definition)
        if self._analysis.is_intraprocedural:
            return None if found == Constant(None) else found  # methods assign what it stands for
        held = self._held(Instance(definition), name)
        return found if held is None else held

    def _applied(self, definition: Class) -> Value | None:
        """What `apply` of an autograd function calls: its `forward`, with a context of its own."""
        forward = self._classes.attribute(definition, "forward")
        takes_context = self._classes.method(definition, "setup_context") is None
        return Partial(forward, (UNKNOWN,)) if forward is not None and takes_context else forward

    def overriding(self, instance: Instance, name: str) -> list[FunctionValue]:
        """The methods that subclasses have for one that a class calls and does not define itself.

        Each is bound to an object of its subclass. Empty if there are many: which of them runs is
        not known.
        """
        if self._analysis.is_intraprocedural or name.startswith("__"):
            return []
        bases = self._classes.bases
        found = [
            FunctionValue(each.methods[name], replace(instance, definition=each))
            for module in self._program.defining(name)
            for each in module.top.values()
            if isinstance(each, Class)
            and name in each.methods
            and instance.definition in bases(each)[1:]
        ]
        return found if len(found) <= _MOST_OVERRIDING else []

    def _held(self, instance: Instance, name: str) -> Value | None:
        """What an object has been assigned."""
        definition = instance.definition
        key = ("attribute", definition, name)
        value = self._table.entry(key, lambda: Summary(self._assigned(definition, name))).value
        if self._is_being_assigned(definition, name):
            self._table.forget(key)
        if isinstance(value, Bottom) and not self._table.is_in_progress(key):
            return instance if name in _WRAPPED else None
        weights = instance.parameters
        if self._analysis.is_program_run:
            # A cast may come later, or never: who gives the module is not recorded in such a run.
            is_given = isinstance(value, Model) and value.parameters.is_open
            value = self._resolve(value)
            if is_given or self._program.is_assigned_from_outside(name):
                value = join(value, UNKNOWN)
            if weights is None and not self._classes.is_module(definition):
                return value  # nobody outside of the program holds the object
        if weights is None:
            return self._as_cast(definition, name, self._as_held(definition, value))
        if self._analysis.is_half_run and weights.dtypes & HALF:
            return loaded_in_half.held(self._classes, definition, name, value, weights)
        is_as_made = weights.origin is None and not weights.is_open
        if is_as_made:
            return value
        if isinstance(value, Tensor) and self._is_registered(definition, name):
            is_floating = value.caller_chosen or value.dtypes & FLOATING
            return replace(weights, scalar=value.scalar) if is_floating else value
        left = self._left(instance, name, value)
        return self._moved(value, weights) if isinstance(left, Bottom) else left

    def _is_being_assigned(self, definition: Class, name: str) -> bool:
        """True while a method that assigns or casts an attribute is traced for another one.

        `for part in (self.vae, self.unet): part.to(dtype)` casts both, one after the other.
        """
        return any(
            rows and not rows.isdisjoint(method.rows_assigning(name))
            for each in self._classes.bases(definition)
            for method in each.methods_assigning.get(name, ())
            for rows in (self._tracing.running(method),)
        )

    def _left(self, instance: Instance, name: str, value: Value) -> Value:
        """What methods of a module that was cast leave in an attribute: results of its layers."""
        if not isinstance(value, Tensor | Variable):
            return BOTTOM
        setting = [
            method
            for each in self._classes.bases(instance.definition)
            for method in each.methods_assigning.get(name, ())
            if method.owner is not None and method.parameters
        ]
        if all(method.is_initialiser for method in setting):
            return BOTTOM
        key = ("left", instance.definition, name, instance.parameters)

        def left() -> Summary:
            found = (self._tracing.left_by_method(each, instance, name) for each in setting)
            return Summary(join_all([*found]))

        return self._table.entry(key, left).value

    def _as_cast(self, definition: Class, name: str, value: Value) -> Value:
        """A parameter or buffer of `self`, with the dtypes to which programs cast the module."""
        if not isinstance(value, Tensor) or not value.caller_chosen:
            return value
        is_run = self._analysis.is_half_run or self._analysis.is_program_run
        if is_run or not self._is_registered(definition, name):
            return value
        if not self._classes.reads_in_forward(definition, name):
            return value
        key = ("cast", definition)
        cast = self._table.entry(key, lambda: Summary(self._moving.cast_to(definition) or BOTTOM))
        if not isinstance(cast.value, Tensor):
            return value
        return join_tensors(replace(value, origin=None), cast.value)

    def _is_registered(self, definition: Class, name: str) -> bool:
        """True for a parameter or buffer of a module, which a cast of the module casts."""
        return any(name in each.registered for each in self._classes.bases(definition))

    def _assigned(self, definition: Class, name: str) -> Value:
        """What methods assign to an attribute, else other code; if neither says, its annotation.

        In a run of weights in half precision, what other code assigns stays unknown.
        """
        found: Value = BOTTOM
        completed = self._completed_by_class(definition, name)
        if completed is not None:
            found = completed
        for each in self._classes.bases(definition):
            setting = each.methods_assigning.get(name, ())
            table = f"{each.name}.{name}"
            is_table = bool(setting or name in each.assigned) and bool(
                registries.fillers(each.module, table)
            )
            for method in setting:
                if is_table and registries.fills(method, table):
                    continue  # what it is given is seen where it decorates
                if completed is not None and method is each.initialiser:
                    continue  # `__post_init__` replaces what it was given
                rows = method.rows_assigning(name)
                self._tracing.function(method, rows)
            found = join(found, self._analysis.records.assigned.get((each, name), BOTTOM))
            if name in each.assigned:
                found = join(found, self._classes.assigned(each, name))
            if is_table and isinstance(found, Dictionary):
                found = registries.as_registered(self._program, each.module, table, found)
        if isinstance(found, Bottom | Dtype):
            found = join(found, self._set_by_name(definition, name))
        from_outside = () if self._analysis.is_half_run else (self._assigned_from_outside,)
        for says in (*from_outside, self._declared):
            if isinstance(found, Bottom) or found in (UNKNOWN, Constant(None)):
                value = says(definition, name)
                found = found if isinstance(value, Bottom) else value
        if isinstance(found, Variable | Model):
            found = join(found, self._cast_from_outside(definition, name))
        is_run = self._analysis.is_half_run or self._analysis.is_program_run
        if found == _EMPTY and not is_run:
            found = join(found, self._added_from_outside(definition, name))
        return self._prepared(definition, name, found)

    def _completed_by_class(self, definition: Class, name: str) -> Value | None:
        """What `__post_init__` leaves in a field, of what callers give; None if it leaves it."""
        method = completing.completing(self._classes, definition)
        if method is None or self._classes.method(definition, "__init__") is not None:
            return None
        names = completing.completed_fields(self._classes, definition, method)
        if name not in names:
            return None
        given = Environment()
        for each in reversed(self._classes.bases(definition)):
            if each.initialiser is not None:
                given.update(entry_state(self._analysis, each.initialiser))
        given.pop("self", None)
        record = Instance(definition, tuple(given.items()))
        return completing.completed(self._tracing, method, record, {name})[name]

    def _set_by_name(self, definition: Class, name: str) -> Value:
        """What a class makes of names that are not in its source: `setattr(self, key, value)`.

        Not of one with bases: each class of a family would ask for all that make any of them.
        """
        found: Value = BOTTOM
        own = {} if definition.node.bases else definition.setting_by_name
        for method, rows in own.items():
            left = self._left_under_any_name(definition, method, rows)
            if name in left.out_state or not left.out_state:
                found = join(found, computed_names.under(name, left.value))
        return found

    def _left_under_any_name(self, owner: Class, method: Function, rows: frozenset[int]) -> Summary:
        """What a method assigns by computed names, with those that it takes, if it says which."""

        def compute() -> Summary:
            receiver = Instance(owner)
            left = self._tracing.left_under_name(method, receiver, computed_names.ANY, rows)
            return Summary(left[0], dict.fromkeys(left[1], UNKNOWN))

        return self._table.entry(("by name", method), compute)

    def _prepared(self, definition: Class, name: str, value: Value) -> Value:
        """A module that methods give to a library, which changes it for all that hold it."""
        if not isinstance(value, Variable | Model | Instance):
            return value
        for each in self._classes.bases(definition):
            method = each.prepared.get(name)
            if method is None or of_method(last_name(method.value), method.attr) is None:
                continue
            match method.value:
                case ast.Attribute(value=ast.Name(id="self"), attr=holder):
                    owner = self._held(Instance(definition), holder)
                case _:
                    owner = None
            return prepared(value, *preparing(owner or UNKNOWN))
        return value

    def _assigned_from_outside(self, definition: Class, name: str) -> Value:
        """What other code assigns to an attribute of objects of a class."""
        with self._analysis.budget.for_a_question():
            for module in self._program.assigning(name):
                self._trace_rows(module, rows_where_assigned(module.file.text, name))
            values = map(self._resolve, self._recorded_from_outside(definition, name))
            # a dtype that is set is a setting: see `amp.bfloat16_search`
            known = join_all([each for each in values if not isinstance(each, Unknown | Dtype)])
            return known if isinstance(known, Bottom) else join(known, UNKNOWN)  # others may, too
        return UNKNOWN

    def _added_from_outside(self, definition: Class, name: str) -> Value:
        """What other code puts into a list that stays empty here: `engine.hooks.append(f)`."""
        with self._analysis.budget.for_a_question():
            for module in self._program.adding(name):
                self._trace_rows(module, rows_where_added(module.file.text, name))
            added = self._of_objects(definition, self._analysis.records.added_from_outside, name)
            return Sequence(join_all(added)) if added else BOTTOM
        return UNKNOWN

    def _cast_from_outside(self, definition: Class, name: str) -> Value:
        """The model of an attribute after casts by code outside the class."""
        for module in self._program.casting(name):
            self._trace_rows(module, rows_where_cast(module.file.text, name))
        values = self._recorded_from_outside(definition, name)
        modules = [each for each in values if isinstance(self._resolve(each), Model | Instance)]
        # what was read while the attribute was being worked out is known by its name alone
        given = [each for each in modules if isinstance(each, Variable)]
        return join_all(given or modules)

    def _trace_rows(self, module: Module, rows: list[int]) -> None:
        """Trace the bodies of a module that hold some rows."""
        for body, inside in list(bodies_at(module, rows)):
            self._tracing.body(body, inside)

    def _recorded_from_outside(self, definition: Class, name: str) -> list[Value]:
        """What the traced bodies give to an attribute of objects of a class."""
        return self._of_objects(definition, self._analysis.records.assigned_from_outside, name)

    def _of_objects(
        self, definition: Class, given: Mapping[str, list[tuple[Value, Value]]], name: str
    ) -> list[Value]:
        """Those of the values given under a name that objects of a class get."""
        return [
            value
            for holder, value in list(given.get(name, ()))
            if self._classes.is_object_of(definition, reading(self._resolve(holder)))
        ]

    def _declared(self, definition: Class, name: str) -> Value:
        """What the annotation of an attribute says."""
        for each in self._classes.bases(definition):
            if name in each.declared:
                declared = each.declared[name]
                return self._default_of(each, name) or annotated(
                    self._analysis, each.module, declared.annotation, declared.target
                )
        return BOTTOM

    def _default_of(self, definition: Class, name: str) -> Dtype | Setting | None:
        """The half dtype that a field has by default, as one of those that it can have."""
        field = definition.annotated.get(name)
        if field is None or field.value is None:
            return None
        file = definition.module.file
        default = self._defaults(definition).get(name, UNKNOWN)  # none yet, if it needs itself
        match defaults.or_default(UNKNOWN, default, file.text, file.span_of(field.value)):
            case Dtype(dtypes=dtypes) as dtype if dtypes & HALF:
                return replace(dtype, may_be_other=True)
            case Setting() as setting:
                return setting
        return None

    def _as_held(self, owner: Class, value: Value) -> Value:
        """A module that an object holds: whoever holds the object may have moved it."""
        loaded = self._classes.loaded(owner)
        match value:
            case Model(parameters=parameters):
                held = replace(parameters, caller_chosen=True)
                if loaded is not None:  # whoever loads it chooses, besides who gives a module
                    held = join_tensors(held, caller_chosen(loaded))
                return replace(value, parameters=held)
            case Instance(definition=definition, parameters=made):
                if loaded is not None and self._classes.is_module(definition):
                    return replace(value, parameters=caller_chosen(loaded))
                if made is not None and (made.dtypes & HALF or made.clauses):
                    return replace(value, parameters=replace(made, caller_chosen=True))
                return self._classes.settled(replace(value, parameters=None))
        return in_containers(lambda one: self._as_held(owner, one), value)

    def _moved(self, value: Value, weights: Tensor) -> Value:
        """What an object holds after a cast of the object: its modules take part."""
        match value:
            case Model():
                return replace(value, parameters=weights)
            case Instance(definition=definition, fields=fields) if self._classes.is_module(
                definition
            ):
                held = tuple((name, self._moved(field, weights)) for name, field in fields)
                return replace(value, fields=held, parameters=weights)
        return in_containers(lambda one: self._moved(one, weights), value)


def _entries(given: CallSite) -> tuple[tuple[str, Value], ...]:
    """What a subclass of `dict` is made with, by name."""
    match functions.builtin("dict", given):
        case Dictionary(items=tuple(items)):
            return tuple((key, value) for key, value in items if isinstance(key, str))
    return ()
