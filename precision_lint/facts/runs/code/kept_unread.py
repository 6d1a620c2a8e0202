"""Settings whose ways all end in members of objects that nothing reads: `self.use_fp16 = use_fp16`.

Their classes extend only what reads no members of its own accord, and no Python file of the project
reads a member, or has a text, of that name.
"""

from __future__ import annotations

import ast
import re

from precision_lint.facts.runs.code.flows import Asked, Ends, ends_of
from precision_lint.facts.runs.code.ways import class_meant
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.settings import holds_settings
from precision_lint.model.regex import regex
from precision_lint.source.python.bindings import enclosing_class
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import last_name, qualified
from precision_lint.source.python.syntax_tree import syntax_tree

_OPEN_BASES = frozenset({
    "object", "abc.ABC", "torch.nn.Module", "torch.utils.data.Dataset",
})  # fmt: skip
"""Bases of libraries that read no members which a class gives its objects."""
_HIDDEN = regex(
    r"\bvars\(self\)|\bself\.__dict__|\b(?:get|set|has)attr\(self,|\blocals\(\)"
    r"|\bsave_hyperparameters\("
)
"""How a class may read its members by names that it does not write."""
_MOST_LEVELS = 4


def kept_unread(asked: Asked, program: Program) -> tuple[ast.Attribute, ParsedPython] | None:
    """The member in which a setting ends that nothing reads; None if it may do something."""
    ends: Ends = ends_of(asked, program)
    if ends.places or not ends.unknown:
        return None
    members = [_member(node, file) for node, file in ends.unknown]
    found = [row for row in members if row is not None]
    if len(found) < len(members) or any(_may_read(*row, program) for row in found):
        return None
    return found[0]


def _member(node: ast.expr, file: ParsedPython) -> tuple[ast.Attribute, ParsedPython] | None:
    """The member of `self` that gets a value as it is."""
    match syntax_tree(file).parent(node):
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self")) as target], value=value):
            is_plain = isinstance(value, ast.Name | ast.Attribute | ast.Subscript)
            return (target, file) if value is node and is_plain else None
    return None


def _may_read(member: ast.Attribute, file: ParsedPython, program: Program) -> bool:
    project = program.project
    owner = enclosing_class(member, syntax_tree(file))
    if owner is None or not _is_closed(file, owner, program):
        return True
    name = re.escape(member.attr).encode()
    if project.other_file_matches(rb"\.%s\b" % name):
        return True
    if project.python_source_matches(rb"[\"']%s[\"']" % name):
        return True
    for path in project.python_sources_matching(rb"\.\s*%s\b" % name):
        other = project.module(path)
        if other is None or any(_is_read(node, member.attr) for node in other.nodes):
            return True
    return False


def _is_read(node: ast.AST, name: str) -> bool:
    """True for a member that is read; those of settings are where ways start."""
    match node:
        case ast.Attribute(value=holder, attr=attr, ctx=ast.Load()) if attr == name:
            return not holds_settings(last_name(holder))
    return False


def _is_closed(file: ParsedPython, owner: ast.ClassDef, program: Program, level: int = 0) -> bool:
    """True for a class whose members only code reads that writes their names."""
    if level > _MOST_LEVELS or owner.keywords:
        return False
    if not all(_is_closed_by(each, file, program) for each in owner.decorator_list):
        return False
    if _HIDDEN.search(file.text[file.span_of(owner)]):
        return False
    return all(_is_closed_base(base, file, program, level) for base in owner.bases)


def _is_closed_base(base: ast.expr, file: ParsedPython, program: Program, level: int) -> bool:
    if qualified(base, syntax_tree(file).names) in _OPEN_BASES:
        return True
    above = class_meant(base, file, program.project)
    return above is not None and _is_closed(*above, program, level + 1)


def _is_closed_by(decorator: ast.expr, file: ParsedPython, program: Program) -> bool:
    """True for a decorator of another module of the project, all of which writes names."""
    home = qualified(decorator, syntax_tree(file).names).rpartition(".")[0]
    path = program.project.locate(file.text.path, home) if home else None
    text = program.project.config_files.text(path) if path is not None else ""
    return bool(text) and _HIDDEN.search(text) is None
