"""The Parquet files of a scan, looked at before anything starts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pyarrow
import pyarrow.parquet
from pyarrow import fs

from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.scan.layout import Layout, NoLayout, layout

_READERS = 16
_BATCH = 1000
"""Rows that are read at a time."""
_PIECE = 32 << 20
"""Bytes of contents that one task reads, about."""
_IS_URI = regex(r"[a-z][a-z0-9+.-]+://")


class BadInput(Exception):
    """An input that cannot be scanned; the message names it."""


@frozen(slots=False)
class Input:
    """Parquet files of one layout, and how much there is in them."""

    pieces: tuple[Piece, ...]
    layout: Layout
    filesystem: Any

    @property
    def size(self) -> int:
        """Bytes of all contents, without compression."""
        return sum(piece.size for piece in self.pieces)

    def tables(self, piece: Piece) -> Iterator[Any]:
        """The rows of a piece, some at a time."""
        with self.filesystem.open_input_file(piece.path) as stream:
            parquet = pyarrow.parquet.ParquetFile(stream, page_checksum_verification=True)
            for batch in parquet.iter_batches(_BATCH, piece.groups, self.layout.columns):
                yield pyarrow.Table.from_batches([batch])


@frozen(slots=False)
class Piece:
    """Row groups of a file that one task reads."""

    path: str
    groups: Sequence[int]
    size: int


@frozen(slots=False)
class _Footer:
    path: str
    schema: Any
    groups: Sequence[Mapping[str, int]]
    """The bytes of each column, for each row group with rows."""


def open_input(named: Sequence[str], columns: Mapping[str, str]) -> Input | None:
    """The files that are named, or are in folders that are; None if there is no row in them.

    Raises:
        BadInput: one is missing, is no Parquet, or has other columns.
    """
    filesystem, paths = _files(named)
    with ThreadPoolExecutor(_READERS) as pool:
        footers = list(pool.map(partial(_footer, filesystem), paths))
    footers = [footer for footer in footers if any(footer.groups)]
    if not footers:
        return None
    layouts = {_layout(footer, columns): footer.path for footer in footers}
    if len(layouts) > 1:
        first, second, *_ = layouts.values()
        raise BadInput(f"{second}: other columns than {first}; scan them one after the other")
    (found,) = layouts
    pieces = [piece for footer in footers for piece in _pieces(footer, found.content)]
    return Input(tuple(pieces), found, filesystem)


def _pieces(footer: _Footer, content: str) -> Iterator[Piece]:
    """Small row groups together, large ones alone."""
    groups: list[int] = []
    size = 0
    for number, sizes in enumerate(footer.groups):
        own = sizes.get(content, 0)
        if groups and size + own > _PIECE:
            yield Piece(footer.path, groups, size)
            groups, size = [], 0
        if sizes:
            groups, size = [*groups, number], size + own
    if groups:
        yield Piece(footer.path, groups, size)


def _files(named: Sequence[str]) -> tuple[Any, list[str]]:
    filesystem: Any = None
    paths: list[str] = []
    for name in named:
        where, path = _place(name)
        if filesystem is not None and type(where) is not type(filesystem):
            raise BadInput(f"{name}: not on the same file system as {named[0]}")
        filesystem = filesystem or where
        try:
            paths += _below(where, path)
        except OSError as problem:
            raise BadInput(f"{name}: {problem}") from problem
    return filesystem, list(dict.fromkeys(paths))


def _place(name: str) -> tuple[Any, str]:
    if not _IS_URI.match(name):
        return fs.LocalFileSystem(), os.path.abspath(name)
    try:
        where, path = fs.FileSystem.from_uri(name)
    except (pyarrow.ArrowException, OSError, ValueError) as problem:
        raise BadInput(f"{name}: {problem}") from problem
    return where, path


def _below(filesystem: Any, path: str) -> Iterator[str]:
    info = filesystem.get_file_info(path)
    if info.type == fs.FileType.File:
        yield path
    elif info.type == fs.FileType.Directory:
        below = filesystem.get_file_info(fs.FileSelector(path, recursive=True))
        yield from sorted(one.path for one in below if one.path.endswith(".parquet"))
    else:
        raise FileNotFoundError("no such file or folder")


def _footer(filesystem: Any, path: str) -> _Footer:
    try:
        with filesystem.open_input_file(path) as stream:
            parquet = pyarrow.parquet.ParquetFile(stream)
            metadata, schema = parquet.metadata, parquet.schema_arrow
    except (pyarrow.ArrowException, OSError) as problem:
        raise BadInput(f"{path}: not readable as Parquet: {problem}") from problem
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    return _Footer(path, schema, [_sizes(group) for group in groups])


def _sizes(group: Any) -> dict[str, int]:
    """The bytes of each column; none if there are no rows."""
    columns = map(group.column, range(group.num_columns if group.num_rows else 0))
    return {column.path_in_schema: column.total_uncompressed_size for column in columns}


def _layout(footer: _Footer, columns: Mapping[str, str]) -> Layout:
    try:
        found = layout(footer.schema.names, columns)
    except NoLayout as problem:
        raise BadInput(f"{footer.path}: {problem}") from None
    for name in found.columns:
        kind = footer.schema.field(name).type
        if not _is_text(kind):
            raise BadInput(f"{footer.path}: column `{name}` is of type {kind}, not text or bytes")
    return found


def _is_text(kind: Any) -> bool:
    types = pyarrow.types
    if types.is_dictionary(kind):
        return _is_text(kind.value_type)
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
    )
