"""Which functions of a program may run at all, by the names that its code mentions.

A module often defines more than a program uses: what nobody mentions does not run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from precision_lint.facts.frameworks.own_commands import functions_called
from precision_lint.facts.runs.interpreter.mentioned import is_mentioned
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.runs.interpreter.started import offered
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.nodes import children, walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import Definition, FunctionDefinition
from precision_lint.source.python.syntax import innermost_name, is_main
from precision_lint.source.python.syntax_tree import syntax_tree

TOP = ""
"""The scope outside of all functions and classes."""
MAIN = "__main__"
"""That of what runs only if the file is started."""
_CLASS = regex(r"(?:[A-Za-z_]\w*\.)+[A-Z]\w*", re.ASCII)
"""The path of a class, which something makes by it: `"models.small.Small"`."""
_REGISTERING = frozenset({"command", "callback", "call_parse"})
"""Decorators of click, typer and fastcore that make a function a command, which is then called."""


CALLED = frozenset({
    "forward", "training_step", "validation_step", "test_step", "predict_step", "compute_loss",
    "prediction_step", "configure_optimizers", "configure_model", "setup", "step",
})  # fmt: skip
"""Methods that torch, Lightning and transformers call of an object."""


def used_names(program: Program) -> frozenset[str]:
    """The names that are mentioned by what runs when the program is started."""
    files = program.project.config_files
    return files.once(("names of a program", program.path), lambda: _used_names(program))


def _used_names(program: Program) -> frozenset[str]:
    mentioned: dict[str, set[str]] = {}
    for index, file in enumerate(program.files):
        for scope, names in mentions(file).items():
            if index == 0 or scope != MAIN:
                mentioned.setdefault(scope, set()).update(names)
    found = mentioned.get(TOP, set()) | mentioned.get(MAIN, set())
    called = functions_called(program.path, program.project)
    found |= called.union(*(mentioned.get(name, set()) for name in called))
    pending = list(found)
    while pending:
        new = mentioned.get(pending.pop(), set()) - found
        found |= new
        pending += new
    return frozenset(found)


def may_run(node: ast.AST, file: ParsedPython, program: Program) -> bool:
    """True if the functions and classes around a node are mentioned by what runs."""
    used = used_names(program)
    syntax = syntax_tree(file)
    inner = node
    for parent in syntax.around(node):
        if (
            isinstance(parent, Definition)
            and parent.name not in used
            and not is_called(parent, syntax.parent(parent))
        ):
            return False
        if isinstance(parent, FunctionDefinition) and not (
            parent.name in offered(file) or is_mentioned(parent, file, program)
        ):
            return parent.name in functions_called(file.text.path, program.project)
        if isinstance(parent, ast.If) and is_main(parent) and inner in parent.body:
            return file is program.files[0]
        inner = parent
    return True


@fact
def mentions(file: ParsedPython) -> Mapping[str, frozenset[str]]:
    """The names that are read in each top-level definition or method, and outside of them."""
    found: dict[str, set[str]] = {}
    pending: list[tuple[ast.stmt, str, ast.AST]] = [
        (each, TOP, file.tree) for each in file.tree.body
    ]
    while pending:
        node, scope, owner = pending.pop()
        if isinstance(node, Definition):
            outer = found.setdefault(scope, set())
            for expression in (*node.decorator_list, *getattr(node, "bases", ())):
                outer.update(_names(expression))
                if innermost_name(expression) in _REGISTERING:
                    outer.add(node.name)
            inner = scope if scope and is_called(node, owner) else node.name
            pending += [(each, inner, node) for each in node.body]
            if isinstance(node, FunctionDefinition):
                found.setdefault(node.name, set()).update(_names(node.args))
        elif isinstance(node, ast.If) and is_main(node):
            pending += [(each, MAIN, owner) for each in node.body]
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:  # who mentions the new name means the old one
                if alias.asname is not None:
                    found.setdefault(alias.asname, set()).add(alias.name)
        else:
            blocks = [each for each in children(node) if isinstance(each, ast.stmt)]
            found.setdefault(scope, set()).update(
                name
                for each in children(node)
                if not isinstance(each, ast.stmt)
                for name in _names(each)
            )
            pending += [(each, scope, owner) for each in blocks]
    found.setdefault(TOP, set()).update(offered(file))
    return {scope: frozenset(names) for scope, names in found.items()}


def is_called(definition: Definition, owner: ast.AST | None) -> bool:
    """True for what nobody need mention: special methods, and those that libraries call."""
    is_method = isinstance(owner, ast.ClassDef)
    return definition.name.startswith("__") or (is_method and definition.name in CALLED)


def _names(node: ast.AST) -> Iterator[str]:
    for each in walk(node):
        match each:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name
            case ast.Constant(value=str(text)) if _CLASS.fullmatch(text):
                yield text.rpartition(".")[2]
