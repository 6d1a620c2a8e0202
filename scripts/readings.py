"""First readings of unseen code: the tables of `docs/accuracy.md`, and a figure of the README."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from precision_lint.model.rule import Rule

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_VERDICTS = ("right", "wrong")
_NEWEST = 5
"""How many of the newest sets have columns of their own in the table of rules."""
_FEW, _MANY = 3, 10
"""How many of the newest sets have columns of their own in the summary."""
_PLAIN = frozenset({"MP801", "MP904"})
"""What torch itself warns of, and what Python itself rejects: many findings, little merit."""
_STOPS = frozenset({"MP101", "MP225", "MP410", "MP503", "MP705"})
"""The rules that say that a run stops with an error."""


def totals(path: Path, rules: Sequence[Rule]) -> str:
    """The tables of a file of readings; the one by rule has a row for each rule with findings."""
    readings = _readings(path)
    return f"{_summary(readings)}\n{_by_rule(readings, rules)}\n{_by_set(readings)}"


def headline(path: Path) -> tuple[str, int]:
    """How many findings of the newest sets were right ("M of N"), and in how many repositories."""
    newest = _of_all_rules(_readings(path))[-_MANY:]
    right, wrong = (_sums(newest, verdict) for verdict in _VERDICTS)
    return f"{_rest(right)} of {_rest(right) + _rest(wrong)}", _repositories(newest)


def _readings(path: Path) -> list[dict[str, Any]]:
    return tomllib.loads(path.read_text("utf-8"))["reading"]


def _of_all_rules(readings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each for each in readings if "rules" not in each]


def _summary(readings: list[dict[str, Any]]) -> str:
    full = _of_all_rules(readings)
    few, many = full[-_FEW:], full[-_MANY:]
    names = ", ".join(each["set"] for each in few)
    plain, stops = (" and ".join(sorted(_PLAIN)), ", ".join(sorted(_STOPS)))
    rows = (
        (f"all rules but {plain}", lambda code: code not in _PLAIN),
        (f"of these, rules that say that a run stops: {stops}", lambda code: code in _STOPS),
        ("of these, all other rules", lambda code: code not in _PLAIN | _STOPS),
        (f"{plain}: deprecated calls, and files that cannot be parsed", lambda c: c in _PLAIN),
    )
    lines = [
        "## Right findings in first readings",
        "",
        f"| | {names} | newest {_MANY} sets | all sets |",
        "|---|--:|--:|--:|",
        f"| repositories | {' | '.join(f'{_repositories(s):,}' for s in (few, many, readings))} |",
    ]
    for title, counts in rows:
        cells = (_share(sets, counts) for sets in (few, many, readings))
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _share(readings: list[dict[str, Any]], counts: Callable[[str], bool]) -> str:
    """The findings of some rules that were right, of all of them."""
    right, wrong = (
        sum(count for code, count in _sums(readings, verdict).items() if counts(code))
        for verdict in _VERDICTS
    )
    total = right + wrong
    return f"{right:,} of {total:,} ({100 * right / total:.0f} %)" if total else ""


def _repositories(readings: list[dict[str, Any]]) -> int:
    return sum(each["repositories"] for each in readings)


def _by_rule(readings: list[dict[str, Any]], rules: Sequence[Rule]) -> str:
    newest = _of_all_rules(readings)[-_NEWEST:]
    names = ", ".join(each["set"] for each in newest)
    columns = [_sums(sets, verdict) for sets in (readings, newest) for verdict in _VERDICTS]
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
        right, wrong = (_sums([each], verdict).total() for verdict in _VERDICTS)
        cells = (each["set"], each["date"], each.get("commit", ""), each.get("rules", "all"))
        cells += (each["repositories"], right, wrong)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join([*lines, ""])


def _sums(readings: list[dict[str, Any]], verdict: str) -> Counter[str]:
    """The findings with this verdict, by rule."""
    return sum((Counter(each.get(verdict, {})) for each in readings), Counter())


def _rest(counts: Counter[str]) -> int:
    return sum(count for code, count in counts.items() if code not in _PLAIN)
