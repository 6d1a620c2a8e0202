"""Short ways to read a configuration in a test."""

from __future__ import annotations

from pathlib import Path

from precision_lint.engine.registry import module, rules
from precision_lint.facts.context import ConfigFile
from precision_lint.model.finding import Applicability, Finding
from precision_lint.model.searched import Searched
from precision_lint.source.config.options import Option, options
from precision_lint.source.config.settings_tree import Mapping, Opaque, Scalar, Sequence, Value
from precision_lint.source.shell.commands import Command
from precision_lint.source.shell.parse import Script
from precision_lint.source.text.text import SourceText
from tests.context import config_file, recording


def config(text: str | bytes, format: str) -> ConfigFile:
    content = text.encode() if isinstance(text, str) else text
    source = SourceText.from_bytes(Path(f"case.{format}"), content)
    return config_file(source, format, recording(Path("."), ()))


def shell(text: str | bytes) -> Script:
    script = config(text, "shell").script
    assert script is not None
    return script


def variables(text: str | bytes) -> dict[str, str]:
    return {name: value.text.chars for name, value in shell(text).variables.items()}


def commands(text: str | bytes) -> list[list[str]]:
    return [[word.text for word in command.words] for command in shell(text).commands]


def script_options(command: Command) -> list[Option]:
    """The options of the Python program that a command starts, without those of its launcher."""
    names = [word.text for word in command.words]
    program = next((at for at, name in enumerate(names) if name.endswith(".py")), len(names))
    return list(options(command.words[program + 1 :]))


def plain(value: Value) -> object:
    """The Python objects that a loader would build; opaque values as `...`."""
    match value:
        case Scalar():
            return value.value
        case Sequence():
            return [plain(item) for item in value.items]
        case Mapping():
            return {entry.name: plain(entry.value) for entry in value.entries}
        case Opaque():
            return ...


def only(file: ConfigFile) -> object:
    (document,) = file.documents
    return plain(document)


def mapping(file: ConfigFile) -> Mapping:
    (document,) = file.documents
    assert isinstance(document, Mapping)
    return document


def findings(file: ConfigFile) -> list[Finding]:
    """What the rules about configurations say, where their triggers let them."""
    content = file.text.to_bytes()
    found: list[Finding] = []
    for rule in rules():
        if "check_config" in rule.hooks and rule.wants(Searched(content)):
            found += module(rule).check_config(file)
    return found


def fixed(file: ConfigFile, level: Applicability = Applicability.SAFE) -> str:
    """The text after the fixes of all findings."""
    edits = [
        edit
        for finding in findings(file)
        if finding.fix and finding.fix.applicability >= level
        for edit in finding.fix.edits
    ]
    text = file.text.text
    for edit in sorted(edits, key=lambda edit: edit.span, reverse=True):
        text = text[: edit.span.start] + edit.content + text[edit.span.end :]
    return text
