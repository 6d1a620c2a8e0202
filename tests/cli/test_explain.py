"""`explain`: every known message finds its page, and messages of threads find the right one."""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from precision_lint.engine import pitfalls, registry
from precision_lint.engine.messages import Answer, answers
from precision_lint.engine.wording import parts
from tests.cli.running import Ran, run

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MESSAGES = Path(__file__).parent.parent / "messages"
DATA: dict[str, dict[str, Any]] = json.loads(pitfalls._DATA.read_text("utf-8"))


def explain(*what: str, stdin: str = "") -> Ran:
    return run("explain", *what, cwd=Path.cwd(), stdin=stdin.encode())


def ids(answer: Answer) -> set[str]:
    """What an answer names: the code of its rule, and its pitfalls."""
    return {pitfall.name for pitfall in answer.pitfalls} | (
        {answer.rule.code} if answer.rule else set()
    )


def quoted() -> dict[str, set[str]]:
    """Every message of the pages and of the catalogue, and who quotes it."""
    found: dict[str, set[str]] = {}
    for code, rows in DATA["rules"].items():
        for message in rows:
            found.setdefault(message, set()).add(code)
    for name, entry in DATA["pitfalls"].items():
        for message in (*entry.get("messages", ()), *entry.get("unlisted", ())):
            found.setdefault(message, set()).add(name)
    return found


QUOTED = quoted()
SHORT = {"NOT_IMPLEMENTED"}
"""What is no sentence could be in any text."""
SHOWN = 3


@pytest.mark.parametrize("message", sorted(QUOTED.keys() - SHORT))
def test_every_quoted_message_finds_its_page(message: str) -> None:
    found = answers(message)
    same = [answer for answer in found if words(answer.message) == words(message)]
    assert any(ids(answer) & QUOTED[message] for answer in found) or len(same) == SHOWN


def words(message: str) -> list[str]:
    """The words of a message, with one word for all dtypes."""
    return [part for part in parts(message) if not part.startswith("=")]


def test_the_first_answer_is_the_page_of_a_quoted_message() -> None:
    right = [
        bool(found) and bool(ids(found[0]) & QUOTED[message])
        for message in QUOTED
        for found in [answers(message)]
    ]
    assert sum(right) / len(right) >= 0.95


def wrapped(text: str) -> str:
    return textwrap.fill(text, 40)


def in_a_traceback(text: str) -> str:
    frames = "".join(
        f'  File "/usr/lib/python3/site-packages/torch/nn/modules/module{row}.py", line {row}\n'
        "    return self._call_impl(*args, **kwargs)\n"
        for row in range(60)
    )
    return (
        f"Traceback (most recent call last):\n{frames}{text}\n  0%|      | 0/20 [00:00<?, ?it/s]\n"
    )


def on_rank_one(text: str) -> str:
    return "\n".join(f"[rank1]: {row}" for row in in_a_traceback(text).splitlines())


def in_a_box(text: str) -> str:
    rows = "\n".join(f"│ {row:70} │" for row in wrapped(text).splitlines())
    return f"╭{'─' * 72}╮\n{rows}\n╰{'─' * 72}╯"


@pytest.mark.parametrize("form", [wrapped, in_a_traceback, on_rank_one, in_a_box])
def test_a_message_may_be_pasted_in_any_form(form: Any) -> None:
    messages = sorted(QUOTED.keys() - SHORT)[::4]
    right = [
        any(ids(answer) & QUOTED[message] for answer in answers(form(message)))
        for message in messages
    ]
    assert sum(right) / len(right) >= 0.95


