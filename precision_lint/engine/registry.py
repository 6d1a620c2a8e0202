"""The rules by code, name and trigger, without importing any rule module.

`rules/_generated/index.py` is generated from the rule modules (`python scripts/generate.py`; a test
checks that it is current), so that a run imports only the rules that a file's bytes trigger.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, cast

from precision_lint.model.rule import Rule

if TYPE_CHECKING:
    from precision_lint.engine.hooks import RuleModule


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule, in code order."""
    return cast("tuple[Rule, ...]", import_module("precision_lint.rules._generated.index").RULES)


@cache
def by_selector() -> dict[str, Rule]:
    """Rules by code and by name."""
    return {key: rule for rule in rules() for key in (rule.code, rule.name)}


@cache
def yielding() -> dict[str, tuple[str, ...]]:
    """By code of a rule that yields to others, the codes of those."""
    return {rule.code: rule.yields_to for rule in rules() if rule.yields_to}


def rule(selector: str) -> Rule:
    """The rule with this code or name.

    Raises:
        KeyError: there is none.
    """
    return by_selector()[selector]


def module(rule: Rule) -> RuleModule:
    """The module of a rule, imported on first use."""
    return cast("RuleModule", import_module(f"precision_lint.rules.{rule.module}"))


def select(selector: str) -> frozenset[str]:
    """The codes for a selector: ALL, a name, a code or a prefix of codes; may be empty."""
    if selector.upper() == "ALL":
        return frozenset(rule.code for rule in rules())
    if (named := by_selector().get(selector)) is not None:
        return frozenset({named.code})
    prefix = selector.upper()
    if not prefix.startswith("MP"):
        return frozenset()
    return frozenset(rule.code for rule in rules() if rule.code.startswith(prefix))


@cache
def previews() -> frozenset[str]:
    """The codes of the preview rules."""
    return frozenset(rule.code for rule in rules() if rule.preview)


def resembling(selector: str) -> str | None:
    """The code or name closest to an unknown selector, as a suggestion."""
    from difflib import SequenceMatcher, get_close_matches

    names = list(by_selector())
    for spelled in (selector, selector.upper()):
        if matches := get_close_matches(spelled, names, len(names)):
            # Of equally close names, prefer the one with the same prefix: codes share digits.
            return max(
                matches,
                key=lambda name: (
                    SequenceMatcher(None, name, spelled).ratio(),
                    [one == other for one, other in zip(name, spelled, strict=False)],
                ),
            )
    return None
