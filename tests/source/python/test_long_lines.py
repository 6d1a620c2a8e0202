"""Lines that a fix makes too long: ruff's formatter is the judge."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from precision_lint.model.finding import Edit, Span, apply_edits
from precision_lint.source.python.long_lines import within_limit
from precision_lint.source.python.parse import parse_python
from precision_lint.source.text.text import SourceText

_BESIDE = Path(sys.executable).with_name("ruff")
RUFF = str(_BESIDE) if _BESIDE.exists() else shutil.which("ruff")

VALUES = (
    "old.detach().cpu().numpy()",
    "out[name].reshape(shape, old).detach().cpu()",
    "f(a, old)",
    "g.f(a[0], old, key=value).to(x)",
    "torch.log_softmax(old, dim=-1).gather(1, targets)",
    "x.float().quantile(torch.tensor([0.5, old]), dim=0)",
    "tl.load(p + o, mask=m, other=0.0).to(old)",
    "f(x, *args, **kwargs).to(old)",
    "f(x for x in old)",
    "a if old else b",
    "x if a and old else y",
    "f(old) if old.c else None",
    "old and b",
    "a + old",
    "[old, b]",
    "(a, old)",
    "a[old]",
)
FRAMES = (
    "x = {}\n",
    "x[0], y = {}\n",
    "x: int = {}\n",
    "def f():\n    return {}\n",
    "{}\n",
    "if {}:\n    pass\n",
    "if q:\n    pass\nelif {}:\n    pass\n",
    "def f():\n    g(\n        {},\n    )\n",
    "g(\n    a,\n    key={},\n)\n",
    "g(\n    {}, a, key=1\n)\n",
    "x = [\n    {},\n]\n",
    "x = (\n    a\n    if {}\n    else c\n)\n",
)
NEW = (
    "old_value.to(torch.float32)",
    "old.float()",
    "torch.cuda.is_bf16_supported(including_emulation=False)",
)


def formatted(folder: Path, sources: list[str], limit: int) -> list[str]:
    assert RUFF is not None
    paths = [folder / f"case{number}.py" for number in range(len(sources))]
    for path, source in zip(paths, sources, strict=True):
        path.write_text(source)
    command = [RUFF, "format", "-q", "--isolated", "--no-cache", f"--line-length={limit}", folder]
    subprocess.run(command, check=True)
    return [path.read_text() for path in paths]


def fixed(source: str, new: str, limit: int) -> str:
    """The source with other text for the first `old`."""
    start = source.index("old")
    edit = Edit(Span(start, start + len("old")), new)
    file = parse_python(SourceText(Path("case.py"), source))
    return apply_edits(source, within_limit(file, [edit], limit))


@pytest.mark.skipif(RUFF is None, reason="ruff is not installed")
@pytest.mark.parametrize("limit", [46, 60, 70, 88])
def test_a_line_is_broken_as_ruff_does_or_not_at_all(limit: int, tmp_path: Path) -> None:
    sources = [
        frame.format(value)
        for frame in FRAMES
        for value in VALUES
        if "\n    if {}" not in frame or " if " not in value  # a choice there has parentheses
    ]
    before = [
        source
        for source in formatted(tmp_path, sources, limit)
        if max(map(len, source.splitlines())) <= limit
    ]
    plain = [source.replace("old", new, 1) for source in before for new in NEW]
    after = [fixed(source, new, limit) for source in before for new in NEW]
    wanted = formatted(tmp_path, plain, limit)
    broken = 0
    for one, mine, its in zip(plain, after, wanted, strict=True):
        assert mine in {one, its}
        assert ast.dump(ast.parse(mine)) == ast.dump(ast.parse(one))
        broken += mine == its != one
    needed = sum(one != its for one, its in zip(plain, wanted, strict=True))
    assert broken >= needed * 0.4


@pytest.mark.parametrize(
    "source",
    [
        "x = old.a()  # why\n",
        f"x = old.a()\ny = '{'long' * 30}'\n",
        'x = """\ny = old.a()\n"""\n',
        "x = old.a() + \\\n    old.b()\n",
        "if old.a(): x = 1\n",
    ],
)
def test_what_is_left_to_the_formatter(source: str) -> None:
    new = "old.float().detach().cpu().numpy"
    assert fixed(source, new, 30) == source.replace("old", new, 1)


def test_the_condition_of_a_choice() -> None:
    source = "x = (\n    a\n    if one.is_there() and old\n    else c\n)\n"
    new = "    if one.is_there()\n    and two.is_there_too()\n    else c\n"
    assert new in fixed(source, "two.is_there_too()", 30)
