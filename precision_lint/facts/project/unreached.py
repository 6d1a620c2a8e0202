"""Modules that no program of a project imports, directly or by others, and that nothing names.

No run that the project offers comes to them. A project that is packaged is for others to import,
unless its pages show nobody how: much research code is packaged for its own programs alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from precision_lint.facts.project.imports import Imports
from precision_lint.project import disk
from precision_lint.project.copies import PACKAGING
from precision_lint.project.files import Project

RUNS = (
    rb"(?m)^(?:if __name__\b|(?:for|with|while) "
    rb"|(?!(?:class|def|if|elif|print)\b)[A-Za-z_][\w.]*\("
    rb"|@\w+\.(?:cls|command|flow|function|get|group|job|local_entrypoint|main|post|remote|route|task)\b)"
)
"""What a program does at its top level: its main part, a loop, a call, or a part that a tool starts
by its decorator, as `modal run` and `ray job` do."""

_PACKAGED = rb"(?m)^\[(?:project|build-system|tool\.poetry)\]|\bsetup\("

_OF_OTHERS = rb"(?:diffusers|mmcv|timm|torch|torchaudio|torchvision|transformers)\b"
_IMPORTING = (
    rb"\b(?:import_module|__import__)\(\s*(?!f?[\"']" + _OF_OTHERS + rb")"
    rb"|\b(?:walk_packages|iter_modules)\(\s*(?!" + _OF_OTHERS + rb")|\bspec_from_file_location\("
)
"""How a program imports modules of its own whose names it works out."""

Matching = Callable[[Path, bytes], bool]
"""Whether a file holds what a regular expression matches."""


def is_unreached(path: Path, project: Project, imports: Imports, matches: Matching) -> bool:
    """True for a module of a project of programs that none of them imports, and nothing names."""
    own = [each for each in project.python_files if not project.is_secondary(each)]
    programs = [each for each in own if matches(each, RUNS)]
    if not programs or not imports.above(path).isdisjoint(programs):
        return False
    return not may_be_used_otherwise(path, project, imports, matches)


def may_be_used_otherwise(
    path: Path, project: Project, imports: Imports, matches: Matching
) -> bool:
    """True if more than the imports of programs may lead to a module: its name, for example."""
    own = [each for each in project.python_files if not project.is_secondary(each)]
    return (
        is_for_others(path, project, matches)
        or any(matches(each, _IMPORTING) for each in own)
        or _is_named(path, project, imports, matches)
    )


def is_for_others(path: Path, project: Project, matches: Matching) -> bool:
    """True if a folder around a module is a distribution that others install."""
    inside = len(path.relative_to(project.root).parts)
    folders = [
        folder
        for folder in path.parents[:inside]
        if any(
            disk.is_file(folder / name) and matches(folder / name, _PACKAGED) for name in PACKAGING
        )
    ]
    return any(_is_shown_to_others(path, folder, project, matches) for folder in folders)


def _is_shown_to_others(path: Path, folder: Path, project: Project, matches: Matching) -> bool:
    """True if a page shows an import of the package, or its installation by a name.

    Without pages nothing is known of who uses it.
    """
    inside = [part for part in path.relative_to(folder).parts if part != "src"]
    package = inside[0].removesuffix(".py")
    name = "[-_.]".join(map(re.escape, re.split("[-_.]", package))).encode()
    shown = rb"\b(?:import|from)\s+%b\b|\b(?:install|add)\b[^\n]*\b%b\b" % (name, name)
    pages = [*project.pages]
    return not pages or any(matches(each, shown) for each in pages)


def _is_named(path: Path, project: Project, imports: Imports, matches: Matching) -> bool:
    """True if a page, a script, a configuration, a notebook or a text in code names a module.

    So it is if the module says how it is run: `modal run deploy/train.py`.
    """
    name = (path.parent if path.stem == "__init__" else path).stem.encode()
    word, text = rb"\b%b\b" % name, rb"""["'][^"'\n]*\b%b\b""" % name
    if matches(path, rb"\b%b\.py\b" % name):
        return True
    others = [each for each in (*project.files, *project.pages) if each.suffix != ".py"]
    above = imports.above(path)
    return any(matches(each, word) for each in others) or any(
        matches(each, text) for each in project.python_files if each not in above
    )
