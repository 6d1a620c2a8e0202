"""The job of Ray Data: rows become repositories, and each repository is one task.

Everything that Ray runs is a function of the other modules here, which know nothing of Ray.
"""

from __future__ import annotations

import logging
import os
import re
import socket
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

from precision_lint.model.frozen import frozen

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # not without consent

import pyarrow
import ray
import ray.data

from precision_lint.engine.settings import Settings
from precision_lint.model.version import __version__
from precision_lint.scan.inputs import BadInput, Input
from precision_lint.scan.outcome import Limits, Outcome
from precision_lint.scan.rows import KEYS, Done, prepared, units_in
from precision_lint.scan.sandbox import check
from precision_lint.scan.sources import units_of
from precision_lint.scan.unit import Unit

_PARTITION = 64 << 20
"""Bytes of contents that are brought together at a time, about."""
_MOST_PARTITIONS = 4096
_PATIENCE = 10.0
"""Seconds that a cluster has for its answer."""


class JobFailed(Exception):
    """The job cannot start, or not go on; the message says why."""


@frozen(slots=False)
class Job:
    """What is done with every repository, and with how much at a time."""

    settings: Settings
    limits: Limits
    tasks: int | None = None
    """How many repositories are checked at a time; None for as many as there are cores."""

    @contextmanager
    def running(self, address: str | None) -> Iterator[None]:
        """Ray, for the time of the job: that of a cluster, or one of its own on this machine.

        Raises:
            JobFailed: no cluster is there, or no machine of it has enough memory.
        """
        # Workers import modules from the folder in which Ray was started: it must not be a
        # repository, where anybody may have put a `struct.py`.
        with TemporaryDirectory(prefix="precision-lint-scan-", ignore_cleanup_errors=True) as empty:
            before = os.getcwd()
            os.chdir(empty)
            try:
                self._start(address)
                yield
            finally:
                ray.shutdown()
                os.chdir(before)

    def of_parquet(self, given: Input, done: Done) -> Iterator[Outcome]:
        """What comes of the repositories in some Parquet files, in any order."""
        partitions = min(max(given.size // _PARTITION, 2 * _cores()), _MOST_PARTITIONS)
        pieces = _one_each("piece", range(len(given.pieces)))
        read = partial(_read, given=given, done=done, file_size=self.limits.file_size)
        rows = pieces.map_batches(read, batch_format="pyarrow")
        pack = partial(_packed_group, limits=self.limits)
        groups = rows.groupby(KEYS, num_partitions=partitions)
        return self._outcomes(groups.map_groups(pack, batch_format="pyarrow"))

    def of_sources(self, named: Sequence[str]) -> Iterator[Outcome]:
        """What comes of the repositories of a list, in any order."""
        lines = _one_each("source", named)
        pack = partial(_packed_sources, limits=self.limits)
        return self._outcomes(lines.map_batches(pack, batch_format="pyarrow"))

    def _outcomes(self, packed: Any) -> Iterator[Outcome]:
        checked = packed.repartition(target_num_rows_per_block=1).map_batches(
            partial(_checked, settings=self.settings, limits=self.limits, version=__version__),
            batch_format="pyarrow",
            num_cpus=1,
            memory=self.limits.memory,
            concurrency=self.tasks,
        )
        try:
            for block in checked.iter_batches(batch_size=None, batch_format="pyarrow"):
                yield from map(Outcome.from_json, block["outcome"].to_pylist())
        except ray.exceptions.RayError as problem:
            raise JobFailed(_last_cause(problem)) from problem

    def _start(self, address: str | None) -> None:
        own: dict[str, Any] = {} if address else {"include_dashboard": False}
        if not address and self.tasks:
            own["num_cpus"] = self.tasks
        try:
            _knock(address)
            ray.init(address or "local", logging_level=logging.ERROR, log_to_driver=False, **own)
        except (ConnectionError, ValueError, OSError) as problem:
            where = f"at {address}" if address else "on this machine"
            raise JobFailed(f"no Ray {where}: {problem}") from problem
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)  # what goes wrong is said here
        has = max((node["Resources"].get("memory", 0) for node in ray.nodes()), default=0)
        if has < self.limits.memory:
            raise JobFailed(
                f"no machine has {self.limits.memory:,} bytes for a task of Ray, only {has:,.0f}: "
                "lower --memory"
            )


def _knock(address: str | None) -> None:
    """Raise OSError if nobody listens at an address: Ray itself tries that for minutes."""
    host, colon, port = (address or "").removeprefix("ray://").rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()


def _last_cause(problem: BaseException) -> str:
    """What went wrong in a task, without the tracebacks of all that is around it."""
    text = str(problem)
    own = re.findall(r"^precision_lint\.[\w.]+: (.+)$", text, re.MULTILINE)
    others = re.findall(r"^[\w.]+(?:Error|Exception)\b.*$", text, re.MULTILINE)
    found: list[str] = own or others or [repr(problem)]
    return found[-1]


def _cores() -> int:
    return int(ray.cluster_resources().get("CPU", 1))


def _one_each(column: str, values: Iterable[object]) -> Any:
    """A data set with a task for each value."""
    table = pyarrow.table({column: list(values)})
    return ray.data.from_arrow(table).repartition(target_num_rows_per_block=1)


def _read(table: Any, given: Input, done: Done, file_size: int) -> Iterator[Any]:
    for number in table["piece"].to_pylist():
        piece = given.pieces[number]
        try:
            for rows in given.tables(piece):
                yield prepared(rows, given.layout, done, file_size)
        except (pyarrow.ArrowException, OSError) as problem:
            raise BadInput(f"{piece.path}: {problem}") from problem


def _packed_group(group: Any, limits: Limits) -> Any:
    return _packed(units_in(group, limits))


def _packed_sources(table: Any, limits: Limits) -> Any:
    found = [unit for line in table["source"].to_pylist() for unit in units_of(line, limits)]
    return _packed(found)


def _packed(found: Sequence[Unit]) -> Any:
    return pyarrow.table({"unit": pyarrow.array([unit.packed() for unit in found], _BLOB)})


def _checked(table: Any, settings: Settings, limits: Limits, version: str) -> Any:
    if version != __version__:
        raise JobFailed(f"this machine has precision-lint {__version__}, and not {version}")
    units = (Unit.unpacked(blob) for blob in table["unit"].to_pylist())
    outcomes = [check(unit, settings, limits).to_json() for unit in units]
    return pyarrow.table({"outcome": pyarrow.array(outcomes, pyarrow.large_string())})


_BLOB = pyarrow.large_binary()
