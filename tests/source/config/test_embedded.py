"""Configurations inside of other files: what they hold, and that it stands where it is written."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from precision_lint.facts.context import ConfigFile
from precision_lint.source.config.config_file import Embedded
from precision_lint.source.config.settings_tree import Mapping, Scalar, mappings
from precision_lint.source.shell.words import UNKNOWN
from tests.source.config.reading import config, plain


def written(text: str, format: str = "shell") -> dict[str, object]:
    """The documents that are embedded in a file, by name."""
    return {
        part.name: plain(part.file.documents[0])
        for part in config(text, format).embedded
        if part.file.documents
    }


def started(file: ConfigFile) -> list[tuple[list[str], dict[str, str]]]:
    """The commands of embedded scripts, each with its environment."""
    found = []
    for part in file.embedded:
        for command in part.file.script.commands if part.file.script else ():
            given = {name: value.text.chars for name, value in command.environment.items()}
            found.append(([word.text for word in command.words], given))
    return found


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("cat > a.json <<EOF\n{\"fp16\": true}\nEOF", "a.json"),
        ("cat <<'EOF' > a.json\n{\"fp16\": true}\nEOF", "a.json"),
        ("cat <<\"E F\" >> a.json\n{\"fp16\": true}\nE F", "a.json"),
        ("tee a.json <<EOF >/dev/null\n{\"fp16\": true}\nEOF", "a.json"),
        ("sudo tee -a a.json <<EOF\n{\"fp16\": true}\nEOF", "a.json"),
        ("cat <<EOF | sudo tee a.json\n{\"fp16\": true}\nEOF", "a.json"),
        ("cat <<-EOF > a.json\n\t{\n\t\t\"fp16\": true}\n\tEOF", "a.json"),
        ("F=b/a.json\ncat > \"$F\" <<EOF\n{\"fp16\": true}\nEOF", "b/a.json"),
        ("F=$T/a.$J.json\ncat > $F <<EOF\n{\"fp16\": true}\nEOF", f"{UNKNOWN}/a.{UNKNOWN}.json"),
        ("cat > $F <<EOF\n{\"fp16\": true}\nEOF", UNKNOWN),
        ("cat > a.yaml <<EOF\nfp16: true\nEOF", "a.yaml"),
        ("cat <<-EOF > a.yaml\n\tfp16: true\n\tEOF", "a.yaml"),
        ("cat > a.toml <<EOF\nfp16 = true\nEOF", "a.toml"),
        ("cat > a.config <<EOF\n{\n\"fp16\": true}\nEOF", "a.config"),
        ("cat > $F <<EOF\n# x\nfp16: true\nEOF", UNKNOWN),
        ("if x; then\n  cat > a.json <<EOF\n{\"fp16\": true}\nEOF\nfi", "a.json"),
        ("f() {\ncat > a.json <<EOF\r\n{\"fp16\": true}\r\nEOF\r\n}\r\n", "a.json"),
    ],
)  # fmt: skip
def test_here_documents(text: str, name: str) -> None:
    assert written(text) == {name: {"fp16": True}}
    assert written(f"{text}\n") == {name: {"fp16": True}}


@pytest.mark.parametrize("command", ["python", "python3 - a b", "srun -n 1 python3.11 -u -"])
def test_python_that_a_script_runs(command: str) -> None:
    (part,) = config(f"{command} <<EOF\nload(half=True)\nEOF\n", "shell").embedded
    assert part.file.python is not None
    assert part.file.python.tree.body[0].lineno == 2


@pytest.mark.parametrize(
    "text",
    [
        "cat <<EOF\n{\"fp16\": true}\nEOF",
        "cat > a.md <<EOF\nfp16: true\nEOF",
        "cat > a.py <<EOF\nfp16 = True\nEOF",
        "python -c x <<EOF > a.json\n{\"fp16\": true}\nEOF",
        "python - <<EOF\nload($KIND)\nEOF",
        "cat <<EOF | sed s/a/b/ > a.json\n{\"fp16\": true}\nEOF",
        "cat > a.json <<EOF\n{\"fp16\": true\nEOF",
        "cat > a.yaml <<EOF\nfp16: [\nEOF",
        "cat > a.toml <<EOF\nfp16 = \nEOF",
        "cat > a.json <<EOF\n{\"fp16\": $(x\nEOF\n)}",
        "cat <<-EOF > a.yaml\n\tfp16:\n\t\tenabled: true\n\tEOF",
        "cat > $F <<EOF\nSome words.\nEOF",
        "cat <<EOF\nx\nEOF\ntee a.json",
    ],
)  # fmt: skip
def test_what_is_no_configuration_is_dropped(text: str) -> None:
    file = config(text, "shell")
    assert file.embedded == ()


EXPANSIONS = ["$X", "${X}", "${X:-1}", '$(x "y"\n z)', "`x`", "$1", "$X$Y"]


@pytest.mark.parametrize("expansion", [*EXPANSIONS, "\\$X", "\\`", "a$X", "${X}b"])
@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("a.yaml", "p: @\nq: \"@\"\nr: ['@', 1]\ns: 1"),
        ("a.json", '{"p": "@",\n"q": "@", "r": ["@", 1], "s": 1}'),
        ("a.toml", 'p = "@"\nq = \'@\'\nr = ["@", 1]\ns = 1'),
    ],
)
def test_expansions_are_unknown(name: str, body: str, expansion: str) -> None:
    text = f"cat > {name} <<EOF\n{body.replace('@', expansion)}\nEOF\n"
    assert written(text) == {name: {"p": ..., "q": ..., "r": [..., 1], "s": 1}}


@pytest.mark.parametrize("expansion", EXPANSIONS)
@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("a.yaml", "p: @\nq: {s: @}\nr: [@, 1]"),
        ("a.json", '{"p": @, "q": {"s": @},\n"r": [@, 1]}'),
        ("a.toml", "p = @\nr = [@, 1]\n[q]\ns = @"),
    ],
)
def test_bare_expansions_are_values(name: str, body: str, expansion: str) -> None:
    text = f"cat > {name} <<EOF\n{body.replace('@', expansion)}\nEOF\n"
    assert written(text) == {name: {"p": ..., "q": {"s": ...}, "r": [..., 1]}}


def variables_of(part: Embedded) -> dict[str, str]:
    assert part.file.script is not None
    return {name: value.text.chars for name, value in part.file.script.variables.items()}


def test_a_quoted_here_document_is_written_as_it_is() -> None:
    body = 'A=--x\nA="$A --y"\nB=\\$A\nEOF\n'
    parts = config(f"cat > a.env <<'EOF'\n{body}cat > b.env <<EOF\n{body}", "shell").embedded
    quoted, unquoted = map(variables_of, parts)
    assert quoted == {"A": "--x --y", "B": "$A"}
    assert unquoted == {"A": f"{UNKNOWN * 2} --y", "B": f"{UNKNOWN * 2}A"}


def test_a_here_document_ends_at_its_own_margin() -> None:
    (part,) = config("cat > a.env <<EOF\nA=1\n  EOF\nB=2\nEOF\nC=3\n", "shell").embedded
    assert variables_of(part) == {"A": "1", "B": "2"}


def test_escaped_line_ends_of_here_documents() -> None:
    text = "sbatch <<EOF\nrun \\\\\n  --a \\\n  --b\nEOF\ncat > a.yaml <<EOF\na: \\\n  1\nEOF\n"
    file = config(text, "shell")
    assert started(file) == [(["run", "--a", "--b"], {})]
    assert written(text) == {"a.yaml": {"a": 1}}


def scalars(parts: tuple[Embedded, ...]) -> Iterator[tuple[str, object]]:
    for part in parts:
        for mapping in mappings(part.file.documents):
            for entry in mapping.entries:
                if isinstance(entry.value, Scalar):
                    yield part.file.text[entry.value.span], entry.value.value
        yield from scalars(part.file.embedded)


def test_spans_are_those_of_the_file_around() -> None:
    text = (
        '# é😀\nA=1\r\ncat > a.json <<EOF\n{"a": "é", "n": $X, "b": {"c": 12}}\nEOF\n'
        "bash <<'EOF'\ncat > b.yaml <<E\nd: 'no'\nE\nEOF\n"
    )
    file = config(text, "shell")
    assert list(scalars(file.embedded)) == [('"é"', "é"), ("12", 12), ("'no'", "no")]
    assert all(part.file.text is file.text for part in file.embedded)


def test_here_documents_of_two_arms_exclude_each_other() -> None:
    body = 'cat > a.json <<EOF\n{"fp16": 1}\nEOF\n'
    one, other = config(f"if x; then\n{body}else\n{body}fi\n", "shell").embedded
    assert one.heredoc is not None
    assert other.heredoc is not None
    assert one.heredoc.command.excludes(other.heredoc.command)


def test_an_unknown_name_is_that_of_the_word_that_uses_it() -> None:
    text = (
        'F="${F:-$(mktemp)}"\ncat > "$F" <<EOF\na: 1\nEOF\nrun --config "$F"\nrun --config "$G"\n'
    )
    file = config(text, "shell")
    (part,) = file.embedded
    assert part.heredoc is not None
    assert file.script is not None
    _, same, other = file.script.commands
    assert part.heredoc.target is not None
    assert part.heredoc.target.is_same(same.words[2].traced)
    assert not part.heredoc.target.is_same(other.words[2].traced)


@pytest.mark.parametrize(
    "text",
    [
        "export P=1\nbash <<EOF\nrun --a\nEOF",
        "export P=1\nsbatch --nodes=1 <<'EOF'\n#!/bin/bash\nrun --a\nEOF",
        "export P=1\ncat <<EOF | sh\nrun --a\nEOF",
        "export P=1\nsh <<-EOF\n\trun --a\n\tEOF",
    ],
)
def test_scripts_that_a_shell_is_given(text: str) -> None:
    assert started(config(text, "shell")) == [(["run", "--a"], {"P": "1"})]


@pytest.mark.parametrize("command", ["ssh host", "ssh -p 22 host bash -s", "ssh host 'bash' -l"])
def test_scripts_that_another_machine_is_given(command: str) -> None:
    text = f"export P=1\n{command} <<'EOF'\nrun --a\nEOF"
    assert started(config(text, "shell")) == [(["run", "--a"], {})]


def test_dockerfile() -> None:
    text = (
        '# syntax=docker/dockerfile:1\nFROM x AS base\nENV P=bf16 Q="a b"\nENV  R  one\n'
        "ENV S one two\nARG T=1\nRUN --mount=type=cache,target=/x run \\\n # y\n    --p=$P \\\n\n"
        ' && run2 $T\nCMD ["run", "--a", \\\n  "b c"]\nFROM base\nENTRYPOINT run $P\n'
    )
    file = config(text, "dockerfile")
    given = {"P": "bf16", "Q": "a b", "R": "one", "S": UNKNOWN * 7}
    assert started(file) == [
        (["run", "--p=bf16"], given),
        (["run2", UNKNOWN], given),
        (["run", "--a", "b c"], given),
        (["run", UNKNOWN], {}),
    ]
    assert [part.name for part in file.embedded] == ["RUN", "CMD", "ENTRYPOINT"]
    script = file.embedded[0].file.script
    assert script is not None
    assert [text[slice(*word.span)] for word in script.commands[0].words] == ["run", "--p=$P"]


def test_working_folders_and_scripts_of_a_dockerfile() -> None:
    text = (
        "WORKDIR /app\nCOPY <<EOF a.sh\nrun no\nEOF\n"
        "RUN <<EOF\ncd x\nrun --a\nEOF\nRUN cd b && run\n"
    )
    script, last = config(text, "dockerfile").embedded
    assert started(script.file) == [(["cd", "x"], {}), (["run", "--a"], {})]
    assert last.file.script is not None
    assert last.file.script.commands[-1].directory == "/app/b"


def test_makefile() -> None:
    text = (
        "A = 1\n.PHONY: x\nx y: z\n\t@run --a $(A) \\\n\t  --b=$(call f,$(B)) $$P\n\n"
        "ifeq (1,1)\nz::\n"
        "\t-P=1 run $$P # why\n\n# x: y\nB := $(shell x)\nendif\n\tw\n"
    )
    file = config(text, "makefile")
    assert [part.name for part in file.embedded] == ["x y", "z"]
    assert [words for words, _ in started(file)] == [
        ["run", "--a", UNKNOWN * 4, f"--b={UNKNOWN * 14}", UNKNOWN * 3],
        ["run", UNKNOWN * 3],
    ]


WORKFLOW = """
env: {P: bf16, N: 2}
jobs:
  a:
    env:
      Q: "${{ secrets.X }}"
    steps:
      - run: run --p $P
      - env: {P: fp16}
        run: |
          run --n=$N \\
            --q ${{ matrix.q }} $Q
          cat > a.yaml <<EOF
          p: $P
          q:
            r: 'no'
          EOF
