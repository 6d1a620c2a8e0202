"""Where tensors and foreign arrays come from: the vocabulary of torch, Hugging Face and NumPy."""

from __future__ import annotations

import re

WEIGHTS = frozenset({"weight", "bias"})
"""Attributes of a module that are parameters: the checkpoint chooses their dtype."""

OUTPUTS = frozenset(
    {
        "logits", "last_hidden_state", "pooler_output", "image_embeds", "text_embeds",
        "image_features", "text_features", "pred_boxes", "pred_masks", "prev_sample",
        "encoder_last_hidden_state", "decoder_hidden_states", "log_probs", "logprobs",
    }
)  # fmt: skip
"""Attributes of model outputs that are floating tensors, in the dtype that the model runs in."""

OUTPUT_SEQUENCES = frozenset({"hidden_states", "attentions", "cross_attentions"})

TOKENS = frozenset(
    {"input_ids", "attention_mask", "token_type_ids", "position_ids", "labels", "decoder_input_ids"}
)
"""Attributes and keys of tokenizer batches: int64."""

INTEGRAL_NAME = re.compile(
    r"(?:^|_)(?:ids?|idx|idxs|index|indexes|indices|mask|masks|labels?|tokens?|positions?|"
    r"lengths?|lens?|counts?|offsets?|seqlens?)$"
)
"""Names of tensors of integers or bools, as the field writes them."""

FOREIGN_PACKAGES = frozenset(
    {
        "numpy", "pandas", "scipy", "sklearn", "cv2", "PIL", "tensorflow", "keras", "jax", "flax",
        "paddle", "mxnet", "cupy", "librosa", "soundfile", "matplotlib", "decord", "skimage",
        "imageio", "pyarrow", "polars", "onnx", "onnxruntime", "datasets", "evaluate", "math",
        "random", "os", "json", "re", "time", "av", "h5py", "xgboost", "lightgbm",
    }
)  # fmt: skip
"""Packages whose calls do not return torch tensors."""

NUMPY_DTYPES = frozenset(
    {"float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool"}
)
"""What `torch.from_numpy` can give: NumPy has no bfloat16."""

FLOAT_FACTORIES = frozenset(
    {
        "zeros", "ones", "empty", "rand", "randn", "linspace", "logspace", "eye", "hann_window",
        "hamming_window", "bartlett_window", "blackman_window", "kaiser_window",
    }
)  # fmt: skip
"""Functions of torch that make the default dtype, float32, when none is given."""

INTEGER_FACTORIES = frozenset({"randint", "randperm", "tril_indices", "triu_indices", "arange"})
