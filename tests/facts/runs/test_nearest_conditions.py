"""The condition around a call of a framework that no launch comes to."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import explained

BITS = "BitsAndBytesConfig(load_in_4bit=True)"


def said(body: str, folder: Path) -> str:
    head = "from transformers import AutoModel, BitsAndBytesConfig\n\n"
    return explained(folder, {"model.py": f"{head}def load(args):\n    {body}\n"})


@pytest.mark.parametrize(
    ("body", "condition"),
    [
        (
            f"return AutoModel.from_pretrained('m', config={BITS} if args.small else None)",
            "args.small",
        ),
        (f"return None if args.large else {BITS}", "not args.large"),
        (f"if args.kind == 'four':\n        return {BITS}", "args.kind == 'four'"),
        (
            f"if args.kind == 'eight':\n        pass\n    else:\n        return {BITS}",
            "args.kind != 'eight'",
        ),
    ],
)
def test_a_call_under_a_condition(body: str, condition: str, tmp_path: Path) -> None:
    assert f": bitsandbytes, only if {condition}\n" in said(body, tmp_path)


@pytest.mark.parametrize(
    "body",
    [f"return {BITS}", f"if {BITS}:\n        return 1", f"for _ in args:\n        print({BITS})"],
)
def test_a_call_that_is_always_made(body: str, tmp_path: Path) -> None:
    out = said(body, tmp_path)
    assert "load_in_4bit = true" in out
    assert "only if" not in out


def test_the_start_of_a_program_is_no_condition(tmp_path: Path) -> None:
    main = f"if __name__ == '__main__':\n    print({BITS})\n"
    text = f"from transformers import BitsAndBytesConfig\n{main}"
    assert "only if" not in explained(tmp_path, {"model.py": text})
