"""The keys of a file that its programs leave out: they take the others one by one.

`SFTConfig(bf16=section["bf16"])` gets nothing else of a section. A file with the keys of a
framework says nothing to it by a key that its programs never mention, or that they overwrite.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

from precision_lint.facts.frameworks.families import family, is_of_classes
from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.recognition import called
from precision_lint.facts.frameworks.sources import MappingSource, Occurrence
from precision_lint.facts.frameworks.table import Framework
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.code.filled_classes import filled_by
from precision_lint.facts.runs.code.replaced import put_in_place
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.runs.readers.readers import candidates, readers
from precision_lint.facts.runs.written.keys import parts_of, words_of
from precision_lint.model.regex import regex
from precision_lint.source.python.syntax import callee_name

_HANDING = regex(
    r"\bsetattr\(|\binstantiate\(|\b__dict__\b|\bfrom_argparse_args\(|\bLightningCLI\b"
)
"""How a program gives a framework keys that it does not write."""


def left_out(reading: EffectiveConfig, project: Recording) -> frozenset[str]:
    """The keys of a framework that no program of a file takes from it, or that all overwrite."""
    framework, source = reading.framework, reading.source
    if not isinstance(source, MappingSource) or not is_of_classes(framework):
        return frozenset()
    file = source.file
    if file.python is not None or file.around is not None:
        return frozenset()
    overwritten = _overwritten(readers(file, project), reading, project)
    programs = readers(file, project) or candidates(file, project)
    if not programs or not all(_takes_one_by_one(each, framework, project) for each in programs):
        return overwritten
    words = frozenset[str]().union(
        *(words_of(parts_of(each, project), project) for each in programs)
    )
    return overwritten.union(
        name for name, key in framework.keys.items() if words.isdisjoint((key.name, *key.aliases))
    )


def _overwritten(
    programs: Sequence[Path], reading: EffectiveConfig, project: Recording
) -> frozenset[str]:
    """The keys in whose place all programs of a file certainly put something else:
    `args.bf16 = torch.cuda.is_bf16_supported()`.
    """
    known = [Program(each, project) for each in programs]
    return frozenset(
        name
        for name, key in reading.framework.keys.items()
        if key.role != "other" and known
        if all(_puts_another(name, reading.source.get(name), each) for each in known)
    )


def _puts_another(name: str, written: Occurrence | None, program: Program) -> bool:
    """True if a program puts something else in place of a key, and not what the file says."""
    found = put_in_place(name, program)
    if found is None:
        return False
    match found[0].value:
        case ast.Constant(value=value) if written is not None:
            return bool(value != written.value)
    return True


def _takes_one_by_one(program: Path, framework: Framework, project: Recording) -> bool:
    """True for a program that calls classes of a framework, and writes each argument."""
    if filled_by(program, project).is_parsed:
        return False
    parts = parts_of(program, project)
    if any(_HANDING.search(project.config_files.text(part)) for part in parts):
        return False
    slugs = frozenset(each.slug for each in family(framework))
    calls = [*_calls(parts, slugs, project)]
    return bool(calls) and not any(_is_open(call) for call in calls)


def _calls(parts: Sequence[Path], slugs: frozenset[str], project: Recording) -> Iterator[ast.Call]:
    for file in filter(None, map(project.module, parts)):
        for node in file.nodes:
            if isinstance(node, ast.Call):
                found = called(callee_name(node))
                if any(each.slug in slugs for each in found):
                    yield node


def _is_open(call: ast.Call) -> bool:
    """True for a call with arguments that are not written out."""
    is_starred = any(isinstance(each, ast.Starred) for each in call.args)
    return is_starred or any(each.arg is None for each in call.keywords)
