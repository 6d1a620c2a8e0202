"""The functions and classes of a module, and the names that its top level binds."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from precision_lint.dtypes.imports import blocks, imported_names, starred_imports, statements
from precision_lint.dtypes.relevance import REGISTERING, Effect, effects
from precision_lint.dtypes.sources import NUMPY_RUNTIMES
from precision_lint.memo import fact
from precision_lint.source.python import ParsedPython

AnyFunction = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True, eq=False, slots=True)
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

    @property
    def is_static(self) -> bool:
        return any(_last(decorator) == "staticmethod" for decorator in self.decorators)

    @property
    def is_class_method(self) -> bool:
        return any(_last(decorator) == "classmethod" for decorator in self.decorators)

    @property
    def is_property(self) -> bool:
        return any(
            _last(decorator) in {"property", "cached_property"} for decorator in self.decorators
        )

    @property
    def is_stub(self) -> bool:
        """True if the body says nothing: `...`, `pass`, a docstring, `raise`."""
        return not isinstance(self.node, ast.Lambda) and all(
            isinstance(node, ast.Pass | ast.Raise)
            or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
            for node in self.node.body
        )

    @property
    def effects(self) -> tuple[Effect, ...]:
        """What its statements assign and read."""
        if isinstance(self.node, ast.Lambda):
            return ()
        return self.module.effects(self.node)

    @property
    def parameters(self) -> list[ast.arg]:
        """The parameters that can be given by position, in order."""
        return [*self.node.args.posonlyargs, *self.node.args.args]


@dataclass(eq=False)
class Class:
    """A class; `name` is qualified within its module."""

    module: Module
    node: ast.ClassDef
    name: str
    enclosing: Function | None = None
    methods: Mapping[str, Function] = field(init=False)

    def __post_init__(self) -> None:
        self.methods = {
            node.name: Function(self.module, node, f"{self.name}.{node.name}", self, self.enclosing)
            for node in _top_level(self.node.body)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
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
    def assigning(self) -> Mapping[str, tuple[Function, ...]]:
        """For each attribute of `self`, the methods that assign it."""
        found: dict[str, list[Function]] = {}
        for method in self.methods.values():
            for name in _attributes_assigned(method.node):
                found.setdefault(name, []).append(method)
        return {name: tuple(methods) for name, methods in found.items()}

    @property
    def is_record(self) -> bool:
        """True for what is made from its fields: a dataclass, a NamedTuple, a model's output."""
        decorators = {_last(decorator) for decorator in self.node.decorator_list}
        bases = {_last(base) for base in self.node.bases}
        return bool(decorators & {"dataclass", "define", "frozen"} or bases & _RECORDS) or any(
            base.endswith("Output") for base in bases
        )


_RECORDS = frozenset({"NamedTuple", "BaseModel", "Struct"})


@dataclass(eq=False)
class Module:
    """One Python file of the project."""

    file: ParsedPython
    imports: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.imports = imported_names(self.file)
        self._effects: dict[ast.AST, tuple[Effect, ...]] = {}
        self._functions: dict[AnyFunction, Function] = {}
        self._classes: dict[ast.ClassDef, Class] = {}

    @cached_property
    def feeds_numpy(self) -> bool:
        """True if it runs models that take NumPy arrays."""
        return any(name.partition(".")[0] in NUMPY_RUNTIMES for name in self.imports.values())

    @cached_property
    def stars(self) -> tuple[str, ...]:
        """The modules that `from … import *` reads."""
        return starred_imports(self.file.tree)

    @cached_property
    def top(self) -> Mapping[str, Function | Class]:
        """The functions and classes that the top level defines, the last of each name."""
        found: dict[str, Function | Class] = {}
        for node in _top_level(self.file.tree.body):
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
        for node in _top_level(self.file.tree.body):
            match node:
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        for name in _names(target):
                            is_whole = isinstance(target, ast.Name)
                            found.setdefault(name, []).append(value if is_whole else None)
                case ast.AnnAssign(target=ast.Name(id=name), value=value):
                    found.setdefault(name, []).append(value)
                case ast.AugAssign(target=ast.Name(id=name)) | ast.For(target=ast.Name(id=name)):
                    found.setdefault(name, []).append(None)
        return {name: tuple(values) for name, values in found.items()}

    def effects(
        self, node: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef
    ) -> tuple[Effect, ...]:
        """What the statements of a body assign and read."""
        if node not in self._effects:
            self._effects[node] = tuple(effects(node.body, self.file.text))
        return self._effects[node]

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


@fact
def module_of(file: ParsedPython) -> Module:
    """The definitions of a file: one object for each file."""
    return Module(file)


def _top_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run with a module's or a class's body, those under `if` and so on too."""
    for node in body:
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for block in blocks(node):
                yield from _top_level(block)


def _attributes_assigned(function: AnyFunction) -> set[str]:
    found = set()
    for node in statements(function.body if isinstance(function.body, list) else []):
        match node:
            case ast.Assign(targets=targets):
                found |= {name for target in targets for name in _self_attributes(target)}
            case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                found |= set(_self_attributes(target))
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name(id="self"), attr=method),
                    args=[ast.Constant(value=str(name)), *_],
                )
            ) if method in REGISTERING:
                found.add(name)
            case ast.For(target=target):
                found |= set(_self_attributes(target))
            case ast.With(items=items):
                for item in items:
                    if item.optional_vars is not None:
                        found |= set(_self_attributes(item.optional_vars))
    return found


def _self_attributes(target: ast.expr) -> Iterator[str]:
    match target:
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            yield name
        case ast.Subscript(value=owner):  # `self.cache[key] = …` changes the attribute
            yield from _self_attributes(owner)
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            for inner in targets:
                yield from _self_attributes(inner)
        case ast.Starred(value=inner):
            yield from _self_attributes(inner)


def _names(target: ast.expr) -> Iterator[str]:
    match target:
        case ast.Name(id=name):
            yield name
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            for inner in targets:
                yield from _names(inner)
        case ast.Starred(value=inner):
            yield from _names(inner)


def _last(node: ast.expr) -> str:
    """`dataclass` of `@dataclasses.dataclass(frozen=True)`."""
    match node:
        case ast.Call(func=function):
            return _last(function)
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case ast.Subscript(value=owner):
            return _last(owner)
    return ""
