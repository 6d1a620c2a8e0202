"""What is known of the place that a command stands at, and of commands inside of words."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.source.config.parse import parse_config
from precision_lint.source.shell.commands import Command
from precision_lint.source.shell.parse import Script
from precision_lint.source.shell.words import UNKNOWN
from precision_lint.source.text.text import SourceText
from tests.context import config_file, recording
from tests.source.config.reading import commands, shell


def launches(text: str) -> list[Command]:
    return [command for command in shell(text).commands if command.words[0].text == "run"]


@pytest.mark.parametrize(
    "text",
    [
        "if x; then run a; else run b; fi",
        "if x; then\n  run a\nelif y; then\n  run b\nfi",
        "case $x in\n  a|b) run a ;;\n  *) run b ;;\nesac",
        "case $x in a) if y; then run a; fi ;; *) run b ;; esac",
        "x && run a || run b",
        "[[ $x == (a|b) ]] && { run a\n} || run b",
    ],
)
def test_two_arms_are_alternatives(text: str) -> None:
    one, other = launches(text)
    assert one.excludes(other)
    assert other.excludes(one)
    assert one.is_conditional


@pytest.mark.parametrize(
    "text",
    [
        "run a; run b",
        "if x; then run a; fi; run b",
        "if x; then run a; run b; fi",
        "if x; then run a; fi; if x; then run b; fi",
        "if run a; then run b; fi",
        "x && run a && run b",
        "case $x in a) run a ;& b) run b ;; esac",
        "for i in 1 2; do run a; run b; done",
        "run a | tee log; run b",
    ],
)
def test_others_are_not(text: str) -> None:
    one, other = launches(text)
    assert not one.excludes(other)


@pytest.mark.parametrize(
    ("text", "constructs"),
    [
        ("run", []),
        ("{ run; }", []),
        ("(cd x; run)", []),
        ("run | tee log", []),
        ("while x; do run; done", ["loop"]),
        ("f() { run; }", ["function"]),
        ("x && run", ["list"]),
        ("if x; then for i in 1; do run; done; fi", ["if", "loop"]),
        ("if x; then\n y\nfi\nrun", []),
        ("x && if y; then z; fi\nrun", []),
    ],
)
def test_ways_that_lead_to_a_command(text: str, constructs: list[str]) -> None:
    (command,) = launches(text)
    assert [branch.construct for branch in command.branches] == constructs


def test_what_a_branch_assigns_is_known_in_it_alone() -> None:
    text = "P=1\nif x; then\n  P=2; run $P\nelse\n  run $P\nfi\nrun $P\n"
    assert [word for _, word in commands(text)[1:]] == ["2", "1", UNKNOWN]


def test_an_arm_that_falls_through_leaves_what_it_assigns_open() -> None:
    assert commands("P=0\ncase $x in\na) P=1 ;&\nb) run $P ;;\nesac\n") == [["run", UNKNOWN]]


def test_a_subshell_keeps_what_it_assigns() -> None:
    assert commands("P=1\n(P=2; run $P)\nrun $P\n") == [["run", "2"], ["run", "1"]]


def test_a_loop_is_passed_more_than_once() -> None:
    text = "P=1\nQ=1\nfor i in 1 2; do\n  run $P $Q\n  P=2\n  run $P\ndone\n"
    assert commands(text) == [["run", UNKNOWN, "1"], ["run", "2"]]


def test_a_function_knows_what_it_assigns() -> None:
    text = "g() { P=3; }\nmain() {\n  local P=1\n  run $P\n  g\n  run $P\n}\n"
    assert [words[1] for words in commands(text) if words[0] == "run"] == ["1", UNKNOWN]


def test_one_unknown_value_is_the_same_in_two_places() -> None:
    first, second, third, fourth = launches(
        'run "${P:-bf16}"\nrun "${P:-bf16}"\nrun "${P:-fp16}"\nread P\nrun "${P:-bf16}"\n'
    )
    assert first.words[1].traced.is_same(second.words[1].traced)
    assert not first.words[1].traced.is_same(third.words[1].traced)
    assert not first.words[1].traced.is_same(fourth.words[1].traced)


def test_texts_with_the_same_unknown_values_are_the_same() -> None:
    one, same, other, longer = launches("run a$P.$Q\nrun a$P.$Q\nrun a$Q.$P\nrun a$P.$Q.\n")
    assert one.words[1].traced.is_same(same.words[1].traced)
    assert not one.words[1].traced.is_same(other.words[1].traced)
    assert not one.words[1].traced.is_same(longer.words[1].traced)


@pytest.mark.parametrize(
    ("text", "environment"),
    [
        ("P=1\nrun", {}),
        ("export P=1\nrun", {"P": "1"}),
        ("P=1\nexport P\nrun", {"P": "1"}),
        ("export P\nP=1\nrun", {"P": "1"}),
        ("declare -x P=1\nrun", {"P": "1"}),
        ("set -a\nP=1\nset +a\nQ=2\nrun", {"P": "1"}),
        ("P=1 Q=$P run", {"P": "1", "Q": UNKNOWN}),
        ("export P=1\nP=2 run", {"P": "2"}),
        ("export P=1\nexport P=$P$P\nrun", {"P": "11"}),
        ("if x; then export P=1; fi\nP=2\nrun", {}),
        ("export P=1\nunset P\nrun", {}),
        ("export P=(1 2)\nrun", {}),
    ],
)
def test_environments(text: str, environment: dict[str, str]) -> None:
    (command,) = launches(text)
    given = {name: assigned.text.chars for name, assigned in command.environment.items()}
    assert given == environment


def test_the_environment_is_that_of_the_moment() -> None:
    first, second = launches("export P=1\nrun\nexport P=2\nrun\n")
    assert first.environment["P"].text.chars == "1"
    assert second.environment["P"].text.chars == "2"


def test_env_gives_variables_to_its_command() -> None:
    (command,) = shell("env -i P=1 Q=2 run R=3\n").commands
    assert {name: value.text.chars for name, value in command.environment.items()} == {
        "P": "1",
        "Q": "2",
    }


@pytest.mark.parametrize(
    ("text", "directory"),
    [
        ("run", None),
        ("cd a\nrun", "a"),
        ("cd a && run", "a"),
        ("cd a; cd b/c; run", "a/b/c"),
        ("cd a; cd /b; run", "/b"),
        ("(cd a && run)", "a"),
        ("(cd a)\nrun", None),
        ("x && cd a\nrun", UNKNOWN),
        ("cd $X\nrun", UNKNOWN),
        ("cd a\ncd -\nrun", UNKNOWN),
        ("pushd a\nrun", "a"),
        ("for i in 1 2; do cd a; run; done", f"{UNKNOWN}/a"),
        ('cd "$(dirname "$0")/.."\nrun', "scripts/.."),
        ('D=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)\ncd "$D"\nrun', "scripts/.."),
    ],
)
def test_directories(text: str, directory: str | None) -> None:
    source = SourceText(Path("scripts/case.sh"), text)
    script = parse_config(source, "shell").script
    assert script is not None
    assert script.commands[-1].directory == directory


@pytest.mark.parametrize(
    "text",
    [
        "bash -c 'run --a 1'",
        'srun --jobid 1 bash -lc "x; run --a 1"',
        "A='run --a'\nsrun bash -c \"$A 1\"",
        "export B=1\nsh -c 'run --a $B'",
        "A='run --a 1'\neval $A",
        "A='run --a 1'\neval \"x && $A\"",
        "bash -c \"bash -c 'run --a 1'\"",
        'A=(run --a 1)\n"${A[@]}"',
        "A=run\n$A --a 1",
        "B='--a 1'\nnohup run $B &",
        'bash -euo pipefail -c "run --a 1"',
        'bash -o pipefail +x -c "run --a 1"',
        'sudo su - me -c "run --a 1"',
        'ssh -p 22 -o A=b me@host "cd /w && run --a 1"',
        "ssh host bash -lc 'run --a 1'",
        "ssh host \"bash -lc 'run --a 1'\"",
        'gcloud compute tpus tpu-vm ssh vm --zone z --command="run --a 1"',
        'tmux new-session -d -s name "run --a 1"',
        'tmux send-keys -t name "run --a 1" C-m',
    ],
)
def test_commands_in_words(text: str) -> None:
    found = [[word.text for word in command.words[-3:]] for command in shell(text).commands]
    assert ["run", "--a", "1"] in found


def test_words_of_inner_scripts_are_where_they_are_written() -> None:
    text = 'A=\'--fp16 true\'\nsrun bash -c "run $A --bf16 \\"x y\\""\n'
    inner = shell(text).commands[-1]
    assert [(word.text, word.verbatim) for word in inner.words] == [
        ("run", True), ("--fp16", True), ("true", True), ("--bf16", True), ("x y", False)
    ]  # fmt: skip
    assert all(text[slice(*word.span)] == word.text for word in inner.words if word.verbatim)


def test_an_inner_script_has_its_own_variables() -> None:
    text = "P=1\nbash -c 'P=2; run $P $Q'\nrun $P\n"
    assert commands(text)[1:] == [["run", "2", UNKNOWN], ["run", "1"]]


def test_another_machine_has_its_own_variables() -> None:
    text = "export P=1\nssh host 'run $P'\nssh host \"run $P\"\nsu me -c 'run $P'\nrun $P\n"
    assert [words[1] for words in commands(text) if words[0] == "run"] == [UNKNOWN, "1", "1", "1"]


@pytest.mark.parametrize(
    "text",
    [
        "bash -o pipefail 'run --a 1'\n",
        "tmux kill-session -t 'run --a 1'\n",
        "ssh host cat 'run --a 1'\n",
        "ssh -o 'run --a 1' host\n",
        "gcloud compute list --filter 'run --a 1'\n",
    ],
)
def test_words_that_are_no_script(text: str) -> None:
    assert [words[0] for words in commands(text)] == [text.split()[0]]


def test_no_inner_script_where_words_are_printed() -> None:
    assert commands("echo bash -c 'run'\nbash x.sh -c 'run'\n") == [
        ["echo", "bash", "-c", "run"],
        ["bash", "x.sh", "-c", "run"],
    ]


@pytest.mark.parametrize(
    "text", ["bash -c '}'\nA=1", "eval 'fi'\nA=1", "bash -c 'if x; then'\nA=1", "eval ')'\nA=1"]
)
def test_an_inner_script_does_not_end_what_is_around_it(text: str) -> None:
    assert shell(text).variables["A"].text.chars == "1"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("run --a= 1", ["run", "--a=", "1"]),
        ("run --a \\\n  # --b \\\n", ["run", "--a"]),
        ("run \\\n\t--a\t1", ["run", "--a", "1"]),
        ('A=("--a 1" --b)\nrun "${A[@]}"', ["run", "--a 1", "--b"]),
        ('A=("--a 1" --b)\nrun ${A[*]}', ["run", "--a", "1", "--b"]),
        ('A=("--a 1" --b)\nrun $A', ["run", "--a", "1"]),
        ('A=()\nrun "${A[@]}"', ["run"]),
        ("A=1\nA+=(2)\nrun ${A[@]}", ["run", "1", "2"]),
        ("X=$Y\nrun --a=${X:+1}", ["run", f"--a={UNKNOWN}"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert commands(text) == [words]


def sourcing(folder: Path, text: str, **files: str) -> Script:
    for name, content in files.items():
        (folder / f"{name}.env").write_text(content)
    script = folder / "scripts" / "train.sh"
    script.parent.mkdir(exist_ok=True)
    script.write_text(text)
    source = SourceText.from_bytes(script, script.read_bytes())
    read = config_file(source, "shell", recording(folder, ())).script
    assert read is not None
    return read


def values(script: Script) -> dict[str, str]:
    return {name: assigned.text.chars for name, assigned in script.variables.items()}


def test_a_sourced_file_assigns(tmp_path: Path) -> None:
    text = "P=0\nQ=0\nR=0\nsource a.env\nrun --p=$P $Q\nR=1\n"
    script = sourcing(tmp_path, text, a="# x\nP=1\nexport Q='--x 2'\nif y; then R=3; fi\n")
    assert values(script) == {"P": "1", "Q": "--x 2", "R": "1"}
    (word,) = script.sourced
    assert (word.text, text[slice(*word.span)]) == ("a.env", "a.env")
    place = script.variables["P"].elsewhere
    assert place is not None
    assert (place.path, place.start.row) == (tmp_path / "a.env", 2)
    run = script.commands[-1]
    assert [word.text for word in run.words] == ["run", "--p=1", "--x", "2"]
    assert [word.verbatim for word in run.words] == [True, True, False, False]
    assert run.words[2].elsewhere is not None
    assert run.words[2].elsewhere.start.row == 3
    assert text[slice(*run.words[2].span)] == "a.env"


def test_sourced_files_source_others_and_themselves(tmp_path: Path) -> None:
    script = sourcing(
        tmp_path, "P=0\n. b.env\nS=$P\nrun $Q $R", a="P=1\n. b.env\nQ='x 2'\n", b=". a.env\nR=3\n"
    )
    assert values(script) == {"Q": "x 2", "R": "3", "S": UNKNOWN}
    words = script.commands[-1].words[1:]
    places = [word.elsewhere for word in words if word.elsewhere]
    assert [word.text for word in words] == ["x", "2", "3"]
    assert [(place.path.name, place.start.row, place.start.column) for place in places] == [
        ("a.env", 3, 4),
        ("a.env", 3, 6),
        ("b.env", 2, 3),
    ]


@pytest.mark.parametrize("name", ["nowhere.env", "$X.env", "/etc/profile"])
def test_what_is_not_found_may_set_anything(name: str, tmp_path: Path) -> None:
    assert values(sourcing(tmp_path, f"P=1\nsource {name}\nQ=2\n")) == {"Q": "2"}


@pytest.mark.parametrize(
    ("before", "value"), [("", "bf16"), ("P=fp16\n", UNKNOWN), ("read P\n", UNKNOWN)]
)
def test_a_default_in_a_sourced_file_counts_if_the_script_does_not_set_the_variable(
    before: str, value: str, tmp_path: Path
) -> None:
    text = f"{before}. b.env\nrun $P $Q $R\n"
    script = sourcing(tmp_path, text, a="P=${P:-bf16}\nQ=1\n", b="R=2\n. a.env\n")
    assert [word.text for word in script.commands[-1].words] == ["run", value, "1", "2"]


def test_a_condition_of_sourcing_is_one_of_its_values(tmp_path: Path) -> None:
    script = sourcing(tmp_path, "P=0\nQ=0\n[ -f a.env ] && source a.env\n", a="P=1\n")
    assert values(script) == {"Q": "0"}


def test_set_a_exports_what_is_sourced(tmp_path: Path) -> None:
    script = sourcing(tmp_path, "set -a; . a.env; set +a\nrun\n", a="P=1\n")
    assert script.commands[-1].environment["P"].text.chars == "1"
