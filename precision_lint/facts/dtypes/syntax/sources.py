"""Where tensors and foreign arrays come from: the vocabulary of torch, Hugging Face and NumPy."""

from __future__ import annotations

from precision_lint.model.regex import regex

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

WIDE_UNDER_AUTOCAST = frozenset(
    {
        "last_hidden_state", "hidden_states", "encoder_last_hidden_state", "decoder_hidden_states",
        "pooler_output", "image_embeds", "text_embeds", "image_features", "text_features",
        "pred_boxes",
    }
)  # fmt: skip
"""Attributes of model outputs that autocast leaves in float32 in many architectures.

The residual stream starts in the dtype of the embeddings, and adds to it what layers return; pooled
outputs are often normalized, and embeddings divided by their norm, which CUDA computes in float32.
Under autocast to bfloat16 on an H200, with float32 weights, float32 are 257 of 276 first hidden
states, 18 of 56 pooled outputs, and all of 23 embeddings; of 274 logits 13 are (torch 2.11,
transformers 5.17, `scripts/measure_outputs.py`).
"""

FEATURES = "forward_features"
"""The method of models like those of timm that returns what the head is given.

Under autocast to bfloat16, with norms in float32 as on CUDA, it returns float32 in 22 of 32 kinds
of models of timm 1.0.31, and the whole model in one (torch 2.13, `scripts/measure_features.py`).
"""

BASE_MODEL = regex(r"^transformers\.(?:\w+\.)*(?!\w*(?:For[A-Z]|Head))[A-Z]\w*Model$")
"""Models of transformers without a head: the first of their outputs is mostly the residual stream.

It is float32 in 253 of 288 under autocast, as above.
"""

ADDING_A_BUFFER = regex(
    r"^transformers\.(?:\w+\.)*"
    r"(?:(?:Bart|BigBirdPegasus|Blenderbot(?:Small)?|LED|MBart|Mvp|PLBart|Pegasus)"
    r"ForConditionalGeneration|MarianMTModel|AutoModelForSeq2SeqLM)$"
)
"""Models that add a buffer, `final_logits_bias`, to their logits: autocast does not cast it.

The automatic class may load one of them.
"""

OUTPUT_SEQUENCES = frozenset({"hidden_states", "attentions", "cross_attentions"})

TOKENS = frozenset(
    {"input_ids", "attention_mask", "token_type_ids", "position_ids", "labels", "decoder_input_ids"}
)
"""Attributes and keys of tokenizer batches: int64."""

IDS = frozenset({"sequences", "generated_ids", "output_ids", "num_tokens", "audio_codes"})
"""Attributes of generation outputs and codecs that are token ids."""

PLAIN_ATTRIBUTES = frozenset(
    {"config", "device", "training", "shape", "ndim", "is_cuda", "requires_grad", "layout", "name"}
)
"""Attributes of models and their outputs that are no tensors."""

NORM = regex(r"(?:^|_)(?:\w*norm|ln)(?:_\w+|\d+)?$")
"""Attributes of models that are normalizations: `model.norm`, `final_layernorm`, `ln_f`."""

BESIDE_MODULES = regex(
    r"(?:^|_)(?:scheduler|(?<!audio_)(?<!image_)(?<!sound_)(?<!video_)tokenizer|processor"
    r"|feature_extractor|guider|watermarker)(?:_\d+)?$"
)
"""Parts that a pipeline or a model has beside its modules, which no cast reaches.

Read in diffusers 0.42.1: of the parts of its pipelines that end like this, only tokenizers of sound
are modules.
"""

MODEL_NAME = regex(
    r"(?:^|_)(?:model|net|network|unet\d*|vae|encoder|transformer|backbone|generator|"
    r"discriminator|actor|critic|llm|clip|bert|autoencoder|vqgan|vqvae|vocoder|denoiser|"
    r"vision_tower|language_model|text_model|vision_model|embedder|reranker|score_model|head|"
    r"activation|activation_fn|activation_fct|act|act_fn|pooler|pooling|norm|layernorm|proj|"
    r"projection|mlp|attn|attention|embedding|embeddings|dropout|linear|fc\d*|conv\d*)$"
)
"""Names of variables and attributes that hold modules, as the field writes them."""

