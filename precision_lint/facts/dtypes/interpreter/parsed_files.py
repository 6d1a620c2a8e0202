"""What a program reads from a configuration file, whatever it calls the mapping.

`spec = json.load(file)["model"]` and `getattr(torch, spec.pop("dtype"))`: the keys on the way are
the path of a setting. Such a mapping holds no tensors.
"""

from __future__ import annotations

from dataclasses import replace

from precision_lint.facts.dtypes.domain.values import Constant, NonTensor, Value
from precision_lint.facts.dtypes.interpreter.protocols import Evaluate
from precision_lint.facts.origin import Setting
from precision_lint.project.discovery import kind_of

_FORMATS = {
    "json.load": "json", "json.loads": "json",
    "toml.load": "toml", "toml.loads": "toml", "tomli.load": "toml", "tomli.loads": "toml",
    "tomllib.load": "toml", "tomllib.loads": "toml",
    "yaml.full_load": "yaml", "yaml.load": "yaml", "yaml.safe_load": "yaml",
    "yaml.unsafe_load": "yaml",
}  # fmt: skip

_ANY = "*"
"""A key that is not known, or an item of a list."""

_MOST_KEYS = 6


def contents(function: str) -> NonTensor | None:
    """What a function gives that parses a file; None for any other."""
    parsed = _FORMATS.get(function)
    return None if parsed is None else NonTensor(parsed=(parsed,))


def under(evaluator: Evaluate, mapping: NonTensor, key: Value) -> Setting | NonTensor | None:
    """What a part of a file has under a key; None if the mapping is of no file."""
    if not mapping.parsed or len(mapping.parsed) > _MOST_KEYS:
        return None
    name = key.value if isinstance(key, Constant) and isinstance(key.value, str) else _ANY
    format, *keys = mapping.parsed
    setting = _setting(evaluator, format, (*keys, name))
    return replace(mapping, parsed=(*mapping.parsed, name)) if setting is None else setting


def _setting(evaluator: Evaluate, format: str, keys: tuple[str, ...]) -> Setting | None:
    """What files of a format say under some keys. The last key alone may be that of anything."""
    known = keys[max((at + 1 for at, key in enumerate(keys) if key == _ANY), default=0) :]
    if not known or (len(known) == 1 and len(keys) > 1):
        return None
    analysis = evaluator.analysis
    setting = analysis.configuration.under(evaluator.frame.module, known)
    said = () if setting is None else setting.choices
    choices = tuple(one for one in said if kind_of(one.origin.source.path) == format)
    return Setting(choices) if choices else None
