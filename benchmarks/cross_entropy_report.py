"""The figures of `cross_entropy.py`: what follows from its times, its tables, its JSON, its plot.

    python benchmarks/cross_entropy_report.py

prints the tables of docs/benchmarks.md instead: the kernels' registers, from the figures of
`cross_entropy_resources.py`, and the figures of a GPU. Needs the standard library only; a plot
needs matplotlib.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path
from statistics import median, quantiles
from typing import Any

COPY = "device copy"
RESOURCES = Path(__file__).with_name("cross-entropy-resources.json")
ON_A_GPU = tuple(
    Path(__file__).with_name(f"cross-entropy-{name}h100.json") for name in ("", "linear-")
)

PASSES = {"forward": 1, "backward": 2, "both": 3}
"""How often a direction passes over the logits: read; read and write; all three."""


@dataclass(frozen=True)
class Timing:
    """Milliseconds of some repetitions: their median, and the tenth and ninetieth percentile."""

    median: float
    low: float
    high: float
    repetitions: int

    @classmethod
    def of(cls, samples: Sequence[float]) -> Timing:
        if len(samples) == 1:
            return cls(samples[0], samples[0], samples[0], 1)
        tenths = quantiles(samples, n=10, method="inclusive")
        return cls(median(samples), tenths[0], tenths[-1], len(samples))


@dataclass(frozen=True)
class Errors:
    """Relative, against float64.

    The gradient's is that of its norm over some rows. `label` is the largest at a label of these
    rows, where a kernel that subtracts one from a rounded probability is far off; None for a loss
    that takes no logits.
    """

    loss: float
    gradient: float
    label: float | None = None


@dataclass(frozen=True)
class Figures:
    """One direction: its time, bytes per second and their share of a copy's, peak memory.

    `peak` is in bytes above the inputs, with what a forward pass keeps for its backward pass; None
    where the system does not tell.
    """

    timing: Timing
    peak: int | None = None
    bandwidth: float | None = None
    share: float | None = None


@dataclass(frozen=True)
class Row:
    """One rival in one case; `failure` is the first line of the exception that ended it."""

    table: str
    shape: str
    dtype: str
    rival: str
    overwrites: str = ""
    errors: Errors | None = None
    figures: Mapping[str, Figures] = field(default_factory=dict)
    failure: str | None = None


def useful_bytes(direction: str, rows: int, classes: int, itemsize: int) -> int:
    """What a loss with separate passes has to move; rows, labels and losses do not count.

    The same for every rival, so that shares compare as times do. A kernel that takes the gradient
    in its forward pass needs two passes for both directions, and can exceed the share of a copy.
    """
    return PASSES[direction] * rows * classes * itemsize


def bandwidth(moved: int, milliseconds: float) -> float:
    """Bytes per second."""
    return moved / (milliseconds / 1000)


def figures(
    direction: str,
    timing: Timing,
    peak: int | None,
    copied: Timing | None,
    size: tuple[int, int, int],
) -> Figures:
    """The figures of rows x classes x itemsize; without a copy's time there is no share."""
    if copied is None:
        return Figures(timing, peak)
    reached = bandwidth(useful_bytes(direction, *size), timing.median)
    # A copy reads and writes, whatever the direction it is compared with.
    possible = bandwidth(useful_bytes("backward", *size), copied.median)
    return Figures(timing, peak, reached, reached / possible)


