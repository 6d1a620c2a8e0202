"""The values that programs compare an option with, where its declaration lists none.

`args.dtype == "float16"` says that a run may have `--dtype float16`: in the program that declares
the option, or in one beside it that declares the same one. Values that a program refuses are none.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from precision_lint.facts.origin import Choice
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.settings.deciding import Otherwise, bare, setting_path
from precision_lint.facts.settings.fixed_switches import fills_namespaces, is_written
from precision_lint.facts.settings.option_calls import destination, names_of
from precision_lint.model.finding import Related
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import callee_name, compared_with_texts
from precision_lint.source.python.syntax_tree import syntax_tree

_MOST_BESIDE = 12
"""Programs beside one that are read."""
_LEAVING = frozenset({"exit", "error", "_exit"})


def compared_value(
    choice: Choice, path: tuple[str, ...], left: Otherwise, near: Path, project: Recording
) -> Related | None:
    """Where a program says that an option may have a value that a condition leaves to its `else`:
    the one that declares it, or one beside it.
    """
    own = project.module(near)
    if own is None or choice.origin.source.path != near or not _is_free(path[-1], own):
        return None
    for file in (own, *_beside(choice, path[-1], near, project)):
        for node, text in _compared(file, path):
            if left.allows(text) and not _refuses(own, path, text):
                place = file.text.place(file.span_of(node))
                return Related(place, f"with `{choice.option} {text}`")
    return None


def _is_free(name: str, file: ParsedPython) -> bool:
    """False if a file gives an option another value than its words."""
    syntax = syntax_tree(file)
    return not is_written(name, syntax) and not fills_namespaces(syntax)


def _beside(choice: Choice, name: str, near: Path, project: Recording) -> Iterator[ParsedPython]:
    """The programs in the same folder that declare the same option with the same default."""
    option = re.escape(choice.option).encode()
    found = project.python_sources_matching(rb"add_argument\(\s*[\"']" + option + rb"[\"']")
    paths = (path for path in found if path != near and path.parent == near.parent)
    for path in islice(paths, _MOST_BESIDE):
        file = project.module(path)
        if file is not None and _is_free(name, file) and _declares(choice, name, file):
            yield file


def _declares(choice: Choice, name: str, file: ParsedPython) -> bool:
    calls = [each for each in syntax_tree(file).calls("add_argument") if destination(each) == name]
    match calls:
        case [ast.Call(keywords=keywords) as call] if choice.option in names_of(call):
            given = {each.arg: each.value for each in keywords}
            default = given.get("default")
            is_alike = isinstance(default, ast.Constant) and default.value == choice.value
            return is_alike and "choices" not in given
    return False


def _compared(file: ParsedPython, path: tuple[str, ...]) -> Iterator[tuple[ast.Compare, str]]:
    """The texts that a file compares a setting with to do something for them, or to stop at all
    others.
    """
    for node, texts, is_for_them in _comparisons(file, path):
        if is_for_them is not _stops(node, file):
            yield from ((node, text) for text in texts)


def _refuses(file: ParsedPython, path: tuple[str, ...], text: str) -> bool:
    """True if a program stops at a value, or at all values but others."""
    return any(
        (text in texts) is is_for_them
        for node, texts, is_for_them in _comparisons(file, path)
        if _stops(node, file)
    )


def _comparisons(
    file: ParsedPython, path: tuple[str, ...]
) -> Iterator[tuple[ast.Compare, list[str], bool]]:
    """Where a file compares a setting with texts, and whether something is done for these, and not
    for all others.
    """
    for node in file.nodes_of(ast.Compare):
        match compared_with_texts(node):
            case left, texts, is_positive if texts and setting_path(bare(left)) == path:
                yield node, texts, is_positive is not _is_turned(node, file)


def _is_turned(node: ast.Compare, file: ParsedPython) -> bool:
    """True where something is done if a comparison does not hold: `assert x == "bf16"`, `not …`."""
    is_turned = False
    for parent in syntax_tree(file).within_function(node):
        match parent:
            case ast.UnaryOp(op=ast.Not()) | ast.Assert():
                is_turned = not is_turned
        if isinstance(parent, ast.stmt):
            break
    return is_turned


def _stops(node: ast.Compare, file: ParsedPython) -> bool:
    """True for a comparison that decides whether the program stops."""
    around = syntax_tree(file).within_function(node)
    match next((each for each in around if isinstance(each, ast.stmt)), None):
        case ast.Assert():
            return True
        case ast.If(body=body):
            return any(map(_leaves, body))
    return False


def _leaves(statement: ast.stmt) -> bool:
    match statement:
        case ast.Raise():
            return True
        case ast.Expr(value=ast.Call() as call):
            return callee_name(call) in _LEAVING
    return False
