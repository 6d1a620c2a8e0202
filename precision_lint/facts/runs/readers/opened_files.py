"""Programs that open certain files alone, by names that they write out: `open("config.yaml")`."""

from __future__ import annotations

import ast
from pathlib import Path

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.project.own_folders import own_path
from precision_lint.facts.runs.readers.unknown_loads import may_load
from precision_lint.facts.runs.written.keys import parts_of
from precision_lint.facts.runs.written.loading import has_library
from precision_lint.facts.runs.written.loads import Load, loads_in
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import callee_name
from precision_lint.source.python.syntax_tree import syntax_tree


def opens_others(program: Path, path: Path, project: Recording) -> bool:
    """True for a program that loads files of the format of one, each of them another file: a copy
    of its `config.yaml` in the folder of a run is none of them.
    """
    files = opened_by(program, path.suffix, project)
    return bool(files) and path not in files


def opened_by(program: Path, suffix: str, project: Recording) -> frozenset[Path]:
    """The files of a format that a program opens, if each of them is known: none otherwise."""

    def compute() -> frozenset[Path]:
        parts = parts_of(program, project)
        loads = [load for part in parts for load in loads_in(part, suffix, project)]
        found = {_opened(load, program, project) for load in loads}
        if None in found or has_library(parts, project) or may_load(suffix, parts, project):
            return frozenset()
        return frozenset(filter(None, found))

    return project.config_files.once(("opened by", program, suffix), compute)


def _opened(load: Load, program: Path, project: Recording) -> Path | None:
    """The file that a call loads, next to the program or the code, if its name is written out."""
    source = path_of(load.source, load.file) if load.source is not None else None
    name = own_path(source, load.file, project) if source is not None else None
    if name is None or not name.suffix:
        return None
    return project.config_files.find(name.as_posix(), program)


def path_of(node: ast.expr, file: ParsedPython) -> ast.expr | None:
    """The path of what is opened: by the call itself, or by the `with` around it."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr="read" | "read_text"), args=[]):
            return path_of(value, file)
        case ast.Call(args=[path, *_]) if callee_name(node) == "open":
            return path
        case ast.Name(id=name):
            for around in syntax_tree(file).around(node):
                for item in around.items if isinstance(around, ast.With) else ():
                    is_it = (
                        isinstance(item.optional_vars, ast.Name) and item.optional_vars.id == name
                    )
                    if is_it:
                        return path_of(item.context_expr, file)
    return node
