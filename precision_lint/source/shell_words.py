"""The words and operators of a shell text, with quoting undone and every character traced.

This reads what assignments and command lines are made of. It does not nest: a substitution
`$(...)` is one unknown part, a here-document is skipped. It is written by hand because it has to
stay linear on hostile input and has to read on behind what the shell itself would refuse.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from precision_lint.finding import Span
from precision_lint.source.errors import Unparsable
from precision_lint.source.text import SourceText

UNKNOWN = "\0"  # stands for what only run time knows; no shell value can hold the character itself


@dataclass(frozen=True, slots=True)
class Text:
    """A string of which each character knows the offset that it was written at."""

    chars: str = ""
    origins: tuple[int, ...] = ()

    @classmethod
    def join(cls, texts: Iterable[Text]) -> Text:
        texts = list(texts)
        origins = chain.from_iterable(text.origins for text in texts)
        return cls("".join(text.chars for text in texts), tuple(origins))

    def __getitem__(self, part: slice) -> Text:
        return Text(self.chars[part], self.origins[part])


@dataclass(frozen=True, slots=True)
class Literal:
    text: Text
    quoted: bool


@dataclass(frozen=True, slots=True)
class Variable:
    """`$NAME`, `${NAME}`, `${NAME:-default}`, `${NAME:=default}`, `${NAME[@]}`."""

    name: str
    span: Span
    quoted: bool
    has_default: bool = False


@dataclass(frozen=True, slots=True)
class Substitution:
    """What run time computes: a command's output, arithmetic, `$1`, `${NAME%pattern}`."""

    span: Span
    quoted: bool


Part: TypeAlias = Literal | Variable | Substitution


@dataclass(frozen=True, slots=True)
class RawWord:
    """A word as written. An assignment `NAME=(...)` has its elements in `array`."""

    span: Span
    parts: tuple[Part, ...]
    array: tuple[RawWord, ...] | None = None

    @property
    def plain(self) -> str | None:
        """The text of a word without quotes and expansions; None for any other."""
        match self.parts:
            case [Literal(text, quoted=False)]:
                return text.chars
            case _:
                return None


@dataclass(frozen=True, slots=True)
class Operator:
    """`;`, `&&`, `|`, `(` ..., or a line end as `\\n`."""

    text: str


Token: TypeAlias = RawWord | Operator

_BLANK = re.compile(r"(?:[ \t]|\\\r?\n)+")
_CONTINUATION = re.compile(r"\\\r?\n")
_COMMENT = re.compile(r"#[^\r\n]*")
_LINE_END = re.compile(r"\r?\n")
_OPERATOR = re.compile(r"\|\||&&|;;&|;&|;;|\|&|&>>|&>|<<<|<<-|<<|>>|<>|>\||[<>]&|[;&|()<>]")
_PLAIN = re.compile(r"(?:[^ \t\r\n;&|()<>\\'\"$`]|\r(?!\n))+")
_PLAIN_QUOTED = re.compile(r'[^"\\$`]+')
_SINGLE = re.compile(r"'([^']*)'")
_ANSI_C = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_BACKQUOTED = re.compile(r"`(?:[^`\\]|\\.)*`", re.DOTALL)
_NAME = re.compile(r"\$([A-Za-z_]\w*)", re.ASCII)
_SPECIAL = re.compile(r"\$[0-9@*#?$!-]")
_BRACED = re.compile(r"([A-Za-z_]\w*)(?:\[[@*]\])?(:?[-=].*)?", re.ASCII | re.DOTALL)
_ARRAY = re.compile(r"[A-Za-z_]\w*\+?=", re.ASCII)
_MAX_DEFECTS = 20  # each costs a scan to the end of the file


class _Unterminated(Exception):
    """A quote or a bracket is never closed."""


