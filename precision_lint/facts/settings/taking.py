"""What the calls of a function give to one of its parameters, and which function a name is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.project.facts import Recording
from precision_lint.model.frozen import frozen
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import last_name, parameters, positional_parameters
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree


@frozen
class Taker:
    """A parameter of a function, and the name that the function is called by."""

    parameter: ast.arg
    function: FunctionDefinition
    called: str
    is_bound: bool
    """A call gives one argument less than there are parameters."""

    @classmethod
    def of(cls, parameter: ast.arg, module: ParsedPython) -> Taker | None:
        """The function with a parameter; None for that of a lambda at the top of a module."""
        syntax = syntax_tree(module)
        around = (each for each in syntax.around(parameter) if isinstance(each, FunctionDefinition))
        function = next(around, None)
        if function is None:
            return None
        owner = syntax.parent(function)
        is_bound = isinstance(owner, ast.ClassDef) and not _is_static(function)
        called = function.name
        if isinstance(owner, ast.ClassDef) and function.name == "__init__":
            called = owner.name
        return cls(parameter, function, called, is_bound)

    def given_by(self, call: ast.Call) -> ast.expr | None:
        """What a call gives; None if it leaves the parameter out, or unpacks something."""
        for keyword in call.keywords:
            if keyword.arg == self.parameter.arg:
                return keyword.value
        names = [each.arg for each in positional_parameters(self.function.args)][self.is_bound :]
        is_starred = any(isinstance(each, ast.Starred) for each in call.args)
        if self.parameter.arg not in names or is_starred:
            return None
        position = names.index(self.parameter.arg)
        return call.args[position] if position < len(call.args) else None


def parameter_read(node: ast.Name, syntax: SyntaxTree) -> ast.arg | None:
    """The parameter that `name = name.lower()` reads."""
    function = syntax.function(node)
    given = [] if function is None else parameters(function.args)
    return next((each for each in given if each.arg == node.id), None)


def parameter_of(node: ast.expr, syntax: SyntaxTree) -> ast.arg | None:
    """The parameter that a name is, or that `name = name.lower()` reads."""
    if not isinstance(node, ast.Name):
        return None
    match binding(node, syntax) or parameter_read(node, syntax):
        case ast.arg() as parameter:
            return parameter
    return parameter_read(node, syntax)


def functions_named(
    name: str, module: ParsedPython, project: Recording
) -> Iterator[tuple[ParsedPython, FunctionDefinition]]:
    """The function at the top of a module that a name is, there or where it is imported from."""
    homes = [(module, name)]
    imported = syntax_tree(module).names.get(name)
    if imported is not None:
        source, _, original = imported.rpartition(".")
        path = project.locate(module.text.path, source) if source else None
        other = None if path is None else project.module(path)
        homes = [] if other is None else [(other, original)]
    for home, own in homes:
        for each in home.tree.body:
            if isinstance(each, FunctionDefinition) and each.name == own:
                yield home, each


def _is_static(function: FunctionDefinition) -> bool:
    return any(last_name(decorator) == "staticmethod" for decorator in function.decorator_list)