NETWORK_NAME = regex(
    r"(?:^|_)(?:model|net|network|unet\d*|vae|text_encoder\w*|transformer|controlnet|llm|generator)$"
)
"""Names of what is a whole network, and never a tensor."""

MAKING_NAME = regex(
    r"^_*(?:get|load|build|create|make|prepare|setup|set_up|init|initialize|wrap|instantiate)_"
)
"""Names of functions that make or wrap a model, before the name of what they make."""

KEEPING = frozenset(
    "auto_gptq awq gptqmodel optimum peft sentence_transformers transformers trl unsloth".split()
)
"""Packages whose `from_pretrained` can keep the dtype of the checkpoint.

Elsewhere a module is mostly made in float32, and `load_state_dict` casts the checkpoint to that, as
`PyTorchModelHubMixin` does (read: huggingface_hub 2.4.0).
"""

SEEN = KEEPING | {"diffusers"}
"""Packages whose modules mostly return what they compute in the dtype of their weights.

What widens logits is known by itself (`configuration.py`).
"""

LOADED_CLASS = regex(r"(?:PreTrainedModel|ModelMixin|DiffusionPipeline)$")
"""Base classes of transformers and diffusers with a `from_pretrained` that takes a dtype."""

PRETRAINED = regex(
    r"^(?!.*(?:Tokenizer|Processor|Config|Scheduler|Extractor)\w*\.)(?!(?:.*\.)?(?:TF|Flax)[A-Z])"
    r".*\.from_pretrained$"
)
"""Classes whose `from_pretrained` gives a model of torch.

Tokenizers, configs and processors have it too, and the models of TensorFlow and Flax.
"""

CONFIGURED = regex(
    r"^transformers\.(?:\w+\.)*(?!TF|Flax|Auto|DataCollator|PermuteFor)\w+(?:Model|For[A-Z]\w*)$"
)
"""Classes of models: `LlamaForCausalLM(config)` is float32, whatever dtype the configuration names.

Of the 2,187 names of transformers 5.23.0 that match, 2,181 are modules of torch.
"""

CONFIGURING = regex(r"^transformers\.(?:\w+\.)*AutoModel\w*\.from_config$")
"""What makes a model of a configuration: in the dtype that it or the call names, else in float32.

That is what transformers 5.23.0 does.
"""

MODULE_NAME = regex(MODEL_NAME.pattern.replace("model|", "model|module|layer|scheduler|", 1))
"""Names of what holds parameters and buffers, called or not."""

MODULE_CLASS = regex(r"^(?:torch\.nn|transformers|diffusers|timm|peft)\..*(?:Module|Model\w*|KL)$")
"""Classes of other packages that are modules."""

OUTPUT_METHOD = regex(
    r"^(?:forward\w*|encode\w*|decode|embed\w*|get_\w*(?:features|embeds?|embeddings?|logits))$"
)
"""Methods of a model that return floating tensors.

What a project calls `decode_to_images` or the like, mostly widens what it returns.
"""

FLOAT_NAME = regex(
    r"(?:^|_)(?:logits?|loss|losses|hidden|hidden_states?|embeds?|embeddings?|latents?|"
    r"perplexity|perplexities|log_?probs?|softmax_output)$"
)
"""Names of what models return, as the field writes them: floating, in the dtype they run in."""

DTYPE_NAME = regex(r"(?i)d_?type|precision")
"""In names of what holds a dtype, or the name of one: `weight_dtype`, `precision`."""

LEARNING_RATE = regex(r"(?:^|_)(?:lr|learning_rate)$")
"""Names of parameters that are a learning rate, which callers know although it is a number."""

INTEGRAL_NAME = regex(
    r"(?:^|_)(?:ids?|idx|idxs|index|indexes|indices|mask|masks|labels?|tokens?|positions?|"
    r"lengths?|lens?|counts?|offsets?|seqlens?)$|(?:^|_)(?:ids|masks|tokens)_and_"
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

NUMPY_RUNTIMES = frozenset(
    {
        "onnxruntime",
        "ncnn",
        "openvino",
        "tensorrt",
        "MNN",
        "sherpa_onnx",
        "coremltools",
        "tflite_runtime",
    }
)
"""Packages that run models on NumPy arrays: tensors beside them are their inputs, no model's."""

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
