"""Options about precision that the program's own parser does not have.

Only parsers that are plain: made and used in the file that is started, by argparse, with every
option in sight. To argparse, `--mixed-precision` is no `--mixed_precision`, but `--mixed_p` is.
Of a function that Fire calls, the parameters are all the options (`fire_words.py`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.interpreter.program import Program, keyword_of
from precision_lint.facts.runs.options.fire_words import not_taken_by_fire, parameters_of
from precision_lint.facts.settings.given import normal
from precision_lint.facts.settings.vocabulary import is_about_precision
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.source.config.options import Option, options
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import last_name, qualified
from precision_lint.source.python.syntax_tree import syntax_tree
from precision_lint.source.shell.words import UNKNOWN

_MORE = (
    "parse_known_args", "parse_known_intermixed_args", "add_subparsers", "add_arguments",
    "_add_action", "_add_container_actions", "HfArgumentParser", "TrlParser",
)  # fmt: skip
"""Methods after which a parser takes other words as well, and parsers of other kinds."""
_ELSEWHERE = ("sys.argv", "SystemExit")
_LIKE = 3
"""Declared options that a message names."""


@frozen
class Undeclared:
    """An option that a program does not have, what declares the others, and what is raised."""

    option: Option
    node: ast.Call | FunctionDefinition
    file: ParsedPython
    reason: str
    error: str
    note: str


def undeclared(run: RunEnvironment) -> Iterator[Undeclared]:
    """The options of a launch that its program does not know."""
    if run.launch is None or not run.program.files:
        return
    file = run.program.files[0]
    yield from _of_fire(run, file)
    made = _parser(file)
    names = _names(made, file, run.program) if made is not None else {}
    for option in options(run.launch.words) if names else ():
        given = option.words[0].text.partition("=")[0]
        name = normal(option.name)
        if UNKNOWN in option.text or not given.startswith("--") or not is_about_precision(name):
            continue
        if not any(one.startswith(given) for one in names):
            assert made is not None
            like = [one for one in names if is_about_precision(normal(one[2:]))]
            has = ", ".join(like[:_LIKE]) or "no option of precision"
            error = f"error: unrecognized arguments: --{option.name}"
            yield Undeclared(option, made, file, f"its parser has {has}", error, "its parser")


def _of_fire(run: RunEnvironment, file: ParsedPython) -> Iterator[Undeclared]:
    """The options that Fire cannot give to the function which it calls."""
    for option, function in not_taken_by_fire(run):
        if is_about_precision(normal(option.name)):
            like = [f"--{one}" for one in parameters_of(function) if is_about_precision(one)]
            has = ", ".join(like[:_LIKE]) or "no parameter of precision"
            error = f"once it is done, ERROR: Could not consume arg: {option.words[0].text}"
            reason = f"`{function.name}`, which Fire calls, has {has}"
            yield Undeclared(option, function, file, reason, error, "its parameters")


@fact
def _parser(file: ParsedPython) -> ast.Call | None:
    """The one parser of a file, if the file parses with it, and nothing but its words."""
    syntax = syntax_tree(file)
    made = syntax.calls("ArgumentParser")
    if len(made) != 1 or any(syntax.calls(name) for name in _MORE):
        return None
    if qualified(made[0].func, syntax.names) != "argparse.ArgumentParser":
        return None
    if any(word in file.text.text for word in _ELSEWHERE) or any(
        keyword_of(made[0], name) is not None
        for name in ("parents", "fromfile_prefix_chars", "prefix_chars", "allow_abbrev")
    ):
        return None
    around = syntax.function(made[0])
    if isinstance(around, FunctionDefinition) and not _is_named(around.name, file):
        return None  # the program takes its words in another way
    parsing = syntax.calls("parse_args")
    is_plain = len(parsing) == 1 and not parsing[0].args and not parsing[0].keywords
    return made[0] if is_plain else None


def _is_named(function: str, file: ParsedPython) -> bool:
    """True if a file names a function beyond its definition."""
    return any(isinstance(node, ast.Name) and node.id == function for node in file.nodes)


def _names(made: ast.Call, file: ParsedPython, program: Program) -> Mapping[str, None]:
    """The names of all options; none if some are out of sight."""
    parser = _holder(made, file)
    if not parser:
        return {}
    found = _declared(syntax_tree(file).calls("add_argument"))
    for other in file.nodes:
        # Whoever else gets the parser adds options: where it is in sight, they are known.
        if isinstance(other, ast.Call) and any(last_name(each) == parser for each in _given(other)):
            functions = program.functions(last_name(other.func))
            if len(functions) != 1:
                return {}
            calls = [
                call
                for call in syntax_tree(functions[0][0]).calls("add_argument")
                if functions[0][1] in syntax_tree(functions[0][0]).around(call)
            ]
            more = _declared(calls)
            if not more:
                return {}
            found = found | more if found else {}
    return found


def _holder(made: ast.Call, file: ParsedPython) -> str:
    """The variable of a parser; empty if something else is done with it."""
    match syntax_tree(file).parent(made):
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return ""


def _given(call: ast.Call) -> Iterator[ast.expr]:
    yield from (each for each in call.args if isinstance(each, ast.Name))
    yield from (each.value for each in call.keywords if isinstance(each.value, ast.Name))


def _declared(calls: Sequence[ast.Call]) -> dict[str, None]:
    """The long names of options; none if one is not known, or the rest of the line is taken."""
    found: dict[str, None] = {}
    for call in calls:
        nargs = keyword_of(call, "nargs")
        is_rest = last_name(nargs) == "REMAINDER" or (
            isinstance(nargs, ast.Constant) and nargs.value == "..."
        )
        names = [str(each.value) for each in call.args if isinstance(each, ast.Constant)]
        is_hidden = len(names) != len(call.args) or any(each.arg is None for each in call.keywords)
        if is_rest or is_hidden:
            return {}
        for name in names:
            if name.startswith("--"):
                found[name] = None
                if last_name(keyword_of(call, "action")) == "BooleanOptionalAction":
                    found[f"--no-{name[2:]}"] = None
    return found
