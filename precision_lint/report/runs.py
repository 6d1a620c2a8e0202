"""Runs explained: their effective settings, as text for people and as JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from precision_lint.engine import registry
from precision_lint.engine.explained import (
    Effective,
    Explained,
    Explanation,
    Run,
    Unexplained,
    Unused,
    place_of,
    source_of,
)
from precision_lint.facts.frameworks.families import is_of_classes
from precision_lint.facts.frameworks.sources import (
    DEFAULT,
    CallSource,
    CodePlace,
    Occurrence,
    RolesSource,
)
from precision_lint.facts.frameworks.verdicts import shown
from precision_lint.facts.runs.roles.roles import ONE_OF, ONLY_IF
from precision_lint.facts.runs.written.understood import value_at
from precision_lint.model.finding import Place, Related
from precision_lint.report.ink import width
from precision_lint.report.json_report import dumps, record, whole
from precision_lint.report.model import Report

_LONGEST = 60
_BY_KEYS = ", by its keys: "
_NOT_GIVEN = "no program is seen to give them to it"
_UNNAMED = "no file of the project names it"
_DESCRIBED = "only pages and comments name it"
_OUTPUT = "only what writes it names it"
_BY_HAND = ", only a run that is started by hand gets it"
_BY_OPTIONS = ", by its options: "
_ELSEWHERE = "the program is not where the command looks for it"
_NOT_KNOWN = "which program it starts is not known"
_UNREAD = ", for a program that is not seen to make what reads it"
_MOST_ALIKE = 5


def render(explanation: Explanation, report: Report) -> Iterator[str]:
    """Each run with its settings by role, its references, and its findings; equal runs once."""
    parts = [
        *(_run(first, rest, report) for first, *rest in grouped(explanation.runs)),
        *(_unexplained(one, report) for one in explanation.unexplained),
    ]
    for index, lines in enumerate(parts):
        if index:
            yield "\n"
        for line in lines:
            yield line.rstrip() + "\n"


def grouped(runs: Sequence[Run]) -> list[list[Run]]:
    """The runs with the same precision and the same findings, in the order of the first of each."""
    groups: dict[object, list[Run]] = {}
    for run in runs:
        findings = tuple((one.code, one.message) for one in run.findings)
        rest = tuple((one.name, str(one.value)) for one in run.unread)
        groups.setdefault((signature(run.explained), findings, rest), []).append(run)
    return list(groups.values())


def signature(explained: Explained) -> tuple[object, ...]:
    """What two configurations have in common if their precision is the same."""
    reading = explained.reading
    settings = tuple(
        (one.key.name, one.status, str(one.value), _used_at(one)) for one in explained.settings
    )
    links = tuple(
        (name, _apart(linked, explained), signature(linked)) for name, linked in explained.links
    )
    lost = tuple((one.name, str(one.reference.value)) for one in explained.lost)
    unused = tuple((one.name, str(one.reference.value)) for one in explained.unused)
    is_call = isinstance(reading.source, CallSource)  # in a program of its own
    beneath = (explained.only_if,) if is_call else (*explained.beneath,)
    return (
        reading.framework.slug,
        settings,
        links,
        lost,
        unused,
        explained.only_if,
        beneath,
        reading.is_by_keys,
        reading.is_unnamed,
        reading.is_described,
        reading.is_output,
        reading.is_by_options,
        reading.is_unread,
        reading.taken_by,
        bool(reading.chosen_by),
        reading.unless,
        reading.in_vain,
        reading.given_anyway,
    )


def _used_at(one: Effective) -> Place | None:
    """The place in a program that a setting is for."""
    used_at = one.written.used_at if one.written is not None else None
    return used_at.place if used_at is not None else None


def _apart(linked: Explained, explained: Explained) -> Place | None:
    """The place of a configuration that is not a part of the same launch."""
    is_here = linked.reading.file is explained.reading.file
    return None if is_here else linked.place


def _run(run: Run, alike: Sequence[Run], report: Report) -> Iterator[str]:
    ink = report.ink
    yield ink.paint(head_of_run(run, report), "strong")
    if alike:
        yield f"  the same for {alike_of(alike, report)}"
    yield from _body(run.explained, report, "  ")
    yield from _listed("also read", run.explained.also_read, report)
    yield from _unread(run.unread, report)
    if run.findings:
        yield ""
    for finding in run.findings:
        kind = ink.paint(str(finding.severity), str(finding.severity))
        code = ink.link(finding.code, registry.rule(finding.code).url if ink.color else "")
        place = position_of(finding.place, report)
        yield f"  {kind} {code} {place}: {ink.visible(finding.message)}"


def alike_of(runs: Sequence[Run], report: Report) -> str:
    """`3 more runs: a.sh:1, b.sh:1, c.sh:1`."""
    count = "1 more run" if len(runs) == 1 else f"{len(runs)} more runs"
    shown = [_where(run.explained, report) for run in runs[:_MOST_ALIKE]]
    more = ", …" if len(runs) > _MOST_ALIKE else ""
    return report.ink.visible(f"{count}: {', '.join(shown)}{more}")


def unexplained_head(one: Unexplained, report: Report) -> str:
    """Where settings are that nothing is known to read, and what is started with them."""
    where = report.relative(one.place.path) if one.is_whole else report.row(one.place)
    if one.place.path.suffix == ".py":
        return report.ink.visible(f"{where}: options of the program")
    started = _started(one.program, report)
    return report.ink.visible(f"{where}: no framework is known to read it{started}")


def _unexplained(one: Unexplained, report: Report) -> Iterator[str]:
    yield report.ink.paint(unexplained_head(one, report), "strong")
    yield from _unread(one.unread, report)


def _unread(settings: Sequence[Occurrence], report: Report) -> Iterator[str]:
    for kind, some in by_kind(settings):
        yield from _listed(kind, some, report)


def by_kind(settings: Sequence[Occurrence]) -> Iterator[tuple[str, Sequence[Occurrence]]]:
    """Settings of which nothing is known but why, apart from those that nothing reads."""
    yield "not read in the project", [one for one in settings if one.is_in_vain]
    yield "not understood", [one for one in settings if not one.is_in_vain]


def _listed(kind: str, settings: Sequence[Occurrence], report: Report) -> Iterator[str]:
    for written in settings:
        text = report.ink.visible(cut(source_of(written)))
        why = f"; {written.reason}" if written.reason else ""
        yield f"  {kind}: {text} ({row_of(written, report)}{value_from(written, report)}){why}"


def _where(explained: Explained, report: Report) -> str:
    path = report.relative(explained.reading.file.text.path)
    return path if explained.is_whole else report.row(explained.place)


def head_of_run(run: Run, report: Report) -> str:
    """Where a run is, who reads it, and whether anything but its keys shows that; or why nobody
    does.
    """
    reading = run.explained.reading
    if (why := reading.in_vain) is not None:
        row = report.ink.visible(report.row(why.place))
        message = report.ink.visible(why.message)
        return f"{head(run.explained, report)}, without effect: {message} ({row})"
    shown = _UNREAD if reading.is_unread else ""
    if reading.is_by_options:
        program = run.explained.program
        shown += _BY_OPTIONS + (_ELSEWHERE if program and "…" not in program else _NOT_KNOWN)
    return head(run.explained, report) + shown + _given_by(run.explained)


def _given_by(explained: Explained) -> str:
    """What is known of who gives a file to what reads it. What programs read to call classes may
    get to the classes or not.
    """
    reading = explained.reading
    naming = _DESCRIBED if reading.is_described else ""
    naming = _UNNAMED if reading.is_unnamed else _OUTPUT if reading.is_output else naming
    if not reading.is_by_keys or explained.reader is not None:
        return (
            f"; {naming}{_BY_HAND}"
            if naming and not (reading.taken_by or reading.chosen_by)
            else ""
        )
    if is_of_classes(reading.framework) and reading.framework.reach:
        return ", ".join((_BY_KEYS + _NOT_GIVEN, *([naming] if naming else ())))
    return _BY_KEYS + (naming + _BY_HAND if naming else _NOT_GIVEN)


def head(explained: Explained, report: Report) -> str:
    """Where a configuration is, and who reads it."""
    framework = explained.reading.framework
    where = _where(explained, report)
    release = _release(explained)
    version = f" ({framework.library} {release})" if release else ""
    started = _started(explained.program, report)
    if (program := explained.reading.program_at) is not None:
        started += f" ({report.relative(program)}, by the end of its path)"
    if explained.reader is not None:
        reading = explained.reading
        perhaps = "perhaps " if reading.is_by_keys and not reading.taken_by else ""
        given = f" if its {reading.taken_by} names it" if reading.taken_by else ""
        given += f" with `{reading.chosen_by}`" if reading.chosen_by else ""
        started = f", {perhaps}read by {report.relative(explained.reader)}{given}"
    if explained.reading.unless:
        started += f", unless {cut(explained.reading.unless)} says otherwise"
    if (anyway := explained.reading.given_anyway) is not None:
        started += f"; {cut(anyway.message)} wins, {report.row(anyway.place)}"
    if explained.only_if:
        started += ONLY_IF + cut(explained.only_if)
    return report.ink.visible(f"{where}: {framework.name}{version}{started}")


def _started(program: str, report: Report) -> str:
    """The program that is started; below a folder of the project, as paths are shown."""
    if os.path.isabs(program) and os.path.exists(program):
        program = report.relative(Path(os.path.normpath(program)))
    return f", started as {program}" if program else ""


def _release(explained: Explained) -> str:
    """The release of the library that the project pins, if any."""
    return ".".join(map(str, explained.release)) if explained.release else ""


def _body(
    explained: Explained, report: Report, margin: str, *, is_further: bool = False
) -> Iterator[str]:
    """Rows of a configuration; a further one of the same framework repeats no defaults."""
    rows = [one for one in explained.settings if one.written]
    told = [
        (one, value_of(one, report) + _default_of(one, explained), origin_of(one, report))
        for one in rows
    ]
    roles = max((len(one.key.role) for one in rows), default=0)
    values = max((width(value) for _, value, _ in told), default=0)
    role = ""
    for one, value, origin in told:
        label = "" if one.key.role == role else one.key.role
        role = one.key.role
        padding = " " * (values - width(value))
        yield f"{margin}{label:{roles}}  {value}{padding}  {origin}"
        indent = f"{margin}{'':{roles}}  {'':{values}}  "
        for written in one.overridden:
            place = f"overrides {row_of(written, report)}"
            text = report.ink.visible(cut(source_of(written)))
            yield report.ink.paint(f"{indent}{place}  {text}", "quiet")
    if not rows:
        yield f"{margin}no precision setting that {explained.reading.framework.name} reads"
    defaults = ", ".join(
        value_of(one, report) for one in explained.settings if one.status == "default"
    )
    if defaults and not is_further:
        name = explained.reading.framework.name
        yield report.ink.paint(f"{margin}default of {name}: {defaults}", "quiet")
    unseen = ", ".join(one.key.name for one in explained.settings if one.status == "open")
    if unseen and not is_further:
        yield report.ink.paint(f"{margin}may be set elsewhere: {unseen}", "quiet")
    for path in explained.beneath:
        yield f"{margin}other settings come from {report.ink.visible(report.relative(path))}"
    for name, linked in explained.links:
        yield f"{margin}{name}: {head(linked, report)}"
        is_further = linked.reading.framework is explained.reading.framework
        yield from _body(linked, report, margin + "  ", is_further=is_further)
    for lost in explained.lost:
        yield f"{margin}{lost.name}: {lost_of(lost.reference, report)}"
    for unused in explained.unused:
        yield f"{margin}{unused.name}: {unused_of(unused, report)}"


def _default_of(one: Effective, explained: Explained) -> str:
    """That a value is the default of an option of the program; what is for a place says it."""
    source, written = explained.reading.source, one.written
    if not isinstance(source, CallSource) or source.launch or written is None or written.used_at:
        return ""
    is_declared = isinstance(source, RolesSource) and source.is_declared
    place = written.origin
    is_default = isinstance(place, CodePlace) and place.note == DEFAULT
    return " by default" if is_declared or is_default else ""


def value_of(one: Effective, report: Report) -> str:
    match one.status, one.value:
        case "null", _:
            value = "null"
        case "unknown", _:
            value = "unknown until run time"
        case _, "":
            value = '""'
        case _, str(text) if one.key.kind in ("boolean", "number") and text != "auto":
            value = json.dumps(text)  # a string where the framework expects another type
        case _:
            value = shown(one.value)
    used_at = one.written.used_at if one.written is not None else None
    if used_at is not None:  # in a program of one's own the place says what a value is for
        name, _, place = one.key.name.partition(" in ")
        others = "".join((*place.partition(ONE_OF)[1:], *place.partition(ONLY_IF)[1:]))
        return report.ink.visible(f"{cut(value)} ({name}, {report.row(used_at.place)}{others})")
    ignored = f", not read: {one.key.instead} is set" if one.status == "ignored" else ""
    return report.ink.visible(f"{one.key.name} = {cut(value)}{ignored}")


def origin_of(one: Effective, report: Report) -> str:
    assert one.written is not None
    row = row_of(one.written, report)
    if one.written.used_at is not None:
        if isinstance(one.written.origin, CodePlace) and one.written.name == one.key.name:
            return "the program itself"
        source = report.ink.visible(cut(source_of(one.written)))
        return f"{row}  {source}{value_from(one.written, report)}"
    if one.status == "unknown":
        return f"{row}  {report.ink.visible(cut(source_of(one.written)))}"
    return f"{row}{value_from(one.written, report)}"


def value_from(written: Occurrence, report: Report) -> str:
    """Where a variable gets its value that gives that of an option, if that is elsewhere."""
    value, place = value_at(written), place_of(written)
    if value is None or (value.path, value.start.row) == (place.path, place.start.row):
        return ""
    return f", value from {report.ink.visible(report.row(value))}"


def lost_of(reference: Effective, report: Report) -> str:
    assert reference.written is not None
    row = row_of(reference.written, report)
    if isinstance(reference.value, str):
        return report.ink.visible(f"{reference.value} is not found, {row}")
    return f"unknown until run time, {row}"


def unused_of(unused: Unused, report: Report) -> str:
    """`ds.json is not used: distributed_type = MULTI_GPU, a.yaml:2`."""
    assert unused.reference.written is not None
    name = str(unused.reference.value or source_of(unused.reference.written))
    name = report.ink.visible(cut(name))
    return f"{name} is not used: {value_of(unused.why, report)}, {origin_of(unused.why, report)}"


def row_of(written: Occurrence, report: Report) -> str:
    return report.ink.visible(report.row(place_of(written)))


def position_of(place: Place, report: Report) -> str:
    return report.ink.visible(report.position(place))


def cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


# JSON


def render_json(explanation: Explanation, report: Report) -> Iterator[str]:
    """One array of all runs; those that no framework is known to read have `framework` null."""
    records = [
        *(_run_record(run, report) for run in explanation.runs),
        *map(_unexplained_record, explanation.unexplained),
    ]
    yield dumps(records, indent=2) + "\n"


def _unexplained_record(one: Unexplained) -> dict[str, object]:
    return {
        "framework": None,
        "program": one.program or None,
        **whole(one.place),
        "not_understood": [*map(_unread_record, one.unread)],
    }


def _run_record(run: Run, report: Report) -> dict[str, object]:
    findings = [
        {name: value for name, value in record(finding, report).items() if name in _OF_FINDINGS}
        | {"why": finding.why}
        for finding in run.findings
    ]
    unread = [*map(_unread_record, run.unread)]
    also = [_written_record(written) for written in run.explained.also_read]
    return {
        **_record(run.explained), "also_read": also, "not_understood": unread, "findings": findings
    }  # fmt: skip


_OF_FINDINGS = frozenset({
    "code", "name", "message", "severity", "confidence", "filename", "cell", "location",
    "end_location", "url", "related",
})  # fmt: skip


def _record(explained: Explained) -> dict[str, object]:
    reading = explained.reading
    framework = reading.framework
    return {
        "framework": framework.slug,
        "name": framework.name,
        "library": framework.library,
        "version": _release(explained) or None,
        "program": explained.program or None,
        "program_by_its_end": _path_record(reading.program_at),
        "reader": _path_record(explained.reader),
        "only_if": explained.only_if or None,
        "unless": reading.unless or None,
        "by_keys": reading.is_by_keys,
        "named_nowhere": reading.is_unnamed,
        "named_in_texts_alone": reading.is_described,
        "named_where_written_alone": reading.is_output,
        "by_options": reading.is_by_options,
        "unread_by_program": reading.is_unread,
        "taken_by": reading.taken_by or None,
        "chosen_by": reading.chosen_by or None,
        "without_effect": _reason_record(reading.in_vain),
        "given_anyway": _reason_record(reading.given_anyway),
        **whole(explained.place),
        "settings": [
            {
                "key": one.key.name,
                "role": one.key.role,
                "status": one.status,
                "value": _json_value(one.value),
                "written": _written_record(one.written) if one.written else None,
                "overrides": [_written_record(written) for written in one.overridden],
            }
            for one in explained.settings
        ],
        "beneath": [os.path.abspath(path) for path in explained.beneath],
        "links": [{"link": name, **_record(linked)} for name, linked in explained.links],
        "lost": [
            {
                "link": lost.name,
                "reference": _json_value(lost.reference.value),
                "written": _written_record(lost.reference.written),
            }
            for lost in explained.lost
            if lost.reference.written
        ],
        "unused": [
            {
                "link": unused.name,
                "reference": _json_value(unused.reference.value),
                "written": _written_record(unused.reference.written),
                "because": {
                    "key": unused.why.key.name,
                    "value": _json_value(unused.why.value),
                    "written": _written_record(unused.why.written),
                },
            }
            for unused in explained.unused
            if unused.reference.written and unused.why.written
        ],
    }


def _path_record(path: Path | None) -> str | None:
    return os.path.abspath(path) if path is not None else None


def _reason_record(why: Related | None) -> dict[str, object] | None:
    return {"reason": why.message, **whole(why.place)} if why is not None else None


def _written_record(written: Occurrence) -> dict[str, object]:
    value = value_at(written)
    given = {"value_at": whole(value)} if value is not None else {}
    return {"text": source_of(written), **whole(place_of(written)), **given}


def _unread_record(written: Occurrence) -> dict[str, object]:
    reason = written.reason or None
    return {**_written_record(written), "reason": reason, "in_vain": written.is_in_vain}


def _json_value(value: object) -> object:
    return value if isinstance(value, bool | int | float | str) else None
