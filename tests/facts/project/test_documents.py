"""Which documents show programs of the project, and what is asked of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.project.facts import ProjectFacts
from precision_lint.facts.project.shown_loads import shown_load
from precision_lint.project.files import Project

PROGRAM = "```python\nimport torch\nfrom pkg import Model\n\nModel({dtype})\n```\n"
SHOWN = PROGRAM.format(dtype="torch.bfloat16")
PACKAGE = {
    "pkg/__init__.py": "from .model import Model\n",
    "pkg/model.py": "import torch\nfrom .parts import part\n\n\nclass Model:\n    pass\n",
    "pkg/parts.py": "def part():\n    pass\n",
    "other.py": "import torch\n",
}


def facts(root: Path, **documents: str) -> ProjectFacts:
    for name, content in {**PACKAGE, **documents}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return ProjectFacts(Project(root))


def naming(root: Path, file: str = "pkg/model.py", name: str = "Model", **files: str) -> list[str]:
    found = facts(root, **files).recording().documents(root / file, name)
    return [path.relative_to(root).as_posix() for path in found]


@pytest.mark.parametrize(
    "name", ["README.md", "docs/use.mdx", "docs/en/use.markdown", "examples/README.md"]
)
def test_a_document_names_a_class(name: str, tmp_path: Path) -> None:
    assert naming(tmp_path, **{name: SHOWN}) == [name]


def test_docstrings_and_constants_are_documents(tmp_path: Path) -> None:
    code = SHOWN.replace("```python", ">>> x = 1").replace("\n\n", "\n").replace("\n", "\n>>> ")
    assert naming(tmp_path, **{"a.py": f'DOC = """\n{code[:-8]}\n"""\n'}) == ["a.py"]


def test_documents_near_the_root_come_first_and_they_are_few(tmp_path: Path) -> None:
    pages = {f"docs/{number}.md": SHOWN for number in range(20)}
    found = naming(tmp_path, **pages, **{"README.md": SHOWN})
    assert found[0] == "README.md"
    assert len(found) == 8


@pytest.mark.parametrize(
    "files",
    [
        {"README.md": PROGRAM.format(dtype="torch.float16")},
        {"README.md": SHOWN.replace("python", "text")},
        {"README.md": "bfloat16\n\n" + PROGRAM.format(dtype="")},
        {"README.md": SHOWN.replace("from pkg", "from elsewhere")},
        {"README.md": SHOWN.replace("from pkg import Model", "from other import Model")},
        {"tests/README.md": SHOWN},
        {"third_party/README.md": SHOWN},
        {"benchmarks/README.md": SHOWN},
        {"inner/README.md": SHOWN, "inner/pyproject.toml": ""},
        {"README.md": SHOWN, ".gitignore": "README.md\n"},
        {"node_modules/README.md": SHOWN},
    ],
)
def test_other_documents_name_nothing(files: dict[str, str], tmp_path: Path) -> None:
    assert naming(tmp_path, **files) == []


def test_a_document_that_is_no_text(tmp_path: Path) -> None:
    project = facts(tmp_path)
    (tmp_path / "README.md").write_bytes(b"\xff" + SHOWN.encode())
    assert project.recording().documents(tmp_path / "pkg/model.py", "Model") == ()


def test_a_file_is_a_part_of_what_its_importers_are_a_part_of(tmp_path: Path) -> None:
    assert naming(tmp_path, "pkg/parts.py", **{"README.md": SHOWN}) == ["README.md"]
    assert naming(tmp_path, "other.py", **{"README.md": SHOWN}) == []


def test_a_page_of_a_project_inside(tmp_path: Path) -> None:
    inner = {f"inner/{name}": content for name, content in PACKAGE.items()}
    files = {**inner, "inner/setup.py": "", "inner/docs/use.md": SHOWN}
    assert naming(tmp_path, "inner/pkg/model.py", **files) == ["inner/docs/use.md"]
    assert naming(tmp_path, "pkg/model.py", **files) == []


LOADS = [
    'Model.from_pretrained("a", torch_dtype=torch.bfloat16)',
    'Model.from_pretrained("a", dtype="bfloat16")',
    'm = Model.from_pretrained("a").eval()\nm.to("cuda", torch.bfloat16)',
    'm = Model.from_pretrained("a")\nm = m.cuda()\nm.bfloat16()',
    'd = torch.bfloat16\nm = Model.from_pretrained("a", dtype=d)',
    'with torch.no_grad():\n    m = Model.from_pretrained("a").bfloat16()',
]
OTHERS = [
    'Model.from_pretrained("a", torch_dtype=torch.float32); torch.bfloat16',
    'Other.from_pretrained("a", torch_dtype=torch.bfloat16)',
    'm = Model.from_pretrained("a")\nx = m.encode(1).to(torch.bfloat16)',
    'm = Model.from_pretrained("a")\nm.part.to(torch.bfloat16)',
    'm = Model.from_pretrained("a")\nx = m.encode(1)\nx.to(torch.bfloat16)',
    'm = Model.from_pretrained("a")\nm = other\nm.to(torch.bfloat16)',
    'd = torch.bfloat16\nd = None\nm = Model.from_pretrained("a", dtype=d)',
]


def loaded(root: Path, code: str) -> int | None:
    page = f"```python\nimport torch\nfrom pkg import Model\n{code}\n```\n"
    project = facts(root, **{"README.md": page}).recording()
    found = shown_load("Model", root / "pkg/model.py", project)
    return None if found is None else found.place.start.row


@pytest.mark.parametrize("code", LOADS)
def test_loads_in_bfloat16(code: str, tmp_path: Path) -> None:
    assert loaded(tmp_path, code) == 4 + code.count("\n")


@pytest.mark.parametrize("code", OTHERS)
def test_no_loads_in_bfloat16(code: str, tmp_path: Path) -> None:
    assert loaded(tmp_path, code) is None
