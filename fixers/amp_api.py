"""The AMP API that torch 2.4 deprecated, and the calls that replace it.

Old and new signatures differ, so arguments are mapped by meaning, not by position:

    torch.cuda.amp.autocast(enabled=True, dtype=float16, cache_enabled=True)
    torch.amp.autocast(device_type, dtype=None, enabled=True, cache_enabled=None)

The defaults differ: in the new class `dtype=None` inherits the dtype of an enclosing region. So the
old default is written out where it has an effect.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from precision_lint.facts.amp.deprecated_api import Api, DeprecatedUse, is_deprecated
from precision_lint.fixers.quotes import usual_quote
from precision_lint.fixers.torch_name import name_of_torch
from precision_lint.fixers.wrapping import joined
from precision_lint.model.finding import Edit, Span
from precision_lint.model.frozen import frozen
from precision_lint.project.import_style import ImportStyle
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.scopes import Reference, Step

if TYPE_CHECKING:
    import libcst as cst

    from precision_lint.source.python.expressions import Expression

_AUTOCAST = ("enabled", "dtype", "cache_enabled")
_DEFAULT_DTYPE = {"cuda": "float16", "cpu": "bfloat16"}


@frozen
class Migration:
    """The edits of one use; `is_exact` if the behavior is identical."""

    edits: tuple[Edit, ...]
    is_exact: bool = True


@frozen
class Spelling:
    """How a file writes the new API: its name for torch, the quotes, and whether `cache_enabled`
    must be written out, because the project disables the cache of casts."""

    torch: str = "torch"
    quote: str = '"'
    keeps_cache: bool = False


def migration(
    file: ParsedPython, use: DeprecatedUse, style: ImportStyle, *, keeps_cache: bool
) -> Migration | None:
    """The edits that put the new API in the place of this use; None where it takes a person.

    `keeps_cache` if `cache_enabled` must be written out: see `Spelling`.
    """
    name, edits = name_of_torch(file, use.reference, is_deprecated, style)
    quote = _quote(use.reference, file)
    if name is None or quote is None:
        return None
    spelling = Spelling(name, quote, keeps_cache)
    found: Migration | None = None
    match use.parent:
        case Step(node=ast.Call() as call, field="func"):
            found = _call(file, call, use.api, spelling)
        case Step(node=ast.Call() as call, field="args") if use.is_made_partial(call):
            found = _partial(file, call, use.api, spelling)
        case Step(field="decorator_list") if use.api.is_decorator:
            found = _decorator(file, use.node, use.api, spelling)
        case _ if use.api.is_class and use.is_annotation:
            found = _annotation(file, use.node, use.api, spelling)
    if found is None:
        return None
    own = found.edits
    if isinstance(use.parent.node, ast.Call):
        own = joined(file, use.parent.node, own, style)
    return Migration((*edits, *own), found.is_exact)


def _quote(reference: Reference, file: ParsedPython) -> str | None:
    """The quotes for a string here: in an f-string, those that it does not stand in."""
    for step in reference.at.upwards:
        if isinstance(step.node, ast.JoinedStr):
            text = file.text[file.span_of(step.node)]
            return next((quote for quote in "\"'" if quote not in text), None)
    return usual_quote(file)


def _call(file: ParsedPython, node: ast.Call, api: Api, spelling: Spelling) -> Migration | None:
    """`autocast(use_amp)` to `torch.amp.autocast("cuda", dtype=torch.float16, enabled=use_amp)`."""
    return _migrate(file, node, node.func, 0, api, spelling)


def _partial(file: ParsedPython, node: ast.Call, api: Api, spelling: Spelling) -> Migration | None:
    """`partial(autocast, enabled=False)` to `partial(torch.amp.autocast, "cuda", enabled=False)`.

    Not exact for autocast: later positional arguments would bind to other parameters.
    """
    migration = _migrate(file, node, node.args[0], 1, api, spelling)
    if migration is None or api.name != "amp.autocast":
        return migration
    return Migration(migration.edits, is_exact=False)


def _decorator(file: ParsedPython, node: ast.expr, api: Api, spelling: Spelling) -> Migration:
    """`@custom_fwd` to `@torch.amp.custom_fwd(device_type="cuda")`."""
    new = f"{spelling.torch}.{api.name}({_device_type(api, spelling)})"
    return Migration((Edit(file.span_of(node), new),))


def _annotation(file: ParsedPython, node: ast.expr, api: Api, spelling: Spelling) -> Migration:
    """`GradScaler` to `torch.amp.GradScaler`, of which the old one is a subclass."""
    return Migration((Edit(file.span_of(node), f"{spelling.torch}.{api.name}"),))


def _migrate(
    file: ParsedPython, node: ast.Call, callee: ast.expr, first: int, api: Api, spelling: Spelling
) -> Migration | None:
    """Replaces the callee, and maps the arguments from the `first` one on.

    None if it is unknown which parameter an argument binds to.
    """
    import libcst as cst

    found, old = file.expression(file.span_of(node)), file.span_of(callee)
    if found is None or not isinstance(found.node, cst.Call) or "#" in file.text[old]:
        return None
    replaced = Edit(old, f"{spelling.torch}.{api.name}")
    if api.is_decorator:
        return Migration((replaced, _append(found, found.node, _device_type(api, spelling))))
    arguments = found.node.args[first:]
    head, named, is_exact = [f"{spelling.quote}{api.device}{spelling.quote}"], [], True
    if api.name == "amp.autocast":
        given = _given(arguments)
        if given is None:
            return None
        named = [(name, one) for name, one in given.items() if one.keyword is None]
        defaults = _defaults(api, given, spelling)
        if any(one.star for one in arguments):  # `**options` may contain them
            is_exact = not defaults
        else:
            head += defaults
    if not arguments:
        return Migration((replaced, _append(found, found.node, ", ".join(head))), is_exact)
    inserted = {found.extent(one).start: f"{name}=" for name, one in named}
    starts = [found.extent(one).start for one in arguments]
    comma = _comma(file, starts)
    inserted[starts[0]] = f"{comma.join(head)}{comma}{inserted.get(starts[0], '')}"
    edits = [Edit(Span(offset, offset), text) for offset, text in inserted.items()]
    return Migration((replaced, *edits), is_exact)


def _comma(file: ParsedPython, starts: Sequence[int]) -> str:
    """The separator of arguments: a new line if each has its own line."""
    rows = {file.text.row(start) for start in starts}
    line = file.text.line_span(file.text.row(starts[0])).start
    indent = file.text[Span(line, starts[0])]
    if len(starts) > 1 and len(rows) == len(starts) and not indent.strip():
        return f",{file.text.newline}{indent}"
    return ", "


def _given(arguments: Sequence[cst.Arg]) -> dict[str, cst.Arg] | None:
    """The arguments of the old autocast by name; None if it does not accept them: `"cuda"` is no
    `enabled`.
    """
    import libcst as cst

    given: dict[str, cst.Arg] = {}
    for position, argument in enumerate(arguments):
        if argument.star == "**":
            continue
        if argument.star or (argument.keyword is None and position >= len(_AUTOCAST)):
            return None
        name = _AUTOCAST[position] if argument.keyword is None else argument.keyword.value
        is_text = name == "enabled" and isinstance(argument.value, cst.SimpleString)
        if name not in _AUTOCAST or name in given or is_text:
            return None
        given[name] = argument
    return given


def _defaults(api: Api, given: Mapping[str, cst.Arg], spelling: Spelling) -> list[str]:
    """The old defaults that the new class does not share. A disabled region needs none."""
    import libcst as cst

    enabled = given["enabled"].value if "enabled" in given else None
    if isinstance(enabled, cst.Name) and enabled.value == "False":
        return []
    defaults = []
    if "dtype" not in given:
        defaults.append(f"dtype={spelling.torch}.{_DEFAULT_DTYPE[api.device]}")
    if "cache_enabled" not in given and spelling.keeps_cache:
        defaults.append("cache_enabled=True")
    return defaults


def _append(found: Expression, call: cst.Call, argument: str) -> Edit:
    """One more argument, after the last one and before its trailing comma."""
    if not call.args:
        offset = found.extent(call).end - 1
        return Edit(Span(offset, offset), argument)
    offset = found.extent(call.args[-1].value).end
    return Edit(Span(offset, offset), f", {argument}")


def _device_type(api: Api, spelling: Spelling) -> str:
    return f"device_type={spelling.quote}{api.device}{spelling.quote}"
