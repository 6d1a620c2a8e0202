"""What a shell file says for certain, and where it says it."""

from __future__ import annotations

import pytest

from precision_lint.source.config.options import options
from tests.source.config.reading import commands, config, script_options, shell, variables

UNKNOWN = "\0"
MORE = "--\0"


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("A=bf16", "bf16"),
        ("A='b f'", "b f"),
        ('A="b f"   # comment', "b f"),
        ("A=$'bf16'", "bf16"),
        ("A=b\\ f", "b f"),
        ('A="a\\"b\\$c\\d"', 'a"b$c\\d'),
        ("A=b\"f1\"'6'", "bf16"),
        ('A="x \\\n  y"', "x   y"),
        ("A=a#b", "a#b"),
        ("A=", ""),
        ('A=""', ""),
        ("A=$(nproc)", UNKNOWN),
        ("A=`nproc`", UNKNOWN),
        ("A=${1:-fp8}", "fp8"),
        ("A=${1:-$B}", UNKNOWN),
        ("A=${P:-fp8}", "fp8"),
        ("A=${P:-}", UNKNOWN),
        ("A=${P:-$B}", UNKNOWN),
        ("A=${X%%.*}", UNKNOWN),
        ("A=$((1 + 2))", UNKNOWN),
        ("A=<(x y)", UNKNOWN),
    ],
)
def test_values(written: str, value: str) -> None:
    assert variables(f"export {written}\n")["A"] == value
    assert variables(f"{written}\r\nB=1\r\n")["A"] == value.replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A=${P:-bf16}\n", "bf16"),
        ("P=fp16\nA=${P:-bf16}\n", "fp16"),
        ("read P\nA=${P:-bf16}\n", UNKNOWN),
        ("if t; then P=fp16; fi\nA=${P:-bf16}\n", UNKNOWN),
        ("source $(x)\nA=${P:-bf16}\n", UNKNOWN),
        ("for i in $X; do A=${P:-bf16}; P=fp16; done\n", UNKNOWN),
        ("f() { P=1; }\nf\nA=${P:-bf16}\n", UNKNOWN),
        (': "${P:=bf16}"\nA=$P\n', "bf16"),
        ("ROOT=/a\nA=${P:-$ROOT/b.yaml}\n", "/a/b.yaml"),
        ('ROOT=/a\nA=${P:-"${ROOT}/b.yaml"}\n', "/a/b.yaml"),
        ('ROOT=/a\nA="${1:-$ROOT/conf/b.yaml}"\n', "/a/conf/b.yaml"),
        ("ROOT=$(x)\nA=${P:-$ROOT/b.yaml}\n", f"{UNKNOWN}/b.yaml"),
        ("ROOT=/a\nP=c\nA=${P:-$ROOT/b.yaml}\n", "c"),
        ("ROOT=/a\nA=${P:-'$ROOT/b.yaml'}\n", UNKNOWN),
        ("A=${P:-$ROOT/b.yaml}\n", UNKNOWN),
        ("ROOT=(a b)\nA=${P:-$ROOT/b.yaml}\n", UNKNOWN),
        ("ROOT=/a\nA=${P:-$(x $ROOT)/b.yaml}\n", UNKNOWN),
        ("B=fp16\nA=${P:-$B}\n", UNKNOWN),
        ('P=fp16\n: "${P:=bf16}"\nA=$P\n', "fp16"),
    ],
)
def test_the_default_of_a_variable_counts_if_only_the_caller_can_set_it(
    text: str, value: str
) -> None:
    assert variables(text).get("A", UNKNOWN) == value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('A=(--x 1)\nif t; then A+=(--y); fi\nrun "${A[@]}"\n', ["--x", "1", MORE]),
        ('A=(--x 1)\n[ -n "$Y" ] && A+=(--y)\nrun "${A[@]}"\n', ["--x", "1", MORE]),
        ('A=(--x)\nfor i in a b; do A+=($i); done\nrun "${A[@]}"\n', ["--x", MORE]),
        ('A=--x\nif t; then A="$A --y"; else A+=" --z"; fi\nrun $A\n', ["--x", MORE]),
        ('A=--x\nif t; then A="$A --y"; else A=--z; fi\nrun $A\n', [UNKNOWN]),
        ("A=fp16\nif t; then A=${A}x; fi\nrun $A\n", [UNKNOWN]),
        ("A=fp16\nif t; then A+=x; fi\nrun $A\n", [UNKNOWN]),
        ('A=(--x)\nif t; then A=("${A[@]}" --y); fi\nrun "${A[@]}"\n', ["--x", MORE]),
    ],
)
def test_what_a_branch_adds_follows_what_there_was(text: str, words: list[str]) -> None:
    assert [found[1:] for found in commands(text) if found[0] == "run"] == [words]


def test_an_assignment_without_itself_starts_again() -> None:
    assert variables('A="--x"\nA="$A --y"\nA=--z\n') == {"A": "--z"}


def test_words_keep_the_place_they_came_from() -> None:
    text = 'A="--a=1 é😀"\nexport A="${A}  --b 2"\nA+=" --c"\n'
    words = shell(text).words("A")
    assert [word.text for word in words] == ["--a=1", "é😀", "--b", "2", "--c"]
    assert all(word.verbatim and text[slice(*word.span)] == word.text for word in words)


def test_a_word_of_several_places_is_not_verbatim() -> None:
    words = shell('P=fp32\nA="--p=$P --q"\n').words("A")
    assert [(word.text, word.verbatim) for word in words] == [("--p=fp32", False), ("--q", True)]


