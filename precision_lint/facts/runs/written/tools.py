"""The tools that commands give a file to, which are no programs of the project.

`vllm serve --config serve.yaml`: the file is for vLLM, whatever programs read the same keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from precision_lint.facts.frameworks.launches import Launch, launch
from precision_lint.facts.frameworks.recognition import program_of
from precision_lint.facts.project.facts import Recording
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.shell.words import UNKNOWN

_LOOKING = frozenset({
    "yq", "jq", "sops", "envsubst", "yamllint", "prettier", "dvc", "make", "export", "set",
    "source",
})  # fmt: skip
"""Tools that look at a file, or hand it on."""
_MOST = 64


def tools_given(path: Path, project: Recording) -> tuple[str, ...]:
    """The tools that scripts and documents start with the name of a file."""
    return project.config_files.once(
        ("tools given", path), lambda: tuple(dict.fromkeys(_found(path, project)))
    )


def _found(path: Path, project: Recording) -> Iterator[str]:
    files = project.config_files
    for script in files.scripts_naming(path):
        for each in script.with_embedded:
            for started in filter(None, map(launch, each.commands[:_MOST])):
                if _is_tool(started, each, project) and any(
                    files.find(word.text.rpartition("=")[2], each.text.path, started.directory)
                    == path
                    for word in started.words
                    if word.text.endswith(path.name)
                ):
                    yield started.program


def _is_tool(started: Launch, file: ParsedConfig, project: Recording) -> bool:
    program = started.program
    first = file.text[started.span].partition(" ")[0]
    if UNKNOWN in program or "/" in program + first or program.endswith((".py", ".sh")):
        return False
    is_looking = program.partition(" ")[0] in _LOOKING
    return not is_looking and program_of(started, file, project) is None
