"""Measure the dtype flow beside `ast.parse`, over the files of a project that reach it.

    python benchmarks/flow.py FOLDER [--slowest N]

CPU seconds of one process, garbage collection as in a real run. What is read once for a project
(which files import which, its settings) and other files that are parsed on the way count as flow.
"""

from __future__ import annotations

import argparse
import ast
import gc
import time
from pathlib import Path

from precision_lint.engine import registry
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.flow import calls_in
from precision_lint.facts.project.facts import ProjectFacts
from precision_lint.model.searched import Searched
from precision_lint.project.discovery import DEFAULT_EXCLUDE, files
from precision_lint.project.files import Project
from precision_lint.source.text.errors import Unparsable
from precision_lint.source.text.text import SourceText


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--slowest", type=int, default=5)
    arguments = parser.parse_args()
    gc.set_threshold(100_000)
    root = arguments.folder.resolve()
    project = ProjectFacts(Project(root)).recording()
    rules = [rule for rule in registry.rules() if rule.calls]
    parsing = flowing = 0.0
    rows: list[tuple[float, str]] = []
    incomplete = 0
    for path in files([root], root, DEFAULT_EXCLUDE):
        content = path.read_bytes() if path.suffix == ".py" else b""
        searched = Searched(content)
        wanted = frozenset[str]().union(*(rule.calls for rule in rules if rule.wants(searched)))
        if not wanted:
            continue
        try:
            file = PythonFile.of(project.parse(SourceText.from_bytes(path, content)), project)
        except (Unparsable, UnicodeDecodeError):
            continue
        start = time.process_time()
        ast.parse(content)
        middle = time.process_time()
        calls = calls_in(file, wanted)
        end = time.process_time()
        parsing += middle - start
        flowing += end - middle
        incomplete += not calls.is_complete
        rows.append((end - middle, str(path.relative_to(root))))
    print(
        f"{len(rows)} files: ast.parse {parsing:.2f} s, flow {flowing:.2f} s, "
        f"{flowing / max(parsing, 1e-9):.1f} times; {incomplete} not analysed to the end"
    )
    for seconds, name in sorted(rows, reverse=True)[: arguments.slowest]:
        print(f"{seconds:7.3f} s  {name}")


if __name__ == "__main__":
    main()
