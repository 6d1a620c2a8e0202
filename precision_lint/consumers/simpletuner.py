"""SimpleTuner: `config.env`, `config.json`, `config.toml`, and the command line of `train.py`.

All of them become command-line arguments of one argparse parser, in which a later argument wins.
In an env file `TRAINER_EXTRA_ARGS` comes behind the variables that have a name of their own. JSON
and TOML keys are argument names, with or without the leading dashes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from precision_lint.consumers.reading import Reading, Setting
from precision_lint.source.config import ConfigFile
from precision_lint.source.options import Option, options, script_options
from precision_lint.source.settings_tree import Mapping, Member, Opaque, Scalar
from precision_lint.source.shell import Script
from precision_lint.source.shell_words import UNKNOWN

NAME = "SimpleTuner"

_EXTRA = "TRAINER_EXTRA_ARGS"
_VARIABLES = {
    "MIXED_PRECISION": "mixed_precision",
    "BASE_MODEL_PRECISION": "base_model_precision",
    "OPTIMIZER": "optimizer",
}

# Arguments that no other trainer has, and further ones that make it a SimpleTuner configuration.
_OWN = frozenset(
    {
        "gradient_precision",
        "base_model_precision",
        "base_model_default_dtype",
        "text_encoder_1_precision",
        "text_encoder_2_precision",
        "data_backend_config",
        "aspect_bucket_rounding",
        "lycoris_config",
        "user_prompt_library",
    }
)
_SHARED = frozenset(
    {
        "model_type",
        "model_family",
        "pretrained_model_name_or_path",
        "mixed_precision",
        "optimizer",
        "lora_type",
        "lora_rank",
        "resolution_type",
        "gradient_accumulation_steps",
    }
)


def readings(file: ConfigFile) -> Iterator[Reading]:
    if file.script is not None:
        if _EXTRA in file.script.variables:
            yield Reading(NAME, dict(_environment(file.script)))
        for command in file.script.commands:
            yield from _recognized(_arguments(script_options(command)))
    for document in file.documents:
        if isinstance(document, Mapping):
            yield from _recognized(_members(document))


def _recognized(settings: Iterable[tuple[str, Setting]]) -> Iterator[Reading]:
    effective = dict(settings)
    if _OWN & effective.keys() and len((_OWN | _SHARED) & effective.keys()) > 1:
        yield Reading(NAME, effective)


def _environment(script: Script) -> Iterator[tuple[str, Setting]]:
    for name, key in _VARIABLES.items():
        if assigned := script.variables.get(name):
            text = assigned.text.chars.strip()
            yield key, Setting(None if UNKNOWN in text else text, assigned)
    yield from _arguments(options(script.words(_EXTRA)))


def _arguments(given: Iterable[Option]) -> Iterator[tuple[str, Setting]]:
    for option in given:
        yield option.name, Setting(option.value, option)


def _members(mapping: Mapping) -> Iterator[tuple[str, Setting]]:
    for entry in mapping.entries:
        if entry.name is None:
            continue
        match entry.value:
            case Scalar(value=False | "false"):
                continue  # the loaders leave such an argument out
            case Scalar(value=True | "true"):
                value: str | bool | None = True
            case Scalar(value=None) | Opaque():
                value = None
            case Scalar(value=literal):
                value = str(literal)
            case _:
                continue
        yield entry.name.removeprefix("--"), Setting(value, Member(mapping, entry))
