"""Where a run that the project offers gives bfloat16 to autocast, or to its weights.

An answer is a place that says bfloat16; where no place does, there is none.
"""

from __future__ import annotations

import ast
import re

from precision_lint.facts.amp.scaling.bfloat16_search import HOPS, Search
from precision_lint.facts.amp.scaling.offer import Offer
from precision_lint.facts.amp.scaling.users import Users
from precision_lint.facts.amp.setting_paths import setting_path
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.whole_program.program import Program
from precision_lint.model.finding import Related
from precision_lint.model.regex import regex
from precision_lint.source.python.parse import ParsedPython

_AMP = regex(r"(?:^|_)(?:amp|mixed|autocast)(?:_|$)|mixed_precision")


def bfloat16_offer(node: ast.expr, file: PythonFile, *, of: ParsedPython) -> Offer | None:
    """The first place that makes an expression of the file `of` bfloat16."""
    return Search(Program(file)).value(node, of, HOPS)


def weights_offer(file: PythonFile) -> Offer | None:
    """A setting for the dtype of weights that is bfloat16, if the program reads it.

    A program is a file and what it imports. The dtype of autocast is another setting.
    """
    program = Program(file)
    search = Search(program)
    elsewhere = file.project.bfloat16_weights
    for source in Users(program).reach():
        for node in source.nodes:
            path = None
            if isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
                path = setting_path(node)
            if path is None or not path[-1].endswith("dtype") or _AMP.search(path[-1]):
                continue
            assert isinstance(node, ast.expr)
            if (offer := search.setting(node, source)) is not None:
                return offer
            if elsewhere is not None and _is_given_at(elsewhere, path[-1], file):
                return Offer(f"{path[-1]}=bfloat16", elsewhere)
    return None


def _is_given_at(related: Related, name: str, file: PythonFile) -> bool:
    """True if a place sets the setting of this name."""
    lines = file.project.config_files.text(related.place.path).splitlines()
    row = related.place.start.row
    line = lines[row - 1] if row <= len(lines) else ""
    return re.search(rf"(?<!\w){re.escape(name)}\b", line.replace("-", "_")) is not None
