"""Where a file uses or imports the AMP API that torch 2.4 deprecated."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from precision_lint.facts.amp.missing_names import SINCE
from precision_lint.facts.context import PythonFile
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.source.python import exports
from precision_lint.source.python.compatibility import is_for_another_version
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.scopes import Binding, Reference, Scope, Scopes, Step, scopes_in
from precision_lint.source.python.syntax import callee_name

_SINCE = (2, 4)

MODULES = frozenset(
    f"torch.{device}.amp{module}"
    for device in ("cuda", "cpu")
    for module in ("", ".autocast_mode", ".grad_scaler")
)
"""The modules of the old classes."""


@frozen
class Api:
    """The replacement of a deprecated function or class: its `name` in `torch`, and the device."""

    name: str
    device: str

    @property
    def is_class(self) -> bool:
        return self.name in {"amp.autocast", "amp.GradScaler"}

    @property
    def is_decorator(self) -> bool:
        return self.name in {"amp.custom_fwd", "amp.custom_bwd"}

    @property
    def usage(self) -> str:
        """The new call in short, for messages."""
        if self.is_decorator:
            return f'torch.{self.name}(device_type="{self.device}")'
        return f'torch.{self.name}("{self.device}")'


_CLASSES = {"autocast": "autocast_mode", "GradScaler": "grad_scaler"}


def _deprecated() -> dict[str, Api]:
    found: dict[str, Api] = {}
    for device in ("cuda", "cpu"):
        decorators = ("custom_fwd", "custom_bwd") if device == "cuda" else ()
        modules = _CLASSES | dict.fromkeys(decorators, "autocast_mode")
        for name, module in modules.items():
            for place in ("amp", f"amp.{module}"):
                found[f"torch.{device}.{place}.{name}"] = Api(f"amp.{name}", device)
    for infix, device in {"gpu": "cuda", "cpu": "cpu", "ipu": "ipu", "xla": "xla"}.items():
        for verb in ("get", "set"):
            found[f"torch.{verb}_autocast_{infix}_dtype"] = Api(f"{verb}_autocast_dtype", device)
        for verb in () if infix == "gpu" else ("is", "set"):
            old = f"torch.{verb}_autocast_{infix}_enabled"
            found[old] = Api(f"{verb}_autocast_enabled", device)
    return found


DEPRECATED = _deprecated()
"""Qualified names that warn since torch 2.4, measured with 2.13, and what replaces them."""

DEPRECATED_FUNCTIONS = frozenset(
    name.rpartition(".")[2] for name in DEPRECATED if "_autocast_" in name
)
"""The functions of torch that have a device in their name."""


@frozen
class DeprecatedUse:
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

    @property
    def is_annotation(self) -> bool:
        return any(step.field in {"annotation", "returns"} for step in self.parent.upwards)

    def is_made_partial(self, call: ast.Call) -> bool:
        """True for `functools.partial(autocast, …)`."""
        scope = self.reference.scope
        match call.func:
            case ast.Name(id=name):
                is_partial = scope.qualified(name) == "functools.partial"
            case ast.Attribute(value=ast.Name(id=name), attr="partial"):
                is_partial = scope.qualified(name) == "functools"
            case _:
                is_partial = False
        return is_partial and call.args[0] is self.node


@frozen
class DeprecatedImport:
    """The import of a deprecated name, or of the module that holds it."""

    qualified: str
    api: Api | None
    """What replaces the name; None for a module."""

    statement: ast.stmt
    alias: ast.alias
    uses: tuple[DeprecatedUse, ...]
    """Where the code of the file reads the name."""


def deprecated_amp(file: PythonFile) -> Iterator[DeprecatedUse | DeprecatedImport]:
    """The deprecated names that a file reads and imports, unless it supports an older torch."""
    scopes = scopes_in(file)
    uses = [
        DeprecatedUse(reference, qualified, DEPRECATED[qualified])
        for reference in scopes.references
        if (qualified := reference.qualified) in DEPRECATED and _is_reported(reference, file)
    ]
    olds = [binding for binding in _bindings(scopes) if is_deprecated(binding.what)]
    if not (uses or olds) or _supports_older_torch(file):
        return
    yield from uses
    for old in olds:
        yield from _imported(old, scopes, uses, file)


def _supports_older_torch(file: PythonFile) -> bool:
    """True if the project supports a torch that lacks the new API.

    Requirements of a folder that do not name torch leave it to those of the project.
    """
    project = file.project
    oldest = project.lowest_version_of("torch", file.text.path)
    if oldest is None:
        oldest = project.lowest_version_of("torch")
    if oldest is not None:
        return oldest < _SINCE
    return (
        _holds(_SUPPORTS_OLDER, file) or _needs_older_torch(file) or _has_code_for_older_torch(file)
    )


def _has_code_for_older_torch(file: PythonFile) -> bool:
    """True if a file that declares no version has code that only an older torch runs."""
    return re.search(_ONLY_IN_OLDER, file.text.text) is not None


_OLDER_RELEASE = r"[\"'](?:1\.\d+|2\.[0-3])(?:\.\d*)*[\"']"

_ONLY_IN_OLDER = (
    r"\btorch\.__version__[^\n#]*(?:\bstartswith\b|<=?|==|\bin\b)[^\n#]*" + _OLDER_RELEASE
)
"""A test such as `torch.__version__.startswith("1.8.")` or `torch.__version__ < "2.0"`.

