"""The cross-entropy loss beside those of torch, Liger, flash-attn, quack and unsloth.

    python benchmarks/cross_entropy.py --out figures.json --plot figures.png
    python benchmarks/cross_entropy.py --linear --out linear.json
    python benchmarks/cross_entropy.py --shapes 4096x32000 --dtypes bf16 --rivals torch,liger

Without a GPU, or with `--reduced`, the shapes are small, the repetitions few, and on a CPU the
clock is that of the wall. A rival that cannot be imported or called stays in the table with the
first line of its exception. Every rival's loss and gradient is held against float64 first. Each
repetition starts from a fresh copy of the logits, made before the clock starts: some rivals
overwrite them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch
from cross_entropy_cases import Case, errors, linear_case, logits_case, reference
from cross_entropy_report import (
    COPY,
    PASSES,
    Errors,
    Figures,
    Row,
    document,
    figures,
    first_line,
    notes,
    plot,
    tables,
)
from cross_entropy_rivals import LINEAR_RIVALS, RIVALS, Loss, Rival
from cross_entropy_timing import CpuStopwatch, GpuStopwatch, Stopwatch, compare

T = TypeVar("T")

DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}

SHAPES = ((8192, 32000), (8192, 128256), (8192, 256000))
REDUCED_SHAPES = ((1024, 32000), (256, 128256))
# Tokens, width of the hidden states, classes.
LINEAR_SHAPES = ((8192, 4096, 128256),)
REDUCED_LINEAR_SHAPES = ((1024, 64, 32000),)


@dataclass(frozen=True)
class Plan:
    """What is measured, how often, and where."""

    linear: bool
    shapes: Sequence[tuple[int, ...]]
    dtypes: Sequence[str]
    rivals: Sequence[Rival]
    warmup: int
    repetitions: int
    device: str

    def cases(self) -> Iterator[tuple[tuple[int, ...], str]]:
        for shape in self.shapes:
            for dtype in self.dtypes:
                yield shape, dtype


def measure(plan: Plan, stopwatch: Stopwatch, shape: tuple[int, ...], dtype: str) -> Iterator[Row]:
    """The rows of one case, in the order of the rivals."""
    torch.manual_seed(0)
    torch.compiler.reset()  # what it compiled for another shape would count as a recompilation
    make = linear_case if plan.linear else logits_case
    case = make(shape, DTYPES[dtype], plan.device)
    losses, found, failures = _checked(plan.rivals, case)
    results: dict[str, dict[str, Figures]] = {name: {} for name in losses}
    for direction in PASSES:
        racing = {name: case.prepare(loss, direction) for name, loss in losses.items()}
        if not plan.linear:
            racing[COPY] = case.copy()
        timings, peaks, failed = compare(
            racing, stopwatch, warmup=plan.warmup, repetitions=plan.repetitions
        )
        for name in failed:
            losses.pop(name, None)
        failures |= failed
        size = (shape[0], shape[-1], DTYPES[dtype].itemsize)
        for name in losses:
            results[name][direction] = figures(
                direction, timings[name], peaks[name], timings.get(COPY), size
            )
    for rival in plan.rivals:
        yield Row(
            "linear_cross_entropy" if plan.linear else "cross_entropy",
            "x".join(map(str, shape)),
            dtype,
            rival.name,
            rival.overwrites,
            found.get(rival.name),
            results.get(rival.name, {}),
            failures.get(rival.name),
        )


def _checked(
    rivals: Sequence[Rival], case: Case
) -> tuple[dict[str, Loss], dict[str, Errors], dict[str, str]]:
    """The rivals that work, their errors, and why the others do not."""
    losses: dict[str, Loss] = {}
    found: dict[str, Errors] = {}
    failures: dict[str, str] = {}
    right = reference(case)
    for rival in rivals:
        try:
            loss = rival.load()
            found[rival.name] = errors(loss, case, right)
        except Exception as error:
            failures[rival.name] = first_line(error)
        else:
            losses[rival.name] = loss
    return losses, found, failures


def machine(plan: Plan) -> dict[str, Any]:
    """Where and when a run takes place."""
    facts: dict[str, Any] = {
        "date": time.strftime("%Y-%m-%d"),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "rocm": torch.version.hip,
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "load before": None,
        "versions": {rival.package: rival.version() for rival in plan.rivals},
        "warm-up": plan.warmup,
        "repetitions": plan.repetitions,
    }
    with suppress(ImportError):
        import triton

        facts["triton"] = triton.__version__
    with suppress(OSError):
        facts["load before"] = round(os.getloadavg()[0], 1)
    if plan.device == "cuda":
        properties = torch.cuda.get_device_properties("cuda")
        facts |= {
            "gpu": properties.name,
            "multiprocessors": properties.multi_processor_count,
            "memory": properties.total_memory,
            "driver": _driver(),
        }
    return facts


def _processor() -> str:
    with suppress(OSError):
        text = Path("/proc/cpuinfo").read_text("utf-8")
        if found := re.search(r"^model name\s*: (.+)$", text, re.MULTILINE):
            return found[1]
    return platform.processor()


def _driver() -> str | None:
    tool = "amd-smi version" if torch.version.hip else "nvidia-smi --query-gpu=driver_version"
    command = [*tool.split(), *(() if torch.version.hip else ("--format=csv,noheader",))]
    with suppress(OSError, subprocess.CalledProcessError):
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout.strip().splitlines()[0]
    return None


def _shape(text: str, length: int) -> tuple[int, ...]:
    sizes = tuple(map(int, text.split("x")))
    if len(sizes) != length or min(sizes) < 1:
        raise ValueError(f"{text} is not {length} positive numbers with an x between them")
    return sizes


def _chosen(names: str | None, known: Mapping[str, T], default: Sequence[str]) -> dict[str, T]:
    """The values of names with commas between them, in the order in which they are known."""
    chosen = names.split(",") if names else default
    if unknown := set(chosen) - set(known):
        raise ValueError(f"{', '.join(sorted(unknown))}: not one of {', '.join(known)}")
    return {name: value for name, value in known.items() if name in chosen}


def planned(arguments: Sequence[str] | None = None) -> tuple[Plan, argparse.Namespace]:
    """The command line as a plan, and the rest of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--linear", action="store_true", help="with the output layer's product")
    parser.add_argument("--reduced", action="store_true", help="small shapes; default without GPU")
    parser.add_argument("--shapes", help="8192x32000,...; with --linear 8192x4096x128256,...")
    parser.add_argument("--dtypes", help=f"of {','.join(DTYPES)}; bf16,fp16")
    parser.add_argument("--rivals", help="the first column of the table; all")
    parser.add_argument("--repetitions", type=int, help="30, reduced 5")
    parser.add_argument("--out", type=Path, help="write the figures here, as JSON")
    parser.add_argument("--plot", type=Path, help="draw the shares here")
    options = parser.parse_args(arguments)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    reduced = options.reduced or device == "cpu"
    shapes: Sequence[tuple[int, ...]]
    if options.linear:
        shapes = REDUCED_LINEAR_SHAPES if reduced else LINEAR_SHAPES
    else:
        shapes = REDUCED_SHAPES if reduced else SHAPES
    rivals = {rival.name: rival for rival in (LINEAR_RIVALS if options.linear else RIVALS)}
    try:
        if options.shapes:
            shapes = [_shape(text, len(shapes[0])) for text in options.shapes.split(",")]
        plan = Plan(
            options.linear,
            shapes,
            tuple(_chosen(options.dtypes, DTYPES, ("bf16", "fp16"))),
            tuple(_chosen(options.rivals, rivals, tuple(rivals)).values()),
            warmup=1 if reduced else 5,
            repetitions=options.repetitions or (5 if reduced else 30),
            device=device,
        )
    except ValueError as error:
        parser.error(str(error))
    return plan, options


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures, prints a table for each case, and writes what was asked for."""
    plan, options = planned(arguments)
    stopwatch: Stopwatch = GpuStopwatch() if plan.device == "cuda" else CpuStopwatch()
    facts = machine(plan)
    for name, fact in facts.items():
        print(f"{name}: {fact}")
    rows: list[Row] = []
    for shape, dtype in plan.cases():
        case = list(measure(plan, stopwatch, shape, dtype))
        print(f"\n{tables(case)}", flush=True)
        rows += case
        if options.out:  # after every case: a GPU that fails in the last one took the others well
            text = json.dumps(document(facts, rows), indent=1, allow_nan=False)
            options.out.write_text(text + "\n", encoding="utf-8")
    print(f"\n{notes(rows)}")
    if options.plot:
        print(f"\n{plot(rows, options.plot)}")


if __name__ == "__main__":
    main()
