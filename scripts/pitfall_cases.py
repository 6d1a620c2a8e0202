"""Write `tests/pitfalls/found.toml`: which pitfalls the linter finds in their bad programs.

python scripts/pitfall_cases.py
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))

from tests.pitfalls.cases import cases  # noqa: E402
from tests.pitfalls.found import LEVELS, PATH, as_text, counts, findings, found  # noqa: E402


def main() -> None:
    by_level: dict[str, dict[str, list[str]]] = {level: {} for level in LEVELS}
    with tempfile.TemporaryDirectory() as folder:
        for case in cases():
            places: dict[str, list[str]] = {}
            for level in LEVELS:
                root = Path(folder).resolve() / level / case.name
                places[level] = found(case, root / "bad", level)
                for finding in findings(case.good, root / "good", level):
                    print(f"{case.name}: the good twin: {finding.place} {finding.name}")
            if places["default"]:
                by_level["default"][case.name] = places["default"]
            if added := sorted({*places["preview"]} - {*places["default"]}):
                by_level["preview"][case.name] = added
    PATH.write_text(as_text(by_level), "utf-8")
    frequent = sum(case.is_frequent for case in cases())
    for level, (every, of_frequent) in counts(by_level).items():
        print(f"{level}: {every} of {len(cases())}, {of_frequent} of the {frequent} frequent ones")


if __name__ == "__main__":
    main()
