"""Which transformers a project runs with, where it pins none: imports show it, too."""

from __future__ import annotations

from precision_lint.facts.project.facts import Recording

_GONE = (
    "AdamW|AutoModelForVision2Seq|AutoModelWithLMHead|FlaxAutoModel|GreedySearchDecoderOnlyOutput"
    "|HybridCache|LLAMA_ATTENTION_CLASSES|LineByLineTextDataset|LlamaFlashAttention2"
    "|LlamaSdpaAttention|LossKwargs|MistralFlashAttention2|SampleDecoderOnlyOutput"
    "|ShardedDDPOption|TFAutoModel|TRANSFORMERS_CACHE|TextDataset"
    "|find_pruneable_heads_and_indices|is_safetensors_available|load_tf_weights_in_bert"
    "|send_example_telemetry|top_k_top_p_filtering"
)
"""Names that transformers 4 has, in some of its releases, and 5.24 does not (searched there)."""

_BEFORE_5 = (
    r"(?m)^from[ \t]+transformers(?:\.\w+)*[ \t]+import[ \t]+"
    rf"(?:\([^)]*|[^\n(#]*)\b(?:{_GONE})\b"
    r"|^from[ \t]+transformers\.(?:deepspeed|generation_utils|utils\.model_parallel_utils)\b"
).encode()
"""Imports at the margin: one under `try:` is prepared for either release."""


def is_before_5(project: Recording) -> bool:
    """True if the project has transformers 4: it pins it, or imports what 5 does not have."""
    version = project.version_of("transformers")
    if version is not None:
        return version < (5, 0)
    return bool(project.python_sources_matching(_BEFORE_5))
