"""The table of hooks: every row is callable, and a new hook needs no other code in the engine."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

from precision_lint.engine import hooks, registry
from precision_lint.engine.check import check_bytes
from precision_lint.engine.hooks import HOOKS, Hook, RuleModule
from precision_lint.engine.settings import Settings
from precision_lint.facts.context import PythonFile
from precision_lint.model.finding import Confidence, Finding, Severity
from precision_lint.model.rule import Rule
from tests.context import recording


@pytest.mark.parametrize("name", HOOKS)
def test_the_protocol_of_rules_has_every_hook(name: str) -> None:
    parameters = list(inspect.signature(getattr(RuleModule, name)).parameters)
    assert parameters[-1] == "file"
    assert len(parameters) == (2 if HOOKS[name].facts is None else 3)  # self, a fact, file


@pytest.mark.parametrize("rule", registry.rules(), ids=lambda rule: rule.name)
def test_rules_name_calls_where_they_check_calls(rule: Rule) -> None:
    assert rule.hooks <= HOOKS.keys()
    assert bool(rule.calls) == ("check_call" in rule.hooks)
    assert rule.intraprocedural <= rule.calls


def test_a_new_hook_is_one_row(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A rule about functions, and a hook that is called for every function with a `long` name."""
    rule = Rule(
        "MP999", "no-function", "a function", Severity.INFO, "0.1.0",
        hooks=frozenset({"check_function"}),
    )  # fmt: skip

    def names(
        file: PythonFile, rules: Mapping[Rule, RuleModule], notes: list[str]
    ) -> Iterator[str]:
        assert [*rules] == [rule]
        notes.append("counted")
        yield from (node.name for node in file.tree.body)  # type: ignore[attr-defined]

    def check_function(name: str, file: PythonFile) -> Iterator[Finding]:
        span = file.span_of(file.tree.body[0])
        yield file.finding(rule, span, name, confidence=Confidence.HIGH)

    registry.by_selector()  # what the engine itself reports is looked up among all rules
    row = Hook("python", names, lambda rule, name: len(name) > 1)
    monkeypatch.setattr(hooks, "HOOKS", {**HOOKS, "check_function": row})
    monkeypatch.setitem(hooks._BY_INPUT, "python", frozenset({"check_function"}))  # type: ignore[arg-type]
    monkeypatch.setattr(registry, "rules", lambda: (rule,))
    monkeypatch.setattr(
        registry, "module", lambda _: SimpleNamespace(check_function=check_function)
    )
    settings = Settings()
    monkeypatch.setattr(Settings, "codes_for", lambda *_: frozenset({"MP999"}))
    content = b"def f(): ...\ndef long(): ...\n"
    checked = check_bytes(tmp_path / "a.py", content, "python", recording(tmp_path), settings)
    assert [finding.message for finding in checked.findings] == ["long"]
    assert checked.notes == ("counted",)
