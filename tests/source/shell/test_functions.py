"""Functions of scripts: their bodies are read for each call, with its arguments."""

from __future__ import annotations

import pytest

from tests.source.config.reading import commands, shell, variables

UNKNOWN = "\0"


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ('go() {\n  run --p $1 --q ${2:-x} "$@"\n}\ngo bf16\ngo fp16 y\n',
         [["run", "--p", "bf16", "--q", "x", "bf16"],
          ["run", "--p", "fp16", "--q", "y", "fp16", "y"]]),
        ("P=fp16\nfunction go {\n  run $1 $P\n}\ngo a\n", [["run", "a", "fp16"]]),
        ("go() {\n  local p=$1\n  shift\n  run $p $@\n}\ngo bf16 --a\n",
         [["local", "p=bf16"], ["shift"], ["run", "bf16", "--a"]]),
        ("main() {\n  go bf16\n}\ngo() { run $1; }\nmain\n", [["run", "bf16"]]),
        ("go() { for m in a b; do run $m $1; done; }\nif x; then go q; fi\n",
         [["x"], ["run", "a", "q"], ["run", "b", "q"]]),
        ('go() { "$@"; }\ngo run --p bf16\n', [["run", "--p", "bf16"]]),
        ("go() { run $1; }\ngo $X y\n", [["run", UNKNOWN]]),
        ("go() { run ${1:-x}; }\nmain() { go y; }\nmain\n", [["run", "y"]]),
    ],
)  # fmt: skip
def test_a_call_is_followed(script: str, expected: list[list[str]]) -> None:
    assert commands(script) == expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("go() { run $1; }\n", [["run", UNKNOWN]]),
        ("go() { run $1; }\nexport -f go\nparallel go ::: a b\n",
         [["run", UNKNOWN], ["export", "-f", "go"], ["parallel", "go", ":::", "a", "b"]]),
        ("go() { run a$1; }\ngo() { run b$1; }\ngo x\n",
         [["run", f"a{UNKNOWN}"], ["run", f"b{UNKNOWN}"], ["go", "x"]]),
        ("go() { run $1; }\ngo $X y\nrun $2\n", [["run", UNKNOWN], ["run", UNKNOWN]]),
        ("go() {\n  while x; do run $1; shift; done\n}\ngo a b\n",
         [["x"], ["run", UNKNOWN], ["shift"]]),
        ("go() { set -- $(x)\n run $1; }\ngo a\n", [["set", "--", UNKNOWN], ["run", UNKNOWN]]),
        ("run $1 ${2:-$x} $@\n", [["run", UNKNOWN, UNKNOWN, UNKNOWN]]),
        ("set -- $(x)\nrun ${1:-x}\n", [["set", "--", UNKNOWN], ["run", UNKNOWN]]),
        ("go() { run ${1:-x}; }\ngo $X\n", [["run", UNKNOWN]]),
    ],
)  # fmt: skip
def test_what_is_not_known(script: str, expected: list[list[str]]) -> None:
    assert commands(script) == expected


@pytest.mark.parametrize(
    "script",
    [
        "run ${2:-x}\n",
        "run ${2:='x'}\n",
        'A="${2:-x}"\nrun $A\n',
        'A=$1\nshift\nrun "${1:-"x"}"\n',
        "go() { y; }\ngo z\nrun ${1:-x}\n",
    ],
)
def test_a_script_without_arguments_takes_its_defaults(script: str) -> None:
    (command,) = [one for one in shell(script).commands if one.words[0].text == "run"]
    assert [(word.text, script[slice(*word.traced.span)]) for word in command.words[1:]] == [
        ("x", "x")
    ]


@pytest.mark.parametrize(
    "script",
    [
        "go() { X=$1; }\ngo a\nrun $X\n",
        "go() { X=bf16; }\nmain() { X=fp16; go; run $X; }\nmain\n",
        "inner() { X=bf16; }\ngo() { inner; }\nmain() { X=fp16; go; run $X; }\nmain\n",
    ],
)
def test_what_a_call_assigns_is_unknown_after_it(script: str) -> None:
    assert [words for words in commands(script) if words[0] == "run"] == [["run", UNKNOWN]]


def test_a_function_that_calls_itself_ends() -> None:
    assert 1 <= len(commands("go() { run $1; go $1; go $1; }\ngo a\ngo b\n")) < 600


def test_a_call_in_a_branch_is_conditional() -> None:
    script = shell("go() { run $1; }\nif x; then go a; else go b; fi\ngo c\n")
    one, other, always = (each for each in script.commands if each.words[0].text == "run")
    assert one.excludes(other)
    assert not always.is_conditional


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("M=1\nread -r -d '' words <<EOF\nmod --dtype bf16 \\\n  --m $M --n $N\nEOF\nrun $words\n",
         ["run", "mod", "--dtype", "bf16", "--m", "1", "--n", UNKNOWN]),
        ("read -rd '' words <<'EOF'\nmod --m $M\nEOF\nrun $words\n", ["run", "mod", "--m", "$M"]),
        ("read -r words <<EOF\nmod\nx\nEOF\nrun $words\n", ["run", UNKNOWN]),
        ("read -r -d '' a b <<EOF\nmod x\nEOF\nrun $b\n", ["run", UNKNOWN]),
        ("if x; then\nread -r -d '' words <<EOF\nmod\nEOF\nfi\nrun $words\n", ["run", UNKNOWN]),
    ],
)  # fmt: skip
def test_a_here_document_in_a_variable(script: str, expected: list[str]) -> None:
    assert commands(script)[-1] == expected


def test_arguments_are_no_variables_of_the_script() -> None:
    assert variables("go() { run $1; }\ngo a\nX=1\n") == {"X": "1"}
