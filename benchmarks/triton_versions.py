"""The 87 measured patterns, held against the compilers of several versions of Triton.

    python benchmarks/triton_versions.py [PYTHON]...

Each PYTHON is an interpreter that has a version of Triton; this one is always among them. Every
pattern of `tests/facts/triton/patterns.py` is compiled for bf16, fp16 and fp32 by each, and judged
by the linter for that version. The table goes to `benchmarks/triton-versions.json`, which the suite
reads.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))

from precision_lint.facts.triton.language import Version  # noqa: E402
from precision_lint.model.version import __version__  # noqa: E402
from tests.facts.triton.agreement import (  # noqa: E402
    DTYPES,
    disagreements,
    judgement,
    refused_patterns,
)
from tests.facts.triton.patterns import PATTERNS  # noqa: E402

RECORD = ROOT / "benchmarks" / "triton-versions.json"


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes the record and prints what does not agree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pythons", nargs="*", metavar="PYTHON")
    given = [*parser.parse_args(arguments).pythons, sys.executable]
    pythons = dict(sorted((_triton(python), python) for python in given))
    table: dict[str, dict[str, dict[str, str]]] = {name: {} for name in PATTERNS}
    wrong: list[str] = []
    for triton, python in pythons.items():
        with tempfile.TemporaryDirectory() as folder:
            said = refused_patterns(Path(folder), python)
        for name, pattern in PATTERNS.items():
            table[name][triton] = said[name]
            seen = judgement(pattern.source, _major_minor(triton))
            wrong += [f"{name}, {triton}: {text}" for text in disagreements(said[name], seen)]
    record = {
        "date": date.today().isoformat(),
        "precision-lint": __version__,
        "python": platform.python_version(),
        "triton": list(pythons),
        "verdicts": len(PATTERNS) * len(DTYPES) * len(pythons),
        "disagreements": wrong,
    }
    # A pattern is a line: what each version refuses, by dtype and family.
    rows = [f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in table.items()]
    refused = ',\n "refused": {\n' + ",\n".join(rows) + "\n }\n}\n"
    RECORD.write_text(json.dumps(record, indent=1).removesuffix("\n}") + refused)
    print("\n".join([*wrong, f"{record['verdicts']} verdicts, {len(wrong)} disagreements"]))


def _major_minor(triton: str) -> Version:
    major, minor, *_ = map(int, triton.split("."))
    return major, minor


def _triton(python: str) -> str:
    command = [python, "-c", "from importlib.metadata import version; print(version('triton'))"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
