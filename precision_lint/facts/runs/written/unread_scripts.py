"""What a script says of precision that no run understands: words, variables, here-documents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from precision_lint.facts.frameworks.launches import Launch, handles_words, launch
from precision_lint.facts.frameworks.sources import Occurrence, typed
from precision_lint.facts.runs.written.understood import Written, written_at
from precision_lint.facts.runs.written.unread_texts import gives_precision, of_lines, of_options
from precision_lint.facts.settings.vocabulary import (
    is_about_precision,
    is_setting_of_precision,
    names_precision,
)
from precision_lint.model.finding import Span
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.options import Option, assignments, options, pairs
from precision_lint.source.shell.commands import PRINTING, Command, inner_script
from precision_lint.source.shell.variables import Assigned, Word
from precision_lint.source.shell.words import UNKNOWN

Known: TypeAlias = "frozenset[Written]"

_DEFAULT = regex(r"""["']?\$\{\w+:?[-=]["']?([^{}]*?)["']?\}["']?""", re.ASCII)
"""`${FLAGS:---fp16 --seed 1}`, the whole value of a variable."""
_STARTING = regex(
    r"\b(?:python[\d.]*|torchrun|deepspeed|accelerate launch|srun|bash)[ ]+\S|\.py(?:[ ]|$)"
)
"""What a text holds that shows a command."""
_SENDING = regex(r"[^\n;&#]*[|>]")
"""What follows a command whose output goes to another one, or to a file."""
_PAIRS = regex(r"[A-Za-z]\w*=[^\s,]*(?:,[^\s,]*)*", re.ASCII)
"""`path=a,dtype=half`."""
_GETS_PAIRS = regex(
    r"(?:^|[_-])(?:\w*args|param(?:eter)?s|overrides?|opt(?:ion)?s|config|cfg|set|settings)$",
    re.IGNORECASE,
)
"""Names of options and variables that get settings by their names: `--model_args`."""
_OF_CALLER = regex(
    r"""["']?(?:\$(?:\d|\{\d+\})|\$\{\w+\#{1,2}[^{}]*\}"""
    r"""|\$\([ ]*echo[ ]+["']?\$\{?\w+\}?["']?[ ]*\|[ ]*(?:cut|sed|awk)\b.*\))["']?""",
    re.ASCII,
)
"""`DTYPE="$2"`, `DTYPE=${1#*=}`, `DTYPE=$(echo $word | cut -f2 -d=)`: the words of the script
itself, which whoever starts it gives.
"""


def of_launch(file: ParsedConfig, started: Launch, known: Known) -> Iterator[Occurrence]:
    """What the words of a launch say of precision, and no run understands."""
    return _of_words(file, (*started.launcher, *started.words), known)


def beside_launches(file: ParsedConfig, known: Known) -> Iterator[Occurrence]:
    """What the other commands, the variables and the here-documents of a script say."""
    assert file.script is not None
    for command in file.script.commands:
        if launch(command) is None and not handles_words(command):
            yield from _of_words(file, command.words, known)
    for name, assigned in file.script.assigned:
        yield from _of_variable(file, name, assigned, known)
    parts = [part for part in file.embedded if part.heredoc is not None]
    parsed = {part.heredoc.body for part in parts if part.heredoc and part.file.python is None}
    for body in file.script.bodies:
        if body not in parsed:
            yield from (one for one in of_lines(file, body) if not _is_within(one, known))
    for command in file.script.commands:
        yield from _printed(file, command, known)


def _is_within(one: Occurrence, known: Known) -> bool:
    """True for a line in a program whose calls are understood."""
    here, span = one.file.text.path, one.origin.span
    return any(path == here and at.start <= span.end and span.start <= at.end for path, at in known)


def _printed(file: ParsedConfig, command: Command, known: Known) -> Iterator[Occurrence]:
    """What `echo python train.py --bf16` says: a command that is printed, and not started."""
    if not command.words or command.words[0].text not in PRINTING:
        return
    rest = command.words[1:]
    started = launch(replace(command, words=rest)) if rest else None
    is_clear = _STARTING.search(" ".join(word.text for word in rest)) is not None
    words = (*started.launcher, *started.words) if started is not None and is_clear else ()
    written = tuple(word for word in words if word.verbatim and word.elsewhere is None)
    found = [*_of_words(file, written, known)]
    for word in rest:
        if word.elsewhere is None and _STARTING.search(word.text):
            found += of_options(file, word.span)
    if not found:
        return
    text, end = file.text.text, command.words[-1].span.end
    is_sent = _SENDING.match(text, end) is not None
    fate = "; who gets that is not followed" if is_sent else ", and starts nothing"
    for one in found:
        yield replace(one, reason=f"`{command.words[0].text}` prints it{fate}")


