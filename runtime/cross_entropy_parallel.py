"""Classes sharded over processes: the classes of this process, and how parts are gathered.

Every process reduces its own classes to one part per row (``Partial``). The parts of all
processes, 32 bytes per row and process, are gathered in class order, and every process combines
them to the same losses. The gradient of a shard needs no communication.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

import torch

from precision_lint.runtime.cross_entropy_reduction import CrossEntropyOutput

# Imported late elsewhere: torch may be built without it, and DTensor takes a second to import.
if TYPE_CHECKING:
    from torch.distributed import ProcessGroup
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.tensor import DTensor

_T = TypeVar("_T")


@dataclass(frozen=True)
class ClassShard:
    """The classes from ``first_class`` on that this process holds of the ``classes`` of a group.

    The classes of a rank follow those of the rank before it.
    """

    first_class: int
    classes: int
    group_size: int
    group_name: str


def shard_in_group(held: int, process_group: ProcessGroup) -> ClassShard | None:
    """The shard of a process with ``held`` classes, equal for all; None in a group of one.

    Raises:
        TypeError: not a process group, or one that this process is not a member of.
    """
    if not isinstance(process_group, torch.distributed.ProcessGroup):
        raise TypeError(
            "process_group is a torch.distributed.ProcessGroup that this process belongs to, not "
            f"{process_group!r}"
        )
    size = process_group.size()
    if size == 1:
        return None
    return ClassShard(process_group.rank() * held, size * held, size, process_group.group_name)


def gathered(part: torch.Tensor, group_size: int, group_name: str) -> torch.Tensor:
    """The parts of all processes, one part from each: (1, len(Partial), rows) to (parts, ...)."""
    collectives = torch.ops._c10d_functional
    parts = collectives.all_gather_into_tensor(part, group_size, group_name)
    waited: torch.Tensor = collectives.wait_tensor(parts)
    return waited


def is_dtensor(value: Any) -> TypeGuard[DTensor]:
    # In terms that torch.compile traces (``hasattr`` of a tensor is none in torch 2.4).
    if not isinstance(value, torch.Tensor) or type(value) is torch.Tensor:
        return False
    # Where there is a DTensor, its module is loaded; torch 2.4 has one without the class.
    dtensor = getattr(sys.modules.get("torch.distributed.tensor"), "DTensor", None)
    return dtensor is not None and isinstance(value, dtensor)


def whole(value: _T) -> _T | torch.Tensor:
    """A DTensor as the plain tensor that it stands for, anything else as it is."""
    return value.full_tensor() if is_dtensor(value) else value


def local_arguments(
    logits: DTensor, target: torch.Tensor, weight: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None, ClassShard | None]:
    """The local inputs: logits of this process, all labels, its weights, and its shard.

    The shard is None if each process has all of the logits.

    Raises:
        ValueError: see ``_shard_of``.
    """
    shard = _shard_of(logits)
    local = logits.to_local(grad_placements=logits.placements)
    weight = whole(weight)
    if shard is not None and weight is not None:
        held = local.shape[min(1, local.dim() - 1)]
        weight = weight[shard.first_class : shard.first_class + held]
    return local, whole(target), weight, shard


def _shard_of(logits: DTensor) -> ClassShard | None:
    """The shard in ``logits.to_local()``; None if that is all of the logits.

    Raises:
        ValueError: placements other than replicated and, over one mesh dimension, sharded by
            class; or too few classes for every process to hold one.
    """
    from torch.distributed.tensor import Shard

    class_dim = min(1, logits.dim() - 1)
    spread = [i for i, placement in enumerate(logits.placements) if not placement.is_replicate()]
    if not spread:
        return None
    if len(spread) > 1 or logits.placements[spread[0]] != Shard(class_dim):
        raise ValueError(
            f"DTensor logits must be replicated, or be Shard({class_dim}) over one mesh dimension "
            f"and replicated over others, not {logits.placements}: redistribute them, or pass "
            "logits.to_local() with the target of those rows, num_items, and the process_group "
            "of the classes"
        )
    mesh, mesh_dim = logits.device_mesh, spread[0]
    classes, size = logits.shape[class_dim], mesh.size(mesh_dim)
    share = -(-classes // size)  # DTensor shards like torch.chunk: the last shard may be smaller
    if share * (size - 1) >= classes:
        raise ValueError(f"{classes} classes leave some of {size} processes without any")
    if size == 1:
        return None
    rank = mesh.get_local_rank(mesh_dim)
    return ClassShard(share * rank, classes, size, mesh.get_group(mesh_dim).group_name)


def replicated(
    result: torch.Tensor | CrossEntropyOutput, mesh: DeviceMesh
) -> torch.Tensor | CrossEntropyOutput:
    """Results that are equal in every process of the mesh, as replicated DTensors."""
    from torch.distributed.tensor import DTensor, Replicate

    def over_mesh(local: torch.Tensor) -> torch.Tensor:
        return DTensor.from_local(local, mesh, [Replicate()] * mesh.ndim, run_check=False)

    if isinstance(result, torch.Tensor):
        return over_mesh(result)
    loss, *rest = result
    return CrossEntropyOutput(
        over_mesh(loss), *(None if values is None else over_mesh(values) for values in rest)
    )
