"""The texts that Python declares for a setting, and that it still has where it is read.

An option that is converted by its `type`, a field that a validator or a property of this name may
change, one that every call gives which makes its class, and an attribute that is assigned have
none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.context import PythonFile
from precision_lint.facts.origin import Setting
from precision_lint.facts.settings.made_in_code import every_call_gives
from precision_lint.model.finding import Related, Span
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.bindings import binding, enclosing_class
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import last_name
from precision_lint.source.python.syntax_tree import syntax_tree

_OF_A_PART = regex(r"\w_(?:cfg|config)$")
"""Objects such as `hf_config` and `text_config` describe a part: options of another program, which
its parser puts into one namespace, are no attributes of theirs."""


@frozen
class Text:
    """A text that an argument can be.

    `said_at` is the place that says it, None if the argument is the literal itself. `literals` are
    where the statement there writes it, if it is in the same file: `default="bf16"` and
    `choices=["bf16", "fp16"]`. Of a setting, launch scripts and other files may know the text.
    """

    value: str
    said_at: Related | None = None
    literals: tuple[Span, ...] = ()
    is_setting: bool = False


def of_setting(setting: Setting, node: ast.Attribute, file: PythonFile) -> Iterator[Text]:
    """The texts that Python declares for a setting that is read at an attribute.

    What a configuration file or a launch gives is reported there, by the rules of configurations.
    """
    if _may_change(node.attr, file) or file.project.assigning(node.attr):
        return
    holder = _annotated_class(node, file)
    for choice in setting.choices:
        origin = choice.origin
        if not isinstance(choice.value, str) or origin.source.path.suffix not in (".py", ".ipynb"):
            continue
        is_here = origin.source.path == file.text.path
        declaring = file if is_here else file.project.module(origin.source.path)
        if declaring is None or _may_change(node.attr, declaring):
            continue
        statement = _statement(origin.span, declaring)
        if statement is None or _is_converted(statement):
            continue
        owner = enclosing_class(statement, syntax_tree(declaring))
        if owner is None and not is_here and _OF_A_PART.search(last_name(node.value) or ""):
            continue
        if owner is not None and every_call_gives(node.attr, owner, declaring, file.project):
            continue
        literals = _literals(choice.value, statement, declaring)  # none for `torch.float32`
        if literals and holder in ("", "Namespace" if owner is None else owner.name):
            here = literals if is_here else ()
            yield Text(choice.value, origin.related, here, is_setting=True)


def _annotated_class(node: ast.Attribute, file: PythonFile) -> str:
    """The class that the annotation of a parameter gives to the object that holds a setting."""
    parameter = binding(node.value, syntax_tree(file)) if isinstance(node.value, ast.Name) else None
    return last_name(parameter.annotation) if isinstance(parameter, ast.arg) else ""


def _statement(place: Span, file: ParsedPython) -> ast.stmt | None:
    """The innermost statement around a place."""
    around = (
        node
        for node in file.nodes
        if isinstance(node, ast.stmt)
        and file.span_of(node).start <= place.start < file.span_of(node).end
    )
    return min(around, key=lambda node: len(file.text[file.span_of(node)]), default=None)


def _is_converted(statement: ast.stmt) -> bool:
    """True if the declaration of an option names a `type` or an `action` of its own."""
    return any(
        keyword.arg == "action"
        or (keyword.arg in ("type", "callback", "converter") and last_name(keyword.value) != "str")
        for node in walk(statement)
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if not _is_choice(keyword)
    )


def _is_choice(keyword: ast.keyword) -> bool:
    """True for `type=click.Choice([…])`, which gives the text itself."""
    return isinstance(keyword.value, ast.Call) and last_name(keyword.value.func) == "Choice"


def _literals(value: str, statement: ast.stmt, file: ParsedPython) -> tuple[Span, ...]:
    return tuple(
        file.span_of(node)
        for node in walk(statement)
        if isinstance(node, ast.Constant) and node.value == value
    )


def _may_change(name: str, file: ParsedPython) -> bool:
    """True if a file may change an attribute of this name."""
    changed = _changed(file)
    return changed is None or name in changed


@fact
def _changed(file: ParsedPython) -> frozenset[str] | None:
    """The attributes that a file assigns, computes or validates; None if not all are seen."""
    found: set[str] = set()
    for node in file.nodes:
        match node:
            case ast.Attribute(attr=name, ctx=ast.Store()):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
                found.update(_validated(node))
            case ast.Subscript(value=ast.Call(func=ast.Name(id="vars")), ctx=ast.Store()):
                return None
    for call in syntax_tree(file).calls("setattr"):
        match call.args:
            case [_, ast.Constant(value=str(name)), _]:
                found.add(name)
            case _:
                return None
    return frozenset(found)


def _validated(function: FunctionDefinition) -> Iterator[str]:
    """The fields that pydantic's or attrs' decorators of a function name."""
    for decorator in function.decorator_list:
        for node in walk(decorator):
            match node:
                case ast.Constant(value=str(name)):
                    yield name
                case ast.Attribute(value=ast.Name(id=name), attr="validator"):
                    yield name
