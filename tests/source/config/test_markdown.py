"""Markdown: which fences are read, as what, and what is made of documentation."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from precision_lint.facts.context import ConfigFile
from precision_lint.facts.frameworks.runs import runs
from precision_lint.model.finding import Confidence
from precision_lint.source.config.settings_tree import Scalar, mappings
from precision_lint.source.text.comments import comments
from precision_lint.source.text.fences import fences
from tests import cpu_time
from tests.cli.running import codes, project, run
from tests.context import recording
from tests.source.config.reading import config, plain

BOTH = """\
output_dir: out
per_device_train_batch_size: 1
lr_scheduler_type: cosine
fp16: true
bf16: true
"""
REFUSED = """\
export MIXED_PRECISION="bf16"
export TRAINER_EXTRA_ARGS="--max_grad_norm=1 --gradient_precision=fp32"
"""
DOCUMENT = f"# Training\n\n```yaml\n{BOTH}```\n"


def fence(body: str, info: str = "yaml") -> str:
    return f"```{info}\n{body}```\n"


def bodies(text: str) -> list[tuple[str, str]]:
    return [(each.info, text[slice(*each.body)]) for each in fences(text)]


def words(text: str) -> list[list[str]]:
    """The commands in the fences of a document."""
    scripts = (part.file.script for part in config(text, "markdown").embedded)
    commands = (command for script in scripts if script for command in script.commands)
    return [[word.text for word in command.words] for command in commands]


def documents(text: str) -> dict[str, object]:
    """The settings in the fences of a document, by the name of the fence."""
    parts = config(text, "markdown").embedded
    return {part.name: plain(part.file.documents[0]) for part in parts if part.file.documents}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("```yaml\na: 1\n```\n", [("yaml", "a: 1\n")]),
        ("~~~ yaml\na: 1\n```\n~~~", [("yaml", "a: 1\n```\n")]),
        ("````sh\n```\n````\n", [("sh", "```\n")]),
        ("```sh\na\n`````  \nb", [("sh", "a\n")]),
        ("```sh\r\na\r\n```\r\n", [("sh", "a\r\n")]),
        ("   ```sh\n   a\n   ```\n", [("sh", "   a\n")]),
        ("```sh title=\"a.sh\"\n```\n", [('sh title="a.sh"', "")]),
        ("text\n```\n```\n```a\n```", [("", ""), ("a", "")]),
        ("1. x\n\n   ```sh\n   a\n   ```\n", [("sh", "   a\n")]),
        ("- ```sh\n  a\n  ```\n", [("sh", "  a\n")]),
        ("- x\n  - y\n\n    ```sh\n    a\n    ```\n", [("sh", "    a\n")]),
        ("-\tx\n\n\t```sh\n\ta\n\t```\n", [("sh", "\ta\n")]),
        ("- x\n\n      ```sh\n      ```\n\n```py\n```\n", [("py", "")]),
        ("10. x\n```sh\na\n```\n", [("sh", "a\n")]),
        ("- ```sh\n  a\nb\n```sh\nc\n```\n", [("sh", "c\n")]),
        ("=== \"A\"\n\n    ```sh\n    a\n    ```\n", [("sh", "    a\n")]),
        ("!!! note\n    ```sh\n    a\n    ```\n", [("sh", "    a\n")]),
        ("    ```sh\n    a\n    ```\n", []),
        ("\t```sh\n\ta\n\t```\n", []),
        ("> ```sh\n> a\n> ```\n", []),
        ("<!--\n```sh\na\n```\n-->\n```py\n```\n", [("py", "")]),
        ("<!-- x -->\n```sh\na\n```\n", [("sh", "a\n")]),
        ("```sh `a`\n```py\n```\n", [("py", "")]),
        ("``sh\n``\n", []),
        ("```sh\na\n", []),
        ("```sh\na\n~~~\n``\n    ```\n", []),
    ],
)  # fmt: skip
def test_fences(text: str, found: list[tuple[str, str]]) -> None:
    assert bodies(text) == found


@pytest.mark.parametrize(
    ("info", "body"),
    [
        ("yaml", "fp16: true\n"),
        ("yml", "fp16: true\n"),
        ("YAML", "fp16: true\n"),
        ("{.yaml}", "fp16: true\n"),
        ("{ .yaml .annotate }", "fp16: true\n"),
        ("yaml{1,2}", "fp16: true\n"),
        ("json", '{"fp16": true}\n'),
        ("jsonc", '{"fp16": true,}\n'),
        ("toml", "fp16 = true\n"),
    ],
)
def test_settings(info: str, body: str) -> None:
    text = f"é\n\n{fence(body, info)}\n{fence('a: [', 'yaml')}- x\n"
    assert documents(text) == {"": {"fp16": True}}
    file = config(text, "markdown")
    (entry,) = [
        entry
        for part in file.embedded
        for mapping in mappings(part.file.documents)
        for entry in mapping.entries
    ]
    assert isinstance(entry.value, Scalar)
    assert file.text[entry.value.span] == "true"


@pytest.mark.parametrize("info", ["sh", "bash", "shell", "zsh", "env", "dotenv"])
def test_commands(info: str) -> None:
    text = fence("python a.py \\\n  --fp16\nb\n", info)
    assert words(text) == [["python", "a.py", "--fp16"], ["b"]]


@pytest.mark.parametrize("info", ["", "python", "py", "text", "diff", "ini", "{code-block} sh"])
def test_other_languages_are_left_alone(info: str) -> None:
    assert config(fence("fp16: true\n", info), "markdown").embedded == ()


@pytest.mark.parametrize("info", ["console", "shell-session", "bash"])
def test_of_a_session_only_what_is_typed_counts(info: str) -> None:
    text = (
        "$ python a.py \\\n>   --fp16\nloss --bf16 1\n\n"
        "(venv) $ python b.py \\\n    --tf32\nloss\n> no\n"
    )
    assert words(fence(text, info)) == [["python", "a.py", "--fp16"], ["python", "b.py", "--tf32"]]


def test_a_console_without_prompts_shows_what_is_printed() -> None:
    assert words(fence("python a.py --fp16\n", "console")) == []


def test_what_a_fence_writes_and_starts_is_read() -> None:
    text = fence("cat > ds.json <<EOF\n{}\nEOF\n", "sh") + fence("- run: python a.py --fp16\n")
    assert documents(text)["ds.json"] == {}
    assert ["python", "a.py", "--fp16"] in words(text)


@pytest.mark.parametrize(
    ("info", "body", "name"),
    [
        ('yaml title="conf/a.yaml"', "x: 1\n", "conf/a.yaml"),
        ("yaml title='a.yaml' {1}", "x: 1\n", "a.yaml"),
        ('yaml filename="a.yaml"', "# b.yaml\nx: 1\n", "a.yaml"),
        ("yaml", "# conf/a.yaml\nx: 1\n", "conf/a.yaml"),
        ("yaml", "\n#a.yaml \r\nx: 1\r\n", "a.yaml"),
        ("json", '// a.json\n{"x": 1}\n', "a.json"),
        ("yaml", "# as in a.yaml\nx: 1\ny: 2\n", ""),
        ("yaml", "x: 1\n# a.yaml\ny: 2\n", ""),
    ],
)
def test_names(info: str, body: str, name: str) -> None:
    assert [*documents(fence(body + ("z: 1\n" if info[0] == "y" else ""), info))] == [name]


@pytest.mark.parametrize(
    "usage",
    [
        "python a.py [--fp16] [--bf16]",
        "python a.py [--fp16 | --bf16]",
        "python a.py --fp16 | --bf16",
        "python a.py --dtype fp16|bf16",
        "python a.py --dtype={fp16|bf16}",
        "usage: a.py [-h] --fp16",
    ],
)
def test_usage_lines_are_no_commands(usage: str) -> None:
    assert words(fence(f"{usage}\n", "sh")) == []


@pytest.mark.parametrize(
    "body",
    [
        "python train.py --cache DIR (optional) \\\n  --fp16\n",
        "python train.py --cache DIR (doesn't matter here) \\\n  --fp16\n",
        "python train.py --cache DIR (or a part of it, e.g. a.txt) \\\n  --fp16 (optional)\n",
    ],
)
def test_remarks_in_parentheses_are_no_words(body: str) -> None:
    second = "python eval.py --bf16\n"
    found = words(fence(body + second, "bash"))
    assert found == [["python", "train.py", "--cache", "DIR", "--fp16"], second.split()]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("(cd a; python train.py)\n", [["cd", "a"], ["python", "train.py"]]),
        ("ALL=(--fp16)\npython train.py ${ALL[@]}\n", [["python", "train.py", "--fp16"]]),
        (
            'python train.py --note "a (b)" --x\n',
            [["python", "train.py", "--note", "a (b)", "--x"]],
        ),
    ],
)
def test_parentheses_of_the_shell_are_no_remarks(body: str, found: list[list[str]]) -> None:
    assert words(fence(body, "bash")) == found


def test_what_a_command_writes_into_a_file_has_no_remarks() -> None:
    (part, *_) = config(fence("cat > a.py <<'E'\nprint (model)\nE\n", "bash"), "markdown").embedded
    assert "print (model)" in part.file.text.text


def test_pipes_and_tests_are_no_choices() -> None:
    assert words(fence("[ -f x ] && python a.py --fp16 2>&1 | tee log\n", "sh"))


EXPLAINED = """\
# Use bf16, needs Ampere
bf16: true
fp16: true # bool
output_dir: out
# 1 to 64
per_device_train_batch_size: 1
"""


@pytest.mark.parametrize("info", ["yaml", "toml"])
def test_a_list_of_explained_settings_is_no_configuration(info: str) -> None:
    body = EXPLAINED.replace(": ", " = ").replace("out", "1") if info == "toml" else EXPLAINED
    assert documents(fence(body, info)) == {}
    bare = "".join(line for line in body.splitlines(True) if line[0] != "#")
    assert documents(fence(bare, info)) != {}


def findings(root: Path, text: str, *arguments: str) -> list[str]:
    project(root, {"docs/a.md": text})
    return codes(run("--markdown", "--output-format", "concise", *arguments, cwd=root))


def test_fences_are_checked_one_by_one(tmp_path: Path) -> None:
    assert findings(tmp_path, DOCUMENT) == ["MP702"]
    half = BOTH.replace("bf16: true\n", "")
    assert findings(tmp_path, fence(half) + fence(half.replace("fp16", "bf16"))) == []


def test_findings_have_medium_confidence(tmp_path: Path) -> None:
    assert findings(tmp_path, DOCUMENT, "--min-confidence", "medium") == ["MP702"]
    assert findings(tmp_path, DOCUMENT, "--min-confidence", "high") == []
    assert str(Confidence.MEDIUM) in run("--markdown", cwd=tmp_path).out


def test_what_a_fence_does_not_say_may_be_set(tmp_path: Path) -> None:
    body = BOTH.replace("bf16: true\n", "")
    (whole,) = runs(config(body, "yaml"), recording())
    (excerpt,) = runs(config(fence(body), "markdown"), recording())
    assert whole.is_absent("bf16")
    assert not excerpt.is_absent("bf16")


DEEPSPEED = '{"train_micro_batch_size_per_gpu": 1, "fp16": {"enabled": true}}\n'
LAUNCH = (
    "deepspeed train.py --output_dir out --per_device_train_batch_size 1 "
    "--lr_scheduler_type cosine --bf16 True --deepspeed ds.json\n"
)


def test_a_command_reads_the_fence_that_it_names(tmp_path: Path) -> None:
    command = fence(LAUNCH, "sh")
    named, nameless = fence(DEEPSPEED, 'json title="ds.json"'), fence(DEEPSPEED, "json")
    assert findings(tmp_path, named + command) == ["MP703"]
    assert findings(tmp_path, command + fence(f"// conf/ds.json\n{DEEPSPEED}", "json")) == ["MP703"]
    assert findings(tmp_path, nameless + command) == []
    assert findings(tmp_path, named + named + command) == []  # which of them is meant?


def test_other_files_are_judged_without_the_documentation(tmp_path: Path) -> None:
    project(tmp_path, {"ds.json": DEEPSPEED, "docs/a.md": fence(LAUNCH, "sh")})
    arguments = ("--markdown", "--output-format", "concise")
    assert codes(run(*arguments, "ds.json", cwd=tmp_path)) == []
    ran = run(*arguments, cwd=tmp_path)
    assert (codes(ran), ran.out.startswith("docs/a.md:")) == (["MP703"], True)


def test_markdown_is_read_only_where_that_is_asked_for(tmp_path: Path) -> None:
    project(tmp_path, {"a.md": DOCUMENT, "b.markdown": DOCUMENT, "c.py": ""})
    shown = ("--output-format", "concise")
    assert codes(run(*shown, cwd=tmp_path)) == []
    assert codes(run("a.md", "c.py", *shown, cwd=tmp_path)) == []
    assert codes(run("--markdown", *shown, cwd=tmp_path)) == ["MP702", "MP702"]
    assert codes(run("--markdown", "a.md", *shown, cwd=tmp_path)) == ["MP702"]
    project(tmp_path, {".precision-lint.toml": "markdown = true\n"})
    assert codes(run(*shown, cwd=tmp_path)) == ["MP702", "MP702"]
    project(tmp_path, {".precision-lint.toml": "markdwon = true\n"})
    ran = run(*shown, cwd=tmp_path)
    assert (ran.code, "Did you mean `markdown`?" in ran.err) == (2, True)
    project(tmp_path, {".precision-lint.toml": "markdown = 1\n"})
    assert run(*shown, cwd=tmp_path).code == 2


def test_who_names_a_document_is_told_of_the_option(tmp_path: Path) -> None:
    project(tmp_path, {"a.md": DOCUMENT})
    ran = run("a.md", cwd=tmp_path)
    assert (ran.code, "--markdown" in ran.err) == (0, True)
    assert "--markdown" not in run(cwd=tmp_path).err
    piped = ["-", "--stdin-filename", "a.md", "--output-format", "concise"]
    ran = run(*piped, cwd=tmp_path, stdin=DOCUMENT.encode())
    assert (ran.code, "--markdown" in ran.err) == (0, True)
    ran = run(*piped, "--markdown", cwd=tmp_path, stdin=DOCUMENT.encode())
    assert codes(ran) == ["MP702"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (DOCUMENT.replace("bf16: true", "bf16: true  # noqa: MP702"), []),
        (DOCUMENT.replace("bf16:", "# precision-lint: ignore[fp16-with-bf16]\nbf16:"), []),
        (f"<!-- precision-lint: ignore-file -->\n{DOCUMENT}", []),
        (f"{DOCUMENT}\n<!-- precision-lint: ignore-file -->\n", []),
        (f"# precision-lint: ignore-file\n{DOCUMENT}", ["MP702"]),
        (f"```md\n<!-- precision-lint: ignore-file -->\n```\n{DOCUMENT}", ["MP702"]),
        (f"```sh\necho 'it\n```\n{DOCUMENT.replace('bf16: true', 'bf16: true # noqa')}", []),
        (fence("a: 1  # noqa: MP702\nb: 1\nc: 1\n"), []),
        (fence("a: 1  # precision-lint: ignore[no-such-rule]\nb: 1\nc: 1\n"), []),
    ],
)
def test_suppression(text: str, found: list[str], tmp_path: Path) -> None:
    assert findings(tmp_path, text) == found


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("margin", ["", "   "])
def test_fixes_change_the_fence_alone(margin: str, newline: str, tmp_path: Path) -> None:
    lines = [margin + line for line in fence(REFUSED, "bash").splitlines()]
    text = newline.join(["1. Do:", "", *lines, "", "Then run `--gradient_precision=fp32`."])
    project(tmp_path, {"a.md": text})
    assert run("--markdown", "--fix", cwd=tmp_path).code == 0
    fixed = text.replace(" --gradient_precision=fp32", "", 1)
    assert (tmp_path / "a.md").read_bytes() == fixed.encode()
    assert run("--markdown", "--fix", cwd=tmp_path).code == 0
    assert (tmp_path / "a.md").read_bytes() == fixed.encode()


def test_prompts_are_kept_by_fixes(tmp_path: Path) -> None:
    text = fence("".join(f"$ {line}\n" for line in REFUSED.splitlines()), "console")
    project(tmp_path, {"a.md": text})
    run("--markdown", "--fix", cwd=tmp_path)
    fixed = (tmp_path / "a.md").read_text()
    assert fixed == text.replace(" --gradient_precision=fp32", "")


PIECES = st.sampled_from(
    ["```", "~~~~", "yaml", "sh", "console", "\n", "\n", "\r\n", "- ", "1. ", "> ", "    ",
     "\t", "$ ", "<!--", "-->", "fp16: true\n", "a: [\n", "cat <<E\n", "E\n", "é", "\\\n",
     "'", "[--a|b]", "\0"]
)  # fmt: skip


def within(file: ConfigFile) -> None:
    for part in file.embedded:
        assert part.file.text is file.text
        within(part.file)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join))
def test_any_text_can_be_read(text: str) -> None:
    file = config(text, "markdown")
    within(file)
    ends = [end for each in fences(text) for end in each.body]
    assert ends == sorted(ends)
    spans = comments(file.text, "markdown")
    assert spans == sorted(spans)


HOSTILE = {
    "unparsable fences": "```yaml\na: [\n```\n" * 20_000,
    "fences": "```yaml\na: 1\n```\n" * 20_000,
    "written files": "```sh\ncat > a.json <<E\n{}\nE\n```\n" * 10_000,
    "open fences": "```sh\n" * 50_000,
    "items": "- " * 150_000,
    "comments": "<!-- " * 60_000,
    "marks": "`" * 300_000,
    "titles": "```sh " + "title=" * 50_000 + "\n```\n",
    "options": "```sh\n" + "--a=--" * 50_000 + "\n```\n",
    "prompts": "```sh\n" + "$ \n> " * 30_000 + "\n```\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_documents_end(name: str) -> None:
    with cpu_time.at_most(30):
        file = config(HOSTILE[name], "markdown")
        within(file)
        comments(file.text, "markdown")


COMMAND = ["python", "train.py", "--fp16"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("python train.py --fp16\n", COMMAND),
        ("Train:\n\n    python train.py --fp16\n\nThen wait.\n", COMMAND),
        ("$ python train.py --fp16\nepoch 1\n", COMMAND),
        ("  $ torchrun train.py --fp16", ["torchrun", "train.py", "--fp16"]),
        ("python train.py \\\n --fp16\n\n# Next\n", COMMAND),
        ("python train.py \\\r\n  --fp16 \\\r\n\r\nNext\r\n", COMMAND),
        ('python t.py --say "Sit. And (do) not go on"\n', None),
        ("<!-- a -->\npython train.py --fp16\n", COMMAND),
        ("```\ntree\n```\npython train.py --fp16\n", COMMAND),
    ],
)
def test_commands_that_are_lines_of_their_own(text: str, found: list[str] | None) -> None:
    said = ["python", "t.py", "--say", "Sit. And (do) not go on"]
    assert words(text) == [found or said]


@pytest.mark.parametrize(
    "text",
    [
        "python train.py\n",
        "Python train.py --fp16\n",
        "Run python train.py --fp16\n",
        "python train.py --fp16, which is faster\n",
        "python train.py --fp16 trains in half precision\n",
        "python train.py --fp16 (or bf16)\n",
        "python train.py --fp16.\n",
        "python train.py with `--fp16` is faster\n",
        "python train.py --lr 1\n  --fp16\n",
        "python train.py --lr 1 \\ \n  --fp16\n",
        "> python train.py --fp16\n",
        "<!--\npython train.py --fp16\n-->\n",
        "<!--\npython train.py --fp16\n",
        "```python\npython train.py --fp16\n```\n",
        "```text\n$ python train.py --fp16\n```\n",
        "| python train.py --fp16 |\n",
        "python train.py [--fp16]\n",
        "python train.py --bf16 \\\\\n  --fp16\n",
        "python train.py --fp16 <br />\n",
        "python train.py --fp16|--bf16\n",
        "python: train.py --fp16\n",
        "pip install python --upgrade\n",
    ],
)
def test_lines_that_are_no_commands(text: str) -> None:
    assert words(text) == []


def test_a_command_in_a_line_is_no_second_one() -> None:
    assert words(fence("python train.py --fp16\n", "sh")) == [COMMAND]
    assert words(fence("python train.py --fp16\n", "")) == [COMMAND]
    assert words("Run `python train.py --fp16` now\n") == [COMMAND]
    assert words("`python train.py --fp16`\n") == [COMMAND]
