"""The documents say what is true: links, options, keys, command lines, counts."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import click
import pytest

from precision_lint.cli.main import cli
from precision_lint.engine import registry
from precision_lint.engine.settings import Settings
from precision_lint.model.formats import FORMATS

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
)
_LINK = re.compile(r"(?<!\\)\[[^\]]*\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_PATH = re.compile(r"`((?:precision_lint|rules|fixers|runtime|tests|scripts|benchmarks)/[\w./-]*)`")


def text(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def script(name: str) -> ModuleType:
    if (folder := str(ROOT / "scripts")) not in sys.path:  # they import each other
        sys.path.append(folder)
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def anchor(heading: str) -> str:
    """The anchor that GitHub makes of a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


with_document = pytest.mark.parametrize(
    "document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix()
)


@with_document
def test_links_resolve(document: Path) -> None:
    prose = _FENCE.sub("", document.read_text("utf-8"))
    for target in _LINK.findall(prose):
        if target.startswith(("https://", "http://")):
            continue
        path, _, fragment = target.partition("#")
        linked = (document.parent / path).resolve() if path else document
        assert linked.exists(), target
        if fragment:
            headings = _HEADING.findall(_FENCE.sub("", linked.read_text("utf-8")))
            assert fragment in map(anchor, headings), target


@with_document
def test_named_files_exist(document: Path) -> None:
    for name in _PATH.findall(document.read_text("utf-8")):
        assert (ROOT / name).exists(), name


def test_rules_have_pages_that_the_catalogue_and_the_changelog_name() -> None:
    catalogue, changelog = text("docs/rules/README.md"), " ".join(text("CHANGELOG.md").split())
    for rule in registry.rules():
        assert (ROOT / "docs" / "rules" / f"{rule.name}.md").exists()
        assert f"({rule.name}.md)" in catalogue
        assert f"`{rule.name}` ({rule.code})" in changelog


@with_document
def test_codes_belong_to_rules(document: Path) -> None:
    known = {rule.code for rule in registry.rules()}
    assert set(re.findall(r"\bMP\d{3}\b", document.read_text("utf-8"))) <= known


def test_generated_files_are_fresh() -> None:
    stale = [
        path.relative_to(ROOT).as_posix()
        for path, content in script("generate").outputs().items()
        if not path.exists() or path.read_text("utf-8") != content
    ]
    assert not stale, "run python scripts/generate.py"


def pitfalls() -> dict[str, dict[str, object]]:
    known = tomllib.loads(text("docs/pitfalls.toml"))  # which refuses an id that is used twice
    assert {name[0] for name in known if name != "families"} == set(known.pop("families"))
    return known


def test_every_pitfall_that_a_rule_names_is_described() -> None:
    known, page = pitfalls(), text("docs/pitfalls.md")
    for rule in registry.rules():
        assert set(rule.pitfalls) <= set(known), rule.name
        assert len(set(rule.pitfalls)) == len(rule.pitfalls), rule.name
        for name in rule.pitfalls:
            section = page.partition(f"\n### {name}\n")[2].partition("\n### ")[0]
            assert f"(rules/{rule.name}.md)" in section


def test_pitfalls_are_complete() -> None:
    numbers: dict[str, list[int]] = {}
    for name, pitfall in pitfalls().items():
        numbers.setdefault(name[0], []).append(int(name[1:]))
        assert len(name) == 3
        assert {"title", "what", "versions", "references"} == set(pitfall) - {
            "cure",
            "kernels",
            "messages",
        }, name
        assert all(pitfall.values()), name
        for reference in pitfall["references"]:  # type: ignore[attr-defined]
            assert re.fullmatch(r"[\w.-]+/[\w.-]+#\d+|https://\S+", reference), name
    for family, found in numbers.items():
        assert found == list(range(1, len(found) + 1)), family
    titles = [pitfall["title"] for pitfall in pitfalls().values()]
    assert len(set(titles)) == len(titles)


def test_every_option_is_documented() -> None:
    documented = text("docs/configuration.md")
    check = cli.commands["check"]
    for parameter in check.params:
        if isinstance(parameter, click.Option):
            long = [name for name in parameter.opts if name.startswith("--")]
            assert any(f"`{name}`" in documented for name in long), long
    for row in re.findall(r"^\| (`--.+?) \|", documented, re.MULTILINE):
        for name in re.findall(r"`(--[\w-]+)`", row):
            if name not in ("--help", "--version"):
                assert any(name in parameter.opts for parameter in check.params), name


