"""The options of precision that programs declare, and that no run shows.

A program has them although no command of the project starts it: who does gets the default.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Set
from pathlib import Path

from precision_lint.facts.frameworks.sources import CodePlace, Occurrence, typed
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.project.uncalled import CALLED_BY_OTHERS
from precision_lint.facts.runs.code.made_classes import gives, is_made, is_used, making_method
from precision_lint.facts.runs.code.ways import key_of_holder
from precision_lint.facts.runs.readers.loaded_modules import module_takers
from precision_lint.facts.runs.written.understood import Written
from precision_lint.facts.settings import holds_settings
from precision_lint.facts.settings.constants import (
    is_plain,
    kept_in_tables,
    may_declare,
    settings_of,
)
from precision_lint.facts.settings.declarations import ProgramOption
from precision_lint.facts.settings.given import normal
from precision_lint.facts.settings.vocabulary import (
    is_of_loss_scale,
    is_setting_of_precision,
    may_choose_precision,
    names_precision,
    offers_precision,
)
from precision_lint.model.dtypes import ALIASES
from precision_lint.model.finding import Span
from precision_lint.model.memo import fact
from precision_lint.project import disk
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.python.bindings import enclosing_class
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import callee_name, last_name
from precision_lint.source.python.syntax_tree import syntax_tree

_OF_METHODS = frozenset({"staticmethod", "classmethod"})
_DEFAULTS = frozenset({"default", "default_factory", "factory"})
_NO_DEFAULT = "it has no default"
_SET = "it is set in"
_KEPT = "a key of"
_READERS = "whose readers are not followed"
_GIVES = " gives it"
_MAKES = " makes the object: what it gives is not followed"
_NOT_MADE = "no program is seen to make an object of "
_CODE = frozenset({".py", ".ipynb"})
_SWITCHED = frozenset({"autocast", "GradScaler"})
_NOT_CALLED = "nothing calls "
_LONGEST = 40
"""Characters of a default that are shown."""


def untaken(path: Path, known: Set[Written], project: Recording) -> tuple[Occurrence, ...]:
    """The options of precision that a Python file declares, without those that runs show."""
    if not _may_declare(path):
        return ()
    file = project.module(path)
    return tuple(_untaken(file, known, project)) if file is not None else ()


def _may_declare(path: Path) -> bool:
    try:
        content = disk.read(path, disk.ANY_SIZE)
    except OSError:
        return False
    return may_declare(path, content)


def _untaken(file: ParsedPython, known: Set[Written], project: Recording) -> Iterator[Occurrence]:
    config = ParsedConfig(file.text, "toml")
    here = [span for path, span in known if path == file.text.path]
    found = [*settings_of(file)]
    scaling = {each.owner for each in found if is_of_loss_scale(_name(each))}
    for option in found:
        name = _name(option)
        value = _constant(option.default)
        section = "fp16" if option.owner in scaling else ""
        is_setting = is_setting_of_precision(name, value, section)
        is_given = name in given_as_precision(file)
        if not (is_setting or is_given or offers_precision(option.choices)):
            continue
        whole = file.span_of(option.whole)
        if not any(_meet(whole, span) for span in here):
            place = CodePlace(file.span_of(option.name))
            if uncalled := _uncalled(option, file, project):
                yield Occurrence(name, value, place, config, reason=uncalled, is_in_vain=True)
                continue
            reason = _of_owner(option, file, project) or _without_default(option, file)
            reason = reason or _reason(option.default, file)
            yield Occurrence(name, value, place, config, reason=reason)
    for one in kept_in_tables(file):
        value, whole = _constant(one.value), file.span_of(one.statement)
        is_setting = is_setting_of_precision(one.name, value)
        if is_setting and not any(_meet(whole, span) for span in here):
            place = CodePlace(file.span_of(one.target))
            reason = f"{_KEPT} `{one.owner}`, {_READERS}"
            yield Occurrence(one.name, value, place, config, reason=reason)


def _name(option: ProgramOption) -> str:
    return normal(option.shown.lstrip("-"))


def _of_owner(option: ProgramOption, file: ParsedPython, project: Recording) -> str:
    """Why the default of a field may count for nothing: no program is seen to call its class."""
    path, owner = file.text.path, option.owner
    if option.is_parsed or not owner or is_made(owner, path, project):
        return ""
    node = enclosing_class(option.whole, syntax_tree(file))
    is_held = node is not None and is_plain(node)
    if is_held and (is_used(owner, path, project) or module_takers(path, owner, project)):
        return ""
    method = making_method(node, project) if node is not None else None
    if method is None:
        return f"{_NOT_MADE}{owner}"
    is_given = isinstance(option.name, ast.Name) and gives(method, option.name.id)
    return f"{owner}.{method.name}{_GIVES if is_given else _MAKES}"


def _is_named(name: str, project: Recording) -> bool:
    """True if code names a function, but in a comment and where it is defined, or a page does."""
    named = re.compile(rf"(?m)^[^#\n]*(?<!def )\b{name}\b")

    def compute() -> bool:
        files = (each for each in project.config_files.project.files if each.suffix in _CODE)
        texts = (text for text in map(project.config_files.text, files) if name in text)
        return any(map(named.search, texts)) or project.page_matches(rb"\b%b\b" % name.encode())

    return project.config_files.once(("named in code", name), compute)


@fact
def given_as_precision(file: ParsedPython) -> frozenset[str]:
    """The members of settings that a file gives to arguments about precision, whatever they are
    called: `from_pretrained(load_in_8bit=args.small)`.
    """
    return frozenset(
        value.attr
        for call in file.nodes_of(ast.Call)
        for each in call.keywords
        if each.arg is not None and _takes_precision(call, each.arg)
        for value in (_deciding(each.value),)
        if isinstance(value, ast.Attribute) and holds_settings(key_of_holder(value.value))
    )


def _deciding(node: ast.expr) -> ast.expr:
    """What decides an argument: of a choice between precisions, the condition."""
    match node:
        case ast.IfExp(test=test, body=body, orelse=orelse) if names_precision(
            last_name(body)
        ) or names_precision(last_name(orelse)):
            return test
    return node


def _takes_precision(call: ast.Call, argument: str) -> bool:
    if argument == "enabled":
        return callee_name(call) in _SWITCHED
    return may_choose_precision(argument)


def _uncalled(option: ProgramOption, file: ParsedPython, project: Recording) -> str:
    """That nothing calls the function which declares an option of a parser; empty if not."""
    syntax = syntax_tree(file)
    function = syntax.function(option.whole) if not option.owner and option.is_parsed else None
    if not isinstance(function, FunctionDefinition):
        return ""
    owner = syntax.parent(function)
    if isinstance(owner, ast.ClassDef) and owner.bases:
        return ""  # what it extends may
    others = {last_name(each) for each in function.decorator_list} - _OF_METHODS
    if others or CALLED_BY_OTHERS.fullmatch(function.name):
        return ""
    if _is_named(function.name, project):
        return ""
    return f"{_NOT_CALLED}{function.name}, which declares it"


def _constant(node: ast.expr | None) -> object:
    """The value of a default; None if it is worked out."""
    match node:
        case ast.Constant(value=str(text)):
            return typed(text)
        case ast.Constant(value=bool() | int() | float() as value):
            return value
        case ast.Attribute(value=ast.Name(id="torch"), attr=name) if name in ALIASES:
            return name
    return None


def _meet(one: Span, other: Span) -> bool:
    return one.start <= other.start < one.end or other.start <= one.start < other.end


def has_default(one: Occurrence) -> bool:
    """False for a field that nothing but its class, or a call of it, gives a value, and for one of
    a class that nothing makes.
    """
    is_given = one.reason.startswith((_NO_DEFAULT, _SET)) or one.reason.endswith(_GIVES)
    return not (is_given or one.reason.startswith((_NOT_MADE, _KEPT, _NOT_CALLED)))


def _without_default(option: ProgramOption, file: ParsedPython) -> str:
    """Why a field has no default: its class sets it, or each call has to give it."""
    if not option.owner or option.default is not None:
        return ""
    match option.whole:
        case ast.AnnAssign(value=None):
            given: dict[str | None, ast.expr] = {}
        case ast.AnnAssign(value=ast.Call(args=[], keywords=keywords)):
            given = {one.arg: one.value for one in keywords}
        case _:
            return ""
    match given.get("init"):
        case ast.Constant(value=False):
            row = _row_of_member(option, file)
            return f"{_SET} line {row}, by {option.owner} itself" if row else ""
    is_worked_out = not _DEFAULTS.isdisjoint(given)
    return "" if is_worked_out else f"{_NO_DEFAULT}: each call of {option.owner} gives it"


def _row_of_member(option: ProgramOption, file: ParsedPython) -> int:
    """Where the class of a field assigns it; 0 if it does not."""
    owner = syntax_tree(file).parent(option.whole)
    for node in walk(owner) if owner is not None else ():
        match node, option.name:
            case (
                ast.Attribute(value=ast.Name(id="self"), attr=own, ctx=ast.Store()),
                ast.Name(id=name),
            ) if own == name:
                return node.lineno
    return 0


def _reason(default: ast.expr | None, file: ParsedPython) -> str:
    """Why nothing is said of an option."""
    shown = " ".join(file.text[file.span_of(default)].split()) if default is not None else ""
    is_shown = 0 < len(shown) <= _LONGEST
    return f"its default, `{shown}`, is not followed" if is_shown else "it is not followed"
