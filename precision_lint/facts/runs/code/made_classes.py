"""Who makes objects of the classes whose fields are settings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.project.mentioned import is_mentioned
from precision_lint.facts.runs.code.ways import class_meant
from precision_lint.facts.runs.interpreter.program import keyword_of
from precision_lint.facts.runs.written.entries import programs_having
from precision_lint.model.regex import regex
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import last_name
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_BASES = regex(r"class[ \t]+(\w+)[ \t]*\(([^()]*)")
_PARAMETERS = regex(r"\[[^\[\]]*\]")
"""What a generic base is filled with: `Output[Config]` extends no `Config`."""
_MAKING_FIELDS = frozenset({
    "dataclass", "dataclass_json", "define", "frozen", "mutable", "attrs", "s", "total_ordering",
})  # fmt: skip
"""Decorators of classes that keep them nowhere."""
_FILLING = regex(
    r"\b(?:tyro|draccus|pyrallis|jsonargparse|simple_parsing|hydra_zen|cyclopts|typer|chz|fire"
    r"|dacite|cattrs?|LightningCLI)\b"
)
"""Libraries that make objects of a class which is an annotation."""
_WRAPPED = r"@\w+\.wrap\([^)\n]*\)\s*(?:@[^\n]*\s*)*def\s+\w+\(\s*"
"""A function whose first parameter pyrallis or draccus fills."""
_COPYING = rb"\btype\((?!self\b)[\w.]+\)\(|(?<!\bself)\.__class__\(|\b__subclasses__\("
_MOST_LEVELS = 4


def is_made(owner: str, path: Path, project: Recording) -> bool:
    """True if a program makes an object of a class or of one that extends it, or gives the class
    to what fills it.
    """
    names = (owner, *extending(owner, project))
    programs = programs_having(path, project, names)
    return any(makes(program, owner, project) for program in programs)


def is_used(owner: str, path: Path, project: Recording) -> bool:
    """True if a program reads attributes of a class itself: `CFG.amp`."""
    programs = programs_having(path, project, (owner,))
    return any(project.reaches(each, rf"(?<![\w.]){owner}\.\w") for each in programs)


def makes(program: Path, owner: str, project: Recording) -> bool:
    """True for a program that makes an object of a class, or gives the class to what fills it."""
    name = rf"(?:{'|'.join(map(re.escape, (owner, *extending(owner, project))))})"
    made = (
        rf"(?<!class )\b{name}\(|(?:default_factory\s*=|\bstructured\()\s*{name}\b"
        rf"|(?:cli|Parser|parse|wrap)\([^)\n]*\b{name}\b"
        rf"|{_WRAPPED}\w+\s*:\s*[\"']?{name}\b"
    )
    return project.reaches(program, made)


def extending(owner: str, project: Recording) -> tuple[str, ...]:
    """The names of the classes that extend a class of settings."""

    def compute() -> tuple[str, ...]:
        found: dict[str, None] = {}
        pending = [owner]
        for name in pending:  # it grows
            word = re.compile(rf"\b{re.escape(name)}\b")
            below = rf"class[ \t]+\w+[ \t]*\([^()]*\b{re.escape(name)}\b"
            for path in project.python_sources_matching(below.encode()):
                rows = _BASES.findall(project.config_files.text(path))
                new = [each for each, bases in rows if word.search(_PARAMETERS.sub("", bases))]
                pending += [each for each in new if each not in found and each != owner]
                found |= dict.fromkeys(new)
        return tuple(each for each in found if each != owner)

    return project.config_files.once(("extending", owner), compute)


def making_method(owner: ast.ClassDef, project: Recording) -> FunctionDefinition | None:
    """The method of a class that makes an object of it (`return cls(**values)`), if code that is
    no test calls that method.
    """
    for method in owner.body:
        if isinstance(method, FunctionDefinition) and next(_own_calls(method), None) is not None:
            called = rf"\b{re.escape(owner.name)}\.{re.escape(method.name)}\(".encode()
            paths = project.python_sources_matching(called)
            if not all(project.is_secondary(path) for path in paths):
                return method
    return None


def gives(method: FunctionDefinition, field: str) -> bool:
    """True for a method that makes an object of its class with a value of its own for a field."""
    return any(keyword_of(call, field) is not None for call in _own_calls(method))


def _own_calls(method: FunctionDefinition) -> Iterator[ast.Call]:
    """The calls of the class by a method of it."""
    for each in walk(method):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == "cls":
            yield each


def is_always_given(owner: str, field: str, project: Recording) -> bool:
    """True if each call of a class, and of those that extend it, gives a field, but for calls in
    functions that nothing names, and nothing else makes an object: its default is never in force.
    """

    def compute() -> tuple[tuple[ParsedPython, ast.Call], ...]:
        return tuple(_calls(owner, project))

    calls = project.config_files.once(("all calls of", owner), compute)
    others = [row for row in calls if keyword_of(row[1], field) is None]
    return len(others) < len(calls) and all(_is_idle(*row, project) for row in others)


def _is_idle(file: ParsedPython, call: ast.Call, project: Recording) -> bool:
    """True for a call in a function that nothing names."""
    function = syntax_tree(file).function(call)
    return isinstance(function, FunctionDefinition) and not is_mentioned(function, file, project)


def _calls(owner: str, project: Recording) -> list[tuple[ParsedPython, ast.Call]]:
    """The calls of a class and of those that extend it, which make all objects of them; none if
    something else may make one.
    """
    names = frozenset((owner, *extending(owner, project)))
    word = rf"\b(?:{'|'.join(map(re.escape, sorted(names)))})\b"
    if project.other_file_matches(word.encode()) or project.python_source_matches(_COPYING):
        return []  # `_target_: config.TrainConfig`, `type(config)(width=2)`
    found: list[tuple[ParsedPython, ast.Call]] = []
    for path in project.config_files.project.python_files:
        text = project.config_files.text(path)
        file = project.module(path) if re.search(word, text) else None
        if file is None:
            continue
        if _FILLING.search(text) or any(
            _may_make(each, names, file, project) for each in file.nodes
        ):
            return []
        found += [(file, call) for each in file.nodes if (call := _call_of(each, names, file))]
    return found


def _call_of(node: ast.AST, names: frozenset[str], file: ParsedPython) -> ast.Call | None:
    """The call of a class that a node names."""
    if not _is_named(node, names):
        return None
    call = syntax_tree(file).parent(node)
    return call if isinstance(call, ast.Call) and call.func is node else None


def _is_named(node: ast.AST, names: frozenset[str]) -> bool:
    match node:
        case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name):
            return name in names
    return False


def _may_make(node: ast.AST, names: frozenset[str], file: ParsedPython, project: Recording) -> bool:
    """True for what may make an object of a class without a call of its name: another name of it,
    a text with the name, a register that it is put in, a field of a class that a library may fill.
    """
    syntax = syntax_tree(file)
    match node:
        case ast.ClassDef(name=name) if name in names:
            known = (last_name(getattr(each, "func", each)) for each in node.decorator_list)
            return not _MAKING_FIELDS.issuperset(known) or _copies(node, file, project)
        case ast.alias(name=name, asname=str(other)):
            return name in names and other != name
        case ast.Constant(value=str(text)):
            is_it = text.rpartition(".")[2] in names
            return is_it and not (_is_type(node, syntax) or _is_of_exports(node, syntax))
    if not _is_named(node, names):
        return False
    return _call_of(node, names, file) is None and not _is_type(node, syntax)


def _copies(
    owner: ast.ClassDef, file: ParsedPython, project: Recording, levels: int = _MOST_LEVELS
) -> bool:
    """True for a class whose methods, or those of a class above, make objects of it:
    `cls(**values)`, `type(self)(…)`.
    """
    if any(
        (isinstance(each, ast.Name) and each.id == "cls")
        or (isinstance(each, ast.Call) and last_name(each.func) in ("type", "replace"))
        or (isinstance(each, ast.Attribute) and each.attr == "__class__")
        for each in walk(owner)
    ):
        return True
    above = (class_meant(each, file, project) for each in owner.bases if levels)
    return any(_copies(found[1], found[0], project, levels - 1) for found in above if found)


def _is_of_exports(node: ast.AST, syntax: SyntaxTree) -> bool:
    """True for an item of `__all__`."""
    match syntax.parent(syntax.parent(node) or node):
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
    return False


def _is_type(node: ast.AST, syntax: SyntaxTree) -> bool:
    """True for a mention of a class that makes nothing: an annotation, a base, `isinstance`."""
    inner: ast.AST = node
    outer = syntax.parent(node)
    while isinstance(outer, ast.Subscript | ast.BinOp | ast.Tuple | ast.List):
        inner, outer = outer, syntax.parent(outer)
    match outer:
        case ast.arg() | ast.ClassDef() | ast.MatchClass():
            return True
        case ast.AnnAssign(annotation=annotation):
            is_field = isinstance(syntax.parent(outer), ast.ClassDef)
            return annotation is inner and not is_field
        case ast.FunctionDef(returns=returns) | ast.AsyncFunctionDef(returns=returns):
            return returns is inner
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]):
            return kinds is inner
    return False