def test_every_command_is_documented() -> None:
    documented = "".join(document.read_text("utf-8") for document in DOCUMENTS)
    for name in cli.commands:
        assert f"precision-lint {name}" in documented, name


def test_every_key_is_documented_with_its_default() -> None:
    rows = re.findall(r"^\| `(\w[\w-]*)` \| (.+?) \|", text("docs/configuration.md"), re.MULTILINE)
    keys = {
        field.name.replace("_", "-")
        for field in dataclasses.fields(Settings)
        if field.name not in {"config_file", "helper_module"}  # `helper-module` is in a table
    }
    assert keys == {key for key, _ in rows}
    settings = Settings()
    for key, default in rows:
        value = getattr(settings, key.replace("-", "_"))
        match re.fullmatch(r"`(.+)`", default), value:
            case None, _:
                continue  # in words
            case written, bool():
                assert json.loads(written[1]) is value
            case written, tuple():
                assert json.loads(written[1]) == list(value)
            case written, _:
                assert written[1] == str(value)


def test_examples_of_configuration_are_accepted(tmp_path: Path) -> None:
    from precision_lint.engine.settings_file import load

    examples = [
        fence
        for document in DOCUMENTS
        for fence in re.findall(r"^```toml\n(.*?)^```$", document.read_text("utf-8"), re.S | re.M)
        if "[tool.precision-lint]" in fence
    ]
    assert len(examples) >= 2
    for example in examples:
        path = tmp_path / "pyproject.toml"
        path.write_text(example, "utf-8")
        load(path)


def test_every_format_is_documented() -> None:
    documented = text("docs/editors-and-ci.md")
    for name in FORMATS:
        assert f"`{name}`" in documented


def test_every_dependency_has_its_reason() -> None:
    listed = re.findall(r"^\| ([\w-]+) \|", text("docs/dependencies.md"), re.MULTILINE)
    project = tomllib.loads(text("pyproject.toml"))["project"]
    required = {re.match(r"[\w-]+", line)[0] for line in project["dependencies"]}  # type: ignore[index]
    assert required == set(listed) - {"package"}


def test_the_readme_command_lines_are_those_of_ci() -> None:
    readme = text("README.md")
    marked = dict(re.findall(r"^<!-- (\w+) -->\n```sh\n(.+?)\n```$", readme, re.MULTILINE))
    assert set(marked) == {"try", "tests"}
    for line in marked.values():
        assert "\n" not in line
    if sys.platform != "win32":
        extract = re.search(r"tests=\$\((sed .+)\)$", text(".ci/run"), re.MULTILINE)
        assert extract is not None
        command = ["bash", "-c", extract[1]]
        printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        assert printed.stdout.strip() == marked["tests"]


def test_the_five_numbers_are_those_of_the_pages() -> None:
    table = text("README.md").split("## Five numbers", 1)[1].split("\n\n")[1]
    rows = re.findall(r"^\| (\d[^|]*?) \|.*?\]\((docs/[^)]+)\)", table, re.MULTILINE)
    assert len(rows) == 5
    for measured, page in rows:
        for number in re.findall(r"\d+", measured):
            assert re.search(rf"\b{number}\b", text(page)), (number, page)


def test_the_hooks_that_are_documented_exist() -> None:
    import yaml

    hooks = {hook["id"] for hook in yaml.safe_load(text(".pre-commit-hooks.yaml"))}
    assert hooks == {"precision-lint", "precision-lint-fix"}
    for document in DOCUMENTS:
        for name in re.findall(r"^ +- id: ([\w-]+)", document.read_text("utf-8"), re.MULTILINE):
            assert name in hooks


def test_the_picture_shows_what_is_printed() -> None:
    picture = script("terminal_picture")
    shown = picture.PICTURE.read_text("utf-8")
    assert len(shown) < 150_000
    assert "http" not in re.sub(r'xmlns="[^"]*"|<!--.*?-->', "", shown), "no font from the network"
    assert picture.is_fresh(), "run python scripts/terminal_picture.py"


def test_nothing_of_a_machine_is_in_the_documents() -> None:
    for document in [*DOCUMENTS, ROOT / ".ci" / "run", ROOT / "docs" / "img" / "terminal.svg"]:
        assert not re.search(r"/(?:work|tmp|home|root)/\w", document.read_text("utf-8")), document
