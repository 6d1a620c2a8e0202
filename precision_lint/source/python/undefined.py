"""Names that a file reads and nothing binds: `NameError`, wherever the code runs."""

from __future__ import annotations

import ast
import builtins

from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.imports import imported_names
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.scopes import Step, scopes_in
from precision_lint.source.python.syntax_tree import syntax_tree
from precision_lint.source.text.notebook import NotebookText

_BINDING_OTHERWISE = regex(
    r"(?<![.\w])(?:globals|locals|vars)\(\)|\bsys\.modules\b|\b_*builtins?_*\b|__getattr__"
    r"|\bimport[ \t]*\(?[ \t]*\*|\bTYPE_CHECKING\b|\b(?:def|class)[ \t]+\w+\["
)
"""How a file may get names that its statements do not show, or names that nothing evaluates."""

_OF_TOOLS = frozenset(
    {"WindowsError", "get_ipython", "display", "profile", "spark", "dbutils", "sc", "ic", "_"}
)
"""What Windows, IPython, profilers, Spark and gettext add to the builtins."""

_MOST = 3
"""A file that lacks more names is part of a larger one, or shows how something is used."""
_GIVEN = regex(
    r"(?:\w+_)?(?:args|batch|batches|config|criterion|data|dataset|device|inputs|loader|loss|model|net"
    r"|optimizer|outputs|scheduler|targets|tokenizer|x|y)|cfg|dataloader|loss_fn"
)
"""What an excerpt takes for given."""


def shows_all_names(file: ParsedPython) -> bool:
    """False for a file that may have names which its statements do not show, and for a package."""
    return file.text.path.name != "__init__.py" and not _binds_otherwise(file)


def _binds_otherwise(file: ParsedPython) -> bool:
    if isinstance(file.text, NotebookText) or _BINDING_OTHERWISE.search(file.text.text):
        return True
    syntax = syntax_tree(file)
    return any(syntax.function(call) is None for call in syntax.calls("exec"))


@fact
def undefined_names(file: ParsedPython) -> frozenset[ast.Name]:
    """The names that are read where no scope, import or builtin gives them a meaning.

    None of a notebook, whose cells run in any order, none of a file that may bind names in ways
    that its statements do not show, and none of an excerpt.
    """
    if _binds_otherwise(file):
        return frozenset()
    is_postponed = imported_names(file).get("annotations") == "__future__.annotations"
    found = [
        reference.root
        for reference in scopes_in(file).references
        if not _is_known(reference.names[0])
        and not reference.scope.lookup(reference.names[0])[1]
        and not _is_unevaluated(reference.at, is_postponed)
    ]
    names = {each.id for each in found}
    return frozenset(() if len(names) > _MOST or any(map(_GIVEN.fullmatch, names)) else found)


def _is_known(name: str) -> bool:
    return name in _OF_TOOLS or hasattr(builtins, name) or name.startswith("__")


def _is_unevaluated(at: Step, is_postponed: bool) -> bool:
    """True in the annotation of a variable, and in one of a function if a file postpones these."""
    for step in at.upwards:
        if step.field == "returns":
            return is_postponed
        if step.field == "annotation":
            return is_postponed or isinstance(step.node, ast.AnnAssign)
    return False
