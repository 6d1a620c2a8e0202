"""Which page explains an error message that somebody pasted.

Known messages are those that the pages of rules quote and those of the catalogue of pitfalls. A
pasted text is compared by its words, in order: names, shapes, numbers and dtypes vary, lines are
wrapped, and a message is a few lines of a long traceback. What the text is about, in any order,
decides between messages that are alike, and is the answer where no message is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Literal

from precision_lint.engine import registry
from precision_lint.engine.pitfalls import Pitfall, pitfalls, quoted_by_rules, rules_of
from precision_lint.engine.signs import other_subject
from precision_lint.engine.topics import topics
from precision_lint.engine.wording import importance, parts, said_and_framed, windows
from precision_lint.model.frozen import frozen
from precision_lint.model.rule import Rule

Certainty = Literal["certain", "likely", "unsure"]

_MOST = 3
_LEAST, _LIKELY, _CERTAIN, _EXACT = 0.4, 0.55, 0.72, 0.85
_ABOUT, _ALL_ABOUT = 0.25, 0.5
"""How much of a text its page has to be about, if the message is not exactly a known one."""
_DOUBT, _LESS_DOUBT = 4.0, 2.5
"""Added to the weight of every message: what is in common with a short one says less. Less is
added where the message is all that some rows say."""
_OF_WINDOW = 0.1
"""How much it counts that a message explains all of a window, and not only some of its words."""
_OF_PIECE = 0.8
"""How much it counts that a window is a piece of a message: it was cut where it was copied."""
_OF_STRANGE = 1.5
"""How much less a message counts that is not quite the same, of a page about something else."""
_LEAD = 0.08
"""How much better the first answer is than the next one if it is certain."""
_SAME_SCORE = 0.02
"""What the dtypes of a message change in its score: they vary more than they decide."""


@frozen
class Answer:
    """A page that may explain a text: that of a rule, or else that of a pitfall."""

    rule: Rule | None
    pitfalls: tuple[Pitfall, ...]
    message: str
    """The known message that the text resembles most."""

    score: float
    """How much it resembles it; 0 if only the subject of the page is that of the text."""

    subject: float = 0.0
    """How much of the text is about what the page is about."""

    certainty: Certainty = "unsure"

    @property
    def total(self) -> float:
        """Either says which page it is; both say it better."""
        known = self.score * (1 - _OF_STRANGE * (1 - self.score) * (1 - self.subject))
        return 1 - (1 - known) * (1 - self.subject)

    def also(self, pitfall: Pitfall, subject: float) -> Answer:
        """The answer with what a pitfall of the same page has in common with the text."""
        if subject <= self.subject:
            return self
        known = self.pitfalls if self.score else ()
        is_other = pitfall not in known and subject > self.subject + _ABOUT
        pitfalls = (pitfall, *known) if is_other or not known else known
        return replace(self, pitfalls=pitfalls, subject=subject)


def answers(text: str) -> list[Answer]:
    """The pages that may explain a pasted text, the best first; none if nothing resembles it."""
    about = topics(text)
    subjects = {pitfall.name: score for pitfall, score in about}
    alike: dict[str, list[Answer]] = {}
    for known, score in _resembling(text).items():
        for answer in known.answers(score) if score >= _LEAST else ():
            subject = max((subjects.get(one.name, 0.0) for one in answer.pitfalls), default=0.0)
            alike.setdefault(_page(answer), []).append(replace(answer, subject=subject))
    pages = {page: _merged(found) for page, found in alike.items()}
    for pitfall, score in about:
        answer = _of_pitfall(pitfall, "", 0.0)
        pages[_page(answer)] = pages.get(_page(answer), answer).also(pitfall, score)
    ranked = sorted(pages.values(), key=_rank)[:_MOST]
    if ranked and ranked[0].total < _LEAST and something_else(text):
        return []
    judged = [_judged(answer, index, ranked) for index, answer in enumerate(ranked)]
    if judged and judged[0].certainty == "certain":  # then a faint likeness says nothing
        return [one for one in judged if one.total >= judged[0].total / 2]
    return judged


def something_else(text: str) -> str | None:
    """What a message is about that is not about precision; None if nothing says so."""
    rows = [row for row, _ in said_and_framed(text)]
    return other_subject(rows[-1]) if rows else None


def _page(answer: Answer) -> str:
    return answer.rule.code if answer.rule else answer.pitfalls[0].name


def _of_pitfall(pitfall: Pitfall, message: str, score: float) -> Answer:
    found = rules_of(pitfall)
    return Answer(found[0] if found else None, (pitfall,), message, score)


def _merged(answers: Sequence[Answer]) -> Answer:
    """One answer for a page: the best, with the pitfalls whose messages are nearly as close."""
    first, *others = sorted(answers, key=_rank)
    close = [
        one
        for one in others
        if one.score >= first.score - _LEAD and one.subject >= first.subject - _ABOUT
    ]
    every = dict.fromkeys(pitfall for one in (first, *close) for pitfall in one.pitfalls)
    return replace(first, pitfalls=tuple(every))


def _rank(answer: Answer) -> tuple[float, int]:
    """By score; of the same message the pitfall first that is met most: it has most to show."""
    shown = max((len(one.messages) + len(one.references) for one in answer.pitfalls), default=0)
    return -round(answer.total / _SAME_SCORE), -shown


def _judged(answer: Answer, index: int, ranked: Sequence[Answer]) -> Answer:
    """The answer with how sure it is, which depends on those after it."""
    others = ranked[index + 1 :]
    following = max((other.score for other in others), default=0.0)
    most = max((one.subject for one in others), default=0.0)
    is_about_it = answer.subject >= max(most - _LEAD, _ABOUT)
    if index or answer.score < (_LIKELY if is_about_it else _EXACT):
        return answer
    is_same = answer.score >= _EXACT or (answer.score >= _CERTAIN and answer.subject >= _ALL_ABOUT)
    is_clear = is_same and answer.score - following >= _LEAD
    return replace(answer, certainty="certain" if is_clear else "likely")


@frozen(eq=False)
class _Known:
    """A known message, its parts, their weight, and who quotes it."""

    message: str
    parts: frozenset[str]
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
                yield _of_pitfall(pitfall, self.message, score)


_Index = Mapping[str, Sequence[tuple[_Known, float]]]
"""Each part of the known messages: the messages that contain it, and its weight in them."""


@cache
def _index() -> _Index:
    """The known messages by their parts; what few messages contain has more weight."""
    quoting: dict[str, tuple[list[Rule], list[Pitfall]]] = {}
    for pitfall in pitfalls().values():
        for message in (*pitfall.messages, *pitfall.unlisted):
            quoting.setdefault(message, ([], []))[1].append(pitfall)
    for code, messages in quoted_by_rules().items():
        for message in messages:
            quoting.setdefault(message, ([], []))[0].append(registry.rule(code))
    parts_of = {message: dict.fromkeys(parts(message)) for message in quoting}
    in_how_many = Counter(part for found in parts_of.values() for part in found)
    weights = {
        part: importance(part) * math.log(1 + len(parts_of) / count)
        for part, count in in_how_many.items()
    }
    index: dict[str, list[tuple[_Known, float]]] = {part: [] for part in weights}
    for message, (rules, quoted) in quoting.items():
        weight = sum(weights[part] for part in parts_of[message])
        own = frozenset(parts_of[message])
        known = _Known(message, own, weight, tuple(rules), tuple(quoted))
        for part in parts_of[message]:
            index[part].append((known, weights[part]))
    return index


def _resembling(text: str) -> dict[_Known, float]:
    """The known messages, with how much each is like the window of a text that it is most like.

    That is how much of the message is in the window, and, with less weight, how much of the window
    is in the message: of a long row a short message explains little. A window that is a piece of a
    message is compared with itself: what is missing was not copied.
    """
    index = _index()
    unknown = importance("word") * math.log(1 + len(index))
    most: dict[_Known, float] = {}
    for window in windows(text):
        found: dict[_Known, float] = {}
        everything = 0.0
        for part in window:
            known_by = index.get(part, ())
            if known_by:
                everything += known_by[0][1]
            elif " " not in part:
                everything += unknown
            for known, weight in known_by:
                found[known] = found.get(known, 0.0) + weight
        for known, total in found.items():
            doubt = _LESS_DOUBT if known.parts == window else _DOUBT
            score = total / (known.weight + doubt) * (total / everything) ** _OF_WINDOW
            if window <= known.parts:
                score = max(score, _OF_PIECE * total / (total + 2 * _DOUBT))
            most[known] = max(score, most.get(known, 0.0))
    return most
