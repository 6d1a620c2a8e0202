"""Which elements of its arrays the jobs of a script take: `${PRECISIONS[$SLURM_ARRAY_TASK_ID]}`.

Each job takes one element of every array, at the same place. So a script is read once for each
place, as long as one subscript is all that is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from precision_lint.model.regex import regex
from precision_lint.source.shell.commands import Command

_MOST = 8
"""Jobs that are followed apart."""
_NAME = regex(r"[A-Za-z_]\w*", re.ASCII)
_TASK = regex(r"\$?\{?SLURM_ARRAY_TASK_ID\}?")
_JOBS = regex(r"^#SBATCH[ \t]+(?:--array[= ]|-a[ \t]*)([\d,:-]+)", re.MULTILINE)
_RANGE = regex(r"(\d+)(?:-(\d+)(?::(\d+))?)?")


def choices(asked: Mapping[str, int], text: str) -> Iterable[Mapping[str, int]]:
    """The elements that the subscript of a script may stand for, one job after the other.

    None if there are several subscripts, or one that the script changes: nobody knows which
    elements of different arrays belong together.
    """
    if len(asked) != 1:
        return ()
    ((subscript, length),) = asked.items()
    changed = sum(
        len(re.findall(rf"\b{name}\+?=|\(\(\s*{name}\s*[-+*/]|\b{name}\s*(?:\+\+|--)", text))
        for name in _NAME.findall(subscript)
    )
    if changed > 1 or length > _MOST:
        return ()
    jobs = _jobs(text) if _TASK.fullmatch(subscript) else None
    return [{subscript: index} for index in range(length) if jobs is None or index in jobs]


def _jobs(text: str) -> frozenset[int] | None:
    """The numbers of `#SBATCH --array=0-3,8`; None if there is no such line."""
    line = _JOBS.search(text)
    if line is None:
        return None
    found: set[int] = set()
    for part in _RANGE.finditer(line[1]):
        first, last = int(part[1]), int(part[2] or part[1])
        found.update(range(first, min(last, first + _MOST) + 1, int(part[3] or 1) or 1))
    return frozenset(found)


def added(base: Iterable[Command], others: Iterable[Command]) -> Iterable[Command]:
    """The commands of one job that are not the same in a script whose job is not known."""
    known = {_key(command) for command in base}
    return [command for command in others if _key(command) not in known]


def _key(command: Command) -> tuple[object, ...]:
    return tuple((word.span, word.text) for word in command.words)
