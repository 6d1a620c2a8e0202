"""Whatever the program: no crash, and fixes keep their promises."""

from __future__ import annotations

import ast
import tokenize
from collections import Counter
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from precision_lint.engine.job import Job, Result
from precision_lint.engine.run import lint_bytes
from precision_lint.engine.settings import Settings
from precision_lint.facts.project.facts import ProjectFacts
from precision_lint.model.finding import Applicability, Related, Severity, Span
from precision_lint.project.files import Project
from precision_lint.source.text.text import SourceText
from tests.property.programs import programs

PATH = Path("/nowhere/case.py")
PROFILE = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(autouse=True)
def uses_bfloat16(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the project choose bfloat16 in another file, so that every finding is shown."""
    place = SourceText(Path("/nowhere/config.py"), "dtype = 'bf16'\n").place(Span(8, 14))
    chosen = Related(place, "the project uses bfloat16 here")
    monkeypatch.setattr(ProjectFacts, "half_precision", chosen)
    monkeypatch.setattr(ProjectFacts, "bfloat16_weights", chosen)


def lint(content: bytes, fix: Applicability | None = None) -> Result:
    job = Job(Project(PATH.parent), Settings(), fix, write=False, named=frozenset([PATH]))
    result = lint_bytes(job, PATH, content, "python")
    assert result.failure is None, result.failure
    return result


def codes(content: bytes) -> list[str]:
    return [finding.code for finding in lint(content).findings]


def parses(content: str) -> bool:
    try:
        ast.parse(content)
    except (SyntaxError, ValueError):
        return False
    return True


def reads_before_it_assigns(content: str) -> bool:
    """Whether a name is read no later than it is first assigned: inside a function that raises."""
    tree = ast.parse(content)
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    # What a class inside assigns is an attribute of the class.
    inner = {
        id(name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for name in ast.walk(node)
    }
    augmented = {id(each.target) for each in ast.walk(tree) if isinstance(each, ast.AugAssign)}
    # A statement of several lines assigns at its end, whatever line the target is on.
    ends = {
        id(name): statement.end_lineno
        for statement in ast.walk(tree)
        if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign)
        for name in ast.walk(statement)
    }
    stored: dict[str, int] = {}
    for node in names:
        if isinstance(node.ctx, ast.Store) and id(node) not in inner:
            end = ends.get(id(node)) or node.lineno
            stored[node.id] = min(end, stored.get(node.id, end))
    return any(
        (isinstance(node.ctx, ast.Load) or id(node) in augmented)  # it reads what it assigns
        and node.lineno <= stored.get(node.id, 0)
        for node in names
    )


def comments(content: str) -> Counter[str]:
    tokens = tokenize.generate_tokens(StringIO(content).readline)
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)


@pytest.mark.parametrize("level", [Applicability.SAFE, Applicability.UNSAFE], ids=str)
@PROFILE
@given(program=programs(), end=st.sampled_from(["\n", "\r\n"]), bom=st.booleans())
def test_fixes_keep_their_promises(level: Applicability, program: str, end: str, bom: bool) -> None:
    content = b"\xef\xbb\xbf" * bom + program.replace("\n", end).encode()
    before = lint(content)
    if not parses(program):
        assert [finding.code for finding in before.findings] == ["MP904"]
        assert lint(content, level).before is None
        return
    result = lint(content, level)
    if result.before is None or result.text is None:
        assert not result.fixed
        return
    after = result.text.to_bytes()
    assert after != content
    assert result.before.to_bytes() == content
    text = result.text.text
    assert parses(text)  # P1
    again = lint(after, level)
    assert again.before is None  # P2
    assert again.findings == result.findings
    assert after.startswith(b"\xef\xbb\xbf") == bom  # P3
    assert "\n" not in text.replace("\r\n", "") or end == "\n"
    assert ("\r" in text) == (end == "\r\n")
    lost = comments(program) - comments(text.replace("\r\n", "\n"))  # P4
    assert all("MP" in comment or "precision-lint:" in comment for comment in lost)
    more = Counter(codes(after)) - Counter(finding.code for finding in before.findings)  # P6
    # What raises hides what runs after it: a fix may uncover what was there, not add to it.
    found = [text[each.span.start : each.span.end] for each in again.findings if each.code in more]
    assert not found or any(each.severity is Severity.ERROR for each in before.findings)
    assert all(each in content.decode("utf-8-sig") for each in found)


def indented(program: str, head: str) -> str:
    return f"{head}\n" + "".join(f"\t{line}\n" for line in program.split("\n"))


@PROFILE
@given(program=programs())
def test_line_ends_and_byte_order_marks_say_nothing(program: str) -> None:
    expected = codes(program.encode())
    assert codes(program.replace("\n", "\r\n").encode()) == expected
    assert codes(b"\xef\xbb\xbf" + program.encode()) == expected
    assert codes(program.encode() + b"\n\n# the end\n") == expected


@pytest.mark.parametrize("head", ["if True:", "def wrapped():", "class Wrapped:", "with open(p):"])
@PROFILE
@given(program=programs())
@example(program="import torch\nimport numpy as np\nx = np.array(\n    x.bfloat16(),\n)\n")
@example(program="import torch\nx.half().softmax(-1).tolist()\n")
@example(program="import torch\nx.bfloat16().softmax(-1).tolist()\n")
@example(
    program="import torch\nimport numpy as np\nwith torch.no_grad():\n"
    "\tx += torch.zeros(2, dtype=torch.bfloat16)\n\tnp.asarray(torch.zeros(2, dtype=x.dtype))\n"
)
def test_wrapping_keeps_the_findings(head: str, program: str) -> None:
    assume("'''" not in program and "__future__" not in program and parses(program))
    preamble, mark, rest = program.partition("torch\n")
    wrapped = preamble + mark + indented(rest, head)
    assume(parses(wrapped))
    is_scope = head in ("def wrapped():", "class Wrapped:")
    assume(not is_scope or not reads_before_it_assigns(rest))
    expected = codes(program.encode())
    found = codes(wrapped.encode())
    if head != "class Wrapped:" or "def " not in program:
        assert found == expected


@PROFILE
@given(program=programs())
def test_the_name_of_an_import_says_nothing(program: str) -> None:
    assume(parses(program) and "import numpy as np, torch" not in program)
    renamed = program.replace("import torch\n", "import torch as T\n").replace("torch.", "T.")
    assume("import torch as T" in renamed)
    assert codes(renamed.encode()) == codes(program.encode())


@settings(max_examples=300, deadline=None)
@given(content=st.binary(max_size=200))
def test_any_bytes(content: bytes) -> None:
    for body in (content, b"import torch\nx.numpy()\n" + content, b"# coding: latin-1\n" + content):
        result = lint(body, Applicability.UNSAFE)
        assert result.before is None or result.before.to_bytes() == body


@settings(max_examples=300, deadline=None)
@given(
    content=st.lists(
        st.sampled_from(
            ["fp16", "bf16", ": ", "true", "\n", "  ", "- ", "{", "}", "[", "]", ",", '"', "'", "#",
             "=", "export ", "$", "${", "&a ", "*a", "|\n", "//", "\\", "<<: ", "!t ", "é", "\r\n",
             "mixed_precision", "gradient_precision", "fp32", "no", "\t", "---\n"]
        ),
        max_size=30,
    ).map("".join),
    kind=st.sampled_from(["yaml", "json", "toml", "shell"]),
)  # fmt: skip
def test_any_configuration(content: str, kind: str) -> None:
    path = PATH.with_suffix(".txt")
    body = content.encode()
    job = Job(
        Project(path.parent), Settings(), Applicability.UNSAFE, write=False, named=frozenset([path])
    )
    result = lint_bytes(job, path, body, kind)  # type: ignore[arg-type]
    assert result.failure is None, result.failure
    if result.before is not None and result.text is not None:
        again = lint_bytes(job, path, result.text.to_bytes(), kind)  # type: ignore[arg-type]
        assert again.before is None
