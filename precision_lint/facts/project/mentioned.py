"""Whether anything in the project names a function: where nothing does, nobody calls it.

A library is for others to call, who read its code or its pages. So a mention counts wherever it is,
unlike in `uncalled`, which follows a program.
"""

from __future__ import annotations

import re

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.project.uncalled import CALLED_BY_OTHERS
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition


def is_mentioned(function: FunctionDefinition, file: ParsedPython, project: Recording) -> bool:
    """True if code or a page names a function, or if others call it by a name of theirs."""
    name = function.name
    if function.decorator_list or CALLED_BY_OTHERS.fullmatch(name):
        return True
    # not in a comment, and not where it is defined
    used = rf"(?m)^[^#\n]*(?<!def )\b{name}\b"
    return (
        re.search(used, file.text.text) is not None
        or bool(project.python_sources_matching(used.encode()))
        or project.page_matches(rb"\b%b\b" % name.encode())
    )
