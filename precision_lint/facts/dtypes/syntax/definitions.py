"""The functions and classes of a module, and the names that its top level binds."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import TypeAlias

from precision_lint.facts.dtypes.syntax.casting import (
    CALLS_DEEP,
    Casts,
    casts_given,
    casts_of,
    link_casts,
)
from precision_lint.facts.dtypes.syntax.default_dtype import DefaultDtypes, default_dtypes
from precision_lint.facts.dtypes.syntax.mentions import variables_called, variables_with_weights
from precision_lint.facts.dtypes.syntax.mutations import root
from precision_lint.facts.dtypes.syntax.own_attributes import (
    PREPARING,
    assigned_to_class,
    attributes_assigned,
    attributes_prepared,
    parameters_made,
    registered,
    rows_setting_by_name,
)
from precision_lint.facts.dtypes.syntax.record_initialisers import initialiser
from precision_lint.facts.dtypes.syntax.relevance import (
    BUILTINS,
    DefUse,
    casts_by_name,
    def_uses,
    link,
    mentions_cast,
)
from precision_lint.facts.dtypes.syntax.scopes import Scope, changed_by, scope_of
from precision_lint.facts.dtypes.syntax.sources import NUMPY_RUNTIMES
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import Memo, cached_property, fact
from precision_lint.model.precision import LOW, precision_of
from precision_lint.model.regex import regex
from precision_lint.source.python.imports import imported_names, starred_imports
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import (
    AnyFunction,
    Definition,
    FunctionDefinition,
    bound_names,
    own_nodes,
    own_statements,
    single_targets,
    targets,
)
from precision_lint.source.python.syntax import (
    callee_name,
    compared_with_texts,
    dotted,
    innermost_name,
    last_name,
    named_parameters,
    positional_parameters,
)

_OF_CLASSES = (".__init_subclass__", ".__class_getitem__")
"""Methods that Python calls with a class, without a decorator."""

_MAKING = ("__init__", "__post_init__", "__attrs_post_init__", "model_post_init")
"""Methods that run when an object is made."""

_LONG = 40
"""Rows from which a body is long."""

_OWN = regex(r"\b(?:self|super\(\))\.(\w+)")
_WORD = regex(r"[^\W\d]\w*")
_SETTING_BY_NAME = regex(r"\bsetattr\(|\b__setattr__\(|\bvars\(|\.__dict__\b")


@frozen(eq=False)
class Function:
    """A function, method or lambda; `name` is qualified within its module."""

    module: Module
    node: AnyFunction
    name: str
    owner: Class | None = None
    enclosing: Function | None = None

    @property
    def decorators(self) -> list[ast.expr]:
        return [] if isinstance(self.node, ast.Lambda) else self.node.decorator_list

    def _is_decorated(self, *names: str) -> bool:
        """True for a function under a decorator with one of some names: few have any."""
        decorators = self.decorators
        return bool(decorators) and any(innermost_name(each) in names for each in decorators)

    @property
    def is_static(self) -> bool:
        return self._is_decorated("staticmethod")

    @property
    def is_class_method(self) -> bool:
        is_implied = self.owner is not None and self.name.endswith(_OF_CLASSES)
        return is_implied or self._is_decorated("classmethod")

    @property
    def is_context(self) -> bool:
        """True for a generator that a decorator makes a context manager."""
        return self._is_decorated("contextmanager", "asynccontextmanager")

    @property
    def is_property(self) -> bool:
        return self._is_decorated("property", "cached_property", "getter")

    @property
    def is_initialiser(self) -> bool:
        """True for the `__init__` of a class."""
        name = None if isinstance(self.node, ast.Lambda) else self.node.name
        return self.owner is not None and name == "__init__"

    @property
    def is_making(self) -> bool:
        """True for what runs when an object is made: `__init__`, `__post_init__`."""
        name = self.name.rpartition(".")[2]
        return self.owner is not None and name in _MAKING

    @property
    def is_long(self) -> bool:
        """True for a body that is not followed for the sake of a single object or attribute."""
        return (self.node.end_lineno or 0) - self.node.lineno > _LONG

    @property
    def methods_named(self) -> frozenset[str]:
        """The attributes of `self` and of `super()` that the body names: methods, among others."""
        return self.module.fact(
            (Function.methods_named, self.node),
            lambda: frozenset(
                _OWN.findall(self.module.file.text[self.module.file.span_of(self.node)])
            ),
        )

    @property
    def yields_in_order(self) -> int:
        """How many items the body yields, each once and in order; 0 if that is not known."""
        return self.module.fact((Function.yields_in_order, self.node), lambda: _yields(self.node))

    @property
    def is_accessor(self) -> bool:
        """True for the setter and the deleter of a property: reading it calls neither."""
        return any(
            isinstance(decorator, ast.Attribute) and decorator.attr in {"setter", "deleter"}
            for decorator in self.decorators
        )

    @property
    def is_overload(self) -> bool:
        """True for a signature that `typing.overload` declares: the implementation is another."""
        return self._is_decorated("overload")

    @property
    def casts_parameters(self) -> bool:
        """True if the body may cast parameters of the modules that it is given to float32."""
        return self.module.may_cast_parameters and self.module.fact(
            (Function.casts_parameters, self.node),
            lambda: any(effect.casts_parameters for effect in self.def_uses),
        )

    @property
    def casts_given(self) -> frozenset[str]:
        """The parameters, `self` included, whose objects a call may cast in place."""
        return self.casts_given_within(CALLS_DEEP)

    def casts_given_within(self, depth: int) -> frozenset[str]:
        """The same with no more than some calls of other functions of the file on the way."""
        names = frozenset(each.arg for each in named_parameters(self.node.args))

        def casts_too(call: ast.Call) -> bool:
            called = self.called(call) if depth else None
            return called is not None and bool(called.casts_given_within(depth - 1))

        return self.module.fact(
            (Function.casts_given, self.node, depth),
            lambda: casts_given(self.def_uses, names, casts_too, self.module.called),
        )

    @property
    def compared_with_dtypes(self) -> frozenset[str]:
        """The names, `x` of `self.x` too, that the body compares with the name of a half dtype."""
        return self.module.fact(
            (Function.compared_with_dtypes, self.node),
            lambda: frozenset(_compared_with_dtypes(self.node)),
        )

    def called(self, call: ast.Call) -> Function | None:
        """The function of the file, or the method of the class, that a call names."""
        match call.func:
            case ast.Name(id=name):
                found = self.module.top.get(name)
                return found if isinstance(found, Function) else None
            case ast.Attribute(value=ast.Name(id="self"), attr=name) if self.owner is not None:
                return self.owner.methods.get(name)
        return None

    @property
    def is_stub(self) -> bool:
        """True if the body says nothing: `...`, `pass`, a docstring, `raise`."""
        return not isinstance(self.node, ast.Lambda) and all(
            isinstance(node, ast.Pass | ast.Raise)
            or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
            for node in self.node.body
        )

    @property
    def class_of_self(self) -> Class | None:
        """The class whose object `self` is in the body: a nested function has that of a method."""
        function: Function | None = self
        while function is not None and function.owner is None:
            if any(parameter.arg == "self" for parameter in function.parameters):
                return None
            function = function.enclosing
        return None if function is None else function.owner

    @property
    def with_inner(self) -> Iterator[Function]:
        """The function, and those that are defined in it and see the same `self`."""
        yield self
        for node in own_statements([] if isinstance(self.node, ast.Lambda) else self.node.body):
            if isinstance(node, FunctionDefinition):
                inner = self.module.function(node, f"{self.name}.{node.name}", None, self)
                if inner.class_of_self is not None:
                    yield from inner.with_inner

    def rows_assigning(self, attribute: str) -> frozenset[int]:
        """The rows that assign or change an attribute of the object or class of a method."""
        rows = self.module.fact((Function.rows_assigning, self.node), self._rows_by_attribute)
        return rows.get(attribute, frozenset())

    def _rows_by_attribute(self) -> Mapping[str, frozenset[int]]:
        found: dict[str, set[int]] = {}
        for effect in self.def_uses:
            for name in effect.writes:
                if name.startswith("self."):
                    found.setdefault(name.removeprefix("self."), set()).add(effect.node.lineno)
        for name, row in assigned_to_class(self.node) if self.is_class_method else ():
            found.setdefault(name, set()).add(row)
        return {name: frozenset(rows) for name, rows in found.items()}

    @property
    def scope(self) -> Scope:
        """Its variables, and those of others that it changes."""
        return self.module.scope(self.node)

    @property
    def changes(self) -> frozenset[str]:
        """The variables of others that a call may change, by way of other functions, too."""
        return self.module.fact((Function.changes, self.node), lambda: _changes_of(self))

    def binding(self, name: str) -> Function | Module:
        """The scope around it that has a variable."""
        scope = self.enclosing
        while scope is not None and name not in scope.scope.own:
            scope = scope.enclosing
        return scope or self.module

    @property
    def def_uses(self) -> tuple[DefUse, ...]:
        """What its statements assign and read."""
        if isinstance(self.node, ast.Lambda):
            return ()
        return self.module.def_uses(self.node)

    @property
    def parameters(self) -> list[ast.arg]:
        """The parameters that can be given by position, in order."""
        return positional_parameters(self.node.args)


@dataclass(eq=False)
class Class:
    """A class; `name` is qualified within its module."""

    module: Module
    node: ast.ClassDef
    name: str
    enclosing: Function | None = None
    functions: tuple[Function, ...] = field(init=False)
    """The functions that its body defines, in order."""
    methods: Mapping[str, Function] = field(init=False)
    """What its attributes read: the last function of each name, of a property the getter."""

    def __post_init__(self) -> None:
        self.functions = tuple(
            self.module.function(node, f"{self.name}.{node.name}", self, self.enclosing)
            for node in own_statements(self.node.body)
            if isinstance(node, FunctionDefinition)
        )
        found: dict[str, Function] = {}
        for function in self.functions:
            name = function.name.rpartition(".")[2]
            if function.is_accessor or (function.is_overload and name in found):
                continue
            found[name] = function
        self.methods = found

    @property
    def decorators(self) -> list[ast.expr]:
        return self.node.decorator_list

    @cached_property
    def inner(self) -> Mapping[str, Class]:
        """The classes that its body defines: `class Settings: class Model: …`."""
        return {
            node.name: self.module.class_(node, f"{self.name}.{node.name}", self.enclosing)
            for node in own_statements(self.node.body)
            if isinstance(node, ast.ClassDef)
        }

    @cached_property
    def annotated(self) -> Mapping[str, ast.AnnAssign]:
        """The fields of a dataclass or named tuple, in order; annotations of any other class."""
        return {
            node.target.id: node
            for node in self.node.body
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        }

    @cached_property
    def initialiser(self) -> Function | None:
        """The `__init__` of a record, which its fields write, and which takes these alone."""
        if not self.is_record or not self.annotated or "__init__" in self.methods:
            return None
        node = initialiser(self.node, self.annotated)
        return self.module.function(node, f"{self.name}.__init__", self, self.enclosing)

    @cached_property
    def declared(self) -> Mapping[str, ast.AnnAssign]:
        """The attributes that are annotated: in the body, or as `self.name: T` in a method."""
        in_methods = {
            node.target.attr: node
            for function in self.node.body
            if isinstance(function, FunctionDefinition)
            for node in own_statements(function.body)
            if isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Attribute)
            and dotted(node.target.value) == "self"
        }
        return {**in_methods, **self.annotated}

    @cached_property
    def assigned(self) -> Mapping[str, ast.expr]:
        """Attributes that the class body assigns."""
        return {
            target.id: node.value
            for node in self.node.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }

    @cached_property
    def methods_assigning(self) -> Mapping[str, tuple[Function, ...]]:
        """For each attribute of `self`, the methods, and functions inside them, that assign it."""
        found: dict[str, list[Function]] = {}
        written = () if self.initialiser is None else (self.initialiser,)
        for method in (*self.functions, *written):
            if method.is_class_method:
                for name in dict(assigned_to_class(method.node)):
                    found.setdefault(name, []).append(method)
            for function in method.with_inner:
                for name in attributes_assigned(function.node) | set(_attributes_cast(function)):
                    found.setdefault(name, []).append(function)
        return {name: tuple(methods) for name, methods in found.items()}

    @cached_property
    def setting_by_name(self) -> Mapping[Function, frozenset[int]]:
        """The methods that make an object of the names that they are given, with the rows.

        Long ones are left out: they do much else, and would be followed for each class.
        """
        if not self.module.sets_by_name:
            return {}
        short = (each for each in self.functions if each.is_initialiser and not each.is_long)
        found = ((method, rows_setting_by_name(method.node)) for method in short)
        return {method: rows for method, rows in found if rows}

    @cached_property
    def prepared(self) -> Mapping[str, ast.Attribute]:
        """The attributes whose modules may be prepared by a library, and the methods for it."""
        text = self.module.file.text.text
        if not any(f".{name}(" in text for name in PREPARING):
            return {}
        return {
            name: method
            for function in self.functions
            for name, method in attributes_prepared(function.node)
        }

    @cached_property
    def registered(self) -> frozenset[str]:
        """The attributes that are parameters or buffers: a cast of a module casts them."""
        return frozenset(name for method in self.functions for name in registered(method.node))

    @cached_property
    def parameters_made(self) -> frozenset[str]:
        """The attributes that are parameters, as `self.weight = nn.Parameter(…)` makes them."""
        made = (parameters_made(method.node) for method in self.functions)
        return frozenset(name for names in made for name in names)

    @property
    def is_record(self) -> bool:
        """True for what is made from its fields: a dataclass, a NamedTuple, a model's output."""
        decorators = {innermost_name(decorator) for decorator in self.node.decorator_list}
        bases = {innermost_name(base) for base in self.node.bases}
        return bool(decorators & {"dataclass", "define", "frozen"} or bases & _RECORDS) or any(
            base.endswith("Output") for base in bases
        )

    @property
    def is_named_tuple(self) -> bool:
        """True for a record that can be unpacked."""
        return any(innermost_name(base) == "NamedTuple" for base in self.node.bases)


