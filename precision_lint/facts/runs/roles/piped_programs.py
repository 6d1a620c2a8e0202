"""What the calls of a program get that a script pipes into Python: `python - <<EOF`.

The program has its settings in itself: `from_pretrained(name, torch_dtype="auto")`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.sources import CodePlace, Occurrence, RolesSource
from precision_lint.facts.frameworks.table import frameworks
from precision_lint.facts.runs.code.becoming import shown
from precision_lint.facts.runs.code.taking_calls import is_telling
from precision_lint.facts.runs.code.torch_sinks import NOTES, TorchPlace
from precision_lint.facts.runs.code.ways import decided
from precision_lint.facts.runs.roles.roles import distinct, with_keys
from precision_lint.facts.runs.written.unread import Unread
from precision_lint.model.finding import Related, Span
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import callee_name, last_name
from precision_lint.source.python.syntax_tree import syntax_tree

_PYTORCH = "pytorch"


def of_piped_programs(rest: Unread) -> Iterator[EffectiveConfig]:
    """What the settings of a script are for that are arguments of calls in such programs."""
    written = {one.origin.span: one for one in rest.settings if isinstance(one.origin, CodePlace)}
    found: list[tuple[str, Occurrence]] = []
    for embedded in rest.file.embedded if written else ():
        code = embedded.file.python
        for node in code.nodes if code is not None else ():
            if code is None or not isinstance(node, ast.keyword):
                continue
            one = written.get(code.span_of(node))
            if one is not None:
                found += _given(one, node, code)
    if found:
        given, settings = distinct(found), tuple(one for _, one in found)
        span, file = settings[0].origin.span, rest.file
        source = RolesSource(file, span, None, given, file, Span(0, 0), settings, is_declared=True)
        table = replace(with_keys(frameworks()[_PYTORCH], given), conflicts=(), links=())
        yield EffectiveConfig(table, source)


def _given(
    one: Occurrence, argument: ast.keyword, code: ParsedPython
) -> Iterator[tuple[str, Occurrence]]:
    """What a call gets by an argument, if that is written out."""
    call = syntax_tree(code).parent(argument)
    match argument.value:
        case ast.Constant(value=value):
            text = shown(value)
        case ast.Attribute(value=ast.Name(id="torch")) as dtype:
            text = last_name(dtype)
        case _:
            return
    if not isinstance(call, ast.Call) or is_telling(call, code):
        return
    name = f"{callee_name(call)}({argument.arg}=)"
    made = TorchPlace("argument", call, code, argument.value, subject=name)
    place = decided(code).get(argument.value, made)
    at = Related(code.text.place(code.span_of(place.node)), NOTES[place.kind])
    subject = f" of {place.subject}" if place.subject else ""
    key = f"{place.kind}{subject} in {at.place.path.name}, line {at.place.start.row}"
    yield key, replace(one, value=text, is_derived=True, used_at=at)
