"""What the variables of a script are for: which launches, files and frameworks get them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.recognition import readings
from precision_lint.facts.frameworks.sources import (
    CommandSource,
    MappingSource,
    Occurrence,
    RolesSource,
)
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.written.handed_words import Handed, condition_of, handed
from precision_lint.facts.runs.written.understood import Written
from precision_lint.facts.runs.written.unread import Unread
from precision_lint.facts.runs.written.unread_scripts import expanded
from precision_lint.facts.settings.given import normal
from precision_lint.model.finding import Span
from precision_lint.source.config.settings_tree import Mapping
from precision_lint.source.shell.variables import Assigned


def by_launch(rest: Unread, project: Recording) -> Iterator[Unread]:
    """The settings in variables of a script, with the launches that get them, and those apart that
    a launch gets under different conditions.
    """
    found: dict[tuple[Written, str], tuple[Handed, list[Occurrence]]] = {}
    for one in rest.settings:
        for each in handed(one, project):
            given = replace(one, name=each.option) if each.option else one
            if each.is_decided:
                given = replace(given, value=None)
            key = (each.file.text.path, each.launch.span), each.only_if
            settings = found.setdefault(key, (each, []))[1]
            if given not in settings:  # a function that is called several times
                settings.append(given)
    for ((_, span), only_if), (each, settings) in found.items():
        yield Unread(each.file, span, each.launch, tuple(settings), only_if)


def of_here_documents(rest: Unread, project: Recording) -> Iterator[EffectiveConfig]:
    """What frameworks have the variables for that branches of a script assign, and that it writes
    into a file: `"enabled": ${DS_BF16}`.
    """
    for embedded in rest.file.embedded:
        heredoc = embedded.heredoc
        for reading in readings(embedded.file, project) if heredoc is not None else ():
            source, framework = reading.source, reading.framework
            written = (
                (name, rest.file.text[one.origin.span])
                for name in framework.keys
                for one in source.all(name)
                if not isinstance(one.value, Mapping)
            )
            texts = {name: text for name, text in written if "$" in text}
            found: dict[str, list[tuple[str, Occurrence]]] = {}
            for name, text in texts.items():
                for one in rest.settings:
                    match one.origin:
                        case Assigned() as origin if expanded(one.name).search(text):
                            way = heredoc.command.branches if heredoc is not None else ()
                            only_if = condition_of(one.name, origin, way, rest.file)
                            found.setdefault(only_if, []).append((name, one))
            for only_if, rows in found.items() if isinstance(source, MappingSource) else ():
                given, taken = dict(reversed(rows)), tuple(one for _, one in rows)
                at, code = taken[0].origin.span, rest.file  # the file itself is part of a run
                made = RolesSource(code, at, None, given, code, Span(0, 0), taken, only_if)
                table = replace(framework, conflicts=(), links=())
                yield EffectiveConfig(table, made, is_open=True)


def of_frameworks(rest: Unread, project: Recording) -> Iterator[EffectiveConfig]:
    """What the frameworks of a launch have the options for that variables of its script hold: which
    of them it gets, its branches decide.
    """
    for reading in readings(rest.file, project):
        source, framework = reading.source, reading.framework
        if not isinstance(source, CommandSource) or source.launch is None:
            continue
        if rest.launch is None or source.launch.span != rest.launch.span:
            continue
        taken = tuple(one for one in rest.settings if normal(one.name) in framework.keys)
        given = {normal(one.name): one for one in reversed(taken)}
        if given:
            place, started = source.launch.span, source.launch
            made = RolesSource(
                rest.file, place, started, given, rest.file, Span(0, 0), taken, rest.only_if
            )
            table = replace(framework, conflicts=(), links=())
            yield EffectiveConfig(table, made, is_open=True)  # the launch has other words, too