_RECORDS = frozenset({"NamedTuple", "BaseModel", "Struct"})


FunctionsByName: TypeAlias = "Mapping[str, list[FunctionDefinition]]"


@dataclass(eq=False)
class Module(Memo):
    """One Python file of the project."""

    file: ParsedPython
    imports: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.imports = imported_names(self.file)
        self._def_uses: dict[ast.AST, tuple[DefUse, ...]] = {}
        self._functions: dict[AnyFunction, Function] = {}
        self._classes: dict[ast.ClassDef, Class] = {}
        self._scopes: dict[AnyFunction, Scope] = {}

    @property
    def effects(self) -> tuple[DefUse, ...]:
        """What the statements of the top level assign and read."""
        return self.def_uses(self.file.tree)

    @cached_property
    def _lambdas(self) -> list[int]:
        """The rows that can hold a lambda."""
        text = self.file.text
        return sorted({text.row(found.start()) for found in re.finditer("lambda", text.text)})

    def scope(self, node: AnyFunction) -> Scope:
        """The variables of a function."""
        if node not in self._scopes:
            self._scopes[node] = scope_of(node, self._lambdas)
        return self._scopes[node]

    @cached_property
    def uses_numpy_runtime(self) -> bool:
        """True if it runs models that take NumPy arrays."""
        return any(name.partition(".")[0] in NUMPY_RUNTIMES for name in self.imports.values())

    @cached_property
    def may_cast_parameters(self) -> bool:
        """False if nothing in the file casts parameters of modules apart from the others."""
        text = self.file.text.text
        return ".data = " in text or mentions_cast(text)

    @cached_property
    def default_dtypes(self) -> DefaultDtypes | None:
        """What sets the default dtype in the file."""
        return default_dtypes(self.file)

    @cached_property
    def mentions_autocast(self) -> bool:
        """False if nothing in the file opens an autocast region."""
        return "autocast" in self.file.text.text

    @cached_property
    def sets_by_name(self) -> bool:
        """True if something in the file assigns attributes whose names are not in the source."""
        return _SETTING_BY_NAME.search(self.file.text.text) is not None

    @cached_property
    def star_imports(self) -> tuple[str, ...]:
        """The modules that `from … import *` reads."""
        return starred_imports(self.file)

    @cached_property
    def top(self) -> Mapping[str, Function | Class]:
        """The functions and classes that the top level defines, the last of each name."""
        found: dict[str, Function | Class] = {}
        for node in own_statements(self.file.tree.body):
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    found[node.name] = self.function(node, node.name)
                case ast.ClassDef():
                    found[node.name] = self.class_(node, node.name)
        return found

    @cached_property
    def assignments(self) -> Mapping[str, tuple[ast.expr | None, ...]]:
        """What the top level assigns to each name; None where no expression tells."""
        found: dict[str, list[ast.expr | None]] = {}
        for node in own_statements(self.file.tree.body):
            match node:
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        for single in single_targets(target):
                            if isinstance(single, ast.Name):
                                is_whole = single is target
                                found.setdefault(single.id, []).append(value if is_whole else None)
                case ast.AnnAssign(target=ast.Name(id=name), value=value):
                    found.setdefault(name, []).append(value)
                case ast.Import() | ast.ImportFrom():
                    continue
                case _ if not isinstance(node, Definition):
                    for name in bound_names(node):
                        found.setdefault(name, []).append(None)
        return {name: tuple(values) for name, values in found.items()}

    @cached_property
    def switches(self) -> Mapping[str, bool]:
        """The names that are `True` or `False` from the top level on, unless somebody edits it."""
        return {
            name: value.value
            for name, (value, *others) in self.assignments.items()
            if not others and isinstance(value, ast.Constant) and isinstance(value.value, bool)
            if name not in self.changing and name not in self.changed_at_top
        }

    @cached_property
    def changing(self) -> Mapping[str, tuple[tuple[Function, tuple[int, ...]], ...]]:
        """For each variable of the top level, the functions that change it, with the rows."""
        found: dict[str, list[tuple[Function, tuple[int, ...]]]] = {}
        for definition in self.top.values():
            for function in (
                [definition] if isinstance(definition, Function) else definition.functions
            ):
                for name, rows in function.scope.changed.items():
                    if name in self.assignments:
                        found.setdefault(name, []).append((function, rows))
        return {name: tuple(functions) for name, functions in found.items()}

    @cached_property
    def changed_at_top(self) -> frozenset[str]:
        """The variables that the top level changes otherwise than by assigning one expression."""
        found = {name for name, values in self.assignments.items() if None in values}
        for node in own_statements(self.file.tree.body):
            match node:
                case ast.Expr(value=value):
                    found |= set(changed_by(value))
            for target in targets(node):
                match target:
                    case ast.Subscript() if isinstance(held := root(target), ast.Name):
                        found.add(held.id)
        return frozenset(found)

    @cached_property
    def _tables(self) -> Mapping[str, tuple[str, ...]]:
        """The tables of the top level by the names that they hold."""
        found: dict[str, list[str]] = {}
        for table, expressions in self.assignments.items():
            for expression in expressions:
                if isinstance(expression, ast.Dict | ast.List | ast.Tuple | ast.Set):
                    for node in walk(expression):
                        if isinstance(node, ast.Name):
                            found.setdefault(node.id, []).append(table)
        return {name: tuple(dict.fromkeys(tables)) for name, tables in found.items()}

    def tables_of(self, name: str) -> tuple[str, ...]:
        """The tables that hold a function or class: `LOADERS = {"fast": FastLoader}`."""
        return self._tables.get(name, ())

    @cached_property
    def _called(self) -> frozenset[str]:
        text = self.file.text.text
        return frozenset((*variables_called(text), *variables_with_weights(text))) - BUILTINS

    def called(self) -> frozenset[str]:
        """The variables, and attributes of `self`, that the file calls like functions, or whose
        weights it reads."""
        return self._called

    @cached_property
    def _casts(self) -> Casts:
        """Where modules may be cast."""
        return casts_of(self.file)

    def def_uses(self, node: ast.Module | FunctionDefinition) -> tuple[DefUse, ...]:
        """What the statements of a body assign and read."""
        if node not in self._def_uses:
            effects = tuple(def_uses(node.body, self.file.text, self._modules - self._own(node)))
            link(effects, lambda function: self.scope(function).changed.keys())
            link_casts(effects, self._casts, self.called)
            self._def_uses[node] = effects
        return self._def_uses[node]

    def functions_in(self, body: AnyFunction | ast.Module) -> FunctionsByName:
        """The functions that a body defines, those of its classes too."""

        def compute() -> FunctionsByName:
            found: dict[str, list[FunctionDefinition]] = {}
            for node in _functions_in([] if isinstance(body, ast.Lambda) else body.body):
                found.setdefault(node.name, []).append(node)
            return found

        return self.fact((Module.functions_in, body), compute)

    def definition(self, node: FunctionDefinition) -> DefUse:
        """What the statement that defines a function assigns and reads."""
        (found,) = self.fact(
            (Module.definition, node), lambda: def_uses([node], self.file.text, frozenset())
        )
        return found

    def naming(self, node: FunctionDefinition, names: Set[str]) -> Set[str]:
        """Those of the names of the functions of a body that one of these takes from around it."""

        def compute() -> Set[str]:
            # Its text has more of them, but they are found many times faster.
            mentioned = names & {*_WORD.findall(self.file.rows_of(node))}
            return mentioned & self.definition(node).reads if mentioned - {node.name} else mentioned

        return self.fact((Module.naming, node), compute)

    @cached_property
    def _modules(self) -> frozenset[str]:
        """The names that the top level gives to modules: `import torch`, `import numpy as np`."""
        imports = (
            each for each in own_statements(self.file.tree.body) if isinstance(each, ast.Import)
        )
        return frozenset(name for each in imports for name in bound_names(each))

    def _own(self, node: ast.Module | FunctionDefinition) -> Set[str]:
        """The names that a body binds itself."""
        return self.assignments.keys() if isinstance(node, ast.Module) else self.scope(node).own

    def function(
        self,
        node: AnyFunction,
        name: str,
        owner: Class | None = None,
        enclosing: Function | None = None,
    ) -> Function:
        """The definition at a node: one object for each."""
        if node not in self._functions:
            self._functions[node] = Function(self, node, name, owner, enclosing)
        return self._functions[node]

    def class_(self, node: ast.ClassDef, name: str, enclosing: Function | None = None) -> Class:
        """The class at a node: one object for each."""
        if node not in self._classes:
            self._classes[node] = Class(self, node, name, enclosing)
        return self._classes[node]

    def forget(self) -> None:
        """Let go of the definitions: they refer to the module and to each other."""
        for each in self._classes.values():
            vars(each).clear()
        vars(self).clear()


