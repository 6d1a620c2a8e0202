"""The functions of a file: who calls whom, and which of them take or give a fixed dtype.

What is not known by its name may be any function of that name; see `escaping` for what is done
with it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from precision_lint.facts.dtypes.operators.module_inputs import LAYERS
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import statements
from precision_lint.source.python.syntax import callee_name

WHOLE = -1
"""All of what a function returns, where its items have positions."""


class FunctionsOfFile:
    """The functions of a file, and which of them take or give a fixed dtype."""

    def __init__(self, file: ParsedPython) -> None:
        self.file = file
        self.functions: list[ast.FunctionDef] = []
        self._named: dict[str, list[ast.FunctionDef]] = {}
        self._of_class: dict[str, list[ast.FunctionDef]] = {}
        self._own: dict[ast.FunctionDef, _Own] = {}
        self.callers: dict[ast.FunctionDef, set[ast.FunctionDef]] = {}
        self._called: dict[ast.AST, list[ast.FunctionDef]] = {}
        self._mentioned: dict[ast.FunctionDef, list[ast.FunctionDef]] = {}
        self.held: dict[str, set[str]] = {}
        """By attribute, the classes of the modules that objects hold under this name."""
        self.taking: dict[ast.FunctionDef, set[str]] = {}
        self.giving: dict[ast.FunctionDef, set[int]] = {}
        """The results that are fixed, by position in what is returned; `WHOLE` for all of it."""
        for node in statements(file.tree.body):
            match node:
                case ast.FunctionDef(name=name) if name != "__init__":
                    self.functions.append(node)
                    self._named.setdefault(name, []).append(node)
                case ast.ClassDef(name=name):
                    own = _Own(node)
                    self._own |= dict.fromkeys(own.methods.values(), own)
                    self._of_class[name] = [*filter(None, [own.methods.get("forward")])]
                    for attribute, made in own.held.items():
                        self.held.setdefault(attribute, set()).update(made)
        self.changed: dict[ast.FunctionDef, None] = dict.fromkeys(self.functions)
        """The functions of which something is known that was not when they were walked."""

    def take(self, function: ast.FunctionDef, names: set[str]) -> None:
        """A function is given something fixed for some of its parameters."""
        taken = self.taking.setdefault(function, set())
        if not names <= taken:
            taken |= names
            self.changed[function] = None

    def give(self, function: ast.FunctionDef, positions: set[int]) -> None:
        """A function returns something fixed."""
        given = self.giving.setdefault(function, set())
        if not positions <= given:
            given |= positions
            self.changed |= dict.fromkeys(self.callers.get(function, ()))

    def mentioned(self, function: ast.FunctionDef) -> list[ast.FunctionDef]:
        """The functions of the file that a function names, and those of modules that it names."""
        if function not in self._mentioned:
            self._mentioned[function] = list(dict.fromkeys(self.called(function, function)))
        return self._mentioned[function]

    def called(self, function: ast.AST, within: ast.FunctionDef) -> list[ast.FunctionDef]:
        """The functions of the file that an expression may stand for, or look up."""
        if function not in self._called:
            self._called[function] = self._find(function, self._own.get(within))
        return self._called[function]

    def _find(self, function: ast.AST, own: _Own | None) -> list[ast.FunctionDef]:
        found: list[ast.FunctionDef] = []
        for node in walk(function):
            match node:
                case ast.Name(id=name):
                    found += self._named.get(name, [])
                case ast.Attribute(value=ast.Name(id="self"), attr=name) if own and (
                    name in own.held or name in own.methods
                ):
                    found += self._forwards(own.held.get(name, ()))
                    found += filter(None, [own.methods.get(name)])
                case ast.Attribute(attr=name):
                    methods = self._named.get(name, []) if name != "forward" else []
                    found += self._forwards(self.held.get(name, ())) or methods
        return found

    def _forwards(self, classes: Iterable[str]) -> list[ast.FunctionDef]:
        return [each for one in classes for each in self._of_class.get(one, [])]

    def is_layer(self, function: ast.expr) -> bool:
        """True for an attribute that may hold a layer with weights."""
        named = (each.attr for each in ast.walk(function) if isinstance(each, ast.Attribute))
        return any(not LAYERS.isdisjoint(self.held.get(name, ())) for name in named)


class _Own:
    """The methods of a class, and by attribute the classes of the modules that it holds."""

    def __init__(self, node: ast.ClassDef) -> None:
        self.methods = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}
        self.held: dict[str, set[str]] = {}
        for each in statements(node.body):
            match each:
                case ast.Assign(targets=[ast.Attribute(attr=name)], value=value):
                    made = {callee_name(one) for one in walk(value) if isinstance(one, ast.Call)}
                    self.held.setdefault(name, set()).update(made)
