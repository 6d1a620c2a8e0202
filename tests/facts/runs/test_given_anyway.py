"""What `Accelerator()` is given in a program wins over the file of the launcher."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import project, run

SETTINGS = "compute_environment: LOCAL_MACHINE\ndistributed_type: 'NO'\nmixed_precision: fp16\n"
PROGRAM = """\
import argparse
from accelerate import Accelerator

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mixed_precision"{})
    args = parser.parse_args()
    accelerator = Accelerator({})

if __name__ == "__main__":
    main()
"""
GIVEN = "mixed_precision=args.mixed_precision"
DEFAULT = ', default="bf16"'
STARTED = "accelerate launch --config_file acc.yaml train.py --steps 3"
PAGE = f"```bash\n{STARTED}\n```\n"


def head(folder: Path, files: dict[str, str]) -> str:
    out = run("explain-config", ".", cwd=project(folder, {"acc.yaml": SETTINGS} | files)).out
    return next(row for row in out.splitlines() if row.startswith("acc.yaml"))


@pytest.mark.parametrize("given", [GIVEN, "mixed_precision='no'", "log_with='x', " + GIVEN])
def test_a_precision_of_the_program_wins(given: str, tmp_path: Path) -> None:
    files = {"train.py": PROGRAM.format(DEFAULT, given), "README.md": PAGE}
    assert f"; Accelerator(mixed_precision={given.rpartition('=')[2]}) wins, train.py:8" in head(
        tmp_path, files
    )


@pytest.mark.parametrize(
    ("default", "given"),
    [
        ("", GIVEN),
        (", default=None", GIVEN),
        (DEFAULT, ""),
        (DEFAULT, "log_with=args.mixed_precision"),
        (DEFAULT, "mixed_precision=None"),
        (DEFAULT, "mixed_precision=tool.kind()"),
        (DEFAULT, GIVEN + ")\n    other = Accelerator("),
    ],
)
def test_the_program_may_leave_it_to_the_launcher(default: str, given: str, tmp_path: Path) -> None:
    files = {"train.py": PROGRAM.format(default, given), "README.md": PAGE}
    assert "wins" not in head(tmp_path, files)


@pytest.mark.parametrize(
    "page",
    [
        "```bash\naccelerate launch train.py --config_file acc.yaml\n```\n",
        "```bash\naccelerate launch --config_file other.yaml train.py\n```\n",
        PAGE + "```bash\naccelerate launch --config_file acc.yaml more.py\n```\n",
        "See acc.yaml.\n",
    ],
)
def test_the_file_is_for_more_than_the_program(page: str, tmp_path: Path) -> None:
    files = {"train.py": PROGRAM.format(DEFAULT, GIVEN), "README.md": page}
    files["more.py"] = PROGRAM.format("", GIVEN)
    assert "wins" not in head(tmp_path, files)


def test_the_record(tmp_path: Path) -> None:
    files = {"train.py": PROGRAM.format(DEFAULT, GIVEN), "README.md": PAGE, "acc.yaml": SETTINGS}
    root = project(tmp_path, files)
    found = json.loads(run("explain-config", ".", "--output-format", "json", cwd=root).out)
    records = [each["given_anyway"] for each in found if each["filename"].endswith("acc.yaml")]
    assert [each["reason"] for each in records] == [f"Accelerator({GIVEN})"]
