"""Questions about nodes of a program that lead to other questions, one in the other."""

from __future__ import annotations

import ast
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from precision_lint.facts.runs.interpreter.answers import Answers, Dependence
from precision_lint.source.python.parse import ParsedPython, parse_python
from precision_lint.source.text.text import SourceText


def _answers(now: Dependence) -> Answers[int]:
    files = SimpleNamespace(once=lambda key, make: make())
    program = SimpleNamespace(path=Path("a.py"), project=SimpleNamespace(config_files=files))
    run = SimpleNamespace(
        program=program,
        has_unknown_words=False,
        perhaps_given=frozenset(),
        opened=None,
        is_silent=lambda name: True,
    )
    return Answers(cast("Any", run), now, "depth")


def _chain(answers: Answers[int], file: ParsedPython, length: int) -> int | None:
    """Asks for the first of many nodes, each of which is one more than the next."""
    nodes = [ast.Constant(number) for number in range(length)]

    def one_more(number: int) -> int | None:
        if number == length:
            return 0
        rest = answers.of(nodes[number], file, lambda: one_more(number + 1))
        return None if rest is None else rest + 1

    return one_more(0)


def test_a_chain_that_is_too_long_for_the_stack_has_no_answer() -> None:
    file = parse_python(SourceText(Path("a.py"), ""))
    now = Dependence()
    answers = _answers(now)
    assert _chain(answers, file, 40) == 40
    assert _chain(answers, file, 2_000) is None
    assert now.waiting == 0
    assert _chain(answers, file, 40) == 40
