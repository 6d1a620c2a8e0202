"""What configuration files give to the parameters of a call that takes the keys of a section.

`Model(**cfg["model"], device=device)` where a YAML file says `dtype: bfloat16` under `model`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from precision_lint.facts.dtypes.domain.calls import Argument, CallSite
from precision_lint.facts.dtypes.domain.containers import keyword_of
from precision_lint.facts.dtypes.domain.values import (
    ClassObject,
    Constant,
    FunctionValue,
    Unknown,
    Value,
)
from precision_lint.facts.dtypes.interpreter import defaults
from precision_lint.facts.dtypes.interpreter.protocols import Evaluate
from precision_lint.facts.dtypes.syntax.definitions import Function
from precision_lint.facts.origin import Setting
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.statements import own_nodes
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree


def with_keys(evaluator: Evaluate, node: ast.Call, function: Value, given: CallSite) -> CallSite:
    """A call of a function of the project, with the dtypes that files say under a section."""
    definition = _called(function)
    spread = [keyword for keyword in node.keywords if keyword.arg is None]
    if definition is None or len(spread) != 1 or any(each.starred for each in given.arguments):
        return given
    module = evaluator.frame.module
    syntax = syntax_tree(module.file)
    section = section_of(_held(spread[0].value, syntax))
    value = given.keywords["**"].value
    said: dict[str, Argument] = {}
    for name in _open(definition, given) if section else ():
        if isinstance(keyword_of(value, name), Unknown):
            setting = said_of(evaluator.analysis.configuration.key(module, section, name))
            if setting is None or not _names_dtypes(setting):
                continue
            if not _is_replaced(name, node, syntax):
                said[name] = Argument(setting, evaluator.span_of(spread[0].value))
    return replace(given, keywords={**given.keywords, **said}) if said else given


def _called(function: Value) -> Function | None:
    """The function that a call runs; records take their fields in their own way."""
    match function:
        case FunctionValue(definition=definition):
            return definition
        case ClassObject(definition=definition):
            return definition.methods.get("__init__")
    return None


def _open(definition: Function, given: CallSite) -> Iterator[str]:
    """The parameters that the words of a call do not name, but for the first of a method."""
    parameters = definition.parameters
    is_bound = definition.owner is not None and not definition.is_static
    for parameter in parameters[is_bound + len(given.arguments) :]:
        if parameter.arg not in given.keywords:
            yield parameter.arg


def _held(spread: ast.expr, syntax: SyntaxTree) -> ast.expr:
    """What a variable holds that is assigned once: `options = cfg["model"]`."""
    held = binding(spread, syntax) if isinstance(spread, ast.Name) else None
    return held[0] if isinstance(held, list) and len(held) == 1 else spread


def _is_replaced(key: str, call: ast.Call, syntax: SyntaxTree) -> bool:
    """True if the body takes a key out of a mapping, or puts something else there in all cases."""
    for node in own_nodes(syntax.body(call)):
        match node:
            case ast.Call(func=ast.Attribute(attr="pop"), args=[ast.Constant(value=name), *_]) if (
                name == key
            ):
                return True
            case ast.Assign(targets=[ast.Subscript(slice=ast.Constant(value=name))]) if name == key:
                if not any(isinstance(each, ast.If) for each in syntax.within_function(node)):
                    return True
    return False


def section_of(spread: ast.expr) -> str:
    """The key whose mapping is spread: `cfg["model"]`, `cfg.model`, `cfg.get("model", {})`."""
    match spread:
        case (
            ast.Subscript(slice=ast.Constant(value=str(key)))
            | ast.Attribute(attr=key)
            | ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(key)), *_])
        ):
            return key
    return ""


def said_of(setting: Setting | None) -> Setting | None:
    """A setting without the defaults of fields; None if nothing else is said of it."""
    said = () if setting is None else tuple(one for one in setting.choices if not one.of_field)
    return Setting(said) if said else None


def _names_dtypes(setting: Setting) -> bool:
    return any(
        isinstance(each.value, str) and defaults.names_dtype(Constant(each.value))
        for each in setting.choices
    )