def test_several_assignments_on_one_line() -> None:
    assert variables("export A=1 B='2' C\nD=3 E=4\nF=5\n") == dict(
        zip("ABDEF", "12345", strict=True)
    )


def test_a_prefix_is_for_its_command_alone() -> None:
    assert variables("A=1\nA=2 python train.py\n") == {"A": "1"}


@pytest.mark.parametrize(
    "statement",
    [
        "if [ -z \"$B\" ]; then A=2; fi",
        "if x; then\n  y\nelif z; then\n  A=2\nelse\n  A=3\nfi",
        "[ x ] && A=2",
        "[[ $x =~ ^(a|b)$ ]] || {\n A=2\n}",
        "x ||\n  A=2",
        "for A in 1 2; do echo $A; done",
        "for ((i=0; i<3; i++)); do A=2; done",
        "while read -r A; do :; done < file",
        "case $x in\n  a|b) A=2 ;;\n  (*) A=3 ;;\nesac",
        "f() { A=2; }\nA=3\nf",
        "function f { A=2; }\nA=3\nf",
        "function f() {\n  A=2\n}\nA=3",
        "source other.env",
        ". ./other.env",
        "source ./conda.sh",
        "source /etc/profile.d/modules.sh",
        "source ~/.bashrc",
        "source activate.sh",
        "source $(conda info --base)",
        "source ~/miniconda3/etc/profile.d/conda.sh.local",
        "source \"$ENVIRONMENT\"",
        "source ~/miniconda3/etc/profile.d/$NAME",
        "eval \"$x\"",
        "export $(grep -v '^#' .env | xargs)",
        "unset A",
        "read A",
        "A[1]=x",
    ],
)  # fmt: skip
def test_what_is_decided_elsewhere_is_unknown(statement: str) -> None:
    script = shell(f"A=1\n{statement}\nB=$A\nC=end\n")
    assert "A" not in script.variables
    assert script.variables["B"].text.chars == UNKNOWN
    assert script.variables["C"].text.chars == "end"


@pytest.mark.parametrize(
    "statement",
    [
        "[ x ] && y",
        ": \"${A:=2}\"",
        "f() { local A=2; }",
        "cat <<EOF > config.env\nA=2\nEOF",
        "cat <<-'EOF'\n\tA=2\n\tEOF",
        "# A=2",
        "echo A=2",
        "source .venv/bin/activate",
        "source $VENV/bin/activate",
        "source ~/miniconda3/etc/profile.d/conda.sh",
        ". \"$(conda info --base)/etc/profile.d/conda.sh\"",
        "source \"${CONDA_ROOT:-/opt/conda}/etc/profile.d/conda.sh\"\nconda activate train",
        "echo ${A/1/2} ${#A} > A=2",
    ],
)  # fmt: skip
def test_what_does_not_assign(statement: str) -> None:
    script = shell(f"A=1\n{statement}\nB=$A\n")
    assert script.variables["A"].text.chars == "1"
    assert script.variables["B"].text.chars == "1"


def test_arrays() -> None:
    text = 'ARGS=(\n  --a 1   # why\n  "--b c"\n)\nARGS+=(--d)\nrun "${ARGS[@]}"\nrun ${ARGS[@]}\n'
    assert commands(text) == [
        ["run", "--a", "1", "--b c", "--d"],
        ["run", "--a", "1", "--b", "c", "--d"],
    ]


def test_commands_are_expanded_where_they_stand() -> None:
    text = 'A="--x  1"\nrun $A "$A" --y=$A > log 2>&1 | tee out\nA=2\n'
    assert commands(text) == [["run", "--x", "1", "--x  1", "--y=--x  1"], ["tee", "out"]]


def test_continued_lines_and_comments_between_them() -> None:
    text = "run \\\n\t--a \\\r\n  --b \\\n  # --fp16 \\\n  --c\n"
    assert commands(text) == [["run", "--a", "--b"], ["--c"]]


def test_default_values_of_known_variables() -> None:
    assert variables("A=1\nB=${A:-2}\nC=${D-2}\n") == {"A": "1", "B": "1", "C": UNKNOWN}


def test_variables_of_functions_are_unknown_inside() -> None:
    assert commands("A=1\nf() {\n  run $A\n}\n") == [["run", UNKNOWN]]


@pytest.mark.parametrize("opened", ['A="x', "A='x", "A=${x/y", "A=$(x", "A=(x", "A=`x"])
def test_what_is_never_closed_does_not_swallow_the_file(opened: str) -> None:
    script = config(f"B=1\n{opened}\nC=3\n", "shell").script
    assert script is not None
    assert config(f"{opened}\nC=3\n", "shell").defect is not None
    assert script.variables["B"].text.chars == "1"
    assert script.variables["C"].text.chars == "3"


def test_substitutions_may_hold_anything() -> None:
    text = 'A="x $(echo "a b" $(c \'}\') # don\'t\n) y"\nB=${A:-$(d ")")}\nC=1\n'
    assert config(text, "shell").defect is None
    assert variables(text)["A"] == f"x {UNKNOWN} y"
    assert variables(text)["C"] == "1"


def test_a_variable_that_doubles_itself_becomes_unknown() -> None:
    text = "A=xxxxxxxx\n" + 'A="$A$A"\n' * 64
    assert variables(text)["A"].count(UNKNOWN) > 0


def test_options() -> None:
    (command,) = shell("launch --x=0 t.py --a=1 --b 2 --c --d= --e=$E -f 3 --g -1\n").commands
    given = {option.name: option.value for option in script_options(command)}
    assert given == {"a": "1", "b": "2", "c": True, "d": "", "e": None, "g": True}
    assert next(options(command.words)).name == "x"
