"""What can be asked of a project, and how a question is written down and asked again.

A question is a tuple of a name and arguments; here every name has the function that answers it. An
answer is compared by a digest, which says no more of it than that it is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from precision_lint.facts.origin import Setting
from precision_lint.model.trace import Question
from precision_lint.project import disk
from precision_lint.project.contents import digest_of


class Dependency(NamedTuple):
    """A question as it is written down, and a digest of its answer."""

    question: str
    digest: str


ANSWERS: Mapping[str, Callable[..., Any]] = {
    # The run
    "reports": lambda facts, path: facts.project.reports(path),
    "target_gpu": lambda facts: facts.project.target_gpu,
    "helper_module": lambda facts: facts.project.helper_module,
    # The disk
    "read": lambda facts, path: facts.contents.digest(path),
    "is_file": lambda facts, path: disk.is_file(path),
    "is_folder": lambda facts, path: disk.is_folder(path),
    "names_in": lambda facts, folder: disk.names_in(folder),
    # Versions and style
    "version_of": lambda facts, library: facts.project.version_of(library),
    "release_of": lambda facts, library: facts.project.release_of(library),
    "lowest_version_of": lambda facts, library, near: facts.project.lowest_version_of(
        library, near
    ),
    "torch_needed_with": lambda facts, path: facts.torch_needed_with(path),
    "torch_of_python_needed_with": lambda facts, path: facts.torch_of_python_needed_with(path),
    "import_style": lambda facts, path: facts.project.import_style(path),
    # Evidence and settings
    "half_precision": lambda facts, path: facts.half_precision(path),
    "float16": lambda facts, path: facts.float16(path),
    "bfloat16": lambda facts, path, how: facts.bfloat16(path, how),
    "concerns": lambda facts, source, path: facts.concerns(source, path),
    "bfloat16_weights": lambda facts: facts.bfloat16_weights,
    "setting": lambda facts, path, near: facts.configured.setting(path, near),
    "variable": lambda facts, name, near: facts.configured.variable(name, near),
    # Configuration files
    "find": lambda facts, *place: facts.config_files.found(*place),
    "ending": lambda facts, name: facts.config_files.ending(name),
    "referring": lambda facts, name: facts.config_files.paths_referring(name),
    "named_in_python": lambda facts, name: facts.config_files.python_naming(name),
    "named_in_pages": lambda facts, name: facts.config_files.pages_naming(name),
    "composes_settings": lambda facts, path: facts.config_files.composes_settings(path),
    # Python files
    "module": lambda facts, path: facts.modules.at(path),
    "locate": lambda facts, folder, name: facts.imports.locate(folder, name),
    "offers": lambda facts, path, name: facts.imports.offers(path, name),
    "documents": lambda facts, path, name: facts.documents.naming(path, name),
    "examples": lambda facts, path: facts.documents.programs(path),
    "importing": lambda facts, path, name, number: facts.imports.importer(path, name, number),
    "may_hand": lambda facts, path, name: facts.may_hand(path, name),
    "assigning": lambda facts, attribute: facts.imports.assigning(attribute),
    "casting": lambda facts, attribute: facts.imports.casting(attribute),
    "calling": lambda facts, method: facts.imports.calling(method),
    "defining": lambda facts, function: facts.imports.defining(function),
    "program": lambda facts, path: facts.imports.program(path),
    "is_alone": lambda facts: len(facts.project.python_files) < 2,
    "users": lambda facts, path: sorted(facts.imports.users(path)),
    "uses": lambda facts, user, path: facts.uses(user, path),
    "runs_with": lambda facts, other, path: facts.runs_with(other, path),
    "stop": lambda facts, path: facts.stop(path),
    "is_for_others": lambda facts, path: facts.is_for_others(path),
    "is_unreached": lambda facts, path: facts.is_unreached(path),
    "reaches": lambda facts, program, pattern: facts.reaches(program, pattern),
    "python_source_matches": lambda facts, pattern: facts.python_source_matches(pattern),
    "python_sources_matching": lambda facts, pattern: facts.python_sources_matching(pattern),
    "page_matches": lambda facts, pattern: facts.page_matches(pattern),
    "other_file_matches": lambda facts, pattern: facts.other_file_matches(pattern),
    "rows_naming": lambda facts, name: facts.rows_naming(name),
}
"""The functions that answer a question, by its name."""

OF_CONTENT = frozenset({"read", "module", "examples"})
"""Questions about the content of one file, the first argument."""
OF_NAMES = frozenset({"locate", "find", "ending", "is_file", "is_folder", "names_in"})
"""Questions about which files there are, and about no content."""
OF_THE_RUN = frozenset({"reports", "target_gpu", "helper_module"})
"""Questions about what was asked for, and not about files."""


FOUND_BY_NAME = frozenset({"modules\n", "top\n"})
"""The keys of records that name files: which ones these are depends on the names in folders."""
_IMPORTS = ("imports\n", "modules\n")
_SETTINGS = ("settings\n", "fields\n", "imported\n")


def records_of(question: Question) -> tuple[str, ...] | None:
    """The keys of the records that an answer follows from; None if it follows from more."""
    match question:
        case ("program" | "users" | "uses" | "runs_with", *_):
            return _IMPORTS
        case ("documents", _, _):
            return ("shown\n", "evidence\n", *_IMPORTS)
        case ("offers", _, _):
            return ("top\n",)
        case ("importing", _, name, _):
            return ("imports\n", f"has word\n{name}")
        case ("may_hand", _, name):
            return (f"may hand\n{name}",)
        case ("assigning" | "casting" | "calling" | "defining", _):
            return ("imports\n", "words\n")
        case ("bfloat16_weights",):
            return ("evidence\n",)
        case ("bfloat16" | "concerns", *_):
            return ("evidence\n", *_IMPORTS)
        case ("setting" | "variable", *_):
            return _SETTINGS
        case ("python_source_matches" | "page_matches" | "other_file_matches", pattern):
            return (f"matches\n{pattern.decode('latin-1')}",)
        case ("rows_naming", name):
            return (f"rows\n{name}",)
        case ("python_sources_matching", pattern):
            return ("imports\n", f"matches\n{pattern.decode('latin-1')}")
        case ("reaches", _, pattern):
            return (*_IMPORTS, f"matches\n{pattern.encode().decode('latin-1')}")
        case ("torch_needed_with", _):
            return (*_IMPORTS, "torch\n")
        case ("torch_of_python_needed_with", _):
            return (*_IMPORTS, "python\n")
        case ("referring", _):
            return ("references\n",)
        case ("named_in_python" | "named_in_pages", name):
            return (f"names\n{name}",)
        case ("composes_settings", _):
            return ("composed\n",)
    return None


def digest_of_answer(answer: object) -> str:
    """A short string that differs for answers that differ."""
    return digest_of(_written(answer).encode("utf-8", "surrogatepass"))


def _written(answer: object) -> str:
    match answer:
        case frozenset():
            return repr(sorted(answer))
        case Setting(choices=choices):
            # The whole text of a file counts, too: rules look around the place.
            said = [(each.value, each.origin) for each in choices]
            return repr([(value, origin.related, origin.source.text) for value, origin in said])
    return repr(answer)


# Writing down


def written(question: Question) -> str:
    """A question as a line of text."""
    import json  # which a run without a store need not load

    name, *arguments = question
    return json.dumps([name, *map(_encoded, arguments)], separators=(",", ":"))


def name_of(line: str) -> str:
    """The name of the question that a line of text is: most are about names alone."""
    _, name, *_ = line.split('"', 2)
    return name


def asked(line: str) -> Question:
    """The question that a line of text is.

    Raises:
        ValueError: it is none.
    """
    import json

    match json.loads(line):
        case [str(name), *arguments] if name in ANSWERS:
            return (name, *map(_decoded, arguments))
    raise ValueError(line)


def _encoded(argument: object) -> object:
    match argument:
        case None | str() | int():
            return argument
        case Path():
            return {"path": str(argument)}
        case bytes():
            return {"bytes": argument.decode("latin-1")}
        case tuple():
            return [_encoded(each) for each in argument]
    raise TypeError(argument)


def _decoded(argument: object) -> object:
    match argument:
        case None | str() | int():
            return argument
        case {"path": str(path)}:
            return _path(path)
        case {"bytes": str(text)}:
            return text.encode("latin-1")
        case [*parts]:
            return tuple(_decoded(each) for each in parts)
    raise ValueError(argument)


@lru_cache(maxsize=1 << 16)
def _path(text: str) -> Path:
    """A path: most questions are about a few of them."""
    return Path(text)
