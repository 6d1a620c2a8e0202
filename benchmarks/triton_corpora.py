"""Triton kernels of public repositories, which compile: every error reported there is to be read.

    python benchmarks/triton_corpora.py FOLDER... [--target-triton 3.7 --target-triton 3.9]
        [--min-confidence low]

For each checked-out tree: its jit functions, how many of them are kernels that the linter judges,
and every finding of MP5xx of severity error, for each version of Triton.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from precision_lint.engine.job import Job
from precision_lint.engine.run import run
from precision_lint.engine.settings import Settings
from precision_lint.facts.context import PythonFile
from precision_lint.facts.project.facts import ProjectFacts
from precision_lint.facts.triton.kernels import find_kernels
from precision_lint.facts.triton.module import Module
from precision_lint.model.finding import Confidence, Finding, Severity
from precision_lint.project.discovery import DEFAULT_EXCLUDE, files
from precision_lint.project.files import Project
from precision_lint.source.text.errors import Unparsable
from precision_lint.source.text.text import SourceText


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints a table, and the findings below each tree's row."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--target-triton", action="append", metavar="VERSION")
    parser.add_argument("--min-confidence", choices=("low", "medium", "high"), default="medium")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    versions = options.target_triton or ["3.7", "3.9"]
    settings = Settings(
        select=("MP5",),
        min_severity=Severity.ERROR,
        min_confidence=Confidence[options.min_confidence.upper()],
    )
    total = [0, 0, *(0 for _ in versions)]
    print("| tree | jit functions | kernels |", " | ".join(f"errors, {v}" for v in versions), "|")
    print("|---|" + "--:|" * len(total))
    for folder in map(Path.resolve, options.folders):
        paths = files([folder], folder, DEFAULT_EXCLUDE)
        parsed = list(_with_kernels(folder, paths))
        judged = [file.text.path for file in parsed]
        row = [
            sum(len(Module(file.tree, file.text).jit_functions) for file in parsed),
            sum(len(find_kernels(file.tree, file.text)) for file in parsed),
        ]
        lines: list[str] = []
        for version in versions:
            job = Job(Project(folder, target={"triton": version}), settings, write=False)
            found = [_shown(f, folder) for r in run(job, judged, options.jobs) for f in r.findings]
            row.append(len(found))
            lines += [f"  {version}: {line}" for line in found]
        print(f"| {folder.name} |", " | ".join(map(str, row)), "|")
        print("\n".join(lines), end="\n" if lines else "")
        total = [one + other for one, other in zip(total, row, strict=True)]
    print("| together |", " | ".join(map(str, total)), "|")


def _with_kernels(folder: Path, paths: Sequence[Path]) -> Iterator[PythonFile]:
    project = ProjectFacts(Project(folder)).recording()
    for path in paths:
        content = path.read_bytes() if path.suffix == ".py" else b""
        if b"triton" in content and b"jit" in content:
            try:
                text = SourceText.from_bytes(path, content)
                yield PythonFile.of(project.parse(text), project)
            except (Unparsable, UnicodeDecodeError):
                continue


def _shown(finding: Finding, folder: Path) -> str:
    where = f"{finding.place.path.relative_to(folder)}:{finding.place.start.row}"
    return f"{finding.code} {finding.confidence} {where} {finding.message}"


if __name__ == "__main__":
    main()
