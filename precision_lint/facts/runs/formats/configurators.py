"""Programs whose settings are their global variables, which a file that they execute overrides.

`exec(open("configurator.py").read())` of nanoGPT takes the words of the command line in their
order: `config/gpt2.py` is executed as well, and `--dtype=float16` assigns a global that the program
has assigned before. A word that is a literal of Python is one, and any other a text.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

from precision_lint.facts.frameworks.sources import CodePlace, Occurrence
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.interpreter.known import Known
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.config.options import Option
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax_tree import syntax_tree
from precision_lint.source.shell.words import UNKNOWN

_OVERRIDING = regex(r"\bglobals\(\)(?:\[.+\]\s*=(?!=)|\.update\()")
_WORDS = regex(r"\bargv\b")

Value = Callable[[ast.expr, ParsedPython], "Known | None"]


@frozen(slots=False)
class Execution:
    """The statement of a file that executes another file, by its index, and the name of that."""

    index: int
    statement: ast.stmt
    name: str


def execution(file: ParsedPython, project: Recording) -> Execution | None:
    """Where a file lets the words of the command line override its global variables."""
    found = _execution(file)
    if found is None:
        return None
    path = project.config_files.find(found.name, file.text.path)
    text = project.config_files.text(path) if path is not None else ""
    return found if _OVERRIDING.search(text) and _WORDS.search(text) else None


@fact
def _execution(file: ParsedPython) -> Execution | None:
    if "exec(" not in file.text.text:
        return None
    for index, statement in enumerate(file.tree.body):
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Name(id="exec"), args=[source, *_])):
                path = next(_named(source), "")
                if path:
                    return Execution(index, statement, path)
    return None


def _named(source: ast.expr) -> Iterator[str]:
    """The file in `open("a.py").read()`, `open(os.path.join("tools", "a.py")).read()`."""
    for node in walk(source):  # level by level
        match node:
            case ast.Call(func=ast.Attribute(attr="join"), args=parts):
                names = [one.value for one in parts if isinstance(one, ast.Constant)]
                if len(names) == len(parts) and str(names[-1]).endswith(".py"):
                    yield "/".join(map(str, names))
            case ast.Constant(value=str(name)) if name.endswith(".py"):
                yield name


def overridden(
    name: str, before: Known | None, file: ParsedPython, run: RunEnvironment, value: Value
) -> Known | None:
    """A global variable after the execution, given what it was before."""
    known = before
    for word in run.launch.words if run.launch is not None else ():
        option, is_option, text = word.text.partition("=")
        if is_option:
            if option == f"--{name}":
                known = _given(name, text, before, Option(name, text, (word,)), run)
        elif UNKNOWN in option:
            known = None
        elif option.endswith(".py"):
            known = _executed(name, option, known, file, run, value)
    return known


def _given(
    name: str, text: str, before: Known | None, option: Option, run: RunEnvironment
) -> Known | None:
    """What `--name=text` assigns: it has the type of what was there."""
    if UNKNOWN in text:
        return None
    given: object
    try:
        given = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        given = text
    if before is not None and type(given) is not type(before.value):
        return None  # it raises
    if not isinstance(given, str | bool | int | float):
        return None
    return Known(given, Occurrence(name, given, option, run.file))


def _executed(
    name: str,
    reference: str,
    before: Known | None,
    file: ParsedPython,
    run: RunEnvironment,
    value: Value,
) -> Known | None:
    """A global variable after a file of settings: what that assigns at its top."""
    found = _found(reference, file, run)
    settings = run.program.project.module(found) if found is not None else None
    shown = run.program.project.config_files.at(found) if found is not None else None
    if settings is None or shown is None:
        return None
    stores = syntax_tree(settings).stores(settings.tree, name)
    if not stores:
        return before
    last = stores[-1]
    for statement in settings.tree.body:
        match statement:
            case ast.Assign(targets=[target], value=given) if target is last:
                known = value(given, settings)
                if known is None or not known.is_plain:
                    return known
                place = CodePlace(settings.span_of(statement))
                return Known(known.value, Occurrence(name, known.value, place, shown))
    return None


def _found(reference: str, file: ParsedPython, run: RunEnvironment) -> Path | None:
    files = run.program.project.config_files
    directory = run.launch.directory if run.launch is not None else None
    return files.find(reference, run.file.text.path, directory) or files.find(
        reference, file.text.path
    )
