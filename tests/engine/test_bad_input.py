"""Input that nobody should write: a finding or a note that names the file, and nothing lost."""

from __future__ import annotations

import encodings.aliases
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests import cpu_time
from tests.cli.running import BAD, FIXED, Ran, codes, project, run

SCRIPT = Path(sys.executable).with_name("precision-lint")
DEEP = {
    "parentheses": "x = " + "(" * 100_000 + "1" + ")" * 100_000,
    "open parentheses": "x = " + "(" * 100_000,
    "lists": "x = " + "[" * 5_000 + "]" * 5_000,
    "some lists": "x = " + "[" * 150 + "1" + "]" * 150,
    "sum": "x = " + "+".join(["a"] * 30_000),
    "shorter sum": "x = " + "+".join(["a"] * 900),
    "ifs": "".join(" " * row + "if a:\n" for row in range(2_000)) + " " * 2_000 + "pass",
    "some ifs": "".join(" " * row + "if a:\n" for row in range(95)) + " " * 95 + "pass",
    "elifs": "if a:\n    pass\n" + "elif b:\n    pass\n" * 3_000,
    "attributes": "x = a" + ".b" * 30_000,
    "some attributes": "x = a" + ".b" * 900,
    "calls": "x = a" + "()" * 2_500,
    "numpy calls": "x = a" + ".numpy()" * 900,
    "subscripts": "x = a" + "[0]" * 2_500,
    "not": "x = " + "not " * 20_000 + "a",
    "minus": "x = " + "-" * 2_500 + "1",
    "lambdas": "x = " + "lambda: " * 2_500 + "1",
    "conditions": "x = " + "1 if x else " * 2_500 + "0",
    "f-string": "x = f'{" * 100,
    "long line": "x = '" + "a" * 1_000_000 + "'",
    "many names": "x = [" + "a, " * 20_000 + "]",
    "functions": "".join(" " * row + "def f():\n" for row in range(90)) + " " * 90 + "pass",
    "annotation": "def f(a: '" + "(" * 5_000 + "'): a.numpy()",
    "types": "def f(a: '" + "list[" * 900 + "int" + "]" * 900 + "'): a.numpy()",
    "comprehension": "x = " + "[a for a in " * 90 + "b" + "]" * 90,
    "decorators": "@a\n" * 20_000 + "def f(): pass",
    "unions": "def f(a: " + " | ".join(["int"] * 2_000) + "): a.numpy()",
}


def script(root: Path, *arguments: str) -> Ran:
    """A run in a process of its own: a C stack that overflows takes the process with it."""
    done = subprocess.run(
        [SCRIPT, "-j1", "--output-format", "concise", *arguments],
        cwd=root,
        capture_output=True,
        timeout=cpu_time.HANG,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr.decode())


def test_deep_nesting_is_survived(tmp_path: Path) -> None:
    project(tmp_path, {"z/last.py": BAD})
    for number, (name, content) in enumerate(DEEP.items()):
        (tmp_path / f"{number:02} {name}.py").write_text(f"{BAD}{content}\ny = scores.numpy()\n")
    before = {path: path.read_bytes() for path in tmp_path.glob("*.py")}
    ran = script(tmp_path)
    assert ran.code == 1, ran.err
    assert ran.err == ""
    for path in before:  # parsed and checked, or said not to be
        assert f"{path.name}:" in ran.out
    assert "z/last.py:4:9: MP101" in ran.out
    fixed = script(tmp_path, "--fix")
    assert fixed.code == 1
    assert "internal error" not in fixed.err
    assert (tmp_path / "z/last.py").read_text() == FIXED
    for path, bytes_before in before.items():
        assert path.read_bytes().replace(b"scores.float().", b"scores.") == bytes_before


