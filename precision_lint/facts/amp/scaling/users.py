"""Who uses a function or a class of the project, and what they give it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from precision_lint.facts.amp.lineage import Lineage
from precision_lint.facts.dtypes.syntax.definitions import Class, Function, module_of
from precision_lint.facts.dtypes.whole_program.program import Program
from precision_lint.model.frozen import frozen
from precision_lint.source.python.bindings import attribute, binding, enclosing_class
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
        """The class of the project that an expression is an object of, by annotations.

        A parameter has one, and so has a field of a class. `self.trainer` may hold a parameter.
        """
        match node:
            case ast.Name():
                parameter = _parameter(node, file)
                return None if parameter is None else self._annotated(parameter.annotation, file)
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                around = enclosing_class(node, syntax_tree(file))
                owner = None if around is None else self.definition(around.name, file)
            case ast.Attribute(value=holder, attr=name):
                owner = self.class_of(holder, file)
            case _:
                return None
        return self._held(owner, name) if isinstance(owner, Class) else None

    def _held(self, owner: Class, name: str) -> Class | None:
        """The class of what an attribute of an object holds: it is annotated, or a parameter."""
        for each in Lineage(self.program).line(owner):
            file = each.module.file
            if (declared := each.declared.get(name)) is not None:
                return self._annotated(declared.annotation, file)
            syntax = syntax_tree(file)
            for store in syntax.attribute_stores(each.node).get(name, []):
                if dotted(store.value) == "self":
                    held = attribute(store, each.node, syntax) or []
                    alone = held[0] if len(held) == 1 else None
                    return self.class_of(alone, file) if isinstance(alone, ast.Name) else None
        return None

    def _annotated(self, annotation: ast.expr | None, file: ParsedPython) -> Class | None:
        """The class of the project that an annotation names, in quotes as well."""
        for inner in () if annotation is None else walk(annotation):
            match inner:
                case ast.Name() | ast.Attribute() if name := dotted(inner):
                    pass
                case ast.Constant(value=str(name)) if name.isidentifier():
                    pass
                case _:
                    continue
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
                called = dotted(call.func)
                if called is None or self.definition(called, other) in {None, definition}:
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


def _parameter(node: ast.Name, file: ParsedPython) -> ast.arg | None:
    """The parameter that a name is, also where the function replaces it."""
    syntax = syntax_tree(file)
    parameter = binding(node, syntax)
    if isinstance(parameter, ast.arg):
        return parameter
    function = syntax.function(node)
    given = [] if function is None else with_defaults(function.args)
    return next((each for each, _ in given if each.arg == node.id), None)


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
