"""The settings of precision that nothing understands: no framework or call is seen to read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from precision_lint.facts.frameworks.launches import Launch, launch
from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.sources import Occurrence
from precision_lint.facts.runs.written.understood import Written, understood, value_at, written_at
from precision_lint.facts.runs.written.unread_scripts import beside_launches, of_launch
from precision_lint.facts.runs.written.unread_texts import of_commands, of_lines
from precision_lint.facts.runs.written.unread_trees import of_documents
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.source.config.config_file import Format, ParsedConfig
from precision_lint.source.text.text import SourceText

_MOST = 200
"""Settings of one file; where there are more, it is a table of some kind."""
_NOT_FOLLOWED = "commands in such a file are not followed"
_NOT_READ = "the text around it is not read as a command"


@frozen(slots=False)
class Unread:
    """Settings that belong together: those of a launch, or those of a file."""

    file: ParsedConfig
    span: Span
    launch: Launch | None
    settings: tuple[Occurrence, ...]
    only_if: str = ""
    """What has to hold in the script for the launch to get them."""


def unread(file: ParsedConfig, runs: Iterable[EffectiveConfig]) -> Iterator[Unread]:
    """What a file says of precision that none of its runs understands."""
    known = understood(runs)
    found = [*_of_parts(file, known)]
    yield from found
    if file.format == "markdown":
        said = {written_at(one) for rest in found for one in rest.settings}
        yield from _of_text(file, known | said)


def _of_parts(file: ParsedConfig, known: frozenset[Written]) -> Iterator[Unread]:
    """What is not understood of a file, and of the configurations inside of it."""
    for each in file.with_embedded:
        if each.script is not None:
            yield from _of_script(each, known)
        if each.documents:
            found = _distinct(islice(of_documents(each, known), _MOST))
            if found:
                yield Unread(each, each.documents[0].span, None, found)


def _of_text(file: ParsedConfig, known: frozenset[Written]) -> Iterator[Unread]:
    """The options in commands of a document that are not read: a block that cannot be parsed, or
    that lists what could be written.
    """
    path = file.text.path
    spans = [span for at, span in known if at == path]
    found = (
        replace(one, reason=_NOT_READ)
        for one in of_commands(file)
        if not any(span.start <= one.origin.span.start < span.end for span in spans)
    )
    if settings := tuple(islice(found, _MOST)):
        span = Span(settings[0].origin.span.start, len(file.text.text))  # its scripts have others
        yield Unread(file, span, None, settings)


def unread_lines(text: SourceText, format: Format) -> Iterator[Unread]:
    """The same for a file that cannot be parsed, such as a template: line by line."""
    file = ParsedConfig(text, format)
    whole = Span(0, len(text.text))
    if found := tuple(islice(of_lines(file, whole), _MOST)):
        yield Unread(file, whole, None, found)


def unread_commands(text: SourceText) -> Iterator[Unread]:
    """The same for commands in a file that is not read as a script."""
    file = ParsedConfig(text, "shell")
    found = (replace(one, reason=_NOT_FOLLOWED) for one in of_commands(file))
    if settings := tuple(islice(found, _MOST)):
        yield Unread(file, Span(0, len(text.text)), None, settings)


def _of_script(file: ParsedConfig, known: frozenset[Written]) -> Iterator[Unread]:
    """Those of each launch, then what else the script says."""
    assert file.script is not None
    seen: set[Written] = set()
    values: set[Written] = set()
    for started in filter(None, map(launch, file.script.commands)):
        found = _distinct(of_launch(file, started, known))
        seen |= {written_at(one) for one in found}
        values |= {(at.path, at.span) for at in filter(None, map(value_at, found))}
        if found:
            yield Unread(file, started.span, started, found)
    left = [one for one in beside_launches(file, known | values) if written_at(one) not in seen]
    if left:
        yield Unread(file, Span(0, len(file.text.text)), None, _distinct(left)[:_MOST])


def _distinct(found: Iterable[Occurrence]) -> tuple[Occurrence, ...]:
    """Each place once."""
    return tuple({written_at(one): one for one in reversed([*found])}.values())[::-1]