def test_half_a_message_is_enough() -> None:
    long = [message for message in sorted(QUOTED) if len(message.split()) >= 8]
    right = [
        bool(found) and bool(ids(found[0]) & QUOTED[message])
        for message in long
        for words in [message.split()]
        for found in [answers(" ".join(words[: (len(words) + 1) // 2]))]
    ]
    assert len(right) > 500
    assert sum(right) / len(right) >= 0.9


def test_a_message_may_be_quoted_in_a_sentence() -> None:
    text = "I get `RuntimeError: invalid dtype for bias` since I use compile, whatever I try here"
    assert any("D04" in ids(answer) for answer in answers(text))


def is_right(found: list[Answer], right: set[str]) -> bool:
    """Whether the first answer is right; where no page is, it says that it is unsure."""
    if not right:
        return all(answer.certainty == "unsure" for answer in found)
    return bool(found) and bool(ids(found[0]) & right)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("threads", 60),
        ("more_threads", 40),
        ("third_threads", 40),
        ("fourth_threads", 30),
        ("fifth_threads", 40),
        ("sixth_threads", 30),
        ("seventh_threads", 20),
        ("eighth_threads", 66),
        ("ninth_threads", 40),
        ("tenth_threads", 40),
        ("eleventh_threads", 25),
    ],
)
def test_messages_of_threads(name: str, count: int) -> None:
    rows = tomllib.loads((MESSAGES / f"{name}.toml").read_text("utf-8"))["message"]
    assert len(rows) == count
    found = [(answers(row["text"]), set(row["right"])) for row in rows]
    first = [is_right(one, right) for one, right in found]
    sure = [bool(one) and one[0].certainty == "certain" for one, _ in found]
    assert sum(first) / count >= 0.9
    assert not [
        row for row, ok, is_sure in zip(rows, first, sure, strict=True) if is_sure and not ok
    ]


@pytest.mark.parametrize(
    "text",
    [
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
        "RuntimeError: Expected all tensors to be on the same device, but found cuda:0 and cpu!",
        "ModuleNotFoundError: No module named 'torch'",
        "KeyError: 'loss'",
        "ValueError: too many values to unpack (expected 2)",
        "",
        "\x00\xff" * 100,
    ],
)
def test_what_is_about_something_else_has_no_certain_answer(text: str) -> None:
    assert all(answer.certainty == "unsure" for answer in answers(text))


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)", "shapes"),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", "memory"),
        ("RuntimeError: Expected all tensors to be on the same device, but found cpu!", "devices"),
        ("ModuleNotFoundError: No module named 'flash_attn'", "installation"),
        ("RuntimeError: Trying to backward through the graph a second time", "autograd"),
    ],
)
def test_what_is_not_about_precision_is_said(text: str, other: str) -> None:
    ran = explain(text)
    assert (ran.code, ran.out) == (2, "")
    assert "not about precision" in ran.err
    assert other in ran.err


@pytest.mark.parametrize(
    ("text", "pitfall"),
    [
        ("JIT error: operands of tensordot have unequal dtypes: bf16 versus fp32 weight", "D01"),
        ("kernel launch refused: q is Half but attention bias dtype is Float, must match", "D04"),
        ("cannot write bf16 array: numpy conversion of BFloat16 unsupported", "MP101"),
        ("collective rejected: all_gather got tensors of dtype Half and Float", "N03"),
        ("GPU too old: bfloat16 requires compute capability 8.0", "L01"),
    ],
)
def test_what_no_page_quotes_is_led_to_a_page_by_what_it_says(text: str, pitfall: str) -> None:
    found = answers(text)
    assert found[0].certainty == "unsure"
    assert pitfall in ids(found[0])


def test_frames_say_what_a_message_does_not() -> None:
    frames = (
        '  File "site-packages/transformer/attention.py", line 7, in forward\n'
        "    out = scaled_dot_product_attention(query, key, value, attn_mask=mask)\n"
    )
    message = "RuntimeError: tensors should have the same dtype but are Half and Float\n"
    assert "D04" not in ids(answers(message)[0])
    assert any("D04" in ids(answer) for answer in answers(frames + message))


def test_dtypes_decide_between_messages_that_are_alike() -> None:
    message = "RuntimeError: expected dtype {} for `end` but got dtype float"
    assert "D07" in ids(answers(message.format("c10::Half"))[0])
    assert "D09" in ids(answers(message.format("double"))[0])
    assert parts("got float16") != parts("got float32")


def test_a_row_of_code_says_less_than_one_of_what_is_wrong() -> None:
    log = "step 12: train loss: nan, grad_norm: nan\n"
    assert "E17" in ids(answers(f"config: fp16 = dict(loss_scale='dynamic')\n{log}")[0])


def test_a_long_log_is_read_in_time() -> None:
    log = "step 12 loss 0.7 RuntimeError dtype but got expected float\n" * 20_000
    found = answers(log + "ValueError: Attempting to unscale FP16 gradients.\n")
    assert found[0].rule is registry.rule("MP202")


