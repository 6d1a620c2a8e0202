"""Whether a program may run in a backend that has float32 weights and scales by itself."""

from __future__ import annotations

import re

from precision_lint.facts.context import PythonFile
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex

_BACKENDS = (
    rb"(?i:--(?:use_)?(?:deepspeed|fsdp)(?![\w-])|--(?:fsdp_|zero)|config_file"
    rb"|\$[{]?\w*(?:deepspeed|fsdp|zero[_-]?[123])"
    rb"|[\w./-]*(?:deepspeed|fsdp|zero[_-]?[123])[\w./-]*\.(?:ya?ml|json))"
)
"""Words of commands that choose one. What `accelerate launch --config_file` reads may, too; the
launcher `deepspeed` only starts processes.
"""
_IN_COMMENT = regex(
    r"^[^\n]*(?:accelerate\s+launch|--(?:use_)?(?:deepspeed|fsdp)(?![\w-]))[^\n]*$", re.MULTILINE
)
"""A command that may choose one, in a comment or a docstring."""
_ROWS = rb"(?:[^\n\\]|\\[ ]*\n?)*?"
"""The beginning of a row, and of the rows that a backslash adds to it."""
_NAMED = r"(?i)deepspeed|fsdp|fullysharded|zero_stage|megatron"
_STARTS = rb"(?:\bpython3?|\btorchrun|\baccelerate\s+launch)\b[^\n]*\b%s\.py\b"
_PLAIN = (
    rb"(?m)^(?![^\n]*(?:accelerate|torchrun|%s))[^\n#]*\bpython3?[ ]+(?:-u[ ]+)?"
    rb"(?:[\w./-]*\b%%s\.py|-m[ ]+[\w.]*\b%%s)(?![\w.])" % _BACKENDS
)


@fact
def has_command_with_backend(file: PythonFile) -> bool:
    """True if a comment or a docstring has a command with a backend."""
    said = (found.group() for found in _IN_COMMENT.finditer(file.text.text))
    return any(re.search(_NAMED, row) is not None for row in said)


@fact
def is_started_with_backend(file: PythonFile) -> bool:
    """True if a command of a script, a configuration or a page names a file and a backend, or one
    in the file itself has a backend.
    """
    if has_command_with_backend(file):
        return True
    name = rb"\b" + re.escape(file.text.path.name).encode()
    pattern = rb"(?m)^(?=%s%s)%s%s" % (_ROWS, _BACKENDS, _ROWS, name)
    return file.project.other_file_matches(pattern) or file.project.page_matches(pattern)


@fact
def may_run_in_backend(file: PythonFile) -> bool:
    """False for a program that a command starts, in a project that never names a backend.

    An Accelerator runs in one that its user configures, so nothing in the program has to name it.
    """
    if names_backend(file):
        return True
    project, path = file.project, file.text.path
    starts = _STARTS % re.escape(path.stem).encode()
    return not (project.page_matches(starts) or project.other_file_matches(starts))


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
    stem = re.escape(file.text.path.stem).encode()
    pattern = _PLAIN % (stem, stem)
    return file.project.page_matches(pattern) or file.project.other_file_matches(pattern)
