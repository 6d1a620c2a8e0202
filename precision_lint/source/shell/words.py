"""The words and operators of a shell text, with quoting undone and every character traced.

This reads what assignments and command lines are made of. It does not nest: a substitution
`$(...)` is one unknown part. It is written by hand because it has to stay linear on hostile input
and has to read on after what the shell itself would refuse.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex

UNKNOWN = "\0"  # stands for what only run time knows; no shell value can hold the character itself


@frozen
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

    def is_same(self, other: Text) -> bool:
        """True if both are one value, whatever that is: what is unknown came from one place."""
        pairs = zip(self.chars, self.origins, other.origins, strict=False)
        return self.chars == other.chars and all(
            origin == another for char, origin, another in pairs if char == UNKNOWN
        )

    @property
    def span(self) -> Span:
        """The first neighbouring characters: a text may be put together from several places."""
        end = self.origins[0]
        for origin in self.origins:
            if origin != end:
                break
            end += 1
        return Span(self.origins[0], end)


@frozen
class Literal:
    text: Text
    quoted: bool


@frozen
class Variable:
    """`$NAME`, `${NAME}`, `${NAME:-default}`, `${NAME:=default}`, `${NAME[@]}`, `${NAME[$I]}`.

    The arguments of a function are the variables `1`, `2` …, and the array `@` of all of them.
    """

    name: str
    span: Span
    quoted: bool
    subscript: str = ""
    default: str | None = None


@frozen
class Substitution:
    """What run time computes: a command's output, arithmetic, `$?`, `${NAME%pattern}`."""

    span: Span
    quoted: bool


Part: TypeAlias = Literal | Variable | Substitution


@frozen
class RawWord:
    """A word as written. An assignment `NAME=(...)` has its elements in `array`.

    It is verbatim if nothing but this word stands at its span.
    """

    span: Span
    parts: tuple[Part, ...]
    array: tuple[RawWord, ...] | None = None
    verbatim: bool = True

    @property
    def plain(self) -> str | None:
        """The text of a word without quotes and expansions; None for any other."""
        match self.parts:
            case [Literal(text, quoted=False)]:
                return text.chars
            case _:
                return None


@frozen
class Operator:
    """`;`, `&&`, `|`, `(` ..., or a line end as `\\n`."""

    text: str


@dataclass(slots=True)
class HereDocument:
    """`<<EOF` ... The body is filled in when the lexer has passed it, after the line."""

    delimiter: str
    quoted: bool
    tabs: bool
    body: Span | None = None


Token: TypeAlias = RawWord | Operator | HereDocument

