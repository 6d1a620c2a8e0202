"""The catalogue of pitfalls: what goes wrong in mixed-precision code, and its messages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from precision_lint.engine import registry
from precision_lint.model.frozen import frozen
from precision_lint.model.rule import Rule

_DATA = Path(__file__).with_name("messages.json")


@frozen
class Pitfall:
    """An entry of the catalogue, and what to do about it."""

    name: str
    title: str
    what: str
    cure: str
    versions: str
    messages: tuple[str, ...]
    unlisted: tuple[str, ...]
    """Messages that the page of the pitfall does not list."""

    kernels: tuple[str, ...]
    """Parts of the names of kernels that it is about."""

    references: tuple[str, ...]


@cache
def pitfalls() -> dict[str, Pitfall]:
    """The catalogue, by id."""
    return {
        name: Pitfall(
            name=name,
            title=entry["title"],
            what=entry["what"],
            cure=entry.get("cure", ""),
            versions=entry["versions"],
            messages=tuple(entry.get("messages", ())),
            unlisted=tuple(entry.get("unlisted", ())),
            kernels=tuple(entry.get("kernels", ())),
            references=tuple(entry["references"]),
        )
        for name, entry in _data()["pitfalls"].items()
    }


def quoted_by_rules() -> Mapping[str, tuple[str, ...]]:
    """The messages that the pages of the rules quote, by code."""
    return {code: tuple(messages) for code, messages in _data()["rules"].items()}


def rules_of(pitfall: Pitfall) -> list[Rule]:
    """The rules that find a pitfall."""
    return [rule for rule in registry.rules() if pitfall.name in rule.pitfalls]


def signs() -> Mapping[str, Sequence[str]]:
    """For each pitfall, sets of concepts that messages about it have."""
    return _data()["signs"]


def words_of_precision() -> Sequence[str]:
    """What messages about precision have, and most others have not: patterns."""
    words: Sequence[str] = _data()["precision"]["words"]
    return words


def concepts_of_faults() -> Mapping[str, Sequence[str]]:
    """What messages say is wrong, in many wordings: patterns, by the name of the concept."""
    return _data()["wrong"]


def concepts_of_subjects() -> Mapping[str, Sequence[str]]:
    """What messages are about: patterns, by the name of the concept."""
    return _data()["about"]


def other_subjects() -> Mapping[str, Sequence[str]]:
    """What messages are about that are not about precision: patterns, by subject."""
    return _data()["other"]


@cache
def _data() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(_DATA.read_text("utf-8"))
    return found
