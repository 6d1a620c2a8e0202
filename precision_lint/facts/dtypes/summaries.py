"""The analysis of one file: its bodies interpreted, and whatever they call, as far as it matters.

A function is interpreted in two ways. Once *traced*, with what all of its callers in the project
give it, to learn the facts at the calls that rules asked for. And *summarised* for each kind of
arguments that it is called with, to learn what it returns. Attributes of `self` are the join of
what the methods of a class assign.

Recursion needs entries that are being computed: see `fixpoint`.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TypeVar

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes import sources
from precision_lint.facts.dtypes.annotations import annotated
from precision_lint.facts.dtypes.calls import Argument, Call, Calls, CallSite, Region
from precision_lint.facts.dtypes.definitions import Class, Function, Module
from precision_lint.facts.dtypes.environment import Environment, bind
from precision_lint.facts.dtypes.expressions import Evaluator
from precision_lint.facts.dtypes.fixpoint import FixpointTable
from precision_lint.facts.dtypes.frame import Frame
from precision_lint.facts.dtypes.lattice import (
    by_dtypes,
    deep_reading,
    join,
    join_all,
    join_tensors,
    reading,
)
from precision_lint.facts.dtypes.libraries import hooks
from precision_lint.facts.dtypes.mentions import (
    aliases,
    holders,
    rows_calling,
    rows_mentioning,
    rows_where_assigned,
    rows_where_cast,
)
from precision_lint.facts.dtypes.program import Found, Program
from precision_lint.facts.dtypes.protocols import Evaluate
from precision_lint.facts.dtypes.relevance import DefUse, Slice, backward_slice
from precision_lint.facts.dtypes.resolution import Resolution, as_term
from precision_lint.facts.dtypes.statements import StatementInterpreter
from precision_lint.facts.dtypes.terms import Parameter, Root, Term
from precision_lint.facts.dtypes.values import (
    BOTTOM,
    SOME_DTYPE,
    UNKNOWN,
    Bottom,
    ClassObject,
    Constant,
    Dictionary,
    Dtype,
    DtypeSet,
    FunctionValue,
    Instance,
    LibraryObject,
    Mixed,
    Model,
    ModelOutput,
    NonTensor,
    Sequence,
    Symbol,
    Tensor,
    Unknown,
    Value,
    Variable,
    caller_chosen,
    clauses_of,
    perhaps_floating,
)
from precision_lint.facts.origin import Origin, Setting
from precision_lint.facts.settings import holds_settings
from precision_lint.model.dtypes import ALIASES, BFLOAT16, FLOAT32, FLOATING, HALF
from precision_lint.model.finding import Span
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import blocks
from precision_lint.source.python.syntax import callee_name, dotted, with_defaults

_CALLERS_OF_CALLERS = 2
"""How far callers are followed back for what they give to a parameter."""

_DEPTH = 6
"""Calls inside calls that are followed."""

_MOST_KINDS = 48
"""Kinds of arguments that a function is summarised for; for others its annotation counts."""

_INTRAPROCEDURAL_BUDGET = 250_000
"""Expressions that are evaluated for one file by itself: some seconds."""

_INTERPROCEDURAL_BUDGET = 24_000
"""Expressions that are evaluated beyond that: about a second."""

_SECONDARY_BUDGET = 4_000
"""The same for tests, benchmarks and vendored code, whose findings are mostly not shown."""

_LEAST_SHARE = 1_000
"""Expressions that are evaluated for one body where the budget is not enough for all."""

_MOST_CALLERS = 24
"""Bodies that are asked what they give to a function."""


_MOST_OVERRIDING = 4
"""Subclasses whose methods are followed where their base class calls them."""

_LONG = 24
"""Rows of a global's value from which it counts as a table."""


_STEPS = hooks.UNDER_AUTOCAST["lightning.LightningModule"]

_WITH_DTYPES = frozenset({"GradScaler"})
"""Calls that are judged by the dtypes around them, and not by their arguments alone."""


_D = TypeVar("_D", bound=DtypeSet)


class BudgetExceeded(Exception):
    """The budget for one file is spent."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a call gives, and what it leaves in the containers that it was given."""

    value: Value
    out_state: Mapping[str, Value] = field(default_factory=dict)


