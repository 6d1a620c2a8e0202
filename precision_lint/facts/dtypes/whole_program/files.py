"""What the programs of a project write into files that another one reads.

A file is known by its name, as far as code writes it out. Others may write one of that name, too:
it only shows that what is read can be bfloat16.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from precision_lint.facts.dtypes.domain.lattice import by_dtypes, join_all
from precision_lint.facts.dtypes.domain.values import BOTTOM, Bottom, DtypeSet, Value
from precision_lint.facts.dtypes.interpreter.entries import Summary, Table
from precision_lint.facts.dtypes.interpreter.protocols import Interprocedural
from precision_lint.facts.dtypes.syntax.bodies import bodies_at, functions_at
from precision_lint.facts.dtypes.syntax.definitions import Module
from precision_lint.facts.dtypes.syntax.file_names import (
    is_generic,
    longest_literal,
    name_written,
)
from precision_lint.facts.dtypes.whole_program.program import Program
from precision_lint.facts.dtypes.whole_program.resolution import Resolution
from precision_lint.facts.dtypes.whole_program.tracing import Tracing
from precision_lint.facts.origin import Origin
from precision_lint.model.dtypes import BFLOAT16
from precision_lint.source.python.syntax_tree import syntax_tree

_D = TypeVar("_D", bound=DtypeSet)

_WRITING = frozenset({"save", "save_file"})


class Files:
    """The files that programs of the project write with torch or safetensors."""

    def __init__(
        self,
        analysis: Interprocedural,
        program: Program,
        tracing: Tracing,
        resolve: Resolution,
        table: Table,
    ) -> None:
        self._analysis = analysis
        self._program = program
        self._tracing = tracing
        self._resolve = resolve
        self._table = table

    def holding_bfloat16(self, name: str, reader: Module) -> Value | None:
        """What is in a file of a name if all that write one may put bfloat16 into it.

        What the reading file itself writes counts alone; no other file with a name that says
        nothing does.
        """
        if self._analysis.is_intraprocedural or self._analysis.is_program_run:
            return None
        key = ("written", name, reader)
        if self._table.is_in_progress(key):  # a program that writes what it has read before
            return None
        found = self._table.entry(key, lambda: Summary(self._written(name, reader))).value
        return None if isinstance(found, Bottom) else found

    def _written(self, name: str, reader: Module) -> Value:
        for writers in ([reader], self._others(name, reader)):
            values = [value for module in writers for value in self._written_by(module, name)]
            if values:
                return join_all(values) if all(map(_may_be_bfloat16, values)) else BOTTOM
        return BOTTOM

    def _others(self, name: str, reader: Module) -> Iterator[Module]:
        """The other modules that name the file."""
        if not is_generic(name):
            pattern = re.escape(longest_literal(name)).encode()
            yield from (each for each in self._program.holding(pattern) if each is not reader)

    def _written_by(self, module: Module, name: str) -> list[Value]:
        """What the code of a module writes into files of this name."""
        for body, inside in list(bodies_at(module, _rows_writing(module).get(name, []))):
            self._tracing.body(body, inside)
        written = self._analysis.records.written.get((module, name), {})
        return [
            _as_read(self._resolve(value), module, node, name)
            for node, value in list(written.items())
        ]


def _rows_writing(module: Module) -> Mapping[str, list[int]]:
    """The rows of a module that write files, by the names of these: many files ask for them."""

    def compute() -> Mapping[str, list[int]]:
        calls = [each for name in _WRITING for each in syntax_tree(module.file).calls(name)]
        found: dict[str, list[int]] = {}
        for call in calls:
            row = call.func.end_lineno or call.lineno
            *_, function = (None, *functions_at(module, [row]))
            if (name := name_written(call, module, function)) is not None:
                found.setdefault(name, []).append(row)
        return {name: sorted(rows) for name, rows in found.items()}

    return module.fact(_rows_writing, compute)


def _may_be_bfloat16(value: Value) -> bool:
    found: set[str] = set()

    def note(dtypes: _D) -> _D:
        found.update(dtypes.dtypes)
        return dtypes

    by_dtypes(note, value)
    return BFLOAT16 in found


def _as_read(value: Value, module: Module, node: ast.Call, name: str) -> Value:
    """What was written, as somebody reads it: others may write it otherwise."""
    file = module.file
    place = Origin(file.text, file.span_of(node), f"it is written to `{name}` here")

    def read(dtypes: _D) -> _D:
        origin = None if dtypes.origin is None else dtypes.origin.through(place)
        return replace(dtypes, origin=origin, caller_chosen=True)

    return by_dtypes(read, value)
