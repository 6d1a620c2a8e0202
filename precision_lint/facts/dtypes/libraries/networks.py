"""Models of libraries and what they return: timm, torchvision, diffusers, peft, encoders."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from precision_lint.facts.dtypes.libraries.terms import (
    Checkpoint,
    Either,
    Given,
    Library,
    Many,
    Network,
    NotATensor,
    Object,
    Option,
    Receiver,
    Weights,
)
from precision_lint.model.regex import regex

_PEFT = "peft 0.21.2"
_DIFFUSERS = "diffusers 0.42.1"
_SENTENCES = "sentence-transformers 6.2.0"
_READ_PIPELINES = "read: transformers 5.23.0, `postprocess` of its pipelines"
_ENCODER = "sentence_transformers.SentenceTransformer"
_ON_LOAD = Given(-1, "torch_dtype")

ROWS = (
    Library(
        "timm 1.0.31",
        "timm timm.models",
        "create_model",
        Network(Given(-1, "dtype"), headless=(Given(-1, "num_classes"), Given(0, "model_name"))),
    ),
    Library("torchvision 0.29.1", "torchvision.models", "get_model", Network()),
    Library(_PEFT, "peft", "get_peft_model", Given(0, "model")),
    Library(_PEFT, "peft.PeftModel", "from_pretrained", Given(0, "model")),
    Library(_PEFT, "peft.PeftModel", "get_base_model", Receiver()),
    Library(_PEFT, "peft.LoraModel", "merge_and_unload", Receiver()),
    Library(
        "sentence-transformers 6.2.0",
        "sentence_transformers",
        "SentenceTransformer",
        Object(_ENCODER),
    ),
    # an array of float32 where the model is bfloat16
    Library(
        _SENTENCES,
        _ENCODER,
        "encode",
        Option(
            Given(-1, "convert_to_tensor"),
            ((True, Weights(Receiver())),),
            Option(
                Given(-1, "convert_to_numpy"),
                ((False, Either((Many(Weights(Receiver())), Weights(Receiver())))),),
                NotATensor(),
            ),
        ),
    ),
    # arrays of float32, numbers and text, whatever the model and autocast compute in
    Library(_READ_PIPELINES, "transformers", "pipeline", Object("transformers.Pipeline")),
    Library(_READ_PIPELINES, "transformers.Pipeline", "__call__", NotATensor()),
    Library("safetensors 0.8.0", "safetensors", "safe_open", Object("safetensors.safe_open")),
    Library("safetensors 0.8.0", "safetensors.safe_open", "get_slice get_tensor", Checkpoint()),
)

IMAGES = "DiffusionPipeline"
"""The kind of a pipeline whose calls give images or arrays, unless `output_type=` says tensors."""

_CLASS = r"(?!\w*(?:Prior|StableAudio|AceStep|HDR|LongMulti))\w*Pipeline\w*\.from_pretrained$"
PIPELINE = regex(rf"(?:^|\.){_CLASS}")
"""Loads such a pipeline, by the name of its class: the others give tensors."""

_PRIOR = Library(_DIFFUSERS, "diffusers", "*Pipeline.from_pretrained", Network(_ON_LOAD))
_PIPELINE = replace(_PRIOR, gives=Network(_ON_LOAD, IMAGES))
_MODEL = Library(_DIFFUSERS, "diffusers", "*.from_pretrained", Network(_ON_LOAD))
_TORCHVISION = Library("torchvision 0.29.1", "torchvision.models", "*", Network())

PATTERNS: Mapping[str, tuple[tuple[re.Pattern[str], Library], ...]] = {
    "diffusers": (
        (regex(rf"diffusers\.(?:\w+\.)*{_CLASS}"), _PIPELINE),
        (regex(r"diffusers\.(?:\w+\.)*\w*Pipeline\w*\.from_pretrained"), _PRIOR),
        (
            regex(
                r"diffusers\.(?:\w+\.)*(?:Autoencoder\w+|ControlNet\w*|MotionAdapter|T2IAdapter|UNet\w+"
                r"|VQModel|\w*Transformer\w*Model)\.from_pretrained"
            ),
            _MODEL,
        ),
    ),
    "torchvision": ((regex(r"torchvision\.models\.(?:\w+\.)?[a-z]\w*\d\w*"), _TORCHVISION),),
}
"""By package, the first that fits.

Of 303 pipelines of diffusers 0.42.1, 283 give images or arrays (`output_type="pil"` or `"np"`); the
priors and some for sound and video give tensors (read). Models of diffusers are loaded in float32
whatever the checkpoint holds (those of transformers, since release 5, in the dtype of the
checkpoint).
"""
