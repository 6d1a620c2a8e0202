"""Ways to write all settings of a namespace down, which use none of them."""

from __future__ import annotations

import ast

from precision_lint.model.regex import regex
from precision_lint.source.python.bindings import enclosing_class
from precision_lint.source.python.syntax import last_name, qualified
from precision_lint.source.python.syntax_tree import SyntaxTree

RECORDING = frozenset({
    "print", "pprint", "pformat", "info", "debug", "warning", "log", "write", "str", "repr",
    "format", "isinstance", "len", "hasattr", "getattr", "delattr", "deepcopy", "copy",
    "dump", "dumps", "save", "safe_dump", "init_trackers", "save_hyperparameters", "log_params",
    "add_text", "add_hparams", "log_hyperparams",
})  # fmt: skip
"""Functions that write settings down, or hand them on to nobody else."""
_RECORDERS = ("wandb.init", "wandb.config.update", "swanlab.init", "deepspeed.initialize")
_TEXTS = frozenset({"str", "repr", "format", "pformat"})
_GATHERING = frozenset({"append", "join"})
"""What texts are gathered by, before they are written."""
_FLAG = regex(r"(?:^|\s)--?$")
"""The end of a text before the name of an option: `f"--{name}"`."""


def _runs(call: ast.Call) -> ast.expr:
    """What a call runs: of `partial(train, args)`, the function."""
    is_partial = last_name(call.func) == "partial" and call.args
    return call.args[0] if is_partial else call.func


def is_known(call: ast.Call, syntax: SyntaxTree, defined: frozenset[str]) -> bool:
    """True for a call of what the program defines, of torch, or of what writes settings down, and
    for one that hands them on to a function of the program: `Process(target=run, args=(args,))`.
    """
    name = last_name(_runs(call))
    if name in defined or name in RECORDING or _is_above(call, syntax, defined):
        return True
    targets = (*call.args[:1], *(each.value for each in call.keywords if each.arg == "target"))
    functions = [each for each in targets if last_name(each) in defined]
    is_started = any(isinstance(each, ast.Name | ast.Attribute) for each in functions)
    if is_started or ast.unparse(call.func).endswith(_RECORDERS):
        return True
    is_of_torch = qualified(call.func, syntax.names).startswith("torch.")
    return is_of_torch and name not in ("spawn", "start_processes")


def _is_above(call: ast.Call, syntax: SyntaxTree, defined: frozenset[str]) -> bool:
    """True for `super().__init__(args)` in a class whose bases are known."""
    match call.func:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__"):
            owner = enclosing_class(call, syntax)
            return owner is not None and owner.name in defined
    return False


def is_listed(node: ast.expr, syntax: SyntaxTree, defined: frozenset[str]) -> bool:
    """True for a loop that writes each setting down, `for name, value in vars(args).items()`, and
    for one over the names alone, `for name in vars(args)`; not for one that makes a command.
    """
    method = syntax.parent(node)
    call = syntax.parent(method) if isinstance(method, ast.Attribute) else None
    is_method = isinstance(method, ast.Attribute) and isinstance(call, ast.Call)
    items: ast.AST | None = call if is_method else node
    outer = syntax.parent(items) if items is not None else None
    if isinstance(outer, ast.Call) and last_name(outer.func) in ("sorted", "list"):
        items, outer = outer, syntax.parent(outer)
    if not isinstance(outer, ast.For | ast.comprehension) or outer.iter is not items:
        return False
    whole = syntax.parent(outer) if isinstance(outer, ast.comprehension) else outer
    inside = [*ast.walk(whole or outer)]
    if any(map(_is_flag, inside)):
        return False
    if not is_method or (isinstance(method, ast.Attribute) and method.attr == "keys"):
        return isinstance(outer.target, ast.Name)
    match outer.target:
        case ast.Tuple(elts=[ast.Name(), ast.Name(id=value)]):
            scope = syntax.function(node) or syntax.tree
            known = {id(each) for each in inside}
            reads = [each for each in syntax.reads(scope, value) if id(each) in known]
            return all(
                isinstance(each, ast.expr) and is_recorded(each, syntax, defined) for each in reads
            )
    return False


def _is_flag(node: ast.AST) -> bool:
    """True for the start of an option that is put together, for the command of another program."""
    match node:
        case ast.Constant(value=str(text)):
            return _FLAG.search(text) is not None
    return False


def is_of_loop(call: ast.Call, syntax: SyntaxTree) -> bool:
    """True for `getattr(args, name)` in a loop over all names: `for name in vars(args)`."""
    match call.args:
        case [_, ast.Name(id=name), *_]:
            stores = syntax.stores(syntax.function(call) or syntax.tree, name)
            loops = [syntax.parent(store) for store in stores]
            return bool(loops) and all(
                isinstance(each, ast.For | ast.comprehension)
                and any(
                    isinstance(part, ast.Call) and last_name(part.func) == "vars"
                    for part in ast.walk(each.iter)
                )
                for each in loops
            )
    return False


def is_recorded(node: ast.expr, syntax: SyntaxTree, defined: frozenset[str]) -> bool:
    """True for `vars(args)` that is written down, `json.dump(vars(args), stream)`, or becomes a
    part of a text.
    """
    is_text = False
    inner: ast.AST = node
    outer = syntax.parent(node)
    while outer is not None and not isinstance(outer, ast.stmt):
        is_text = is_text or isinstance(outer, ast.FormattedValue)
        if isinstance(outer, ast.Call) and outer.func is not inner:
            name = last_name(outer.func)
            is_gathered = is_text and name in _GATHERING
            is_text = is_text or (name in _TEXTS and name not in defined)
            if not (name in ("dict", "sorted") or name in _TEXTS or is_gathered):
                is_own = name in defined or name == "getattr"
                return not is_own and is_known(outer, syntax, frozenset())
        inner, outer = outer, syntax.parent(outer)
    return is_text and not _is_of_environment(outer)


def _is_of_environment(statement: ast.AST | None) -> bool:
    """True for `os.environ[name] = …`, which others read."""
    match statement:
        case ast.Assign(targets=[ast.Subscript(value=holder)]):
            return last_name(holder) == "environ"
    return False