"""


def test_workflows() -> None:
    file = config(WORKFLOW, "yaml")
    assert [part.name for part in file.embedded] == ["jobs.a.steps.0.run", "jobs.a.steps.1.run"]
    given = {"P": "bf16", "N": "2", "Q": UNKNOWN}
    assert started(file) == [
        (["run", "--p", "bf16"], given),
        (["run", "--n=2", "--q", UNKNOWN * 15, UNKNOWN], given | {"P": "fp16"}),
        (["cat"], given | {"P": "fp16"}),
    ]
    assert written_in(file.embedded[1]) == {"a.yaml": {"p": "fp16", "q": {"r": "no"}}}
    assert list(scalars(file.embedded)) == [("$P", "fp16"), ("'no'", "no")]


MATRIX = """
jobs:
  a:
    strategy:
      matrix:
        %s
    env: {P: "${{ matrix.p }}"}
    steps:
      - run: |
          setup --once
          run --p ${{ matrix.p }} ${{matrix.q}} --r '${{ matrix.p }}' $P
"""
_QUOTED = UNKNOWN * len("${{ matrix.p }}")


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        ("{p: [fp16, bf16]}", [("fp16", UNKNOWN * 13), ("bf16", UNKNOWN * 13)]),
        (
            "{p: [fp16, bf16], q: [1, --x], exclude: [{p: fp16, q: 1}]}",
            [("fp16", "--x"), ("bf16", "1"), ("bf16", "--x")],
        ),
        ("{include: [{p: fp16, q: a}, {p: bf16, q: b}]}", [("fp16", "a"), ("bf16", "b")]),
        (
            "{p: [fp16, bf16], include: [{q: a}, {p: fp16, q: b}, {p: fp32, q: c}]}",
            [("fp16", "b"), ("bf16", "a"), ("fp32", "c")],
        ),
        ("${{ fromJSON(needs.x.outputs.y) }}", [(UNKNOWN * 15, UNKNOWN * 13)]),
        ("{p: '${{ fromJSON(needs.x) }}'}", [(UNKNOWN * 15, UNKNOWN * 13)]),
        ("{p: ['${{ inputs.p }}'], q: [a]}", [(UNKNOWN * 15, "a")]),
    ],
)
def test_a_matrix_of_jobs(matrix: str, expected: list[tuple[str, str]]) -> None:
    """The order of values and the rules of `include` are those of GitHub's documentation."""
    found = [words for words, _ in started(config(MATRIX % matrix, "yaml"))]
    assert found.count(["setup", "--once"]) == 1
    assert [words for words in found if words[0] == "run"] == [
        ["run", "--p", p, q, "--r", _QUOTED, p if UNKNOWN not in p else UNKNOWN]
        for p, q in expected
    ]


