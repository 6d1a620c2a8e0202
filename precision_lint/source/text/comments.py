"""Where the comments of a file are: a `#` in a string is none."""

from __future__ import annotations

import re
from collections.abc import Iterator

from precision_lint.model.finding import Span
from precision_lint.model.regex import regex
from precision_lint.project.discovery import Kind
from precision_lint.source.text.text import SourceText

# Strings come first, so that what looks like a comment in one is passed over.
_TOML = regex(
    r'''"""(?:\\.|[^\\])*?""" | \'\'\'.*?\'\'\' | "(?:\\.|[^"\\\n])*" | '[^'\n]*'
      | (?P<comment>\#[^\r\n]*)''',
    re.VERBOSE | re.DOTALL,
)
_JSON = regex(r'"(?:\\.|[^"\\\n])*" | (?P<comment>//[^\r\n]* | /\*.*?\*/)', re.VERBOSE | re.DOTALL)
_SHELL = regex(
    r"""\\. | '[^']*' | "(?:\\.|[^"\\])*" | (?<![^\s;&|()<>])(?P<comment>\#[^\r\n]*)""",
    re.VERBOSE | re.DOTALL,
)
_LINE = regex(r"^[ \t]*(?P<comment>#[^\r\n]*)", re.MULTILINE)
_YAML = regex(r"(?<!\S)#[^\r\n]*")
_HTML = regex(r"<!--.*?(?:-->|\Z)", re.DOTALL)


def comments(text: SourceText, kind: Kind) -> list[Span]:
    """The spans of the comments, in order. What follows a syntax error may be missing."""
    match kind:
        case "python":
            return list(_python(text))
        case "yaml":
            return list(_yaml(text))
        case "toml":
            return _matches(_TOML, text)
        case "json":
            return _matches(_JSON, text)
        case "shell" | "makefile":
            return _matches(_SHELL, text)
        case "dockerfile":
            return _matches(_LINE, text)
        case "markdown":
            return list(_markdown(text))
        case "notebook":
            return sorted(_notebook(text))


def without_comments(text: SourceText, kind: Kind) -> str:
    """The text of a file with blanks for its comments."""
    kept = list(text.text)
    for span in comments(text, kind):
        kept[span.start : span.end] = " " * (span.end - span.start)
    return "".join(kept)


def _matches(pattern: re.Pattern[str], text: SourceText) -> list[Span]:
    return [
        Span(*match.span("comment")) for match in pattern.finditer(text.text) if match["comment"]
    ]


def _python(text: SourceText) -> Iterator[Span]:
    import io
    import tokenize

    try:
        for token in tokenize.generate_tokens(io.StringIO(text.code, newline="").readline):
            if token.type == tokenize.COMMENT:
                start = text.offset(token.start[0], token.start[1] + 1)
                yield Span(start, start + len(token.string))
    except (tokenize.TokenError, SyntaxError):
        return


def _yaml(text: SourceText) -> Iterator[Span]:
    end = 0
    for scalar in _yaml_scalars(text):
        for match in _YAML.finditer(text.text, end, scalar.start):
            yield Span(*match.span())
        end = scalar.end
    for match in _YAML.finditer(text.text, end):
        yield Span(*match.span())


def _yaml_scalars(text: SourceText) -> Iterator[Span]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for token in yaml.scan(text.text, Loader=loader):
            if isinstance(token, yaml.ScalarToken):
                start, end = token.start_mark.index, token.end_mark.index
                if token.style in ("|", ">"):  # a comment may follow the bar
                    start = text.line_span(text.position(start).row).end
                yield Span(start, max(start, end))
    except yaml.YAMLError:
        return


def _markdown(text: SourceText) -> Iterator[Span]:
    """The comments of the document, and those inside of its fences."""
    from precision_lint.source.text.fences import fences

    end = 0
    for fence in fences(text.text):
        yield from _html(text, end, fence.body.start)
        if fence.format is not None:
            for start, stop in comments(text.with_text(text[fence.body]), fence.format):
                yield Span(fence.body.start + start, fence.body.start + stop)
        end = fence.body.end
    yield from _html(text, end, len(text.text))


def _notebook(text: SourceText) -> Iterator[Span]:
    """The comments of Python, and those of what IPython hands to others."""
    from precision_lint.source.text.notebook import NotebookText

    assert isinstance(text, NotebookText)
    yield from _python(text)
    for part, kind in text.foreign:
        for start, stop in comments(text.with_text(text[part]), kind):
            yield Span(part.start + start, part.start + stop)


def _html(text: SourceText, start: int, end: int) -> Iterator[Span]:
    for match in _HTML.finditer(text.text, start, end):
        yield Span(*match.span())
