"""The helpers that fixes call: from the project's own module, or from `precision_lint.runtime`."""

from __future__ import annotations

from precision_lint.fixers.imports import import_name
from precision_lint.model.finding import Edit
from precision_lint.model.frozen import frozen
from precision_lint.project.import_style import ImportStyle
from precision_lint.source.python.helper_module import HelperModule
from precision_lint.source.python.parse import ParsedPython

_NEEDS_PACKAGE = " (needs `precision-lint[runtime]`, or a copy: see `precision-lint vendor`)"


@frozen
class Helper:
    """A helper as a file calls it, and the edits that import it."""

    local: str
    edits: tuple[Edit, ...] = ()
    is_at_hand: bool = True
    """The file imports it, or the settings name the module that has it: no new dependency."""
    is_asked_for: bool = True
    """The settings name a module, even if it lacks this helper."""
    note: str = ""
    """What the import needs, for the message of the fix."""


def helper(
    file: ParsedPython, name: str, before: int, module: HelperModule, style: ImportStyle
) -> Helper:
    """A helper for a use at the offset `before`.

    Where the settings name no module, it comes from the runtime package, on which the project need
    not depend: nobody asked for it.
    """
    if module.is_here:
        return Helper(name)
    local, edits = import_name(file, module.name, name, before, style)
    if not edits or (module.is_named and module.has_helper):
        return Helper(local, tuple(edits))
    vendor = f" (run `precision-lint vendor {name}` first)"
    note = vendor if module.is_named else _NEEDS_PACKAGE
    return Helper(local, tuple(edits), False, module.is_named, note)
