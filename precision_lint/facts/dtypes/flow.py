"""The dtype flow: from a file to the calls that rules asked for, with their facts."""

from __future__ import annotations

from collections.abc import Iterable

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.analysis import InterproceduralAnalysis
from precision_lint.facts.dtypes.domain.calls import Calls, Region
from precision_lint.facts.dtypes.interpreter.asked import Asked, Question, Worth
from precision_lint.facts.dtypes.interpreter.configuration import Scenario
from precision_lint.facts.dtypes.syntax.definitions import module_of
from precision_lint.source.text.errors import Unparsable


def calls_in(
    file: PythonFile,
    names: frozenset[str],
    intraprocedural: frozenset[str] = frozenset(),
    scenario: Scenario | None = None,
    around: Region | None = None,
    worth: Worth | None = None,
) -> Calls:
    """The calls of `file` that one question asks for, with the facts at each: see `answers`."""
    question = Question(names, intraprocedural, worth)
    return answers(file, [question], scenario, around, is_aside=worth is not None)[0]


def answers(
    file: PythonFile,
    questions: Iterable[Question],
    scenario: Scenario | None = None,
    around: Region | None = None,
    *,
    is_aside: bool = False,
) -> list[Calls]:
    """For each question, the calls of `file` that it asks for, with the facts at each.

    A `scenario` says which conditions hold, if the facts are to be those of one run; `around` is
    the autocast region that this run calls the functions of the file in, as far as the file itself
    opens none. A question aside gets less of a budget: it is about few calls.

    Raises:
        Unparsable: expressions are nested too deeply to interpret.
    """
    asked = Asked.of(module_of(file), questions)
    try:
        return InterproceduralAnalysis(file, asked, scenario, around, is_aside=is_aside).run()
    except RecursionError:
        raise Unparsable("nested too deeply to analyse", 1, 1) from None
