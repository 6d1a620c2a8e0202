"""Commands of scripts with line ends of Windows, in which a backslash does not continue a line: it
is before the carriage return, and the shell ends the command there.
"""

from __future__ import annotations

from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.sources import launch_of
from precision_lint.model.finding import Related, Span

_CUT = "\\\r\n"
_SAYS = "the command ends here, as a carriage return follows its backslash"


def cut_by_return(run: EffectiveConfig) -> Related | None:
    """Why no program gets the words of a launch; None if it gets some options, or all."""
    file, started = run.file, launch_of(run.source)
    is_script = file.script is not None and file.masked is None and file.around is None
    if started is None or not is_script:
        return None
    text = file.text.text
    cut = text.find(_CUT, started.span.start, started.span.end)
    words = (*started.launcher, *started.words)
    if cut < 0 or any(one.elsewhere is not None or one.span.start < cut for one in words):
        return None
    return Related(file.text.place(Span(cut, cut + 1)), _SAYS)