def test_a_value_of_a_matrix_stands_where_it_is_listed() -> None:
    file = config(MATRIX % "{p: [fp16, bf16], q: [x]}", "yaml")
    text = file.text.text
    commands = [each for part in file.embedded for each in part.file.script.commands]
    words = [each.words[2] for each in commands if each.words[0].text == "run"]
    places = [word.traced.origins[0] for word in words]
    assert [text[place : place + 4] for place in places] == ["fp16", "bf16"]


def written_in(part: Embedded) -> dict[str, object]:
    return {inner.name: plain(inner.file.documents[0]) for inner in part.file.embedded}


@pytest.mark.parametrize(
    "command",
    [
        "command: run --a $P",
        "command: 'run --a $P'",
        'command: "run --a bf16"',
        "command: >-\n    run\n    --a $P",
        "command: run\n    --a bf16",
        "command: [run, --a, \"bf16\"]",
        "command:\n    - run\n    - '--a'\n    - bf16",
        "command: [bash, -c]\n  args: ['run --a $P']",
        "args:\n    - run --a $P\n  command: ['/bin/bash', '-lc']",
        "command:\n    - sh\n    - -c\n    - |\n      run \\\n        --a $P",
        "setup: |\n    run --a $P",
        "entrypoint: run --a $P",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "environment",
    ["env: {P: bf16}", "environment:\n    - P=bf16", "env:\n  - name: P\n    value: bf16"],
)
def test_jobs(command: str, environment: str) -> None:
    file = config(f"job:\n  {command}\n  {environment}\n", "yaml")
    assert (["run", "--a", "bf16"], {"P": "bf16"}) in started(file)


@pytest.mark.parametrize(
    "text",
    [
        "run: {a: b}",
        "command: 1",
        "command: []",
        "command: [a, [b]]",
        "command: 'it''s'",
        "x: &x run\ncommand: *x",
    ],
)
def test_what_is_no_script(text: str) -> None:
    assert config(text, "yaml").embedded == ()


def test_a_file_without_parts() -> None:
    for format in ("json", "toml", "yaml", "shell", "dockerfile", "makefile"):
        file = config("", format)
        assert file.embedded == ()
    document = config("a: 1\n", "yaml").documents[0]
    assert isinstance(document, Mapping)
