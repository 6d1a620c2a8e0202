"""What the words of a script expand to: variables, arrays, the folder of the script."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from precision_lint.model.finding import Span
from precision_lint.model.regex import regex
from precision_lint.source.shell.places import Places
from precision_lint.source.shell.variables import Assigned, Variables, Word
from precision_lint.source.shell.words import (
    UNKNOWN,
    Lexer,
    Literal,
    Part,
    RawWord,
    Substitution,
    Text,
    Variable,
)
from precision_lint.source.text.text import SourceText

_MAX_VALUE = 16 * 1024  # a variable that doubles itself is no configuration
_MAX_EXPANDED = 4 * 1024 * 1024
_MAX_CALL = 200  # characters of `$(dirname "$0")` in all its forms

_ASSIGNMENT = regex(r"([A-Za-z_]\w*)(\[[^]]*\])?(\+?=)", re.ASCII)
_DEFAULT = regex(r""":[-=](["']?)([\w./@%+,-]+)\1""", re.ASCII)
_DEFAULT_WITH_NAMES = regex(
    r""":[-=]("?)((?:[\w./@%+,-]|\$[A-Za-z_]\w*|\$\{[A-Za-z_]\w*\})+)\1""", re.ASCII
)
_PIECE = regex(r"\$\{?([A-Za-z_]\w*)\}?|[^$]+", re.ASCII)
_INDEX = regex(r"\$?([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*)\}", re.ASCII)
_OWN_FOLDER = regex(
    r"""\$\(\s*(?:cd\s+["']?(?P<cd>\$\(.*\)[\w./-]*)["']?\s*
        (?:&?>\s*/dev/null\s*(?:2>&1\s*)?)?&&\s*pwd(?:\s+-P)?
      | dirname\s+(?:--\s+)?["']?(?:\$\{?(?:0|BASH_SOURCE(?:\[0\])?)\}?
          | \$\(\s*(?:realpath|readlink\s+-f)\s+["']?\$\{?(?:0|BASH_SOURCE(?:\[0\])?)\}?["']?\s*\)
        )["']?)\s*\)""",
    re.VERBOSE,
)
"""`$(dirname "$0")`, `$(cd "$(dirname "$0")/.." && pwd)`: the folder of the script."""


_WHICH = regex(
    r"""(?:\$\(\s*(?:which|command\s+-v|type\s+-P)\s+([\w.-]+)\s*\)
      | `\s*(?:which|command\s+-v|type\s+-P)\s+([\w.-]+)\s*`)""",
    re.VERBOSE,
)
"""`$(which trl)`: where a program is."""
FOUND = f"{UNKNOWN}/bin/"
"""What stands for the folder of a program that is looked for like this."""


class Expander:
    """Expands words with what is known of the variables so far."""

    def __init__(self, source: SourceText, places: Places, variables: Variables) -> None:
        self.source = source
        self.places = places
        self.variables = variables
        self.in_file = True  # and not in a script that is a word of this one
        self.takes_defaults = True
        """`${1:-x}` is `x`: outside of functions, while the arguments are those of the script."""
        self.taken: set[str] = set()
        """The arguments that were asked for, and that only who starts the script can have given."""
        self.assumed: dict[str, list[Span]] = {}
        """The defaults that were taken for variables of the caller's environment."""
        self.choices: Mapping[str, int] = {}
        """The elements that subscripts stand for which are not known."""
        self.asked: dict[str, int] = {}
        """Such subscripts, and how many elements the largest of their arrays has."""
        self._arrays: set[str] = set()
        self._expanded = 0

    def spend(self, size: int) -> bool:
        """Count characters that are expanded; False if they are too many for a configuration."""
        self._expanded += size
        return self._expanded <= _MAX_EXPANDED

    def assigned(self, word: RawWord) -> tuple[str, Assigned] | None:
        """The name and the value that a word assigns; None if it is only a part of an array."""
        assignment = assignment_of(word)
        if assignment is None or assignment[2]:
            return None
        name, _, operator = assignment.groups()
        if word.array is not None:
            self._arrays.add(name)
        elif name in self._arrays:
            return None  # the first of its elements
        before = self.variables[name]
        elements = tuple(self.expand(word.array or ()))
        texts = [self._joined(part) or self._text_of(part) for part in word.parts]
        texts[0] = texts[0][assignment.end() :]
        if operator == "+=":
            unknown = self._unknown(name, None, word.span)
            texts.insert(0, before.text if before else unknown)
            elements = (*self._elements_of(before, unknown, word), *elements)
        text = Text() if word.array is not None else self._join(word.span, texts)
        span, elsewhere = self.places.locate(word.span)
        return name, Assigned(span, text, elements, word.array is not None, elsewhere)

    def _joined(self, part: Part) -> Text | None:
        """What `CMD="run ${ARGS[@]}"` gets: a text, with blanks between the elements."""
        match part:
            case Variable(subscript="[@]", default=None) if elements := self._elements(part):
                blank = Text(" ", (part.span.start,))
                texts = [text for each in elements for text in (blank, each.traced)]
                return self._join(part.span, texts[1:])
        return None

    def _elements_of(
        self, before: Assigned | None, unknown: Text, word: RawWord
    ) -> tuple[Word, ...]:
        """What an array holds before something is added to it."""
        if before is not None and before.is_array:
            return before.elements
        text = before.text if before else unknown
        return (replace(self.places.word(text, word), verbatim=False),)

    def expand(self, words: Iterable[RawWord]) -> Iterator[Word]:
        """The words that a command or an array gets: unquoted variables split, arrays stay apart.

        An expansion that is only a part of a word is not split: `--name=$VALUE` is meant as one.
        """
        for word in words:
            match word.parts:
                case [Variable() as variable] if (found := self._elements(variable)) is not None:
                    for element in found:
                        if variable.quoted:
                            yield element
                        else:
                            yield from self._split(element.traced, word)
                case [Variable(quoted=False)]:
                    yield from self._split(self.whole(word), word)
                case _:
                    yield self.places.word(self.whole(word), word)

    def _elements(self, variable: Variable) -> tuple[Word, ...] | None:
        """The words that an array expands to; None where a text is all that there is."""
        assigned = self.variables[variable.name]
        if assigned is None:
            self.take(variable.name)
        if assigned is None or not assigned.is_array:
            return None
        is_whole = variable.subscript in ("[@]", "[*]")
        apart = variable.subscript == "[@]" or (is_whole and not variable.quoted)
        is_empty = variable.default is not None and not assigned.elements
        return assigned.elements if apart and not is_empty else None

    def _split(self, text: Text, written: RawWord) -> Iterable[Word]:
        """The words of an unquoted variable, each where it is written if that is known."""
        if text.chars == UNKNOWN:
            return (replace(self.places.word(text, written), verbatim=False),)
        return self.places.split(text)

    def whole(self, word: RawWord) -> Text:
        """A word as one, whatever its variables hold."""
        return self._join(word.span, [self._text_of(part) for part in word.parts])

    def body(self, body: Span, quoted: bool) -> Text | None:
        """What a shell makes of a here-document; None if that is unclear."""
        text, start, end = self.source.text, body.start, body.end
        if quoted:
            return Text(text[start:end], tuple(range(start, end)))
        try:
            parts = Lexer(text, range(len(text))).body(start, end)
        except ValueError:
            return None
        return self._join(body, [self._text_of(part) for part in parts])

    def _text_of(self, part: Part) -> Text:
        match part:
            case Literal(text):
                return text
            case Variable(name, span, default=default):
                assigned = self.variables[name]
                if assigned is None:
                    if name != "@":  # in a longer word nothing is known of it, whatever it is
                        self.take(name)
                    return self._without(part) or self._unknown(name, default, span)
                text = assigned.text
                if assigned.is_array:
                    index = self._index(part.subscript, assigned) if part.subscript else 0
                    if index is None or (part.subscript and index >= len(assigned.elements)):
                        return _unknown(span)
                    text = assigned.elements[index].traced if assigned.elements else text
                elif part.subscript:
                    return _unknown(span)
                if text.chars or default is None:
                    return text
                return self._default(part) or _unknown(span)
            case Substitution(span) if self.in_file and (
                found := self._own_folder(span) or self._which(span)
            ):
                return Text(found, (span.start,) * len(found))
        return _unknown(part.span)

    def take(self, name: str) -> None:
        """Note a variable that was asked for and is not known, if it is one of the arguments."""
        is_one = name == "@" or (name.isdecimal() and name != "0")
        if is_one and self.takes_defaults and not self.variables.is_lost:
            self.taken.add(name)

    def _without(self, variable: Variable) -> Text | None:
        """The default of a variable that the script is started without: nobody sets `NAME`."""
        if variable.name.isdecimal():
            return self._default(variable) if self.takes_defaults else None
        if not self.variables.is_of_caller(variable.name):
            return None
        found = self._default(variable)
        if found is not None:
            self.assumed.setdefault(variable.name, []).append(variable.span)
        return found

    def set_by(self, word: RawWord) -> Iterator[tuple[str, Assigned]]:
        """The variables that `${NAME:=default}` in a word sets, if nothing else has."""
        for part in word.parts:
            match part:
                case Variable(name, default=str(default)) if (
                    default.startswith((":=", "=")) and self.variables[name] is None
                ):
                    span, elsewhere = self.places.locate(part.span)
                    yield name, Assigned(span, self._text_of(part), elsewhere=elsewhere)

    def _default(self, variable: Variable) -> Text | None:
        """The literal of `${NAME:-literal}`, where it is written."""
        if not self.in_file:
            return None
        found = _DEFAULT.fullmatch(variable.default or "")
        if found is None:
            return self._default_with_names(variable)
        end = variable.span.end - 1 - len(found[1])
        return Text(found[2], tuple(range(end - len(found[2]), end)))

    def _default_with_names(self, variable: Variable) -> Text | None:
        """What `${NAME:-"$ROOT/a.yaml"}` has, if its variables are known."""
        found = _DEFAULT_WITH_NAMES.fullmatch(variable.default or "")
        if found is None:
            return None
        start = variable.span.end - 1 - len(found[1]) - len(found[2])
        pieces = [*_PIECE.finditer(found[2])]
        known = [self.variables[piece[1]] if piece[1] else None for piece in pieces]
        if all(piece[1] for piece in pieces) or any(
            piece[1] and (value is None or value.is_array)
            for piece, value in zip(pieces, known, strict=True)
        ):
            return None
        texts = [
            Text(piece[0], tuple(range(start + piece.start(), start + piece.end())))
            if value is None
            else value.text
            for piece, value in zip(pieces, known, strict=True)
        ]
        return self._join(variable.span, texts)

    def _index(self, subscript: str, array: Assigned) -> int | None:
        """The element that a subscript stands for: `[1]`, `[$I]`; None if that is not known."""
        inner = subscript[1:-1].strip('" ')
        if inner.isdecimal():
            return int(inner)
        if inner in ("@", "*"):
            return None
        name = _INDEX.fullmatch(inner)
        assigned = self.variables[name[1] or name[2]] if name else None
        if assigned is not None and assigned.text.chars.isdecimal():
            return int(assigned.text.chars)
        self.asked[inner] = max(self.asked.get(inner, 0), len(array.elements))
        return self.choices.get(inner)

    def _own_folder(self, span: Span) -> str | None:
        """The folder of the script, if this is how it asks for it."""
        if span.end - span.start > _MAX_CALL:
            return None
        suffix = ""
        match = _OWN_FOLDER.fullmatch(self.source[span])
        if match and match["cd"]:
            call, bracket, suffix = match["cd"].rpartition(")")
            match = _OWN_FOLDER.fullmatch(call + bracket)
        return f"{self.source.path.parent.as_posix()}{suffix}" if match else None

    def _which(self, span: Span) -> str | None:
        """The program that is looked for."""
        is_short = span.end - span.start <= _MAX_CALL
        match = _WHICH.fullmatch(self.source[span]) if is_short else None
        return f"{FOUND}{match[1] or match[2]}" if match else None

    def _unknown(self, name: str, default: str | None, span: Span) -> Text:
        """A value that is not known, but is the same wherever it is the same."""
        return Text(UNKNOWN, (self.variables.identity(name, default, span.start),))

    def _join(self, span: Span, texts: list[Text]) -> Text:
        size = sum(len(text.chars) for text in texts)
        if not self.spend(size) or size > _MAX_VALUE:
            return _unknown(span)
        return Text.join(texts)


def grows(word: RawWord) -> bool:
    """True for an assignment that adds words to what a variable has: `A+=(x)`, `A="$A x"`."""
    assignment = assignment_of(word)
    if assignment is None:
        return False
    name, operator = assignment[1], assignment[3]
    if word.array is not None:
        first = word.array[0].parts[0] if word.array and word.array[0].parts else None
        return operator == "+=" or (isinstance(first, Variable) and first.name == name)
    written = [
        part.text.chars if isinstance(part, Literal) else part
        for part in word.parts
        if not (isinstance(part, Literal) and part.text.chars == assignment.group())
    ]
    if operator != "+=":
        match written:
            case [Variable(name=own, default=None), *written] if own == name:
                pass
            case _:
                return False
    return isinstance(written[0], str) and written[0].startswith(" ") if written else True


def assignment_of(word: RawWord) -> re.Match[str] | None:
    """The `NAME=` or `NAME[0]+=` that a word starts with."""
    first = word.parts[0] if word.parts else None
    if isinstance(first, Literal) and not first.quoted:
        return _ASSIGNMENT.match(first.text.chars)
    return None


def _unknown(span: Span) -> Text:
    return Text(UNKNOWN, (span.start,))
