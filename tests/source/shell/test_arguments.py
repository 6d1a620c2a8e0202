"""Scripts that are started with words: which of them the words can tell more about."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.source.shell.alternatives import added
from precision_lint.source.shell.parse import Arguments, Script, parse
from precision_lint.source.text.text import SourceText
from tests.source.config.reading import shell

CALLER = shell("bash train.sh bf16 --fp16 8\n")
WORDS = Arguments(CALLER.commands[0].words[2:], CALLER.places)


def started(text: str) -> Script:
    source = SourceText.from_bytes(Path("/project/train.sh"), text.encode())
    return parse(source, arguments=WORDS)[0]


TAKING = [
    "run $1\n",
    "run a\nprecision=${2:-fp16}\nrun $precision\n",
    'run "$@"\n',
    "shift\nrun $1\n",
    "shift 2\nrun $*\n",
    "args=(--a $@)\nrun ${args[@]}\n",
    'if x; then\n  eval "run $1"\nfi\n',
    "go() { run $1; }\ngo $2\n",
    "for each in $@; do run $each; done\n",
    "(cd data; run --precision=$1)\n",
]
"""Scripts with commands that depend on what they are started with."""


@pytest.mark.parametrize("text", TAKING)
def test_a_script_takes_words(text: str) -> None:
    assert shell(text).taken
    assert WORDS.tells(shell(text).taken)
    assert added(shell(text).commands, started(text).commands)


@pytest.mark.parametrize(
    "text",
    [
        "run a\n",
        'echo "$0 $@"\nrun a\n',
        "run $0 $# $PRECISION\n",
        ". options.sh || exit 1\nrun $1 $@\n",
        "set -- a b\nrun $1\n",
        "go() { run $1; }\ngo a\n",
        "go() { run $1; }\n",
        "run '$1' \\$1\n",
    ],
)
def test_a_script_takes_none(text: str) -> None:
    assert not shell(text).taken
    assert not added(shell(text).commands, started(text).commands)


@pytest.mark.parametrize(
    ("text", "words", "tells"),
    [
        ("run $1", "$X a", False),
        ("run $2", "a $X", False),
        ("run $1", "a $X", True),
        ("run $2", "a b", True),
        ("run $3", "a b", True),  # it is empty
        ("run $3", "a $X", False),
        ("run $1", '"$X" a', True),
        ("run $2", '"$X" a', True),
        ("shift; run $1", "$X a", True),
        ("run $@", "$X a", True),
    ],
)
def test_words_tell_of_those_that_a_script_takes(text: str, words: str, tells: bool) -> None:
    caller = shell(f"bash train.sh {words}\n")
    arguments = Arguments(caller.commands[0].words[2:], caller.places)
    script = shell(text)
    assert arguments.tells(script.taken) is tells
    read = parse(script.source, arguments=arguments)[0]
    assert bool(added(script.commands, read.commands)) is tells or tells
