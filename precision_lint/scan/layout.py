"""Which columns of a table hold the repository, the commit, the path and the content."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from precision_lint.model.frozen import frozen

_KEYS = ("repo", "path", "content", "commit")
_KNOWN: tuple[Mapping[str, str], ...] = (
    {"repo": "repo", "path": "path", "content": "content", "commit": "commit"},
    {  # The Stack, version 1
        "repo": "max_stars_repo_name",
        "path": "max_stars_repo_path",
        "content": "content",
        "commit": "max_stars_repo_head_hexsha",
    },
    {  # The Stack, version 2, with the contents, which come from elsewhere
        "repo": "repo_name",
        "path": "path",
        "content": "content",
        "commit": "revision_id",
    },
    {"repo": "repo_name", "path": "path", "content": "code", "commit": "commit"},  # github-code
)
"""Layouts that are recognized, the plainest first."""


class NoLayout(Exception):
    """The columns that are needed are not there; the message says which are."""


@frozen(slots=False)
class Layout:
    """The names of the columns."""

    repo: str
    path: str
    content: str
    commit: str | None = None

    @property
    def columns(self) -> list[str]:
        """All of them."""
        named = [self.repo, self.path, self.content]
        return named if self.commit is None else [*named, self.commit]


def mapping(text: str) -> dict[str, str]:
    """`repo=repo_name,content=code` as a mapping.

    Raises:
        ValueError: that is no mapping of what is needed to names of columns.
    """
    found = {}
    for pair in text.split(","):
        key, equals, column = pair.strip().partition("=")
        if key not in _KEYS or not equals or not column:
            raise ValueError(f"`{pair.strip()}` is not NAME=COLUMN with one of {', '.join(_KEYS)}")
        found[key] = column
    return found


def layout(there: Collection[str], given: Mapping[str, str]) -> Layout:
    """The columns of a table with those that are there; what is given counts first.

    Raises:
        NoLayout: there is no such column.
    """
    needed = ["repo", "path", "content", *(["commit"] if "commit" in given else [])]
    for known in _KNOWN:
        named = {**known, **given}
        if all(named[key] in there for key in needed):
            commit = named.pop("commit")
            return Layout(**named, commit=commit if commit in there else None)
    wanted = {**_KNOWN[0], **given}
    missing = [f"no column `{wanted[key]}`" for key in needed if wanted[key] not in there]
    raise NoLayout(
        f"{', '.join(missing)}; there are {', '.join(sorted(there)) or 'none'}: "
        "name them with --columns repo=...,path=...,content=..."
    )
