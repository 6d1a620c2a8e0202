"""Settings that switch autocast on, and regions of the same program that do not ask for them.

A switch is what code spells where a region is on for some runs only: `enabled=config.use_amp`,
`autocast() if args.amp else nullcontext()`. A region that is always on ignores it if its own
function has the object that holds the setting at hand.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice

from precision_lint.facts.amp.regions.autocast import AutocastCall, autocasts
from precision_lint.facts.context import PythonFile
from precision_lint.facts.settings import holds_settings
from precision_lint.facts.settings.vocabulary import switches_bfloat16, switches_float16
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.bindings import attribute, binding, enclosing_class
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import AnyFunction, FunctionDefinition, Leaving
from precision_lint.source.python.syntax import (
    callee_name,
    dotted,
    parameters,
    qualified,
    with_defaults,
)
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

_SWITCH = regex(
    r"(?:^|_)(?:amp|autocast|half|mixed_precision|b?fp?16|b?float16|(?:use_)?(?:bf16|fp16)_run)$",
    re.IGNORECASE,
)
_INVERSE = regex(r"(?:^|_)(?:no|not|disable[ds]?|without|skip)(?:_|$)", re.IGNORECASE)
_HALF = frozenset({"torch.float16", "torch.half", "torch.bfloat16"})
_MOST_FILES = 8
_HOPS = 4
"""Variables and attributes that are followed from a condition to a setting."""


Declaration = ast.AnnAssign | ast.arg | ast.Call
"""A field, a parameter or an option that is a setting."""


@frozen
class Switch:
    """A setting as code spells it, and the place that it decides about."""

    path: str
    """`config.train.use_amp`, `self.use_amp`; a parameter has a bare name."""

    node: ast.expr
    """The region that it switches, or the declaration of the option."""

    file: ParsedPython

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]

    @property
    def holder(self) -> str:
        return self.path.rpartition(".")[0]


@frozen
class Ignoring:
    """A region that is always on, and a switch that its function could ask.

    `off` is where the file turns the setting off by default, if the switch is a region of the same
    class that has the same arguments: a program that starts like this has both. The same holds if
    the function of the region has a parameter for the setting that it never reads.
    """

    made: AutocastCall
    switch: Switch
    off: Declaration | None = None


def ignoring(file: PythonFile) -> Iterator[Ignoring]:
    """The regions of a file that ignore a setting which switches autocast in their program."""
    syntax = syntax_tree(file)
    always = [made for made in autocasts(syntax) if _is_always_on(made, syntax)]
    if not always:
        return
    own = (*switches(file), *_options(syntax, file))
    for made in always:
        unread = _unread_parameter(made, own, syntax, file)
        if unread is not None:
            yield unread
            continue
        found = next((one for one in own if _is_at_hand(one, made, syntax)), None)
        found = found or next(_elsewhere(made, syntax, file), None)
        if found is not None and not _is_decided(made, found, syntax):
            is_twin = found.file is file and _is_twin(made, found, syntax)
            yield Ignoring(made, found, _off(found.name, syntax) if is_twin else None)


def _is_always_on(made: AutocastCall, syntax: SyntaxTree) -> bool:
    """True for a region in half precision that no condition, argument or variable decides about."""
    match made.argument("enabled"):
        case None | ast.Constant(value=True):
            pass
        case _:
            return False
    dtype = made.argument("dtype")
    is_half = dtype is None or qualified(dtype, syntax.names) in _HALF
    return is_half and not made.has_stars and not _conditions(made.node, syntax)


def _conditions(node: ast.AST, syntax: SyntaxTree) -> list[ast.expr]:
    """The conditions around a node in its function."""
    return [
        parent.test
        for parent in syntax.within_function(node)
        if isinstance(parent, ast.If | ast.IfExp)
    ]


@fact
def switches(file: ParsedPython) -> tuple[Switch, ...]:
    """The settings that decide whether the regions of a file are on."""
    syntax = syntax_tree(file)
    found = []
    for made in autocasts(syntax):
        if made.is_off or made.has_stars:
            continue
        enabled = made.argument("enabled")
        deciding = [*_conditions(made.node, syntax), *([] if enabled is None else [enabled])]
        for test in deciding:
            for path in _paths(test, syntax, _HOPS):
                found.append(Switch(path, made.node, file))
    return tuple(found)


def _paths(test: ast.expr, syntax: SyntaxTree, hops: int) -> Iterator[str]:
    """The settings that a condition reads, by variables and attributes of the class."""
    if hops == 0:
        return
    for node in walk(test):
        path = dotted(node) if isinstance(node, ast.Attribute) else None
        if path is not None and path.startswith("self."):
            owner = enclosing_class(node, syntax)
            assert isinstance(node, ast.Attribute)
            values = attribute(node, owner, syntax) if owner is not None else None
            for value in values or ():
                yield from _paths(value, syntax, hops - 1)
        if path is not None and _is_switch(path.rpartition(".")[2]):
            yield path
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            match binding(node, syntax):
                case ast.arg() if _is_switch(node.id):
                    yield node.id
                case [*values]:
                    for value in values:
                        yield from _paths(value, syntax, hops - 1)


def _is_switch(name: str) -> bool:
    """True for the name of a setting that turns half precision on."""
    return _SWITCH.search(name) is not None and _INVERSE.search(name) is None


def _unread_parameter(
    made: AutocastCall, own: tuple[Switch, ...], syntax: SyntaxTree, file: PythonFile
) -> Ignoring | None:
    """A region in a function that gets the setting and never reads it, though another one does."""
    function = syntax.function(made.node)
    if not isinstance(function, FunctionDefinition):
        return None
    for parameter, default in with_defaults(function.args):
        name = parameter.arg
        others = (
            one
            for one in own
            if one.path == name
            and syntax.function(one.node) is not function
            and _has_same_arguments(made, one, syntax)
        )
        found = next(others, None) if _is_switch(name) else None
        if found is None or syntax.reads(function, name) or _is_decided(made, found, syntax):
            continue
        if _is_given(name, function.name, syntax, file):
            off = parameter if _is_false(default) else _off(name, syntax)
            return Ignoring(made, found, off)
    return None


def _is_given(parameter: str, function: str, syntax: SyntaxTree, file: PythonFile) -> bool:
    """True if a caller, in this file or another one, gives a parameter what may be off there."""
    files = [syntax]
    for path in islice(file.project.importing(file.text.path, function), _MOST_FILES):
        other = file.project.module(path)
        files += [] if other is None else [syntax_tree(other)]
    return any(
        keyword.arg == parameter
        and not (isinstance(keyword.value, ast.Constant) and keyword.value.value is True)
        for each in files
        for call in each.calls(function)
        for keyword in call.keywords
        if not any(parameter in ast.unparse(test) for test in _conditions(call, each))
    )


def _elsewhere(made: AutocastCall, syntax: SyntaxTree, file: PythonFile) -> Iterator[Switch]:
    """The switches of other files that use the function or class of a region."""
    function = syntax.function(made.node)
    if not isinstance(function, FunctionDefinition):
        return
    owner = enclosing_class(function, syntax)
    name = function.name if owner is None else owner.name
    for path in file.project.importing(file.text.path, name):
        other = file.project.module(path)
        if other is None or "autocast" not in other.text.text:
            continue
        for one in switches(other):
            is_own = one.path.startswith("self.") or not one.holder
            if not is_own and _is_held(one, function, syntax):
                yield one


def _is_at_hand(switch: Switch, made: AutocastCall, syntax: SyntaxTree) -> bool:
    """True if the function of a region could read a setting of its own file."""
    function = syntax.function(made.node)
    if function is None:
        return False
    if switch.path.startswith("self."):
        owner = enclosing_class(made.node, syntax)
        is_beside = syntax.function(switch.node) is function
        return owner is not None and enclosing_class(switch.node, syntax) is owner and not is_beside
    if syntax.function(switch.node) is function or not switch.holder:
        return False  # side by side, one of them is always on with intent
    return _is_held(switch, function, syntax) and _chooses(switch.name, made, syntax)


def _options(syntax: SyntaxTree, file: ParsedPython) -> Iterator[Switch]:
    """The options of a file that turn half precision on: `--fp16` with `action="store_true"`."""
    for call in syntax.calls("add_argument"):
        name = _option(call)
        if name is None or not _is_switch(name):
            continue
        reads = (node for node in syntax.nodes if isinstance(node, ast.Attribute))
        paths = (dotted(node) or "" for node in reads if node.attr == name)
        path = next((each for each in paths if holds_settings(each.rpartition(".")[0])), None)
        if path is not None:
            yield Switch(path, call, file)


def _option(call: ast.Call) -> str | None:
    """The attribute that a boolean option is read as."""
    flags = [each.value for each in call.args if isinstance(each, ast.Constant)]
    long = next((each for each in flags if isinstance(each, str) and each.startswith("--")), None)
    is_boolean = any(
        (each.arg == "action" and ast.unparse(each.value) in {"'store_true'", "'store_false'"})
        or (each.arg == "type" and "bool" in ast.unparse(each.value))
        for each in call.keywords
    )
    return long[2:].replace("-", "_") if long is not None and is_boolean else None


def _chooses(name: str, made: AutocastCall, syntax: SyntaxTree) -> bool:
    """False if a setting names another dtype than that of a region: `fp16` and bfloat16."""
    dtype = made.argument("dtype")
    is_bfloat16 = dtype is not None and qualified(dtype, syntax.names) == "torch.bfloat16"
    if is_bfloat16:
        return "16" not in name or not switches_float16(name)
    return not switches_bfloat16(name)


def _is_held(switch: Switch, function: ast.AST, syntax: SyntaxTree) -> bool:
    """True if a function reads other settings of the same object."""
    root = switch.path.partition(".")[0]
    assert isinstance(function, AnyFunction)
    is_given = any(each.arg == root for each in parameters(function.args))
    is_global = any(
        isinstance(node, ast.Name) and node.id == root for node in syntax.stores(syntax.tree, root)
    )
    return (is_given or is_global) and any(
        isinstance(node, ast.Attribute) and dotted(node.value) == switch.holder
        for node in walk(function)
    )


def _is_decided(made: AutocastCall, switch: Switch, syntax: SyntaxTree) -> bool:
    """True if the function asks for the setting in another way, or its callers do."""
    function = syntax.function(made.node)
    if not isinstance(function, FunctionDefinition):
        return False
    if _is_switch(function.name) or _leaves_without(function, switch.name):
        return True
    files = {id(syntax): syntax, id(syntax_tree(switch.file)): syntax_tree(switch.file)}
    return any(
        switch.name in ast.unparse(test)
        for each in files.values()
        for call in each.calls(function.name)
        for test in _conditions(call, each)
    )


def _is_twin(made: AutocastCall, switch: Switch, syntax: SyntaxTree) -> bool:
    """True if another method of the class opens the same region, and only asks for the setting."""
    owner = enclosing_class(made.node, syntax)
    if owner is None or enclosing_class(switch.node, syntax) is not owner:
        return False
    return _has_same_arguments(made, switch, syntax)


def _has_same_arguments(made: AutocastCall, switch: Switch, syntax: SyntaxTree) -> bool:
    other = next((one for one in autocasts(syntax) if one.node is switch.node), None)
    return other is not None and _arguments(other) == _arguments(made)


def _arguments(made: AutocastCall) -> list[str | None]:
    """What a region is for, but for whether it is on."""
    given = map(made.argument, ("device_type", "dtype", "cache_enabled"))
    return [None if each is None else ast.unparse(each) for each in given]


def _off(name: str, syntax: SyntaxTree) -> Declaration | None:
    """Where a setting is off by default: a field, a parameter or an option of the file."""
    for node in syntax.nodes:
        match node:
            case ast.AnnAssign(target=ast.Name(id=field), value=ast.Constant(value=False)):
                if field == name and enclosing_class(node, syntax) is not None:
                    return node
            case ast.arguments():
                for parameter, value in with_defaults(node):
                    if parameter.arg == name and _is_false(value):
                        return parameter
            case ast.Call() if callee_name(node) == "add_argument" and _option(node) == name:
                if any(_stores_true(each) for each in node.keywords):
                    return node
    return None


def _is_false(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is False


def _stores_true(keyword: ast.keyword) -> bool:
    return keyword.arg == "action" and ast.unparse(keyword.value) == "'store_true'"


def _leaves_without(function: FunctionDefinition, name: str) -> bool:
    """True for `if not args.amp: return …`."""
    return any(
        isinstance(node, ast.If)
        and isinstance(node.body[-1], Leaving)
        and name in ast.unparse(node.test)
        for node in walk(function)
    )
