"""Sections of which a program makes objects of frameworks: `hydra.utils.instantiate(cfg.trainer)`.

The class is named by the section itself, `_target_: lightning.Trainer`, or by the files of its
group, `trainer/default.yaml`, which Hydra puts below the section of an experiment; or by the
program, which gives it the section as arguments: `Trainer(**cfg.trainer)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from precision_lint.facts.frameworks.recognition import called
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.code.ways import key_of_holder
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.runs.readers.composing_programs import composing_folders, package_said
from precision_lint.facts.settings.deciding import setting_path
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.project import disk
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.settings_tree import Mapping, Scalar
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import qualified
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_TARGET = "_target_"
_MAKING = ("hydra.utils.instantiate", "hydra.utils.call")
_COPYING = ("hydra.utils.instantiate", "omegaconf.OmegaConf.to_container", "dict")
"""What gives a section that names no class as it is."""
_MOST_FILES = 40
"""Files of one group."""


@frozen
class Maker:
    """A program that makes an object of a section, which is of a class of some frameworks; `first`
    is the file from which it composes.
    """

    program: Path
    slugs: tuple[str, ...]
    first: Path | None
    word: str
    """What chooses the file of the section on a command line: `experiment=wide`."""


def maker_of(section: Mapping, name: str, file: ParsedConfig, project: Recording) -> Maker | None:
    """The program that makes an object of a section, by its dotted name in its file, the one that
    trains first; None if that is not seen, or if files of the group name different classes.
    """
    path = file.text.path
    programs = composing_folders(path, project)
    for program, folder, first in sorted(programs, key=lambda row: "train" not in row[0].stem):
        keys = _path(name, file, folder)
        if not keys:
            continue
        own = _target(section)
        targets = {own} if own else {*_of_group(keys, folder, project)}
        given = _unpacked(keys, program, project)
        if given if not targets else _instantiates(keys[-1], program, project):
            found = {tuple(one.slug for one in called(each)) for each in targets or given}
            if len(found) == 1 and (slugs := found.pop()):
                group = path.parent.relative_to(folder).as_posix()
                word = f"{group}={path.stem}" if group != "." else f"--config-name={path.stem}"
                return Maker(program, slugs, first, word)
    return None


def _path(name: str, file: ParsedConfig, folder: Path) -> tuple[str, ...]:
    """Where a section is in what is composed: below the package of its file."""
    said = package_said(file)
    package = file.text.path.parent.relative_to(folder).parts if said is None else said
    return (*package, *filter(None, name.split(".")))


def _of_group(path: tuple[str, ...], folder: Path, project: Recording) -> Iterator[str]:
    """The classes that the files of a group name."""
    for each in disk.matching(folder.joinpath(*path), "*.yaml")[:_MOST_FILES]:
        file = project.config_files.at(each)
        for document in file.documents[:1] if file is not None else ():
            if isinstance(document, Mapping) and (target := _target(document)):
                yield target


def _target(section: Mapping) -> str:
    found = section.get(_TARGET)
    value = found.entry.value if found is not None else None
    return value.value if isinstance(value, Scalar) and isinstance(value.value, str) else ""


def _instantiates(section: str, program: Path, project: Recording) -> bool:
    """True if a program makes an object of a section with a name."""

    def compute() -> frozenset[str]:
        files = Program(program, project).mentioning("instantiate")
        return frozenset(name for file in files for name in _instantiated(file))

    return section in project.config_files.once(("instantiated sections", program), compute)


def _unpacked(section: tuple[str, ...], program: Path, project: Recording) -> frozenset[str]:
    """What a program calls with the settings of a section as arguments."""

    def compute() -> frozenset[tuple[tuple[str, ...], str]]:
        files = Program(program, project).mentioning("**")
        return frozenset(row for file in files for row in _given_to(file))

    rows = project.config_files.once(("unpacked sections", program), compute)
    return frozenset(callee for path, callee in rows if section[-len(path) :] == path)


@fact
def _given_to(file: ParsedPython) -> tuple[tuple[tuple[str, ...], str], ...]:
    """The sections that calls of a file unpack, each with what is called."""
    syntax = syntax_tree(file)
    return tuple(
        (path, qualified(call.func, syntax.names))
        for call in syntax.every_call
        for keyword in call.keywords
        if keyword.arg is None and (path := setting_path(_copied(keyword.value, syntax)))
    )


def _copied(node: ast.expr, syntax: SyntaxTree) -> ast.expr:
    """The section that an expression is, or is a copy of."""
    bound = binding(node, syntax) if isinstance(node, ast.Name) else None
    if isinstance(bound, list) and len(bound) == 1:
        node = bound[0]
    match node:
        case ast.Call(args=[section, *_]) if qualified(node.func, syntax.names) in _COPYING:
            return section
    return node


@fact
def _instantiated(file: ParsedPython) -> tuple[str, ...]:
    names = syntax_tree(file).names
    return tuple(
        key_of_holder(node.args[0])
        for node in file.nodes_of(ast.Call)
        if node.args and qualified(node.func, names) in _MAKING
    )
