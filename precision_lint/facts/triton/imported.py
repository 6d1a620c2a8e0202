"""The jit functions that a kernel's file imports from other files of the project."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from precision_lint.facts.context import PythonFile
from precision_lint.facts.triton.module import JitFunction, Module
from precision_lint.model.memo import cached_property

if TYPE_CHECKING:
    from precision_lint.facts.dtypes.syntax import definitions
    from precision_lint.facts.dtypes.whole_program.program import Program


class Helpers:
    """Follows the imports of one file; other files are parsed when a kernel calls into them."""

    def __init__(self, file: PythonFile) -> None:
        self.main = Module(file.tree, file.text, self.find)
        self._file = file
        self._modules = {file.text.path: self.main}
        self._definitions: dict[Path, definitions.Module] = {}

    @cached_property
    def program(self) -> Program:
        """The project as the file sees it."""
        from precision_lint.facts.dtypes.whole_program.program import Program

        program = Program(self._file)
        self._definitions[self._file.text.path] = program.main
        return program

    def find(self, module: Module, name: str) -> JitFunction | None:
        """What a name, or `module.name`, of one of these files stands for."""
        from precision_lint.facts.dtypes.syntax.definitions import Function

        program = self.program
        importer = self._definitions[module.text.path]
        package, _, member = name.rpartition(".")
        if package in importer.imports:
            found = program.find(importer, f"{importer.imports[package]}.{member}")
        else:
            found = None if package else program.name(importer, name)
        if found is None or not isinstance(found.definition, Function):
            return None
        return self._module(found.module).functions.get(found.definition.name)

    def _module(self, found: definitions.Module) -> Module:
        path = found.file.text.path
        if path not in self._modules:
            self._modules[path] = Module(found.file.tree, found.file.text, self.find)
            self._definitions[path] = found
        return self._modules[path]
