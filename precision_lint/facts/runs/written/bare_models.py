"""Configurations of models of transformers that stand without weights.

The dtype in `config.json` is the one that weights were saved in: `save_pretrained` writes both, and
a copy of the file still says it. A file of another name without weights beside it was written by
hand, and its dtype means what the loader makes of it: `from_config` and `dtype="auto"`, also of
vLLM, take it, and others do not.
"""

from __future__ import annotations

import re
from dataclasses import replace

from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.recognition import readings
from precision_lint.facts.frameworks.sources import MappingSource
from precision_lint.facts.project.facts import Recording
from precision_lint.model.regex import regex
from precision_lint.model.trace import note
from precision_lint.project import disk
from precision_lint.source.config.config_file import ParsedConfig

_SLUG = "hf_model"
_SAVED = "config.json"
_WEIGHTS = regex(
    r"\.(?:safetensors|bin|pt|pth|ckpt|gguf|msgpack|h5|onnx|npz)$|\.index\.json$", re.IGNORECASE
)


def without_saved(reading: EffectiveConfig) -> EffectiveConfig:
    """A reading without what says how weights were saved, if there are none beside the file."""
    framework = reading.framework
    if framework.slug != _SLUG or not isinstance(reading.source, MappingSource):
        return reading
    if reading.file.python is not None or _has_weights(reading.file):
        return reading
    keys = {name: key for name, key in framework.keys.items() if key.role != "save"}
    return replace(reading, framework=replace(framework, keys=keys))


def is_bare_model(file: ParsedConfig, project: Recording) -> bool:
    """True for the configuration of a model of transformers without weights beside it."""
    return file.format == "json" and file.fact(is_bare_model, lambda: _is_bare(file, project))


def _is_bare(file: ParsedConfig, project: Recording) -> bool:
    found = (one.framework.slug for one in readings(file, project))
    return _SLUG in found and not _has_weights(file)


def _has_weights(file: ParsedConfig) -> bool:
    """True if weights are beside a file, or were when it was saved."""
    folder = file.text.path.parent
    note(("names_in", folder))
    names = disk.names_in(folder)
    return file.text.path.name == _SAVED or any(map(_WEIGHTS.search, names))