class InterproceduralAnalysis:
    """What is known of one file and of what it reaches in its project."""

    def __init__(
        self, file: PythonFile, names: frozenset[str], intraprocedural: frozenset[str] = frozenset()
    ) -> None:
        self.names = names
        self.intraprocedural = intraprocedural
        self.program = Program(file)
        self.module = self.program.main
        self.calls = Calls(self.module.imports)
        self.found: dict[ast.Call, Call] = {}
        self.default_dtype = _default_dtype(file)
        self.aliases = aliases(names, self.module.imports)
        self.holders = holders(names, file.text.text)
        called = names | self.aliases.keys() | self.holders.keys()
        self.rows = rows_calling(file.text, called, self.module.imports)
        is_secondary = file.project.is_secondary(file.text.path)
        self._budget = _SECONDARY_BUDGET if is_secondary else _INTERPROCEDURAL_BUDGET
        self._wants_dtypes = bool(names & _WITH_DTYPES)
        self.spent = 0
        self._limit = _INTRAPROCEDURAL_BUDGET
        self.is_intraprocedural = True
        """Bodies are interpreted by themselves: no call, class or import is followed."""
        self._depth = 0
        self._asking = 0
        self.cycles = 0
        """How often a parameter was needed while it was being worked out."""
        self._is_late = False
        """No time is left to compute recursive entries again."""
        self._closures: dict[Function, Mapping[str, Value]] = {}
        self._classes: dict[tuple[Module, str], Class | None] = {}
        self._bases: dict[Class, list[Class]] = {}
        self._symbols: dict[tuple[Module, str], Value] = {}
        self._begin()

    def _begin(self) -> None:
        """Forget what was computed."""
        self._resolve = Resolution(self, self._given)
        self._table = FixpointTable(Summary(BOTTOM), Summary(UNKNOWN), self._is_running_late)
        """Attributes, globals and summaries of functions by key."""
        self._given_values: dict[Root, Value] = {}
        self._being_given: set[Root] = set()
        """The parameters whose callers are being asked."""
        self._traced: dict[Function | Module, frozenset[int]] = {}
        """The rows for whose sake each body was traced."""
        self._call_sites: dict[Function, dict[ast.AST, Environment]] = {}
        self._regions: dict[Function, dict[ast.AST, Region | None]] = {}
        """The autocast regions that the callers of each function stand in."""
        self._sites: dict[ast.AST, Origin] = {}
        """The call sites, as places on the way of a dtype."""
        self._asked: dict[Function, bool] = {}
        """The functions whose callers were traced, and whether there are more."""
        self._open_calls: dict[str, dict[ast.Call, tuple[Variable, CallSite]]] = {}
        """By name, the calls of methods whose object is a term."""
        self._assigned: dict[tuple[Class, str], Value] = {}
        self._assigned_from_outside: dict[str, list[tuple[Value, Value]]] = {}
        """By attribute, objects that are no `self` and what they are given."""
        self._kinds: dict[Function, int] = {}
        """How many kinds of arguments each function was summarised for."""

    def run(self) -> Calls:
        """The calls that were asked for, with the facts at each.

        First intraprocedurally, each body alone; what stays open is then followed further.
        """
        try:
            if self.rows:
                self._trace_all()
                self.rows = self._open_rows()
            if self.rows:
                self._run_interprocedural()
        except BudgetExceeded:
            self.calls.is_complete = False
            self.found = {}  # facts of a loop that was not interpreted to its end prove nothing
        self.calls.fill(list(self.found.values()))
        return self.calls

    def _run_interprocedural(self) -> None:
        """Look at callers, classes and other files; what would take too long stays as it was."""
        intraprocedural = dict(self.found)
        self.is_intraprocedural = False
        self._limit = self.spent + self._budget
        self._symbols.clear()
        self._classes.clear()
        self._bases.clear()
        self._begin()
        try:
            self._trace_all()
            self._resolve_all()
        except BudgetExceeded:
            self.found = {**intraprocedural, **self._followed_alone()}

    def _followed_alone(self) -> dict[ast.Call, Call]:
        """The calls of those bodies for which a share of the budget is enough."""
        followed: dict[ast.Call, Call] = {}
        bodies = list(self._holding(self.module, self.rows))
        share = max(_LEAST_SHARE, self._budget // (2 * len(bodies) + 1))
        self._is_late = True
        for body in bodies[: self._budget // share]:
            self._begin()
            self.found = {}
            self._limit = self.spent + share
            try:
                self._trace(body, frozenset(self.rows))
                self._resolve_all()
            except BudgetExceeded:
                continue
            followed.update(self.found)
        return followed

    def _is_running_late(self) -> bool:
        is_half_spent = self._limit - self.spent < self._budget // 2
        return self._is_late or (is_half_spent and not self.is_intraprocedural)

    def _resolve_all(self) -> None:
        """Ask the callers for what the calls leave open."""
        for node, call in sorted(self.found.items(), key=lambda item: item[1].span):
            if call.name not in self.intraprocedural:
                self.found[node] = self._resolved(call)

    def _resolved(self, call: Call) -> Call:
        """The call with its terms replaced by what they are."""
        resolve = self._resolve
        region = call.autocast
        return replace(
            call,
            receiver=_as_receiver(reading(resolve(call.receiver))),
            arguments=tuple(_read(resolve.argument(one)) for one in call.arguments),
            keywords={name: _read(resolve.argument(one)) for name, one in call.keywords.items()},
            autocast=region and Region(region.device, resolve.dtype(region.dtype)),
            dtypes={name: resolve.dtype(value) for name, value in call.dtypes.items()},
        )

    def _open_rows(self) -> list[int]:
        """The rows of the calls whose facts callers, classes or other files may know better."""
        rows = {
            node.lineno
            for node, call in self.found.items()
            if call.name not in self.intraprocedural and _is_open(call)
        }
        return sorted(rows)

    def count(self, frame: Frame) -> None:
        """One more expression.

        Raises:
            TooMuch: the budget is spent.
        """
        self.spent += 1
        if self.spent > self._limit:
            raise BudgetExceeded

    # Tracing

    def _trace_all(self) -> None:
        rows = frozenset(self.rows)
        self._trace_module(self.module, rows)
        for definition in self._holding(self.module, self.rows):
            self._trace(definition, rows)

    def _trace_module(self, module: Module, rows: frozenset[int]) -> None:
        """Interpret the top level of a module, as far as the statements at some rows need it."""
        if rows <= self._traced.get(module, frozenset()):
            return
        done = self._mark_traced(module, rows)
        rows -= done
        tree = module.file.tree
        within = backward_slice(module.def_uses(tree), _asked_at(sorted(rows), self._wants_dtypes))
        frame = Frame(module, records=True, slice=within)
        StatementInterpreter(self, frame).block(tree.body, Environment())

    def _mark_traced(self, body: Function | Module, rows: frozenset[int]) -> frozenset[int]:
        """Some rows of a body are traced from now on; those that were before."""
        done = self._traced.get(body, frozenset())
        self._traced[body] = done | rows
        self._table.note(lambda: self._traced.update({body: done}))
        return done

    def _holding(self, module: Module, rows: list[int]) -> Iterator[Function]:
        """The functions and methods of a module that hold one of some rows, outermost first."""
        yield from self._below(module, module.file.tree.body, rows, "", None, None)

    def _below(
        self,
        module: Module,
        body: list[ast.stmt],
        rows: list[int],
        scope: str,
        owner: Class | None,
        enclosing: Function | None,
    ) -> Iterator[Function]:
        for node in body:
            if not _holds(node, rows):
                continue
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    name = f"{scope}.{node.name}".lstrip(".")
                    definition = owner.methods.get(node.name) if owner is not None else None
                    if definition is None or definition.node is not node:
                        # A function, or one of those that share a method's name: a setter, a branch
                        definition = module.function(node, name, owner, enclosing)
                    yield definition
                    yield from self._below(module, node.body, rows, name, None, definition)
                case ast.ClassDef():
                    name = f"{scope}.{node.name}".lstrip(".")
                    inner = module.class_(node, name, enclosing)
                    yield from self._below(module, node.body, rows, name, inner, enclosing)
                case _:
                    for block in blocks(node):
                        yield from self._below(module, block.body, rows, scope, owner, enclosing)

    def _trace(self, definition: Function, rows: frozenset[int]) -> None:
        """Interpret a function with what its callers give it, for the statements at some rows."""
        done = self._traced.get(definition, frozenset())
        inside = {row for row in rows if _holds(definition.node, [row])}
        if inside <= done:
            return
        self._mark_traced(definition, frozenset(inside))
        rows = frozenset(inside - done)
        if definition.enclosing is not None:  # what it closes over
            self._trace(definition.enclosing, rows | {definition.node.lineno})
        within = backward_slice(definition.def_uses, _asked_at(sorted(rows), self._wants_dtypes))
        env = self._entry_state(definition)
        region = self._region_of_callers(definition)
        self._interpret(definition, env, within, records=True, region=region)

    def _region_of_callers(self, definition: Function) -> Region | None:
        """The autocast region that a function is called in: an unknown one if in several."""
        if "autocast" not in definition.module.file.text.text:
            return None
        passed_on: set[Region | None] = set()
        if not self.is_intraprocedural and self._asking < _CALLERS_OF_CALLERS:
            self._asking += 1
            try:
                for caller, rows in self._callers_nearby(definition):
                    if not isinstance(caller, Function):
                        continue
                    if _mentions_autocast(caller):
                        self._trace(caller, rows)
                    else:
                        passed_on.add(self._region_of_callers(caller))
            finally:
                self._asking -= 1
        regions = passed_on | set(self._regions.get(definition, {}).values())
        if self.is_intraprocedural or len(regions) > 1:
            devices = {region.device for region in regions if region is not None}
            return Region(devices.pop() if len(devices) == 1 else None, SOME_DTYPE)
        return next(iter(regions), None)

    def _interpret(
        self,
        definition: Function,
        env: Environment,
        within: Slice,
        *,
        records: bool,
        region: Region | None = None,
    ) -> Frame:
        node = definition.node
        frame = Frame(
            definition.module,
            definition.name,
            definition,
            definition.owner,
            self._closures.get(definition),
            records,
            within,
        )
        self._depth += 1
        try:
            outer = [] if region is None else [region]
            frame.autocast = [*outer, *self._surrounding(definition)]
            body = StatementInterpreter(self, frame)
            if isinstance(node, ast.Lambda):
                frame.returned = body.evaluate(node.body, env)
            elif body.block(node.body, env):
                frame.returned = join(frame.returned, Constant(None))
                frame.exits.append(env)
        finally:
            self._depth -= 1
        return frame

    def _surrounding(self, definition: Function) -> list[Region | None]:
        """The autocast regions that a framework and decorators open."""
        regions: list[Region | None] = []
        if (of_framework := self._region_of_framework(definition)) is not None:
            regions.append(of_framework)
        for decorator in definition.decorators:
            if isinstance(decorator, ast.Call) and callee_name(decorator) == "autocast":
                body = StatementInterpreter(self, Frame(definition.module))
                regions.append(body.region(decorator, Environment()))
        return regions

    def _region_of_framework(self, definition: Function) -> Region | None:
        """The region that Lightning calls a step in, where a run of the project turns it on."""
        node = definition.node
        owner = definition.owner
        if self.is_intraprocedural or owner is None or isinstance(node, ast.Lambda):
            return None
        if node.name not in _STEPS or not self._derives_from(owner, "LightningModule"):
            return None
        path = definition.module.file.text.path
        setting = self.program.project.setting(("precision",), path)
        for choice in () if setting is None else setting.choices:
            is_meant = self.program.project.concerns(choice.origin.source.path, path)
            if is_meant and hooks.MIXED.get(str(choice.value)) == BFLOAT16:
                dtype = Dtype(frozenset({BFLOAT16}), may_be_other=True, origin=choice.origin)
                return Region(None, dtype)
        return None

    def _derives_from(self, definition: Class, name: str) -> bool:
        """True if a class of this name is among the bases, in the project or out of it."""
        return name in self._names_of_bases(definition)

    def _names_of_bases(self, definition: Class) -> set[str]:
        return {
            (dotted(base) or "").rpartition(".")[2]
            for each in self.bases(definition)
            for base in each.node.bases
        }

    # What callers give

    def _entry_state(self, definition: Function) -> Environment:
        """The parameters of a function: terms, where callers know more."""
        env = Environment()
        for parameter, default in with_defaults(definition.node.args):
            value = self._parameter(definition, parameter, default)
            bind(ast.Name(parameter.arg, ast.Store()), value, env)
        arguments = definition.node.args
        for star in (arguments.vararg, arguments.kwarg):
            if star is not None:
                env[star.arg] = self._given_as(definition, star.arg)
        self._bind_self(definition, env, None)
        return env

    def _bind_self(self, definition: Function, env: Environment, receiver: Value | None) -> None:
        if definition.owner is None or definition.is_static or not definition.parameters:
            return
        value: Value = ClassObject(definition.owner)
        if not definition.is_class_method:
            value = Instance(definition.owner) if receiver is None else receiver
        env[definition.parameters[0].arg] = value

    def _given_as(self, definition: Function, name: str) -> Value:
        """What callers give to a parameter, as a term."""
        if self.is_intraprocedural or isinstance(definition.node, ast.Lambda):
            return UNKNOWN
        return Variable(frozenset({Term(Parameter(definition, name))}))

    def _parameter(
        self, definition: Function, parameter: ast.arg, default: ast.expr | None
    ) -> Value:
        """What a parameter can be: what annotation, name or default say, or what callers give."""
        declared = annotated(self, definition.module, parameter.annotation, parameter)
        value = self._expected(definition, parameter, declared, default)
        given = self._given_as(definition, parameter.arg)
        if not isinstance(given, Variable):
            return value
        if isinstance(value, Unknown):
            return given
        chosen = by_dtypes(lambda one: _chosen_by(given, one), value)
        is_default = isinstance(declared, Unknown) and chosen == value
        return join(value, given) if is_default else chosen

    def _merged(
        self, definition: Function, parameter: ast.arg, default: ast.expr | None, given: Value
    ) -> Value:
        """What a parameter can be if its callers give this: they know best."""
        declared = annotated(self, definition.module, parameter.annotation, parameter)
        is_integral = sources.INTEGRAL_NAME.search(parameter.arg) is not None
        if is_integral and isinstance(given, Tensor | ModelOutput):
            given = UNKNOWN if given.may_be(FLOATING) else given
        if isinstance(declared, Tensor) and isinstance(given, Tensor) and given.may_be_other:
            given = join(declared, given) if given.dtypes or given.caller_chosen else UNKNOWN
        if isinstance(declared, Unknown | Tensor | Model) and not isinstance(given, Unknown):
            return given
        return self._expected(definition, parameter, declared, default)

    def _expected(
        self,
        definition: Function,
        parameter: ast.arg,
        declared: Value,
        default: ast.expr | None,
    ) -> Value:
        """What a parameter can be whoever calls: by its annotation, its name, its default."""
        name = parameter.arg
        is_integral = sources.INTEGRAL_NAME.search(name) is not None
        if not isinstance(declared, Unknown) or is_integral:
            return declared
        module = definition.module
        span = module.file.span_of(parameter)
        origin = Origin(module.file.text, span, "the caller chooses its dtype", "caller")
        value = UNKNOWN if default is None else self._default(definition, default)
        if name.endswith("dtype"):
            by_caller = Dtype(caller_chosen=True, origin=origin)
            return join(value, by_caller) if isinstance(value, Dtype) else by_caller
        if default is None:
            return (
                ModelOutput(perhaps_floating(origin))
                if sources.FLOAT_NAME.search(name)
                else UNKNOWN
            )
        match value:
            case Dtype():
                return replace(value, caller_chosen=True)
            case Constant():
                return UNKNOWN  # a default is one of many values
        return value

    def _default(self, definition: Function, default: ast.expr) -> Value:
        return Evaluator(self, Frame(definition.module))(default, Environment())

    def _given(self, root: Root) -> Value:
        """What the callers of a function give to a parameter; what it declares if nobody calls."""
        if root in self._given_values:
            return self._given_values[root]
        if root in self._being_given:  # a call of itself hands on what it was given
            self.cycles += 1
            return BOTTOM
        cycles = self.cycles
        self._being_given.add(root)
        try:
            value = self._given_by_callers(root)
        finally:
            self._being_given.discard(root)
        if cycles == self.cycles:  # else it is a part of what another root is given
            self._given_values[root] = value
            self._table.note(lambda: self._given_values.pop(root, None))
        return value

    def _given_by_callers(self, root: Parameter) -> Value:
        definition, name = root.definition, root.name
        is_open = self._ask_callers(definition)
        self._bind_open_calls(definition)
        given: Value = BOTTOM
        for node, env in self._call_sites.get(definition, {}).items():
            if name in env:
                given = join(given, self._handed_on(node, env[name]))
        if is_open:  # the callers that were not asked may give anything
            given = join(given, UNKNOWN)
        read = UNKNOWN if isinstance(given, Bottom) else reading(given)
        for parameter, default in with_defaults(definition.node.args):
            if parameter.arg == name:
                return self._merged(definition, parameter, default, read)
        return read

    def _bind_open_calls(self, method: Function) -> None:
        """Take the calls of a method's name for calls of it where their object is of its class."""
        if method.owner is None or isinstance(method.node, ast.Lambda):
            return
        sites = self._call_sites.setdefault(method, {})
        for node, (receiver, given) in self._open_calls.get(method.node.name, {}).items():
            if node not in sites and self._is_object_of(
                method.owner, reading(self._resolve(receiver))
            ):
                sites[node] = self._bound(method, Instance(method.owner), given)

    def _is_object_of(self, owner: Class, value: Value) -> bool:
        """True for an object that has the methods of a class."""
        match value:
            case Instance(definition=definition):
                return owner in self.bases(definition) or definition in self.bases(owner)
        return False

    def record_open_call(
        self, frame: Frame, node: ast.Call, receiver: Variable, given: CallSite
    ) -> None:
        """A method is called of an object that callers give."""
        if frame.records and isinstance(node.func, ast.Attribute):
            self._sites[node] = _site(frame, node, node.func.attr)
            self._open_calls.setdefault(node.func.attr, {})[node] = receiver, given

    def _handed_on(self, node: ast.AST, value: Value) -> Value:
        """What a call site gives; the site is a part of the way that a dtype takes."""
        site = self._sites[node]

        def through(dtypes: _D) -> _D:
            origin = dtypes.origin
            return replace(dtypes, origin=None if origin is None else origin.through(site))

        return by_dtypes(through, self._resolve(value))

    def _ask_callers(self, definition: Function) -> bool:
        """Trace the callers of a function; true if there are some that cannot be read."""
        if definition not in self._asked:
            callers = list(islice(self._callers(definition), _MOST_CALLERS + 1))
            self._table.note(lambda: self._asked.pop(definition, None))
            self._asked[definition] = len(callers) > _MOST_CALLERS or any(
                caller is None for caller, _ in callers
            )
            for caller, rows in callers[:_MOST_CALLERS]:
                if caller is not None:
                    self._trace_body(caller, rows)
        return self._asked[definition]

    def _callers(
        self, definition: Function
    ) -> Iterator[tuple[Function | Module | None, frozenset[int]]]:
        """The bodies, here and in the files that import it, where a function's name stands.

        None stands for a file that is one too many to read.
        """
        yield from self._callers_nearby(definition)
        name = _called_as(definition)
        if name is None or definition.enclosing is not None:
            return
        owner = definition.owner
        if owner is not None and name != owner.node.name:
            modules = self.program.calling(name)
        else:
            modules = self.program.importers(definition.module, name)
        for module in modules:
            if module is None:
                yield None, frozenset()
            elif module is not definition.module:
                yield from self._mentioning(module, name)
                if owner is not None and name == owner.node.name:
                    yield from self._making_subclasses(owner, module)

    def _making_subclasses(
        self, owner: Class, module: Module
    ) -> Iterator[tuple[Function | Module | None, frozenset[int]]]:
        """The bodies that run `__init__` of a class for its subclasses in a module."""
        for each in module.top.values():
            if not isinstance(each, Class) or owner not in self.bases(each)[1:]:
                continue
            initialiser = each.methods.get("__init__")
            if initialiser is None:
                name = each.node.name
                yield from self._mentioning(module, name)
                for other in self.program.importers(module, name):
                    if other is not None and other is not module:
                        yield from self._mentioning(other, name)
            else:
                rows = rows_mentioning(module.file.text, "super")
                inside = frozenset(row for row in rows if _holds(initialiser.node, [row]))
                if inside:
                    yield initialiser, inside

    def _callers_nearby(
        self, definition: Function
    ) -> Iterator[tuple[Function | Module | None, frozenset[int]]]:
        """The bodies of its own module where a function's name stands."""
        name = _called_as(definition)
        if name is not None:
            yield from self._mentioning(definition.module, name)
        owner = definition.owner
        if owner is not None and name == owner.node.name and not self.is_intraprocedural:
            yield from _making_itself(owner)
            yield from self._making_subclasses(owner, definition.module)

    def _mentioning(
        self, module: Module, name: str
    ) -> Iterator[tuple[Function | Module, frozenset[int]]]:
        yield from self._bodies_at(module, rows_mentioning(module.file.text, name))

    def _bodies_at(
        self, module: Module, rows: list[int]
    ) -> Iterator[tuple[Function | Module, frozenset[int]]]:
        """The bodies of a module that hold some rows, with these rows."""
        outside = set(rows)
        for holding in self._holding(module, rows):
            outside -= set(range(holding.node.lineno, (holding.node.end_lineno or 0) + 1))
            yield holding, frozenset(rows)
        if outside:
            yield module, frozenset(outside)

    def _trace_body(self, body: Function | Module, rows: frozenset[int]) -> None:
        if isinstance(body, Module):
            self._trace_module(body, rows)
        else:
            self._trace(body, rows)

    def given_to(self, definition: Function, name: str) -> Value:
        """What the calls seen so far give to a parameter of a lambda."""
        sites = self._call_sites.get(definition, {})
        found = join_all([env[name] for env in sites.values() if name in env])
        return UNKNOWN if isinstance(found, Bottom) else found

    def enclose(self, definition: Function, env: Environment) -> None:
        """A nested function closes over what is known where it is defined, and later."""
        self._closures[definition] = env

    # Reports of the interpreter

    def record_call(
        self,
        frame: Frame,
        node: ast.Call,
        function: Value,
        receiver: Value,
        given: CallSite,
        env: Environment,
    ) -> None:
        """A call: kept with its facts if it stands in the linted file and was asked for."""
        if not frame.records or frame.module is not self.module:
            return
        name = function.name if isinstance(function, Symbol) else None
        package = (name or "").partition(".")[0]
        called = callee_name(node)
        if isinstance(node.func, ast.Name):
            called = self.aliases.get(called, called)
        is_instance = isinstance(function, LibraryObject) or (
            isinstance(function, Model) and function.name is not None
        )
        if isinstance(function, LibraryObject):
            called, name = function.name.rpartition(".")[2], f"{function.name}.__call__"
            package = function.name.partition(".")[0]
        if isinstance(function, Model) and function.name is not None:
            called, name = function.name, f"torch.nn.{function.name}.forward"
        elif self.is_intraprocedural and isinstance(function, Unknown) and called in self.holders:
            called, is_instance = self.holders[called], True  # as far as can be seen here
        if is_instance:
            receiver = UNKNOWN
        if called not in self.names and f"{package}.*" not in self.names:
            self.found.pop(node, None)
            return
        span_of = self.module.file.span_of
        is_method = isinstance(node.func, ast.Attribute) and not is_instance
        self.found[node] = Call(
            span=span_of(node),
            name=called,
            function=name,
            receiver=_as_receiver(receiver),
            receiver_span=span_of(node.func.value)
            if is_method and isinstance(node.func, ast.Attribute)
            else None,
            arguments=tuple(map(_read, given.arguments)),
            keywords={name: _read(one) for name, one in given.keywords.items()},
            scope=frame.scope,
            guards=tuple(frame.guards),
            autocast=given.autocast,
            dtypes={name: value for name, value in env.items() if isinstance(value, Dtype)},
            module=self.calls,
        )

    def record_attribute(self, frame: Frame, name: str, value: Value) -> None:
        """`self.name = value` in a method."""
        assert frame.owner is not None
        if frame.records:
            key = (frame.owner, name)
            self._assigned[key] = join(self._assigned.get(key, BOTTOM), value)

    def record_outside(self, frame: Frame, holder: Value, name: str, value: Value) -> None:
        """`holder.name = value` of an object that is not `self`."""
        if frame.records and not isinstance(holder, Tensor | NonTensor | Model):
            held = self._assigned_from_outside.setdefault(name, [])
            held.append((holder, value))
            self._table.note(held.pop)

    # Names

    def global_name(self, module: Module, name: str, span: Span) -> Value:
        """What a name means at the top level of a module."""
        if name in module.imports and name not in module.top:
            return self.symbol(module, module.imports[name])
        found = self.program.name(module, name)
        return UNKNOWN if found is None else self._value(found, name)

    def symbol(self, module: Module, name: str) -> Value:
        """What a qualified name means where a module imports it: the project's, or a symbol."""
        if self.is_intraprocedural and not _is_constant(name):
            return Symbol(name)
        key = (module, name)
        if key not in self._symbols:
            found = self.program.find(module, name)
            if found is not None and not isinstance(found.definition, str):
                self._symbols[key] = self._value(found, name)
            elif found is None:
                self._symbols[key] = Symbol(name)
            else:
                return self._value(found, name)
        return self._symbols[key]

    def _value(self, found: Found, name: str) -> Value:
        match found.definition:
            case Function() as definition:
                return FunctionValue(definition)
            case Class() as definition:
                return ClassObject(definition)
            case str(assigned):
                return self._table.entry(
                    ("global", found.module, assigned),
                    lambda: Summary(self._assigned_globally(found.module, assigned)),
                ).value
        return Symbol(name)

    def _assigned_globally(self, module: Module, name: str) -> Value:
        evaluate = Evaluator(self, Frame(module))
        expressions = module.assignments[name]
        if any(expression is None or _is_table(expression) for expression in expressions):
            return UNKNOWN
        return join_all([evaluate(expression, Environment()) for expression in expressions])

    def class_named(self, module: Module, name: str) -> Class | None:
        """The class of the project that an annotation or a base names in a module."""
        key = (module, name)
        if key not in self._classes:
            self._classes[key] = self._class_named(module, name)
        return self._classes[key]

    def _class_named(self, module: Module, name: str) -> Class | None:
        head, _, rest = name.partition(".")
        qualified = module.imports.get(head)
        if qualified is not None and head not in module.top:
            if self.is_intraprocedural:
                return None
            found = self.program.find(module, ".".join(filter(None, (qualified, rest))))
        else:
            found = None if rest else self.program.name(module, head)
        definition = None if found is None else found.definition
        return definition if isinstance(definition, Class) else None

    def loads_in_float32(self, name: str) -> bool:
        """True if `from_pretrained` of a class gives float32 whatever the checkpoint holds.

        So does diffusers (0.42), and transformers before 5.
        """
        if name.startswith("diffusers."):
            return True
        version = self.program.project.version_of("transformers")
        return version is not None and version < (5, 0)

    def setting(self, module: Module, path: str) -> Setting | None:
        """What the project's configuration makes of `cfg.training.precision`."""
        names = re.findall(r"\w+", path)
        for position, name in enumerate(names[:-1]):
            if holds_settings(name):
                asked = tuple(names[position + 1 :])
                return self.program.project.setting(asked, module.file.text.path)
        return None

    def variable(self, module: Module, name: str) -> Setting | None:
        """What the project's env files and launch scripts make of an environment variable."""
        return self.program.project.variable(name, module.file.text.path)

    # Classes

    def bases(self, definition: Class) -> list[Class]:
        """A class and the classes of the project that it inherits from, in method order."""
        if definition in self._bases:
            return self._bases[definition]
        found: list[Class] = []
        pending = [definition]
        while pending and len(found) < 32:
            current = pending.pop(0)
            if current in found:
                continue
            found.append(current)
            for base in current.node.bases:
                name = ast.unparse(base) if isinstance(base, ast.Name | ast.Attribute) else ""
                inherited = self.class_named(current.module, name) if name else None
                if inherited is not None:
                    pending.append(inherited)
        self._bases[definition] = found
        return found

    def method(self, definition: Class, name: str) -> Function | None:
        for each in self.bases(definition):
            if name in each.methods:
                return each.methods[name]
        return None

    def overriding(self, definition: Class, name: str) -> list[Function]:
        """The methods that subclasses have for one that a class calls and does not define itself.

        None if there are many: which of them runs is not known.
        """
        if self.is_intraprocedural or name.startswith("__"):
            return []
        found = [
            each.methods[name]
            for module in self.program.defining(name)
            for each in module.top.values()
            if isinstance(each, Class)
            and name in each.methods
            and definition in self.bases(each)[1:]
        ]
        return found if len(found) <= _MOST_OVERRIDING else []

    def class_attribute(self, definition: Class, name: str) -> Value | None:
        """`Class.name`: a method, a nested class or an assigned value; None if there is none."""
        method = self.method(definition, name)
        if method is not None:
            receiver = ClassObject(definition) if method.is_class_method else None
            return FunctionValue(method, receiver)
        for each in self.bases(definition):
            if name in each.assigned:
                return Evaluator(self, Frame(each.module))(each.assigned[name], Environment())
        return None

    def member(self, instance: Instance, name: str) -> Value | None:
        """`instance.name`; None if the project does not say."""
        known = instance.field(name)
        if known is not None:
            return known
        definition = instance.definition
        method = self.method(definition, name)
        if method is not None:
            if method.is_static:
                return FunctionValue(method)
            if method.is_class_method:
                return FunctionValue(method, ClassObject(definition))
            bound = FunctionValue(method, instance)
            if method.is_property:
                return self.result(bound, Environment(), None).value
            return bound
        if self.is_intraprocedural:
            return None
        key = ("attribute", definition, name)
        value = self._table.entry(key, lambda: Summary(self._attribute(definition, name))).value
        if isinstance(value, Bottom) and not self._table.is_in_progress(key):
            return None
        if instance.parameters is not None and isinstance(value, Model):
            return replace(value, parameters=instance.parameters)
        return value

    def _attribute(self, definition: Class, name: str) -> Value:
        found: Value = BOTTOM
        for each in self.bases(definition):
            for method in each.methods_assigning.get(name, ()):
                written = f"self.{name}"
                rows = [row for effect in method.def_uses for row in _rows_writing(effect, written)]
                self._trace(method, frozenset(rows))
            found = join(found, self._assigned.get((each, name), BOTTOM))
            if name in each.assigned:
                value = Evaluator(self, Frame(each.module))(each.assigned[name], Environment())
                found = join(found, value)
        for says in (self._given_from_outside, self._declared_attribute):
            if isinstance(found, Bottom) or found in (UNKNOWN, Constant(None)):
                value = says(definition, name)
                found = found if isinstance(value, Bottom) else value
        if isinstance(found, Variable | Model):
            found = join(found, self._cast_from_outside(definition, name))
        return self._as_held(definition, found)

    def _declared_attribute(self, definition: Class, name: str) -> Value:
        """What the annotation of an attribute says."""
        for each in self.bases(definition):
            if name in each.annotated:
                declared = each.annotated[name]
                return annotated(self, each.module, declared.annotation, declared.target)
        return BOTTOM

    def _as_held(self, owner: Class, value: Value) -> Value:
        """A module that an object holds: whoever holds the object may have moved it."""
        loaded = self._loaded(owner)
        match value:
            case Model(parameters=parameters):
                held = replace(parameters, caller_chosen=True)
                if loaded is not None:  # whoever loads it chooses, besides who gives a module
                    held = join_tensors(held, caller_chosen(loaded))
                return replace(value, parameters=held)
            case Instance(definition=definition):
                of_loader = loaded is not None and self.is_module(definition)
                return replace(value, parameters=caller_chosen(loaded) if of_loader else None)
            case Sequence(item=item, items=items):
                held_items = items and tuple(self._as_held(owner, one) for one in items)
                return Sequence(self._as_held(owner, item), held_items)
        return value

    def _loaded(self, definition: Class) -> Origin | None:
        """The class, if it has a `from_pretrained` whose caller chooses the dtype of weights."""
        if not any(map(sources.LOADED_CLASS.search, self._names_of_bases(definition))):
            return None
        node, file = definition.node, definition.module.file
        start = file.span_of(node).start
        span = Span(start, start + len("class"))
        text = f"`{definition.name}.from_pretrained` takes the dtype of its weights"
        return Origin(file.text, span, text, "weights")

    def _given_from_outside(self, definition: Class, name: str) -> Value:
        """What other code assigns to an attribute of objects of a class."""
        for module in self.program.assigning(name):
            rows_assigning = rows_where_assigned(module.file.text, name)
            for body, rows in list(self._bodies_at(module, rows_assigning)):
                self._trace_body(body, rows)
        values = self._recorded_outside(definition, name)
        # a dtype that is set is a setting: see `amp.bfloat16_search`
        known = join_all([each for each in values if not isinstance(each, Unknown | Dtype)])
        return known if isinstance(known, Bottom) else join(known, UNKNOWN)  # others may, too

    def _cast_from_outside(self, definition: Class, name: str) -> Value:
        """The model of an attribute after casts by code outside the class."""
        for module in self.program.casting(name):
            for body, rows in list(
                self._bodies_at(module, rows_where_cast(module.file.text, name))
            ):
                self._trace_body(body, rows)
        values = self._recorded_outside(definition, name)
        return join_all([each for each in values if isinstance(each, Model)])

    def _recorded_outside(self, definition: Class, name: str) -> list[Value]:
        return [
            self._resolve(value)
            for holder, value in self._assigned_from_outside.get(name, ())
            if self._is_object_of(definition, reading(self._resolve(holder)))
        ]

    def inherited(self, frame: Frame, name: str, env: Environment) -> Value:
        """`super().name` in a method."""
        function = frame.function
        while function is not None and function.owner is None:
            function = function.enclosing
        if function is None or function.owner is None or not function.parameters:
            return UNKNOWN
        receiver = env.get(function.parameters[0].arg, UNKNOWN)
        for each in self.bases(function.owner)[1:]:
            if name in each.methods:
                return FunctionValue(each.methods[name], receiver)
        return UNKNOWN

    # Calls of the project's functions

    def construct(
        self,
        evaluator: Evaluate,
        definition: Class,
        given: CallSite,
        node: ast.Call,
        env: Environment,
    ) -> Value:
        """An instance of a class of the project."""
        initialiser = self.method(definition, "__init__")
        instance = Instance(definition)
        if initialiser is None and any(each.is_record for each in self.bases(definition)):
            names = [name for each in reversed(self.bases(definition)) for name in each.annotated]
            fields: dict[str, Value] = dict.fromkeys(names, UNKNOWN)
            for name, argument in zip(names, given.arguments, strict=False):
                fields[name] = UNKNOWN if argument.starred else argument.value
            for name, argument in given.keywords.items():
                if name in fields:
                    fields[name] = argument.value
            for each in self.bases(definition):
                for name, declared in each.annotated.items():
                    is_given = isinstance(fields.get(name), Unknown)
                    if is_given and declared.value is not None:
                        fields[name] = Evaluator(self, Frame(each.module))(
                            declared.value, Environment()
                        )
            return Instance(definition, tuple(fields.items()))
        if initialiser is not None:
            self._record_site(evaluator.frame, initialiser, instance, given, node)
        if self.is_module(definition):
            return replace(instance, parameters=Tensor(frozenset({self.default_dtype})))
        return instance

    def is_module(self, definition: Class) -> bool:
        """True for subclasses of `nn.Module`."""
        return any(
            ast.unparse(base).rpartition(".")[2] in {"Module", "LightningModule"}
            for each in self.bases(definition)
            for base in each.node.bases
        )

    def call_summary(
        self,
        evaluator: Evaluate,
        routine: FunctionValue,
        given: CallSite,
        node: ast.Call,
        env: Environment,
    ) -> Value:
        """The result of calling a function of the project."""
        frame = evaluator.frame
        bound = self._record_site(frame, routine.definition, routine.receiver, given, node)
        if node is frame.discarded and not any(
            isinstance(value, Sequence | Dictionary) for value in bound.values()
        ):
            summary = Summary(UNKNOWN, {})  # nobody looks at what it returns
        else:
            summary = self.result(routine, bound, given.autocast)
        self._apply_side_effects(summary, routine, bound, node, env)
        return summary.value

    def _record_site(
        self,
        frame: Frame,
        definition: Function,
        receiver: Value | None,
        given: CallSite,
        node: ast.Call,
    ) -> Environment:
        bound = self._bound(definition, receiver, given)
        if frame.records:
            self._sites[node] = _site(frame, node, definition.name)
            self._call_sites.setdefault(definition, {})[node] = bound
            self._regions.setdefault(definition, {})[node] = frame.region
        return bound

    def _bound(self, definition: Function, receiver: Value | None, given: CallSite) -> Environment:
        """The parameters of a function as one call gives them."""
        env = Environment()
        arguments = definition.node.args
        names = [parameter.arg for parameter in definition.parameters]
        is_bound = definition.owner is not None and not definition.is_static
        if is_bound and (receiver is not None or definition.is_class_method) and names:
            self._bind_self(definition, env, receiver)
            names = names[1:]
        rest: list[Value] = []
        is_open = any(argument.starred for argument in given.arguments) or "**" in given.keywords
        for position, argument in enumerate(given.arguments):
            if argument.starred:
                rest.append(argument.value)
                names = names[:0]
            elif position < len(names):
                env[names[position]] = argument.value
            else:
                rest.append(argument.value)
        known = {parameter.arg for parameter, _ in with_defaults(definition.node.args)}
        extra: dict[str, Value] = {}
        for name, keyword in given.keywords.items():
            if name in known:
                env[name] = keyword.value
            else:
                extra[name] = keyword.value if name != "**" else UNKNOWN
        for parameter, default in with_defaults(definition.node.args):
            if parameter.arg not in env:
                env[parameter.arg] = (
                    UNKNOWN if is_open or default is None else self._default(definition, default)
                )
        if arguments.vararg is not None:
            is_known = not is_open
            env[arguments.vararg.arg] = Sequence(join_all(rest), tuple(rest) if is_known else None)
        if arguments.kwarg is not None:
            items = None if "**" in extra else tuple(extra.items())
            env[arguments.kwarg.arg] = Dictionary(join_all(extra.values()), items)
        return env

    def result(self, routine: FunctionValue, bound: Environment, region: Region | None) -> Summary:
        """What a function returns for arguments like these."""
        definition = routine.definition
        if self.is_intraprocedural or definition.is_stub or self._depth > _DEPTH:
            return Summary(self._declared(definition))
        env = bound.copy()
        given: dict[Root, Value] = {}
        for name, value in bound.items():
            env[name] = as_term(value, root := Parameter(definition, name))
            if env[name] is not value:
                given[root] = value
        if routine.receiver is not None and definition.parameters:
            self._bind_self(definition, env, routine.receiver)
        key = (
            "result",
            definition,
            tuple((name, _key(value)) for name, value in env.items()),
            None if region is None else (region.device, _key(region.dtype)),
            _closed_over(routine),
        )
        if key not in self._table:
            self._kinds[definition] = self._kinds.get(definition, 0) + 1
            if self._kinds[definition] > _MOST_KINDS:
                return Summary(self._declared(definition))
        summary = self._table.entry(key, lambda: self._summarise(routine, env, region))
        if not given:
            return summary
        applied = Resolution(self, given.get)
        left = {name: applied(each) for name, each in summary.out_state.items()}
        return Summary(applied(summary.value), left)

    def _declared(self, definition: Function) -> Value:
        """What the annotation of a function says that it returns."""
        node = definition.node
        if isinstance(node, ast.Lambda) or node.returns is None or "token" in node.name:
            return UNKNOWN
        return annotated(self, definition.module, node.returns, node.returns)

    def _summarise(
        self, routine: FunctionValue, env: Environment, region: Region | None
    ) -> Summary:
        definition = routine.definition
        before = self._closures.get(definition)
        if routine.closure is not None:
            self._closures[definition] = routine.closure
        start = env.copy()
        held = {name for name, given in env.items() if isinstance(given, Sequence | Dictionary)}
        within = backward_slice(definition.def_uses, _returning_or_changing(held))
        frame = self._interpret(definition, env, within, records=False, region=region)
        if before is not None:
            self._closures[definition] = before
        value = frame.returned
        if not isinstance(frame.yielded, Bottom):
            value = Sequence(frame.yielded)
        left = {
            name: join_all([end.get(name, UNKNOWN) for end in frame.exits])
            for name, given in start.items()
            if isinstance(given, Sequence | Dictionary)
        }
        return Summary(value, left)

    def _apply_side_effects(
        self,
        summary: Summary,
        routine: FunctionValue,
        bound: Environment,
        node: ast.Call,
        env: Environment,
    ) -> None:
        """What the call did to the lists and objects that it was given; anything, if not known."""
        names = [parameter.arg for parameter in routine.definition.parameters]
        if routine.receiver is not None and names:
            self._forget_attributes(routine, node, env)
            names = names[1:]
        for name, argument in zip(names, node.args, strict=False):
            if isinstance(argument, ast.Name | ast.Attribute) and isinstance(
                given := bound.get(name), Sequence | Dictionary
            ):
                grown = join(given, summary.out_state.get(name, type(given)(UNKNOWN)))
                if grown != given:
                    bind(argument, grown, env)

    def _forget_attributes(self, routine: FunctionValue, node: ast.Call, env: Environment) -> None:
        """A method may have assigned attributes: what the class says of them holds again."""
        if not isinstance(node.func, ast.Attribute):
            return
        owner = ast.unparse(node.func.value)
        for path in [path for path in env.paths if path.startswith(f"{owner}.")]:
            env.paths.discard(path)
            env.pop(path, None)


def _holds(node: ast.stmt | ast.Lambda, rows: list[int]) -> bool:
    """True if one of the rows, in order, stands in a statement."""
    first = bisect_left(rows, node.lineno)
    return first < len(rows) and rows[first] <= (node.end_lineno or node.lineno)


def _is_open(call: Call) -> bool:
    """True if it is not yet known that a call has nothing to do with half precision.

    What a function of another package is given counts only once it is known for a tensor.
    """
    values = [argument.value for argument in (*call.arguments, *call.keywords.values())]
    if call.receiver_span is None or not call.arguments:
        values.append(call.receiver)
    is_of_package = call.function is not None
    is_method = call.receiver_span is not None and not is_of_package
    if is_method and not call.arguments and isinstance(call.receiver, Unknown):
        return True
    if call.receiver_span is None and not is_of_package:
        return any(isinstance(value, Unknown) or _may_be_half(value) for value in values)
    return any(map(_may_be_half, values))


def _chosen_by(given: Variable, dtypes: _D) -> _D:
    """Dtypes that are open, as those of what is given."""
    return replace(dtypes, clauses=clauses_of(given)) if dtypes.is_open else dtypes


def _site(frame: Frame, node: ast.Call, name: str) -> Origin:
    """A call as a place on the way of a dtype."""
    file = frame.module.file
    return Origin(file.text, file.span_of(node), f"`{name}` is called here")


def _as_receiver(value: Value) -> Value:
    """What a method is called on: of what a model returned, the tensor."""
    return value.tensor if isinstance(value, ModelOutput) else value


def _read(argument: Argument) -> Argument:
    """An argument as rules see it: of one kind, and so are the items of a container."""
    return replace(argument, value=deep_reading(argument.value))


def _may_be_half(value: Value) -> bool:
    match value:
        case Tensor():
            return value.may_be_other or value.caller_chosen or bool(value.dtypes & HALF)
        case ModelOutput() | Dtype() | Instance() | FunctionValue() | Bottom():
            return True
        case Sequence(item=item) | Dictionary(item=item):
            return _may_be_half(item)
    return False


def _is_constant(name: str) -> bool:
    """True for a qualified name that looks like a constant: it may be a dtype."""
    last = name.rpartition(".")[2]
    return last.isupper() or last.lower().endswith("dtype")


def _is_table(node: ast.expr) -> bool:
    """True for a registry of some length: what it names would all have to be followed."""
    return (node.end_lineno or node.lineno) - node.lineno >= _LONG


def _closed_over(routine: FunctionValue) -> Hashable:
    """What a nested function reads of the function around it."""
    if routine.closure is None:
        return None
    closure = routine.closure
    reads = {name for effect in routine.definition.def_uses for name in effect.reads}
    if isinstance(routine.definition.node, ast.Lambda):
        reads = set(closure)
    return tuple((name, _key(closure[name])) for name in sorted(reads) if name in closure)


def _asked_at(rows: list[int], wants_dtypes: bool) -> Callable[[DefUse], bool]:
    """Whether a statement stands at one of some rows, or says which names hold a dtype."""

    def is_asked(effect: DefUse) -> bool:
        if wants_dtypes and effect.mentions_dtype:
            return True
        first = bisect_left(rows, effect.node.lineno)
        return first < len(rows) and rows[first] <= effect.last_row

    return is_asked


def _returning_or_changing(names: set[str]) -> Callable[[DefUse], bool]:
    """Whether a statement returns, yields, or changes what one of some names holds."""

    def is_asked(effect: DefUse) -> bool:
        match effect.node:
            case ast.Return():
                return True
            case ast.Expr(value=value) | ast.Assign(value=value):
                is_yielding = isinstance(value, ast.Yield | ast.YieldFrom)
                return is_yielding or not effect.writes.isdisjoint(names)
            case ast.AugAssign():
                return not effect.writes.isdisjoint(names)
        return False

    return is_asked


def _making_itself(owner: Class) -> Iterator[tuple[Function, frozenset[int]]]:
    """The class methods of a class that call it: `return cls(model)`."""
    for method in owner.functions:
        if method.is_class_method and method.parameters:
            name = method.parameters[0].arg
            rows = rows_mentioning(owner.module.file.text, name)
            inside = frozenset(row for row in rows if _holds(method.node, [row]))
            if inside:
                yield method, inside


def _called_as(definition: Function) -> str | None:
    """The name that a function is called by; None for what nobody calls by a name of its own."""
    node = definition.node
    if isinstance(node, ast.Lambda):
        return None
    if node.name == "__init__" and definition.owner is not None:
        return definition.owner.node.name
    return None if node.name == "forward" or node.name.startswith("__") else node.name


def _mentions_autocast(definition: Function) -> bool:
    """True if the source of a function, its decorators included, has the word."""
    text = definition.module.file.text
    node = definition.node
    decorators = [one.lineno for one in definition.decorators]
    start = text.offset(min([node.lineno, *decorators]), 1)
    end = node.end_lineno or node.lineno
    stop = text.offset(end + 1, 1) if end < len(text.line_starts) else len(text.text)
    return text.text.find("autocast", start, stop) >= 0


def _rows_writing(effect: DefUse, name: str) -> list[int]:
    return [effect.node.lineno] if name in effect.writes else []


_DEFAULT = re.compile(r"\bset_default_dtype\(\s*torch\.(\w+)")


def _default_dtype(file: ParsedPython) -> str:
    """What `torch.zeros(2)` makes here: float32, or what the file sets as the default."""
    text = file.text.text
    # The plain search first: it is many times faster, and nearly every file ends there.
    match = _DEFAULT.search(text) if "set_default_dtype" in text else None
    return FLOAT32 if match is None else ALIASES.get(match[1], FLOAT32)


def _key(value: Value) -> Hashable:
    """A value with the places that its dtypes come from: summaries hand them on."""
    match value:
        case Tensor(origin=origin) | Dtype(origin=origin):
            return value, None if origin is None else (origin.span, id(origin.source))
        case ModelOutput(tensor=tensor):
            return "output", _key(tensor)
        case Model(parameters=parameters):
            return value, _key(parameters)
        case Sequence(items=items, item=item):
            return "sequence", _key(item), None if items is None else tuple(map(_key, items))
        case Dictionary(items=items, item=item):
            return (
                "dictionary",
                _key(item),
                None if items is None else tuple((key, _key(held)) for key, held in items),
            )
        case Mixed(tensor=tensor, array=array, sequence=sequence, mapping=mapping, other=other):
            held = (tensor, array, sequence, mapping, other)
            return tuple(None if one is None else _key(one) for one in held)
        case Instance(definition=definition, fields=fields, parameters=parameters):
            return definition, tuple((name, _key(held)) for name, held in fields), parameters
    return value
