"""Which subcommand of argparse the words of a run name: `parser.add_subparsers(dest="command")`.

argparse (3.11) puts the name of the subcommand as it is given, be it an alias, into the attribute
`dest`. It is the first word that is no option of the main parser, nor the value of one, where that
parser takes no words by their place. A default or an option of the subcommand's own parser with the
name of the attribute replaces it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from precision_lint.facts.runs.interpreter.program import Program, keyword_of
from precision_lint.facts.settings.given import normal
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import last_name
from precision_lint.source.python.syntax_tree import syntax_tree
from precision_lint.source.shell.variables import Word

_TAKING = ("store", "append", "extend")
_BARE = (
    "store_true", "store_false", "store_const", "append_const", "count", "BooleanOptionalAction",
)  # fmt: skip


def is_subcommand(name: str, program: Program) -> bool:
    """True if the name of a subcommand goes to an attribute with a name."""
    return program.fact(("subcommands", name), lambda: _declaring(name, program)) is not None


def subcommand(name: str, words: Sequence[Word], program: Program) -> Word | None:
    """The word that names the subcommand which goes to an attribute; None if that is not known."""
    found = program.fact(("subcommands", name), lambda: _declaring(name, program))
    own = _own_options(*found) if found is not None else None
    if own is None:
        return None
    rest = iter(words)
    for word in rest:
        if not word.text.startswith("-"):
            return word if word.text in _names(program) else None
        option, separator, _ = word.text.partition("=")
        takes_word = own.get(option)
        if takes_word is None or not word.is_one:
            return None
        if takes_word and not separator:
            value = next(rest, None)
            if value is None or not value.is_one or value.text.startswith("-"):
                return None
    return None


def _declaring(name: str, program: Program) -> tuple[ParsedPython, ast.Call] | None:
    """The one `add_subparsers` whose `dest` has a name."""
    if any(_gives(name, call) for _, call in program.calls("add_argument")):
        return None
    if any(keyword_of(call, name) for _, call in program.calls("set_defaults")):
        return None
    found = [
        (file, call)
        for file, call in program.calls("add_subparsers")
        if isinstance(dest := keyword_of(call, "dest"), ast.Constant) and dest.value == name
        if program.calls_around(file.text.path, file.span_of(call))
    ]
    return found[0] if len(found) == 1 else None


def _gives(name: str, call: ast.Call) -> bool:
    """True for an option, or a word by its place, that goes to an attribute with a name."""
    texts = [*call.args, keyword_of(call, "dest")]
    return any(
        isinstance(each, ast.Constant)
        and isinstance(each.value, str)
        and normal(each.value.lstrip("-")) == name
        for each in texts
    )


def _own_options(file: ParsedPython, declaring: ast.Call) -> dict[str, bool | None] | None:
    """The options of the main parser, and whether each takes one word, None if that is not known;
    None for a parser that takes words by their place, or that is not known to be the main one.
    """
    match declaring.func:
        case ast.Attribute(value=ast.Name(id=parser)):
            pass
        case _:
            return None
    scope = syntax_tree(file).function(declaring)
    made = [
        node.value
        for node in file.nodes
        if isinstance(node, ast.Assign)
        and any(isinstance(each, ast.Name) and each.id == parser for each in node.targets)
        and syntax_tree(file).function(node) is scope
    ]
    match made:
        case [ast.Call(func=maker) as call] if last_name(maker).endswith("ArgumentParser"):
            if keyword_of(call, "parents") is not None:
                return None
        case _:
            return None
    found: dict[str, bool | None] = {"-h": None, "--help": None}
    for each in _arguments(file, parser):
        names = [one.value if isinstance(one, ast.Constant) else None for one in each.args]
        if not names or not all(isinstance(one, str) and one.startswith("-") for one in names):
            return None
        found |= dict.fromkeys(map(str, names), _takes_word(each))
    return found


def _arguments(file: ParsedPython, parser: str) -> Iterator[ast.Call]:
    for call in syntax_tree(file).calls("add_argument"):
        match call.func:
            case ast.Attribute(value=ast.Name(id=owner)) if owner == parser:
                yield call


def _takes_word(call: ast.Call) -> bool | None:
    if keyword_of(call, "nargs") is not None or any(each.arg is None for each in call.keywords):
        return None
    match keyword_of(call, "action"):
        case None:
            return True
        case ast.Constant(value=str(action)):
            return True if action in _TAKING else False if action in _BARE else None
        case action:
            return False if last_name(action) in _BARE else None


def _names(program: Program) -> frozenset[str]:
    """What its subcommands are called."""
    return program.fact("names of subcommands", lambda: frozenset(_named(program)))


def _named(program: Program) -> Iterator[str]:
    for _, call in program.calls("add_parser"):
        aliases = keyword_of(call, "aliases")
        more = aliases.elts if isinstance(aliases, ast.List | ast.Tuple) else ()
        for each in (*call.args[:1], *more):
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                yield each.value
