"""Methods that a step calls by name: `getattr(callback, event)(self, *args)`.

A method such as `notify` gets the name of an event as a text, and calls the method of that name on
each object in `self.callbacks`. The method is followed if exactly one class has it, or one of
several clips gradients and the others do nothing to them. If nothing declares what is in
`self.callbacks`, no other file may name the event.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from precision_lint.facts.amp.lineage import Lineage
from precision_lint.facts.amp.scaling.users import Users
from precision_lint.facts.dtypes.syntax.definitions import Class, Function
from precision_lint.facts.dtypes.whole_program.program import Program
from precision_lint.model.regex import regex
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import last_name
from precision_lint.source.python.syntax_tree import syntax_tree

_UNSCALING = rb"unscale|inv_scale|get_scale"
_OF_GRADIENTS = regex(r"clip_grad|\.grad\b|grads\b|scaler")
"""What a method does that has to do with gradients."""


def texts_given(node: FunctionDefinition, given: Mapping[str, ast.expr]) -> Mapping[str, str]:
    """The texts that a call gives to parameters by which a function finds methods."""
    names = {
        call.func.args[1].id
        for call in walk(node)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Call)
        and last_name(call.func.func) == "getattr"
        and len(call.func.args) > 1
        and isinstance(call.func.args[1], ast.Name)
    }
    return {
        name: value.value
        for name in names
        if isinstance(value := given.get(name), ast.Constant) and isinstance(value.value, str)
    }


def callback_method(
    receiver: ast.Name, event: str, owner: Class, program: Program
) -> Function | None:
    """The method of an event, if a loop takes the receiver from an attribute of `self`, one class
    alone has the method, or clips in it, and the project makes objects of it.

    None where something unscales gradients in some order of callbacks, or scales a threshold.
    """
    held = _looped(receiver, owner)
    if held is None or _unscales_elsewhere(owner, program):
        return None
    declared = Users(program).class_of(held, owner.module.file)
    if declared is None and not _names_alone(event, owner, program):
        return None
    found = [*_having(event, declared, program)]
    if len(found) > 1:
        found = [each for each in found if _OF_GRADIENTS.search(_text_of(each))]
    return found[0] if len(found) == 1 and _is_made(found[0], program) else None


def _unscales_elsewhere(owner: Class, program: Program) -> bool:
    """True if other code than the body of a class, which no other inherits, unscales gradients."""
    file, node = owner.module.file, owner.node
    here = file.text.path
    others = [path for path in program.project.python_sources_matching(_UNSCALING) if path != here]
    lineage = Lineage(program)
    inherit = any(
        isinstance(each, Class) and owner in lineage.line(each)[1:]
        for each in owner.module.top.values()
    )
    found = re.finditer(_UNSCALING.decode(), file.text.text)
    rows = (file.text.row(each.start()) for each in found)
    return bool(others) or any(
        inherit or not node.lineno <= row <= (node.end_lineno or 0) for row in rows
    )


def _names_alone(event: str, owner: Class, program: Program) -> bool:
    """True if no other file names an event, or calls its method."""
    name = re.escape(event).encode()
    naming = program.project.python_sources_matching(rb"[\"'.]" + name + rb"[\"'(]")
    return {*naming} <= {owner.module.file.text.path}


def _looped(receiver: ast.Name, owner: Class) -> ast.expr | None:
    """`self.callbacks` of `for callback in self.callbacks`."""
    for parent in syntax_tree(owner.module.file).around(receiver):
        match parent:
            case ast.For(target=ast.Name(id=name), iter=ast.Attribute() as held) if (
                name == receiver.id
            ):
                return held
    return None


def _having(event: str, declared: Class | None, program: Program) -> Iterator[Function]:
    """The methods of an event that do something, of a class and those that inherit from it."""
    lineage = Lineage(program)
    for module in program.defining(event):
        for each in module.top.values():
            if isinstance(each, Class) and (declared is None or declared in lineage.line(each)):
                method = each.methods.get(event)
                if method is not None and not method.is_stub:
                    yield method


def _text_of(method: Function) -> str:
    file = method.module.file
    return file.text[file.span_of(method.node)]


def _is_made(method: Function, program: Program) -> bool:
    """True if code names the class where it makes objects, or keeps it in a table, or names what a
    decorator registers it as.
    """
    owner = method.owner
    if owner is None:
        return False
    if any(_is_asked_for(each, owner, program) for each in owner.node.decorator_list):
        return True
    for file in Users(program).of(owner, owner.name):
        for node in file.nodes:
            match node:
                case ast.Call(func=called) if last_name(called) == owner.name:
                    return True
                case ast.Dict(values=values) if owner.name in map(last_name, values):
                    return True
    return False


def _is_asked_for(decorator: ast.expr, owner: Class, program: Program) -> bool:
    """True for `@register("clip")` where other code of the project has the text `"clip"`."""
    match decorator:
        case ast.Call(args=[ast.Constant(value=str(name)) as given]):
            quoted = rb"[\"']" + re.escape(name).encode() + rb"[\"']"
            own = owner.module.file
            texts = [each for each in own.nodes_of(ast.Constant) if each.value == name]
            others = {*program.project.python_sources_matching(quoted)} - {own.text.path}
            return bool(others) or texts != [given]
    return False
