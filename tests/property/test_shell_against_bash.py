"""What the reader of scripts claims to know, held against what bash does.

A generator writes scripts of assignments, quotes, arrays and all sorts of branches. Every `say` in
them prints the words and the exported variables that it really gets.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from itertools import combinations, product

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from precision_lint.source.shell.commands import Command
from precision_lint.source.shell.parse import Script
from precision_lint.source.shell.words import UNKNOWN
from tests import cpu_time
from tests.source.config.reading import shell

BASH = shutil.which("bash")
PREAMBLE = r"""
say() {
  printf '%s\0' "$#" "$@"
  local name
  for name in A B C; do
    [[ "${!name@a}" == *x* && "${!name@a}" != *a* ]] && printf 'x%s\0' "${!name}" || printf -- '-\0'
  done
  printf '%s\0' "$PWD"
}
export -f say
"""
NAMES = st.sampled_from("ABC")

plain = st.sampled_from(["x", "--fp16", "--p=bf16", "1", "a_b", "no"])
variable = st.builds(
    str.format,
    st.sampled_from(["${}", "${{{}}}", "${{{}:-d}}", "${{{}:-d/$B}}", "${{{}[@]}}", "${{{}+set}}"]),
    NAMES,
)
inner = st.lists(
    st.one_of(
        plain, variable, st.sampled_from([" ", "  ", "\\$", "\\\\", "\\\n", "'", "$(echo z)"])
    ),
    max_size=4,
).map("".join)
word = st.lists(
    st.one_of(
        plain,
        variable,
        inner.map('"{}"'.format),
        st.sampled_from(["'b c'", "'$A'", "\\ ", "\\\n", "$'t u'", "`echo q`", "''"]),
    ),
    min_size=1,
    max_size=3,
).map("".join)
words = st.lists(word, max_size=3).map(" ".join)

assignment = st.one_of(
    st.builds("{}{}{}".format, NAMES, st.sampled_from(["=", "+="]), word),
    st.builds("{}{}({})".format, NAMES, st.sampled_from(["=", "+="]), words),
)
condition = st.sampled_from(["true", "false", '[ "$A" = x ]', "[[ $B == (x|no) || -n $C ]]"])
say = st.builds("say § {}".format, words)
simple = st.one_of(
    say,
    say,
    assignment,
    assignment,
    st.builds("export {}".format, assignment),
    st.builds("export {}".format, NAMES),
    st.builds("{}={} say § {}".format, NAMES, word, words),
    st.builds("unset {}".format, NAMES),
    st.builds("read {} <<< '{}'".format, NAMES, plain),
    st.builds("bash -c 'say § {}'".format, words.filter(lambda text: "'" not in text)),
    st.builds('eval "say § {}"'.format, plain),
    st.builds("eval '{}'".format, assignment.filter(lambda text: "'" not in text)),
    st.sampled_from(["f", "g", "set -a", "set +a", "cd a", "cd ./a", 'cd "$PWD"']),
)  # fmt: skip


def compound(body: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    block = st.lists(body, min_size=1, max_size=3).map("\n".join)
    return st.one_of(
        st.builds("if {}; then\n{}\nfi".format, condition, block),
        st.builds("if {}; then\n{}\nelse {}\nfi".format, condition, block, block),
        st.builds(
            "if {}\nthen {}\nelif {}; then\n{}\nelse\n{}\nfi".format,
            condition, block, condition, block, block,
        ),
        st.builds('case "$A" in\nx|no) {} ;;\n(*)\n{}\nesac'.format, block, block),
        st.builds('case $B in x) {} ;&\n*) {} ;;\nx) {}\nesac'.format, block, block, block),
        st.builds("for {} in x y; do\n{}\ndone".format, NAMES, block),
        st.builds("for ((i=0; i<2; i++)); do {}\ndone".format, block),
        st.builds("while read -r {}; do\n{}\ndone < <(echo x)".format, NAMES, block),
        st.builds("{}() {{\n{}\n}}".format, st.sampled_from("fg"), block),
        st.builds(
            "function {} {{\nlocal {}\n{}\n}}".format, st.sampled_from("fg"), assignment, block
        ),
        st.builds("{{ {}\n}}".format, block),
        st.builds("( {} )".format, block),
        st.builds("{} && {}".format, condition, body),
        st.builds("{} && {} || {}".format, condition, body, body),
        st.builds("{} ||\n{}".format, condition, body),
        st.builds("say § | {{ cat; {}\n}}".format, block),
    )  # fmt: skip


statement = st.recursive(simple, compound, max_leaves=6)
scripts = st.lists(statement, min_size=1, max_size=7).map(
    lambda lines: "\n".join([*lines, 'say § $A "$B" "${C[@]}"\n'])
)


_AS_PATTERN = {UNKNOWN: ".*", " ": "[\1 \n]*", "\n": "[\1 \n]*"}


@dataclass(frozen=True)
class Said:
    """What one `say` got."""

    words: list[str]
    exported: dict[str, str]
    directory: str


def numbered(text: str) -> str:
    """The script in which every `say` has a number of its own as its first word."""
    pieces = text.split("§")
    return "".join(
        piece + (str(number) if number < len(pieces) - 1 else "")
        for number, piece in enumerate(pieces)
    )


def run(text: str, folder: str) -> dict[str, list[Said]]:
    """What bash says, by number; nothing if it does not get to the end."""
    assert BASH is not None
    # Functions may call themselves, but not for ever.
    script = f"FUNCNEST=4\n{PREAMBLE}f() {{ :; }}\ng() {{ :; }}\n{text}\nprintf 'end'"
    ran = subprocess.run(
        [BASH, "-c", script],
        capture_output=True,
        check=False,
        cwd=folder,
        timeout=cpu_time.HANG,
        env={"PATH": "/usr/bin:/bin"},
    )
    *fields, end = ran.stdout.decode().split("\0")
    if end != "end":
        return {}
    said: dict[str, list[Said]] = {}
    while fields:
        count = int(fields[0])
        got, fields = fields[1 : count + 1], fields[count + 1 :]
        *values, directory = fields[:4]
        named = zip("ABC", values, strict=True)
        exported = {name: value[1:] for name, value in named if value.startswith("x")}
        said.setdefault(got[0], []).append(Said(got, exported, directory))
        fields = fields[4:]
    return said


_MORE = f"--{UNKNOWN}"
"""What stands for more options, or none: see `Assigned.with_more`."""


def claim(command: Command) -> re.Pattern[str]:
    """What the reader says of the words: nothing of those that are unknown.

    It does not split an expansion that is a part of a word, so that blanks count for nothing. More
    options after what a branch may add to are no claim that there are any.
    """
    pattern = ""
    for word in command.words[1:]:
        if set(word.text) == {UNKNOWN} or word.text == _MORE:
            pattern += "(?:\1.*)?"
        else:
            text = word.text.removesuffix(f" {_MORE}")
            pieces = re.split(r"(\0|[ \n]+)", text)
            pattern += "\1" + "".join(_AS_PATTERN.get(p[:1], re.escape(p)) for p in pieces)
            pattern += ".*" if text != word.text else ""
    return re.compile(pattern, re.DOTALL)


def claims(script: Script) -> dict[str, list[Command]]:
    """The `say` commands by number: several for one in a loop over words that are known."""
    found: dict[str, list[Command]] = {}
    for command in script.commands:
        if len(command.words) > 1 and command.words[0].text == "say":
            found.setdefault(command.words[1].text, []).append(command)
    return found


def agrees(command: Command, record: Said, folder: str) -> bool:
    """True if all that the reader says of a command is what bash did."""
    directory = command.directory or ""
    return (
        claim(command).fullmatch("".join("\1" + word for word in record.words)) is not None
        and (
            UNKNOWN in directory
            or os.path.normpath(os.path.join(folder, directory)) == record.directory
        )
        and all(
            record.exported.get(name) == assigned.text.chars
            for name, assigned in command.environment.items()
            if name in "ABC" and UNKNOWN not in assigned.text.chars
        )
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with folders that a script may go to."""
    top = tmp_path_factory.mktemp("scripts")
    (top / "/".join("a" * 16)).mkdir(parents=True)
    return str(top)


