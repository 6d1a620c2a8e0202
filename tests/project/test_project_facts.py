"""The one door to a project: what a file asked is recorded for that file, with its answers."""

from __future__ import annotations

import builtins
import pickle
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from precision_lint.engine.job import Job, Result
from precision_lint.engine.run import lint_bytes, run
from precision_lint.engine.settings import Settings
from precision_lint.facts.project.facts import ProjectFacts, Recording
from precision_lint.facts.project.modules import ParsedModules
from precision_lint.facts.project.questions import Dependency, asked
from precision_lint.model.finding import Confidence
from precision_lint.model.trace import collected
from precision_lint.project.discovery import files
from precision_lint.project.files import Project
from precision_lint.source.python.parse import parse_python
from precision_lint.source.text.errors import Unparsable
from precision_lint.source.text.text import SourceText

HELPER = "import torch\n\n\ndef zeros(n):\n    return torch.zeros(n)\n"
USER = "import torch\nfrom helper import zeros\n\n\ndef f(cfg):\n    return zeros(3).numpy()\n"
FILES = {
    "a.py": USER,
    "b.py": "import torch\n\n\ndef f(args):\n    return torch.ones(2, dtype=args.dtype).numpy()\n",
    "c.py": "x = 1\n",
    "helper.py": HELPER,
    "train.py": 'p.add_argument("--dtype", default="float32")\nimport b\n',
    "requirements.txt": "torch==2.5.0\n",
}


def write(root: Path, contents: dict[str, str]) -> Path:
    for name, content in contents.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path, FILES)


def linted(job: Job, name: str) -> Result:
    path = job.project.root / name
    return lint_bytes(job, path, path.read_bytes(), "python", is_on_disk=True)


def traced(job: Job, name: str) -> list[Dependency]:
    """What a file depends on."""
    with collected() as noted:
        linted(job, name)
    return [job.facts.dependency(question) for question in noted]


def answers(facts: ProjectFacts, ask: Callable[[Recording], object]) -> list[Dependency]:
    with collected() as noted:
        ask(facts.recording())
    return [facts.dependency(question) for question in noted]


def questions(dependencies: list[Dependency]) -> list[str]:
    return sorted({asked(dependency.question)[0] for dependency in dependencies})


# What is recorded


def test_a_file_that_asks_nothing_depends_on_nothing(root: Path) -> None:
    job = Job(Project(root), Settings())
    assert linted(job, "c.py") == Result(root / "c.py", is_triggered=False)
    assert traced(job, "c.py") == []


def test_a_file_depends_on_what_it_imports(root: Path) -> None:
    before = traced(Job(Project(root), Settings()), "a.py")
    assert {"locate", "module"} <= set(questions(before))
    assert before == traced(Job(Project(root), Settings()), "a.py")
    (root / "helper.py").write_text(HELPER + "# more\n")
    after = traced(Job(Project(root), Settings()), "a.py")
    changed = {asked(one.question) for one in {*before} ^ {*after}}
    assert changed == {("module", root / "helper.py")}


