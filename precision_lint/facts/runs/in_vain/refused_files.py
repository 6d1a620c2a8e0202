"""Files that the parsers of their project refuse: no run gets them.

`HfArgumentParser` makes objects of its classes of a file (`parse_json_file`, `parse_yaml_file`) and
raises where a key of the file is a field of none of them, but for `allow_extra_keys=True`, and
before transformers 4.22. The fields of all classes must be known, and most keys must be some of
them: a file of DeepSpeed is for another reader, which an option gives it to.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from precision_lint.facts.frameworks.trainer_fields import CLASSES, TRAINER_FIELDS
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.code.filled_classes import classes_given
from precision_lint.facts.runs.code.ways import class_meant
from precision_lint.facts.runs.interpreter.imported_by_name import program_of
from precision_lint.facts.runs.readers.giving_commands import given
from precision_lint.facts.runs.readers.readers import readers
from precision_lint.model.finding import Related
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.settings_tree import Mapping as Settings
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import last_name, qualified
from precision_lint.source.python.syntax_tree import syntax_tree

_METHODS = {"json": "parse_json_file", "yaml": "parse_yaml_file"}
_PARSER = "HfArgumentParser"
_RAISES_SINCE = (4, 22)
_MOST_BASES = 6


def refused(file: ParsedConfig, project: Recording) -> Related | None:
    """The parser that refuses a file, if all that may read the file do."""
    method, keys = _METHODS.get(file.format), _keys(file)
    if method is None or not keys or not project.python_source_matches(method.encode()):
        return None
    release = project.release_of("transformers")
    if release is not None and release < _RAISES_SINCE:
        return None
    found: list[tuple[Path, Related]] = []
    for path in project.python_sources_matching(rf"\.{method}\(".encode()):
        code = project.module(path)
        for call in syntax_tree(code).calls(method) if code is not None else ():
            assert code is not None
            why = _refusing(call, keys, code, project)
            if why is None:
                return None
            found.append((path, why))
    parsing = {path for path, _ in found}
    started = {*readers(file, project), *given(file.text.path, project)}
    if not all(_parses(program, parsing, project) for program in started):
        return None
    own = (why for path, why in found for program in started if _parses(program, {path}, project))
    return next(own, None) or next((why for _, why in found), None)


def _keys(file: ParsedConfig) -> Mapping[str, bool]:
    """The keys of a file, and whether each has a plain value, as fields have."""
    match file.documents:
        case [Settings(entries=entries)] if all(entry.name for entry in entries):
            plain = {entry.name: not isinstance(entry.value, Settings) for entry in entries}
            return {name: is_plain for name, is_plain in plain.items() if name}
    return {}


def _parses(program: Path, parsing: set[Path], project: Recording) -> bool:
    """True for a program whose files parse settings in these files, and load none otherwise."""
    return not parsing.isdisjoint(program_of(program, project))


def _refusing(
    call: ast.Call, keys: Mapping[str, bool], code: ParsedPython, project: Recording
) -> Related | None:
    """Why a call refuses a file with some keys; None if it may take it."""
    if any(each.arg in (None, "allow_extra_keys") for each in call.keywords) or len(call.args) > 1:
        return None
    made = _parser_of(call, code)
    if made is None or not qualified(made.func, syntax_tree(code).names).endswith(_PARSER):
        return None
    given_classes = [*classes_given(made, code)]
    fields = [_fields(each, code, project) for each in given_classes]
    known = [each for each in fields if each is not None]
    if not known or len(known) < len(fields):
        return None
    fields_of_all = frozenset[str]().union(*known)
    others = [key for key in keys if key not in fields_of_all]
    fitting = [key for key, is_plain in keys.items() if is_plain and key in fields_of_all]
    if not others or len(fitting) <= len(keys) // 2:
        return None
    other = others[0]
    names = ", ".join(map(last_name, given_classes))
    message = f"the parser refuses the file: `{other}` is no field of {names}"
    return Related(code.text.place(code.span_of(call)), message)


def _parser_of(call: ast.Call, code: ParsedPython) -> ast.Call | None:
    """The call that makes the parser whose method is called: the last one before it, where a
    function calls two parsers alike.
    """
    match call.func:
        case ast.Attribute(value=ast.Call() as made):
            return made
        case ast.Attribute(value=ast.Name(id=name) as holder):
            syntax = syntax_tree(code)
            scope = syntax.function(holder) or syntax.tree
            before = (each for each in syntax.stores(scope, name) if each.lineno < call.lineno)
            bound = syntax.parent(next(before, None) or holder)
            if isinstance(bound, ast.Assign) and isinstance(bound.value, ast.Call):
                is_sure = syntax.parent(bound) in {*syntax.around(call)}  # and in no branch
                return bound.value if is_sure else None
    return None


def _fields(
    node: ast.expr, code: ParsedPython, project: Recording, depth: int = 0
) -> frozenset[str] | None:
    """The fields of a dataclass; None if a class that it extends is not known."""
    if qualified(node, syntax_tree(code).names) in CLASSES:
        return TRAINER_FIELDS
    meant = class_meant(node, code, project)
    if meant is None or depth > _MOST_BASES:
        return None
    home, owner = meant
    above = [_fields(base, home, project, depth + 1) for base in owner.bases]
    if owner.keywords or any(each is None for each in above):
        return None
    return frozenset(_annotated(owner)).union(*filter(None, above))


def _annotated(owner: ast.ClassDef) -> Iterator[str]:
    for statement in owner.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
