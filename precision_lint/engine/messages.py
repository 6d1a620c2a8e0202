"""Which page explains an error message that somebody pasted.

Known messages are those that the pages of rules quote and those of the catalogue of pitfalls. A
pasted text is compared by its words, in order: names, shapes, numbers and dtypes vary, lines are
wrapped, and a message is a few lines of a long traceback.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from precision_lint.engine import registry
from precision_lint.model.rule import Rule

Certainty = Literal["certain", "likely", "unsure"]

_DATA = Path(__file__).with_name("messages.json")
_MOST = 3
_LEAST, _LIKELY, _CERTAIN = 0.4, 0.55, 0.7
_DOUBT = 2.0
"""Added to the weight of every message: what is in common with a short one says less."""
_LEAD = 0.08
"""How much better the first answer is than the next one if it is certain."""
_SAME_SCORE = 0.005
"""What the dtypes of a message change in its score: they vary more than they decide."""
_LARGEST = 200_000
"""Characters of a pasted text that are read, from its end: that is where the message is."""
_WINDOWS = (1, 2, 4, 8)
"""Rows that are compared as one: a message is wrapped, or goes over several rows."""

_DTYPE = re.compile(
    r"(?:(?:struct\s+)?c\s?10::|at::|torch\.|tl\.)?(?:cuda\.|cpu\.)?(?:CUDA|CPU)?"
    r"(?:bfloat16|float(?:8_\w+|16|32|64)|bf16|[fi](?:p)?(?:8|16|32|64)|int(?:8|16|32|64)"
    r"|half|float|double|long|int)(?:Tensor)?(?![A-Za-z0-9_])",
    re.IGNORECASE,
)
_SAME = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "long": "int64",
    "int": "int32",
}
_WORD = re.compile(r"[A-Za-z]\w*", re.ASCII)
_KERNEL = re.compile(r"""["'`]?\b(\w+)["'`]?:?(?= (?:is )?not implemented for)""", re.ASCII)
"""The name of a kernel: `linalg_svd_cpu`, `svd_cuda_gesvdj`. Its parts say which operator it is."""
_DECORATION = re.compile(r"\x1b\[[0-9;]*m|[│╭╰╮╯─❱▏]+|\[rank\d+\]:|^E {2,}")
_VARIABLE = re.compile(r"<\[[^\]]*\],?\s*|\[\d[\d, ]*\]|0x[0-9a-f]+|\d+")


@dataclass(frozen=True, slots=True)
class Pitfall:
    """An entry of the catalogue, and what to do about it."""

    name: str
    title: str
    what: str
    cure: str
    versions: str
    messages: tuple[str, ...]
    references: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """A page that may explain a text: that of a rule, or else that of a pitfall."""

    rule: Rule | None
    pitfalls: tuple[Pitfall, ...]
    message: str
    """The known message that the text resembles most."""

    score: float
    certainty: Certainty = "unsure"


def answers(text: str) -> list[Answer]:
    """The pages that may explain a pasted text, the best first; none if nothing resembles it."""
    found: dict[str, list[Answer]] = {}
    for known, total in _resembling(text).items():
        for answer in known.answers(total / (known.weight + _DOUBT)):
            key = answer.rule.code if answer.rule else answer.pitfalls[0].name
            found.setdefault(key, []).append(answer)
    ranked = sorted(map(_merged, found.values()), key=_rank)
    ranked = [answer for answer in ranked if answer.score >= _LEAST][:_MOST]
    return [_judged(answer, index, ranked) for index, answer in enumerate(ranked)]


@cache
def pitfalls() -> dict[str, Pitfall]:
    """The catalogue, by id."""
    return {
        name: Pitfall(
            name=name,
            title=entry["title"],
            what=entry["what"],
            cure=entry.get("cure", ""),
            versions=entry["versions"],
            messages=tuple(entry.get("messages", ())),
            references=tuple(entry["references"]),
        )
        for name, entry in _data()["pitfalls"].items()
    }


def rules_of(pitfall: Pitfall) -> list[Rule]:
    """The rules that find a pitfall."""
    return [rule for rule in registry.rules() if pitfall.name in rule.pitfalls]


def _merged(answers: Sequence[Answer]) -> Answer:
    """One answer for a page: the best, with the pitfalls whose messages are nearly as close."""
    first, *others = sorted(answers, key=_rank)
    close = [one for one in others if one.score >= first.score - _LEAD]
    every = dict.fromkeys(pitfall for one in (first, *close) for pitfall in one.pitfalls)
    return replace(first, pitfalls=tuple(every))


def _rank(answer: Answer) -> tuple[float, int]:
    """By score; of the same message the pitfall first that is met most: it has most to show."""
    shown = max((len(one.messages) + len(one.references) for one in answer.pitfalls), default=0)
    return -round(answer.score / _SAME_SCORE), -shown


def _judged(answer: Answer, index: int, ranked: Sequence[Answer]) -> Answer:
    """The answer with how sure it is, which depends on those after it."""
    following = ranked[index + 1].score if index + 1 < len(ranked) else 0.0
    if index or answer.score < _LIKELY:
        return answer
    is_clear = answer.score >= _CERTAIN and answer.score - following >= _LEAD
    return replace(answer, certainty="certain" if is_clear else "likely")


@cache
def _data() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(_DATA.read_text("utf-8"))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """A known message, the weight of its words, and who quotes it."""

    message: str
    weight: float
    rules: tuple[Rule, ...]
    pitfalls: tuple[Pitfall, ...]

    def answers(self, score: float) -> Iterator[Answer]:
        """The pages of those who quote the message; first those that it is the message of."""
        for rule in self.rules:
            own = tuple(one for one in self.pitfalls if one.name in rule.pitfalls)
            named = tuple(pitfalls()[name] for name in rule.pitfalls)
            is_second = self.pitfalls and not own
            yield Answer(rule, own or named, self.message, score - (_LEAD if is_second else 0.0))
        for pitfall in self.pitfalls:
            if not any(pitfall.name in rule.pitfalls for rule in self.rules):
                found = rules_of(pitfall)
                yield Answer(found[0] if found else None, (pitfall,), self.message, score)


_Index = Mapping[str, Sequence[tuple[_Known, float]]]
"""Each part of the known messages: the messages that contain it, and its weight in them."""


@cache
def _index() -> _Index:
    """The known messages by their parts; what few messages contain has more weight."""
    quoting: dict[str, tuple[list[Rule], list[Pitfall]]] = {}
    for pitfall in pitfalls().values():
        for message in pitfall.messages:
            quoting.setdefault(message, ([], []))[1].append(pitfall)
    for code, messages in _data()["rules"].items():
        for message in messages:
            quoting.setdefault(message, ([], []))[0].append(registry.rule(code))
    parts = {message: dict.fromkeys(_parts(message)) for message in quoting}
    in_how_many = Counter(part for found in parts.values() for part in found)
    weights = {
        part: _importance(part) * math.log(1 + len(parts) / count)
        for part, count in in_how_many.items()
    }
    index: dict[str, list[tuple[_Known, float]]] = {part: [] for part in weights}
    for message, (rules, quoted) in quoting.items():
        weight = sum(weights[part] for part in parts[message])
        known = _Known(message, weight, tuple(rules), tuple(quoted))
        for part in parts[message]:
            index[part].append((known, weights[part]))
    return index


def _resembling(text: str) -> dict[_Known, float]:
    """The known messages, with the most weight of their parts that is in one window of a text."""
    index = _index()
    most: dict[_Known, float] = {}
    for window in _windows(text):
        found: dict[_Known, float] = {}
        for part in index.keys() & window:
            for known, weight in index[part]:
                found[known] = found.get(known, 0.0) + weight
        for known, total in found.items():
            most[known] = max(total, most.get(known, 0.0))
    return most


def _windows(text: str) -> Iterator[frozenset[str]]:
    """The parts of some consecutive rows of a text."""
    rows = [row for row in text[-_LARGEST:].splitlines() if row.strip()]
    for size in _WINDOWS:
        for start in range(0, max(1, len(rows) - size + 1), max(1, size // 2)):
            if start == 0 or start + size <= len(rows) + size // 2:
                yield frozenset(_parts("\n".join(rows[start : start + size])))


def _parts(text: str) -> list[str]:
    """The words of a text and the pairs of neighbors, in lower case.

    A dtype is a word like any other dtype; which one it is decides between messages that are alike.
    """
    rows = (_DECORATION.sub(" ", row) for row in text.splitlines())
    plain = _KERNEL.sub(_operator, "\n".join(rows))
    plain = _VARIABLE.sub(" ", _DTYPE.sub(_named, plain))
    # An exception has the same name in many messages, and is often left out.
    exact = [
        word.lower()
        for word in _WORD.findall(plain)
        if len(word) > 1 and not word.endswith(("Error", "Warning", "Exception"))
    ]
    words = ["dtype" if word.startswith(_IS_DTYPE) else word for word in exact]
    which = [
        f"={' '.join(pair)}"
        for pair in _pairs(exact)
        if any(word.startswith(_IS_DTYPE) for word in pair)
    ]
    return [*words, *(" ".join(pair) for pair in _pairs(words)), *which]


_IS_DTYPE = "dtype_"


@cache
def _pitfalls_of_kernels() -> Mapping[str, str]:
    """The pitfall of an operator, by a part of the names of its kernels."""
    entries = _data()["pitfalls"].items()
    return {part: name for name, entry in entries for part in entry.get("kernels", ())}


def _operator(match: re.Match[str]) -> str:
    """The kernels of the operators of one pitfall are one word: new ones come with each torch."""
    known = _pitfalls_of_kernels()
    pitfall = next((known[part] for part in match[1].lower().split("_") if part in known), None)
    return match[0] if pitfall is None else f" kernel_of_{pitfall} "


def _named(match: re.Match[str]) -> str:
    """A dtype as one word: `struct c10::Half`, `torch.cuda.HalfTensor` and `fp16` are the same."""
    name = re.sub(r".*[.: ]|^(?:cuda|cpu)|tensor$", "", match.group().lower())
    name = re.sub(r"^(b?)fp?(?=\d)", lambda found: f"{found[1]}float", name)
    return f" {_IS_DTYPE}{_SAME.get(name, name)} "


def _importance(part: str) -> float:
    if part.startswith("="):
        return 0.05
    return 1.0 if " " in part else 0.6


def _pairs(words: Sequence[str]) -> Iterable[tuple[str, str]]:
    return pairwise(words)
