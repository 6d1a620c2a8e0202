"""The classes that a program fills with settings, and the frameworks that these are of.

`TrlParser((ScriptArguments, SPINConfig))` makes an object of each class from a file or the command
line. A class of the project is of the framework that its bases are of, whatever it is called, and
those of a library are known by their names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from precision_lint.facts.frameworks.recognition import called
from precision_lint.facts.frameworks.table import Framework, frameworks
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.interpreter.imported_by_name import program_of
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.runs.written.keys import parts_of, words_of
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import callee_name, dotted, last_name, qualified
from precision_lint.source.python.syntax_tree import syntax_tree

_PARSERS = regex(r"\w*Parser")
"""`HfArgumentParser`, and what extends it."""
_FILLING = frozenset({"tyro.cli", "simple_parsing.parse", "draccus.parse", "pyrallis.parse"})
_NAMED = ("dataclass_types", "config_class")
_MENTIONED = regex(
    r"Parser\(\s*(?:dataclass_types\s*=\s*)?(?:[\[(A-Z]|[a-z]\w*\s*\))"
    r"|\b(?:cli|parse)\(\s*(?:config_class\s*=\s*)?[A-Z]"
)
"""How a call that fills classes looks; `ArgumentParser(description="…")` does not."""
_PLAIN_BASES = frozenset({"object", "ABC", "Protocol", "Generic", "NamedTuple", "BaseModel"})
"""What classes extend that gives them no fields."""
_MOST_STEPS = 8
"""Bases, imports and other names from a class to that of a library."""
_MOST_FILES = 60


@frozen(slots=False)
class Filled:
    """What a program fills: the frameworks of the classes that its parsers make, whether there are
    any such classes, their names where they are defined, and which of them have fields that no
    table and no code of the project lists.
    """

    slugs: frozenset[str] = frozenset()
    is_parsed: bool = False
    names: frozenset[str] = frozenset()
    of_libraries: frozenset[str] = frozenset()


def filled_by(path: Path, project: Recording) -> Filled:
    """What the parsers of a program make of its settings."""
    return project.config_files.once(("filled by", path), lambda: _filled_by(path, project))


def known_names(path: Path, project: Recording) -> frozenset[str]:
    """The names of settings that the classes have which a program fills, where a framework defines
    them: no code of the project mentions these.
    """
    slugs = filled_by(path, project).slugs
    return frozenset[str]().union(*(_names_of(frameworks()[slug]) for slug in slugs))


def words_read_by(path: Path, project: Recording) -> frozenset[str]:
    """The names that a program mentions, and those of the fields that it fills."""
    return words_of(parts_of(path, project), project) | known_names(path, project)


def frameworks_of(node: ast.expr, file: ParsedPython, project: Recording) -> frozenset[str] | None:
    """The frameworks that a class is of; None if it is none of the project, and of no framework."""
    return _of_class(node, file, project, _MOST_STEPS)


def class_of_framework(name: str, file: ParsedPython, project: Recording) -> frozenset[str]:
    """The frameworks that a class of a file is of, by what it extends."""
    return _of_class(ast.Name(name), file, project, _MOST_STEPS) or frozenset()


def _names_of(framework: Framework) -> frozenset[str]:
    """The names that files of a framework and of those that it extends are known by."""
    names = frozenset(framework.keys).union(
        *((*way.own, *way.shared) for way in framework.ways if way.form in ("mapping", "command"))
    )
    return names | (_names_of(frameworks()[framework.extends]) if framework.extends else names)


def _filled_by(path: Path, project: Recording) -> Filled:
    text = project.config_files.text
    parts = [*program_of(path, project)][:_MOST_FILES]
    if not any(_MENTIONED.search(text(part)) for part in parts):
        return Filled()
    slugs, is_parsed, names, of_libraries = frozenset[str](), False, set[str](), set[str]()
    for file in Program(path, project).files:
        for node in _parsed_in(file):
            found = frameworks_of(node, file, project)
            is_parsed = is_parsed or found is not None
            slugs |= found or frozenset()
            name = qualified(node, syntax_tree(file).names).rpartition(".")[2]
            names.add(name)
            if _is_of_library(node, file, project, _MOST_STEPS):
                of_libraries.add(name)
    return Filled(slugs, is_parsed, frozenset(names), frozenset(of_libraries))


def _is_of_library(node: ast.expr, file: ParsedPython, project: Recording, steps: int) -> bool:
    """True for a class of a library that no table describes, and for one that extends it."""
    name = last_name(node)
    if not steps or not name or name in _PLAIN_BASES:
        return False
    if called(qualified(node, syntax_tree(file).names).rpartition(".")[2]):
        return False
    paths = project.python_sources_matching(rf"(?m)^class[ \t]+{re.escape(name)}\b".encode())
    home = project.module(paths[0]) if len(paths) == 1 else None
    if home is None:
        return not paths
    owners = (each for each in home.tree.body if isinstance(each, ast.ClassDef))
    owner = next((each for each in owners if each.name == name), None)
    bases = owner.bases if owner is not None else ()
    return any(_is_of_library(base, home, project, steps - 1) for base in bases)


def _parsed_in(file: ParsedPython) -> Iterator[ast.expr]:
    """The classes that the parsers of a file fill."""
    if not _MENTIONED.search(file.text.text):
        return
    names = syntax_tree(file).names
    for node in file.nodes:
        if not isinstance(node, ast.Call):
            continue
        is_parser = _PARSERS.fullmatch(callee_name(node)) is not None
        if is_parser or qualified(node.func, names) in _FILLING:
            yield from classes_given(node, file)


def classes_given(parser: ast.Call, file: ParsedPython) -> Iterator[ast.expr]:
    """The classes that a parser is made for."""
    named = (each.value for each in parser.keywords if each.arg in _NAMED)
    for given in (*parser.args[:1], *named):
        yield from _classes(given, file)


def _classes(given: ast.expr, file: ParsedPython) -> Iterator[ast.expr]:
    match given:
        case ast.Tuple(elts=items) | ast.List(elts=items):
            yield from items
        case ast.Name(id=name) if not name[:1].isupper() or name.isupper():  # `TYPES = (A, B)`
            syntax = syntax_tree(file)
            function = syntax.function(given)
            stores = [*syntax.stores(function, name)] if function is not None else []
            for store in stores or syntax.stores(syntax.tree, name):
                match syntax.parent(store):
                    case ast.Assign(value=ast.Tuple(elts=items) | ast.List(elts=items)):
                        yield from items
        case ast.Name() | ast.Attribute():
            yield given


def _of_class(
    node: ast.expr, file: ParsedPython, project: Recording, steps: int
) -> frozenset[str] | None:
    name = dotted(node)
    if not name or not steps:
        return None
    for statement in file.tree.body:
        match statement:
            case ast.ClassDef() if statement.name == name:
                return _of_bases(statement, file, project, steps)
            case ast.Assign(targets=[ast.Name(id=other)], value=value) if other == name:
                return _of_class(value, file, project, steps - 1)
    return _of_imported(node, file, project, steps)


def _of_bases(
    owner: ast.ClassDef, file: ParsedPython, project: Recording, steps: int
) -> frozenset[str]:
    """The frameworks of what a class extends: `class SFTConfig(SFTConfig)` extends an import."""
    found = [
        _of_imported(base, file, project, steps - 1)
        if dotted(base) == owner.name
        else _of_class(base, file, project, steps - 1)
        for base in owner.bases
    ]
    return frozenset[str]().union(*(each for each in found if each))


def _of_imported(
    node: ast.expr, file: ParsedPython, project: Recording, steps: int
) -> frozenset[str] | None:
    path = qualified(node, syntax_tree(file).names)
    module, _, own = path.rpartition(".")
    library = module.partition(".")[0]
    if copied := frozenset(each.slug for each in called(path) if each.library == library):
        return copied  # also where the project holds a copy of the library
    home = project.locate(file.text.path, module) if module else None
    if home is None:
        slugs = frozenset(each.slug for each in called(path)) if module else frozenset[str]()
        return slugs or (_of_only(last_name(node), project, steps) if not module else None)
    if copied := frozenset(each.slug for each in called(own) if each.library in home.parts):
        return copied  # by a relative import within the copy
    other = project.module(home)
    if other is None or other is file:
        return None
    found_there = _of_class(ast.Name(own), other, project, steps - 1)
    return found_there if found_there is not None else _of_only(own, project, steps)


def _of_only(name: str, project: Recording, steps: int) -> frozenset[str] | None:
    """The frameworks of the only class of the project with a name, which `import *` may bring."""
    paths = project.python_sources_matching(rf"(?m)^class {re.escape(name)}\b".encode())
    file = project.module(paths[0]) if len(paths) == 1 else None
    if file is None:
        return None
    for statement in file.tree.body:
        if isinstance(statement, ast.ClassDef) and statement.name == name:
            return _of_bases(statement, file, project, steps)
    return None
