"""Deprecated AMP API of torch.cuda and torch.cpu.

## What it does
Finds what torch deprecated in 2.4: `autocast`, `GradScaler`, `custom_fwd` and `custom_bwd` of
`torch.cuda.amp`, `autocast` and `GradScaler` of `torch.cpu.amp`, and the functions that have the
device in their name: `torch.get_autocast_gpu_dtype`, `torch.set_autocast_cpu_enabled` and so on. It
reports calls, decorators, annotations, subclasses, the class as a value, and all imports of these.

Silent in a project that still supports torch before 2.4: by `--target-torch`, by a pin, by a lower
bound such as `torch>=2.1` in its requirements, or, if it declares none, by code that chooses
between the old and the new API. That code itself is not reported either (under
`if torch.__version__ …`, `hasattr(torch.amp, …)` or `try: … except ImportError:`), nor are names
that are imported here for other files.

## Why it hurts
`` FutureWarning: `torch.cuda.amp.autocast(args...)` is deprecated. Please use
`torch.amp.autocast('cuda', args...)` instead. `` Following this literally causes a crash or
different numbers, because the signatures differ: the first argument of the old class is `enabled`,
the second argument of the new class is `dtype`. `torch.amp.autocast("cuda", use_amp)` raises
`TypeError: set_autocast_dtype(): argument 'dtype' (position 2) must be torch.dtype, not bool`.
Inside another region, the new class inherits that region's dtype, while the old one was always
float16.

## Example
```python
from torch.cuda.amp import GradScaler, autocast

scaler = GradScaler(2.0**12)
with autocast(use_amp, amp_dtype):
    loss = model(batch)
with autocast():
    loss = model(batch)
```

## Use instead
```python
scaler = torch.amp.GradScaler("cuda", 2.0**12)
with torch.amp.autocast("cuda", enabled=use_amp, dtype=amp_dtype):
    loss = model(batch)
with torch.amp.autocast("cuda", dtype=torch.float16):
    loss = model(batch)
```

## Fix safety
Safe: positional arguments get their names. If the new default can differ from the old one, the old
default is written out: `dtype=torch.float16` (bfloat16 on CPU), and `cache_enabled=True` if the
project disables the cache anywhere. A disabled region (`enabled=False`) needs neither; only code in
it that queries the autocast dtype, or opens a region without one, could tell the difference.

Unsafe if the project checks for the class (`isinstance(scaler, torch.cuda.amp.GradScaler)`), for
`**options` that may or may not contain a dtype, for `functools.partial(autocast)`, and for
`is_autocast_cpu_enabled` in a project that uses `torch.jit.script`, which does not compile the new
call. No fix for `autocast(*args)`, for subclasses, and where the class is passed on as a value.

An import is removed if nothing in the file uses it any more and no other file imports it from
there.

## References
- Pitfalls C01, C09
- https://docs.pytorch.org/docs/stable/amp.html
- https://github.com/karpathy/nanoGPT/issues/635
- https://github.com/MIC-DKFZ/nnUNet/pull/2684
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from precision_lint.finding import Applicability, Confidence, Finding, Fix, Severity, Span
from precision_lint.fixers import amp_api, imports
from precision_lint.fixers.amp_api import DEPRECATED, MODULES, Api, Migration, Spelling
from precision_lint.fixers.torch_name import name_of_torch
from precision_lint.rule import Rule
from precision_lint.source import exports
from precision_lint.source.compatibility import is_for_another_version
from precision_lint.source.python import PythonFile
from precision_lint.source.scopes import Binding, Reference, Scope, Scopes, Step, scopes_of

RULE = Rule(
    code="MP801",
    name="deprecated-amp-api",
    summary="AMP API that torch 2.4 deprecated, with another signature than its replacement",
    severity=Severity.WARNING,
    since="0.1.0",
    fix="sometimes",
    triggers=(
        (b"torch",),
        (
            *(b"cuda.amp", b"cpu.amp", b"torch.cuda import", b"torch.cpu import", b"torch.cuda as"),
            *(name.encode() for name in sorted(amp_api.FUNCTIONS)),
        ),
    ),
    pitfalls=("C01", "C09"),
)

_SINCE = (2, 4)
_WHY = {
    "amp.autocast": "torch warns since 2.4 (FutureWarning). The old class takes `enabled` first, "
    "the new one `device_type, dtype, enabled`.",
    "amp.GradScaler": "torch warns since 2.4 (FutureWarning). The new one takes the device first.",
}
_WARNS = "torch warns since 2.4 (FutureWarning)."
_WARNS_QUIETLY = "torch warns since 2.4 (DeprecationWarning)."


class _Use(NamedTuple):
    """A deprecated name that is read."""

    reference: Reference
    qualified: str
    api: Api

    @property
    def node(self) -> ast.expr:
        return self.reference.node

    @property
    def parent(self) -> Step:
        return self.reference.at


def check_source(file: PythonFile) -> Iterator[Finding]:
    scopes = scopes_of(file.tree)
    uses = [
        _Use(reference, qualified, DEPRECATED[qualified])
        for reference in scopes.references
        if (qualified := reference.qualified) in DEPRECATED and _is_reported(reference, file)
    ]
    olds = [binding for binding in _bindings(scopes) if _is_old(binding.what)]
    if not (uses or olds) or _supports_older_torch(file):
        return
    for use in uses:
        yield _finding(use, file)
    for old in olds:
        yield from _import_finding(old, scopes, uses, file)


def _supports_older_torch(file: PythonFile) -> bool:
    """True if the project says that it runs with a torch that lacks the new API."""
    oldest = file.project.lowest_version_of("torch")
    return _holds(_SUPPORTS_OLDER, file) if oldest is None else oldest < _SINCE


_SUPPORTS_OLDER = (
    rb"(?i)hasattr\(\s*torch(?:\.amp)?\s*,\s*[\"'](?:custom_[fb]wd|GradScaler|get_autocast_dtype)"
    rb"|torch\w*_2_[34]\b"
    rb"|torch[^\n#]*version[^\n#]*2\.[34]\b|version[^\n#]*torch[^\n#]*2\.[34]\b"
)
"""A project that declares no version, and chooses between old and new API somewhere."""


def _is_reported(reference: Reference, file: PythonFile) -> bool:
    """True unless it is code for several versions, or asks what the class is."""
    if _asks_for_class(reference):
        return False
    _, bindings = reference.scope.lookup(reference.names[0])
    places: list[tuple[ast.AST, Step]] = [(reference.node, reference.at)]
    places += [
        (binding.statement, binding.at)
        for binding in bindings
        if binding.statement is not None and _is_old(binding)
    ]
    return not any(is_for_another_version(node, at, file.text) for node, at in places)


def _is_old(binding: Binding) -> bool:
    """True if a binding imports a deprecated name, or a module of such."""
    return binding.qualified in DEPRECATED or binding.qualified in MODULES


def _asks_for_class(reference: Reference) -> bool:
    """True for `isinstance(x, GradScaler)` and comparisons with the class: they do not warn."""
    step = reference.at
    while isinstance(step.node, ast.Tuple | ast.BinOp) and step.above is not None:
        step = step.above
    match step.node:
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass")):
            return step.field == "args"
    return isinstance(step.node, ast.Compare | ast.ExceptHandler | ast.MatchClass)


def _finding(use: _Use, file: PythonFile) -> Finding:
    migration = _migration(use, file)
    fix = None
    if migration is not None:
        is_safe = migration.is_exact and not (
            _class_matters(use, file) or _is_only_in_script(use, file)
        )
        fix = Fix(
            Applicability.SAFE if is_safe else Applicability.UNSAFE,
            f"Use `torch.{use.api.name}`",
            migration.edits,
        )
    quiet = _WARNS if use.api.name.startswith("amp.") else _WARNS_QUIETLY
    return file.finding(
        RULE,
        file.span_of(use.node),
        f"`{use.qualified}` is deprecated: use `{use.api.usage}`",
        confidence=Confidence.HIGH,
        why=_WHY.get(use.api.name, quiet),
        fix=fix,
    )


def _migration(use: _Use, file: PythonFile) -> Migration | None:
    """The edits that put the new API in the place of this use; None where it takes a person."""
    name, edits = name_of_torch(file, use.reference, _is_old)
    quote = _quote(use.reference, file)
    if name is None or quote is None:
        return None
    spelling = Spelling(name, quote, _turns_cache_off(file))
    found: Migration | None = None
    match use.parent:
        case Step(node=ast.Call() as call, field="func"):
            found = amp_api.call(file, call, use.api, spelling)
        case Step(node=ast.Call() as call, field="args") if _is_made_partial(use, call):
            found = amp_api.partial(file, call, use.api, spelling)
        case Step(field="decorator_list") if use.api.is_decorator:
            found = amp_api.decorator(file, use.node, use.api, spelling)
        case _ if use.api.is_class and _is_annotation(use.reference):
            found = amp_api.annotation(file, use.node, use.api, spelling)
    return None if found is None else Migration((*edits, *found.edits), found.is_exact)


def _is_made_partial(use: _Use, call: ast.Call) -> bool:
    """True for `functools.partial(autocast, …)`."""
    scope = use.reference.scope
    match call.func:
        case ast.Name(id=name):
            is_partial = scope.qualified(name) == "functools.partial"
        case ast.Attribute(value=ast.Name(id=name), attr="partial"):
            is_partial = scope.qualified(name) == "functools"
        case _:
            is_partial = False
    return is_partial and call.args[0] is use.node


def _is_annotation(reference: Reference) -> bool:
    return any(step.field in {"annotation", "returns"} for step in reference.at.upwards)


def _quote(reference: Reference, file: PythonFile) -> str | None:
    """The quotes for a string here: in an f-string, those that it does not stand in."""
    for step in reference.at.upwards:
        if isinstance(step.node, ast.JoinedStr):
            text = file.text[file.span_of(step.node)]
            return next((quote for quote in "\"'" if quote not in text), None)
    return '"'


def _class_matters(use: _Use, file: PythonFile) -> bool:
    """True if the project asks whether something is of the old class, or changes its methods."""
    if not use.api.is_class or _is_annotation(use.reference):
        return False
    name = use.api.name.rpartition(".")[2].encode()
    return _holds(_OF_CLASS.replace(b"NAME", name), file)


_OF_CLASS = (
    rb"(?s)\A(?=.*?\b(?:cuda|cpu)\.amp\b).*?(?:"
    rb"\bis(?:instance|subclass)\s*\((?:[^()]|\([^()]*\))*\bNAME\b"
    rb"|\btype\([^()]*\)\s*(?:is|==|in)\b[^\n]*\bNAME\b|\bNAME\.\w+\s*=[^=])"
)


def _is_only_in_script(use: _Use, file: PythonFile) -> bool:
    """True if TorchScript, which knows the old function alone, may compile this use."""
    return use.api.name == "is_autocast_enabled" and _holds(rb"\bjit\.script|ScriptModule", file)


def _turns_cache_off(file: PythonFile) -> bool:
    """True if the cache of the casts is turned off anywhere in the project."""
    return _holds(_CACHE_OFF, file)


_CACHE_OFF = (
    rb"set_autocast_cache_enabled"
    rb"|autocast\((?:[^()]|\([^()]*\))*\bcache_enabled\s*=(?!\s*True\b)"
    rb"|autocast\([^(),]*,[^(),]*,\s*False\b"
)


def _holds(pattern: bytes, file: PythonFile) -> bool:
    """True if a Python file of the project, or this text of one, matches."""
    text = file.text.text.encode("utf-8", "surrogatepass")
    return re.search(pattern, text) is not None or file.project.holds(pattern)


# Imports


class _Import(NamedTuple):
    """A name that an import binds in a scope."""

    name: str
    what: Binding
    scope: Scope


def _bindings(scopes: Scopes) -> Iterator[_Import]:
    for scope in scopes.all:
        for name, bindings in scope.bindings.items():
            for binding in bindings:
                if binding.qualified is not None and binding.qualified == scope.qualified(name):
                    yield _Import(name, binding, scope)


def _import_finding(
    old: _Import, scopes: Scopes, uses: list[_Use], file: PythonFile
) -> Iterator[Finding]:
    """The import of a deprecated name, or of the module that holds it.

    Nothing for one that stays: for other versions of torch, for other files, or because a use of
    it is not reported.
    """
    statement, alias = old.what.statement, old.what.alias
    assert statement is not None
    assert alias is not None
    readers = [
        reference
        for reference in scopes.references
        if reference.names[0] == old.name and reference.scope.lookup(old.name)[0] is old.scope
    ]
    if not {use.reference for use in uses}.issuperset(readers):
        return
    if _is_kept(old, file, is_used=bool(readers)):
        return
    edit = None if readers else imports.remove_name(file, statement, alias)
    fix = None
    if edit is not None:
        fix = Fix(Applicability.SAFE, "Remove the import, which nothing uses", (edit,))
    start = file.text.offset_of_utf8(alias.lineno, alias.col_offset)
    api = DEPRECATED.get(old.what.qualified or "")
    yield file.finding(
        RULE,
        Span(start, start + len(alias.name)),
        f"`{old.what.qualified}` is deprecated: use `torch.{api.name if api else 'amp'}`",
        confidence=Confidence.HIGH,
        why=_WARNS,
        fix=fix,
    )


def _is_kept(old: _Import, file: PythonFile, *, is_used: bool) -> bool:
    """True for an import that is there for others than this file's own code."""
    assert old.what.statement is not None
    return is_for_another_version(
        old.what.statement, old.what.at, file.text
    ) or exports.is_for_others(file, old.name, old.what, old.scope, is_used=is_used)
