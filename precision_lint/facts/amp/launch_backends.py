"""Whether a program may run in a backend that has float32 weights and scales by itself."""

from __future__ import annotations

import re

from precision_lint.facts.context import PythonFile
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.syntax_tree import syntax_tree

_BACKENDS = regex(
    r"(?i)--(?:use_)?(?:deepspeed|fsdp)(?![\w-])|--(?:fsdp_|zero)|config_file"
    r"|\$[{]?\w*(?:deepspeed|fsdp|zero[_-]?[123])"
    r"|(?:deepspeed|fsdp|zero[_-]?[123])[\w./-]*\.(?:ya?ml|json)"
)
"""Words of commands that choose one. What `accelerate launch --config_file` reads may, too; the
launcher `deepspeed` only starts processes.
"""
_IN_COMMENT = regex(
    r"^[^\n]*(?:accelerate\s+launch|--(?:use_)?(?:deepspeed|fsdp)(?![\w-]))[^\n]*$", re.MULTILINE
)
"""A command that may choose one, in a comment or a docstring."""
_NAMED = r"(?i)deepspeed|fsdp|fullysharded|zero_stage|megatron"
_STARTED = r"\b(?:python3?|torchrun|accelerate\s+launch)\b.*\b%s\.py\b"
_STARTED_BY_PYTHON = (
    r"^[^#]*\bpython3?[ ]+(?:-u[ ]+)?(?:[\w./-]*\b%s\.py|-m[ ]+[\w.]*\b%s)(?![\w.])"
)
_OTHER_LAUNCHERS = regex(r"accelerate|torchrun")


@fact
def has_command_with_backend(file: PythonFile) -> bool:
    """True if a comment or a docstring has a command with a backend; the call that declares the
    option is none.
    """
    declared = [file.span_of(call) for call in syntax_tree(file).calls("add_argument")]
    return any(
        re.search(_NAMED, found.group()) is not None
        and not any(span.start < found.end() and found.start() < span.end for span in declared)
        for found in _IN_COMMENT.finditer(file.text.text)
    )


@fact
def is_started_with_backend(file: PythonFile) -> bool:
    """True if a command of a script, a configuration or a page names a file and a backend, or one
    in the file itself has a backend.
    """
    if has_command_with_backend(file):
        return True
    rows = file.project.rows_naming(file.text.path.name)
    return any(_BACKENDS.search(row) is not None for row in rows)


@fact
def may_run_in_backend(file: PythonFile) -> bool:
    """False for a program that a command starts, in a project that never names a backend.

    An Accelerator runs in one that its user configures, so nothing in the program has to name it.
    """
    if names_backend(file):
        return True
    path = file.text.path
    started = re.compile(_STARTED % re.escape(path.stem))
    return not any(started.search(row) for row in file.project.rows_naming(path.name))


@fact
def names_backend(file: PythonFile) -> bool:
    """True if a program, or a script, a configuration or a page of its project names a backend."""
    project, named = file.project, _NAMED.encode()
    is_in_code = project.reaches(file.text.path, _NAMED)
    return is_in_code or project.other_file_matches(named) or project.page_matches(named)


@fact
def accelerator_may_run_in_backend(file: PythonFile) -> bool:
    """The same for a program whose Accelerator prepares what it trains.

    Started with Python alone, it has no backend but one that the program makes: what `accelerate
    config` wrote is read by `accelerate launch`, which hands it on in variables of the environment.
    """
    if not may_run_in_backend(file):
        return False
    return file.project.reaches(file.text.path, _NAMED) or not _is_started_by_python(file)


def _is_started_by_python(file: PythonFile) -> bool:
    stem = re.escape(file.text.path.stem)
    by_python = re.compile(_STARTED_BY_PYTHON % (stem, stem))
    return any(
        by_python.search(row) is not None
        and _OTHER_LAUNCHERS.search(row) is None
        and _BACKENDS.search(row) is None
        for row in file.project.rows_naming(file.text.path.stem)
    )
