"""The words of an error message, without what varies: names, shapes, numbers, dtypes, wrapping."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise

from precision_lint.engine.pitfalls import pitfalls
from precision_lint.model.regex import regex

_LARGEST = 200_000
"""Characters of a pasted text that are read, from its end: that is where the message is."""
_WINDOWS = (1, 2, 4, 8)
"""Rows that are compared as one: a message is wrapped, or goes over several rows."""

_DTYPE = regex(
    r"(?:(?<![A-Za-z])|(?<=(?-i:[a-z]))(?=(?-i:[A-Z])))"  # not the `int` of `print`
    r"(?:(?:struct\s+)?c\s?10::|at::|torch\.|tl\.|DT_)?(?:cuda\.|cpu\.)?(?:CUDA|CPU)?"
    r"(?:bfloat16|float(?:8_\w+|16|32|64)|bf16|[fi](?:p)?(?:8|16|32|64)|u?int(?:8|16|32|64)"
    r"|half|float|double|long|int|(?<=CUDA_R_)(?:16BF|16F|32F|64F))(?:Tensor|Type)?(?![A-Za-z0-9_])",
    re.IGNORECASE,
)
_SAME = {
    "16bf": "bfloat16",
    "16f": "float16",
    "32f": "float32",
    "64f": "float64",
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "long": "int64",
    "int": "int32",
}
_WORD = regex(r"[A-Za-z]\w*", re.ASCII)
_KERNEL = regex(
    r"""["'`]?\b(\w+)["'`]?:?(?= (?:is )?not implemented for(?: ["'`]?(\w+))?)""", re.ASCII
)
"""A kernel, `linalg_svd_cpu` or `svd_cuda_gesvdj`, and a dtype. The parts of its name say which
operator it is of."""
_PREFIX = regex(r"(?<=\b[Uu]n)-(?=[a-z])|(?<=\b[Nn]on)-(?=[a-z])|(?<=\b[Mm]is)-(?=[a-z])")
"""The hyphen in `un-supported`."""
_DECORATION = regex(r"\x1b\[[0-9;]*m|[│╭╰╮╯─❱▏]+|\[rank\d+\]:|^E {2,}")
_FRAME = regex(r"\s*File \"[^\"]+\", line \d+|\s*[~^]+\s*$|Traceback \(most recent")
_FRAMES = 8
"""Rows of a traceback above a message that may say what it is about."""
_MESSAGE = 4
"""Rows of a message that are read as one."""
_EXCEPTION = regex(r"\s*(?:[\w.\[\]/-]+:)?\s*[\w.]*(?:Error|Exception|Warning)\b")
_QUOTED = regex(r"`[^`]{16,}`|(?<=\()'[^']{16,}'(?=\))|“[^”]{16,}”|(?<=\s)\"[^\"]{16,}\"")
"""A message that somebody quotes in a sentence, or the text of an exception in its `repr`."""
_VARIABLE = regex(r"<\[[^\]]*\],?\s*|\[\d[\d, ]*\]|0x[0-9a-f]+|\d+")


def windows(text: str) -> Iterator[frozenset[str]]:
    """The parts of some consecutive rows of a text, and of what is quoted in a row."""
    rows = _different(plain_rows(text))
    for row in rows:
        for quoted in _QUOTED.finditer(row):
            yield frozenset(parts(quoted[0]))
    for size in _WINDOWS:
        for start in range(0, max(1, len(rows) - size + 1), max(1, size // 2)):
            if start == 0 or start + size <= len(rows) + size // 2:
                yield frozenset(parts("\n".join(rows[start : start + size])))


def parts(text: str) -> list[str]:
    """The words of a text and the pairs of neighbors, in lower case.

    A dtype is a word like any other dtype; which one it is decides between messages that are alike.
    """
    exact = [_stem(word.lower()) for word in _WORD.findall(_plain(text)) if _says(word)]
    words = [_any_dtype(word) if word.startswith(_IS_DTYPE) else word for word in exact]
    which = [
        f"={' '.join(pair)}"
        for pair in pairwise(exact)
        if any(word.startswith(_IS_DTYPE) for word in pair)
    ]
    return [*words, *(" ".join(pair) for pair in pairwise(words)), *which]


def _any_dtype(word: str) -> str:
    """One word for all floating dtypes, and one for those of whole numbers."""
    return "whole" if word.startswith((f"{_IS_DTYPE}int", f"{_IS_DTYPE}uint")) else "dtype"


def vocabulary(text: str) -> set[str]:
    """The words of a text, those that a name is made of, too, in any order."""
    words = _WORD.findall(_plain(text))
    parts_of = (part for word in words if _says(word) for part in _PART.findall(word))
    found = {_stem(word.lower()) for word in (*words, *parts_of) if _says(word)}
    return found - _EMPTY


def plain_rows(text: str) -> list[str]:
    """The rows of a text, without decoration."""
    rows = (_DECORATION.sub(" ", row) for row in text[-_LARGEST:].splitlines())
    return [row for row in rows if row.strip()]


def _different(rows: list[str]) -> list[str]:
    """The rows without those that come again with other numbers, as the rows of a log do."""
    last = {_VARIABLE.sub("", row): index for index, row in enumerate(rows)}
    return [rows[index] for index in sorted(last.values())]


def named_dtypes(text: str) -> str:
    """A text with one word for each dtype."""
    return _DTYPE.sub(_named, text)


def said_and_framed(text: str) -> list[tuple[str, str]]:
    """The rows of a text that are no frames of a traceback, each with the frames above it.

    A message that goes over several rows is one of them.
    """
    found: list[tuple[str, str]] = []
    frames: list[str] = []
    message: list[str] = []
    is_code = False
    for row in _different(plain_rows(text)):
        is_frame = bool(_FRAME.match(row))
        if is_frame or (is_code and row.startswith("    ")):
            frames = [*frames[1 - _FRAMES :], row]
            is_code, message = True, []
            continue
        is_code = False
        found.append((row, "\n".join(frames)))
        if _EXCEPTION.match(row):
            message = [row]
        elif 0 < len(message) < _MESSAGE:
            message.append(row)
            found.append((" ".join(message), "\n".join(frames)))
    return found or [("\n".join(frames), "")]


def _plain(text: str) -> str:
    """A text with one word for each dtype and each kernel, and without shapes and numbers."""
    plain = _PREFIX.sub("", "\n".join(plain_rows(text)))
    plain = _KERNEL.sub(_operator, plain)
    return _DTYPE_OR_VARIABLE.sub(lambda found: found[1] or " ", _DTYPE.sub(_named, plain))


def _says(word: str) -> bool:
    """An exception has the same name in many messages, and is often left out."""
    return len(word) > 1 and not word.endswith(("Error", "Warning", "Exception"))


_IS_DTYPE = "dtype_"
_DTYPE_OR_VARIABLE = regex(rf"\b({_IS_DTYPE}\w+)|{_VARIABLE.pattern}")
_PART = regex(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}(?![a-z])|dtype_\w+")
_EMPTY = frozenset(
    "an and are as at be but by can for from got has have if in is it its must no not of on only"
    " or should such than that the their then there this to use was when which with you".split()
)
_ENDING = regex(r"(?<=[a-z]{4})(?:s|ed|ing)$")
_DTYPES = {"type", "types", "dtypes", "datatype", "datatypes", "torch_dtype"}


def _stem(word: str) -> str:
    """A word without its ending; whatever means a dtype is one word."""
    if word in _DTYPES:
        return "dtype"
    return word if word.startswith(_IS_DTYPE) else _ENDING.sub("", word)


@cache
def _pitfalls_of_kernels() -> Mapping[str, str]:
    """The pitfall of an operator, by a part of the names of its kernels, or by a dtype."""
    return {part: one.name for one in pitfalls().values() for part in one.kernels}


def _operator(match: re.Match[str]) -> str:
    """The kernels of the operators of one pitfall are one word: new ones come with each torch."""
    known = _pitfalls_of_kernels()
    dtype = (match[2] or "").lower().partition("_")[0]
    named = [dtype, *match[1].lower().split("_")]
    pitfall = next((known[part] for part in named if part in known), None)
    if pitfall is None and dtype in _WHOLE:
        return " kernel_for_whole_numbers "
    return match[0] if pitfall is None else f" kernel_of_{pitfall} "


_WHOLE = {"long", "int", "short", "char", "byte", "bool"}


def _named(match: re.Match[str]) -> str:
    """A dtype as one word: `struct c10::Half`, `torch.cuda.HalfTensor` and `fp16` are the same."""
    name = re.sub(r".*[.: ]|^(?:cuda|cpu|dt_)|tensor$|type$", "", match.group().lower())
    name = re.sub(r"^(b?)fp?(?=\d)", lambda found: f"{found[1]}float", name)
    return f" {_IS_DTYPE}{_SAME.get(name, name)} "


def importance(part: str) -> float:
    if part.startswith("="):
        return 0.15
    return 1.0 if " " in part else 0.6
