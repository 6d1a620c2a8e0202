"""Who owns which file."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.project.owners import PLACES, read_owners

CODEOWNERS = """\
# the last line that matches counts
*                @everybody
[Section of GitLab]
/src/            @core  @torch-team  # both
docs/*           docs@example.com
*.sh             @ops
/src/vendored/
/with\\ space/a.py @blank
"""


@pytest.mark.parametrize(
    ("name", "owners"),
    [
        ("README.md", "@everybody"),
        ("src/a.py", "@core @torch-team"),
        ("src/deep/b.py", "@core @torch-team"),
        ("other/src/a.py", "@everybody"),
        ("docs/a.md", "docs@example.com"),
        ("docs/deep/a.md", "@everybody"),
        ("src/run.sh", "@ops"),
        ("src/vendored/a.py", ""),
    ],
)
def test_the_last_line_that_matches_counts(name: str, owners: str, tmp_path: Path) -> None:
    (tmp_path / "CODEOWNERS").write_text(CODEOWNERS)
    assert read_owners(tmp_path).of(tmp_path / name) == owners


@pytest.mark.parametrize("place", PLACES)
def test_where_the_file_can_be(place: str, tmp_path: Path) -> None:
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_text("* @a")
    assert read_owners(tmp_path).of(tmp_path / "x.py") == "@a"


def test_no_file_and_files_elsewhere(tmp_path: Path) -> None:
    assert read_owners(tmp_path).of(tmp_path / "x.py") == ""
    (tmp_path / "CODEOWNERS").write_text("* @a\n")
    assert read_owners(tmp_path).of(tmp_path.parent / "x.py") == ""