def first_line(error: BaseException) -> str:
    """An exception as one line: its type, and the first line of its message that says something."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return ": ".join([type(error).__name__, *lines[:1]])


def tables(rows: Sequence[Row]) -> str:
    """The rows as Markdown, a table for each case."""

    def case(row: Row) -> tuple[str, str, str]:
        return row.table, row.shape, row.dtype

    parts = []
    for key, members in groupby(rows, case):
        held = list(members)
        parts.append(f"{', '.join(key)}{_copy_rate(held)}\n\n{_table(held)}")
    return "\n\n".join(parts)


def _copy_rate(rows: Sequence[Row]) -> str:
    found = (figures for row in rows for figures in row.figures.values())
    rates = [f.bandwidth / f.share for f in found if f.bandwidth and f.share]
    return f"; a plain copy moves {median(rates) / 1e9:.3g} GB/s" if rates else ""


def _table(rows: Sequence[Row]) -> str:
    """Without the columns that none of the rows fills."""
    heads = ["rival", *(head for name in PASSES for head in (name, "share")), "peak memory"]
    heads += ["loss error", "gradient error", "at the label"]
    cells = [heads, ["--:" if head != "rival" else "---" for head in heads], *map(_cells, rows)]
    kept = [i for i in range(len(heads)) if any(line[i] for line in cells[2:])]
    return "\n".join(f"| {' | '.join(line[i] for i in kept)} |" for line in cells)


def notes(rows: Sequence[Row]) -> str:
    """How to read the tables of these rows."""
    lines = [
        "Time: median (tenth to ninetieth percentile). Share: of a plain copy's bytes per second,",
        "with one pass over the logits forward and two backward. Peak memory: above the inputs, of",
        "forward and backward. Errors: relative to float64.",
    ]
    for direction in PASSES:
        names = [row.rival for row in rows if row.overwrites == direction and row.figures]
        if names:
            listed = ", ".join(dict.fromkeys(names))
            lines.append(f"Gradient written over the logits in the {direction} pass: {listed}.")
    return "\n".join(lines)


def _cells(row: Row) -> list[str]:
    cells = [row.rival]
    failure = row.failure
    for direction in PASSES:
        found = row.figures.get(direction)
        if found is None:
            cells += [(failure or "").replace("|", "\\|"), ""]
            failure = None
        else:
            share = "" if found.share is None else f"{found.share:.0%}"
            cells += [_milliseconds(found.timing), share]
    both = row.figures.get("both")
    cells.append("" if both is None or both.peak is None else f"{both.peak / 2**20:.0f} MiB")
    errors = row.errors
    if errors is None:
        return [*cells, "", "", ""]
    return [*cells, *map(_error, (errors.loss, errors.gradient, errors.label))]


def _milliseconds(timing: Timing) -> str:
    digits = max(0, 2 - math.floor(math.log10(timing.median))) if timing.median > 0 else 2
    low, mid, high = (f"{t:.{digits}f}" for t in (timing.low, timing.median, timing.high))
    return f"{mid} ms ({low}–{high})"


def _error(error: float | None) -> str:
    return "" if error is None else f"{error:.1e}"


def document(machine: Mapping[str, Any], rows: Sequence[Row]) -> dict[str, Any]:
    """What the JSON file holds; an error that is not finite becomes null, as JSON lacks NaN."""
    return {"machine": dict(machine), "rows": [_finite(asdict(row)) for row in rows]}


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def plot(rows: Sequence[Row], path: Path) -> str:
    """Draws the share of a copy that both directions together reach; says what was done."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return "no plot: matplotlib is not installed"
    drawn = [row for row in rows if "both" in row.figures and row.figures["both"].share is not None]
    if not drawn:
        return "no plot: nothing was measured beside a copy"
    shapes = list(dict.fromkeys(row.shape for row in drawn))
    dtypes = list(dict.fromkeys(row.dtype for row in drawn))
    rivals = list(dict.fromkeys(row.rival for row in drawn))[::-1]
    height = 0.6 + 0.25 * len(rivals)
    figure = Figure(figsize=(5.5 * len(dtypes), height * len(shapes)), layout="constrained")
    grid = figure.subplots(len(shapes), len(dtypes), squeeze=False, sharex=True, sharey=True)
    for row in drawn:
        axes = grid[shapes.index(row.shape)][dtypes.index(row.dtype)]
        axes.set_title(f"{row.shape} {row.dtype}", fontsize=9)
        color = "tab:orange" if row.rival.startswith("precision-lint") else "tab:blue"
        share = row.figures["both"].share or 0.0
        axes.barh(rivals.index(row.rival), 100 * share, color=color)
        axes.set_yticks(range(len(rivals)), rivals, fontsize=8)
    figure.supxlabel("forward and backward: % of a device copy's bytes per second", fontsize=9)
    figure.savefig(path)
    return f"plot: {path}"


def resource_table(
    document: Mapping[str, Any], targets: Sequence[str] = ("sm_80", "sm_90", "sm_100", "gfx942")
) -> str:
    """Registers per thread, stack, spills and shared memory of the compiled kernels, as Markdown.

    A cell of registers: bfloat16 without options, and the most of any dtype and options.
    """
    lines = [
        f"| kernel | block | warps | {' | '.join(targets)} | stack | spills | shared memory |",
        f"|---|--:|--:|{'--:|' * len(targets)}--:|--:|--:|",
    ]
    held = [row for row in document["rows"] if row["target"] in targets]
    for kernel in dict.fromkeys(row["kernel"] for row in held):
        rows = [row for row in held if row["kernel"] == kernel]
        plain = {
            row["target"]: row["registers"]
            for row in rows
            if (row["dtype"], row["options"]) == ("bf16", "plain")
        }
        most = {t: max(r["registers"] for r in rows if r["target"] == t) for t in targets}
        launches = {(row["block"], row["num_warps"]) for row in rows}
        ((block, warps),) = launches
        largest = {key: max(row[key] for row in rows) for key in ("stack", "spills", "shared")}
        cells = [kernel, block, warps, *(f"{plain[t]}, {most[t]}" for t in targets)]
        cells += [largest["stack"], largest["spills"], f"{largest['shared']} B"]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def gpu_table(document: Mapping[str, Any]) -> str:
    """Forward and backward together in bfloat16 by shape, peak memory, and errors, as Markdown.

    Memory and errors are those of the last shape; two errors are of bfloat16 and float16.
    """
    rows = {
        (row["rival"], row["shape"], row["dtype"]): row
        for row in document["rows"]
        if row["figures"]
    }
    rivals, shapes = (dict.fromkeys(key[place] for key in rows) for place in (0, 1))
    lines = [
        f"| rival | {' | '.join(shapes)} | peak memory | loss error | gradient error |",
        f"|---|{'--:|' * len(shapes)}--:|--:|--:|",
    ]
    for rival in rivals:
        both = [rows[rival, shape, "bf16"]["figures"]["both"] for shape in shapes]
        last = [rows[rival, list(shapes)[-1], dtype]["errors"] for dtype in ("bf16", "fp16")]
        errors = (", ".join(_error(one[kind]) for one in last) for kind in ("loss", "gradient"))
        peak = f"{both[-1]['peak'] / 2**20:.0f} MiB"
        lines.append(f"| {' | '.join([rival, *map(_cell, both), peak, *errors])} |")
    return "\n".join(lines)


def _cell(figures: Mapping[str, Any]) -> str:
    """The median time, and the share of a copy's bandwidth where it is known."""
    share = figures["share"]
    known = "" if share is None else f", {share:.0%}"
    return f"{figures['timing']['median']:.3g} ms{known}"


if __name__ == "__main__":
    print(resource_table(json.loads(RESOURCES.read_text("utf-8"))))
    for path in ON_A_GPU:
        print(f"\n{gpu_table(json.loads(path.read_text('utf-8')))}")
