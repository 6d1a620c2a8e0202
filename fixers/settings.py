"""Edits of configuration files: remove, change or add settings by span, without a dump.

Every fix is verified: the edited text is parsed again, and may contain only the intended change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from precision_lint.fixers.anchors import shared
from precision_lint.fixers.lines import is_comment, rest_of_line, whole_lines
from precision_lint.fixers.members import with_member, without_members
from precision_lint.fixers.spelling import Style, Written, quotes_of, spelled
from precision_lint.fixers.verified import ScriptChange, TreeChange, verified
from precision_lint.fixers.words import (
    needs_no_quotes,
    value_of,
    with_option,
    without_assignment,
    without_option,
)
from precision_lint.model.finding import Applicability, Edit, Fix, Span
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.options import Option
from precision_lint.source.config.settings_tree import Entry, Mapping, Member, Scalar, mappings
from precision_lint.source.shell.variables import Assigned

Origin: TypeAlias = Member | Option | Assigned

_SEPARATOR = regex(r"[ \t]?[:=][ \t]?")
_BLOCK_HEADER = regex(r"[|>][-+0-9]*([^\r\n]*)")
_BARE_KEY = regex(r"[\w-]+", re.ASCII)


def remove_settings(file: ParsedConfig, origins: Sequence[Origin], message: str) -> Fix | None:
    """Remove settings from their file. A mapping that loses all of its members becomes `{}`.

    Unsafe if a comment on the same line loses its subject, or if an alias refers to the mapping.
    The comment itself stays. None if deleting is not enough, or if a duplicate of the key or a
    merged mapping would still define the setting.
    """
    members = [origin for origin in origins if isinstance(origin, Member)]
    if members:
        return _without_members(file, members, message) if len(members) == len(origins) else None
    return _without_words(file, [each for each in origins if not isinstance(each, Member)], message)


def replace_value(
    file: ParsedConfig,
    origin: Origin,
    value: Written,
    message: str,
    applicability: Applicability = Applicability.SAFE,
) -> Fix | None:
    """Write another value, in the quotes and the spelling of the old one.

    None if the value is written or also used elsewhere, through an alias or a variable.
    Unsafe if an alias refers to the enclosing mapping.
    """
    if isinstance(origin, Member):
        return _with_value(file, origin, value, message, applicability)
    if file.script is None or (span := value_of(file.text, origin)) is None:
        return None
    literal = value if isinstance(value, str) else spelled(value, "shell", Style(), file.text[span])
    if literal is None or not needs_no_quotes(literal):
        return None
    becomes = dict.fromkeys(range(*span), "") | {span.start: literal}
    edits = [Edit(span, literal)]
    return verified(file, edits, ScriptChange(becomes), message, applicability)


def add_setting(
    file: ParsedConfig,
    mapping: Mapping,
    after: Entry,
    key: str,
    value: Written,
    message: str,
    applicability: Applicability = Applicability.SAFE,
) -> Fix | None:
    """Write a new setting after another one of the same mapping, in its style.

    None if the key already exists. Unsafe if an alias refers to the mapping.
    """
    if file.format == "shell" or mapping.get(key) is not None:
        return None
    style = _style(file, after)
    literal = spelled(value, file.format, style)
    name = _key(file, after, key, style)
    if literal is None or name is None:
        return None
    new = Entry(Scalar(after.span, key), Scalar(after.span, value), after.span)
    path = file.text[Span(after.span.start, after.key.span.start)]  # of a dotted key of TOML
    written = f"{path}{name}{_separator(file, after)}{literal}"
    edits = with_member(file.text, mapping, after, written)
    if id(mapping) in shared(file).below:
        applicability = min(applicability, Applicability.UNSAFE)
    return verified(file, edits, TreeChange(added={after: new}), message, applicability)


def add_option(
    file: ParsedConfig,
    after: Option,
    words: str,
    message: str,
    applicability: Applicability = Applicability.SAFE,
) -> Fix | None:
    """Write further words, such as `--bf16 True`, after an option, on their own line if the option
    has its own.
    """
    last = after.words[-1].traced
    if file.script is None or not last.chars:  # an empty word has no last character
        return None
    if (edit := with_option(file.text, after, words)) is None:
        return None
    change = ScriptChange({last.origins[-1]: f"{last.chars[-1]} {words}"})
    return verified(file, [edit], change, message, applicability)


# Members


def _without_members(file: ParsedConfig, members: Sequence[Member], message: str) -> Fix | None:
    removed = {member.entry for member in members}
    groups = {id(member.mapping): member.mapping for member in members}
    edits: list[Edit] = []
    safe = True
    for mapping in groups.values():
        entries = [entry for entry in mapping.entries if entry in removed]
        kept = [entry for entry in mapping.entries if entry not in removed]
        left = Mapping(mapping.span, tuple(kept), mapping.flow)
        if any(
            not isinstance(entry.value, Scalar | Mapping) or left.get(entry.name or "")
            for entry in entries
        ):
            return None
        taken, commented = without_members(file, mapping, entries)
        if not taken:
            return None
        edits += taken
        safe &= not commented and not _is_needed(file, mapping)
    applicability = Applicability.SAFE if safe else Applicability.UNSAFE
    return verified(file, edits, TreeChange(removed), message, applicability)


def _with_value(
    file: ParsedConfig, member: Member, value: Written, message: str, applicability: Applicability
) -> Fix | None:
    entry, old = member.entry, member.entry.value
    last = member.mapping.get(entry.name or "")
    if not isinstance(old, Scalar) or last is None or last.entry is not entry:
        return None
    is_written_here = entry.span.start <= old.span.start and old.span.end <= entry.span.end
    if id(old) in shared(file).nodes or not is_written_here or file.format == "shell":
        return None
    raw = file.text[old.span]
    literal = spelled(value, file.format, _style(file, entry), raw)
    if literal is None:
        return None
    if not raw:  # `key:` alone is null
        literal = f" {literal}"
    elif header := _BLOCK_HEADER.match(raw):  # `key: |  # comment`
        literal += header[1]
    if id(member.mapping) in shared(file).below:
        applicability = min(applicability, Applicability.UNSAFE)
    change = TreeChange(replaced={old: value})
    return verified(file, [Edit(old.span, literal)], change, message, applicability)


def _is_needed(file: ParsedConfig, mapping: Mapping) -> bool:
    """True if other code may depend on a key: through an alias, or Python code that uses a dict."""
    if file.python is not None:
        return not mapping.flow or file.text[mapping.span].startswith(("{", "dict("))
    return id(mapping) in shared(file).below


def _style(file: ParsedConfig, model: Entry) -> Style:
    """How the value of an entry is written, or its key if the value is not a string."""
    is_text = isinstance(model.scalar, str)
    quotes = quotes_of(file.text[(model.value if is_text else model.key).span])
    if file.format == "yaml":
        return replace(_usual(file), quotes=quotes)
    # A bare key of TOML does not show how strings are quoted.
    return Style(quotes or '"')


@fact
def _usual(file: ParsedConfig) -> Style:
    """The style of the first quotes and booleans in a file."""
    literals = [
        (file.text[entry.value.span], entry.value.value)
        for mapping in mappings(file.documents)
        for entry in mapping.entries
        if isinstance(entry.value, Scalar)
    ]
    quotes = (quotes_of(raw) for raw, _ in literals if quotes_of(raw))
    booleans = (raw for raw, value in literals if isinstance(value, bool))
    return Style(usual_quotes=next(quotes, '"'), boolean=next(booleans, "true"))


def _key(file: ParsedConfig, model: Entry, key: str, style: Style) -> str | None:
    quotes = quotes_of(file.text[model.key.span])
    if file.format == "toml" and not quotes and _BARE_KEY.fullmatch(key):
        return key
    return spelled(key, file.format, Style(quotes, style.usual_quotes))


def _separator(file: ParsedConfig, model: Entry) -> str:
    """The text between key and value."""
    between = file.text[Span(model.key.span.end, max(model.key.span.end, model.value.span.start))]
    if _SEPARATOR.fullmatch(between):
        return between
    return " = " if file.format == "toml" else ": "


# Words


def _without_words(
    file: ParsedConfig, origins: Sequence[Option | Assigned], message: str
) -> Fix | None:
    script = file.script
    if script is None:
        return None
    edits: list[Edit] = []
    gone: list[int] = []
    unset: list[str] = []
    safe = True
    for origin in origins:
        if isinstance(origin, Option):
            edit = without_option(file.text, origin)
            end = origin.words[-1].span.end
            gone += (offset for word in origin.words for offset in word.traced.origins)
        else:
            names = [name for name, each in script.variables.items() if each is origin]
            edit = without_assignment(script, *names) if names else None
            end = origin.span.end
            unset += names
            gone += range(*whole_lines(file.text, origin.span))
        if edit is None:
            return None
        edits.append(edit)
        safe &= not is_comment(rest_of_line(file.text, end))
    change = ScriptChange(dict.fromkeys(gone, ""), unset)
    applicability = Applicability.SAFE if safe else Applicability.UNSAFE
    return verified(file, edits, change, message, applicability)