@pytest.mark.parametrize("name", DEEP)
def test_deep_nesting_on_its_own_is_said_to_be(name: str, tmp_path: Path) -> None:
    (project(tmp_path, {}) / "a.py").write_text(DEEP[name] + "\n")
    ran = run("a.py", "--output-format", "concise", cwd=tmp_path)
    assert ran.err == ""
    assert codes(ran) in ([], ["MP904"])
    assert ran.code == len(codes(ran))


DATA = {
    "t.yaml": {
        "deep flow": "a: " + "[" * 5_000 + "]" * 5_000,
        "deep block": "".join(" " * row + "a:\n" for row in range(3_000)),
        "deep list": "- " * 5_000 + "a",
        "bomb": "a: &a [x, x, x, x]\n" + "".join(
            f"{chr(98 + row)}: &{chr(98 + row)} [{', '.join(['*' + chr(97 + row)] * 9)}]\n"
            for row in range(20)
        ),
        "merge bomb": "a: &a {x: 1}\n" + "".join(
            f"m{row}: &m{row} {{<<: [{', '.join(['*' + (f'm{row - 1}' if row else 'a')] * 9)}]}}\n"
            for row in range(20)
        ),
        "itself": "a: &a [*a]\nb: &b {c: *b}",
        "merges itself": "a: &a\n  <<: *a\n  b: 1",
        "tags": "a: !custom {b: !!python/object/apply:os.system ['touch marked']}\nb: !Ref x",
        "documents": "---\na: 1\n---\nfp16: true\nbf16: true\n...\n---\n- 1\n",
        "jinja": "{% if a %}\nfp16: true\nbf16: {{ b }}\n{% endif %}",
        "undefined alias": "a: *nothing",
        "tabs": "a:\n\tb: 1",
        "duplicate keys": "fp16: true\nfp16: false\nbf16: true\nbf16: false",
        "keys of any kind": "? [a, b]\n: 1\n? {c: d}\n: 2\n1.5: x\nnull: y\ntrue: z",
        "control": "a: \x01",
        "no text": "\x00\x01\x02",
        "percent": "%YAML 9.9\n---\na: 1",
        "long": "a: " + "x" * 300_000,
        "dates": "a: 2001-99-99\nb: 0o9\nc: 1e999999\nd: !!int x\ne: !!float ''",
    },
    "t.json": {
        "comments": '// a\n{"a": 1, /* b */ "fp16": true, "bf16": true,}\n',
        "deep": "[" * 100_000 + "]" * 100_000,
        "deep and open": '{"a":' * 100_000,
        "broken": '{"fp16": true, "bf16": tru',
        "nothing": "",
        "nan": '{"a": NaN, "b": -Infinity, "c": 1e999}',
        "long number": "9" * 100_000,
        "surrogates": '{"a": "\\ud800", "\\udc00": 1}',
        "duplicate": '{"fp16": true, "bf16": true, "fp16": false}',
        "lines": '{"fp16": true}\n{"bf16": true}\n',
        "no text": "\x00",
    },
    "t.toml": {
        "broken": "a = [1,\nb = 2",
        "deep": "a = " + "[" * 20_000 + "]" * 20_000,
        "dotted": ".".join(["a"] * 20_000) + " = 1",
        "twice": "a = 1\na = 2",
        "nothing": "\n\n",
    },
    "t.sh": {
        "open quote": "export A='x\nB=$(\nfp16 bf16",
        "deep": "$(" * 5_000 + ")" * 5_000,
        "deep braces": "A=" + "${A:-" * 5_000 + "}" * 5_000,
        "doubling": "A=xxxxxxxxxxxxxxxxxxxx\n" + "A=$A$A\n" * 200,
        "itself": 'A="$A $A"\nB=$B',
        "here": "cat <<EOF\nfp16 $A\n",
        "backticks": "`" * 999,
        "continuation": "a \\\n" * 20_000,
    },
}  # fmt: skip
MENTION = {
    "t.yaml": "# fp16 bf16\n",
    "t.json": "",
    "t.toml": "# fp16 bf16\n",
    "t.sh": "# fp16 bf16\n",
}


