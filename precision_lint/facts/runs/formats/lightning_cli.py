"""What `LightningCLI` gives to its Trainer: words of the command line over files over defaults.

The files are those of `--config` after the subcommand, and jsonargparse takes what comes last
(lightning 2.6, jsonargparse 4.53): words before a file are not followed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.sources import CallSource, Occurrence, typed
from precision_lint.facts.frameworks.table import Framework, frameworks
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.interpreter.known import Given, Holder, Known, Layers, Settings
from precision_lint.facts.runs.interpreter.reachable import may_run
from precision_lint.source.config.options import options
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import last_name
from precision_lint.source.shell.words import UNKNOWN

CLI = "LightningCLI"
_SECTION = "trainer"
_SUBCOMMANDS = frozenset({"fit", "validate", "test", "predict"})


def readings_of_cli(run: RunEnvironment) -> Iterator[EffectiveConfig]:
    """The Trainer of a program that leaves its arguments to Lightning's command line."""
    called = _called(run)
    if called is None or run.launch is None:
        return
    file, call = called
    code = run.program.project.config_files.at(file.text.path)
    settings = _settings(run)
    if (
        code is None
        or settings is None
        or any(each.arg == "trainer_defaults" for each in call.keywords)
    ):
        return
    framework = frameworks()["lightning"]
    given = dict(_given(framework, settings))
    if given:
        place = file.span_of(call)
        source = CallSource(run.file, run.launch.span, run.launch, given, code, place)
        yield EffectiveConfig(framework, source, is_open=True)


def _called(run: RunEnvironment) -> tuple[ParsedPython, ast.Call] | None:
    """The one call of the class, or of a class of the program that extends it."""
    found = list(run.program.calls(CLI))
    for file in run.program.files:
        for node in file.nodes if CLI in file.text.text else ():
            if isinstance(node, ast.ClassDef) and any(
                last_name(each) == CLI for each in node.bases
            ):
                found += run.program.calls(node.name)
    reached = [(file, call) for file, call in found if may_run(call, file, run.program)]
    return reached[0] if len(reached) == 1 else None


def _settings(run: RunEnvironment) -> Holder | None:
    """The section of the Trainer; None if some of it is not known."""
    launch = run.launch
    assert launch is not None
    words = launch.words
    if not words or words[0].text not in _SUBCOMMANDS or run.has_unknown_words:
        return None
    layers: list[Holder] = []
    own: dict[str, Known | None] = {}
    for option in options(words):
        section, _, name = option.name.partition(".")
        if option.name in ("config", f"{words[0].text}.config"):
            settings = run.settings(option.text, run.program.path) if option.value else None
            if settings is None or own:
                return None
            layers.insert(0, settings)
        elif option.name == _SECTION:
            return None
        elif section == _SECTION:
            written = Occurrence(name, typed(option.value), option, run.file)
            own[name] = Known(written.value, written) if UNKNOWN not in option.text else None
    sections = [known.value for each in layers if (known := each.get(_SECTION)) is not None]
    files = [each for each in sections if isinstance(each, Settings)]
    return Layers((Given(own), *files)) if len(files) == len(sections) else None


def _given(framework: Framework, settings: Holder) -> Iterator[tuple[str, Occurrence]]:
    for key in framework.keys.values():
        for name in (key.name, *key.aliases):
            known = settings.get(name)
            if known is not None and known.is_plain and known.written is not None:
                yield key.name, replace(known.written, name=name, value=known.value)
                break
