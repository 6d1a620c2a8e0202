"""The function of the project that a call runs, where it can be no other one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.project.named import (
    LIBRARY_BASES,
    PLAIN_BASES,
    Named,
    imported_module,
    named,
    scope_of,
    top_level,
)
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.imports import imported_names
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.scopes import Binding, Step
from precision_lint.source.python.statements import FunctionDefinition, bound_names, own_statements
from precision_lint.source.python.syntax import (
    innermost_name,
    last_name,
    positional_parameters,
    qualified,
)
from precision_lint.source.python.syntax_tree import syntax_tree

_DEEPEST = 4
"""Bases of bases that are followed."""

_MOST = 60
"""Files with the name of a class that are looked at."""

_OF_METHODS = frozenset({"staticmethod", "classmethod"})
_OF_TORCH = regex(r"torch\.(?:\w+\.)*(?:no_grad|inference_mode|enable_grad|record|compile)")
"""Decorators that leave the parameters of a function as they are."""


class Callee(NamedTuple):
    """A function, and how many of its parameters the call does not give itself, like `self`."""

    function: FunctionDefinition
    file: ParsedPython
    bound: int

    def of_class(self) -> Callee:
        """The method as `Class.method(…)` calls it, where the call gives `self`, too."""
        is_of_class = "classmethod" in _decorators(self.function)
        return self if is_of_class else self._replace(bound=0)


def callee(call: ast.Call, file: ParsedPython, project: Recording) -> Callee | None:
    """What a call runs: a function, the initialiser of a class, or a method."""
    match call.func:
        case ast.Name("cls") as name if (owner := _class_of_self(name, file)) is not None:
            return None if has_class_below(owner, project) else initialiser(owner, file, project)
        case ast.Name() as name:
            found = named(name, file, project)
            return None if found is None else _of(found, project)
        case ast.Attribute(value=ast.Name() as owner, attr=attribute):
            return _of_attribute(owner, attribute, file, project)
    return None


def _of(found: Named, project: Recording) -> Callee | None:
    match found.node:
        case ast.ClassDef() as owner:
            return initialiser(owner, found.file, project)
        case function if _is_called_alike(function, found.file):
            return Callee(function, found.file, 0)
    return None


def _is_called_alike(function: FunctionDefinition, file: ParsedPython) -> bool:
    """True for a function that is called with the parameters that it has."""
    names = imported_names(file)
    for each in function.decorator_list:
        decorator = each.func if isinstance(each, ast.Call) else each
        name = qualified(decorator, names)
        if name not in _OF_METHODS and _OF_TORCH.fullmatch(name) is None:
            return False
    return True


def _decorators(function: FunctionDefinition) -> set[str]:
    return {innermost_name(each) for each in function.decorator_list}


def _of_attribute(
    owner: ast.Name, attribute: str, file: ParsedPython, project: Recording
) -> Callee | None:
    """What `module.name(…)`, `Class.name(…)`, `self.name(…)` or `made.name(…)` calls."""
    kind = named(owner, file, project)
    if kind is not None and isinstance(kind.node, ast.ClassDef):
        found = method(kind.node, attribute, kind.file, project, is_exact=True)
        return None if found is None else found.of_class()
    _, bindings = scope_of(owner, file).lookup(owner.id)
    match bindings:
        case [Binding(qualified=str() as module)]:
            home = imported_module(module, file, project)
            defined = None if home is None else top_level(attribute, home, project)
            return None if defined is None else _of(defined, project)
        case [Binding()]:
            around = _class_of_self(owner, file)
            if around is not None:
                return method(around, attribute, file, project, is_exact=False)
            made = made_of(owner, file, project)
            if made is not None:
                return method(made.node, attribute, made.file, project, is_exact=True)
    return None


def method_of_self(
    name: ast.Name, file: ParsedPython
) -> tuple[ast.ClassDef, FunctionDefinition] | None:
    """The method whose first parameter a name is, and the class around it."""
    _, bindings = scope_of(name, file).lookup(name.id)
    match bindings:
        case [Binding(at=Step(node=ast.arguments() as given, above=Step(node=function)))]:
            owner = syntax_tree(file).body(function)
            first = next(iter(positional_parameters(given)), None)
            if (
                isinstance(owner, ast.ClassDef)
                and isinstance(function, FunctionDefinition)
                and first is not None
                and first.arg == name.id
                and "staticmethod" not in _decorators(function)
            ):
                return owner, function
    return None


def _class_of_self(name: ast.Name, file: ParsedPython) -> ast.ClassDef | None:
    found = method_of_self(name, file)
    return None if found is None else found[0]


def made_of(name: ast.Name, file: ParsedPython, project: Recording) -> Named | None:
    """The class of the project that `name = Class(…)` makes an object of, the only assignment."""
    _, bindings = scope_of(name, file).lookup(name.id)
    match bindings:
        case [Binding(at=at)] if at.field == "targets":
            match at.node:
                case ast.Assign(targets=[ast.Name()], value=ast.Call(func=ast.Name() as made)):
                    match found := named(made, file, project):
                        case Named(ast.ClassDef() as owner, home) if _is_made_as_usual(
                            owner, home, project
                        ):
                            return found
    return None


def method(
    owner: ast.AST, name: str, file: ParsedPython, project: Recording, *, is_exact: bool
) -> Callee | None:
    """The method of a class by a name; of a class below it, if the object may be of one, too."""
    if not isinstance(owner, ast.ClassDef) or name.startswith("__") or project.assigning(name):
        return None
    if not is_exact and has_class_below(owner, project):
        return None
    kinds = [*lineage(owner, file, project)]
    for kind, home in kinds:
        if kind.decorator_list or syntax_tree(home).attribute_stores(kind).get(name):
            return None
    for kind, home in kinds:
        if _binding_in_body(kind, name):
            function = _defined_in_body(kind, name)
            if function is None or not _is_called_alike(function, home):
                return None
            return Callee(function, home, 0 if "staticmethod" in _decorators(function) else 1)
    return None


def _binding_in_body(owner: ast.ClassDef, name: str) -> list[ast.stmt]:
    """The statements in the body of a class that bind a name."""
    return [each for each in own_statements(owner.body) if name in bound_names(each)]


def _defined_in_body(owner: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    """The function that has a name in a class, if definitions alone bind it: the last one."""
    binding = _binding_in_body(owner, name)
    is_plain = all(isinstance(each, FunctionDefinition) and each in owner.body for each in binding)
    last = binding[-1] if binding and is_plain else None
    return last if isinstance(last, ast.FunctionDef) else None


def lineage(
    owner: ast.ClassDef, file: ParsedPython, project: Recording, depth: int = _DEEPEST
) -> Iterator[tuple[ast.ClassDef, ParsedPython]]:
    """A class and its bases in the project, as far as single bases lead."""
    yield owner, file
    match owner.bases:
        case [ast.Name() as base] if depth:
            found = named(base, file, project)
            if found is not None and isinstance(found.node, ast.ClassDef):
                yield from lineage(found.node, found.file, project, depth - 1)


def has_class_below(owner: ast.ClassDef, project: Recording, *, mixed: bool = False) -> bool:
    """True if a class of the project may extend one, by its name; `mixed`: next to others."""
    names = [owner.name]
    for name in names:  # those of classes below, and other names, are added at the end
        paths = project.python_sources_matching(rb"\b%b\b" % re.escape(name).encode())
        modules = [*map(project.module, paths[:_MOST])]
        if None in modules or len(paths) > _MOST:
            return True
        for module in filter(None, modules):
            for other, is_mixed in _below(module).get(name, ()):
                if is_mixed if mixed else is_mixed is not None:
                    return True
                if other not in names:
                    names.append(other)
    return False


@fact
def _below(file: ParsedPython) -> Mapping[str, list[tuple[str, bool | None]]]:
    """The classes of a file by the names of their bases, and whether they have other bases.

    Another name of a class, as `B = A` and `import A as B` give, has None for that.
    """
    found: dict[str, list[tuple[str, bool | None]]] = {}
    for node in file.nodes:
        match node:
            case ast.ClassDef(name=name, bases=bases, keywords=keywords):
                is_mixed = len(bases) > 1 or bool(keywords)
                for base in _names_in(bases):
                    found.setdefault(base, []).append((name, is_mixed))
            case ast.Call(func=ast.Name("type"), args=[_, ast.expr() as given, _]):
                for base in _names_in([given]):
                    found.setdefault(base, []).append(("", True))
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Name() | ast.Attribute() as value
            ):
                found.setdefault(innermost_name(value), []).append((name, None))
            case ast.alias(name=name, asname=str() as other):
                found.setdefault(name, []).append((other, None))
    return found


def _names_in(bases: Sequence[ast.expr]) -> set[str]:
    nodes = (node for base in bases for node in walk(base))
    return {last_name(each) for each in nodes if isinstance(each, ast.Name | ast.Attribute)}


def initialiser(
    owner: ast.ClassDef, home: ParsedPython, project: Recording, depth: int = _DEEPEST
) -> Callee | None:
    """The method that gets the arguments of a call of a class; None where it may be another one."""
    if not depth or not _is_made_as_usual(owner, home, project):
        return None
    if project.assigning("__init__"):
        return None
    if _binding_in_body(owner, "__init__"):
        own = _defined_in_body(owner, "__init__")
        return None if own is None or own.decorator_list else Callee(own, home, 1)
    match owner.bases:
        case [ast.Name() as base]:
            found = named(base, home, project)
            if found is not None and isinstance(found.node, ast.ClassDef):
                return initialiser(found.node, found.file, project, depth - 1)
    return None


def _is_made_as_usual(
    owner: ast.ClassDef, home: ParsedPython, project: Recording, depth: int = _DEEPEST
) -> bool:
    """True if a call of a class makes an object of it, and gives its arguments to `__init__`."""
    if owner.decorator_list or owner.keywords or _binding_in_body(owner, "__new__"):
        return False
    return all(_is_plain(base, home, project, depth) for base in owner.bases)


def _is_plain(base: ast.expr, home: ParsedPython, project: Recording, depth: int) -> bool:
    """True for a base below which objects are made as usual."""
    found = named(base, home, project) if isinstance(base, ast.Name) else None
    match found:
        case Named(ast.ClassDef() as owner, file):
            return depth > 0 and _is_made_as_usual(owner, file, project, depth - 1)
        case Named():
            return False
    return innermost_name(base) in PLAIN_BASES or _is_of_library(base, home)


def _is_of_library(base: ast.expr, home: ParsedPython) -> bool:
    of_type = base.value if isinstance(base, ast.Subscript) else base
    return qualified(of_type, imported_names(home)).partition(".")[0] in LIBRARY_BASES
