"""Many processes: wrappers of modules and loaders, and collectives.

A module that `accelerate` or Lightning's `Fabric` has prepared returns float32 where it would
return bfloat16 or float16, if the precision is one of `WIDENING`. This holds for calls of the
module and of its `forward`, and for what `unwrap_model` gives (unless `keep_fp32_wrapper=False`),
as `accelerate` changes the module in place. It does not hold for other methods, such as `generate`.
"""

from __future__ import annotations

from collections.abc import Mapping

from precision_lint.facts.dtypes.libraries import hooks
from precision_lint.facts.dtypes.libraries.terms import (
    Alone,
    Anything,
    Effect,
    Given,
    Library,
    Many,
    Mapped,
    NotATensor,
    Object,
    Prepared,
    Rest,
    Stacked,
    Tuple,
    Widened,
)

_TORCH = "torch 2.13.0"
_ACCELERATE = "accelerate 1.15.0"
_LIGHTNING = "lightning 2.6.6"
ACCELERATOR = "accelerate.Accelerator"
_FABRIC = "lightning.fabric.Fabric"
_DIST = "torch.distributed torch.distributed.distributed_c10d"
_OF_GRADIENTS = "torch.distributed.nn torch.distributed.nn.functional"
_MODULE = Given(0, "module")
_MODEL = Given(0, "model")
_TENSOR = Given(0, "tensor")
_DATA = Given(0, "data")

WIDENING: Mapping[str, frozenset[str]] = {
    ACCELERATOR: frozenset({"bf16", "fp16"}),
    _FABRIC: frozenset({"bf16-mixed", "16-mixed", "bf16-true", "16-true", "bf16", "16"}),
}
"""The values of `mixed_precision=` and `precision=` under which the outputs of a prepared module
become float32. Under `64-true` they do so from float64, which is not followed."""

UNKNOWN_PRECISION = "?"
"""The precision of a library's object that a setting chooses. In the runs in which autocast gives a
module half-precision outputs, the object has that precision, too, and makes them float32."""

CASTING: Mapping[str, Mapping[str, str]] = {
    _FABRIC: {"bf16-true": "bfloat16", "16-true": "float16", "64-true": "float64"},
}
"""The values under which a module is cast when it is prepared, and the dtype then."""

AUTOCAST: Mapping[str, Mapping[str, str]] = {
    ACCELERATOR: {"bf16": "bfloat16", "fp16": "float16"},
    _FABRIC: hooks.MIXED,
}
"""The values under which `.autocast()` opens a region, and the dtype of the region."""

ROWS = (
    # modules
    Library(_TORCH, "torch.nn torch.nn.parallel", "DataParallel", _MODULE),
    Library(_TORCH, "torch.nn.parallel", "DistributedDataParallel", _MODULE),
    Library(
        _TORCH,
        "torch.distributed.fsdp",
        "FullyShardedDataParallel fully_shard",
        _MODULE,
    ),
    # collectives: the buffers that are written have the dtype of what is sent
    Library(
        _TORCH,
        _DIST,
        "all_gather_object",
        NotATensor(),
        Effect(Given(0, "object_list"), Many(Given(1, "obj"))),
    ),
    Library(
        _TORCH,
        _DIST,
        "gather_object",
        NotATensor(),
        Effect(Given(1, "object_gather_list"), Many(Given(0, "obj"))),
    ),
    Library(
        _TORCH,
        _DIST,
        """
        all_gather all_gather_into_tensor all_reduce broadcast broadcast_object_list gather reduce
        reduce_scatter reduce_scatter_tensor scatter send recv barrier
        """,
        NotATensor(),
    ),
    Library(_TORCH, _OF_GRADIENTS, "all_gather", Many(_TENSOR)),
    Library(_TORCH, _OF_GRADIENTS, "all_reduce broadcast reduce", _TENSOR),
    # accelerate
    Library(
        _ACCELERATE,
        "accelerate accelerate.accelerator",
        "Accelerator",
        Object(ACCELERATOR, Given(2, "mixed_precision")),
    ),
    Library(_ACCELERATE, ACCELERATOR, "prepare", Alone(Prepared(Rest()))),
    Library(_ACCELERATE, ACCELERATOR, "prepare_model", Prepared(_MODEL)),
    Library(_ACCELERATE, ACCELERATOR, "unwrap_model", _MODEL),
    Library(_ACCELERATE, ACCELERATOR, "prepare_data_loader", Given(0, "data_loader")),
    Library(_ACCELERATE, ACCELERATOR, "prepare_optimizer", Given(0, "optimizer")),
    Library(_ACCELERATE, ACCELERATOR, "prepare_scheduler", Given(0, "scheduler")),
    Library(_ACCELERATE, ACCELERATOR, "gather pad_across_processes reduce", _TENSOR),
    Library(_ACCELERATE, ACCELERATOR, "gather_for_metrics", Given(0, "input_data")),
    Library(
        _ACCELERATE,
        "accelerate.utils accelerate.utils.operations",
        "gather broadcast pad_across_processes reduce send_to_device",
        _TENSOR,
    ),
    Library(_ACCELERATE, "accelerate.utils accelerate.utils.operations", "slice_tensors", _DATA),
    Library(
        _ACCELERATE,
        "accelerate.utils accelerate.utils.operations",
        "concatenate",
        Stacked(_DATA),
    ),
    Library(
        _ACCELERATE,
        "accelerate.utils accelerate.utils.operations",
        "convert_to_fp32",
        Widened(_TENSOR),
    ),
    Library(
        _ACCELERATE,
        "accelerate.utils accelerate.utils.operations",
        "recursively_apply",
        Mapped(Given(0, "func"), Given(1, "data")),
    ),
    Library(
        _ACCELERATE,
        "accelerate.utils accelerate.utils.other",
        "extract_model_from_parallel",
        _MODEL,
    ),
    Library(
        _ACCELERATE,
        "accelerate accelerate.big_modeling",
        "dispatch_model cpu_offload disk_offload load_checkpoint_and_dispatch",
        _MODEL,
    ),
    Library(
        _ACCELERATE,
        "accelerate accelerate.data_loader",
        "skip_first_batches",
        Given(0, "dataloader"),
    ),
    # DeepSpeed: the engine is called as the model is. A configuration that enables `bf16` or `fp16`
    # casts the model first; that is not followed.
    Library(
        "deepspeed 0.19.8",
        "deepspeed",
        "initialize",
        Tuple((Given(1, "model"), Given(2, "optimizer"), Anything(), Anything())),
    ),
    # Lightning
    Library(
        _LIGHTNING,
        "lightning lightning.fabric lightning_fabric",
        "Fabric",
        Object(_FABRIC, Given(4, "precision")),
    ),
    Library(_LIGHTNING, _FABRIC, "setup", Alone(Prepared(Rest()))),
    Library(_LIGHTNING, _FABRIC, "setup_module", Prepared(_MODULE)),
    Library(_LIGHTNING, _FABRIC, "setup_dataloaders", Alone(Rest())),
    Library(_LIGHTNING, _FABRIC, "all_gather all_reduce", _DATA),
    Library(_LIGHTNING, _FABRIC, "broadcast to_device", Given(0, "obj")),
    Library(
        _LIGHTNING,
        "lightning.fabric.utilities lightning_fabric.utilities",
        "move_data_to_device",
        Given(0, "batch"),
    ),
    Library(
        _LIGHTNING,
        "lightning_utilities lightning_utilities.core.apply_func",
        "apply_to_collection",
        Mapped(Given(2, "function"), Given(0, "data")),
    ),
)