QUESTIONS: list[tuple[Callable[[Recording], object], dict[str, str], dict[str, str]]] = [
    (lambda p: p.version_of("torch"), {"requirements.txt": "torch==2.6.0\n"}, {"d.py": ""}),
    (lambda p: p.release_of("torch"), {"requirements.txt": "torch==2.5.1\n"}, {"d.py": ""}),
    (lambda p: p.lowest_version_of("torch"), {"setup.py": "['torch>=2.1']\n"}, {"d.py": ""}),
    (
        lambda p: p.half_precision(p.root / "a.py"),
        {"d.yaml": "bf16: true\n", "d.py": "import a\na.run(open('d.yaml'))\n"},
        {"e.yaml": "bf16: true\n", "d.py": "x = 1\n"},
    ),
    (lambda p: p.bfloat16_weights, {"d.yaml": "dtype: bf16\n"}, {"d.yaml": "bf16: true\n"}),
    (lambda p: p.setting(("dtype",)), {"d.yaml": "dtype: bf16\n"}, {"d.yaml": "x: bf16\n"}),
    (lambda p: p.variable("P"), {".env": "P=bf16\n"}, {".env": "Q=bf16\n"}),
    (lambda p: p.python_source_matches(b"jax"), {"d.py": "import jax\n"}, {"d.py": "x = 1\n"}),
    (
        lambda p: p.python_sources_matching(b"mps"),
        {"d.py": "import torch\n\ndevice = 'mps'\n"},
        {"test_d.py": "import torch\n\ndevice = 'mps'\n"},
    ),
    (lambda p: p.page_matches(b"bf16"), {"d.md": "`bf16`\n"}, {"d.md": "fp16\n", "d.py": "bf16"}),
    (
        lambda p: p.uses(p.root / "d.py", p.root / "helper.py"),
        {"d.py": "import torch\nimport helper\n"},
        {"d.py": "import torch\n"},
    ),
    (lambda p: p.module(p.root / "b.py"), {"b.py": "x = 2\n"}, {"a.py": "x = 2\n"}),
    (lambda p: p.locate(p.root / "a.py", "new"), {"new.py": ""}, {"d.py": ""}),
    (
        lambda p: list(p.importing(p.root / "helper.py", "zeros")),
        {"d.py": "import torch\nfrom helper import zeros\n"},
        {"d.py": "import torch\nfrom helper import ones\n"},
    ),
    (
        lambda p: p.config_files.at(p.root / "ds.json"),
        {"ds.json": "{}\n"},
        {"train.sh": "deepspeed train.py --deepspeed ds.json\n"},
    ),
    (
        lambda p: p.config_files.find("ds.json", p.root / "conf" / "a.sh"),
        {"conf/ds.json": "{}\n"},
        {"d.json": "{}\n"},
    ),
    (
        lambda p: p.config_files.referring(p.root / "ds.json"),
        {"train.sh": "deepspeed train.py --deepspeed ds.json\n"},
        {"other.sh": "deepspeed train.py --deepspeed other.json\n"},
    ),
    (
        lambda p: p.config_files.named_in_python(p.root / "ds.json"),
        {"d.py": "open('ds.json')\n"},
        {"d.py": "open('other.json')\n"},
    ),
    (lambda p: p.users(p.root / "helper.py"), {"d.py": "import torch, helper\n"}, {"d.py": ""}),
    (lambda p: [*p.program(p.root / "a.py")], {"helper.py": "import b\n"}, {"helper.py": "x\n"}),
    (lambda p: p.follow(p.root / "a.sh")("b.sh"), {"b.sh": "A=1\n"}, {"d.txt": "x"}),
]


@pytest.mark.parametrize(("ask", "changing", "other"), QUESTIONS)
def test_an_answer_changes_with_what_it_depends_on(
    ask: Callable[[Recording], object],
    changing: dict[str, str],
    other: dict[str, str],
    root: Path,
) -> None:
    before = answers(ProjectFacts(Project(root)), ask)
    assert before
    write(root, other)
    assert answers(ProjectFacts(Project(root)), ask) == before
    write(root, changing)
    assert answers(ProjectFacts(Project(root)), ask) != before


def test_a_question_is_written_down_and_read_again(root: Path) -> None:
    facts = ProjectFacts(Project(root))
    for ask, _, _ in QUESTIONS:
        with collected() as noted:
            ask(facts.recording())
        assert [asked(facts.dependency(question).question) for question in noted] == [*noted]
    for damaged in ('["unknown"]', "[1]", "{}", "[", '["read",{"path":1}]'):
        with pytest.raises(ValueError, match=r"\[|\{|Expecting|1"):
            asked(damaged)


def test_what_is_shared_repeats_its_questions(root: Path) -> None:
    """Only the first one works it out, and all depend on it."""
    write(root, {"a.sh": "source b.sh\n", "b.sh": "A=1\n"})
    facts = ProjectFacts(Project(root))

    def ask(p: Recording) -> object:
        return p.config_files.at(p.root / "a.sh")

    def once(p: Recording) -> object:
        return p.config_files.once("key", lambda: ask(p))

    first = answers(facts, ask)
    assert {("read", root / "b.sh")} <= {asked(one.question) for one in first}
    assert answers(facts, ask) == first
    assert answers(facts, once) == answers(facts, once) == first


