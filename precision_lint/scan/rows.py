"""Rows of a Parquet file on their way to a unit: a repository, a commit, a path, a content each."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pyarrow
import pyarrow.compute

from precision_lint.scan.layout import Layout
from precision_lint.scan.outcome import Limits, Status
from precision_lint.scan.unit import Unit, is_data, units

KEYS = ["repository", "commit"]
Done = Collection[tuple[str, str | None]]


def prepared(table: Any, layout: Layout, done: Done, file_size: int) -> Any:
    """The rows of a table that are to be checked, as bytes.

    Repositories that are done are left out, and so are the contents of what is too large or data:
    the rest of the way is through memory, and from machine to machine.
    """
    repository, path = (_bytes(table[name]) for name in (layout.repo, layout.path))
    content = _bytes(table[layout.content])
    unknown = pyarrow.nulls(table.num_rows, pyarrow.binary())
    commit = unknown if layout.commit is None else table[layout.commit]
    found = pyarrow.table(
        {
            "repository": pyarrow.compute.fill_null(_names(repository), ""),
            "commit": _names(_bytes(commit)),
            "path": path,
            "content": content,
        }
    )
    if done:
        keys = zip(found["repository"].to_pylist(), found["commit"].to_pylist(), strict=True)
        found = found.filter(pyarrow.array([key not in done for key in keys], pyarrow.bool_()))
    names = found["path"].to_pylist()
    data = pyarrow.array([name is not None and is_data(name) for name in names], pyarrow.bool_())
    long = pyarrow.compute.greater(pyarrow.compute.binary_length(found["content"]), file_size)
    unread = pyarrow.compute.or_kleene(data, long)
    nothing = pyarrow.scalar(None, pyarrow.large_binary())
    kept = pyarrow.compute.if_else(unread, nothing, found["content"])
    return found.set_column(found.schema.get_field_index("content"), "content", kept)


def units_in(group: Any, limits: Limits) -> list[Unit]:
    """The work that all rows of one repository make."""
    repository, commit = group["repository"][0].as_py(), group["commit"][0].as_py()
    if not repository:
        return [Unit("", commit, problem=(Status.UNREADABLE, "rows without a repository"))]
    paths, contents = group["path"].to_pylist(), group["content"].to_pylist()
    rows = ((path or b"", content) for path, content in zip(paths, contents, strict=True))
    return list(units(repository, commit, rows, limits))


def _bytes(column: Any) -> Any:
    """A column of text, whatever its encoding, as bytes: nobody looks whether it is UTF-8."""
    if pyarrow.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.cast(pyarrow.large_binary())


def _names(column: Any) -> Any:
    """Names of repositories as text; what is not UTF-8 stays visible."""
    names = [
        None if name is None else name.decode("utf-8", "backslashreplace")
        for name in column.to_pylist()
    ]
    return pyarrow.array(names, pyarrow.string())
