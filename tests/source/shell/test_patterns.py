"""Arms of `case` that the words decide which a script is started with."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.source.shell.parse import Arguments, Script, parse
from precision_lint.source.text.text import SourceText
from tests.source.config.reading import shell

CALLER = shell("bash train.sh worker fp16 --lr 1\n")
WORDS = Arguments(CALLER.commands[0].words[2:], CALLER.places)


def started(text: str) -> list[str]:
    source = SourceText.from_bytes(Path("/project/train.sh"), text.encode())
    script: Script = parse(source, arguments=WORDS)[0]
    return [" ".join(word.text for word in one.words) for one in script.commands]


ARMS = """\
case {} in
  {})
    run a
    ;;
  {})
    run b
    ;;
  *)
    run c
    ;;
esac
"""


@pytest.mark.parametrize(
    ("subject", "first", "second", "expected"),
    [
        ('"$1"', "worker", "eval", ["run a"]),
        ('"${1:-eval}"', "worker", "eval", ["run a"]),
        ("$1", "eval", "w*", ["run b"]),
        ("$1", "eval | worker", "train", ["run a"]),
        ("$1", "(eval", '"worker"', ["run b"]),
        ("$1", "eval", "train", ["run c"]),
        ("$1", "'w*'", "wor?er", ["run b"]),
        ("$2", "bf16", "fp16", ["run b"]),
        ('"$1-$2"', "worker-fp16", "x", ["run a", "run b", "run c"]),
        # What may fit.
        ("$1", "$ROLE", "worker", ["run a", "run b", "run c"]),
        ("$1", "[a-z]*", "worker", ["run a", "run b", "run c"]),
        ("$1", "$ROLE", "eval", ["run a", "run c"]),
        ("$ROLE", "worker", "eval", ["run a", "run b", "run c"]),
        ("worker", "worker", "eval", ["run a", "run b", "run c"]),
        ("${ROLE:-worker}", "worker", "eval", ["run a", "run b", "run c"]),
        ("$7", "worker", "eval", ["run a", "run b", "run c"]),
    ],
)
def test_which_arms_run(subject: str, first: str, second: str, expected: list[str]) -> None:
    assert started(ARMS.format(subject, first, second)) == expected


def test_what_the_arm_assigns_counts_after_it() -> None:
    arms = 'case "$2" in fp16) args="--fp16" ;; bf16) args="--bf16" ;; esac\nrun $args\n'
    assert started(arms) == ["run --fp16"]
    assert started(arms.replace('"$2"', "$DTYPE")) != ["run --fp16"]
    moved = (
        'mode=${1:-help}\nshift || true\ncase $mode in\n  worker) kind=$1; shift\n    run "$@" ;;\n'
    )
    assert started(f"{moved}  *) shift 9; run x ;;\nesac\nrun $kind\n") == [
        "shift",
        "true",
        "shift",
        "run --lr 1",
        "run fp16",
    ]


@pytest.mark.parametrize(
    "text",
    [
        # The first word is another one in the next pass.
        "while [ $# -gt 0 ]; do case $1 in worker) run a ;; fp16) run b ;; esac; shift; done\n",
        # It goes on in the next arm.
        "case $1 in worker) run a ;& fp16) run b ;; esac\n",
        "f() { case $1 in worker) run a ;; fp16) run b ;; esac; }\n",
        "set -- x\ncase $1 in worker) run a ;; fp16) run b ;; esac\n",
    ],
)
def test_arms_that_may_run_all(text: str) -> None:
    assert {"run a", "run b"} <= {*started(text)}
