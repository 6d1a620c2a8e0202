"""The house: who may import whom, what is where, and what a run does not import."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path

import pytest

from precision_lint import rule_api
from precision_lint.engine import registry
from precision_lint.model.rule import Rule
from tests import cpu_time

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
SCRIPT = Path(sys.executable).with_name("precision-lint")
PACKAGES = {
    "precision_lint": ROOT / "precision_lint",
    "precision_lint.rules": ROOT / "rules",
    "precision_lint.fixers": ROOT / "fixers",
    "precision_lint.runtime": ROOT / "runtime",
}
MODULES = [
    (package, path)
    for package, folder in PACKAGES.items()
    for path in sorted(folder.rglob("*.py"))
    if "__pycache__" not in path.parts
]
BELOW: dict[str, set[str]] = {
    "model": set(),
    "project": {"model"},
    "source": {"model", "project"},
    "facts": {"model", "project", "source"},
    "fixers": {"model", "project", "source", "facts"},
    "rules": {"model", "project", "source", "facts", "fixers"},
    "engine": {"model", "project", "source", "facts"},
    "report": {"model", "project", "source", "facts", "engine"},
    "api": {"model", "project", "source", "facts", "engine", "report"},
    "scan": {"model", "project", "source", "facts", "engine", "report", "api"},
    "cli": {"model", "project", "source", "facts", "engine", "report", "api", "scan"},
    "runtime": set(),
}
"""Each layer is a folder or a module, and imports itself and these."""

PARTS_OF_THE_FLOW = ["syntax", "domain", "libraries", "operators", "interpreter", "whole_program"]
"""The packages of `facts.dtypes`: each imports itself, those before it, and generated tables."""

PARTS_OF_THE_RUNS = ["interpreter", "written", "code", "readers", "options", "roles", "in_vain"]
"""The packages of `facts.runs`: each imports itself, those before it, and the formats."""

LOOSE = {"precision_lint", "precision_lint.__main__", "precision_lint.rule_api"}
"""The modules that are in no layer: the package, its start, and the one import of a rule."""

FIXERS_SEE = re.compile(
    r"precision_lint\.(fixers|source|project\.import_style|model\.(dtypes|finding|frozen|memo|regex)"
    r"|facts\.(amp|dtypes|frameworks|triton))(\.|$)"
)
RULES_SEE = re.compile(r"precision_lint\.(rule_api|fixers)\.")
SECTIONS = [
    "What it does", "Why it hurts", "Example", "Use instead", "Fix safety", "References"
]  # fmt: skip


def name_of(package: str, path: Path) -> str:
    """The full name of a module, or of the package that an `__init__` makes."""
    parts = path.relative_to(PACKAGES[package]).with_suffix("").parts
    return ".".join([package, *(part for part in parts if part != "__init__")])


with_modules = pytest.mark.parametrize(
    ("package", "path"), MODULES, ids=[name_of(*row) for row in MODULES]
)


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """The level and the full name of everything that a module imports, however late."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names = (alias.name for alias in node.names)
            yield from ((node.level, f"{node.module}.{name}") for name in names)


def layer_of(name: str) -> str:
    """The layer of a module by its full name."""
    return name.split(".")[1]


def imported_modules(path: Path) -> set[str]:
    """The modules of ours that a module imports, late and for types alone included."""
    found = set()
    for _, name in imports(path):
        while name and name not in NAMES:
            name = name.rpartition(".")[0]
        found.add(name)
    return found - {"", "precision_lint"}


NAMES = {name_of(package, path): path for package, path in MODULES}


def test_every_module_is_in_a_layer() -> None:
    assert NAMES.keys() >= LOOSE
    assert {layer_of(name) for name in NAMES if name not in LOOSE} == BELOW.keys()


@with_modules
def test_who_imports_whom(package: str, path: Path) -> None:
    for level, name in imports(path):
        assert level == 0, f"{name}: imports are absolute"
        top = name.partition(".")[0]
        assert top not in {"rules", "fixers", "runtime", "tests"}, name
        if package == "precision_lint.rules" and top == "precision_lint":
            assert RULES_SEE.match(name), f"{name}: rules import the engine by rule_api"
        if package == "precision_lint.fixers" and top == "precision_lint":
            assert FIXERS_SEE.match(name), f"{name}: fixers build edits and nothing else"
        if package == "precision_lint.runtime":
            assert top in {"torch", "triton", "numpy", "precision_lint", *sys.stdlib_module_names}


@with_modules
def test_imports_go_down(package: str, path: Path) -> None:
    own = name_of(package, path)
    imported = imported_modules(path) - {"precision_lint.rule_api"}
    if own in LOOSE:
        assert imported <= {"precision_lint.model.version", "precision_lint.cli.main"}
        return
    layer = layer_of(own)
    for name in imported:
        assert layer_of(name) in {layer, *BELOW[layer]}, f"{layer} imports {name}"