A test for a newer release, `torch.__version__ >= "2.0"`, has a purpose without the older ones, too.
"""


def _needs_older_torch(file: PythonFile) -> bool:
    """True if a program with this file imports what torch 2.0 and later do not have, or the project
    has a timm that does.
    """
    own, project = file.text.path, file.project
    timm = project.release_of("timm")
    return (timm is not None and timm < _TIMM) or any(
        other == own or project.runs_with(other, own)
        for other in project.python_sources_matching(_REMOVED)
    )


_REMOVED = (
    rb"(?m)^(?:from|import) torch\._six\b"
    rb"|^[ \t]*assert timm\.__version__ == [\"']0\.[1-3]\."
)
"""Without indentation: in `try:`, there is something else for newer releases (pull request 94709
of pytorch/pytorch removed the module). `timm/models/layers/helpers.py` imports it in timm 0.1.30
to 0.3.4, and no longer in 0.4.5 (by the wheels).
"""

_TIMM = (0, 4)


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
        if binding.statement is not None and is_deprecated(binding)
    ]
    return not any(is_for_another_version(node, at, file.text) for node, at in places)


def is_deprecated(binding: Binding) -> bool:
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


# Other code of the project


def is_in_every_torch(use: DeprecatedUse, file: PythonFile) -> bool:
    """True if every torch that the project may run with has the new API.

    `torch.amp.autocast` is as old as its arguments. torch 2.2 has no `torch.amp.GradScaler`, torch
    2.3 has no `torch.amp.custom_fwd` and none of the functions that take a device. A project that
    says no version may run with these, unless it calls the same API elsewhere, or a program with
    the file imports what only a later release has.
    """
    if use.api.name == "amp.autocast":
        return True
    if file.project.lowest_version_of("torch", file.text.path) is not None:
        return True  # 2.4 at least: see `_supports_older_torch`
    needed = file.project.torch_needed_with(file.text.path)
    if needed is not None and needed >= SINCE.get(f"torch.{use.api.name}", _SINCE):
        return True
    called = _WITH_DEVICE.get(use.api.name, rb"\(")
    return _holds(rb"\btorch\." + re.escape(use.api.name).encode() + called, file)


_WITH_DEVICE = {
    "is_autocast_enabled": rb"\(\s*[^\s)]",
    "set_autocast_enabled": rb"\([^()]*,",
}
"""Calls of functions that older releases have as well, without a device."""


def is_interchangeable(use: DeprecatedUse, file: PythonFile) -> bool:
    """True if nothing in the project distinguishes the new API from the old one at this use."""
    return not (_class_matters(use, file) or _is_only_in_script(use, file))


def _class_matters(use: DeprecatedUse, file: PythonFile) -> bool:
    """True if the project asks whether something is of the old class, or changes its methods."""
    if not use.api.is_class or use.is_annotation:
        return False
    name = use.api.name.rpartition(".")[2].encode()
    return _holds(_OF_CLASS.replace(b"NAME", name), file)


_OF_CLASS = (
    rb"(?s)\A(?=.*?\b(?:cuda|cpu)\.amp\b).*?(?:"
    rb"\bis(?:instance|subclass)\s*\((?:[^()]|\([^()]*\))*\bNAME\b"
    rb"|\btype\([^()]*\)\s*(?:is|==|in)\b[^\n]*\bNAME\b|\bNAME\.\w+\s*=[^=])"
)


def _is_only_in_script(use: DeprecatedUse, file: PythonFile) -> bool:
    """True if TorchScript, which knows the old function alone, may compile this use."""
    return use.api.name == "is_autocast_enabled" and _holds(rb"\bjit\.script|ScriptModule", file)


@fact
def turns_cache_off(file: PythonFile) -> bool:
    """True if a program with this file turns the cache of the casts off anywhere."""
    own, project = file.text.path, file.project
    return _turns_cache_off(file) or any(
        other != own
        and project.runs_with(other, own)
        and (parsed := project.module(other)) is not None
        and _turns_cache_off(parsed)
        for other in project.python_sources_matching(_CACHE_OFF)
    )


_CACHE_OFF = rb"set_autocast_cache_enabled|\bcache_enabled\s*=|autocast\([^(),]*,[^(),]*,\s*False\b"
"""What a file has that turns the cache off; the tree says whether it does."""


@fact
def _turns_cache_off(file: ParsedPython) -> bool:
    return any(isinstance(node, ast.Call) and _is_cache_off(node) for node in file.nodes)


def _is_cache_off(call: ast.Call) -> bool:
    """True for `set_autocast_cache_enabled(…)` and for `autocast(…, cache_enabled=False)`."""
    name = callee_name(call)
    if name == "set_autocast_cache_enabled":
        return True
    given = [one.value for one in call.keywords if one.arg == "cache_enabled"]
    given += call.args[2:4]
    return name == "autocast" and any(
        not (isinstance(value, ast.Constant) and value.value is True) for value in given
    )


def _holds(pattern: bytes, file: PythonFile) -> bool:
    """True if a Python file of the project, or this text of one, matches."""
    is_here = file.fact(
        ("holds", pattern),
        lambda: re.search(pattern, file.text.text.encode("utf-8", "surrogatepass")) is not None,
    )
    return is_here or file.project.python_source_matches(pattern)


# Imports


@frozen
class _Import:
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


def _imported(
    old: _Import, scopes: Scopes, uses: list[DeprecatedUse], file: PythonFile
) -> Iterator[DeprecatedImport]:
    """An import that is deprecated.

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
    if not _is_kept(old, file, is_used=bool(readers)):
        qualified = old.what.qualified or ""
        api = DEPRECATED.get(qualified)
        of_it = tuple(use for use in uses if use.reference in readers)
        yield DeprecatedImport(qualified, api, statement, alias, of_it)


def _is_kept(old: _Import, file: PythonFile, *, is_used: bool) -> bool:
    """True for an import that is there for others than this file's own code."""
    assert old.what.statement is not None
    return is_for_another_version(
        old.what.statement, old.what.at, file.text
    ) or exports.is_for_others(
        file,
        old.name,
        old.what,
        old.scope,
        is_used=is_used,
        matches=file.project.python_source_matches,
    )
