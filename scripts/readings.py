"""The tables of `docs/accuracy.md`: the first readings of unseen code, by rule and by set."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from precision_lint.model.rule import Rule

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_NEWEST = 5
"""How many of the newest sets have columns of their own."""
_PLAIN = frozenset({"MP801", "MP904"})
"""What torch itself warns of, and what Python itself rejects: many findings, little merit."""


def totals(path: Path, rules: Sequence[Rule]) -> str:
    """The tables of a file of readings, with a row for each rule that has findings."""
    readings = tomllib.loads(path.read_text("utf-8"))["reading"]
    return f"{_by_rule(readings, rules)}\n{_by_set(readings)}"


def _by_rule(readings: list[dict[str, Any]], rules: Sequence[Rule]) -> str:
    newest = [each for each in readings if "rules" not in each][-_NEWEST:]
    names = ", ".join(each["set"] for each in newest)
    columns = [
        _sums(sets, verdict) for sets in (readings, newest) for verdict in ("right", "wrong")
    ]
    lines = [
        "## By rule",
        "",
        f"| rule | all sets: right | wrong | sets {names}: right | wrong |",
        "|---|--:|--:|--:|--:|",
    ]
    for rule in rules:
        if any(counts[rule.code] for counts in columns):
            cells = " | ".join(str(counts[rule.code] or "") for counts in columns)
            lines.append(f"| [{rule.code} {rule.name}](rules/{rule.name}.md) | {cells} |")
    all_of_them = " | ".join(str(counts.total()) for counts in columns)
    rest = " | ".join(str(_rest(counts)) for counts in columns)
    lines += [f"| all | {all_of_them} |", f"| all but {' and '.join(sorted(_PLAIN))} | {rest} |"]
    return "\n".join([*lines, ""])


def _by_set(readings: list[dict[str, Any]]) -> str:
    lines = [
        "## By set",
        "",
        "| set | date | commit | rules | repositories | right | wrong |",
        "|---|---|---|---|--:|--:|--:|",
    ]
    for each in reversed(readings):
        right, wrong = _sums([each], "right").total(), _sums([each], "wrong").total()
        cells = (each["set"], each["date"], each.get("commit", ""), each.get("rules", "all"))
        cells += (each["repositories"], right, wrong)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join([*lines, ""])


def _sums(readings: list[dict[str, Any]], verdict: str) -> Counter[str]:
    """The findings with this verdict, by rule."""
    return sum((Counter(each.get(verdict, {})) for each in readings), Counter())


def _rest(counts: Counter[str]) -> int:
    return sum(count for code, count in counts.items() if code not in _PLAIN)
