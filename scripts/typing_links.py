"""Make `.typing/precision_lint`, a farm of links that shows type checkers the installed layout.

`rules/`, `fixers/` and `runtime/` install inside `precision_lint`; in an editable install that
mapping is an import hook, which mypy and pyright cannot see.
"""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FARM = ROOT / ".typing" / "precision_lint"


def main() -> None:
    shutil.rmtree(FARM, ignore_errors=True)
    FARM.mkdir(parents=True)
    children = [p for p in (ROOT / "precision_lint").iterdir() if p.name != "__pycache__"]
    for target in [*children, ROOT / "rules", ROOT / "fixers", ROOT / "runtime"]:
        (FARM / target.name).symlink_to(target)


if __name__ == "__main__":
    main()
