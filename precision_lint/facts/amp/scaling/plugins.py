"""Scalers, and settings for one, that Lightning or accelerate get together with bfloat16."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from precision_lint.facts.amp.scaling.scalers import makes_grad_scaler
from precision_lint.facts.context import PythonFile
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.source.python.bindings import assigned, enclosing_class
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.syntax import qualified
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_LIGHTNING = frozenset({"lightning", "pytorch_lightning", "lightning_fabric", "lightning_lite"})

_PLUGINS = {
    **dict.fromkeys(
        (
            "MixedPrecision",
            "MixedPrecisionPlugin",
            "NativeMixedPrecision",
            "NativeMixedPrecisionPlugin",
            "FSDPMixedPrecisionPlugin",
        ),
        (("precision", "device", "scaler"), frozenset({"bf16", "bf16-mixed"})),
    ),
    **dict.fromkeys(
        ("FSDPPrecision", "FSDPPrecisionPlugin"),
        (("precision", "scaler"), frozenset({"bf16-mixed", "bf16-true"})),
    ),
}
"""Lightning's plugins that take a scaler: their parameters, the precisions that refuse one."""

_ACCELERATORS = frozenset({"accelerate.Accelerator", "accelerate.accelerator.Accelerator"})
_HANDLERS = frozenset(
    f"accelerate.{module}GradScalerKwargs" for module in ("", "utils.", "utils.dataclasses.")
)


@frozen
class Refused:
    """A scaler that a plugin of Lightning gets together with bfloat16: it raises `error`."""

    scaler: ast.Call
    plugin: str
    precision: ast.expr
    error: str


@frozen
class Ignored:
    """A `GradScalerKwargs` that an `Accelerator` gets together with bfloat16."""

    handler: ast.Call
    precision: ast.expr


@fact
def refused(file: PythonFile) -> tuple[Refused, ...]:
    """The scalers of a file that Lightning refuses."""
    return tuple(_refused(syntax_tree(file))) if "Precision" in file.text.text else ()


def _refused(syntax: SyntaxTree) -> Iterator[Refused]:
    calls = [(call, qualified(call.func, syntax.names)) for call in _calls_of(_PLUGINS, syntax)]
    calls += [(call, base) for call in syntax.calls("__init__") for base in _bases(call, syntax)]
    for call, name in calls:
        root, plugin = name.partition(".")[0], name.rpartition(".")[2]
        if root not in _LIGHTNING or plugin not in _PLUGINS or syntax.may_fail_on_purpose(call):
            continue
        parameters, refusing = _PLUGINS[plugin]
        precision = _value(_argument(call, "precision", parameters), syntax)
        scaler = _value(_argument(call, "scaler", parameters), syntax)
        match precision, scaler:
            case ast.Constant(value=str(given)), ast.Call() if (
                given in refusing and makes_grad_scaler(qualified(scaler.func, syntax.names))
            ):
                yield Refused(scaler, plugin, precision, _error(name, given))


def ignored(file: PythonFile) -> Iterator[Ignored]:
    """The settings of scalers in a file that accelerate has no use for."""
    if "GradScalerKwargs" not in file.text.text:
        return
    version = file.project.version_of("accelerate")
    if version is not None and version < (0, 17):
        return  # it still made a scaler in bfloat16
    syntax = syntax_tree(file)
    for call in accelerators(syntax):
        precision = _value(_argument(call, "mixed_precision"), syntax)
        handlers = _value(_argument(call, "kwargs_handlers"), syntax)
        if not isinstance(precision, ast.Constant) or precision.value != "bf16":
            continue
        for each in handlers.elts if isinstance(handlers, ast.List | ast.Tuple) else []:
            match _value(each, syntax):
                case ast.Call() as handler if _sets_up_a_scaler(handler, syntax):
                    yield Ignored(handler, precision)


def accelerators(syntax: SyntaxTree) -> Iterator[ast.Call]:
    """The calls of a file that make an `Accelerator`."""
    for call in _calls_of({"Accelerator"}, syntax):
        if qualified(call.func, syntax.names) in _ACCELERATORS:
            yield call


def unchecked_precision(node: ast.Call, file: PythonFile) -> ast.arg | None:
    """The `precision` of a precision plugin whose constructor calls `node` for every precision."""
    owner = enclosing_class(node, syntax_tree(file))
    if owner is None or not any("Precision" in ast.unparse(base) for base in owner.bases):
        return None
    for method in owner.body:
        if not isinstance(method, ast.FunctionDef) or method.name != "__init__":
            continue
        parameters = {one.arg: one for one in [*method.args.args, *method.args.kwonlyargs]}
        inside = list(walk(method))
        precision = parameters.get("precision")
        if precision is None or not any(one is node for one in inside):
            return None
        tests = [one.test for one in inside if isinstance(one, ast.If | ast.IfExp | ast.Assert)]
        if any("precision" in ast.unparse(test) for test in tests):
            return None
        annotation = "" if precision.annotation is None else ast.unparse(precision.annotation)
        is_16_only = "Literal" in annotation and "bf16" not in annotation
        return None if is_16_only else precision
    return None


def _sets_up_a_scaler(handler: ast.Call, syntax: SyntaxTree) -> bool:
    """True for settings of a scaler that is not turned off by them anyway."""
    enabled = _argument(handler, "enabled")
    is_off = isinstance(enabled, ast.Constant) and not enabled.value
    return qualified(handler.func, syntax.names) in _HANDLERS and not is_off


def _calls_of(names: Collection[str], syntax: SyntaxTree) -> Iterator[ast.Call]:
    """The calls of objects whose original name is one of some names."""
    local = {here for here, name in syntax.names.items() if name.rpartition(".")[2] in names}
    for name in sorted(local.union(names)):
        yield from syntax.calls(name)


def _bases(call: ast.Call, syntax: SyntaxTree) -> list[str]:
    """The base classes whose constructor `super().__init__(…)` may be."""
    match call.func:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super"))):
            owner = enclosing_class(call, syntax)
            return [qualified(base, syntax.names) for base in owner.bases] if owner else []
    return []


def _argument(call: ast.Call, name: str, parameters: tuple[str, ...] = ()) -> ast.expr | None:
    """An argument by keyword, or by its position among the parameters."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    before = call.args[: parameters.index(name) + 1] if name in parameters else []
    is_seen = not any(isinstance(each, ast.Starred) for each in before)
    return before[-1] if is_seen and before and len(before) > parameters.index(name) else None


def _value(node: ast.expr | None, syntax: SyntaxTree) -> ast.expr | None:
    """What an expression is: for a name or `self.name`, the one value that it has."""
    match node:
        case ast.Name() | ast.Attribute(value=ast.Name(id="self")):
            values = assigned(node, syntax)
            return values[0] if len(values) == 1 else None
    return node


def _error(plugin: str, precision: str) -> str:
    """What Lightning raises: the plugins of its Trainer wrap it, but for those of FSDP."""
    is_wrapped = not any(word in plugin for word in ("fabric", "lite", "FSDP"))
    error = "MisconfigurationException" if is_wrapped else "ValueError"
    return f"{error}: `precision={precision!r}` does not use a scaler"
