"""The tables that a scan writes, as Arrow and as the bytes of Parquet files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

from precision_lint.scan.outcome import Outcome

_TEXT, _NUMBER, _BYTES, _TIME = (
    pyarrow.string(), pyarrow.int32(), pyarrow.int64(), pyarrow.float64()
)  # fmt: skip
_PLACE = [("path", _TEXT), ("cell", _NUMBER), ("row", _NUMBER), ("column", _NUMBER)]
_WITNESS = pyarrow.list_(pyarrow.struct([*_PLACE, ("message", _TEXT)]))

FINDINGS = pyarrow.schema([
    ("repository", _TEXT), ("commit", _TEXT), ("code", _TEXT), ("rule", _TEXT),
    ("severity", _TEXT), ("confidence", _TEXT), *_PLACE, ("end_row", _NUMBER),
    ("end_column", _NUMBER), ("message", _TEXT), ("witness", _WITNESS),
])  # fmt: skip
REPOSITORIES = pyarrow.schema([
    ("repository", _TEXT), ("commit", _TEXT), ("status", _TEXT), ("message", _TEXT),
    ("files", _NUMBER), ("bytes", _BYTES), ("skipped_files", _NUMBER), ("parts", _NUMBER),
    ("seconds", _TIME), ("cpu_seconds", _TIME), ("peak_memory", _BYTES), ("findings", _NUMBER),
    ("rules", pyarrow.map_(_TEXT, _NUMBER)), ("notes", pyarrow.list_(_TEXT)),
])  # fmt: skip


class Damaged(Exception):
    """A file that is not as it was written."""


def findings(outcomes: Iterable[Outcome]) -> bytes:
    """The findings of some repositories."""
    rows = [_finding(outcome, record) for outcome in outcomes for record in outcome.records]
    return _parquet(rows, FINDINGS)


def repositories(outcomes: Iterable[Outcome]) -> bytes:
    """A row for each repository."""
    return _parquet([_repository(outcome) for outcome in outcomes], REPOSITORIES)


def rows(path: Path, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Some columns of a file.

    Raises:
        Damaged: it is no whole Parquet file.
    """
    try:
        with pyarrow.parquet.ParquetFile(path) as parquet:
            for batch in parquet.iter_batches(columns=list(columns)):
                yield from batch.to_pylist()
    except pyarrow.ArrowException as problem:
        raise Damaged(str(problem)) from problem


def without(path: Path, keys: Collection[tuple[str, str | None]]) -> bytes:
    """A file without the rows of some repositories."""
    with pyarrow.parquet.ParquetFile(path) as parquet:
        table = parquet.read()
    named = zip(table["repository"].to_pylist(), table["commit"].to_pylist(), strict=True)
    kept = pyarrow.array([key not in keys for key in named], pyarrow.bool_())
    return _bytes(table.filter(kept))


def _finding(outcome: Outcome, record: Mapping[str, Any]) -> dict[str, Any]:
    end = record["end_location"]
    return {
        "repository": outcome.repository,
        "commit": outcome.commit,
        "code": record["code"],
        "rule": record["name"],
        "severity": record["severity"],
        "confidence": record["confidence"],
        **_place(record),
        "end_row": end["row"],
        "end_column": end["column"],
        "message": record["message"],
        "witness": [{**_place(one), "message": one["message"]} for one in record["related"]],
    }


def _place(record: Mapping[str, Any]) -> dict[str, Any]:
    return {"path": record["filename"], "cell": record["cell"], **record["location"]}


def _repository(outcome: Outcome) -> dict[str, Any]:
    counts = Counter(str(record["code"]) for record in outcome.records)
    return {
        "repository": outcome.repository,
        "commit": outcome.commit,
        "status": outcome.status.value,
        "message": outcome.message,
        "files": outcome.files,
        "bytes": outcome.size,
        "skipped_files": outcome.skipped,
        "parts": outcome.parts,
        "seconds": outcome.seconds,
        "cpu_seconds": outcome.cpu_seconds,
        "peak_memory": outcome.peak_memory,
        "findings": len(outcome.records),
        "rules": sorted(counts.items()),
        "notes": list(outcome.notes),
    }


def _parquet(rows: Sequence[Mapping[str, Any]], schema: Any) -> bytes:
    return _bytes(pyarrow.Table.from_pylist(rows, schema=schema))


def _bytes(table: Any) -> bytes:
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue())
