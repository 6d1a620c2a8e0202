"""The rows of a file that call, name or assign something, by plain search in its text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from precision_lint.model.regex import regex
from precision_lint.source.text.text import SourceText

_CALL_OF_MEMBER = regex(r"(?:\.\w+)*\s*\(")
_ASSIGNS = regex(r"[ \t]*=(?!=)")
_STORES_ITEM = regex(r"(?<![\"'])(?<!\[\d)(?<!\[-\d)\][ \t]*=(?!=)")
"""An item that is set, unless its key is a digit, or ends like a string."""
_ADDS = regex(r"\.append\(")
_CASTS = regex(r"\.(?:bfloat16|half|to)\(")
_WORD = regex(r"\w*")
_PARENTHESIS = regex(r"[()]")
_DEFINING = ("def ", "class ")
_HOLDS_AUTOCAST = regex(r"\b(\w+)[ \t]*=[ \t]*(?:\(\s*)?(?:\w+\.)*autocast\b(?![ \t]*[(=,)])")
"""A variable that is assigned a class of regions."""

OWN_TRAINER = "*Trainer"
"""Calls of what is named like a trainer, or gets `model=` and `args=` as one does, and is none of
those that are asked for by name.
"""
_NAMED_LIKE_CLASS = regex(r"[A-Z]\w*|\w*(?:class|cls|[tT]rainer)\w*")
_GETS_MODEL = regex(r"[(,]\s*model[ \t]*=(?!=)")
_GETS_ARGUMENTS = regex(r"[(,]\s*args[ \t]*=(?!=)")
_LONGEST_CALL = 2_000
"""Characters of a call of a trainer."""


def aliases(names: frozenset[str], imports: Mapping[str, str], text: str) -> Mapping[str, str]:
    """What a file calls some of `names` by: `from torch.amp import GradScaler as Scaler`."""
    imported = {local: name.rpartition(".")[2] for local, name in imports.items()}
    found = {local: name for local, name in imported.items() if name in names and name != local}
    if OWN_TRAINER in names:
        found = dict.fromkeys(_own_trainers(text) - names, OWN_TRAINER) | found
    if "autocast" in names and "autocast" in text:
        found = dict.fromkeys(_HOLDS_AUTOCAST.findall(text), "autocast") | found
    return found


def _own_trainers(text: str) -> set[str]:
    found = {word for _, word in words_called(text) if word.endswith("Trainer")}
    if _GETS_ARGUMENTS.search(text) is None:
        return found
    return found | {
        word
        for start, word in words_called(text)
        if _NAMED_LIKE_CLASS.fullmatch(word) and _is_made_like_trainer(text, start + len(word))
    }


def _is_made_like_trainer(text: str, start: int) -> bool:
    """True for a call that gets a model and arguments by these names."""
    words = text[start : start + _LONGEST_CALL]
    depth = 0
    for each in _PARENTHESIS.finditer(words):
        depth += 1 if each[0] == "(" else -1
        if depth == 0:
            given = words[: each.end()]
            return all(part.search(given) for part in (_GETS_MODEL, _GETS_ARGUMENTS))
    return False


def holders(names: frozenset[str], text: str) -> Mapping[str, str]:
    """What a file calls instances of some classes by: `self.loss = nn.CrossEntropyLoss()`."""
    classes = sorted(name for name in names if name[0].isupper() and f"{name}(" in text)
    if "Module" in names:  # objects of any class
        every = dict(re.findall(r"\b(\w+)[ \t]*=[ \t]*(?:\w+\.)*([A-Z]\w*)\(", text))
        return {local: name if name in names else "Module" for local, name in every.items()}
    if not classes:
        return {}
    return dict(re.findall(rf"\b(\w+)[ \t]*=[ \t]*(?:\w+\.)*({'|'.join(classes)})\(", text))


def rows_calling(file: SourceText, names: frozenset[str], imports: Mapping[str, str]) -> list[int]:
    """The rows with what looks like a call of `names`, as this file calls their packages."""
    text = file.text
    starts = {start for start, called in words_called(text) if called in names}
    packages = {name.removesuffix(".*") for name in names if name.endswith(".*")}
    for alias, name in imports.items():
        if name.partition(".")[0] in packages:
            length = len(alias)
            starts |= {
                start
                for start in _words(text, alias)
                if _CALL_OF_MEMBER.match(text, start + length)
            }
    return sorted({file.row(start) for start in starts})


def rows_storing_items(file: SourceText) -> list[int]:
    """The rows with what looks like `x[key] = value`, of a key that may be a tensor."""
    return sorted({file.row(found.start()) for found in _STORES_ITEM.finditer(file.text)})


def rows_mentioning(file: SourceText, name: str) -> list[int]:
    """The rows that name a function, a method or a class, and do not define it."""
    text = file.text
    return sorted(
        {
            file.row(start)
            for start in _words(text, name)
            if not _continues_word(text, start + len(name))
            and not text.endswith(_DEFINING, 0, start)
        }
    )


def rows_where_assigned(file: SourceText, attribute: str) -> list[int]:
    """The rows that assign an attribute of an object that is not `self`."""
    return _rows_of_attribute(file, attribute, _ASSIGNS)


def rows_where_added(file: SourceText, attribute: str) -> list[int]:
    """The rows that put an item into an attribute of an object that is not `self`."""
    return _rows_of_attribute(file, attribute, _ADDS)


def rows_where_cast(file: SourceText, attribute: str) -> list[int]:
    """The rows that cast an attribute of an object that is not `self` in place."""
    return _rows_of_attribute(file, attribute, _CASTS)


def _rows_of_attribute(file: SourceText, attribute: str, following: re.Pattern[str]) -> list[int]:
    text = file.text
    return sorted(
        {
            file.row(start)
            for start in _words(text, attribute)
            if text.startswith(".", start - 1)
            and not text.endswith("self.", 0, start)
            and following.match(text, start + len(attribute))
        }
    )


def variables_called(text: str) -> Iterator[str]:
    """The variables, and attributes of `self`, that a file calls."""
    for start, name in words_called(text):
        if not text.startswith(".", start - 1):
            yield name
        elif text.startswith("self.", start - 5):
            yield f"self.{name}"


_WEIGHTS = (".weight", ".bias")
_OWNER = regex(r"(\w*[^\W\d])(?:(\.fles)?)(?![\w.])")
"""A variable, or an attribute of `self`, from its end to its start."""


def variables_with_weights(text: str) -> Iterator[str]:
    """The variables, and attributes of `self`, whose weights a file reads: `layer.weight`.

    It goes back from the dot: a regular expression that begins with a name looks at all names.
    """
    for name in _WEIGHTS:
        start = text.find(name)
        while start >= 0:
            if not _continues_word(text, start + len(name)):
                before = text[max(0, start - _LONGEST) : start]
                if owner := _OWNER.match(before[::-1]):
                    yield owner[0][::-1]
            start = text.find(name, start + len(name))


_LONGEST = 200
"""Characters of a name; nobody writes longer ones."""


@lru_cache(maxsize=16)
def words_called(text: str) -> tuple[tuple[int, str], ...]:
    """The words before parentheses, with their offsets; several ask for those of one file."""
    return tuple(_called(text))


def _called(text: str) -> Iterator[tuple[int, str]]:
    """The words before parentheses.

    It goes back from each parenthesis: a regular expression looks at all words, and takes four
    times as long.
    """
    start = 0
    for part in text.split("(")[:-1]:
        before = part.rstrip()
        word = _WORD.match(before[::-1])
        assert word is not None  # it may be empty
        yield start + len(before) - word.end(), word[0][::-1]
        start += len(part) + 1


def _words(text: str, word: str) -> Iterator[int]:
    """The offsets where a word begins; what follows it may go on."""
    start = text.find(word)
    while start >= 0:
        if not start or not _continues_word(text, start - 1):
            yield start
        start = text.find(word, start + len(word))


def _continues_word(text: str, offset: int) -> bool:
    return offset < len(text) and (text[offset].isalnum() or text[offset] == "_")
