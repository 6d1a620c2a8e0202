"""What an expression does in a training step: scales a loss, unscales gradients, steps …"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import Enum, auto
from typing import TypeGuard

from precision_lint.facts.amp.training_step.direction import is_gradient, makes_a_direction
from precision_lint.model.finding import Related
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.imports import imported_names
from precision_lint.source.python.nodes import children
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import own_statements
from precision_lint.source.python.syntax import callee_name, dotted, resolved
from precision_lint.source.python.syntax_tree import syntax_tree


class EventKind(Enum):
    """The kinds of events; each comment describes `Event.subject`."""

    SCALED_BACKWARD = auto()  # the loss
    BACKWARD = auto()  # the loss
    UNSCALE = auto()  # the optimizer
    CLIP = auto()  # the parameters
    NORM = auto()  # the gradient whose norm is taken
    STEP = auto()  # the optimizer, through the scaler
    PLAIN_STEP = auto()  # the optimizer
    UPDATE = auto()  # nothing
    UNKNOWN = auto()  # the callee: it may do any of this


@frozen
class Event:
    """Something that happens to gradients, or to the scaler `scaler` ("" if to none)."""

    kind: EventKind
    scaler: str
    subject: str
    node: ast.Call
    statement: ast.stmt
    file: ParsedPython
    """Where `node` is: another file for what an imported helper does."""

    helper: str = ""
    """The function that does it where the step calls that; "" for what the step does itself."""

    call: ast.Call | None = None
    """The call in the step that leads to it, where a helper does it."""

    is_called_back: bool = False
    """True for what an object does that may be there or not: one of `self.callbacks`."""

    named: ast.Call | None = None
    """The call that gives the name of the event by which it is called back."""

    def related(self, message: str) -> Related:
        """The event as the other half of a finding, whichever file it is in."""
        return Related(self.file.text.place(self.file.span_of(self.node)), message)


_CLIPPING = frozenset({"clip_grad_norm_", "clip_grad_value_", "clip_grad_norm"})
_TORCH_UTILS = regex(r"^(?:torch\.)?nn\.utils(?:\.clip_grad)?$|^torch\.nn\.utils\.clip_grad$")
_OPTIMIZER = regex(r"(?:^|[._])(?:opt|optim|optimizer)(?:s|_\w+|[A-Z0-9]\w*)?$")
_ABOUT_GRADIENTS = regex(r"scal|clip|optim|step|backward|grad|amp", re.IGNORECASE)


@frozen
class Names:
    """What the names of a file mean to the protocol."""

    scalers: frozenset[str]
    scaled: Mapping[str, str]
    """Variables that hold a scaled loss, and the scaler of each."""

    optimizers: frozenset[str]
    """Optimizers that a scaler steps."""


_OTHER_FRAMEWORKS = frozenset({"paddle", "mindspore", "oneflow", "jittor", "megengine"})


def _is_of_another_framework(file: ParsedPython) -> bool:
    """True for a file that imports Paddle or its like, and not torch."""
    imported = {name.partition(".")[0] for name in imported_names(file).values()}
    return "torch" not in imported and not _OTHER_FRAMEWORKS.isdisjoint(imported)


@fact
def names_in(file: ParsedPython) -> Names:
    """The scalers of a file that may be on: made here, or used as only a scaler can be."""
    if _is_of_another_framework(file):
        return Names(frozenset(), {}, frozenset())
    on: set[str] = set()
    off: set[str] = set()
    scalers: set[str] = set()
    scaled_by: dict[str, str] = {}
    backward: set[str] = set()
    scaling: set[str] = set()
    updated: set[str] = set()
    stepped: list[tuple[str, str]] = []
    for node in file.nodes:
        match node:
            case (
                ast.Assign(targets=[target], value=value)
                | ast.AnnAssign(target=target, value=ast.expr() as value)
            ):
                name = dotted(target)
                if name is None:
                    continue
                made = [each for each in _alternatives(value) if _makes_scaler(each, file)]
                if made:
                    (off if all(map(_is_off, made)) else on).add(name)
                match value:
                    case ast.Call(func=ast.Attribute(value=owner, attr="scale"), args=[_]):
                        scaled_by[name] = dotted(owner) or ""
            case ast.arg(arg=name, annotation=ast.expr() as annotation):
                if "GradScaler" in ast.unparse(annotation):
                    scalers.add(name)
            case ast.Call(func=ast.Attribute(value=owner, attr="unscale_")):
                scalers.add(dotted(owner) or "")
            case ast.Call(
                func=ast.Attribute(
                    value=ast.Call(func=ast.Attribute(value=owner, attr="scale")), attr="backward"
                )
            ):
                scaling.add(dotted(owner) or "")
            case ast.Call(func=ast.Attribute(value=owner, attr="update"), args=[]):
                updated.add(dotted(owner) or "")
            case ast.Call(func=ast.Attribute(value=owner, attr="backward")):
                backward.add(dotted(owner) or "")
            case ast.Call(
                func=ast.Attribute(value=owner, attr="step" | "unscale_"), args=[optimizer, *_]
            ):
                stepped.append((dotted(owner) or "", ast.unparse(optimizer)))
    scaling |= {scaler for name, scaler in scaled_by.items() if name in backward}
    # Engines also have a `scale`. An object is a scaler if its name says so or it is updated.
    scalers |= {name for name in scaling if name in updated or "scaler" in name.lower()}
    scalers |= {name for name, _ in stepped if name in updated and "scaler" in name.lower()}
    scalers = (scalers | on) - (off - on) - {"", "self", "cls"}
    return Names(
        frozenset(scalers),
        {name: scaler for name, scaler in scaled_by.items() if scaler in scalers},
        frozenset(optimizer for scaler, optimizer in stepped if scaler in scalers),
    )


@fact
def scalers_made(file: ParsedPython) -> Mapping[str, ast.Call]:
    """The scalers that the file makes by the names that hold them, but for those that are off."""
    if _is_of_another_framework(file):
        return {}
    found: dict[str, ast.Call] = {}
    for node in file.nodes:
        match node:
            case ast.Assign(targets=[target], value=value) if name := dotted(target):
                made = [each for each in _alternatives(value) if _makes_scaler(each, file)]
                found |= [(name, each) for each in made if not _is_off(each)]
    return found


def _is_off(scaler: ast.Call) -> bool:
    is_given_false = any(isinstance(one, ast.Constant) and not one.value for one in scaler.args)
    return is_given_false or any(
        keyword.arg == "enabled"
        and isinstance(keyword.value, ast.Constant)
        and not keyword.value.value
        for keyword in scaler.keywords
    )


def _alternatives(value: ast.expr) -> Iterator[ast.expr]:
    """The values that a conditional expression can have."""
    match value:
        case ast.IfExp(body=body, orelse=orelse):
            yield from _alternatives(body)
            yield from _alternatives(orelse)
        case ast.BoolOp(values=values):
            for each in values:
                yield from _alternatives(each)
        case _:
            yield value


def _makes_scaler(value: ast.expr, file: ParsedPython) -> TypeGuard[ast.Call]:
    if not isinstance(value, ast.Call):
        return False
    return _is_scaler(value) or (
        isinstance(value.func, ast.Name) and value.func.id in _functions_making_scalers(file)
    )


def _is_scaler(value: ast.expr) -> TypeGuard[ast.Call]:
    return isinstance(value, ast.Call) and callee_name(value).endswith("GradScaler")


@fact
def _functions_making_scalers(file: ParsedPython) -> frozenset[str]:
    """The functions of the top level that return a new scaler, or None, and nothing else."""
    return frozenset(
        node.name
        for node in file.tree.body
        if isinstance(node, ast.FunctionDef) and not node.decorator_list and _returns_scaler(node)
    )


def _returns_scaler(function: ast.FunctionDef) -> bool:
    returned = [
        each
        for statement in own_statements(function.body)
        if isinstance(statement, ast.Return) and statement.value is not None
        for each in _alternatives(statement.value)
    ]
    made = [each for each in returned if _is_scaler(each) and not _is_off(each)]
    others = (each for each in returned if not _is_scaler(each))
    return bool(made) and all(isinstance(each, ast.Constant) for each in others)


def calls_in_order(expression: ast.AST) -> Iterator[ast.Call]:
    """The calls of an expression in the order of evaluation; nested functions are not run."""
    if isinstance(expression, ast.Lambda):
        return
    for child in children(expression):
        yield from calls_in_order(child)
    if isinstance(expression, ast.Call):
        yield expression


def event_of(node: ast.Call, statement: ast.stmt, names: Names, file: ParsedPython) -> Event | None:
    """What a call does by itself; None if it does nothing of the protocol."""

    def event(kind: EventKind, scaler: str = "", subject: str = "") -> Event:
        return Event(kind, scaler, subject, node, statement, file)

    match node:
        case ast.Call(
            func=ast.Attribute(
                value=ast.Call(func=ast.Attribute(value=owner, attr="scale"), args=[loss]),
                attr="backward",
            )
        ) if (scaler := dotted(owner)) in names.scalers:
            return event(EventKind.SCALED_BACKWARD, scaler or "", ast.unparse(loss))
        case ast.Call(func=ast.Attribute(value=loss, attr="backward")):
            if (name := dotted(loss)) is not None and name in names.scaled:
                return event(EventKind.SCALED_BACKWARD, names.scaled[name], name)
            # `accelerator.backward(loss)` and the like do what they do.
            kind = EventKind.UNKNOWN if node.args else EventKind.BACKWARD
            return event(kind, "", ast.unparse(loss))
        case ast.Call(
            func=ast.Attribute(value=owner, attr="unscale_" | "step" | "update" as method)
        ) if (scaler := dotted(owner)) in names.scalers and (method != "step" or _is_given(node)):
            kind = {
                "unscale_": EventKind.UNSCALE,
                "step": EventKind.STEP,
                "update": EventKind.UPDATE,
            }[method]
            return event(kind, scaler or "", ast.unparse(node.args[0]) if node.args else "")
        case ast.Call(func=ast.Attribute(value=owner, attr="step"), args=[] | [_], keywords=[]):
            name = ast.unparse(owner)
            if name in names.optimizers or _OPTIMIZER.search(name):
                return event(EventKind.PLAIN_STEP, "", name)
        case ast.Call(func=ast.Name(id=name), args=[parameters, *_]) if name in _CLIPPING:
            return event(EventKind.CLIP, "", ast.unparse(parameters))
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=[parameters, *_]) if (
            name in _CLIPPING
        ):
            is_torch = _TORCH_UTILS.match(ast.unparse(owner)) is not None
            return event(
                EventKind.CLIP if is_torch else EventKind.UNKNOWN, "", ast.unparse(parameters)
            )
        case ast.Call(func=ast.Attribute(value=owner, attr="norm"), args=arguments):
            gradient = next(filter(is_gradient, [owner, *arguments[:1]]), None)
            if gradient is not None and not makes_a_direction(node, syntax_tree(file)):
                return event(EventKind.NORM, "", ast.unparse(gradient))
    if given_scaler(node, names):
        return event(EventKind.UNKNOWN, "", ast.unparse(node.func))
    return None


def _is_given(node: ast.Call) -> bool:
    """True for `s.step(optimizer)`: without one it is a scheduler's, whose variable is also `s`."""
    return bool(node.args or node.keywords)


def given_scaler(node: ast.Call, names: Names) -> bool:
    """True if a call gets a scaler, and does more than to save it."""
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    return any(dotted(argument) in names.scalers for argument in given) and not _keeps(node)


def _keeps(node: ast.Call) -> bool:
    """True for what writes the scaler down or reads it back: `save_checkpoint(scaler=scaler)`."""
    return re.search(r"save|load|checkpoint|print|log", callee_name(node), re.I) is not None


def may_act(node: ast.Call) -> bool:
    """Whether a function that is not seen sounds as if it took part in the protocol."""
    return _ABOUT_GRADIENTS.search(callee_name(node)) is not None


def renamed(event: Event, names: Mapping[str, str], helper: str, call: ast.Call) -> Event:
    """An event of a helper in the words of its caller: parameters become arguments."""
    return replace(
        event,
        helper=helper,
        call=call,
        named=event.named or (call if event.is_called_back else None),
        is_called_back=event.is_called_back or isinstance(call.func, ast.Call),
        scaler=resolved(event.scaler, names),
        subject=resolved(event.subject, names),
    )