def test_names_codes_families_and_pitfalls() -> None:
    assert explain("mp201").out.startswith("# MP201 `gradscaler-with-bfloat16`")
    assert explain("numpy-on-bfloat16").out.startswith("# MP101")
    assert explain("a01").out.startswith("# A01 ")
    both = explain("MP101", "D01").out
    assert "# MP101" in both
    assert "# D01" in both
    family = explain("MP5").out.splitlines()
    assert len(family) == sum(rule.code.startswith("MP5") for rule in registry.rules())
    assert family[0].startswith("- MP501 `triton-branch-dtype`: ")
    assert "- MP201 `gradscaler-with-bfloat16`" in explain("MP2").out
    assert "MP501" in explain("triton").out
    pitfalls_of_triton = explain("G").out.splitlines()
    assert pitfalls_of_triton[0].startswith("- G01: ")
    assert len(pitfalls_of_triton) == sum(name.startswith("G") for name in DATA["pitfalls"])
    assert explain("all").out.splitlines()[0].startswith("- MP101 ")


def test_a_message_from_a_pipe() -> None:
    ran = explain("-", stdin=on_rank_one("TypeError: Got unsupported ScalarType BFloat16"))
    assert ran.code == 0
    assert "MP101 `numpy-on-bfloat16`" in ran.out.splitlines()[0]
    binary = run(
        "explain",
        "-",
        cwd=Path.cwd(),
        stdin=b"\xff\xfe TypeError: Got unsupported ScalarType BFloat16",
    )
    assert "MP101" in binary.out


def test_a_run_time_matter_has_a_cure() -> None:
    ran = explain("FloatingPointError: Loss became infinite or NaN at iteration=12!")
    assert "pitfall E17" in ran.out
    assert "it happens at run time" in ran.out
    assert "## Cure" in ran.out


def test_the_page_of_a_preview_rule_says_so() -> None:
    assert "runs only with `--preview`" in explain("MP303").out
    assert "--preview" not in explain("MP101").out


@pytest.mark.parametrize("name", sorted(DATA["pitfalls"]))
def test_a_pitfall_with_a_message_has_a_rule_or_a_cure(name: str) -> None:
    pitfall = pitfalls.pitfalls()[name]
    if pitfall.messages:
        assert pitfall.cure or pitfalls.rules_of(pitfall)


@pytest.mark.parametrize(
    ("what", "like"),
    [("numpy-on-bf16", "numpy-on-bfloat16"), ("MP1101", "MP101"), ("xyzzy", None)],
)
def test_nothing_is_found(what: str, like: str | None) -> None:
    ran = explain(what)
    assert (ran.code, ran.out) == (2, "")
    assert ("did you mean" in ran.err) == (like is not None)
    assert like is None or f"`{like}`" in ran.err


def test_json() -> None:
    ran = explain("--output-format", "json", "expected scalar type Half but found Float")
    rows = json.loads(ran.out)["answers"]
    assert 1 < len(rows) <= 3
    assert "D01" in rows[0]["pitfalls"]
    assert rows[0]["code"] == "MP403"
    assert rows[0]["certainty"] == "likely"
    assert rows[0]["cure"]
    (row,) = json.loads(explain("--output-format", "json", "MP101").out)["answers"]
    assert (row["code"], row["certainty"]) == ("MP101", "certain")
    assert "A01" in row["pitfalls"]


def test_signs_name_pitfalls_and_concepts() -> None:
    concepts = {**pitfalls.concepts_of_faults(), **pitfalls.concepts_of_subjects()}
    named = {
        one.removeprefix("!")
        for rows in pitfalls.signs().values()
        for row in rows
        for one in row.split()
    }
    assert named <= concepts.keys()
    assert not concepts.keys() - named
    assert pitfalls.signs().keys() <= pitfalls.pitfalls().keys()


def test_an_unsure_answer_has_cures_and_names_its_page() -> None:
    out = explain("cannot add tensors of type float8_e4m3fn: promotion is not there").out
    assert out.startswith("This is not a known error message.")
    assert "- MP410 `dtype-error-in-program` (pitfall F06): " in out
    assert "Cast to the compute dtype before any operation" in out
    assert "`precision-lint explain MP410 F06` says more" in out


def test_a_message_has_its_cure_before_the_page() -> None:
    out = explain("mat1 and mat2 must have the same dtype, but got Float and BFloat16").out
    head, page = out.split("# MP403", 1)
    assert "or convert the input with `x.to(model.dtype)`" in head
    assert "## What it does" in page
    assert "(pitfalls A01, " in explain("TypeError: Got unsupported ScalarType BFloat16").out


def test_of_several_names_the_unknown_one_is_named() -> None:
    assert "is called `nope`" in explain("MP101", "nope").err
    assert "did you mean `numpy-on-bfloat16`?" in explain("MP201", "numpy-on-bf16").err
