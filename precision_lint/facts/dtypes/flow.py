"""The dtype flow: from a file to the calls that rules asked for, with their facts."""

from __future__ import annotations

from collections.abc import Mapping

from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.analysis import InterproceduralAnalysis
from precision_lint.facts.dtypes.asked import Asked, Worth
from precision_lint.facts.dtypes.calls import Calls, Region
from precision_lint.facts.dtypes.configuration import Scenario
from precision_lint.facts.dtypes.definitions import module_of
from precision_lint.source.text.errors import Unparsable


def calls_in(
    file: PythonFile,
    names: frozenset[str],
    intraprocedural: frozenset[str] = frozenset(),
    scenario: Scenario | None = None,
    around: Region | None = None,
    worth: Mapping[str, Worth] | None = None,
) -> Calls:
    """The calls of `file` that `names` ask for (see `Rule.calls`), with the facts at each.

    For those in `intraprocedural`, what their own body says is enough; of those in `worth`, only
    the calls for which it is true are looked for. A `scenario` says which conditions hold, if the
    facts are to be those of one run; `around` is the autocast region that this run calls the
    functions of the file in, as far as the file itself opens none.

    Raises:
        Unparsable: expressions are nested too deeply to interpret.
    """
    asked = Asked.of(module_of(file), names, intraprocedural, worth or {})
    try:
        return InterproceduralAnalysis(file, asked, scenario, around).run()
    except RecursionError:
        raise Unparsable("nested too deeply to analyse", 1, 1) from None