def test_only_the_callers_that_were_looked_at_count(root: Path) -> None:
    write(root, dict.fromkeys(("x.py", "y.py"), USER))
    recording = ProjectFacts(Project(root)).recording()
    with collected() as noted:
        assert next(recording.importing(root / "helper.py", "zeros")) == root / "a.py"
    assert len(noted) == 1


def test_facts_can_be_sent_to_another_process(root: Path) -> None:
    facts = ProjectFacts(Project(root))
    assert facts.recording().module(root / "a.py") is not None
    again = pickle.loads(pickle.dumps(facts))
    assert again.project == facts.project


# Two files at a time


def test_two_files_record_apart(root: Path) -> None:
    facts = ProjectFacts(Project(root))
    one = answers(facts, lambda p: (p.version_of("torch"), p.half_precision(root / "a.py")))
    other = answers(facts, lambda p: (p.variable("P"), p.version_of("triton")))
    assert questions(one) == ["half_precision", "version_of"]
    assert questions(other) == ["variable", "version_of"]
    alone = ProjectFacts(Project(root))
    assert answers(alone, lambda p: (p.variable("P"), p.version_of("triton"))) == other


def test_threads_share_the_facts_and_nothing_else(root: Path) -> None:
    names = ["a.py", "b.py", "c.py", "helper.py"]
    expected = {name: linted(Job(Project(root), Settings()), name) for name in names}
    job = Job(Project(root), Settings())
    start = Barrier(len(names))

    def lint(name: str) -> Result:
        start.wait()
        return linted(job, name)

    for _ in range(3):
        with ThreadPoolExecutor(len(names)) as pool:
            assert dict(zip(names, pool.map(lint, names), strict=True)) == expected


# One parse


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many times each text was parsed as a file."""
    counts: Counter[str] = Counter()
    compile_it = builtins.compile

    def counting(source: object, filename: object, mode: str, *args: object, **rest: object):  # type: ignore[no-untyped-def]
        if mode == "exec" and isinstance(source, str):
            counts[source] += 1
        return compile_it(source, filename, mode, *args, **rest)  # type: ignore[call-overload]

    monkeypatch.setattr(builtins, "compile", counting)
    return counts


def test_a_file_is_parsed_once_whoever_asks(tmp_path: Path, compiled: Counter[str]) -> None:
    """Linted, imported, asked for settings and evidence, started by a script."""
    contents = {
        "train.py": "import argparse\nimport torch\nfrom pkg import model\n"
        "from pkg.tools import rows\n"
        'p = argparse.ArgumentParser()\np.add_argument("--dtype", default="bf16")\n'
        "args = p.parse_args()\nx = torch.zeros(2, dtype=model.DTYPES[args.dtype])\n"
        "print(rows(x))\n",
        "pkg/__init__.py": "",
        "pkg/model.py": "import torch\n\n"
        'DTYPES = {"bf16": torch.bfloat16, "fp32": torch.float32}\n',
        "pkg/tools.py": "import torch\n\n\ndef rows(x):\n    return x.cpu().numpy()\n",
        "pkg/config.py": "import os\nimport torch\n\n\n@dataclass\nclass Config:\n"
        '    dtype: str = "fp16"\n\n\ndef load(cfg: Config):\n'
        "    return torch.ones(2, dtype=cfg.dtype).numpy()\n",
        "run.sh": "accelerate launch --mixed_precision bf16 train.py --dtype bf16\n",
        "broken.py": "import torch\nx = torch.zeros(2, dtype=torch.bfloat16).numpy(\n",
    }
    write(tmp_path, contents)
    job = Job(Project(tmp_path), Settings(min_confidence=Confidence.LOW))
    results = run(job, files([tmp_path], tmp_path))
    assert not [result.failure for result in results if result.failure]
    assert any(result.findings for result in results)
    parsed = {name: compiled[content] for name, content in contents.items() if content}
    assert max(parsed.values()) == 1, parsed
    wanted = {"train.py", "pkg/model.py", "pkg/tools.py", "pkg/config.py", "broken.py"}
    assert {name for name, count in parsed.items() if count} == wanted


def test_a_text_that_is_not_on_the_disk_is_nobody_elses(root: Path) -> None:
    facts = ProjectFacts(Project(root))
    path = root / "b.py"
    text = SourceText(path, "x = 'what an editor has'\n")
    assert facts.recording().parse(text).text is text
    on_disk = facts.recording().module(path)
    assert on_disk is not None
    assert on_disk.text.text == FILES["b.py"]
    assert facts.recording(path).parse(on_disk.text) is on_disk
    assert facts.recording(path).parse(text).text is text


def test_few_trees_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("precision_lint.facts.project.modules._KEPT", 3 * len("x = 0\n"))
    paths = [tmp_path / f"m{n}.py" for n in range(5)]
    write(tmp_path, {path.name: f"x = {n}\n" for n, path in enumerate(paths)})
    modules = ParsedModules()
    trees = [modules.at(path) for path in paths]
    assert None not in trees
    assert [modules.at(path) is tree for path, tree in zip(paths[2:], trees[2:], strict=True)] == [
        True
    ] * 3
    assert modules.at(paths[0]) is not trees[0]


@pytest.fixture
def few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Six files, of which three are kept."""
    monkeypatch.setattr("precision_lint.facts.project.modules._KEPT", 3 * len("x = 0\n"))
    paths = [tmp_path / f"m{n}.py" for n in range(6)]
    write(tmp_path, {path.name: f"x = {n}\n" for n, path in enumerate(paths)})
    return paths


