"""What IPython adds to Python: lines that start with `!`, `%` or `?`, and `%%` in front of a cell.

No such line is valid Python, so that they can be told from it by where a statement starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from keyword import iskeyword

from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex

# A string ends with its quotes, where its line ends, or with the cell.
_TOKEN = regex(
    r'''(?P<string> """(?:\\.|[^\\])*?(?:"""|\Z) | \'\'\'(?:\\.|[^\\])*?(?:\'\'\'|\Z)
          | "(?:\\.|[^"\\\r\n])*"? | '(?:\\.|[^'\\\r\n])*'? )
      | (?P<comment> \#[^\r\n]* )
      | (?P<blank> [ \t\f]+ | \\(?:\r\n|\r|\n) )
      | (?P<newline> \r\n | \r | \n )
      | (?P<open> [(\[{] ) | (?P<close> [)\]}] )
      | (?P<assign> (?<![=!<>:+\-*/%&|^@~])=(?!=)[ \t]*(?=!|%[ \t]*[A-Za-z_]) )
      | (?P<code> \w+ | . )''',
    re.VERBOSE | re.DOTALL,
)
_INDENT = regex(r"[ \t\f]*")
_CELL_MAGIC = regex(r"(?:[ \t]*[\r\n])*%%(\w*)([^\r\n]*)(?:\r\n|\r|\n|\Z)")
_LINE = regex(r"(?:[^\r\n\\]|\\(?:\r\n|\r|\n)?)*")
_WORDS = regex(r"([A-Za-z_]\w*)[ \t]+(?:(\w+)|[./~{\"'$])[^\r\n]*")
_INSTALLER = regex(r"(?:pip|conda|mamba|micromamba|uv)[ \t]+--?\w[^\r\n]*")
_VISIBLE = regex(r"[^\r\n]")
_SIGNS = ("!", "%", "?", ",", ";", "/")
_MAY_ESCAPE = regex(r"[!%?]|^[ \t\f]*[,;/]", re.MULTILINE)

_OF_PYTHON = frozenset({
    "capture", "debug", "ipytest", "memit", "prun", "snakeviz", "time", "timeit", "wandb",
})  # fmt: skip
"""Cell magics that run what stands below them as the other cells are run."""

_SHELLS = frozenset({"bash", "sh", "zsh", "shell", "sx", "system"})


@frozen
class CellMagic:
    """`%%name arguments` in front of a cell. The body begins at an offset of the cell."""

    name: str
    arguments: tuple[str, ...]
    body: int

    @property
    def is_python(self) -> bool:
        return self.name in _OF_PYTHON

    @property
    def is_shell(self) -> bool:
        """True if a shell runs the body: `%%bash`, `%%script --bg bash`."""
        if self.name != "script":
            return self.name in _SHELLS
        program = self._words[0] if self._words else ""
        return program.rpartition("/")[2] in _SHELLS

    @property
    def file(self) -> str | None:
        """The path that the body is written to."""
        is_written = self.name in ("writefile", "file") and len(self._words) == 1
        return self._words[0].strip("\"'") if is_written else None

    @property
    def appends(self) -> bool:
        """True if the file is not only what the body says."""
        return not {"-a", "--append"}.isdisjoint(self.arguments)

    @property
    def _words(self) -> list[str]:
        return [word for word in self.arguments if not word.startswith("-")]


@frozen
class Escape:
    """What IPython does not leave to Python: from its sign to the end of its last line."""

    span: Span
    is_indented: bool
    """It stands in a block, which may not run."""

    def moved(self, distance: int) -> Escape:
        """The same in a text in which the cell starts at an offset."""
        span = Span(self.span.start + distance, self.span.end + distance)
        return Escape(span, self.is_indented)


def cell_magic(text: str) -> CellMagic | None:
    """The magic that a cell starts with; below one that runs a cell, that of this cell."""
    match = _CELL_MAGIC.match(text)
    if match is None:
        return None
    magic = CellMagic(match[1], tuple(match[2].split()), match.end())
    inner = cell_magic(text[magic.body :]) if magic.is_python else None
    return magic if inner is None else replace(inner, body=magic.body + inner.body)


def is_typed_magic(text: str) -> bool:
    """True for a cell of one line that is a magic without its `%`: `pip install torch`."""
    line = text.strip()
    match = _WORDS.fullmatch(line)
    if match is None:
        return _INSTALLER.fullmatch(line) is not None
    return not (iskeyword(match[1]) or iskeyword(match[2] or ""))


def escapes(text: str) -> Iterator[Escape]:
    """The lines of IPython in a cell, and what is assigned from them."""
    if not _MAY_ESCAPE.search(text):
        return
    at = begin = indent = depth = 0
    last = ""  # of the tokens of this line
    while at < len(text):
        if at == begin:
            indent = _end(_INDENT, text, begin)
            if text.startswith(_SIGNS, indent):
                at = _end(_LINE, text, indent)
                yield Escape(Span(indent, at), indent > begin)
                continue
        token = _TOKEN.match(text, at)
        assert token is not None
        at = token.end()
        match token.lastgroup:
            case "open":
                depth += 1
            case "close":
                depth = max(0, depth - 1)
            case "assign" if not depth:
                sign, at = at, _end(_LINE, text, at)
                yield Escape(Span(sign, at), indent > begin)
            case "newline" if not depth:
                if last == "?":
                    yield Escape(Span(indent, token.start()), indent > begin)
                begin, last = at, ""
        if token.lastgroup in ("open", "close", "string", "code"):
            last = token.group()
    if last == "?":
        yield Escape(Span(indent, len(text)), indent > begin)


def without_escapes(text: str) -> str:
    """Python in place of what only IPython reads, at the same offsets."""
    pieces, end = [], 0
    for escape in escapes(text):
        pieces += [text[end : escape.span.start], _name(text[slice(*escape.span)])]
        end = escape.span.end
    return "".join([*pieces, text[end:]])


def _name(escape: str) -> str:
    """An unknown name in the first line of an escape, and blanks for the others."""
    first = re.split(r"[\r\n]", escape, maxsplit=1)[0]
    return "_" * len(first) + _VISIBLE.sub(" ", escape[len(first) :])


def _end(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    assert match is not None
    return match.end()
