"""Where a run that the project offers gives bfloat16 to an expression.

The dtype flow knows the dtypes that code names. This module follows an expression to the settings
and parameters that choose one: an option with its choices, a key of a configuration file, a field
that other code of the project sets, a parameter whose documentation lists its values or that some
caller sets. An answer is a place that says bfloat16; where no place does, there is none.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.definitions import Class, Function, module_of
from precision_lint.facts.dtypes.program import Program
from precision_lint.facts.origin import Choice
from precision_lint.facts.settings import holds_settings
from precision_lint.facts.settings.vocabulary import (
    is_about_precision,
    names_bfloat16,
    names_float16,
)
from precision_lint.model.finding import Related
from precision_lint.project.discovery import kind_of
from precision_lint.source.python.bindings import attribute, binding, enclosing_class
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition, single_targets
from precision_lint.source.python.syntax import (
    dotted,
    positional_parameters,
    qualified,
    resolved,
    with_defaults,
)
from precision_lint.source.python.syntax_tree import syntax_tree

_HOPS = 6
"""Names, parameters and attributes that are followed from an expression to a value."""

_MOST_FILES = 12
"""Other files that are searched for what sets a parameter or a field."""

_AMP = re.compile(r"(?:^|_)(?:amp|mixed|autocast)(?:_|$)|mixed_precision")
_NAMED = re.compile(r"(?<![a-z])(?:torch\.)?(?:bfloat16|bf16)\b", re.IGNORECASE)
_NEGATED = re.compile(r"\b(?:not|except|unlike|without|instead of)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Offer:
    """A value in bfloat16, as a message shows it, and the place that says it."""

    shown: str
    related: Related

    @property
    def with_place(self) -> str:
        """The value and where it is given: `amp_dtype=bf16` (train.yaml:12)."""
        place = self.related.place
        return f"`{self.shown}` ({place.path.name}:{place.start.row})"


def bfloat16_offer(node: ast.expr, file: PythonFile, *, of: ParsedPython) -> Offer | None:
    """The first place that makes an expression of the file `of` bfloat16."""
    return _Search(file).value(node, of, _HOPS)


def weights_offer(file: PythonFile) -> Offer | None:
    """A setting for the dtype of weights that is bfloat16, if the program reads it.

    A program is a file and what it imports. The dtype of autocast is another setting.
    """
    search = _Search(file)
    elsewhere = file.project.bfloat16_weights
    for source in search.reach():
        for node in ast.walk(source.tree):
            path = None
            if isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
                path = setting_path(node)
            if path is None or not path[-1].endswith("dtype") or _AMP.search(path[-1]):
                continue
            assert isinstance(node, ast.expr)
            if (offer := search.setting(node, source)) is not None:
                return offer
            if elsewhere is not None and _is_given_at(elsewhere, path[-1], file):
                return Offer(f"{path[-1]}=bfloat16", elsewhere)
    return None


def _is_given_at(related: Related, name: str, file: PythonFile) -> bool:
    """True if a place sets the setting of this name."""
    lines = file.project.config_files.text(related.place.path).splitlines()
    row = related.place.start.row
    line = lines[row - 1] if row <= len(lines) else ""
    return re.search(rf"(?<!\w){re.escape(name)}\b", line.replace("-", "_")) is not None


def float16_given(node: ast.expr, file: PythonFile) -> tuple[str, Choice] | None:
    """The setting, and its value in a launch script or a configuration, that make it float16."""
    path = _path_of(node, file, _HOPS)
    choice = None if path is None else given_choice(path, file, names_float16)
    return None if path is None or choice is None else (path[-1], choice)


def given_choice(
    path: tuple[str, ...], file: PythonFile, accepts: Callable[[object], bool]
) -> Choice | None:
    """The value of a setting in a launch script or a configuration file, if one is accepted.

    What an option has as its default, or merely offers, does not count.
    """
    setting = file.project.setting(path, file.text.path)
    for choice in setting.choices if setting is not None else ():
        if accepts(choice.value) and kind_of(choice.origin.source.path) != "python":
            return choice
    return None


def _path_of(node: ast.expr, file: PythonFile, hops: int) -> tuple[str, ...] | None:
    """The setting that the name of a dtype is read from."""
    if hops == 0:
        return None
    match node:
        case ast.IfExp(body=body, orelse=orelse):
            found = (_path_of(one, file, hops - 1) for one in (body, orelse))
            return next((one for one in found if one is not None), None)
        case ast.Call(func=ast.Name(id="getattr"), args=[ast.Name(id="torch"), name]):
            return _path_of(name, file, hops - 1)
        case ast.Name():
            values = binding(node, syntax_tree(file))
            found = (
                _path_of(value, file, hops - 1)
                for value in (values if isinstance(values, list) else [])
            )
            return next((one for one in found if one is not None), None)
    return setting_path(node)


class _Search:
    """One search; what was asked already is not asked again."""

    def __init__(self, file: PythonFile) -> None:
        self._program = Program(file)
        self._project = file.project
        self._asked: set[ast.AST] = set()

    def reach(self) -> Iterator[ParsedPython]:
        """The file and what it imports, the closest first."""
        modules = [self._program.main]
        for module in modules:
            yield module.file
            for name in module.imports.values():
                found = self._program.find(module, name)
                if found is not None and found.module not in modules:
                    modules.append(found.module)

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
        helper = self.function(node.func, file)
        if helper is None or not _NAMED.search(ast.unparse(helper.node)):
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
        owner = self.class_of(node.value, file)
        if owner is None:
            return None
        declared = owner.annotated.get(node.attr)
        if declared is not None and (found := self.value(declared.value, owner.module.file, hops)):
            return found
        for other in self.users(owner, node.attr):
            for value in _given_for(node.attr, owner.name, other):
                if (found := self.value(value, other, hops - 1)) is not None:
                    return Offer(f"{node.attr}=torch.bfloat16", found.related)
        return None

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
        for inner in ast.walk(parameter.annotation):
            if isinstance(inner, ast.Name | ast.Attribute) and (name := dotted(inner)):
                found = self.definition(name, file)
                if isinstance(found, Class):
                    return found
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
        if (found := _documented(parameter, function, owner, file)) is not None:
            return found
        name = function.name
        if owner is not None:
            if function.name != "__init__":
                return None
            name = owner.name
        for call, other in self.calls_of(name, file):
            given = _argument(call, parameter, function, is_method=owner is not None)
            if (found := self.value(given, other, hops - 1)) is not None:
                return found
        return None

    def calls_of(self, name: str, file: ParsedPython) -> Iterator[tuple[ast.Call, ParsedPython]]:
        """The calls of a function or class at the top level of a file, in all that import it."""
        definition = module_of(file).top.get(name)
        if definition is None:
            return
        for other in (file, *self.users(definition, name)):
            for call in syntax_tree(other).calls(name):
                yield call, other

    def users(self, definition: Function | Class, name: str) -> Iterator[ParsedPython]:
        """The file that defines something, and those that import it and contain a name.

        They may import it from a package that exports it.
        """
        yield definition.module.file
        defining = definition.module.file.text.path
        exports = (
            path
            for path in self._project.importing(defining, definition.name)
            if path.stem == "__init__"
        )
        found = (
            path
            for module in (defining, *exports)
            for path in self._project.importing(module, name)
        )
        for path in islice(dict.fromkeys(found), _MOST_FILES):
            module = self._program.module(path)
            if module is not None and module is not definition.module:
                yield module.file

    def function(self, node: ast.expr, file: ParsedPython) -> Function | None:
        name = dotted(node)
        found = None if name is None else self.definition(name, file)
        return found if isinstance(found, Function) else None

    def definition(self, name: str, file: ParsedPython) -> object:
        module = module_of(file)
        if "." in name:
            found = self._program.find(module, resolved(name, module.imports))
        else:
            found = self._program.name(module, name)
        return None if found is None else found.definition


def _named(shown: str, node: ast.expr, file: ParsedPython) -> Offer:
    place = file.text.place(file.span_of(node))
    return Offer(shown, Related(place, "bfloat16 enters here"))


def _is_torch_bfloat16(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "bfloat16"


def setting_path(node: ast.expr) -> tuple[str, ...] | None:
    """The names that lead to a setting below the object that holds it; None for other things."""
    names: list[str] = []
    while True:
        match node:
            case ast.Attribute(value=owner, attr=name):
                pass
            case ast.Subscript(value=owner, slice=ast.Constant(value=str(name))):
                pass
            case ast.Call(
                func=ast.Name(id="getattr"), args=[owner, ast.Constant(value=str(name)), *_]
            ):
                pass
            case ast.Call(
                func=ast.Attribute(value=owner, attr="get"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                pass
            case _:
                break
        names.insert(0, name)
        node = owner
        if holds_settings(name) and len(names) > 1:
            return tuple(names[1:])
    if not names or not isinstance(node, ast.Name):
        return None
    if holds_settings(node.id):
        return tuple(names)
    # A holder under any other name: `tensor.dtype` is no setting, `run.amp_dtype` is one.
    is_plain = names[-1] == "dtype" or not is_about_precision(names[-1])
    return None if is_plain or node.id in {"torch", "self"} else tuple(names[-1:])


def _given_for(name: str, owner: str, file: ParsedPython) -> Iterator[ast.expr]:
    """What a file gives a field of a class: `Arguments(dtype=…)`, `arguments.dtype = …`."""
    for call in syntax_tree(file).calls(owner):
        yield from (keyword.value for keyword in call.keywords if keyword.arg == name)
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                for single in single_targets(target):
                    if isinstance(single, ast.Attribute) and single.attr == name:
                        yield node.value


def _argument(
    call: ast.Call, parameter: ast.arg, function: FunctionDefinition, *, is_method: bool
) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == parameter.arg:
            return keyword.value
    names = [each.arg for each in positional_parameters(function.args)[is_method:]]
    if parameter.arg not in names:
        return None
    before = call.args[: names.index(parameter.arg) + 1]
    is_seen = not any(isinstance(each, ast.Starred) for each in before)
    return before[-1] if is_seen and len(before) == names.index(parameter.arg) + 1 else None


def _documented(
    parameter: ast.arg,
    function: FunctionDefinition,
    owner: ast.ClassDef | None,
    file: ParsedPython,
) -> Offer | None:
    """The annotation or the paragraph of a docstring that lists bfloat16 among the values."""
    message = f"bfloat16 is a documented value of `{parameter.arg}`"
    if parameter.annotation is not None:
        for node in ast.walk(parameter.annotation):
            match node:
                case ast.Constant(value=str(name)) if names_bfloat16(name):
                    place = file.text.place(file.span_of(node))
                    return Offer(f"{parameter.arg}={name}", Related(place, message))
    for holder in (function, *([] if owner is None else [owner])):
        text = ast.get_docstring(holder, clean=True)
        if text is not None and _lists_bfloat16(_paragraph(parameter.arg, text)):
            place = file.text.place(file.span_of(parameter))
            return Offer(f"{parameter.arg}=torch.bfloat16", Related(place, message))
    return None


def _paragraph(name: str, text: str) -> str:
    """What a docstring says of a parameter: `name (type): …` and the deeper lines after it."""
    lines = text.splitlines()
    start = re.compile(rf"[ \t]*(?:[-*] |:param )?[`*]*{re.escape(name)}[`*]*[ \t]*(?:\(|:|$)")
    for index, line in enumerate(lines):
        if start.match(line):
            indent = len(line) - len(line.lstrip())
            taken = [line]
            for further in lines[index + 1 :]:
                if further.strip() and len(further) - len(further.lstrip()) <= indent:
                    break
                taken.append(further)
            return "\n".join(taken)
    return ""


def _lists_bfloat16(paragraph: str) -> bool:
    """True if a sentence names bfloat16 as a value, and not as one that is refused."""
    sentences = re.split(r"(?<=[.;])\s", paragraph)
    return any(_NAMED.search(one) and not _NEGATED.search(one) for one in sentences)
