"""Branches that no run takes, as a switch has one value that nothing in the project changes.

`if self.use_fsdp:` where a class says `use_fsdp: bool = False`, and no call, option, file or page
names it.
"""

from __future__ import annotations

import ast
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from precision_lint.facts.project.facts import Recording
from precision_lint.model.regex import regex
from precision_lint.source.python.nesting import blocks_around
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import innermost_name
from precision_lint.source.python.syntax_tree import syntax_tree
from precision_lint.source.python.truth import deciding_part, truth

_MOST_FILES = 12
"""Files that may name a switch; more of them name different things by it."""

_HOLDER = regex(r"self|cls|args|opts?|flags|settings|\w*(?:config|cfg|conf|params)")
"""What holds the switches of a project, by the name of the object."""

_SET_BY_NAME = regex(
    r"\bsetattr\(\s*[\w.]+\s*,\s*[^\"'\s]|__dict__\.update|\bvars\(\w+\)\.update|\bexec\("
    r"|\bglobals\(\)|\bHfArgumentParser\b|\bTrlParser\b|\btyro\b|\bsimple_parsing\b|\bpyrallis\b"
    r"|\bdraccus\b|\bjsonargparse\b|\bLightningCLI\b|\bFire\(|\bhydra\b|\bOmegaConf\b|\bchz\b"
    r"|\bpydantic|\bTap\b|\bargparse_dataclass\b|\bdatargs\b|\bfrom_cli\b|\byacs\b|\bgin\."
)
"""How a program may set what no word of its own names."""


class Switch(NamedTuple):
    """The one constant that a name stands for, and a place that says so."""

    value: object
    node: ast.stmt
    file: ParsedPython


def switched_off(offset: int, file: ParsedPython, project: Recording) -> Switch | None:
    """The switch for whose only value no run comes to a place."""
    of_part = partial(_holds, file=file, project=project)
    for (block, before), (inside, _) in pairwise(blocks_around(offset, file)):
        around = block[before]
        if isinstance(around, ast.If):
            is_body = inside is around.body
            if truth(around.test, of_part) is (not is_body):
                return _switch(_subject(deciding_part(around.test, of_part)), file, project)
    return None


def _holds(part: ast.expr, file: ParsedPython, project: Recording) -> bool | None:
    """Whether a part of a condition holds for the only value of its switch."""
    match part:
        case ast.Compare(
            ops=[ast.Eq() | ast.NotEq() as op], comparators=[ast.Constant(value=other)]
        ):
            switch = _switch(_subject(part), file, project)
            return None if switch is None else (switch.value == other) is isinstance(op, ast.Eq)
        case ast.Name() | ast.Attribute():
            switch = _switch(_subject(part), file, project)
            return None if switch is None else bool(switch.value)
    return None


def _subject(part: ast.expr) -> ast.expr:
    """What a part of a condition asks about."""
    return part.left if isinstance(part, ast.Compare) else part


def _switch(node: ast.expr, file: ParsedPython, project: Recording) -> Switch | None:
    """What a name, or an attribute of something with settings, always is."""
    match node:
        case ast.Name(id=name):
            pass
        case ast.Attribute(value=holder, attr=name) if _HOLDER.fullmatch(innermost_name(holder)):
            pass
        case _:
            return None
    return file.fact(("switch", name), lambda: _only_value(name, project))


def _only_value(name: str, project: Recording) -> Switch | None:
    word = rb"(?i)\b%b\b" % name.replace("_", "[-_]").encode()
    if project.page_matches(word) or project.other_file_matches(word):
        return None
    paths = project.python_sources_matching(word)
    if len(paths) > _MOST_FILES:
        return None
    found: list[Switch] = []
    for path in paths:
        module = project.module(path)
        if module is None:
            return None
        for node in module.nodes:
            if not _names(node, name):
                continue
            if (bound := _constant_bound(node, module)) is not None:
                found.append(bound)
            elif not _reads(node):
                return None
    values = {(type(each.value), each.value) for each in found}
    if len(values) != 1 or any(_is_set_by_name(each, project) for each in found):
        return None
    return found[0]


def _is_set_by_name(switch: Switch, project: Recording) -> bool:
    """True if code that knows the file, or the class, of a switch may set it without its name."""
    owner = next(
        (
            each.name
            for each in syntax_tree(switch.file).around(switch.node)
            if isinstance(each, ast.ClassDef)
        ),
        None,
    )
    knowing = () if owner is None else project.python_sources_matching(rb"\b%b\b" % owner.encode())
    modules = (switch.file, *map(project.module, knowing))
    return any(each is None or _SET_BY_NAME.search(each.text.text) for each in modules)


def _names(node: ast.AST, name: str) -> bool:
    """True for a node that reads, binds or spells out a name."""
    match node:
        case ast.Name(id=other) | ast.Attribute(attr=other) | ast.arg(arg=other):
            return other == name
        case ast.keyword(arg=other) | ast.MatchAs(name=other) | ast.MatchStar(name=other):
            return other == name
        case ast.FunctionDef(name=other) | ast.AsyncFunctionDef(name=other):
            return other == name
        case ast.ClassDef(name=other) | ast.ExceptHandler(name=other):
            return other == name
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return name in names
        case ast.alias(name=other, asname=given):
            return name in {given, other.rpartition(".")[2]}
        case ast.Constant(value=str(text)):
            return name.casefold() in text.casefold().replace("-", "_")
    return False


def _reads(node: ast.AST) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)


def _constant_bound(node: ast.AST, module: ParsedPython) -> Switch | None:
    """The constant that a statement binds a name to: `debug = False`, `use_fsdp: bool = False`."""
    match statement := syntax_tree(module).parent(node):
        case ast.Assign(targets=[target], value=ast.Constant(value=value)) if target is node:
            return Switch(value, statement, module)
        case ast.AnnAssign(target=target, value=ast.Constant(value=value)) if target is node:
            return Switch(value, statement, module)
    return None