@pytest.mark.skipif(BASH is None, reason="there is no bash")
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=scripts.map(numbered))
@example(text="A=x\nsay 0\nexport A\nsay 1 $A\n")
@example(text='B=x\nif true; then\nB+=()\nfi\nsay 0 $A "$B" "${C[@]}"\n')
@example(text='B=x\nif false; then\nB+=" --z"\nfi\nsay 0 $B "$B"\n')
@example(text="for i in 1 2; do\nsay 0 ${C:-d}\nfor C in x y; do\nsay 1\ndone\ndone\n")
@example(text="for i in 1 2; do\nsay 0 ${C:-d}\nread B C <<< 'x y'\ndone\n")
def test_what_is_known_is_what_bash_does(text: str, folder: str) -> None:
    said = run(text, folder)
    if not said:
        return
    known = claims(shell(text))
    assert said.keys() <= known.keys()
    for number, records in said.items():
        for record in records:
            assert any(agrees(command, record, folder) for command in known[number]), text
    for number, commands in known.items():
        assert number in said or all(command.branches for command in commands), text
    for one, other in combinations(known, 2):
        pairs = list(product(known[one], known[other]))
        repeated = {"loop", "function"} & {
            branch.construct for command in known[one] for branch in command.branches
        }
        if not repeated and all(command.excludes(another) for command, another in pairs):
            assert not (one in said and other in said), text