@pytest.mark.parametrize(
    ("name", "content"),
    [(name, content) for name, cases in DATA.items() for content in cases.values()],
    ids=[f"{name} {case}" for name, cases in DATA.items() for case in cases],
)
def test_configuration(name: str, content: str, tmp_path: Path) -> None:
    project(tmp_path, {"other.py": BAD})
    (tmp_path / name).write_text(MENTION[name] + content)
    before = (tmp_path / name).read_bytes()
    for arguments in ([], [name], ["--fix"], ["--unsafe-fixes"]):
        ran = run(*arguments, "--output-format", "concise", cwd=tmp_path)
        assert ran.code in (0, 1), ran.err
        assert "internal error" not in ran.err
        if not arguments:
            assert "other.py:4:9: MP101" in ran.out
        if "in 2 files" not in ran.err and "--unsafe-fixes" not in arguments:
            assert (tmp_path / name).read_bytes() == before
    assert not (tmp_path / "marked").exists()


@pytest.mark.parametrize("name", ["t.yaml", "t.json", "t.toml"])
def test_a_broken_file_is_named_once_asked_for(name: str, tmp_path: Path) -> None:
    content = {"t.yaml": "a: [", "t.json": "{", "t.toml": "a ="}[name]
    ran = run(name, "--output-format", "concise", cwd=project(tmp_path, {name: content}))
    assert (ran.code, codes(ran)) == (1, ["MP904"])


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("import numpy as np\nprint np.mean(x)\n", []),
        ("import torch\nimport numpy as np\nprint np.mean(x)\n", ["MP904"]),
    ],
)
def test_broken_python_counts_if_it_names_tensors(
    content: str, found: list[str], tmp_path: Path
) -> None:
    ran = run("--output-format", "concise", cwd=project(tmp_path, {"t.py": content}))
    assert codes(ran) == found
    ran = run("t.py", "--output-format", "concise", cwd=tmp_path)
    assert codes(ran) == ["MP904"]


def test_a_template_is_a_note(tmp_path: Path) -> None:
    project(tmp_path, {"t.yaml": "fp16: true\n{% if bf16 %}\nbf16: {{ x }}\n{% endif %}\n"})
    ran = run(cwd=tmp_path)
    assert ran.code == 0
    assert f"note: {tmp_path}/t.yaml: skipped, " in ran.err


@pytest.mark.parametrize(
    "code",
    [
        "{% if a %}\nx = 1\n{% endif %}\n",
        "{{ cookiecutter.n }}(1\n",
        "layers = [\n    $$\n]\n",
        "def block(width, layers=??):\n    pass\n",
        "width = ${WIDTH}\n",
    ],
)
def test_a_template_of_python_is_a_note(code: str, tmp_path: Path) -> None:
    project(tmp_path, {"t.py": f"import torch\nx.half().numpy()\n{code}"})
    ran = run(cwd=tmp_path)
    assert ran.code == 0
    assert f"note: {tmp_path}/t.py: skipped, " in ran.err


