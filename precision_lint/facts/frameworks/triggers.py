"""Whether a framework may read a file at all, according to its bytes."""

from __future__ import annotations

from precision_lint.facts.frameworks._generated import marks
from precision_lint.model.regex import regex
from precision_lint.model.searched import Searched
from precision_lint.project.discovery import Kind
from precision_lint.source.config.limits import is_data

COMPOSED = b"defaults:"
"""The list of the files that Hydra composes."""
CONFIG_TRIGGERS = (
    (
        COMPOSED, b"bf16", b"BF16", b"fp16", b"fp8", b"float16", b"precision", b"PRECISION",
        b"dtype", b'"amp"', b"loss", b"tf32", b"deepspeed", b"config_file", b"accelerate",
        b"fp4", b"float8", b"load_in_", b"bnb_4bit", b"flash", b"transformer-engine",
        b"FP16", b"AMP:", b"AMP_", b".AMP", b"_AMP", b"half", b"amp:", b"_amp", b'amp"', b"--amp",
    ),
)  # fmt: skip
"""What a file holds in which a setting of a run is reported. All rules of settings have the same:
where a run is reported depends on the run, not on the rule.
"""

_JSON = frozenset(marks.JSON)
_JSON_KEY = regex(rb'"-*([^"\\]*)"\s*:')
_BETWEEN_WORDS = bytes(
    byte if chr(byte).isalnum() or byte in b"_-" else ord(" ") for byte in range(128)
).ljust(256)
"""What stands between the words of a text is a blank in it."""


def may_be_reported_in(text: str) -> bool:
    """False if no rule of settings looks at a file with this text."""
    return all(any(one.decode() in text for one in group) for group in CONFIG_TRIGGERS)


def is_about_settings(content: bytes) -> bool:
    """True for bytes with such a word; a list of other files to compose is none by itself."""
    return any(word in content for word in CONFIG_TRIGGERS[0] if word != COMPOSED)


def is_only_composed(content: bytes) -> bool:
    """True if a rule looks at some bytes for nothing but the files that Hydra composes."""
    return COMPOSED in content and not is_about_settings(content)


def may_be_read(content: bytes, kind: Kind) -> bool:
    """False if no framework reads it. Python and JSON are mostly something else."""
    match kind:
        case "python":
            return may_make_settings(Searched(content))
        case "json" if is_data(content):
            return False
        case "json":  # each key once: records repeat theirs
            keys = b"\n".join({*_JSON_KEY.findall(content)})
            return not _JSON.isdisjoint(keys.translate(_BETWEEN_WORDS).split())
    return True


def may_make_settings(content: Searched) -> bool:
    """False for a program that makes no settings which a framework reads."""
    return any(map(content.holds, marks.PYTHON))
