"""Switches of argparse that have one value, whether their option is given or not."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.settings.option_calls import destination, flag_of, names_of
from precision_lint.facts.settings.vocabulary import switches_precision
from precision_lint.model.frozen import frozen
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import last_name
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_STORED = {"store_true": True, "store_false": False}
_OTHER_PARSERS = ("jsonargparse", "LightningCLI", "add_arguments_to_parser")
"""What tells that the parser may be one of jsonargparse, whose `type=bool` reads `false`."""


@frozen
class FixedSwitch:
    """An option of precision whose value is `always`; `default` is where it gets it without words.

    `is_bool` is true for `type=bool`, which makes every word but the empty one true.
    """

    call: ast.Call
    option: str
    default: ast.expr
    always: bool
    is_bool: bool


@frozen
class _Switch:
    found: FixedSwitch
    destination: str


def fixed_switches(file: ParsedPython) -> Iterator[FixedSwitch]:
    """The switches of precision of a file that nothing in it can change."""
    syntax = syntax_tree(file)
    calls = syntax.calls("add_argument")
    switches = [each for each in map(_switch, calls) if each is not None]
    if not switches or fills_namespaces(syntax):
        return
    for switch in switches:
        found = switch.found
        if found.is_bool and any(word in file.text.text for word in _OTHER_PARSERS):
            continue
        if _is_declared_again(switch, calls) or is_written(switch.destination, syntax):
            continue
        if not found.is_bool and _has_opposite(switch, calls):
            continue
        if _is_overridden(switch, calls, syntax):
            continue
        yield found


def _switch(call: ast.Call) -> _Switch | None:
    """The option that a call declares, if it is a switch of precision that has one value."""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    names = names_of(call)
    if None in given or not names or not names[0].startswith("-"):
        return None
    option, held = flag_of(call), destination(call)
    match given.get("action"), given.get("type"), given.get("default"):
        case ast.Constant(value=("store_true" | "store_false") as action), None, default:
            always, is_bool = _STORED[action], False
        case None, ast.Name(id="bool"), default if "nargs" not in given and "const" not in given:
            always, is_bool = True, True
        case _:
            return None
    match default:
        case ast.Constant(value=bool(value)) if value is always:
            pass
        case _:
            return None
    if not any(map(switches_precision, (option.lstrip("-"), held))):
        return None
    return _Switch(FixedSwitch(call, option, default, always, is_bool), held)


def _is_declared_again(switch: _Switch, calls: list[ast.Call]) -> bool:
    """True if another option has the same destination, or one that is not seen.

    An option of the same name for another parser is another option.
    """
    call = switch.found.call
    for other in calls:
        is_named = any(keyword.arg in ("dest", None) for keyword in other.keywords)
        if other is call or (not is_named and _receiver(other) != _receiver(call)):
            continue
        if destination(other) == switch.destination:
            return True
    return False


def _has_opposite(switch: _Switch, calls: list[ast.Call]) -> bool:
    """True if the parser has `--no_amp` next to `--amp`: the program may ask for both."""
    name = switch.found.option.lstrip("-").replace("-", "_")
    opposites = {f"{word}_{name}" for word in ("no", "disable", "without")} | {f"no{name}"}
    return any(
        option.lstrip("-").replace("-", "_") in opposites
        for other in calls
        if _receiver(other) == _receiver(switch.found.call)
        for option in names_of(other)
    )


def _is_overridden(switch: _Switch, calls: list[ast.Call], syntax: SyntaxTree) -> bool:
    """True if another option turns off what a switch turns on, wherever the file reads it:
    `args.bf16 and not args.fp16`.
    """
    others = {destination(each) for each in calls} - {switch.destination}
    reads = [
        node
        for node in syntax.nodes
        if isinstance(node, ast.Attribute) and node.attr == switch.destination
    ]
    return bool(reads) and all(_is_beside_negation(read, others, syntax) for read in reads)


def _is_beside_negation(read: ast.Attribute, others: set[str], syntax: SyntaxTree) -> bool:
    match syntax.parent(read):
        case ast.BoolOp(op=ast.And(), values=values):
            return any(
                isinstance(each, ast.UnaryOp)
                and isinstance(each.op, ast.Not)
                and isinstance(each.operand, ast.Attribute)
                and each.operand.attr in others
                for each in values
            )
    return False


def _receiver(call: ast.Call) -> str:
    return ast.dump(call.func.value) if isinstance(call.func, ast.Attribute) else ""


def is_written(name: str, syntax: SyntaxTree) -> bool:
    """True if a file gives an attribute of this name a value, or the parser another default."""
    for node in syntax.nodes:
        match node:
            case ast.Attribute(attr=attribute, ctx=ast.Store() | ast.Del()) if attribute == name:
                return True
            case ast.Subscript(slice=ast.Constant(value=key), ctx=ast.Store()) if key == name:
                return True
            case ast.keyword(arg=key) if key == name and gives_values(syntax.parent(node)):
                return True
    return False


def gives_values(call: ast.AST | None) -> bool:
    """True for a call whose keywords are attributes of a namespace."""
    return isinstance(call, ast.Call) and last_name(call.func) in (
        "Namespace", "replace", "set_defaults", "update",
    )  # fmt: skip


def fills_namespaces(syntax: SyntaxTree) -> bool:
    """True if a file gives settings values under names that it does not write."""
    unpacked = (
        call
        for name in ("set_defaults", "Namespace")
        for call in syntax.calls(name)
        if any(keyword.arg is None for keyword in call.keywords)
    )
    setters = (call for call in syntax.calls("setattr") if call.args)
    updates = (
        call
        for call in syntax.calls("update")
        if isinstance(call.func, ast.Attribute) and _is_namespace(call.func.value, syntax)
    )
    return any(True for each in (unpacked, setters, updates) for _ in each)


def _is_namespace(node: ast.expr, syntax: SyntaxTree) -> bool:
    """True for `vars(args)`, `args.__dict__`, and a name that a file gives one of them."""
    match node:
        case ast.Call(func=ast.Name(id="vars")) | ast.Attribute(attr="__dict__"):
            return True
        case ast.Name(id=name):
            return any(
                isinstance(each, ast.Assign)
                and any(isinstance(one, ast.Name) and one.id == name for one in each.targets)
                and not isinstance(each.value, ast.Name)
                and _is_namespace(each.value, syntax)
                for each in syntax.nodes
            )
    return False
