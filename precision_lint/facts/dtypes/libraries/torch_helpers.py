"""Helpers of torch beside its operators: wrappers of modules, data loading, sequences, trees.

Operators stand in `_generated/operators.py`. `torch.distributed` is in `parallel`.
"""

from __future__ import annotations

from precision_lint.facts.dtypes.libraries.terms import (
    Anything,
    Checkpoint,
    Collated,
    Distribution,
    Fixed,
    FromArray,
    Given,
    Item,
    Library,
    Loaded,
    Many,
    Mapped,
    Member,
    Rest,
    Result,
    Tuple,
    Zipped,
)

_TORCH = "torch 2.13.0"
_RNN = "torch.nn.utils.rnn"
_DATA = "torch.utils.data"
_INT64 = Fixed("int64")
_MODULE = Given(0, "module")

ROWS = (
    # wrappers: the module or function itself
    Library(_TORCH, "torch", "compile", Given(0, "model")),
    Library(_TORCH, "torch.jit", "script", Given(0, "obj")),
    Library(_TORCH, "torch.jit", "trace", Given(0, "func")),
    Library(_TORCH, "torch.jit", "freeze optimize_for_inference trace_module", Given(0, "mod")),
    Library(_TORCH, "torch.fx", "symbolic_trace", Given(0, "root")),
    Library(_TORCH, "torch torch.func", "vmap", Given(0, "func")),
    Library(
        _TORCH,
        "torch.nn.utils torch.nn.utils.parametrizations",
        "weight_norm spectral_norm",
        _MODULE,
    ),
    Library(_TORCH, "torch.nn.utils.parametrizations", "orthogonal", _MODULE),
    Library(_TORCH, "torch.nn.utils", "remove_weight_norm remove_spectral_norm", _MODULE),
    Library(_TORCH, "torch.nn.SyncBatchNorm", "convert_sync_batchnorm", _MODULE),
    Library(_TORCH, "torch.optim.swa_utils", "AveragedModel", Given(0, "model")),
    Library(
        _TORCH,
        "torch.utils.checkpoint",
        "checkpoint",
        Result(Given(0, "function"), Rest(1)),
    ),
    # parameters
    Library(_TORCH, "torch.nn.utils", "parameters_to_vector", Item(Given(0, "parameters"))),
    Library(_TORCH, "torch.nn.utils", "get_total_norm", Item(Given(0, "tensors"))),
    # sequences
    Library(_TORCH, _RNN, "pad_sequence", Item(Given(0, "sequences"))),
    Library(_TORCH, _RNN, "unpad_sequence", Many(Given(0, "padded_sequences"))),
    Library(
        _TORCH,
        _RNN,
        "pack_padded_sequence",
        Tuple((Given(0, "input"), _INT64, Anything(), Anything())),
    ),
    Library(
        _TORCH,
        _RNN,
        "pack_sequence",
        Tuple((Item(Given(0, "sequences")), _INT64, Anything(), Anything())),
    ),
    Library(_TORCH, _RNN, "pad_packed_sequence", Tuple((Member(Given(0, "sequence"), 0), _INT64))),
    Library(_TORCH, _RNN, "unpack_sequence", Many(Member(Given(0, "packed_sequences"), 0))),
    # data
    Library(
        _TORCH,
        f"{_DATA} {_DATA}.dataloader {_DATA}._utils.collate",
        "default_collate",
        Collated(Given(0, "batch")),
    ),
    Library(_TORCH, f"{_DATA} {_DATA}.dataloader", "DataLoader", Loaded(Given(0, "dataset"))),
    Library(_TORCH, f"{_DATA} {_DATA}.dataset", "TensorDataset", Many(Zipped(Rest()))),
    Library(_TORCH, f"{_DATA} {_DATA}.dataset", "StackDataset", Many(Zipped(Rest()))),
    Library(
        _TORCH, f"{_DATA} {_DATA}.dataset", "ConcatDataset", Many(Item(Item(Given(0, "datasets"))))
    ),
    Library(_TORCH, f"{_DATA} {_DATA}.dataset", "Subset", Given(0, "dataset")),
    Library(_TORCH, f"{_DATA} {_DATA}.dataset", "random_split", Many(Given(0, "dataset"))),
    # trees
    Library(
        _TORCH,
        "torch.utils._pytree",
        "tree_map",
        Mapped(Given(0, "func"), Given(1, "tree")),
    ),
    Library(_TORCH, "torch.utils._pytree", "tree_map_", Given(1, "tree")),
    # distributions
    Library(
        _TORCH,
        "torch.distributions",
        "Normal LogNormal HalfNormal Laplace Uniform Exponential Cauchy Gumbel",
        Distribution(Rest()),
    ),
    Library(_TORCH, "torch.distributions", "Independent", Distribution(Rest())),
    # files and arrays
    Library(_TORCH, "torch", "from_numpy", FromArray(Given(0))),
    Library(_TORCH, "torch", "load", Checkpoint("anything")),
    Library(_TORCH, "torch.hub", "load_state_dict_from_url", Checkpoint()),
    Library("safetensors 0.8.0", "safetensors.torch", "load load_file", Checkpoint("mapping")),
)
