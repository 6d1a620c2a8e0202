"""Where a program gives the precision itself that accelerate's launcher has from its file.

`Accelerator(mixed_precision=args.mixed_precision)` asks the launcher only if the argument is
`None`: with a default of its own, the option always wins.
"""

from __future__ import annotations

import ast
from functools import partial
from pathlib import Path

from precision_lint.facts.frameworks.launches import Launch
from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.runs import environment
from precision_lint.facts.frameworks.sources import MappingSource
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.interpreter.evaluation import Evaluator
from precision_lint.facts.runs.interpreter.reachable import may_run
from precision_lint.facts.runs.readers.giving_commands import gifts
from precision_lint.model.finding import Related

_KEY = "mixed_precision"
_ACCELERATOR = "Accelerator"


def given_anyway(run: EffectiveConfig, project: Recording) -> Related | None:
    """Where each program that the launcher starts with a file gives the precision itself; None if
    one of them may leave it to the file.
    """
    source = run.source
    if run.framework.slug != "accelerate" or type(source) is not MappingSource:
        return None
    path = source.file.text.path
    if source.file.around is not None or source.file.python is not None:
        return None
    return project.config_files.once(("given anyway", path), partial(_given, path, project))


def _given(path: Path, project: Recording) -> Related | None:
    started = gifts(path, project)
    if not all(_is_for_launcher(launch, path) for _, launch in started):
        return None
    places = [_place_in(program, project) for program in dict.fromkeys(one for one, _ in started)]
    return places[0] if places and None not in places else None


def _is_for_launcher(started: Launch, path: Path) -> bool:
    return started.by_accelerate and any(path.name in word.text for word in started.launcher)


def _place_in(program: Path, project: Recording) -> Related | None:
    """Where a program that is started without a word gives it, in all calls that may run."""
    code = project.config_files.at(program)
    if code is None:
        return None
    run = environment(program, code, None, project)
    evaluator = Evaluator(run)
    calls = [row for row in run.program.calls(_ACCELERATOR) if may_run(row[1], row[0], run.program)]
    found: list[Related] = []
    for file, call in calls:
        given = next((each for each in call.keywords if each.arg == _KEY), None)
        known = evaluator.value(given.value, file) if given is not None else None
        if given is None or known is None or not isinstance(known.value, str):
            return None
        shown = f"{_ACCELERATOR}({_KEY}={ast.unparse(given.value)})"
        found.append(Related(file.text.place(file.span_of(given.value)), shown))
    return found[0] if found else None