@pytest.mark.parametrize(
    ("package", "parts", "anywhere"),
    [
        ("precision_lint.facts.dtypes", PARTS_OF_THE_FLOW, "_generated"),
        ("precision_lint.facts.runs", PARTS_OF_THE_RUNS, "formats"),
    ],
)
def test_the_parts_of_a_package_import_down(package: str, parts: list[str], anywhere: str) -> None:
    for number, part in enumerate(parts, start=1):
        allowed = tuple(f"{package}.{name}." for name in [anywhere, *parts[:number]])
        for own, path in NAMES.items():
            if own.startswith(f"{package}.{part}."):
                for name in imported_modules(path):
                    # A package holds a docstring only, and `from package import module` names it.
                    assert not name.startswith(f"{package}.") or f"{name}.".startswith(allowed), own


def circles(graph: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """The strongly connected components of several nodes (Tarjan's algorithm)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(node: str) -> None:
        number[node] = lowest[node] = len(number)
        stack.append(node)
        for other in graph[node]:
            if other not in number:
                visit(other)
                lowest[node] = min(lowest[node], lowest[other])
            elif other in stack:
                lowest[node] = min(lowest[node], number[other])
        if lowest[node] == number[node]:
            start = stack.index(node)
            component = stack[start:]
            del stack[start:]
            if len(component) > 1:
                found.append(sorted(component))

    for node in sorted(graph):
        if node not in number:
            visit(node)
    return found


def test_circles_are_found() -> None:
    graph = {"a": "bd", "b": "c", "c": "a", "d": "e", "e": "f", "f": "e", "g": "a"}
    assert circles(graph) == [["e", "f"], ["a", "b", "c"]]


def test_no_circle_of_imports() -> None:
    """Neither when modules are loaded, nor by imports that are late or for types alone."""
    assert circles({name: imported_modules(path) - {name} for name, path in NAMES.items()}) == []


WITH_RAY = {"precision_lint.scan.job", "precision_lint.cli.scan"}
WITH_ARROW = {f"precision_lint.scan.{name}" for name in ("inputs", "results", "rows", "tables")}


@with_modules
def test_who_needs_ray_and_arrow(package: str, path: Path) -> None:
    """What Ray runs knows nothing of it, and a process that checks a repository loads neither."""
    own, tops = name_of(package, path), {name.partition(".")[0] for _, name in imports(path)}
    assert ("ray" not in tops) or own in WITH_RAY
    assert ("pyarrow" not in tops) or own in WITH_RAY | WITH_ARROW
    if own.startswith("precision_lint.scan") and own not in WITH_RAY | WITH_ARROW:
        assert not imported_modules(path) & (WITH_RAY | WITH_ARROW)


@with_modules
def test_annotations_are_late(package: str, path: Path) -> None:
    source = path.read_text("utf-8")
    assert (
        not source.strip()
        or "from __future__ import annotations" in source
        or not any(
            isinstance(node, ast.FunctionDef | ast.AnnAssign)
            for node in ast.walk(ast.parse(source))
        )
    )


@with_modules
def test_frozen_classes_are_cheap_to_import(package: str, path: Path) -> None:
    """`frozen` compiles what is used, and `dataclass` six methods for each class."""
    if package != "precision_lint.runtime":  # which imports nothing of the linter
        assert "@dataclass(frozen=True" not in path.read_text("utf-8")


@with_modules
def test_expressions_are_compiled_late(package: str, path: Path) -> None:
    """`regex` compiles what is used, and `re.compile` all that is imported."""
    own = name_of(package, path)
    if package != "precision_lint.runtime" and own != "precision_lint.model.regex":
        tree = ast.parse(path.read_text("utf-8"))
        assert not [
            node
            for statement in tree.body
            if not isinstance(statement, ast.FunctionDef | ast.ClassDef)
            for node in ast.walk(statement)
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile"
        ]


@pytest.mark.parametrize("home", rule_api.NAMES)
def test_the_names_that_rules_may_import(home: str) -> None:
    for name in rule_api.NAMES[home].split():
        namespace: dict[str, object] = {}
        exec(f"from {home} import {name}", namespace)
        assert getattr(rule_api, name) is namespace[name]


def test_every_name_for_rules_has_one_home() -> None:
    names = " ".join(rule_api.NAMES.values()).split()
    assert len(names) == len(set(names))
    with pytest.raises(AttributeError, match="no attribute 'typo'"):
        _ = rule_api.typo


def test_the_engine_knows_no_rule() -> None:
    """No code or name of a rule stands in the engine but those about the linter itself."""
    known = re.compile("|".join(
        re.escape(key) for rule in registry.rules() if not rule.code.startswith("MP9")
        for key in (f'"{rule.code}"', f'"{rule.name}"', f'"{rule.module}"')
    ))  # fmt: skip
    for package, path in MODULES:
        if package == "precision_lint":
            assert not known.search(path.read_text("utf-8")), path


def test_the_packages_that_are_installed_are_those_on_disk() -> None:
    setup = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    assert set(setup["package-dir"]) == set(PACKAGES)
    on_disk = {name_of(*row) for row in MODULES if row[1].name == "__init__.py"}
    assert on_disk == set(setup["packages"])
    folders = {path.parent for _, path in MODULES}
    assert all((folder / "__init__.py").exists() for folder in folders)


def test_what_is_generated_is_fresh() -> None:
    command = [sys.executable, str(ROOT / "scripts/generate.py"), "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# Rules

with_rules = pytest.mark.parametrize("rule", registry.rules(), ids=lambda rule: rule.name)


def test_every_rule_module_is_a_rule() -> None:
    names = {path.stem for path in (ROOT / "rules").glob("*.py")} - {"__init__"}
    assert names == {rule.module for rule in registry.rules()}
    assert len({rule.code for rule in registry.rules()}) == len(names)


@with_rules
def test_everything_of_a_rule_has_its_name(rule: Rule) -> None:
    assert re.fullmatch(r"MP\d{3}", rule.code)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
    module = import_module(f"precision_lint.rules.{rule.module}")
    assert module.RULE.code == rule.code
    assert (ROOT / "docs/rules" / f"{rule.name}.md").exists()
    if rule.name != "unreadable-file":  # Markdown cannot hold bytes that are no text
        assert (ROOT / "tests/rules" / f"{rule.name}.md").exists()


def test_no_page_and_no_case_file_is_without_a_rule() -> None:
    names = {rule.name for rule in registry.rules()}
    assert {path.stem for path in (ROOT / "docs/rules").glob("*.md")} - {"README"} == names
    assert {path.stem for path in (ROOT / "tests/rules").glob("*.md")} <= names


@with_rules
def test_the_sections_of_a_page(rule: Rule) -> None:
    page = import_module(f"precision_lint.rules.{rule.module}").__doc__ or ""
    found = re.findall(r"^## (.+)$", page, re.MULTILINE)
    expected = SECTIONS if rule.pitfalls else [name for name in SECTIONS if name in found]
    assert found == expected
    assert set(found) >= set(SECTIONS[:5])
    assert page.count("```") % 2 == 0
    assert not re.search(r"\bfix\b", rule.summary) or rule.fix != "never"


# Start-up


def modules_after(code: str, cwd: Path) -> set[str]:
    """The modules that are loaded once a run of the command line has ended."""
    program = f"""
import sys, json
sys.argv = ["precision-lint", "-j1", "--no-cache"]
from precision_lint.cli.main import main
try:
    main()
except SystemExit as stop:
    assert stop.code == {code}, stop.code
print()
print(json.dumps(sorted(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


HEAVY = {
    "libcst", "rich", "yaml", "pathspec", "tree_sitter", "tree_sitter_json", "numpy", "torch",
    "pygls", "lsprotocol", "multiprocessing", "concurrent.futures", "asyncio", "ray", "pyarrow",
    "hashlib", "subprocess", "tempfile",
}  # fmt: skip


def rule_modules(loaded: set[str]) -> set[str]:
    prefix = "precision_lint.rules."
    names = {name.removeprefix(prefix) for name in loaded if name.startswith(prefix)}
    return {name for name in names if not name.startswith("_")}


def test_a_run_that_is_triggered_by_nothing_imports_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "a.yaml").write_text("x: 1\n")
    (tmp_path / "a.json").write_text("{}\n")
    loaded = modules_after("0", tmp_path)
    assert HEAVY & loaded == set()
    assert rule_modules(loaded) == set()
    assert not any(name.startswith("precision_lint.fixers") for name in loaded)


def test_a_run_that_finds_nothing_imports_no_syntax_trees(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\n\nx = torch.zeros(2).numpy()\n")
    loaded = modules_after("0", tmp_path)
    assert HEAVY & loaded == set()
    assert rule_modules(loaded) == {"numpy_on_bfloat16"}


def test_start_up_is_short(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    times = []
    for _ in range(3):
        before = cpu_time.of_children()
        subprocess.run([SCRIPT], cwd=tmp_path, check=True, capture_output=True, env=os.environ)
        times.append(cpu_time.of_children() - before)
    assert min(times) < 0.6
