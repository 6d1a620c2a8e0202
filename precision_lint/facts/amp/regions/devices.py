"""The device that an expression names: a `torch.device`, its number, or a string.

Read from the assignments of the function, the class and the module. Only what is certain counts: a
`device` that somebody passes in may be any of the three.
"""

from __future__ import annotations

import ast
from enum import Enum, auto

from precision_lint.model.frozen import frozen
from precision_lint.source.python.bindings import attribute, binding, enclosing_class
from precision_lint.source.python.syntax import callee_name, qualified, with_defaults
from precision_lint.source.python.syntax_tree import SyntaxTree


class DeviceKind(Enum):
    """The type of a value that names a device."""

    OBJECT = auto()  # torch.device
    ORDINAL = auto()  # int
    STRING = auto()


@frozen
class Device:
    """What is known of such a value: its kind, and the text of a string up to what is computed."""

    kind: DeviceKind
    text: str = ""


OBJECT = Device(DeviceKind.OBJECT)

_MAKERS = {
    "torch.device": OBJECT,
    "torch.get_default_device": OBJECT,
    "torch.cuda.current_device": Device(DeviceKind.ORDINAL),
    "torch.xpu.current_device": Device(DeviceKind.ORDINAL),
}
_FACTORIES = frozenset(
    f"torch.{name}"
    for name in (
        "arange cat empty empty_like eye from_numpy full full_like linspace ones "
        "ones_like rand rand_like randint randn randn_like randperm stack tensor zeros zeros_like"
    ).split()
)
"""Functions that return a tensor for any argument."""
_HAVE_DEVICE = ("LightningModule", "PreTrainedModel", "ModelMixin", "DiffusionPipeline")
"""Ends of names of base classes whose `self.device` is a `torch.device`."""
_HOLDERS = frozenset({"accelerate.Accelerator", "accelerate.PartialState"})
"""Classes whose `device` is a `torch.device`."""
_DEPTH = 6


def device_of(node: ast.expr, syntax: SyntaxTree) -> Device | None:
    """The device that an expression is certain to be; None if it may be something else."""
    return _device(node, syntax, _DEPTH)


def _device(node: ast.expr, syntax: SyntaxTree, depth: int) -> Device | None:
    if depth == 0:
        return None
    match node:
        case ast.Constant(value=str(text)):
            return Device(DeviceKind.STRING, text)
        case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]):
            return Device(DeviceKind.STRING, text)
        case ast.Call():
            return _MAKERS.get(qualified(node.func, syntax.names))
        case ast.IfExp(body=body, orelse=orelse):
            return _common([body, orelse], syntax, depth)
        case ast.Name():
            return _variable(node, syntax, depth)
        case ast.Attribute(value=ast.Name(id="self")):
            return _own_attribute(node, syntax, depth)
        case ast.Attribute(value=owner, attr="device") if _has_device(owner, syntax):
            return OBJECT
    return None


def _common(values: list[ast.expr], syntax: SyntaxTree, depth: int) -> Device | None:
    """What all the values are; of strings that differ, none is certain."""
    found = {_device(value, syntax, depth - 1) for value in values}
    return found.pop() if len(found) == 1 else None


def _variable(node: ast.Name, syntax: SyntaxTree, depth: int) -> Device | None:
    match binding(node, syntax):
        case ast.arg(annotation=annotation) as parameter:
            is_device = _is_named(annotation, "torch.device", syntax)
            return OBJECT if is_device and not _may_be_text(parameter, syntax) else None
        case [*values]:
            return _common(values, syntax, depth)
    return None


def _may_be_text(parameter: ast.arg, syntax: SyntaxTree) -> bool:
    """Whether the annotation is wrong, as in `device: torch.device = "cpu"`."""
    match syntax.parent(parameter):
        case ast.arguments() as given:
            return any(
                each is parameter and isinstance(value, ast.Constant) and value.value is not None
                for each, value in with_defaults(given)
            )
    return False


def _own_attribute(node: ast.Attribute, syntax: SyntaxTree, depth: int) -> Device | None:
    """`self.device`: what the methods of the class assign, what a property or a base class says."""
    owner = enclosing_class(node, syntax)
    if owner is None:
        return None
    match attribute(node, owner, syntax):
        case None:
            return None
        case [_, *_] as values:
            return _common(values, syntax, depth)
    for each in owner.body:
        match each:
            case ast.FunctionDef(name=node.attr, returns=returns):
                return OBJECT if _is_named(returns, "torch.device", syntax) else None
            case (
                ast.Assign(targets=[ast.Name(id=node.attr)])
                | ast.AnnAssign(target=ast.Name(id=node.attr))
            ):
                return None
    bases = [qualified(base, syntax.names) for base in owner.bases]
    is_known = node.attr == "device" and any(base.endswith(_HAVE_DEVICE) for base in bases)
    return OBJECT if is_known else None


def _has_device(owner: ast.expr, syntax: SyntaxTree) -> bool:
    """Whether `owner.device` is a `torch.device`: a tensor, a parameter, a loaded model."""
    match owner:
        case ast.Call(
            func=ast.Name(id="next"), args=[ast.Call(func=ast.Attribute(attr=method)), *_]
        ):
            return method in {"parameters", "buffers"}
        case ast.Call():
            name = qualified(owner.func, syntax.names)
            return name in _FACTORIES or name in _HOLDERS or callee_name(owner) == "from_pretrained"
        case ast.Name():
            match binding(owner, syntax):
                case ast.arg(annotation=annotation):
                    return _is_named(annotation, "torch.Tensor", syntax)
                case [*values]:
                    return all(
                        isinstance(value, ast.Call) and _has_device(value, syntax)
                        for value in values
                    )
    return False


def _is_named(annotation: ast.expr | None, name: str, syntax: SyntaxTree) -> bool:
    match annotation:
        case ast.Constant(value=str(text)):
            return text == name
        case ast.expr():
            return qualified(annotation, syntax.names) == name
    return False
