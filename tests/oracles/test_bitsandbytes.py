"""transformers' own `BitsAndBytesConfig` against `bitsandbytes.toml`."""

from __future__ import annotations

from pathlib import Path

import pytest

transformers = pytest.importorskip("transformers")
torch = pytest.importorskip("torch")

from tests.oracles import ABSENT, choices, errors  # noqa: E402

NAMES = ("'bfloat16'", "'half'", "'bf16'", "'fp32'", "'torch.float16'", "torch.bfloat16")
ARGUMENTS = [
    *choices(bnb_4bit_compute_dtype=(*NAMES, ABSENT), bnb_4bit_quant_storage=(*NAMES, ABSENT)),
    *choices(load_in_4bit=("True", "False", ABSENT), load_in_8bit=("True", "False", ABSENT)),
]


def is_refused(arguments: dict[str, object]) -> bool:
    given = {name: eval(str(value), {"torch": torch}) for name, value in arguments.items()}
    try:
        transformers.BitsAndBytesConfig(**given)
    except (AttributeError, ValueError):
        return True
    return False


def test_same_verdict_as_the_class(tmp_path: Path) -> None:
    wrong = []
    for index, arguments in enumerate(ARGUMENTS):
        given = ", ".join(f"{name}={value}" for name, value in arguments.items())
        text = f"import torch\nimport transformers\n\ntransformers.BitsAndBytesConfig({given})\n"
        found = errors(tmp_path / str(index), load__py=text)
        if is_refused(arguments) != bool(found):
            wrong.append((arguments, [one.message for one in found]))
    assert not wrong
    assert {is_refused(arguments) for arguments in ARGUMENTS} == {True, False}
