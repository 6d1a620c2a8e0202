"""Programs that load files whose paths functions build: `read_config("train", "sft")` loads
`configs/train/sft.yaml`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.project.own_folders import own_path
from precision_lint.facts.runs.code.ways import functions_meant
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.runs.interpreter.reachable import may_run
from precision_lint.facts.runs.readers.opened_files import path_of
from precision_lint.facts.runs.written.keys import parts_of
from precision_lint.facts.runs.written.loads import Load, loads_in
from precision_lint.facts.runs.written.program_files import programs_of
from precision_lint.model.frozen import frozen
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import AnyFunction, FunctionDefinition
from precision_lint.source.python.syntax import parameters, positional_parameters
from precision_lint.source.python.syntax_tree import syntax_tree

_MOST_CALLS = 4
"""Calls inside each other, from what loads a file to what names it."""
_MOST_WAYS = 64
"""Ways in which a program calls a function."""
_MOST_PROGRAMS = 200


def programs_building(path: Path, project: Recording) -> Iterator[Path]:
    """The programs that load a file whose path a function builds of what it is given."""
    for program in islice(programs_of(project), _MOST_PROGRAMS):
        if path in _built_by(program, path.suffix, project) and not project.is_test(program):
            yield program


def _built_by(program: Path, suffix: str, project: Recording) -> frozenset[Path]:
    """The files of a format that a program loads by such paths."""

    def compute() -> frozenset[Path]:
        loads = [
            load
            for part in parts_of(program, project)
            for load in _by_parameters(part, suffix, project)
        ]
        if not loads:
            return frozenset()
        building = _Building(Program(program, project), project)
        return frozenset(path for load in loads for path in building.loaded(load))

    return project.config_files.once(("built by", program, suffix), compute)


def _by_parameters(part: Path, suffix: str, project: Recording) -> tuple[Load, ...]:
    """The calls of a file that load what a function with parameters names."""

    def compute() -> tuple[Load, ...]:
        loads = loads_in(part, suffix, project)
        return tuple(load for load in loads if _has_parameters(_function(load)))

    return project.config_files.once(("loads by parameters", part, suffix), compute)


def _function(load: Load) -> AnyFunction | None:
    return syntax_tree(load.file).function(load.call)


def _has_parameters(function: AnyFunction | None) -> bool:
    return isinstance(function, FunctionDefinition) and any(parameters(function.args))


@frozen
class _Building:
    """What the calls of a program give to the functions that build paths."""

    program: Program
    project: Recording

    def loaded(self, load: Load) -> Iterator[Path]:
        """The files that a call loads in the ways in which the program comes to it."""
        source = path_of(load.source, load.file) if load.source is not None else None
        function = _function(load)
        if source is None or not isinstance(function, FunctionDefinition):
            return
        for given in islice(self._given(function, load.file, _MOST_CALLS), _MOST_WAYS):
            name = own_path(source, load.file, self.project, given=given)
            if name is not None and name.suffix:
                found = self.project.config_files.find(name.as_posix(), self.program.path)
                if found is not None:
                    yield found

    def _given(
        self, function: FunctionDefinition, file: ParsedPython, calls: int
    ) -> Iterator[Mapping[str, Path]]:
        """What the parameters of a function are, once for each way in which it is called.

        Those of a method are not known. Of two functions `main`, the one of the program runs.
        """
        is_method = isinstance(syntax_tree(file).parent(function), ast.ClassDef)
        is_own = file.text.path == self.program.path and not _has_parameters(function)
        if is_method or is_own:
            if may_run(function.body[0], file, self.program):
                yield {}
            return
        for caller in self.program.mentioning(function.name) if calls else ():
            for call in syntax_tree(caller).calls(function.name):
                meant = functions_meant(call, caller, self.project)
                if [each for _, each in meant] == [function] and may_run(
                    call, caller, self.program
                ):
                    yield from self._of_call(call, caller, function, calls - 1)

    def _of_call(
        self, call: ast.Call, caller: ParsedPython, function: FunctionDefinition, calls: int
    ) -> Iterator[Mapping[str, Path]]:
        names = [each.arg for each in positional_parameters(function.args)]
        values = dict(zip(names, call.args, strict=False))
        values |= {each.arg: each.value for each in call.keywords if each.arg is not None}
        around = syntax_tree(caller).function(call)
        ways: Iterator[Mapping[str, Path]] = iter([{}])
        if isinstance(around, FunctionDefinition):
            ways = self._given(around, caller, calls)
        for given in ways:
            found = {
                name: own_path(value, caller, self.project, given=given)
                for name, value in values.items()
            }
            yield {name: path for name, path in found.items() if path is not None}
