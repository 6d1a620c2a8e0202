"""Words of a command line that the program's own parser refuses, or reads as something else."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.frameworks.sources import Occurrence
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.interpreter.program import keyword_of
from precision_lint.facts.settings.given import normal
from precision_lint.facts.settings.vocabulary import is_about_precision, names_precision
from precision_lint.model.frozen import frozen
from precision_lint.source.config.options import Option
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import dotted, last_name, with_defaults
from precision_lint.source.shell.words import UNKNOWN

_NO = frozenset({"false", "no", "0", "off", "none"})
_LITERALS = {"eval": "NameError: name {!r} is not defined"} | dict.fromkeys(
    ("literal_eval", "ast.literal_eval"), "ValueError: malformed node or string"
)
"""The types of options that read Python, and what they raise for `true`."""
_MOST_CHOICES = 12
_TRUTHS = frozenset({"true", "false", "yes", "no", "0", "1"})


@frozen(slots=False)
class Refused:
    """A word, the declaration of its option, what the parser takes, and what happens."""

    written: Occurrence
    declaration: ast.expr
    file: ParsedPython
    reason: str
    says: str
    raises: bool = True


def refused(run: RunEnvironment) -> Iterator[Refused]:
    """The words of a launch about precision that the program's parser does not take as meant."""
    for name, option in run.words.items():
        value = option.value
        if not isinstance(value, str) or UNKNOWN in option.text:
            continue
        if is_about_precision(name) or names_precision(value):
            yield from _judged(name, value, option, run)


def _judged(name: str, value: str, option: Option, run: RunEnvironment) -> Iterator[Refused]:
    found = run.program.argument(name)
    written = Occurrence(name, value, option, run.file)
    if found is None:
        yield from _switched_on(name, value, written, option, run)
        return
    file, call = found
    kind = keyword_of(call, "type")
    kind_name = "" if kind is None else dotted(kind) or "?"
    flag = f"--{option.name}"
    if _is_switch(call):
        if value.lower() in _TRUTHS and (error := _extra_word(option, run)):
            yield Refused(written, call, file, f"`{flag}` takes no value", error)
    elif kind_name == "bool" and value.lower() in _NO:
        reason = f"`{name}` is on, because its type is `bool`"
        says = "bool('False') is True: any word but an empty one is true"
        yield Refused(written, call, file, reason, says, raises=False)
    elif kind_name in _LITERALS and value in ("true", "false"):
        error = _LITERALS[kind_name].format(value)
        reason = f"`{kind_name}` knows `{value.title()}`"
        yield Refused(written, call, file, reason, error)
    elif kind_name in ("", "str") and keyword_of(call, "nargs") is None:
        choices = _choices(call)
        if choices and value not in choices:
            shown = ", ".join(repr(one) for one in choices[:_MOST_CHOICES])
            reason = f"its parser takes {shown}"
            says = f"error: argument {flag}: invalid choice: {value!r} (choose from {shown})"
            yield Refused(written, call, file, reason, says)


def _switched_on(
    name: str, value: str, written: Occurrence, option: Option, run: RunEnvironment
) -> Iterator[Refused]:
    """`--bf16 false` for absl, which takes no second word, and `false` for Fire, a text to it."""
    reason = f"`{name}` is on"
    if value.lower() in _NO and len(option.words) == 2:
        for definer in ("DEFINE_bool", "DEFINE_boolean"):
            for file, call in run.program.calls(definer):
                match call.args:
                    case [ast.Constant(value=str(flag)), *_] if normal(flag) == name:
                        says = f"absl reads --{option.name}, and {value!r} as another argument"
                        yield Refused(written, call, file, reason, says, raises=False)
    if value in ("false", "no", "off"):
        for _, started in run.program.calls("Fire"):
            for each in started.args:
                for file, function in run.program.functions(last_name(each)):
                    for parameter, default in with_defaults(function.args):
                        if parameter.arg == name and default is not None and _is_boolean(default):
                            says = f"Fire gives the text {value!r}, which is true; it knows False"
                            yield Refused(written, default, file, reason, says, raises=False)


def _is_boolean(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


def _is_switch(call: ast.Call) -> bool:
    action = keyword_of(call, "action")
    names = ("store_true", "store_false")
    is_named = isinstance(action, ast.Constant) and action.value in names
    return is_named or last_name(action) == "BooleanOptionalAction"


def _extra_word(option: Option, run: RunEnvironment) -> str:
    """What argparse says of a value for a switch; empty if something else may take the word."""
    if len(option.words) == 1:
        return f"error: argument --{option.name}: ignored explicit argument {option.value!r}"
    takers = ("parse_known_args", "parse_known_intermixed_args", "add_subparsers")
    if any(run.program.calls(name) for name in takers):
        return ""
    for _, call in run.program.calls("add_argument"):
        match call.args:
            case [ast.Constant(value=str(name)), *_] if name.startswith("-"):
                pass
            case _:  # a positional argument
                return ""
    return f"error: unrecognized arguments: {option.value}"


def _choices(call: ast.Call) -> list[str]:
    """The words that an option offers; empty if they are not all known."""
    match keyword_of(call, "choices"):
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            names = [item.value for item in items if isinstance(item, ast.Constant)]
            if len(names) == len(items):
                return [name for name in names if isinstance(name, str)]
    return []