class Lexer:
    """Iterates over the tokens of a text; `defect` is the first thing that the shell refuses."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.text = source.text
        self.at = 0
        self.defect: Unparsable | None = None
        self._defects = 0
        self._heredocs: list[tuple[str, bool]] = []

    def __iter__(self) -> Iterator[Token]:
        while self.at < len(self.text):
            if self._skip(_BLANK) or self._skip(_COMMENT):
                continue
            if self._skip(_LINE_END):
                self._skip_heredocs()
                yield Operator("\n")
                continue
            try:
                yield from self._token()
            except _Unterminated as error:
                self._recover(str(error))

    def _recover(self, message: str) -> None:
        """Go on behind the line, so that one open quote does not hide the rest of the file."""
        if self.defect is None:
            self.defect = Unparsable(message, *self.source.position(self.at))
        self._defects += 1
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 or self._defects > _MAX_DEFECTS else end

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        match = pattern.match(self.text, self.at)
        if match:
            self.at = match.end()
        return match is not None

    def _token(self) -> Iterator[Token]:
        match = _OPERATOR.match(self.text, self.at)
        if match is None or self.text.startswith(("<(", ">("), self.at):
            yield self._word()
            return
        self.at = match.end()
        if match.group() in ("<<", "<<-"):
            self._skip(_BLANK)
            delimiter = self._word()
            literals = (part.text.chars for part in delimiter.parts if isinstance(part, Literal))
            self._heredocs.append(("".join(literals), match.group() == "<<-"))
        else:
            yield Operator(match.group())

    def _skip_heredocs(self) -> None:
        for delimiter, indented in self._heredocs:
            tabs = "\t*" if indented else ""
            end = re.compile(rf"^{tabs}{re.escape(delimiter)}\r?$", re.MULTILINE)
            match = end.search(self.text, self.at)
            self.at = match.end() if match else len(self.text)
        self._heredocs.clear()

    def _word(self, *, in_array: bool = False) -> RawWord:
        start = end = self.at
        parts: list[Part] = []
        while self.at < len(self.text):
            opens = self.text[self.at] == "(" and not in_array
            if opens and _ARRAY.fullmatch(self.text, start, self.at):
                elements = self._array()
                return RawWord(Span(start, self.at), tuple(parts), elements)
            if self._skip(_CONTINUATION):
                continue
            if not self._part(parts):
                break
            end = self.at
        return RawWord(Span(start, end), tuple(parts))

    def _array(self) -> tuple[RawWord, ...]:
        opened = self.at
        self.at += 1
        elements: list[RawWord] = []
        while self.at < len(self.text):
            if self._skip(_BLANK) or self._skip(_COMMENT) or self._skip(_LINE_END):
                continue
            if self.text[self.at] == ")":
                self.at += 1
                return tuple(elements)
            before = self.at
            elements.append(self._word(in_array=True))
            if self.at == before:  # an operator: not an array after all
                break
        self.at = opened
        raise _Unterminated("unclosed array")

    def _part(self, parts: list[Part]) -> bool:
        """Read one part of an unquoted word; False at the end of the word."""
        at, text = self.at, self.text
        if match := _PLAIN.match(text, at):
            parts.append(Literal(_traced(match.group(), at), quoted=False))
            self.at = match.end()
        elif text[at] == "\\":
            escaped = text[at + 1 : at + 2]
            parts.append(Literal(Text(escaped, (at,) * len(escaped)), quoted=True))
            self.at = min(at + 2, len(text))
        elif text[at] == "'":
            parts.append(self._single(_SINGLE))
        elif text[at] == '"':
            self._double(parts)
        elif text.startswith("$'", at):
            parts.append(self._ansi_c())
        elif text.startswith('$"', at):
            self.at += 1
            self._double(parts)
        elif text[at] in "$`":
            parts.append(self._expansion(quoted=False))
        elif text.startswith(("<(", ">("), at):
            self.at += 1
            self._balanced()
            parts.append(Substitution(Span(at, self.at), quoted=True))
        else:
            return False
        return True

    def _single(self, pattern: re.Pattern[str]) -> Literal:
        match = pattern.match(self.text, self.at)
        if match is None:
            raise _Unterminated("unclosed single quote")
        self.at = match.end()
        return Literal(_traced(match[1], match.start(1)), quoted=True)

    def _ansi_c(self) -> Part:
        start = self.at
        literal = self._single(_ANSI_C)
        if "\\" in literal.text.chars:
            return Substitution(Span(start, self.at), quoted=True)
        return literal

    def _double(self, parts: list[Part]) -> None:
        opened = self.at
        self.at += 1
        if self.text.startswith('"', self.at):
            parts.append(Literal(Text(), quoted=True))  # `""` is a word, too
        while self.at < len(self.text):
            at = self.at
            if match := _PLAIN_QUOTED.match(self.text, at):
                parts.append(Literal(_traced(match.group(), at), quoted=True))
                self.at = match.end()
            elif self.text[at] == '"':
                self.at += 1
                return
            elif self.text[at] == "\\":
                parts.append(Literal(self._escape(), quoted=True))
            else:
                parts.append(self._expansion(quoted=True))
        self.at = opened
        raise _Unterminated("unclosed double quote")

    def _escape(self) -> Text:
        """A backslash inside double quotes keeps itself, except before the characters it guards."""
        at = self.at
        if self._skip(_CONTINUATION):
            return Text()
        following = self.text[at + 1 : at + 2]
        self.at = min(at + 2, len(self.text))
        if following and following in '$`"\\':
            return Text(following, (at,))
        return _traced("\\" + following, at)

    def _expansion(self, *, quoted: bool) -> Part:
        start, text = self.at, self.text
        if match := _NAME.match(text, start):
            self.at = match.end()
            return Variable(match[1], Span(start, self.at), quoted)
        if self._skip(_SPECIAL):
            return Substitution(Span(start, self.at), quoted)
        if text.startswith("$(", start):
            self.at += 1
            self._balanced()
            return Substitution(Span(start, self.at), quoted)
        if text.startswith("${", start):
            self.at += 1
            self._balanced()
            span = Span(start, self.at)
            match = _BRACED.fullmatch(text, start + 2, self.at - 1)
            if match is None:
                return Substitution(span, quoted)
            return Variable(match[1], span, quoted, match[2] is not None)
        if text[start] == "`":
            self._backquotes()
            return Substitution(Span(start, self.at), quoted)
        self.at += 1
        return Literal(_traced("$", start), quoted)

    def _backquotes(self) -> None:
        if not self._skip(_BACKQUOTED):
            raise _Unterminated("unclosed backquote")

    def _balanced(self) -> None:
        """Skip a bracket with all that it holds: brackets, quotes, comments."""
        opened, text = self.at, self.text
        expected: list[str] = []
        while self.at < len(text):
            char = text[self.at]
            quoted = bool(expected) and expected[-1] == '"'
            if char == "\\":
                self.at += 1
            elif expected and char == expected[-1]:
                expected.pop()
            elif char == '"':
                expected.append('"')
            elif char == "'" and not quoted:
                match = _SINGLE.match(text, self.at)
                if match is None:
                    break
                self.at = match.end() - 1
            elif char in "({" and (
                not expected
                or text[self.at - 1] == "$"
                or (char == "(" and expected[-1] == ")")  # a subshell; `${` knows no bare brackets
            ):
                expected.append(")" if char == "(" else "}")
            elif char == "#" and expected[-1:] == [")"] and text[self.at - 1].isspace():
                self._skip(_COMMENT)
                continue
            self.at += 1
            if not expected:
                return
        self.at = opened
        raise _Unterminated(f"unclosed {text[opened]!r}")


def _traced(chars: str, start: int) -> Text:
    return Text(chars, tuple(range(start, start + len(chars))))
