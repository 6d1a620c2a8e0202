"""How fast precision-lint is, beside ruff and TorchFix where they are installed.

    python benchmarks/speed.py FOLDER [--runs 5] [--every 32] [--torchfix PATH] [--json FILE]

Every figure is the median of some runs; the tools take turns, so that a busy moment of the machine
hits all of them. CPU seconds (user + system, with all worker processes) are the figure to compare:
they hardly depend on what else the machine is doing. No tool uses a cache or a configuration.

TorchFix takes minutes where the others take seconds, so it sees one file in 32 only, and
precision-lint sees the same files once more beside it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

NOTHING_TO_FIND = "import torch\n\nx = torch.zeros(4)\nprint(x.sum().item())\n"
_SLOW = 20.0
"""Seconds of CPU above which one run of a command is enough."""


@dataclass(frozen=True)
class Run:
    """What one run of a command took: seconds, seconds, and MiB of its largest process.

    A process starts as a copy of this one, so a smaller one is as large as this one to the kernel.
    """

    cpu: float
    wall: float
    rss: float


@dataclass(frozen=True)
class Row:
    """A command's medians."""

    subject: str
    tool: str
    cpu: float
    wall: float
    rss: float
    runs: int


def run(command: Sequence[str], folder: Path) -> Run:
    """Run a command, its output thrown away; exit code 1 (findings) is a success."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)  # it is reaped: Popen must not wait
    if process.returncode not in (0, 1):
        raise SystemExit(f"exit code {process.returncode}: {' '.join(command)}")
    return Run(usage.ru_utime + usage.ru_stime, wall, _mebibytes(usage))


def _mebibytes(usage: resource.struct_rusage) -> float:
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 2**20


def compare(
    subject: str, commands: dict[str, Sequence[str]], folder: Path, runs: int
) -> Iterator[Row]:
    """The medians of commands that take turns."""
    taken: dict[str, list[Run]] = {tool: [] for tool in commands}
    for _ in range(runs):
        for tool, command in commands.items():
            if not taken[tool] or taken[tool][0].cpu < _SLOW:
                taken[tool].append(run(command, folder))
    for tool, results in taken.items():
        yield Row(
            subject,
            tool,
            median(result.cpu for result in results),
            median(result.wall for result in results),
            median(result.rss for result in results),
            len(results),
        )


@dataclass(frozen=True)
class Tools:
    """The programs that are measured; None for those that are not installed."""

    linter: str
    ruff: str | None
    torchfix: str | None

    def versions(self) -> dict[str, str]:
        found = {"precision-lint": _version(self.linter), "python": platform.python_version()}
        if self.ruff:
            found["ruff"] = _version(self.ruff)
        if self.torchfix:
            found["TorchFix"] = _version(self.torchfix)
        return found

    def missing(self) -> list[str]:
        return [
            name for name, path in (("ruff", self.ruff), ("torchfix", self.torchfix)) if not path
        ]

    def on(self, path: str, jobs: Sequence[int] = (1,)) -> dict[str, Sequence[str]]:
        """The commands that check a path, by their label."""
        ours = [self.linter, "--isolated", "--no-cache", "--exit-zero"]
        commands: dict[str, Sequence[str]] = {
            f"precision-lint -j{count}": [*ours, f"-j{count}", path] for count in jobs
        }
        if self.ruff:
            theirs = [self.ruff, "check", "--isolated", "--no-cache", "--exit-zero", "-q"]
            commands["ruff, default rules"] = [*theirs, path]
            commands["ruff, NPY rules"] = [*theirs, "--select", "NPY", path]
        return commands

    def torchfix_on(self, path: str) -> dict[str, Sequence[str]]:
        if not self.torchfix:
            return {}
        return {"TorchFix -j1": [self.torchfix, "--jobs", "1", "--select", "ALL", path]}


def measure(tools: Tools, folder: Path, every: int, runs: int) -> Iterator[Row]:
    """Every row of the table."""
    yield from compare("the whole folder", tools.on(".", (1, 2)), folder, runs)
    with tempfile.TemporaryDirectory() as temporary:
        if tools.torchfix:
            sample = Path(temporary) / "sample"
            size = copy_sample(folder, sample, every)
            commands = {
                "precision-lint -j1": tools.on(".")["precision-lint -j1"],
                **tools.torchfix_on("."),
            }
            yield from compare(f"one file in {every}, {size}", commands, sample, runs)
        one = Path(temporary) / "one"
        one.mkdir()
        (one / "one.py").write_text(NOTHING_TO_FIND)
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            **tools.on("one.py"),
            **tools.torchfix_on("one.py"),
        }
        yield from compare("one file without findings", commands, one, 3 * runs)


def python_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.py") if path.is_file())


def copy_sample(folder: Path, sample: Path, every: int) -> str:
    """Copy every n-th Python file and say how much that is."""
    files = python_files(folder)[::every]
    for path in files:
        copy = sample / path.relative_to(folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    return _size(files)


def _size(files: Sequence[Path]) -> str:
    return f"{len(files)} files, {sum(path.stat().st_size for path in files) / 1e6:.1f} MB"


def _version(tool: str) -> str:
    if Path(tool).name == "torchfix":  # its --version prints those of its parts only
        python = Path(tool).with_name("python")
        query = "import importlib.metadata as m; print(m.version('torchfix'))"
        command = [str(python), "-c", query]
    else:
        command = [tool, "--version"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return printed.strip().split()[-1]


def _find(name: str, given: str | None) -> str | None:
    """A program: the one that was given, the one beside this Python, the one on the PATH."""
    beside = Path(sys.executable).with_name(name)
    found = given or (str(beside) if beside.exists() else shutil.which(name))
    return os.path.abspath(found) if found else None


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    lines = [
        "| subject | tool | CPU | wall | peak memory | runs |",
        "|---|---|--:|--:|--:|--:|",
    ]
    own = _mebibytes(resource.getrusage(resource.RUSAGE_SELF))
    for row in rows:
        memory = f"{row.rss:.0f} MiB" if row.rss > own else f"< {own:.0f} MiB"
        lines.append(
            f"| {row.subject} | {row.tool} | {_seconds(row.cpu)} | {_seconds(row.wall)} "
            f"| {memory} | {row.runs} |"
        )
    return "\n".join(lines)


def _seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.0f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--every", type=int, default=32, help="the sample that TorchFix sees")
    parser.add_argument("--linter", help="path of precision-lint")
    parser.add_argument("--ruff", help="path of ruff")
    parser.add_argument("--torchfix", help="path of torchfix")
    parser.add_argument("--json", type=Path, help="write the figures here, too")
    options = parser.parse_args()
    linter = _find("precision-lint", options.linter)
    if linter is None:
        parser.error("precision-lint is not installed")
    tools = Tools(linter, _find("ruff", options.ruff), _find("torchfix", options.torchfix))
    for name in tools.missing():
        print(f"not found, left out: {name}", file=sys.stderr)

    facts = {
        "date": time.strftime("%Y-%m-%d"),
        "versions": tools.versions(),
        "folder": f"{options.folder.resolve().name}: {_size(python_files(options.folder))}",
        "cores": os.cpu_count(),
        "load before": 0.0,
    }
    with contextlib.suppress(OSError):
        facts["load before"] = round(os.getloadavg()[0], 1)
    rows = list(measure(tools, options.folder.resolve(), options.every, options.runs))
    for name, fact in facts.items():
        print(f"{name}: {fact}")
    print("\n" + table(rows))
    if options.json:
        report = {**facts, "rows": [asdict(row) for row in rows]}
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
