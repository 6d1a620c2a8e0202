"""What becomes of the deprecated AMP API: precision-lint and TorchFix rewrite it, torch runs it.

    python benchmarks/amp_migration.py [--torchfix "TorchFix 0.7.0=PATH"]...

Every form of `tests/amp_forms.py` is a program of its own. It runs before and after each tool, and
what it records is compared: device, dtype, whether a region or a scaler is on, results.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))

from precision_lint.engine.job import Job  # noqa: E402
from precision_lint.engine.run import lint_bytes  # noqa: E402
from precision_lint.engine.settings import Settings  # noqa: E402
from precision_lint.model.finding import Applicability  # noqa: E402
from precision_lint.model.version import __version__  # noqa: E402
from precision_lint.project.files import Project  # noqa: E402
from tests.amp_forms import forms, observe  # noqa: E402

OUTCOMES = ("identical", "other behaviour", "raises", "left alone")


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--torchfix", action="append", default=[], metavar="NAME=PATH")
    options = parser.parse_args(arguments)
    programs = forms()
    before = [form.source for form in programs]
    rewritten = {f"precision-lint {__version__}": [_fixed(source) for source in before]}
    for torchfix in options.torchfix:
        name, _, path = torchfix.partition("=")
        rewritten[name] = _fixed_by_torchfix(path, before)
    print(f"{len(programs)} forms, torch {version('torch')}, Python {platform.python_version()}\n")
    print("| tool |", " | ".join(OUTCOMES), "|")
    print("|---|" + "--:|" * len(OUTCOMES))
    for tool, after in rewritten.items():
        counts = Counter(map(_outcome, before, after))
        print(f"| {tool} |", " | ".join(str(counts[outcome]) for outcome in OUTCOMES), "|")


def _fixed(source: str) -> str:
    """A program after the safe fixes of precision-lint, as a project of its own for torch 2.4."""
    path = Path("/nowhere/form.py")
    settings = Settings(select=("MP801",))
    project = Project(path.parent, target={"torch": "2.4"})
    job = Job(project, settings, Applicability.SAFE, write=False)
    result = lint_bytes(job, path, source.encode(), "python")
    return source if result.text is None else result.text.text


def _fixed_by_torchfix(command: str, sources: Sequence[str]) -> list[str]:
    """Programs after `torchfix --fix`, with the rules that deal with deprecated functions."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, f"form_{number}.py") for number in range(len(sources))]
        for path, source in zip(paths, sources, strict=True):
            path.write_text(source)
        arguments = [command, "--fix", "--select", "TOR101,TOR103", folder]
        subprocess.run(arguments, capture_output=True, check=False, cwd=folder)
        return [path.read_text() for path in paths]


def _outcome(before: str, after: str) -> str:
    if after == before:
        return "left alone"
    seen = observe(after)
    if isinstance(seen, str):
        return "raises"
    return "identical" if seen == observe(before) else "other behaviour"


if __name__ == "__main__":
    main()
