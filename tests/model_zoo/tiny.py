"""Architectures of transformers as tiny models with random weights, and inputs for them."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
import transformers
from transformers import CONFIG_MAPPING
from transformers.configuration_utils import PreTrainedConfig
from transformers.models.auto import modeling_auto

# Sizes of a model: of its layers, of the inner layers of its MLPs, how many heads and key heads.
SIZES = ((32, 64, 4, 2, 8), (32, 64, 4, 4, 8), (64, 128, 4, 4, 16), (256, 128, 2, 2, None))
"""Some architectures demand relations between these; the first that runs is taken."""

MOST_PARAMETERS = 30_000_000
LENGTH = 12
"""Tokens of an input."""

_HEADS = (
    "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES",
    "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES",
    "MODEL_FOR_MASKED_LM_MAPPING_NAMES",
    "MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES",
    "MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES",
    "MODEL_FOR_SEMANTIC_SEGMENTATION_MAPPING_NAMES",
    "MODEL_FOR_CTC_MAPPING_NAMES",
    "MODEL_FOR_AUDIO_CLASSIFICATION_MAPPING_NAMES",
    "MODEL_MAPPING_NAMES",
)
"""Where the classes of an architecture are listed, those with a head first."""

_LIMITS = [
    (re.compile(rf"(?:.*_)?(?:{names})(?:_.*)?\Z"), size)
    for names, size in (
        ("vocab_size|n_vocab|codebook_size", 128),
        ("num_key_value_heads|num_kv_heads|n_kv_heads|multi_query_group_num", "key heads"),
        (
            "intermediate_size|ffn_dim|d_ff|n_inner|mlp_dim|ffn_hidden_size|intermediate_dim",
            "inner",
        ),
        ("num_attention_heads|n_heads?|attention_heads|num_heads", "heads"),
        (
            "num_hidden_layers|num_layers|n_layers?|encoder_layers|decoder_layers|depth|num_blocks",
            2,
        ),
        ("num_experts_per_tok|top_k_experts|moe_topk|moe_k|num_selected_experts", 2),
        ("num_experts|n_routed_experts|num_local_experts|num_routed_experts", 4),
        ("n_group|topk_group", 1),
        ("q_lora_rank|kv_lora_rank", 16),
        ("qk_head_dim", 16),
        ("head_dim|d_kv|head_size|mamba_d_head", "head"),
        ("max_position_embeddings|n_positions|n_ctx|max_source_positions|max_seq_len", 64),
        ("max_target_positions|max_sequence_length|block_size", 64),
        ("image_size|img_size", 32),
        ("patch_size|sliding_window|attention_window|window_size|num_queries|num_latents", 8),
        (
            "hidden_size|d_model|n_embd|embed_dim|hidden_dim|embedding_size|embedding_dim|dim",
            "layer",
        ),
        (
            "encoder_dim|decoder_dim|projection_dim|projection_size|width|output_dim|emb_dim",
            "layer",
        ),
    )
]
"""Fields of configurations by name, and what they are at most."""

_SPECIAL_TOKEN = re.compile(r".*_(?:token_id|token_index|id)\Z")


@dataclass(frozen=True, slots=True)
class Tiny:
    """A model that ran, with the inputs that it ran on."""

    model: torch.nn.Module
    inputs: dict[str, torch.Tensor]


def candidates(architecture: str) -> Iterator[Tiny]:
    """Models of an architecture with inputs that may fit; some of them fail when they run."""
    for name in _classes(architecture):
        for sizes in SIZES:
            torch.manual_seed(0)
            try:
                made = getattr(transformers, name)
                model = made._from_config(_config(CONFIG_MAPPING[architecture], sizes))
            except Exception:  # whatever its own checks of these sizes raise
                continue
            if sum(parameter.numel() for parameter in model.parameters()) > MOST_PARAMETERS:
                continue
            model.eval()
            for inputs in _inputs(model.config, inspect.signature(model.forward).parameters):
                yield Tiny(model, inputs)


def _classes(architecture: str) -> Iterator[str]:
    for mapping in _HEADS:
        found = getattr(modeling_auto, mapping).get(architecture)
        if found is not None:
            yield found if isinstance(found, str) else found[0]


def _config(kind: type[PreTrainedConfig], sizes: tuple[int | None, ...]) -> PreTrainedConfig:
    """A configuration with small sizes, and those that it holds."""
    named = dict(zip(("layer", "inner", "heads", "key heads", "head"), sizes, strict=True))
    values: dict[str, Any] = {}
    token = 3
    for field in dataclasses.fields(kind):
        default = field.default
        if field.name in kind.sub_configs or isinstance(default, bool):
            continue
        if field.name == "pad_token_id":
            values[field.name] = 0
        elif _SPECIAL_TOKEN.match(field.name):
            if isinstance(default, int) and default > 100:
                values[field.name] = 100 + token
                token += 1
        else:
            size = next((size for name, size in _LIMITS if name.match(field.name)), None)
            most = named[size] if isinstance(size, str) else size
            is_larger = isinstance(default, int) and most is not None and default > most
            if is_larger or (default is None and size == "key heads"):
                values[field.name] = most
    for name, inner in kind.sub_configs.items():
        held = inner if inner is not transformers.AutoConfig else type(getattr(kind(), name))
        if issubclass(held, PreTrainedConfig):
            values[name] = _config(held, sizes)
    return kind(**values)


def _find(config: PreTrainedConfig, *names: str, default: int) -> int:
    """A number of a configuration, or of one that it holds."""
    for each in (config, *(getattr(config, name) for name in type(config).sub_configs)):
        for name in names:
            value = getattr(each, name, None)
            if isinstance(value, list | tuple):
                value = value[0]
            if isinstance(value, int):
                return value
    return default


def _inputs(config: PreTrainedConfig, accepted: Any) -> Iterator[dict[str, torch.Tensor]]:
    torch.manual_seed(1)
    tokens = min(_find(config, "vocab_size", default=64), 60)
    ids = torch.randint(5, tokens - 1, (2, LENGTH))
    padded = torch.ones(2, LENGTH, dtype=torch.long)
    padded[1, :3] = 0
    size = _find(config, "image_size", "img_size", default=32)
    pixels = torch.randn(2, _find(config, "num_channels", "in_channels", default=3), size, size)
    mels = _find(config, "num_mel_bins", "feature_size", default=80)
    text = {
        "input_ids": ids,
        "attention_mask": padded,
        "decoder_input_ids": ids[:, :8],
        "bbox": torch.randint(0, 50, (2, LENGTH, 1)).repeat(1, 1, 4).float(),
        "labels": ids.clone(),
    }
    text = {name: value for name, value in text.items() if name in accepted}
    if "input_ids" in text:
        yield text
        yield {name: value for name, value in text.items() if name != "labels"}
        yield {"input_ids": ids}
    if "input_ids" in text and "pixel_values" in accepted:
        yield {**text, "pixel_values": pixels}
    if "pixel_values" in accepted:
        yield {"pixel_values": pixels}
        yield {"pixel_values": torch.randn(2, 3, 64, 64)}
        yield {"pixel_values": torch.randn(2, 8, 3, size, size)}
    decoder = {name: value for name, value in text.items() if name == "decoder_input_ids"}
    if "input_features" in accepted:
        frames = 2 * _find(config, "max_source_positions", default=32)
        yield {"input_features": torch.randn(2, mels, frames), **decoder}
        yield {"input_features": torch.randn(2, 40, mels), **decoder}
    if "input_values" in accepted:
        yield {"input_values": torch.randn(2, 1600) / 10}
        yield {"input_values": torch.randn(2, 1024, 128)}