_BLANK = regex(r"(?:[ \t]|\\\r?\n)+")
_CONTINUATION = regex(r"\\\r?\n")
_COMMENT = regex(r"#[^\r\n]*")
_LINE_END = regex(r"\r?\n")
_OPERATOR = regex(r"\|\||&&|;;&|;&|;;|\|&|&>>|&>|<<<|<<-|<<|>>|<>|>\||[<>]&|[;&|()<>]")
_PLAIN = regex(r"(?:[^ \t\r\n;&|()<>\\'\"$`]|\r(?!\n))+")
_REPLACED = regex(r"\\(?:[$`\\]|\r?\n)|[$`]")
_PLAIN_QUOTED = regex(r'[^"\\$`]+')
_SINGLE = regex(r"'([^']*)'")
_ANSI_C = regex(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_BACKQUOTED = regex(r"`(?:[^`\\]|\\.)*`", re.DOTALL)
_NAME = regex(r"\$([A-Za-z_]\w*)((?:\\\r?\n)+\w+)?", re.ASCII)
_ARGUMENT = regex(r"\$(?:([1-9])|([@*]))")
_SPECIAL = regex(r"\$[0#?$!-]")
_BRACED = regex(
    r"(?:([A-Za-z_]\w*)(\[[^][]+\])?|([1-9]\d*)|([@*]))(:?[-=].*)?", re.ASCII | re.DOTALL
)
_ARRAY = regex(r"[A-Za-z_]\w*\+?=", re.ASCII)
_NESTED_HERE = regex(r"<<(-?)[ \t]*(['\"]?)([A-Za-z_]\w*)\2")
_MAX_DEFECTS = 20  # each costs a scan to the end of the text


def _argument(
    number: str | None, all_of: str | None, span: Span, quoted: bool, default: str | None
) -> Variable:
    """`$1`, or `$@` and `$*`, which are the elements of one array."""
    if number is not None:
        return Variable(number, span, quoted, default=default)
    return Variable("@", span, quoted, f"[{all_of}]", default)


class _Unterminated(Exception):
    """A quote or a bracket is never closed, or a word is missing."""


class Lexer:
    """Iterates over the tokens of a text; `defect` is the first thing that the shell refuses.

    `origins` are the offsets that the characters were written at. In a script that is indented as
    a whole, by `margin` blanks, the ends of here-documents are, too.
    """

    def __init__(self, text: str, origins: Sequence[int], margin: int = 0) -> None:
        self.text = text
        self.origins = origins
        self.margin = margin
        self.at = 0
        self.defect: tuple[str, int] | None = None
        self._defects = 0
        self._endless = 0  # here-documents inside substitutions whose ends were not found
        self._heredocs: list[HereDocument] = []

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

    def expansions(self, start: int, end: int) -> Iterator[Span]:
        """What a shell replaces in the body of a here-document: `$NAME`, `` `...` ``, `\\$`.

        Raises:
            ValueError: one of them does not end.
        """
        yield from (span for span, _ in self._replaced(start, end))

    def body(self, start: int, end: int) -> tuple[Part, ...]:
        """The body of a here-document that is not quoted.

        Raises:
            ValueError: an expansion does not end.
        """
        parts: list[Part] = []
        for span, part in self._replaced(start, end):
            parts += [Literal(self._traced(start, span.start), quoted=True), part]
            start = span.end
        return (*parts, Literal(self._traced(start, end), quoted=True))

    def _replaced(self, start: int, end: int) -> Iterator[tuple[Span, Part]]:
        self.at = start
        while match := _REPLACED.search(self.text, self.at, end):
            self.at = match.start()
            if match.group() in ("$", "`"):
                try:
                    part = self._expansion(quoted=True)
                except _Unterminated as error:
                    raise ValueError(str(error)) from None
                if isinstance(part, Literal):
                    continue
            else:
                part = Literal(self._escape(), quoted=True)
            if self.at > end:
                raise ValueError("an expansion that does not end")
            yield Span(match.start(), self.at), part

    def _recover(self, message: str) -> None:
        """Go on after the line, so that one open quote does not hide the rest of the file."""
        if self.defect is None:
            self.defect = (message, self.at)
        self._defects += 1
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 or self._defects > _MAX_DEFECTS else end

    def _traced(self, start: int, end: int) -> Text:
        return Text(self.text[start:end], tuple(self.origins[start:end]))

    def _span(self, start: int, end: int) -> Span:
        """Where a part of the text is written, as far as it is written in one place."""
        if start == end:
            origin = self.origins[start] if start < len(self.origins) else 0
            return Span(origin, origin)
        first, last = self.origins[start], self.origins[end - 1]
        if last - first == end - 1 - start:
            return Span(first, last + 1)
        return self._traced(start, end).span

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
        if self.text.startswith("<<<<<<", self.at):
            raise _Unterminated("`<<<` without a word")
        self.at = match.end()
        if match.group() in ("<<", "<<-"):
            self._skip(_BLANK)
            literals = [part for part in self._word().parts if isinstance(part, Literal)]
            delimiter = "".join(literal.text.chars for literal in literals)
            quoted = any(literal.quoted for literal in literals)
            heredoc = HereDocument(delimiter, quoted, match.group() == "<<-")
            self._heredocs.append(heredoc)
            yield heredoc
        else:
            yield Operator(match.group())

    def _skip_heredocs(self) -> None:
        for heredoc in self._heredocs:
            end = self._end_of_heredoc(heredoc.delimiter, heredoc.tabs)
            stop = end.start() if end else len(self.text)
            heredoc.body = Span(self.at, stop)
            self.at = end.end() if end else stop
        self._heredocs.clear()

    def _end_of_heredoc(self, delimiter: str, tabs: bool) -> re.Match[str] | None:
        indent = "\t*" if tabs else ""
        pattern = rf"^ {{{self.margin}}}{indent}{re.escape(delimiter)}\r?$"
        return re.compile(pattern, re.MULTILINE).search(self.text, self.at)

    def _word(self, *, in_array: bool = False) -> RawWord:
        start = end = self.at
        parts: list[Part] = []
        while self.at < len(self.text):
            opens = self.text[self.at] == "(" and not in_array
            if opens and _ARRAY.fullmatch(self.text, start, self.at):
                elements = self._array()
                return self._made(start, self.at, parts, elements)
            if self._skip(_CONTINUATION):
                continue
            if not self._part(parts):
                break
            end = self.at
        return self._made(start, end, parts)

    def _made(
        self, start: int, end: int, parts: list[Part], array: tuple[RawWord, ...] | None = None
    ) -> RawWord:
        span = self._span(start, end)
        return RawWord(span, tuple(parts), array, span.end - span.start == end - start)

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
            parts.append(Literal(self._traced(at, match.end()), quoted=False))
            self.at = match.end()
        elif text[at] == "\\":
            parts.append(Literal(self._escaped(at), quoted=True))
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
            parts.append(Substitution(self._span(at, self.at), quoted=True))
        else:
            return False
        return True

    def _single(self, pattern: re.Pattern[str]) -> Literal:
        match = pattern.match(self.text, self.at)
        if match is None:
            raise _Unterminated("unclosed single quote")
        self.at = match.end()
        return Literal(self._traced(*match.span(1)), quoted=True)

    def _ansi_c(self) -> Part:
        start = self.at
        literal = self._single(_ANSI_C)
        if "\\" in literal.text.chars:
            return Substitution(self._span(start, self.at), quoted=True)
        return literal

    def _double(self, parts: list[Part]) -> None:
        opened = self.at
        self.at += 1
        if self.text.startswith('"', self.at):
            parts.append(Literal(Text(), quoted=True))  # `""` is a word, too
        while self.at < len(self.text):
            at = self.at
            if match := _PLAIN_QUOTED.match(self.text, at):
                parts.append(Literal(self._traced(at, match.end()), quoted=True))
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
        if self.text[at + 1 : at + 2] in tuple('$`"\\'):
            return self._escaped(at)
        self.at = min(at + 2, len(self.text))
        return self._traced(at, self.at)

    def _escaped(self, at: int) -> Text:
        """The character after a backslash, which stands where the backslash does."""
        self.at = min(at + 2, len(self.text))
        return Text(self.text[at + 1 : at + 2], (self.origins[at],) * (self.at - at - 1))

    def _expansion(self, *, quoted: bool) -> Part:
        start, text = self.at, self.text
        if match := _NAME.match(text, start):
            self.at = match.end()
            span = self._span(start, self.at)
            # A name may go on after a line's end.
            return Substitution(span, quoted) if match[2] else Variable(match[1], span, quoted)
        if match := _ARGUMENT.match(text, start):
            self.at = match.end()
            return _argument(match[1], match[2], self._span(start, self.at), quoted, None)
        if self._skip(_SPECIAL):
            return Substitution(self._span(start, self.at), quoted)
        if text.startswith("$(", start):
            self.at += 1
            self._balanced()
            return Substitution(self._span(start, self.at), quoted)
        if text.startswith("${", start):
            self.at += 1
            self._balanced()
            span = self._span(start, self.at)
            match = _BRACED.fullmatch(text, start + 2, self.at - 1)
            if match is None:
                return Substitution(span, quoted)
            if match[1] is None:
                return _argument(match[3], match[4], span, quoted, match[5])
            return Variable(match[1], span, quoted, match[2] or "", match[5])
        if text[start] == "`":
            self._backquotes()
            return Substitution(self._span(start, self.at), quoted)
        self.at += 1
        return Literal(self._traced(start, self.at), quoted)

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
            elif char == "<" and expected[-1:] == [")"] and self._skip_nested_heredoc():
                continue
            self.at += 1
            if not expected:
                return
        self.at = opened
        raise _Unterminated(f"unclosed {text[opened]!r}")

    def _skip_nested_heredoc(self) -> bool:
        """A here-document inside `$(...)`: an apostrophe in its body opens no quote."""
        start = self.at
        match = _NESTED_HERE.match(self.text, start)
        line = self.text.find("\n", match.end()) if match else -1
        if match is None or line < 0 or self._endless > _MAX_DEFECTS:
            return False
        self.at = line + 1
        end = self._end_of_heredoc(match[3], bool(match[1]))
        self._endless += end is None
        self.at = end.end() if end else start
        return end is not None
