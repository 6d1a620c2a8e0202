"""The Triton kernels of a file, as facts for rules."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.syntax import definitions
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.triton.hosts.view import HostView
from precision_lint.facts.triton.imported import Helpers
from precision_lint.facts.triton.language import NEWEST, Version
from precision_lint.facts.triton.module import JitFunction, Module
from precision_lint.facts.triton.notes import notes_of
from precision_lint.facts.triton.notes.note import Note, Notes
from precision_lint.facts.triton.parameters import Parameter
from precision_lint.facts.triton.rejections import Analysis, ReportedError
from precision_lint.model.finding import Related, Span
from precision_lint.model.frozen import frozen
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.text.text import SourceText


@frozen
class Kernel:
    """A `@triton.jit` function that the host launches."""

    name: str
    span: Span
    parameters: tuple[Parameter, ...]
    rejections: tuple[ReportedError, ...]
    notes: tuple[Note, ...] = ()
    wide: frozenset[str] = frozenset()
    """The pointer parameters that kernels of this file add int64 offsets to."""
    is_launched: bool = True
    """False if no launch is in the project: nothing is known then of what the host passes."""
    compiled: Related | None = None
    """Where torch.compile traces a launch, if that matters to a note."""


def find_kernels(
    tree: ast.Module,
    text: SourceText,
    target_triton: Version | None = None,
    project: Recording | None = None,
) -> tuple[Kernel, ...]:
    """The kernels of a file, typed for a version of Triton (the newest if None).

    What is rejected in a helper is reported once, with the first kernel that calls it so. Helpers
    of other files are looked for in the `project`.
    """
    module, hosts = _views(tree, text, project)
    seen: set[tuple[str, Span, str]] = set()
    wide: set[str] = set()
    found = []
    for function in _entries(module, hosts):
        try:
            analysis = Analysis(module, function, target_triton or NEWEST, hosts)
            parameters, rejections = analysis.facts()
        except RecursionError:
            continue  # an expression nested as deeply as Python's stack
        new = tuple(r for r in rejections if (r.kind, r.span, r.subject) not in seen)
        seen.update((rejection.kind, rejection.span, rejection.subject) for rejection in new)
        node = function.node
        notes = _notes(analysis)
        noted = tuple(n for n in notes.notes if (n.kind, n.span, n.subject) not in seen)
        seen.update((note.kind, note.span, note.subject) for note in noted)
        wide |= notes.wide
        has_doubles = any(note.kind == "float64" and note.is_shown for note in noted)
        is_launched = bool(analysis.launches.found)
        found.append(
            Kernel(
                node.name,
                module.span(node),
                parameters,
                new,
                noted,
                is_launched=is_launched,
                compiled=hosts.where_compiled(analysis.launches) if has_doubles else None,
            )
        )
    return tuple(replace(kernel, wide=frozenset(wide)) for kernel in found)


def _views(
    tree: ast.Module, text: SourceText, project: Recording | None
) -> tuple[Module, HostView]:
    """A file as device code and as host code."""
    if project is None:
        return Module(tree, text), HostView(definitions.Module(ParsedPython(text, tree)))
    file = PythonFile(text, tree, project)
    helpers = Helpers(file)
    return helpers.main, HostView(helpers.program.main, file, helpers.program)


def _notes(analysis: Analysis) -> Notes:
    with suppress(RecursionError):
        return notes_of(analysis)
    return Notes()


def _entries(module: Module, hosts: HostView) -> Iterator[JitFunction]:
    """The jit functions that the host launches, as far as this file shows.

    A helper's arguments can be compile-time values without an annotation, so it is only evaluated
    where it is called.
    """
    for function in module.jit_functions:
        name = function.node.name
        if function.is_launched or hosts.launches_here(name) or _reads_program_id(module, function):
            yield function


def _reads_program_id(module: Module, function: JitFunction) -> bool:
    """True if it finds out its own place in the grid, and returns nothing."""
    reads = False
    for node in walk(function.node):
        match node:
            case ast.Return(value=ast.expr()):
                return False
            case ast.Call(func=func) if module.qualified(func) == "triton.language.program_id":
                reads = True
    return reads
