"""What an object that holds settings is: the section of a file that it stands for, or its class.

`self.config.precision` says nothing of where `config` comes from: a parameter, whose annotation is
the class of a section, or which calls give a section to, `Evaluator(config["evaluation"])`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from precision_lint.facts.runs.code.ways import definitions, key_of_holder, spread
from precision_lint.facts.settings.declarations import SETTINGS_CLASS
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.source.python.bindings import enclosing_class, given_by_position
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition, own_nodes
from precision_lint.source.python.syntax import (
    callee_name,
    last_name,
    named_parameters,
)
from precision_lint.source.python.syntax_tree import syntax_tree

_MOST_HOPS = 4
_MOST_CALLS = 12
_WRAPPING = frozenset({"Optional", "Annotated", "Final", "ClassVar", "List", "list", "Sequence"})


@frozen(slots=False)
class Holder:
    """The sections that an object may stand for, and the classes that it may be of."""

    sections: frozenset[str] = frozenset()
    classes: frozenset[str] = frozenset()

    def __or__(self, other: Holder) -> Holder:
        return Holder(self.sections | other.sections, self.classes | other.classes)


_NONE = Holder()


@frozen(slots=False)
class Holders:
    """Finds out what objects of a program hold; `files` gives those that mention a name. Where only
    what is `declared` counts, calls say nothing of a parameter with an annotation: functions of
    several files may have the name that is called.
    """

    files: Callable[[str], Iterable[ParsedPython]]
    declared: bool = False

    def of(self, node: ast.expr, file: ParsedPython, hops: int = _MOST_HOPS) -> Holder:
        """What an expression may stand for, from where it is assigned and given."""
        if not hops:
            return _NONE
        match node:
            case ast.Name(id="self"):
                owner = enclosing_class(node, syntax_tree(file))
                return Holder(classes=frozenset({owner.name})) if owner is not None else _NONE
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                return self._of_member(name, node, file, hops)
            case ast.Name():
                return self._of_name(node, file, hops)
            case ast.Call(args=[only], keywords=[]) if callee_name(node) in ("dict", "vars"):
                return self.of(only, file, hops)
            case ast.Call() if (name := callee_name(node)) and name[:1].isupper():
                return Holder(classes=frozenset({name}))
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name))) if name[:1].isupper():
                return Holder(classes=frozenset({name}))  # `Config.from_yaml(path)`
            case ast.Attribute() | ast.Subscript() | ast.Call():
                key = key_of_holder(node)
                found = Holder(frozenset({key})) if key else _NONE
                return found | self._of_result(node, file, hops)
        return _NONE

    def _of_result(self, node: ast.expr, file: ParsedPython, hops: int) -> Holder:
        """What the one function with a name returns: what it is declared as, or else what it is."""
        match node:
            case ast.Call(func=ast.Name(id=name)):
                pass
            case _:
                return _NONE
        found = [
            (home, function)
            for home in dict.fromkeys((file, *self.files(name)))
            for function in definitions(home).get(name, ())
        ]
        if len(found) != 1:
            return _NONE
        home, function = found[0]
        if classes := frozenset(_names_of(function.returns)):
            return Holder(classes=classes)
        result = _NONE
        for each in own_nodes(function):
            if isinstance(each, ast.Return) and each.value is not None:
                result |= self.of(each.value, home, hops - 1)
        return result

    def _of_member(self, name: str, node: ast.expr, file: ParsedPython, hops: int) -> Holder:
        """`self.config`: what its class says of it, and assigns to it."""
        owner = enclosing_class(node, syntax_tree(file))
        found = Holder(frozenset({name}))
        for annotation, value in members_of(owner, file).get(name, ()) if owner is not None else ():
            found |= Holder(classes=frozenset(_names_of(annotation)))
            if value is not None:
                found |= self.of(value, file, hops - 1)
        return found

    def _of_name(self, node: ast.Name, file: ParsedPython, hops: int) -> Holder:
        syntax = syntax_tree(file)
        function = syntax.function(node)
        found = Holder(classes=frozenset({node.id})) if _is_class(node.id, file) else _NONE
        for store in syntax.stores(function or syntax.tree, node.id):
            match syntax.parent(store):
                case ast.Assign(targets=[target], value=value) if target is store:
                    found |= self.of(value, file, hops - 1)
                case ast.AnnAssign(annotation=annotation):
                    found |= Holder(classes=frozenset(_names_of(annotation)))
        if isinstance(function, FunctionDefinition):
            for each in named_parameters(function.args):
                if each.arg == node.id:
                    declared = frozenset(_names_of(each.annotation))
                    found |= Holder(classes=declared)
                    if not (declared and self.declared):
                        found |= self._of_parameter(each, function, file, hops)
        return found

    def _of_parameter(
        self, parameter: ast.arg, function: FunctionDefinition, file: ParsedPython, hops: int
    ) -> Holder:
        """What calls give to a parameter."""
        name = function.name
        match syntax_tree(file).parent(function):
            case ast.ClassDef(name=owner) if name == "__init__":
                name = owner
        names = given_by_position(function, syntax_tree(file))
        index = names.index(parameter.arg) if parameter.arg in names else len(names)
        found, count = _NONE, 0
        for caller in self.files(name):
            for call in syntax_tree(caller).calls(name):
                count += 1
                if count > _MOST_CALLS:
                    return found
                given = {each.arg: each.value for each in call.keywords}.get(parameter.arg)
                if given is None and index < len(call.args):
                    given = call.args[index]
                if given is not None and not isinstance(given, ast.Starred):
                    found |= self.of(given, caller, hops - 1)
        return found


def _is_class(name: str, file: ParsedPython) -> bool:
    """True for the name of a class of settings that a file defines or imports: `CFG.amp`."""
    if SETTINGS_CLASS.search(name) is None or not name[:1].isupper():
        return False
    names = syntax_tree(file).names
    own = (each for each in file.tree.body if isinstance(each, ast.ClassDef))
    return name in names or any(each.name == name for each in own)


_Rows: TypeAlias = "dict[str, list[tuple[ast.expr | None, ast.expr | None]]]"
"""Members by their names: their annotations, and what is assigned to them."""


def members_of(owner: ast.ClassDef, file: ParsedPython) -> _Rows:
    """The members of the objects of a class."""
    return _members(file).get(owner, {})


@fact
def _members(file: ParsedPython) -> Mapping[ast.ClassDef, _Rows]:
    found: dict[ast.ClassDef, _Rows] = {}
    syntax = syntax_tree(file)
    row: tuple[ast.expr | None, ast.expr | None]
    for node in file.nodes:
        match node:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)]):
                row = (None, node.value)
            case ast.AnnAssign(target=ast.Attribute(value=ast.Name(id="self"), attr=name)):
                row = (node.annotation, node.value)
            case ast.AnnAssign(target=ast.Name(id=name)) if isinstance(
                syntax.parent(node), ast.ClassDef
            ):
                row = (node.annotation, None)
            case _:
                continue
        owner = enclosing_class(node, syntax)
        if owner is not None:
            found.setdefault(owner, {}).setdefault(name, []).append(row)
    return found


@fact
def classes_of_sections(file: ParsedPython) -> Mapping[str, frozenset[str]]:
    """The classes of sections by their names: `train: TrainConfig` in a class of settings,
    `TrainConfig(**config["train"])`.
    """
    found: dict[str, set[str]] = {}
    for owner, members in _members(file).items():
        for name, rows in members.items():
            for annotation, _ in rows:
                found.setdefault(name, set()).update(_names_of(annotation), _made(owner, name))
    for call, holder in spread(file):
        found.setdefault(key_of_holder(holder), set()).add(callee_name(call))
    return {name: frozenset(classes) for name, classes in found.items()}


def _made(owner: ast.ClassDef, field: str) -> Iterator[str]:
    """The class that makes the default of a field: `field(default_factory=TrainConfig)`."""
    for statement in owner.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Call(keywords=keywords)):
                for each in keywords if name == field else ():
                    if each.arg == "default_factory":
                        yield last_name(each.value)


def _names_of(annotation: ast.expr | None) -> Iterator[str]:
    """The classes that an annotation names: `Config | None`, `Optional["Config"]`."""
    match annotation:
        case ast.Constant(value=str(text)):
            yield text.rpartition(".")[2]
        case ast.BinOp(left=left, right=right):
            yield from _names_of(left)
            yield from _names_of(right)
        case ast.Subscript(value=value, slice=inner) if last_name(value) in _WRAPPING:
            yield from _names_of(inner)
        case ast.Name() | ast.Attribute():
            yield last_name(annotation)
