"""Who uses a kernel, by the functions and classes of its file that lead to its launches."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.context import PythonFile
from precision_lint.facts.project.evidence import is_used_in
from precision_lint.model.memo import fact
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import DEFINITIONS, FunctionDefinition, own_statements
from precision_lint.source.python.syntax import last_name

_MAIN = "main"
"""What runs a program, whoever calls it."""


def only_in_float32(file: PythonFile, kernel: str) -> bool:
    """True if benchmarks alone use a kernel, or its own file, and none of them names a half dtype.

    A library is used by anybody: what a package hands on is not used by its benchmarks alone, and
    what nothing uses in a package may be used by others. A kernel that casts to the dtype of what
    it is given is written for others than float32.
    """
    if is_used_in(file):
        return False
    users = [*_users(file, kernel)]
    if not users:
        is_own = _is_run_by(file, kernel) or not _is_in_package(file)
        return is_own and not _adapts(file, kernel)
    return all(file.project.is_secondary(user.text.path) and not is_used_in(user) for user in users)


def _users(file: PythonFile, kernel: str) -> Iterator[ParsedPython]:
    """The other files, but for tests, that use what leads to a kernel, or hand it on."""
    project, own = file.project, file.text.path
    for name in _leading_to(kernel, file):
        for path in project.importing(own, name):
            if path.stem != "__init__" and not project.uses(path, own):
                continue  # it imports something else of this name
            user = project.module(path)
            if user is not None and (path.stem == "__init__" or _reads(user, name)):
                yield user


def _is_in_package(file: PythonFile) -> bool:
    return file.project.module(file.text.path.with_name("__init__.py")) is not None


def _adapts(file: PythonFile, kernel: str) -> bool:
    """True for a kernel with `.to(x.dtype)` or `.to(x_ptr.dtype.element_ty)`."""
    for node in own_statements(file.tree.body):
        if isinstance(node, FunctionDefinition) and node.name == kernel:
            for call in walk(node):
                match call:
                    case ast.Call(
                        func=ast.Attribute(attr="to"),
                        args=[ast.Attribute(attr="dtype" | "element_ty"), *_],
                    ):
                        return True
    return False


def _is_run_by(file: PythonFile, kernel: str) -> bool:
    """True if a file is a program that launches a kernel of its own."""
    leading = {*_leading_to(kernel, file)}
    return _MAIN in leading or any(
        isinstance(node, ast.Name) and node.id in leading
        for statement in file.tree.body
        if not isinstance(statement, DEFINITIONS)
        for node in walk(statement)
    )


def _reads(user: ParsedPython, name: str) -> bool:
    """True if a file does more than to import a name."""
    names = {name} | {
        alias.asname
        for node in user.nodes
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name == name and alias.asname is not None
    }
    return any(
        isinstance(node, ast.Name | ast.Attribute) and last_name(node) in names
        for node in walk(user.tree)
    )


def _leading_to(kernel: str, file: PythonFile) -> Iterator[str]:
    """The kernel, and what the file defines that names it, by others or by itself."""
    named_in = _named_in(file)
    pending, seen = [kernel], {kernel}
    while pending:
        name = pending.pop()
        yield name
        new = [other for other, names in named_in.items() if name in names and other not in seen]
        seen.update(new)
        pending += new


@fact
def _named_in(file: PythonFile) -> dict[str, frozenset[str]]:
    """The functions and classes at the top level of a file, with the names that each reads."""
    return {
        node.name: frozenset(each.id for each in walk(node) if isinstance(each, ast.Name))
        for node in own_statements(file.tree.body)
        if isinstance(node, DEFINITIONS) and not isinstance(node, ast.Lambda)
    }