@fact
def module_of(file: ParsedPython) -> Module:
    """The definitions of a file: one object for each file."""
    return Module(file)


def _changes_of(function: Function) -> frozenset[str]:
    """What the function changes, and those of the body around it that it comes to by their names.

    `link` says the same of all functions of a body, of which most are never needed.
    """
    module, around = function.module, function.enclosing or function.module
    siblings = module.functions_in(around.file.tree if isinstance(around, Module) else around.node)
    name, node = function.name.rpartition(".")[2], function.node
    if isinstance(node, ast.Lambda) or node not in siblings.get(node.name, ()):
        return frozenset(function.scope.changed) - {name}
    found = set(module.definition(node).writes)
    pending = [node]
    reached: set[str] = set()
    while pending:
        for each in module.naming(pending.pop(), siblings.keys()) - reached:
            reached.add(each)
            found |= module.scope(siblings[each][-1]).changed.keys()
            pending += siblings[each]
    return frozenset(found) - {name}


def _yields(node: AnyFunction) -> int:
    """The items of a body that yields in statements of its own, outside of branches and loops."""
    if isinstance(node, ast.Lambda):
        return 0
    found = [
        each
        for each in node.body
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Yield)
    ]
    inner = [each for each in own_nodes(node) if isinstance(each, ast.Yield | ast.YieldFrom)]
    is_left = any(isinstance(each, ast.Return) for each in own_nodes(node))
    return 0 if is_left or len(inner) != len(found) else len(found)