def _of_words(file: ParsedConfig, words: tuple[Word, ...], known: Known) -> Iterator[Occurrence]:
    given = [*options(words), *assignments(words), *pairs(words)]
    for option in given:
        section, _, name = option.name.rpartition(".")
        found = Occurrence(option.name, option.value, option, file)
        is_one = is_setting_of_precision(name, typed(option.value), section.rpartition(".")[2])
        if (is_one or _gives_pairs(option)) and written_at(found) not in known:
            yield found
    taken = {id(word) for option in given for word in option.words}
    read = _parsed_words(file)
    for word in words:
        bare = word.text.removeprefix("-")
        if id(word) in taken or bare.startswith("-"):
            continue
        is_option = bare != word.text and is_about_precision(bare)
        is_text = " " in bare and word.span not in read and word.elsewhere is None
        if is_text and (found_in := [*of_lines(file, word.span)]):
            yield from found_in
        elif is_option or names_precision(bare) or (is_text and gives_precision(bare)):
            found = Occurrence(bare, True, Option(bare, True, (word,)), file)
            if written_at(found) not in known:
                yield found


def _gives_pairs(option: Option) -> bool:
    """True for an option that gets settings by their names, `--model_args path=a,dtype=half`, and
    for a word that is no option and gives several.
    """
    word, text = option.words[0].text, option.text
    if not word.startswith("-"):
        return "," in word and _are_pairs(word)
    return _GETS_PAIRS.search(option.name) is not None and _are_pairs(text)


def _are_pairs(text: str) -> bool:
    return _PAIRS.fullmatch(text) is not None and gives_precision(text)


@fact
def _parsed_words(file: ParsedConfig) -> frozenset[Span]:
    """The words of commands that are scripts, and that are read as such."""
    assert file.script is not None
    inner = (inner_script(command.words) for command in file.script.commands)
    return frozenset(word.span for word in inner if word is not None)


def _of_variable(
    file: ParsedConfig, name: str, assigned: Assigned, known: Known
) -> Iterator[Occurrence]:
    """What is assigned to a variable: a precision, or words of a command line."""
    assert file.script is not None
    path, span = file.text.path, assigned.span
    text = assigned.text.chars
    if UNKNOWN in text and (default := _DEFAULT.fullmatch(file.text[span].partition("=")[2])):
        text = default[1]
    value = None if UNKNOWN in text else typed(text)
    is_default = text is not assigned.text.chars and gives_precision(text)
    is_default = is_default or (_GETS_PAIRS.search(name) is not None and _are_pairs(text))
    if is_default or (value is not None and is_setting_of_precision(name, value)):
        # The options in it are understood then, or the one that takes it.
        is_known = any(at == path and span.start <= one.start < span.end for at, one in known)
        if not is_known and not _is_filled_in(file, name, assigned, known):
            yield Occurrence(name, value, assigned, file)
        return
    if _OF_CALLER.fullmatch(file.text[span].partition("=")[2]):
        if is_setting_of_precision(name, None) and not _is_in_known(file, name, known):
            yield Occurrence(name, None, assigned, file)
        return
    if assigned.is_array and is_about_precision(name) and _are_precisions(assigned):
        yield Occurrence(name, None, assigned, file)
        return
    is_list = assigned.is_array or not assigned.text.chars
    words = assigned.elements if is_list else tuple(file.script.places.split(assigned.text))
    if len(words) > 1 or assigned.is_array or text.lstrip(" \t\n\\").startswith("-"):
        yield from _of_words(file, words, known)


def _are_precisions(assigned: Assigned) -> bool:
    """True for `precisions=(fp32 bf16)`, which a loop goes through."""
    names = [word.text for word in assigned.elements]
    return bool(names) and not any(
        name.startswith("-") or not is_setting_of_precision("precision", name) for name in names
    )


def _is_in_known(file: ParsedConfig, name: str, known: Known) -> bool:
    """True for a variable that is part of a setting which is known: `--dtype "$DTYPE"`."""
    used = expanded(name)
    return any(path == file.text.path and used.search(file.text[span]) for path, span in known)


def expanded(name: str) -> re.Pattern[str]:
    """A pattern for the uses of a variable."""
    return re.compile(rf"\$(?:{name}\b|\{{{name}\b)", re.ASCII)


def _is_filled_in(file: ParsedConfig, name: str, assigned: Assigned, known: Known) -> bool:
    """True for the value of a variable in a here-document that writes a setting which is known."""
    assert file.script is not None
    used = expanded(name)
    return any(
        heredoc.body.start <= span.start < heredoc.body.end and used.search(file.text[span])
        for heredoc in file.script.heredocs
        if (value := heredoc.values.get(name)) is not None and value.span == assigned.span
        for path, span in known
        if path == file.text.path
    )
