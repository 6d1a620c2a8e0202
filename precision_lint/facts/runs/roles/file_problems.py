"""What is wrong with a single setting of a file in every run that takes the file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.sources import Occurrence, RolesSource
from precision_lint.facts.frameworks.table import frameworks
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.roles.problems import Form, problem
from precision_lint.model.finding import Related, Span
from precision_lint.model.frozen import frozen


@frozen(slots=False)
class FileProblem:
    """A problem of a setting, what the program raises, and the place in the code that shows it."""

    form: Form
    reason: str
    error: str
    path: Path
    span: Span


def run_of(
    one: FileProblem, written: Occurrence, note: str, project: Recording
) -> EffectiveConfig | None:
    """The problem as a run of its own; None if the code cannot be read."""
    code = project.config_files.at(one.path)
    if code is None:
        return None
    found = problem(
        one.form, written, Related(code.text.place(one.span), note), one.reason, one.error
    )
    if one.form == "undeclared":
        found = {**found, "undeclared": replace(found["undeclared"], value=written.name)}
    file, span = written.file, written.file.documents[0].span
    source = RolesSource(file, span, None, found, file, written.origin.span, (written,))
    return EffectiveConfig(replace(frameworks()["pytorch"], keys={}), source)