def _functions_in(body: list[ast.stmt]) -> Iterator[FunctionDefinition]:
    for node in own_statements(body):
        if isinstance(node, FunctionDefinition):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from _functions_in(node.body)


def _compared_with_dtypes(node: AnyFunction) -> Iterator[str]:
    for each in own_nodes(node):
        compared = compared_with_texts(each) if isinstance(each, ast.Compare) else None
        if compared is not None and any(precision_of(text) in LOW for text in compared[1]):
            yield last_name(compared[0])


def _attributes_cast(method: Function) -> Iterator[str]:
    """The attributes of `self` with modules whose parameters a method casts one by one."""
    if not method.module.may_cast_parameters:
        return
    for node in own_statements(method.node.body if isinstance(method.node.body, list) else []):
        match node:
            case ast.Expr(value=ast.Call() as call) if _casts(call, method.module):
                given: list[ast.expr] = [*call.args, *(one.value for one in call.keywords)]
            case ast.For(iter=iterated) if method.casts_parameters:
                given = [iterated]
            case _:
                continue
        for inner in (inner for each in given for inner in walk(each)):
            match inner:
                case ast.Attribute(value=ast.Name(id="self"), attr=name):
                    yield name


def _casts(call: ast.Call, module: Module) -> bool:
    """True if a call casts parameters of what it is given: a helper, or a function of the file."""
    name = callee_name(call)
    function = module.top.get(name)
    is_cast = isinstance(function, Function) and function.casts_parameters
    return is_cast or casts_by_name(name)
