"""Classes whose fields no setting fills by its name: each call that makes an object gives them.

`Part(name=key, dtype=str(weight.dtype))`: what the methods of `Part` read as `self.dtype` is that,
whatever the settings of the program say of a `dtype`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from precision_lint.facts.runs.code.taking_calls import holds_them
from precision_lint.facts.runs.interpreter.classes import record
from precision_lint.facts.runs.interpreter.program import Program, keyword_of
from precision_lint.model.memo import fact
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import last_name
from precision_lint.source.python.syntax_tree import syntax_tree


def is_plain_field(owner: str, name: str, program: Program) -> bool:
    """True for a field that all objects of a class get from the calls that make them, and for one
    of a class of which the program makes no object.
    """
    if holds_them(owner):
        return False
    return program.fact(
        ("plain field", owner, name),
        lambda: not _is_filled(owner, program) and _is_given(owner, name, program),
    )


def _is_given(owner: str, name: str, program: Program) -> bool:
    kind = record(owner, program)
    fields = [each.name for each in kind.fields] if kind is not None else []
    for file in program.mentioning(owner):
        calls = syntax_tree(file).calls(owner)
        if owner in _values(file) or not all(_gives(call, name, fields) for call in calls):
            return False
    return True


def _gives(call: ast.Call, name: str, fields: Sequence[str]) -> bool:
    """True for a call that gives a field, by its name or by its position."""
    if keyword_of(call, name) is not None:
        return True
    is_known = name in fields and not any(isinstance(each, ast.Starred) for each in call.args)
    return is_known and fields.index(name) < len(call.args)


@fact
def _values(file: ParsedPython) -> frozenset[str]:
    """The names that a file reads for something else than a call and an annotation: who gets a
    class may make objects of it, and so may one that extends it.
    """
    others = {
        inner
        for node in file.nodes
        for noted in (getattr(node, "annotation", None), getattr(node, "returns", None))
        if isinstance(noted, ast.expr)
        for inner in walk(noted)
    } | {node.func for node in file.nodes if isinstance(node, ast.Call)}
    return frozenset(
        last_name(node)
        for node in file.nodes
        if isinstance(node, ast.Name | ast.Attribute) and node not in others
    )


def _is_filled(owner: str, program: Program) -> bool:
    """True for a class that another one has as a section, or that Hydra makes an object of."""
    sections = re.compile(
        rf"^\s+\w+\s*:\s*(?:Optional\[)?[\"']?{owner}\b(?![^\n]*,$)", re.MULTILINE
    )
    if program.project.other_file_matches(rf"_target_.*\.{owner}\b".encode()):
        return True
    text = program.project.config_files.text
    return any(sections.search(text(path)) for path in program.paths)
