"""What changed in the precision of runs: two files, or a project at two revisions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from precision_lint.engine.explained import Effective, Explained, Explanation, Run
from precision_lint.model.finding import Finding
from precision_lint.model.frozen import frozen


@frozen
class Changed:
    """A setting of which the value, or what is known of it, is another one now."""

    name: str
    """With the names of the links that lead to it: `deepspeed:bf16.enabled`."""
    old: Effective | None
    new: Effective | None


@frozen
class ChangedRun:
    """A run with another precision, or with other findings; one of the two may not exist."""

    old: Run | None
    new: Run | None
    settings: tuple[Changed, ...]
    gone: tuple[Finding, ...]
    added: tuple[Finding, ...]
    roots: tuple[Path, Path] | None = None
    """The folders of the two projects; None for one."""

    @property
    def run(self) -> Run:
        """The run as it is now, if it still exists."""
        run = self.new or self.old
        assert run is not None
        return run


def changes(
    old: Explanation, new: Explanation, roots: tuple[Path, Path] | None
) -> Iterator[ChangedRun]:
    """The runs that differ. Runs of two projects are matched by their paths below `roots`."""
    before = _by_identity(old, roots[0] if roots else None)
    after = _by_identity(new, roots[1] if roots else None)
    for key in dict.fromkeys((*before, *after)):
        one, other = before.get(key), after.get(key)
        settings = tuple(_changed(one, other))
        was, now = _findings(one), _findings(other)
        gone = tuple(each for name, each in was.items() if name not in now)
        added = tuple(each for name, each in now.items() if name not in was)
        if settings or gone or added:
            yield ChangedRun(one, other, settings, gone, added, roots)


def _findings(run: Run | None) -> dict[tuple[str, str], Finding]:
    return {(each.code, each.message): each for each in run.findings} if run is not None else {}


def _by_identity(found: Explanation, root: Path | None) -> dict[tuple[str, ...], Run]:
    """The runs by file, framework and program, and by their order among the same."""
    runs: dict[tuple[str, ...], Run] = {}
    for run in found.runs:
        file = str(run.path.relative_to(root)) if root is not None else ""
        program = run.explained.program if root is not None else ""
        key = (file, run.explained.reading.framework.slug, program)
        number = 0
        while (*key, str(number)) in runs:
            number += 1
        identity = (*key, str(number))
        runs[identity] = run
    return runs


def _changed(old: Run | None, new: Run | None) -> Iterator[Changed]:
    before = _settings(old.explained) if old is not None else {}
    after = _settings(new.explained) if new is not None else {}
    for name in dict.fromkeys((*before, *after)):
        one, other = before.get(name), after.get(name)
        if _said(one) != _said(other) and ((one and one.written) or (other and other.written)):
            yield Changed(name, one, other)


def _said(one: Effective | None) -> tuple[str, str] | None:
    """The value; one that is written and one that is the default are the same."""
    if one is None or one.status in ("open", "unset"):
        return None
    return ("set" if one.status == "default" else one.status), str(one.value)


def _settings(explained: Explained, before: str = "") -> dict[str, Effective]:
    found = {f"{before}{one.key.name}": one for one in explained.settings}
    for name, linked in explained.links:
        found |= _settings(linked, f"{before}{name}:")
    return found
