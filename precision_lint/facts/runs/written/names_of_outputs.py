"""Variables of scripts that nothing is started with: they name outputs, and are printed.

`precision=bf16` in `tee log_${precision}.txt` says what a run is called, and not what it does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from precision_lint.facts.frameworks.launches import launch
from precision_lint.facts.project.facts import Recording
from precision_lint.model.regex import regex
from precision_lint.source.config.config_file import ParsedConfig

_PRINTING = regex(r"[ \t]*(?:echo|printf|log|info|warn|die|error|logger)\b")
_STARTS = regex(r"\b(?:python[\d.]*|torchrun|deepspeed|accelerate|srun|bash|sh|eval|xargs)\b")
_FILES = regex(r"[ \t]*(?:mkdir|rm|touch|tee|grep|cat|ls|tail|head|cp|mv|test|\[+)\b")
_OUTPUT = r"(?:log|out|save|result|exp|run_?name|job|wandb|tag|title|summary|session|name)"
_TO_OUTPUT = regex(
    rf"(?:>>?|\btee[ \t]+(?:-a[ \t]+)?|--?[\w.-]*{_OUTPUT}[\w.-]*[ \t=])[ \t]*[\"']?[^\s\"'|;]*$",
    re.IGNORECASE,
)
"""What stands before a variable that is a part of the name of an output."""
_NAMED = regex(
    rf"[ \t]*(?:export[ \t]+|local[ \t]+|readonly[ \t]+)?(\w*{_OUTPUT}\w*)=", re.IGNORECASE
)
_COMMENT = regex(r"[ \t]*#")
_CONTINUED = regex(r"\\\r?\n")
_PART = regex(r"[\w./:-]")
"""A character beside a variable that makes one word of both."""
_LONGEST = 2_000
"""Characters of a line; a longer one may be anything."""
_HANDING = regex(
    r"(?:^|[\s;&])(?:source|\.|eval|envsubst|declare|typeset)[ \t]|\$\{!|<<", re.MULTILINE
)
"""What may use a variable without its name: another script, and text that is worked out."""
_EXPORTED = regex(r"\bset[ \t]+-a\b|allexport")


def names_outputs(name: str, file: ParsedConfig) -> bool:
    """True if a script only prints a variable, and puts it into the names of outputs."""
    text = file.text.text
    if re.search(rf"\b(?:export|readonly|declare)\b[^\n;]*\b{name}\b", text):
        return False  # a program may read it
    uses = [*_uses(name, text)]
    if any(len(line) > _LONGEST for line, _, _ in uses):
        return False
    if _EXPORTED.search(text) or not uses:
        return False
    return all(_is_name(*each, text) for each in uses)


def is_never_used(name: str, file: ParsedConfig, project: Recording) -> bool:
    """True if a script that starts programs assigns a variable and mentions it nowhere else, no
    other script reads it there, and no program reads it from the environment.
    """
    script = file.script
    if script is None or not any(map(launch, script.commands)):
        return False
    text = _CONTINUED.sub(" ", file.text.text)
    if _EXPORTED.search(text) or _HANDING.search(text):
        return False
    alone = re.compile(
        rf"[ \t]*(?:local[ \t]+|readonly[ \t]+)?{name}=(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s\"';&|()`]*)"
        r"[ \t]*;?[ \t]*(?:#.*)?"
    )
    mentioned = re.compile(rf"\b{name}\b")
    lines = (line for line in text.splitlines() if not _COMMENT.match(line))
    if not all(alone.fullmatch(line) for line in lines if mentioned.search(line)):
        return False
    own = re.escape(file.text.path.name).encode()
    return not project.other_file_matches(rb"(?:^|[\s;&])(?:source|\.)[ \t][^\n]*" + own) and not (
        project.python_source_matches(rb"[\"']" + name.encode() + rb"[\"']")
    )


def _uses(name: str, text: str) -> Iterator[tuple[str, int, int]]:
    """The lines in which a variable is used, each with where that is."""
    used = re.compile(rf"\$(?:{name}\b|\{{{name}\b[^{{}}]*\}})", re.ASCII)
    own = re.compile(rf"[ \t]*{name}=[\"']?\$\{{?{name}\b", re.ASCII)
    for line in _CONTINUED.sub(" ", text).splitlines():
        if _COMMENT.match(line) or own.match(line):
            continue
        for match in used.finditer(line):
            yield line, match.start(), match.end()


def _is_name(line: str, start: int, end: int, text: str) -> bool:
    if _PRINTING.match(line):
        return not _STARTS.search(line)
    if _TO_OUTPUT.search(line[:start]):
        return True
    is_part = bool(_PART.match(line, end) or _PART.fullmatch(line[start - 1 : start]))
    if is_part and _FILES.match(line):
        return True
    named = _NAMED.match(line)
    if named is None or not is_part or _STARTS.search(line) or " --" in line:
        return False
    further = [*_uses(named[1], text)]
    return all(len(each[0]) <= _LONGEST and _is_of_output(*each) for each in further)


def _is_of_output(line: str, start: int, end: int) -> bool:
    """True where the name of an output is used as such, or as a part of another one."""
    if _PRINTING.match(line) or _FILES.match(line) or _TO_OUTPUT.search(line[:start]):
        return True
    return _NAMED.match(line) is not None and not _STARTS.search(line) and " --" not in line
