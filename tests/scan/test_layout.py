"""Which columns of a table are meant."""

from __future__ import annotations

import pytest

from precision_lint.scan.layout import Layout, NoLayout, layout, mapping

STACK = ["hexsha", "size", "max_stars_repo_path", "max_stars_repo_name",
         "max_stars_repo_head_hexsha", "max_issues_repo_path", "content"]  # fmt: skip


def test_layouts_that_are_known() -> None:
    assert layout(["repo", "path", "content"], {}) == Layout("repo", "path", "content")
    assert layout(["repo", "path", "content", "commit"], {}).commit == "commit"
    assert layout(STACK, {}) == Layout(
        "max_stars_repo_name", "max_stars_repo_path", "content", "max_stars_repo_head_hexsha"
    )
    second = layout(["repo_name", "path", "revision_id", "blob_id", "content"], {})
    assert second == Layout("repo_name", "path", "content", "revision_id")
    assert layout(["code", "repo_name", "path", "license"], {}).content == "code"


def test_what_is_given_counts_first() -> None:
    there = ["repo", "path", "content", "name", "text", "sha"]
    given = mapping("repo=name, content=text,commit=sha")
    assert layout(there, given) == Layout("name", "path", "text", "sha")
    assert layout([*STACK, "text"], {"content": "text"}).content == "text"


@pytest.mark.parametrize(
    ("there", "given", "said"),
    [
        (["repo", "file"], {}, "no column `path`, no column `content`; there are file, repo"),
        ([], {}, "no column `repo`"),
        (["repo", "path", "content"], {"commit": "sha"}, "no column `sha`"),
        (["repo", "path", "content"], {"content": "text"}, "no column `text`"),
    ],
)
def test_columns_that_are_missing(there: list[str], given: dict[str, str], said: str) -> None:
    with pytest.raises(NoLayout, match=said):
        layout(there, given)


@pytest.mark.parametrize("text", ["repo", "name=x", "repo=", "=x", "repo=a,,path=b"])
def test_what_is_no_mapping(text: str) -> None:
    with pytest.raises(ValueError, match="not NAME=COLUMN"):
        mapping(text)
