"""Whether anything mentions a function of one file, where others have its name.

`from old import build as build_old` mentions the `build` of `old`, not that of `new`. What is
imported, and used nowhere in the file that imports it, is not called there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.model.memo import fact
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import Definition, FunctionDefinition
from precision_lint.source.python.syntax_tree import syntax_tree

_MODULES_OF_NAMES = "__init__.py"
"""What imports only to hand on."""


def is_mentioned(function: FunctionDefinition, file: ParsedPython, program: Program) -> bool:
    """False for a function at the top of a file that nothing in the program mentions."""
    if function.decorator_list or function not in file.tree.body:
        return True
    return program.fact(
        ("is mentioned", function.name, file),
        lambda: any(
            _mentions(other, function, file, program) for other in program.mentioning(function.name)
        ),
    )


def handed(
    function: FunctionDefinition, file: ParsedPython, program: Program
) -> tuple[tuple[ParsedPython, ast.Name], ...]:
    """Where a program reads the name of a function at the top of a file, which it never calls by
    that name: `load(builder=build)`. Nothing if other forms may mention it.
    """
    if function.decorator_list or function not in file.tree.body:
        return ()
    return program.fact(
        ("handed", function.name, file), lambda: tuple(_handed(function, file, program))
    )


def _handed(
    function: FunctionDefinition, home: ParsedPython, program: Program
) -> Iterator[tuple[ParsedPython, ast.Name]]:
    name = function.name
    files = [*program.mentioning(name)]
    if any(name in _uses(each)[1] or _takes_all(each, name, home, program) for each in files):
        return
    for other in files:
        names = {name} if other is home else _bound(other, name, home, program)
        for node in other.nodes:
            if isinstance(node, ast.Name) and node.id in names:
                yield other, node


def _mentions(
    other: ParsedPython, function: FunctionDefinition, home: ParsedPython, program: Program
) -> bool:
    name = function.name
    names, texts = _uses(other)
    if name in texts:
        return True  # an attribute of a module, or what `getattr` and a registry get
    if other is home:
        return name in names
    if _takes_all(other, name, home, program):
        return True
    bound = _bound(other, name, home, program)
    return not names.isdisjoint(bound) or (
        bool(bound) and other.text.path.name == _MODULES_OF_NAMES
    )


def _takes_all(other: ParsedPython, name: str, home: ParsedPython, program: Program) -> bool:
    """True if `import *` in another file may give it the function."""
    if other is home or "import *" not in other.text.text:
        return False
    for node in other.nodes:
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            path = _imported(node, other, program)
            if path is None or program.project.offers(path, name):
                return True
    return False


def _imported(node: ast.ImportFrom, other: ParsedPython, program: Program) -> Path | None:
    """The file of the module that a statement imports from."""
    name = "." * node.level + (node.module or "")
    return program.project.locate(other.text.path, name)


def _bound(other: ParsedPython, name: str, home: ParsedPython, program: Program) -> frozenset[str]:
    """The names that a file gives to the function; also to one of which the file is not known."""
    found = set[str]()
    for node in other.nodes:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.name == name and not _is_of_another(node, name, other, home, program):
                    found.add(alias.asname or name)
    return frozenset(found)


def _is_of_another(
    node: ast.ImportFrom, name: str, other: ParsedPython, home: ParsedPython, program: Program
) -> bool:
    """True if a statement imports a function from another file, which defines it."""
    path = _imported(node, other, program)
    if path is None or path == home.text.path:
        return False
    module = program.project.module(path)
    return module is not None and any(
        isinstance(each, Definition) and each.name == name for each in module.tree.body
    )


@fact
def _uses(file: ParsedPython) -> tuple[frozenset[str], frozenset[str]]:
    """The names that a file reads, but for those of a function in itself, and its texts and
    attributes.
    """
    syntax = syntax_tree(file)
    names, texts = set[str](), set[str]()
    for node in file.nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                if name not in names and not any(
                    isinstance(each, FunctionDefinition) and each.name == name
                    for each in syntax.around(node)
                ):
                    names.add(name)
            case ast.Attribute(attr=name):
                texts.add(name)
            case ast.Constant(value=str(text)):
                texts.add(text.rpartition(".")[2].rpartition(":")[2])
    return frozenset(names), frozenset(texts)
