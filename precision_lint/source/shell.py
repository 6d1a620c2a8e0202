"""Shell env files and launch scripts: what the variables hold and what the commands are given.

Statements are taken in order, as `source` would. Whatever depends on a condition, a loop, a
function, another file or the caller's environment is unknown: it is never a conflict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from precision_lint.finding import Span
from precision_lint.source.errors import Unparsable
from precision_lint.source.shell_words import (
    UNKNOWN,
    Lexer,
    Literal,
    Part,
    RawWord,
    Text,
    Variable,
)
from precision_lint.source.text import SourceText

_MAX_VALUE = 16 * 1024  # a variable that doubles itself is no configuration
_MAX_EXPANDED = 4 * 1024 * 1024

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\[[^]]*\])?(\+?=)", re.ASCII)
_BLANKS = re.compile(r"[ \t\r\n]+")

_CLOSED_BY = {
    "if": "fi",
    "while": "done",
    "until": "done",
    "for": "done",
    "select": "done",
    "case": "esac",
}
_CLOSING = frozenset({"fi", "done", "esac", "}"})
_LEADING = frozenset({"if", "elif", "then", "else", "while", "until", "do", "!", "time"})
_DECLARING = frozenset({"export", "readonly", "declare", "typeset", "local"})
_LOCAL = frozenset({"declare", "typeset", "local"})
_SOURCING = frozenset({"source", ".", "eval"})
_READING = frozenset({"read", "mapfile", "readarray", "getopts", "printf", "let", "unset"})


@dataclass(frozen=True, slots=True)
class Word:
    """A word after expansion and splitting; `UNKNOWN` characters stand for what it lacks.

    The span is where it is written, in a command or in a variable's value. It can be edited if it
    is `verbatim`: what stands there is this word and nothing else.
    """

    traced: Text
    span: Span
    verbatim: bool

    @property
    def text(self) -> str:
        return self.traced.chars


@dataclass(frozen=True, slots=True)
class Assigned:
    """The known value of a variable, or its elements if it is an array, and its last assignment."""

    span: Span
    text: Text
    elements: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class Command:
    """A simple command."""

    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Script:
    """What is known of the variables after the last statement, and all commands as written."""

    source: SourceText
    variables: Mapping[str, Assigned]
    commands: tuple[Command, ...]

    def words(self, name: str) -> tuple[Word, ...]:
        """What an unquoted `$NAME` expands to."""
        assigned = self.variables.get(name)
        return tuple(_words(self.source, assigned.text)) if assigned else ()


def parse(source: SourceText) -> tuple[Script, Unparsable | None]:
    """Read a file; the second half is what a shell would refuse first, if anything."""
    lexer = Lexer(source)
    reader = _Reader(source)
    for token in lexer:
        if isinstance(token, RawWord):
            reader.word(token)
        else:
            reader.operator(token.text)
    reader.operator("\n")
    return Script(source, reader.variables, tuple(reader.commands)), lexer.defect


class _Reader:
    """Walks over the statements with what is known of the variables so far."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.variables: dict[str, Assigned] = {}
        self.commands: list[Command] = []
        self.volatile: set[str] = set()  # assigned in functions, which run who knows when
        self.pending: list[RawWord] = []  # the simple command that is being read
        self.frames: list[tuple[str, bool]] = []  # what closes each open command; is it a function
        self.functions = 0  # how many of the frames are function bodies
        self.signature = False  # between the brackets of `name()`
        self.declares = False  # the next group is a function body
        self.in_branch = False  # behind `&&`, `||` or `|`
        self.redirects = False  # the next word is a file name
        self.expanded = 0

    # Tokens to statements

    def word(self, word: RawWord) -> None:
        if self.redirects:
            self.redirects = False
            return
        plain = word.plain
        if self.pending and not (plain == "{" and self.pending[0].plain == "function"):
            self.pending.append(word)
        elif plain == "{":
            self.declares |= bool(self.pending)
            self.open("}")
        elif plain in _CLOSING:
            self.close()
        else:
            if plain in _CLOSED_BY:
                self.open(_CLOSED_BY[plain])
            if plain not in _LEADING:
                self.pending.append(word)

    def operator(self, text: str) -> None:
        if text[0] in "<>" or text.startswith("&>"):
            self.redirects = True
            if self.pending and (plain := self.pending[-1].plain) and plain.isdigit():
                self.pending.pop()  # the `2` of `2>`
        elif text == "(":
            if len(self.pending) == 1 or [w.plain for w in self.pending[:1]] == ["function"]:
                self.signature = self.declares = True
                self.pending.clear()
            else:
                self.open(")")
        elif text == ")":
            if self.signature or (self.frames and self.frames[-1][0] == "esac"):
                self.signature = False
                self.pending.clear()  # the pattern of a case, too
            else:
                self.statement()
                self.close()
        elif self.pending or text != "\n":  # a line end behind `&&` ends nothing
            self.statement()
            self.in_branch = text in ("&&", "||", "|", "|&")

    def open(self, closing: str) -> None:
        is_function = self.declares and closing in ("}", ")")
        self.frames.append((closing, is_function))
        self.functions += is_function
        self.declares &= not is_function
        self.pending.clear()

    def close(self) -> None:
        if self.frames:
            _, is_function = self.frames.pop()
            self.functions -= is_function
        self.in_branch = False

    # Statements

    def statement(self) -> None:
        words, self.pending = self.pending, []
        self.redirects = False
        match [word.plain for word in words[:2]]:
            case ["for" | "select", str(name)]:
                self.variables.pop(name, None)
            case ["function", *_]:
                self.declares = True
            case ["case" | "for" | "select", *_]:
                pass
            case _:
                self.simple_command(words)

    def simple_command(self, words: list[RawWord]) -> None:
        prefix = 0
        while prefix < len(words) and _assignment(words[prefix]):
            prefix += 1
        if prefix < len(words):
            self.command(words[prefix:])  # what stands before is for this command alone
            return
        for word in words:
            self.assign(word)

    def command(self, words: list[RawWord]) -> None:
        self.commands.append(Command(tuple(self.expand(words))))
        name, arguments = words[0].plain, words[1:]
        if name in _DECLARING:
            if not (name in _LOCAL and self.functions):
                self.declare(arguments)
        elif name in _SOURCING:
            # A virtual environment's script sets nothing that a training run reads.
            if not (arguments and (arguments[0].plain or "").endswith("/activate")):
                self.variables.clear()
        elif name in _READING:
            for word in arguments:
                self.variables.pop(word.plain or "", None)

    def declare(self, arguments: list[RawWord]) -> None:
        for word in arguments:
            if _assignment(word):
                self.assign(word)
            elif not isinstance(word.parts[0], Literal):
                self.variables.clear()  # `export $(cat .env)`

    def assign(self, word: RawWord) -> None:
        assignment = _assignment(word)
        assert assignment is not None
        name, subscript, operator = assignment.groups()
        if self.functions:
            self.volatile.add(name)
        before = self.variables.get(name)
        if self.frames or self.in_branch or subscript or name in self.volatile:
            self.variables.pop(name, None)
            return
        elements = tuple(self.expand(word.array or ()))
        texts = [self.text_of(part) for part in word.parts]
        texts[0] = texts[0][assignment.end() :]
        if operator == "+=":
            texts.insert(0, before.text if before else _unknown(word.span))
            elements = (before.elements if before else ()) + elements
        text = Text() if word.array is not None else self.join(word.span, texts)
        self.variables[name] = Assigned(word.span, text, elements)

    # Expansion

    def expand(self, words: Iterable[RawWord]) -> Iterator[Word]:
        """The words that a command or an array gets: unquoted variables split, arrays stay apart.

        An expansion that is only a part of a word is not split: `--name=$VALUE` is meant as one.
        """
        for word in words:
            match word.parts:
                case [Variable(quoted=quoted) as variable]:
                    elements = self.elements(variable)
                    if quoted:
                        text = self.join(word.span, [self.text_of(variable)])
                        yield from elements or (Word(text, word.span, True),)
                    else:
                        texts = [element.traced for element in elements]
                        for text in texts or [self.text_of(variable)]:
                            yield from _words(self.source, self.join(word.span, [text]))
                case parts:
                    text = self.join(word.span, [self.text_of(part) for part in parts])
                    yield Word(text, word.span, True)

    def elements(self, variable: Variable) -> tuple[Word, ...]:
        return self.variables[variable.name].elements if self.knows(variable.name) else ()

    def knows(self, name: str) -> bool:
        """True if the file says what a variable holds, here and now."""
        return name in self.variables and not self.functions

    def text_of(self, part: Part) -> Text:
        match part:
            case Literal(text):
                return text
            case Variable(name) if self.knows(name):
                assigned = self.variables[name]
                if assigned.text.chars or not (part.has_default or assigned.elements):
                    return assigned.text
        return _unknown(part.span)

    def join(self, span: Span, texts: list[Text]) -> Text:
        size = sum(len(text.chars) for text in texts)
        self.expanded += size
        if size > _MAX_VALUE or self.expanded > _MAX_EXPANDED:
            return _unknown(span)
        return Text.join(texts)


def _unknown(span: Span) -> Text:
    return Text(UNKNOWN, (span.start,))


def _assignment(word: RawWord) -> re.Match[str] | None:
    first = word.parts[0] if word.parts else None
    if isinstance(first, Literal) and not first.quoted:
        return _ASSIGNMENT.match(first.text.chars)
    return None


def _words(source: SourceText, text: Text) -> Iterator[Word]:
    """Field splitting: the words of a value, each where it is written."""
    start = 0
    for blank in (*_BLANKS.finditer(text.chars), None):
        end = blank.start() if blank else len(text.chars)
        if start < end:
            piece = text[start:end]
            span = _first_run(piece.origins)
            yield Word(piece, span, source[span] == piece.chars)
        start = blank.end() if blank else end


def _first_run(origins: tuple[int, ...]) -> Span:
    """The span of the first neighbouring characters: a word may be put together from places."""
    end = origins[0]
    for origin in origins:
        if origin != end:
            break
        end += 1
    return Span(origins[0], end)
