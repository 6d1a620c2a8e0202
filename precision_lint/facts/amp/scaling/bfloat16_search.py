"""From an expression to the place of the project that makes it bfloat16.

The dtype flow knows the dtypes that code names. This module follows an expression to the settings
and parameters that choose one: an option with its choices, a key of a configuration file, a field
that other code of the project sets, a parameter whose documentation lists its values or that some
caller sets.
"""

from __future__ import annotations

import ast

from precision_lint.facts.amp.scaling.documented_dtypes import NAMES_BFLOAT16, documented_bfloat16
from precision_lint.facts.amp.scaling.offer import Offer
from precision_lint.facts.amp.scaling.users import Users, argument_for, given_to_field
from precision_lint.facts.amp.setting_paths import setting_path
from precision_lint.facts.dtypes.syntax.definitions import Function
from precision_lint.facts.dtypes.whole_program.program import Program
from precision_lint.facts.settings.vocabulary import names_bfloat16
from precision_lint.model.finding import Related
from precision_lint.source.python.bindings import attribute, binding, enclosing_class
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import qualified, with_defaults
from precision_lint.source.python.syntax_tree import syntax_tree

HOPS = 6
"""Names, parameters and attributes that are followed from an expression to a value."""


class Search:
    """One search; what was asked already is not asked again."""

    def __init__(self, program: Program) -> None:
        self._project = program.project
        self._users = Users(program)
        self._asked: set[ast.AST] = set()

    def value(self, node: ast.expr | None, file: ParsedPython, hops: int) -> Offer | None:
        """What makes the value of an expression bfloat16."""
        if node is None or hops == 0 or node in self._asked:
            return None
        self._asked.add(node)
        match node:
            case ast.Constant(value=str(text)) if names_bfloat16(text):
                return _named(repr(text), node, file)
            case ast.Attribute() if qualified(node, syntax_tree(file).names) == "torch.bfloat16":
                return _named("torch.bfloat16", node, file)
            case ast.IfExp(body=body, orelse=orelse):
                return self.any([body, orelse], file, hops)
            case ast.BoolOp(values=values):
                return self.any(values, file, hops)
            case ast.Name():
                return self.name(node, file, hops)
            case ast.Attribute(value=ast.Name(id="self")):
                return self.own_attribute(node, file, hops)
            case ast.Attribute():
                return self.setting(node, file) or self.field(node, file, hops)
            case ast.Subscript(value=table, slice=key):
                is_table = self.names_it(table, file)
                return self.value(key, file, hops - 1) if is_table else self.setting(node, file)
            case ast.Call():
                return self.result(node, file, hops)
        return None

    def any(self, nodes: list[ast.expr], file: ParsedPython, hops: int) -> Offer | None:
        found = (self.value(node, file, hops - 1) for node in nodes)
        return next((one for one in found if one is not None), None)

    def name(self, node: ast.Name, file: ParsedPython, hops: int) -> Offer | None:
        syntax = syntax_tree(file)
        match binding(node, syntax):
            case ast.arg() as parameter:
                return self.parameter(parameter, file, hops)
            case [*values]:
                return self.any(values, file, hops)
        function = syntax.function(node)
        if function is None:
            return None
        # A parameter that the function replaces: `dtype = dtype or torch.float16`.
        given = [each for each, _ in with_defaults(function.args) if each.arg == node.id]
        return self.parameter(given[0], file, hops) if given else None

    def own_attribute(self, node: ast.Attribute, file: ParsedPython, hops: int) -> Offer | None:
        syntax = syntax_tree(file)
        owner = enclosing_class(node, syntax)
        values = attribute(node, owner, syntax) if owner is not None else None
        return self.any(values or [], file, hops)

    def result(self, node: ast.Call, file: ParsedPython, hops: int) -> Offer | None:
        """`getattr(torch, name)`, `table.get(name)`, `get_dtype(name)` of the project."""
        match node:
            case ast.Call(func=ast.Name(id="getattr"), args=[ast.Name(id="torch"), name]):
                return self.value(name, file, hops - 1)
            case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str()), *_]):
                return self.setting(node, file)
            case ast.Call(func=ast.Attribute(value=owner, attr="get"), args=[key, *_]):
                if self.names_it(owner, file):
                    return self.value(key, file, hops - 1)
                return self.setting(node, file)
        helper = self._users.function(node.func, file)
        if helper is None or not NAMES_BFLOAT16.search(ast.unparse(helper.node)):
            return None
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        return self.any(given, file, hops)

    def names_it(self, table: ast.expr, file: ParsedPython) -> bool:
        """True for a table from names to dtypes that has bfloat16 in it."""
        match table:
            case ast.Dict(values=values):
                return any(_is_torch_bfloat16(value) for value in values)
            case ast.Name():
                held = binding(table, syntax_tree(file))
                return isinstance(held, list) and any(
                    isinstance(each, ast.Dict) and self.names_it(each, file) for each in held
                )
        return False

    # Settings

    def setting(self, node: ast.expr, file: ParsedPython) -> Offer | None:
        """`args.amp_dtype`, `cfg["precision"]`, `getattr(cfg, "dtype")`."""
        path = setting_path(node)
        if path is None:
            return None
        setting = self._project.setting(path, file.text.path)
        for choice in setting.choices if setting is not None else ():
            if names_bfloat16(choice.value):
                return Offer(f"{path[-1]}={choice.value}", choice.origin.related)
        return None

    def field(self, node: ast.Attribute, file: ParsedPython, hops: int) -> Offer | None:
        """What the project assigns to a field of the class that the owner is annotated with."""
        owner = self._users.class_of(node.value, file)
        if owner is None:
            return None
        getter = owner.methods.get(node.attr)
        if getter is not None and getter.is_property:
            return self.property(node, getter, file, hops)
        declared = owner.annotated.get(node.attr)
        if declared is not None and (found := self.value(declared.value, owner.module.file, hops)):
            return found
        for other in self._users.of(owner, node.attr):
            for value in given_to_field(node.attr, owner.name, other):
                if (found := self.value(value, other, hops - 1)) is not None:
                    return Offer(f"{node.attr}=torch.bfloat16", found.related)
        return None

    def property(
        self, node: ast.Attribute, getter: Function, file: ParsedPython, hops: int
    ) -> Offer | None:
        """The field by which a property looks a dtype up: `TABLE[self.dtype]`."""
        for returned in walk(getter.node):
            if not isinstance(returned, ast.Return):
                continue
            match self.key_of_dtype(returned.value, getter.module.file):
                case ast.Attribute(value=ast.Name(id="self"), attr=name):
                    read = ast.copy_location(ast.Attribute(node.value, name, ast.Load()), node)
                    if (found := self.value(read, file, hops - 1)) is not None:
                        return found
        return None

    def key_of_dtype(self, node: ast.expr | None, file: ParsedPython) -> ast.expr | None:
        """The name by which an expression finds a dtype, in a table or in torch."""
        match node:
            case ast.Subscript(value=table, slice=key):
                return key if self.names_it(table, file) else None
            case ast.Call(func=ast.Attribute(value=table, attr="get"), args=[key, *_]):
                return key if self.names_it(table, file) else None
            case ast.Call(func=ast.Name(id="getattr"), args=[ast.Name(id="torch"), key]):
                return key
        return None

    # Parameters

    def parameter(self, parameter: ast.arg, file: ParsedPython, hops: int) -> Offer | None:
        """What a default, the documentation or a caller gives for a parameter."""
        syntax = syntax_tree(file)
        function = next(
            (each for each in syntax.around(parameter) if isinstance(each, FunctionDefinition)),
            None,
        )
        if function is None:
            return None
        default = dict(with_defaults(function.args)).get(parameter)
        if (found := self.value(default, file, hops - 1)) is not None:
            return found
        owner = enclosing_class(function, syntax)
        if (found := documented_bfloat16(parameter, function, owner, file)) is not None:
            return found
        name = function.name
        if owner is not None:
            if function.name != "__init__":
                return None
            name = owner.name
        for call, other in self._users.calls_of(name, file):
            given = argument_for(call, parameter, function, is_method=owner is not None)
            if (found := self.value(given, other, hops - 1)) is not None:
                return found
        return None


def _named(shown: str, node: ast.expr, file: ParsedPython) -> Offer:
    place = file.text.place(file.span_of(node))
    return Offer(shown, Related(place, "bfloat16 enters here"))


def _is_torch_bfloat16(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "bfloat16"