def test_a_broken_cell_of_a_notebook_names_no_other_row(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": 1, "source": text}
        for text in ("import torch\nx = 1\n", "torch.autocast('cuda\n")
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    ran = run(cwd=project(tmp_path, {"t.ipynb": json.dumps(notebook)}))
    assert "cell 2" in ran.out
    assert "detected at line" not in ran.out


JUNK = {
    "empty": b"",
    "bom": b"\xef\xbb\xbf",
    "blank": b"\n\n \t\n",
    "null": BAD.encode() + b"\x00",
    "junk": bytes(range(256)) * 40 + BAD.encode(),
    "elf": b"\x7fELF\x02\x01\x01\x00" + BAD.encode(),
    "latin-1": BAD.encode() + b"# \xe9\n",
    "utf-16": BAD.encode("utf-16"),
    "two boms": b"\xef\xbb\xbf\xef\xbb\xbf" + BAD.encode(),
    "cookie": b"# coding: klingon\n" + BAD.encode(),
    "cookie of no text": b"# coding: zlib\n" + BAD.encode(),
    "cookie and bom": b"\xef\xbb\xbf# coding: latin-1\n" + BAD.encode(),
    "cookie in the second line": b"#" * 5000 + b"\n# coding: latin-1\n# \xe9\n" + BAD.encode(),
    "surrogate": BAD.encode() + b"# \xed\xa0\x80\n",
    "carriage returns": BAD.replace("\n", "\r").encode(),
    "form feed": BAD.replace("\n\n", "\n\f\n").encode(),
    "control": BAD.encode() + b"\x1a\n",
    "python 2": BAD.encode() + b"print 'x'\nexec 'y'\n",
    "backslash at the end": BAD.encode() + b"\\",
    "indentation": BAD.encode() + b"\tif x:\n        y\n",
    "unknown indent": b"if x:\n        y\n    z\n" + BAD.encode(),
    "merge conflict": BAD.encode() + b"<<<<<<< HEAD\n",
}


@pytest.mark.parametrize("content", JUNK.values(), ids=JUNK)
def test_python_that_is_none(content: bytes, tmp_path: Path) -> None:
    project(tmp_path, {"good.py": BAD})
    (tmp_path / "a.py").write_bytes(content)
    ran = run("--output-format", "concise", cwd=tmp_path)
    assert ran.code == 1
    assert ran.err == ""
    assert "good.py:4:9: MP101" in ran.out
    if b"numpy()" in content:
        assert "a.py:" in ran.out
    named = run("a.py", "--output-format", "concise", cwd=tmp_path)
    assert named.code in (0, 1)
    assert "internal error" not in named.err
    run("--fix", cwd=tmp_path)
    after = (tmp_path / "a.py").read_bytes()
    assert after.replace(b"scores.float().", b"scores.") == content


@pytest.mark.parametrize("codec", sorted(set(encodings.aliases.aliases.values())))
def test_every_codec(codec: str, tmp_path: Path) -> None:
    content = f"# coding: {codec}\n".encode() + BAD.encode() + b"# \xa4\xe9 ~{ \\x41 +AGE-\n"
    (project(tmp_path, {}) / "a.py").write_bytes(content)
    ran = run("--fix", "a.py", "--output-format", "concise", cwd=tmp_path)
    assert ran.code in (0, 1)
    assert "internal error" not in ran.err
    after = (tmp_path / "a.py").read_bytes()
    assert after.replace(b"scores.float().", b"scores.") == content


def test_a_file_of_many_lines(tmp_path: Path) -> None:
    content = BAD + "x = 1\n" * 50_000 + "y = scores.numpy()  # the last\n"
    project(tmp_path, {"a.py": content})
    ran = run("--fix", cwd=tmp_path)
    assert ran.code == 0
    assert (tmp_path / "a.py").read_text() == content.replace(
        "scores.numpy", "scores.float().numpy"
    )


def test_a_file_of_many_findings(tmp_path: Path) -> None:
    content = BAD + "".join(f"y{row} = scores.numpy()\n" for row in range(1_000))
    project(tmp_path, {"a.py": content})
    assert len(codes(run("--output-format", "concise", cwd=tmp_path))) == 1_001
    ran = run("--fix", cwd=tmp_path)
    assert ran.code == 0
    assert "(1001 fixed, 0 remaining)" in ran.out


@pytest.mark.parametrize("codec", ["unicode_escape"])
def test_what_cannot_be_fixed_is_not_said_to_be_fixable(codec: str, tmp_path: Path) -> None:
    content = f"# coding: {codec}\n{BAD}# \\x41\n".encode()
    (project(tmp_path, {}) / "a.py").write_bytes(content)
    ran = run("a.py", "--output-format", "concise", cwd=tmp_path)
    assert codes(ran) == ["MP101"]
    assert "fixable" not in ran.out
    assert "[*]" not in ran.out
