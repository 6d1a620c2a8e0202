"""Who uses a function or a class of the project, and what they give it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from precision_lint.facts.dtypes.syntax.definitions import Class, Function, module_of
from precision_lint.facts.dtypes.whole_program.program import Program
from precision_lint.model.frozen import frozen
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition, single_targets
from precision_lint.source.python.syntax import (
    dotted,
    positional_parameters,
    resolved,
    with_defaults,
)
from precision_lint.source.python.syntax_tree import syntax_tree

_MOST_FILES = 12
"""Other files that are searched for what sets a parameter or a field."""


@frozen
class Users:
    """The definitions that names of a program mean, and the files that use them."""

    program: Program

    def reach(self) -> Iterator[ParsedPython]:
        """The file and what it imports, the closest first."""
        modules = [self.program.main]
        for module in modules:
            yield module.file
            for name in module.imports.values():
                found = self.program.find(module, name)
                if found is not None and found.module not in modules:
                    modules.append(found.module)

    def class_of(self, node: ast.expr, file: ParsedPython) -> Class | None:
        """The class of the project that a parameter is annotated with."""
        if not isinstance(node, ast.Name):
            return None
        parameter = binding(node, syntax_tree(file))
        if not isinstance(parameter, ast.arg):
            function = syntax_tree(file).function(node)
            given = [] if function is None else with_defaults(function.args)
            parameter = next((each for each, _ in given if each.arg == node.id), None)
        if parameter is None or parameter.annotation is None:
            return None
        for inner in walk(parameter.annotation):
            if isinstance(inner, ast.Name | ast.Attribute) and (name := dotted(inner)):
                found = self.definition(name, file)
                if isinstance(found, Class):
                    return found
        return None

    def calls_of(self, name: str, file: ParsedPython) -> Iterator[tuple[ast.Call, ParsedPython]]:
        """The calls of a function or class at the top level of a file, in all that import it."""
        definition = module_of(file).top.get(name)
        if definition is None:
            return
        for other in (file, *self.of(definition, name)):
            for call in syntax_tree(other).calls(name):
                yield call, other

    def of(self, definition: Function | Class, name: str) -> Iterator[ParsedPython]:
        """The file that defines something, and those that import it and contain a name.

        They may import it from a package that exports it.
        """
        yield definition.module.file
        defining = definition.module.file.text.path
        exports = (
            path
            for path in self.program.project.importing(defining, definition.name)
            if path.stem == "__init__"
        )
        found = (
            path
            for module in (defining, *exports)
            for path in self.program.project.importing(module, name)
        )
        for path in islice(dict.fromkeys(found), _MOST_FILES):
            module = self.program.module(path)
            if module is not None and module is not definition.module:
                yield module.file

    def function(self, node: ast.expr, file: ParsedPython) -> Function | None:
        """The function of the project that an expression names."""
        name = dotted(node)
        found = None if name is None else self.definition(name, file)
        return found if isinstance(found, Function) else None

    def definition(self, name: str, file: ParsedPython) -> object:
        """What a dotted name means in a file, if the project defines it."""
        module = module_of(file)
        if "." in name:
            found = self.program.find(module, resolved(name, module.imports))
        else:
            found = self.program.name(module, name)
        return None if found is None else found.definition


def given_to_field(name: str, owner: str, file: ParsedPython) -> Iterator[ast.expr]:
    """What a file gives a field of a class: `Arguments(dtype=…)`, `arguments.dtype = …`."""
    for call in syntax_tree(file).calls(owner):
        yield from (keyword.value for keyword in call.keywords if keyword.arg == name)
    for node in file.nodes_of(ast.Assign):
        for target in node.targets:
            for single in single_targets(target):
                if isinstance(single, ast.Attribute) and single.attr == name:
                    yield node.value


def argument_for(
    call: ast.Call, parameter: ast.arg, function: FunctionDefinition, *, is_method: bool
) -> ast.expr | None:
    """What a call of a function gives for a parameter; None if that is not seen."""
    for keyword in call.keywords:
        if keyword.arg == parameter.arg:
            return keyword.value
    names = [each.arg for each in positional_parameters(function.args)[is_method:]]
    if parameter.arg not in names:
        return None
    before = call.args[: names.index(parameter.arg) + 1]
    is_seen = not any(isinstance(each, ast.Starred) for each in before)
    return before[-1] if is_seen and len(before) == names.index(parameter.arg) + 1 else None
