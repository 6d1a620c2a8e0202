"""Options that commands give to a program, which declares them and never asks for them."""

from __future__ import annotations

from dataclasses import replace

from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.recognition import program_of
from precision_lint.facts.frameworks.runs import environment
from precision_lint.facts.frameworks.sources import Occurrence
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.options.never_read import declared_in_vain
from precision_lint.facts.runs.roles.roles import distinct, reading_of
from precision_lint.facts.runs.written.unread import Unread
from precision_lint.facts.settings.given import normal
from precision_lint.model.finding import Related
from precision_lint.source.config.options import Option

NOT_READ = "nothing reads it"


def words_in_vain(rest: Unread, project: Recording) -> EffectiveConfig | None:
    """What a launch says of precision and its program certainly never reads, with the places where
    the options are declared; None if there is nothing of the kind.
    """
    words = [one for one in rest.settings if isinstance(one.origin, Option)]
    path = program_of(rest.launch, rest.file, project) if rest.launch is not None else None
    if not words or path is None:
        return None
    run = environment(path, rest.file, rest.launch, project)
    given: list[tuple[str, Occurrence]] = []
    settings: list[Occurrence] = []
    for one in words:
        found = declared_in_vain(normal(one.name), run.program)
        if found is not None:
            file, call = found
            place = file.text.place(file.span_of(call))
            name = f"option in {place.path.name}, line {place.start.row}"
            at = Related(place, "the option")
            given.append((name, replace(one, value=NOT_READ, is_derived=True, used_at=at)))
            settings.append(one)
    if not given:
        return None
    return reading_of(distinct(given), tuple(settings), run, rest.only_if)
