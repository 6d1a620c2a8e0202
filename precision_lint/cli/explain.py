"""Pages of rules: by code, by name, or by a pasted error message."""

from __future__ import annotations

import json
import re
from typing import IO

from precision_lint.engine import registry
from precision_lint.model.rule import Rule

_MESSAGE = re.compile(r"`([^`\n]{12,})`")
_WORD = re.compile(r"\w{3,}")
_ENOUGH = 0.6
"""The share of a documented message's words that a pasted text must contain."""


def page_for(what: str) -> str | None:
    """The page of the rule with this code, name or message; None if there is none."""
    named = registry.by_selector().get(what) or registry.by_selector().get(what.upper())
    rule = named or _by_message(what)
    return None if rule is None else page(rule)


def page(rule: Rule) -> str:
    """A rule's page, in Markdown."""
    document = registry.module(rule).__doc__ or ""
    return f"# {rule.code} `{rule.name}`\n\n{document.strip()}\n"


def print_page(text: str, out: IO[str]) -> None:
    """Print Markdown: rendered on a terminal, as plain text otherwise."""
    if not out.isatty():
        out.write(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(file=out).print(Markdown(text))


def print_catalogue(output_format: str, out: IO[str]) -> None:
    """Print every rule, one per line or as a JSON array."""
    if output_format == "json":
        rows = [
            {
                "code": rule.code,
                "name": rule.name,
                "summary": rule.summary,
                "severity": str(rule.severity),
                "fix": rule.fix,
                "since": rule.since,
                "url": rule.url,
            }
            for rule in registry.rules()
        ]
        out.write(json.dumps(rows, indent=2) + "\n")
        return
    width = max(len(rule.name) for rule in registry.rules())
    for rule in registry.rules():
        out.write(f"{rule.code}  {rule.name:{width}}  {rule.summary}\n")


def _by_message(text: str) -> Rule | None:
    """The rule whose documented messages share the most words with a pasted text."""
    words = set(_WORD.findall(text.lower()))
    best, rule_of_best = _ENOUGH, None
    for rule in registry.rules():
        for message in _MESSAGE.findall(registry.module(rule).__doc__ or ""):
            documented = set(_WORD.findall(message.lower()))
            if len(documented) >= 3 and (share := len(documented & words) / len(documented)) > best:
                best, rule_of_best = share, rule
    return rule_of_best
