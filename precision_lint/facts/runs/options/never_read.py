"""Options of precision that a program declares and never asks for.

Only those of argparse, and only where the values of its parser are seen to be read one by one
(`namespaces.py`): who gets the namespace as a whole, out of sight or as a table, may read any of
them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.code.namespaces import (
    is_in_sight,
    is_saved,
    keys_read,
    stays_at_home,
    texts_of,
)
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.interpreter.program import Program, keyword_of
from precision_lint.facts.settings.given import normal
from precision_lint.facts.settings.option_calls import destination
from precision_lint.facts.settings.vocabulary import chooses_precision
from precision_lint.model.regex import regex
from precision_lint.source.config.options import Option
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import last_name
from precision_lint.source.shell.words import UNKNOWN

_PLAIN = frozenset({"", "store", "store_true", "store_false", "BooleanOptionalAction"})
"""Actions that only keep a value."""
_NOTHING = frozenset({"no", "none", "false", "0", "fp32", "float32", "32"})
_CODE = (".py", ".ipynb")
_COMMENT = regex(r"^[ \t]*#[^\n]*", re.MULTILINE)
"""A line that is a comment."""


def never_read(run: RunEnvironment) -> Iterator[tuple[Option, ast.Call, ParsedPython]]:
    """The options of a launch that choose a precision and that no code of its program asks for."""
    if run.launch is None:
        return
    for name, option in run.words.items():
        value = option.value
        if UNKNOWN in option.text or str(value).lower() in _NOTHING:
            continue
        found = declared_in_vain(name, run.program) if chooses_precision(name, value) else None
        if found is not None:
            file, call = found
            yield option, call, file


def declared_in_vain(name: str, program: Program) -> tuple[ParsedPython, ast.Call] | None:
    """The call that declares an option which nothing reads; None if something may read it."""
    found = program.argument(name)
    if found is None:
        return None
    file, call = found
    if _action(call) not in _PLAIN:
        return None
    attribute = destination(call)
    is_at_home = file.text.path == program.path and stays_at_home(program)
    texts = (file.text.text,) if is_at_home else texts_of(program)
    if any(map(_reading(attribute, by_key=False), texts)):
        return None
    if not (is_at_home or is_in_sight(program)) or attribute in keys_read(program):
        return None
    if not is_saved(program):
        return found
    # What is saved may be loaded, and has keys then.
    is_loaded = any(map(_reading(attribute), texts))
    return None if is_loaded or _is_read_without(attribute, program.project) else found


def is_declared_in_vain(option: str, file: ParsedPython, project: Recording) -> bool:
    """True for an option that a program declares in its own file, and that nothing reads."""
    program = Program(file.text.path, project)
    found = declared_in_vain(normal(option.lstrip("-")), program)
    return found is not None and found[0].text.path == file.text.path


def is_read_elsewhere(name: str, program: Program) -> bool:
    """True if other programs may have an option, as they import what declares it, and read it."""
    found = program.argument(name)
    if found is None or not program.project.users(found[0].text.path):
        return False
    return _is_read_without(destination(found[1]), program.project)


def _is_read_without(name: str, project: Recording) -> bool:
    """True if code that does not declare an option reads one of its name."""
    reads = _reading(name)
    word = re.escape(name).replace("_", "[-_]")
    declares = re.compile(rf"add_argument\([^)]*[\"']--?{word}\b")
    files = (path for path in project.config_files.project.files if path.suffix in _CODE)
    texts = (text for text in map(project.config_files.text, files) if name in text)
    return any(reads(text) and not declares.search(text) for text in texts)


def _action(call: ast.Call) -> str:
    match keyword_of(call, "action"):
        case ast.Constant(value=str(name)):
            return name
        case node:
            return last_name(node)


def _reading(name: str, by_key: bool = True) -> Callable[[str], bool]:
    """Whether code has an attribute of a name, a pattern with it (`case Namespace(amp=True)`), or a
    text of it that is no key in a display. Where all that is done with a namespace is seen, a text
    counts that says an attribute, `getattr(args, "amp")`, or is a word, `"--amp" in sys.argv`.
    """
    word = re.escape(name)
    flag = word.replace("_", "[-_]")
    texts = rf"([\"']){word}\\?\1(?!\s*:)"
    if not by_key:
        texts = rf"(?:attr\w*|get_default)\([^()]*[\"']{word}\b|[\"']--?{flag}[\"']\s*(?:in|not)\b"
    pattern = re.compile(
        rf"\.\s*{word}\b|{texts}|\b{word}\s*:="
        rf"|^[ \t]*case\b[^\n]*\b{word}[ \t]*=",
        re.MULTILINE,
    )

    def reads(text: str) -> bool:
        is_there = pattern.search(text) is not None
        return is_there and pattern.search(_COMMENT.sub("", text)) is not None

    return reads
