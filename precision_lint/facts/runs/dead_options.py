"""Options that a program declares and certainly never reads.

`--use_amp` is a word of the parser and of nothing else: no code of the program mentions the name
again, and nothing gets all of the options at once.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.interpreter.imported_by_name import program_of
from precision_lint.facts.runs.taking_calls import is_of_library
from precision_lint.facts.settings import holds_settings
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import callee_name, last_name
from precision_lint.source.python.syntax_tree import syntax_tree

_MOST_FILES = 150
_DECLARING = frozenset({"add_argument", "add_option", "option", "set_defaults"})
_HOLDER = (
    r"(?:\w{1,40}\.){0,3}(?!kw)\w{0,40}"
    r"(?:args|opts?|config|cfg|conf|hparams|params|settings|flags|namespace)"
)
_AS_A_WHOLE = re.compile(
    rf"\*\*[ \t]*{_HOLDER}\b|\b{_HOLDER}\.(?:__dict__|_get_kwargs|as_dict|to_dict|items\()"
    rf"|\b(?:vars|asdict|dict|setattr)\([ \t]*{_HOLDER}\b"
    rf"|getattr\([ \t]*{_HOLDER}[ \t]*,[ \t]*(?:f[\"']|[A-Za-z_])",
    re.IGNORECASE,
)
"""How a program reads options without saying their names."""


def declared_in_vain(name: str, path: Path, project: Recording) -> int | None:
    """The row in which a program declares an option that nothing reads; None if it may be read."""
    paths = (*islice(program_of(path, project), _MOST_FILES + 1),)
    if len(paths) > _MOST_FILES:
        return None
    declared: list[int] = []
    for part in paths:
        text = project.config_files.text(part)
        file = project.module(part) if name in text or _AS_A_WHOLE.search(text) else None
        if _AS_A_WHOLE.search(text) or (file is None and name in text):
            return None
        for node, is_declaration in _mentions(name, file) if file is not None else ():
            if not is_declaration:
                return None
            if part == path:
                declared.append(node.lineno)
        file = project.module(part)
        if file is None or _hands_all_on(file):
            return None
    return declared[0] if declared else None


def _mentions(name: str, file: ParsedPython) -> Iterator[tuple[ast.expr, bool]]:
    """Where code mentions a name, and whether that only declares it."""
    dashed = name.replace("_", "-")
    for node in file.nodes:
        match node:
            case ast.Constant(value=str(text)) if text.lstrip("-") in (name, dashed):
                call = syntax_tree(file).parent(node)
                yield node, isinstance(call, ast.Call) and callee_name(call) in _DECLARING
            case ast.Attribute(attr=attribute) if attribute == name:
                yield node, False
            case ast.Name(id=variable) if variable == name:
                yield node, False
            case ast.Call(keywords=keywords):
                if any(each.arg == name for each in keywords):
                    yield node, callee_name(node) in _DECLARING


def _hands_all_on(file: ParsedPython) -> bool:
    """True if a library gets what holds the options."""
    return any(
        holds_settings(last_name(given)) and is_of_library(call, file)
        for call in file.nodes_of(ast.Call)
        for given in (*call.args, *(each.value for each in call.keywords))
        if isinstance(given, ast.Name | ast.Attribute)
    )
