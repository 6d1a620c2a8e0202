"""Which pitfall a text may be about, if no known message is like it.

Each pitfall is a document: what its page says, its messages, the names of its rules. A text is
compared with all of them by the words that it shares with few.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from functools import cache

from precision_lint.engine.pitfalls import Pitfall, pitfalls, rules_of
from precision_lint.engine.signs import by_signs, is_about_precision
from precision_lint.engine.wording import said_and_framed, vocabulary

_SATURATION = 1.2
"""After how many occurrences a word of a document counts half as much again (BM25)."""
_LEAST = 0.12
"""The share of the weight of a text that a document has to cover."""
_FEW = 3
"""Fewer words are a name."""


_OF_WORDS, _OF_SIGN = 0.7, 0.9
"""How much the words of a text count, and what it says."""


def topics(text: str) -> list[tuple[Pitfall, float]]:
    """The pitfalls that a text may be about, the closest first."""
    best: dict[str, float] = {}
    for row, frames in said_and_framed(text):
        if len(row.split()) < _FEW or not is_about_precision(row):
            continue
        signs, words = by_signs(row, frames), dict(_closest(row))
        for name in {*signs, *words}:
            by_words = _OF_WORDS * words.get(name, 0.0)
            subject = 1 - (1 - by_words) * (1 - _OF_SIGN * signs.get(name, 0.0))
            best[name] = max(subject, best.get(name, 0.0))
    ranked = sorted(best.items(), key=lambda item: -item[1])
    return [(pitfalls()[name], score) for name, score in ranked if score >= _LEAST]


def _closest(row: str) -> list[tuple[str, float]]:
    words = vocabulary(row)
    weights, documents = _weights(), _documents()
    unknown = math.log(1 + len(documents))
    everything = sum(weights.get(word, unknown) for word in words)
    found = []
    for name, document in documents.items():
        shared = sum(
            weights[word] * document[word] / (document[word] + _SATURATION)
            for word in words
            if word in document
        )
        found.append((name, shared / (everything + unknown)))
    return found


@cache
def _documents() -> Mapping[str, Counter[str]]:
    return {name: Counter(_words_of(pitfall)) for name, pitfall in pitfalls().items()}


def _words_of(pitfall: Pitfall) -> list[str]:
    said = [pitfall.title, pitfall.what, pitfall.cure, *pitfall.messages, *pitfall.unlisted]
    named = [f"{rule.name} {rule.summary}" for rule in rules_of(pitfall)]
    return [word for text in (*said, *named) for word in sorted(vocabulary(text))]


@cache
def _weights() -> Mapping[str, float]:
    documents = _documents().values()
    count = Counter(word for document in documents for word in document)
    return {word: math.log(1 + len(documents) / times) for word, times in count.items()}
