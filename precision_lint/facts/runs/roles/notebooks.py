"""What the code of a notebook writes out itself: its cells are run as they are, without options."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.runs import environment
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.interpreter.evaluation import Evaluator
from precision_lint.facts.runs.roles.roles import distinct, of_place, reading_of
from precision_lint.facts.runs.roles.uses import Use, uses
from precision_lint.source.config.config_file import ParsedConfig

_MOST = 12


def of_notebook(file: ParsedConfig, project: Recording) -> EffectiveConfig | None:
    """The precisions of a notebook in torch's terms; None if it writes none out."""
    run = environment(file.text.path, file, None, project)
    used = [*islice(_written_out(Evaluator(run), file), _MOST)]
    given = distinct(of_place(use, run) for use in used)
    return reading_of(given, (), run) if given else None


def _written_out(evaluator: Evaluator, file: ParsedConfig) -> Iterator[Use]:
    seen = set()
    for use in uses(evaluator):
        row = use.sink.kind, use.sink.node.lineno, use.value
        is_own = use.sink.file.text.path == file.text.path
        if is_own and use.is_reached and use.value not in (None, "off") and row not in seen:
            seen.add(row)
            yield use
