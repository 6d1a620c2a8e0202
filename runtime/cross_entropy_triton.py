"""The row loss by Triton: launch configurations and launches. Interface: ``RowImplementation``.

The only place that launches the kernels, so that tests cover the kernels that a GPU runs: on CPU
tensors through Triton's interpreter, and by compiling them for each GPU target.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
import triton

from precision_lint.runtime.cross_entropy_kernels import (
    combine_kernel,
    forward_kernel,
    gradient_kernel,
    partials_kernel,
)
from precision_lint.runtime.cross_entropy_rows import Partial, RowLosses, RowOptions, Statistic

# Classes per block: 16 per thread, at 4 and at 8 warps. No option set spills on any target
# (benchmarks/cross_entropy_resources.py). Measured on an H100 in bfloat16: forward, 4 warps are 3 %
# faster than 8; backward, larger blocks gain 1 % and cost the registers that the options need.
FORWARD_BLOCK = 2048
GRADIENT_BLOCK = 4096

# Four programs are resident at a time; with fewer than two rounds of them, rows are split.
PROGRAMS_PER_PROCESSOR = 8


@dataclass(frozen=True)
class Launch:
    """Classes per block, and the warps that share a block."""

    block: int
    num_warps: int


COMBINE = Launch(block=1, num_warps=1)


def forward_launch(classes: int) -> Launch:
    """For ``forward_kernel`` and ``partials_kernel``."""
    return _launch(classes, FORWARD_BLOCK)


def gradient_launch(classes: int) -> Launch:
    """For ``gradient_kernel``."""
    return _launch(classes, GRADIENT_BLOCK)


def _launch(classes: int, most: int) -> Launch:
    block = min(triton.next_power_of_2(classes), most)
    # At most 16 warps: AMD's wavefronts are twice as wide, and 32 of them exceed a workgroup.
    return Launch(block, max(4, min(16, block // 512)))


def row_losses(
    logits: torch.Tensor,
    target: torch.Tensor,
    weight: torch.Tensor | None,
    options: RowOptions,
    *,
    argmax: bool,
) -> RowLosses:
    """Partials and combine in one: one launch, unless there are too few rows to fill a GPU."""
    rows, classes = logits.shape
    launch = forward_launch(classes)
    blocks = triton.cdiv(classes, launch.block)
    if _part_blocks(rows, blocks, logits.device) < blocks:
        partials = row_partials(logits, target, weight, options, argmax=argmax, first_class=0)
        return combine(partials, target, options, argmax=argmax, classes=classes)
    logits, target = _rowwise(logits), target.contiguous()
    results = _empty_results(target, argmax)
    if rows:
        with _on_device_of(logits):
            forward_kernel[(rows,)](
                logits,
                logits.stride(0),
                target,
                weight,
                results.losses,
                results.lse,
                results.argmax if argmax else None,
                results.statistics,
                rows,
                classes,
                options.ignore_index,
                options.logit_scale,
                options.softcap,
                options.label_smoothing,
                **_transform_flags(options),
                HAS_WEIGHT=weight is not None,
                HAS_SMOOTHING=options.label_smoothing != 0.0,
                HAS_ARGMAX=argmax,
                BLOCK=launch.block,
                num_warps=launch.num_warps,
            )
    return results


def row_partials(
    logits: torch.Tensor,
    target: torch.Tensor,
    weight: torch.Tensor | None,
    options: RowOptions,
    *,
    argmax: bool,
    first_class: int,
    one_part: bool = False,
) -> torch.Tensor:
    """(parts, len(Partial), rows) of the classes that ``logits`` and ``weight`` hold."""
    rows, classes = logits.shape
    logits, target = _rowwise(logits), target.contiguous()
    launch = forward_launch(classes)
    blocks = triton.cdiv(classes, launch.block)
    part_blocks = blocks if one_part else _part_blocks(rows, blocks, logits.device)
    parts = triton.cdiv(blocks, part_blocks)
    partials = torch.empty((parts, len(Partial), rows), dtype=torch.float32, device=logits.device)
    if rows:
        with _on_device_of(logits):
            partials_kernel[(rows, parts)](
                logits,
                logits.stride(0),
                target,
                weight,
                partials,
                rows,
                classes,
                first_class,
                part_blocks,
                options.ignore_index,
                options.logit_scale,
                options.softcap,
                **_transform_flags(options),
                HAS_WEIGHT=weight is not None,
                HAS_SMOOTHING=options.label_smoothing != 0.0,
                HAS_ARGMAX=argmax,
                BLOCK=launch.block,
                num_warps=launch.num_warps,
            )
    return partials


def combine(
    partials: torch.Tensor,
    target: torch.Tensor,
    options: RowOptions,
    *,
    argmax: bool,
    classes: int,
) -> RowLosses:
    """Merges the parts of a vocabulary of ``classes``; parts come in ascending order."""
    partials, target = partials.contiguous(), target.contiguous()
    results = _empty_results(target, argmax)
    parts, _, rows = partials.shape
    if rows:
        with _on_device_of(partials):
            combine_kernel[(rows,)](
                partials,
                target,
                results.losses,
                results.lse,
                results.argmax if argmax else None,
                results.statistics,
                rows,
                classes,
                parts,
                options.ignore_index,
                options.label_smoothing,
                HAS_SMOOTHING=options.label_smoothing != 0.0,
                HAS_ARGMAX=argmax,
                num_warps=COMBINE.num_warps,
            )
    return results


def row_gradient(
    out: torch.Tensor,
    grad_losses: torch.Tensor | None,
    grad_lse: torch.Tensor | None,
    logits: torch.Tensor,
    target: torch.Tensor,
    weight: torch.Tensor | None,
    statistics: torch.Tensor,
    options: RowOptions,
    *,
    first_class: int,
    classes: int,
) -> None:
    """Writes the gradient of the logits to ``out``, which may be the logits themselves.

    ``out`` needs a class stride of 1.
    """
    rows, held = logits.shape
    logits, target = _rowwise(logits), target.contiguous()
    launch = gradient_launch(held)
    if rows:
        with _on_device_of(logits):
            gradient_kernel[(rows, triton.cdiv(held, launch.block))](
                out,
                out.stride(0),
                grad_losses,
                0 if grad_losses is None else grad_losses.stride(0),
                grad_lse,
                0 if grad_lse is None else grad_lse.stride(0),
                logits,
                logits.stride(0),
                target,
                weight,
                statistics,
                rows,
                held,
                first_class,
                classes,
                options.ignore_index,
                options.logit_scale,
                options.softcap,
                options.label_smoothing,
                HAS_GRAD_LOSSES=grad_losses is not None,
                HAS_GRAD_LSE=grad_lse is not None,
                **_transform_flags(options),
                HAS_WEIGHT=weight is not None,
                HAS_SMOOTHING=options.label_smoothing != 0.0,
                BLOCK=launch.block,
                num_warps=launch.num_warps,
            )


def _part_blocks(rows: int, blocks: int, device: torch.device) -> int:
    """Blocks per program: all of a row, or a share where there are few rows for the device."""
    wanted = PROGRAMS_PER_PROCESSOR * _processors(device)
    parts = max(1, min(blocks, triton.cdiv(wanted, max(rows, 1))))
    share: int = triton.cdiv(blocks, parts)
    return share


@cache
def _processors(device: torch.device) -> int:
    """Multiprocessors of a GPU; none where the kernels are interpreted, one program at a time."""
    if device.type != "cuda":
        return 0
    count: int = torch.cuda.get_device_properties(device).multi_processor_count
    return count


def _empty_results(target: torch.Tensor, argmax: bool) -> RowLosses:
    rows = target.shape[0]
    return RowLosses(
        losses=torch.empty(rows, dtype=torch.float32, device=target.device),
        lse=torch.empty(rows, dtype=torch.float32, device=target.device),
        argmax=target.new_empty(rows if argmax else 0),
        statistics=torch.empty((len(Statistic), rows), dtype=torch.float32, device=target.device),
    )


def _transform_flags(options: RowOptions) -> dict[str, bool]:
    return {"HAS_SCALE": options.logit_scale != 1.0, "HAS_SOFTCAP": options.softcap != 0.0}


def _rowwise(logits: torch.Tensor) -> torch.Tensor:
    """The kernels step over rows by a stride, over classes one by one."""
    return logits if logits.stride(1) == 1 else logits.contiguous()


def _on_device_of(t: torch.Tensor) -> AbstractContextManager[Any]:
    # Triton launches on the current device, which may not be the device of the logits.
    return torch.cuda.device(t.device) if t.is_cuda else nullcontext()
