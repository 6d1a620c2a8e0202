"""Whether a program loads configurations of a format: code that it runs does, or a library for it.

A module for input and output may define a function that loads YAML, for other programs than the one
that imports the module to read JSON.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.formats import yacs
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import innermost_name
from precision_lint.source.python.syntax_tree import syntax_tree

_OF_MONAI = r"ConfigParser\.load_config_files?\("
_READING = r"\.read_config\("
_LOADERS = {
    "json": r"\b(?:json\.loads?\(|from_(?:json|file)\(|(?:load|read)_json\w*\(|parse_json_file\("
    rf"|{_OF_MONAI})|{_READING}",
    "yaml": r"\b(?:yaml\.(?:safe_|full_|unsafe_)?load\(|OmegaConf\.load\(|YAML\(|hydra\.main\b"
    r"|load_hyperpyyaml\(|from sconf import|compose\(|Serializable\b|from_(?:yaml|file)\("
    rf"|(?:load|read)_yaml\w*\(|parse_yaml_file\(|parse_args_and_config\(|H4ArgumentParser\(|{_OF_MONAI})|{_READING}|{yacs.MERGING}",
    "toml": r"\btoml(?:i|lib)?\.loads?\(",
}
"""The alternatives share one test for the start of a word: with a test in each of them, a search
takes four to eight times as long.
"""
_LIBRARIES = (
    r"\b(?:pydantic_settings|BaseSettings|pydantic_yaml|jsonargparse|simple_parsing|pyrallis|draccus"
    r"|confz|configargparse|dynaconf|sacred|yacs|anyconfig|argbind|gin|HfArgumentParser|TrlParser"
    r"|LightningCLI|fastargs)\b|\bConfig\.fromfile\("
)
"""Libraries that read files for a program."""
_PLAIN = frozenset({
    "staticmethod", "classmethod", "property", "cached_property", "lru_cache", "cache", "wraps",
})  # fmt: skip
"""Decorators that leave it to the program to call a function."""

FORMATS = frozenset(_LOADERS)


def loads(parts: Sequence[Path], format: str, project: Recording) -> bool:
    """True if code of a program that may run loads such files."""
    for part in parts:
        for names in _loading(part, format, project):
            if not names or any(_is_used(name, parts, project) for name in names):
                return True
    return False


def has_library(parts: Sequence[Path], project: Recording) -> bool:
    """True if a program uses a library that may load files for it."""
    return any(_has_library(part, project) for part in parts)


def _has_library(path: Path, project: Recording) -> bool:
    files = project.config_files
    return files.once(
        ("has library", path), lambda: re.search(_LIBRARIES, files.text(path)) is not None
    )


def mentions_loading(path: Path, format: str, project: Recording) -> bool:
    """True for a file with code that loads such files, whether that runs or not."""
    return bool(_loading(path, format, project))


def _loading(path: Path, format: str, project: Recording) -> tuple[frozenset[str], ...]:
    """For each place of a file that loads: the names by which the code around it is used; none for
    code that runs when the file does, or that a library calls.
    """
    return project.config_files.once(
        ("loads", format, path), lambda: tuple(dict.fromkeys(_found(path, format, project)))
    )


def _found(path: Path, format: str, project: Recording) -> Iterator[frozenset[str]]:
    text = project.config_files.text(path)
    matches = [*re.finditer(_LOADERS[format], text)]
    file = project.module(path) if matches else None
    for match in matches:
        line = text.count("\n", 0, match.start()) + 1
        yield _used_by(line, file) if file is not None else frozenset()


def _used_by(line: int, file: ParsedPython) -> frozenset[str]:
    """The names by which the function around a line is used."""
    around = [
        node
        for node in file.nodes
        if isinstance(node, FunctionDefinition) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    if not around:
        return frozenset()
    function = max(around, key=lambda node: node.lineno)
    if any(innermost_name(each) not in _PLAIN for each in function.decorator_list):
        return frozenset()
    owner = syntax_tree(file).parent(function)
    if not isinstance(owner, ast.ClassDef):
        return frozenset({function.name})
    is_dunder = function.name.startswith("__")
    names = {owner.name} if is_dunder or owner.bases else set()
    return frozenset(names if is_dunder else names | {function.name})


def _is_used(name: str, parts: Sequence[Path], project: Recording) -> bool:
    """True if code of a program calls something, or hands it on."""
    pattern = rf"(?<!def )(?<!class )\b{name}\s*\(|\.{name}\b|[=(]\s*{name}\b"
    return any(
        name in (text := project.config_files.text(part)) and re.search(pattern, text) is not None
        for part in parts
    )
