"""Suppression comments: every form, in every format, and none inside a string."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import BAD, BROKEN, codes, project, run

LINE = "array = scores.numpy()"
HEAD = BAD[: BAD.index("array")]


def found(root: Path, *arguments: str) -> list[str]:
    return codes(run("--output-format", "concise", *arguments, cwd=root))


def python(tmp_path: Path, content: str) -> list[str]:
    return found(project(tmp_path, {"a.py": content}))


def fixed(root: Path, name: str = "a.py") -> str:
    run("--fix", cwd=root)
    return (root / name).read_bytes().decode()


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa",
        "#noqa",
        "# NOQA",
        "# noqa: MP101",
        "# noqa:MP101",
        "# noqa : mp101",
        "# noqa: E501, MP101",
        "# noqa: E501 MP101 because",
        "# noqa: MP101  # type: ignore",
        "# type: ignore  # noqa: MP101",
        "# precision-lint: ignore[MP101]",
        "# precision-lint: ignore[mp101]",
        "# precision-lint: ignore[numpy-on-bfloat16]",
        "# precision-lint: ignore[numpy-on-bfloat16] it is never bfloat16 here",
        "# precision-lint:ignore[ E501x , MP101 ]".replace("E501x , ", ""),
        "# pragma: no cover # precision-lint: ignore[MP101]",
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", ""], ids=["lf", "crlf", "no final newline"])
def test_on_the_line(comment: str, end: str, tmp_path: Path) -> None:
    content = f"{HEAD}{LINE}  {comment}\n".replace("\n", end or "\n")
    assert python(tmp_path, content if end else content.rstrip("\n")) == []


@pytest.mark.parametrize("comment", ["# noqa: MP101", "# precision-lint: ignore[MP101] why"])
def test_alone_on_the_line_above(comment: str, tmp_path: Path) -> None:
    assert python(tmp_path, f"{HEAD}{comment}\n{LINE}\n") == []
    assert python(tmp_path, f"{HEAD}if True:\n    {comment}\n    {LINE}\n") == []
    assert python(tmp_path, f"{HEAD}{comment}\n# noqa: MP201\n{LINE}\n") == ["MP901"]
    assert python(tmp_path, f"{HEAD}{comment}\n\n{LINE}\n") == ["MP901", "MP101"]
    assert python(tmp_path, f"{HEAD}x = 1  {comment}\n{LINE}\n") == ["MP901", "MP101"]
    assert python(tmp_path, f"{HEAD}{LINE}\n{comment}\n") == ["MP101", "MP901"]


def test_a_finding_of_several_lines(tmp_path: Path) -> None:
    for content in ("y = (scores  # noqa: MP101\n     .numpy())\n",
                    "y = (scores\n     .numpy())  # noqa: MP101\n",
                    "# noqa: MP101\ny = (scores\n     .numpy())\n",
                    "y = scores \\\n    .numpy()  # noqa: MP101\n"):  # fmt: skip
        assert python(tmp_path, HEAD + content) == []


@pytest.mark.parametrize(
    "line",
    [
        f'{LINE}; s = "# noqa: MP101"',
        f"{LINE}; s = '''\n# noqa: MP101\n'''",
        f"{LINE}  # TODO noqa: MP101",
        f"{LINE}  # see precision-lint: ignore[MP101]",
        f"{LINE}  # precision-lint: disable[MP101]",
        f"{LINE}  # noqa: MP201, E501",
        f"{LINE}  #\n# noqa2",
    ],
)
def test_what_is_no_suppression_of_it(line: str, tmp_path: Path) -> None:
    assert "MP101" in python(tmp_path, f"{HEAD}{line}\n")


def test_codes_do_not_run_into_the_next_line(tmp_path: Path) -> None:
    assert python(tmp_path, "x = 1  # noqa: E501,\nMP101 = 2\n") == []
    assert python(tmp_path, "x = 1  #\nnoqa = 2\n") == []
    assert python(tmp_path, "x = 1  # noqa: E501\nMP999 = 2\n") == []


def test_ignore_file(tmp_path: Path) -> None:
    mark = "# precision-lint: ignore-file\n"
    for content in (mark + BAD, BAD + mark, HEAD + f"{LINE}  {mark}",
                    mark + "x = 1  # noqa: MP101, MP999\n", mark + BROKEN):  # fmt: skip
        assert python(tmp_path, content) == []
    assert python(tmp_path, f's = "{mark.strip()}"\n' + BAD) == ["MP101"]


def test_what_cannot_be_parsed_can_be_silenced(tmp_path: Path) -> None:
    assert python(tmp_path, BROKEN.replace("numpy(", "numpy(  # noqa: MP904")) == []
    assert python(tmp_path, BROKEN.replace("numpy(", "numpy(  # noqa")) == ["MP904"]
    content = BROKEN.replace("torch\n", "torch  # noqa: MP101\n")
    assert python(tmp_path, content) == ["MP904"]  # nothing was checked: nothing is unused


def test_per_file_ignores_hold_for_suppressions(tmp_path: Path) -> None:
    table = '[per-file-ignores]\n"a.py" = ["MP9"]\n'
    project(tmp_path, {"a.py": "x = 1  # noqa: MP101, MP999\n", ".precision-lint.toml": table})
    assert found(tmp_path) == []


@pytest.mark.parametrize(
    ("line", "codes", "after"),
    [
        ("x = 1  # noqa: MP101", ["MP901"], "x = 1"),
        ("x = 1\t#noqa:MP101", ["MP901"], "x = 1"),
        ("x = 1  # noqa: E501, MP101", ["MP901"], "x = 1  # noqa: E501"),
        ("x = 1  # noqa: MP101, E501", ["MP901"], "x = 1  # noqa: E501"),
        ("x = 1  # noqa: E501 MP101 W1", ["MP901"], "x = 1  # noqa: E501 W1"),
        ("x = 1  # noqa: MP101,MP201", ["MP901"] * 2, "x = 1"),
        ("x = 1  # noqa: MP101  # keep", ["MP901"], "x = 1  # keep"),
        ("x = 1  # keep  # noqa: MP101", ["MP901"], "x = 1  # keep"),
        ("# noqa: MP101\nx = 1", ["MP901"], "x = 1"),
        ("# keep  # noqa: MP101\nx = 1", ["MP901"], "# keep\nx = 1"),
        ("x = 1  # precision-lint: ignore[MP101]", ["MP901"], "x = 1"),
        ("x = 1  # precision-lint: ignore[MP101] why", ["MP901"], "x = 1"),
        (
            "x = 1  # precision-lint: ignore[numpy-on-bfloat16, MP999]",
            ["MP901", "MP902"],
            "x = 1  # precision-lint: ignore[MP999]",
        ),
        ("x = 1  # noqa: MP999", ["MP902"], "x = 1  # noqa: MP999"),
        ("x = 1  # precision-lint: ignore[E501]", ["MP902"], None),
        ("x = 1  # noqa: E501, ABC123", [], None),
        ("x = 1  # noqa", [], None),
        ("x = 1  # precision-lint: ignore[]", [], None),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_unused_and_unknown(
    line: str, codes: list[str], after: str | None, end: str, tmp_path: Path
) -> None:
    content = f"a = 0\n{line}\nb = 0\n".replace("\n", end)
    assert python(tmp_path, content) == codes
    expected = content if after is None else f"a = 0\n{after}\nb = 0\n".replace("\n", end)
    assert fixed(tmp_path) == expected


def test_an_unknown_name_gets_a_suggestion(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": "x = 1  # precision-lint: ignore[numpy-on-bf16]\n"})
    assert "did you mean `numpy-on-bfloat16`?" in run(cwd=tmp_path).out


def test_unused_is_not_said_of_rules_that_did_not_run(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": "x = 1  # noqa: MP101\n"})
    assert found(tmp_path, "--select", "MP9") == []
    assert found(tmp_path, "--ignore", "MP1") == []
    assert found(tmp_path, "--ignore", "MP901") == []
    assert found(tmp_path, "--select", "MP9,MP1") == ["MP901"]


def test_a_less_sure_finding_uses_its_suppression(tmp_path: Path) -> None:
    content = "import torch\n\n\ndef f(x: torch.Tensor):\n    return x.numpy()  # noqa: MP101\n"
    assert python(tmp_path, content) == []


FORMATS = {
    "t.yaml": ("fp16: true", "#"),
    "t.toml": ("fp16 = true", "#"),
    "t.sh": ("export FP16=true", "#"),
    ".env": ("FP16=true", "#"),
    "t.json": ('"fp16": true', "//"),
}


def text(name: str, line: str) -> str:
    return f"{{\n{line}\n}}\n" if name == "t.json" else f"{line}\n"


@pytest.mark.parametrize(("name", "setting", "mark"), [(k, *v) for k, v in FORMATS.items()])
def test_other_formats(name: str, setting: str, mark: str, tmp_path: Path) -> None:
    for directive in ("noqa: MP999", "precision-lint: ignore[no-such]"):
        comment = f"{mark} {directive}"
        assert found(project(tmp_path, {name: text(name, f"{setting} {comment}")})) == ["MP902"]
        assert found(project(tmp_path, {name: text(name, f"{comment}\n{setting}")})) == ["MP902"]
    unused = text(name, f"{setting} {mark} noqa: MP101")
    assert found(project(tmp_path, {name: unused})) == ["MP901"]
    assert fixed(tmp_path, name) == text(name, setting)
    ignored = text(name, f"{mark} precision-lint: ignore-file\n{setting} {mark} noqa: MP999")
    assert found(project(tmp_path, {name: ignored})) == []


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("t.yaml", 'a: "x # noqa: MP999"'),
        ("t.yaml", "a: 'x # noqa: MP999'"),
        ("t.yaml", "a: |\n  x\n  # noqa: MP999\nb: 1"),
        ("t.yaml", "a: x#noqa: MP999".replace(": MP", ":MP")),
        ("t.yaml", "a: x // noqa: MP999"),
        ("t.toml", 'a = "x # noqa: MP999"'),
        ("t.toml", 'a = """\nx # noqa: MP999\n"""'),
        ("t.toml", "a = 'x # noqa: MP999'"),
        ("t.sh", 'A="x # noqa: MP999"'),
        ("t.sh", "A='x\n# noqa: MP999'"),
        ("t.sh", "A=x#noqa:MP999"),
        ("t.sh", "A=x\\ \\# noqa: MP999"),
        ("t.json", '"a": "x // noqa: MP999"'),
        ("t.json", '"a": "x # noqa: MP999"'),
        ("t.json", '"a": "x \\" // noqa: MP999"'),
    ],
)
def test_strings_hold_no_suppression(name: str, line: str, tmp_path: Path) -> None:
    assert found(project(tmp_path, {name: text(name, line)})) == []


def test_findings_in_configuration_are_silenced(tmp_path: Path) -> None:
    head = "output_dir: out\nlearning_rate: 1.0e-5\nper_device_train_batch_size: 2\nbf16: true\n"
    [code] = found(project(tmp_path, {"t.yaml": head + "fp16: true\n"}))
    for line in (f"fp16: true  # noqa: {code}\n", f"# noqa: {code}\nfp16: true\n",
                 f"fp16: true  # precision-lint: ignore[{code}] why\n"):  # fmt: skip
        assert found(project(tmp_path, {"t.yaml": head + line})) == []
    content = "|  # noqa: MP999\n  text # noqa: MP999\n  # noqa: MP999\nb: 1 # noqa: MP999\n"
    assert found(project(tmp_path, {"t.yaml": f"a: {content}"})) == ["MP902"] * 2