def test_the_trees_that_are_asked_for_most_are_kept(few: list[Path]) -> None:
    modules = ParsedModules()
    shared, *others = few
    tree = modules.at(shared)
    for other in others:  # each file that is checked asks for the same one
        assert modules.at(other) is not None
        assert modules.at(shared) is tree


def test_a_tree_that_nobody_asks_for_any_more_is_dropped(few: list[Path]) -> None:
    modules = ParsedModules()
    shared, *others = few
    trees = [modules.at(shared) for _ in range(3)]
    for _ in range(3):
        for other in others:
            modules.at(other)
    assert modules.at(shared) is not trees[0]


def test_a_dropped_tree_keeps_its_facts_for_the_file_that_asked_for_it(few: list[Path]) -> None:
    modules = ParsedModules()
    used, *others = few
    for is_used in (True, False):
        parsed = modules.at(used)
        assert parsed is not None
        known = parsed.fact("fact", list)
        if not is_used:
            modules.free_dropped()  # the next file is checked
        for other in others:
            modules.at(other)
        assert modules.at(used) is not parsed
        assert (parsed.fact("fact", list) is known) is is_used


def test_what_cannot_be_parsed(tmp_path: Path) -> None:
    write(tmp_path, {"broken.py": "x = (\n", "large.py": "x = 1\n" * 200})
    (tmp_path / "latin.py").write_bytes(b"# coding: latin-1\nx = '\xe9'\n")
    (tmp_path / "bytes.py").write_bytes(b"x = '\xe9'\n")
    modules = ParsedModules()
    assert modules.at(tmp_path / "nowhere.py") is None
    assert modules.at(tmp_path / "broken.py") is None
    assert modules.at(tmp_path / "bytes.py") is None
    assert modules.at(tmp_path / "large.py", largest=100) is None
    latin = modules.at(tmp_path / "latin.py")
    assert latin is not None
    assert "é" in latin.text.text
    for _ in range(2):
        with pytest.raises(Unparsable):
            modules.read(tmp_path / "broken.py")


def test_parsing_needs_no_project() -> None:
    file = parse_python(SourceText(Path("a.py"), "x = (1)\n"))
    (statement,) = file.tree.body
    assert file.text[file.span_of(statement)] == "x = (1)"
