"""Functions of programs that no code and no page of a project names but where they are defined.

No run that the project offers comes to them. A library is for others to call.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from precision_lint.facts.project.facts import Recording
from precision_lint.model.regex import regex
from precision_lint.source.python.functions import Defined, functions_around
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import last_name
from precision_lint.source.python.syntax_tree import syntax_tree

_CALLED_BY_OTHERS = regex(r"__\w+__|main|cli|app|run|forward|backward|setup_context")
"""What Python, a command of an installed package, or torch calls by its name."""

_PLAIN = frozenset({"ABC", "Enum", "Function", "Generic", "Module", "Protocol", "object"})
"""Bases of other packages that call no methods but these."""

_DEEPEST = 4
"""Bases of bases that are followed."""


_PROGRAM = rb"(?m)^if __name__\b"


def is_uncalled(file: ParsedPython, offset: int, project: Recording) -> bool:
    """True for a place in a function that nothing in the project calls or mentions.

    The file is a program, or a part of one.
    """
    around = functions_around(file, offset)
    return any(_is_uncalled(each, file, project) for each in around) and _is_run(file, project)


def _is_run(file: ParsedPython, project: Recording) -> bool:
    path = file.text.path
    programs = project.python_sources_matching(_PROGRAM)
    return path in programs or not set(programs).isdisjoint(project.users(path))


def is_mentioned(function: Defined, file: ParsedPython, project: Recording) -> bool:
    """True if code or a page names a function, or if others call it by a name of theirs."""
    name = function.name
    if function.decorator_list or _CALLED_BY_OTHERS.fullmatch(name):
        return True
    # not in a comment, and not where it is defined
    used = rf"(?m)^[^#\n]*(?<!def )\b{name}\b"
    return (
        re.search(used, file.text.text) is not None
        or bool(project.python_sources_matching(used.encode()))
        or project.page_matches(rb"\b%b\b" % name.encode())
    )


def _is_uncalled(function: Defined, file: ParsedPython, project: Recording) -> bool:
    if is_mentioned(function, file, project):
        return False
    owner = syntax_tree(file).parent(function)
    return not (isinstance(owner, ast.ClassDef) and _has_other_base(owner, project, _DEEPEST))


def _has_other_base(owner: ast.ClassDef, project: Recording, depth: int) -> bool:
    """True if a class has a base of another package, which may call its methods."""
    for base in owner.bases:
        name = last_name(base.value if isinstance(base, ast.Subscript) else base)
        if name in _PLAIN:
            continue
        found = next(_definitions(name, project), None) if depth else None
        if found is None or _has_other_base(found, project, depth - 1):
            return True
    return False


def _definitions(name: str, project: Recording) -> Iterator[ast.ClassDef]:
    """The classes of the project with a name."""
    for path in project.python_sources_matching(rb"(?m)^class %b\b" % name.encode()):
        module = project.module(path)
        for node in () if module is None else module.tree.body:
            if isinstance(node, ast.ClassDef) and node.name == name:
                yield node
