"""Parameters whose annotation or docstring lists bfloat16 among their values."""

from __future__ import annotations

import ast
import re

from precision_lint.facts.amp.scaling.offer import Offer
from precision_lint.facts.settings.vocabulary import names_bfloat16
from precision_lint.model.finding import Related
from precision_lint.model.regex import regex
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition

NAMES_BFLOAT16 = regex(r"(?<![a-z])(?:torch\.)?(?:bfloat16|bf16)\b", re.IGNORECASE)
"""bfloat16 in prose or in code."""

_NEGATED = regex(r"\b(?:not|except|unlike|without|instead of)\b", re.IGNORECASE)


def documented_bfloat16(
    parameter: ast.arg,
    function: FunctionDefinition,
    owner: ast.ClassDef | None,
    file: ParsedPython,
) -> Offer | None:
    """The annotation or the paragraph of a docstring that lists bfloat16 among the values."""
    message = f"bfloat16 is a documented value of `{parameter.arg}`"
    if parameter.annotation is not None:
        for node in walk(parameter.annotation):
            match node:
                case ast.Constant(value=str(name)) if names_bfloat16(name):
                    place = file.text.place(file.span_of(node))
                    return Offer(f"{parameter.arg}={name}", Related(place, message))
    for holder in (function, *([] if owner is None else [owner])):
        text = ast.get_docstring(holder, clean=True)
        if text is not None and _lists_bfloat16(_paragraph(parameter.arg, text)):
            place = file.text.place(file.span_of(parameter))
            return Offer(f"{parameter.arg}=torch.bfloat16", Related(place, message))
    return None


def _paragraph(name: str, text: str) -> str:
    """What a docstring says of a parameter: `name (type): …` and the deeper lines after it."""
    lines = text.splitlines()
    start = re.compile(rf"[ \t]*(?:[-*] |:param )?[`*]*{re.escape(name)}[`*]*[ \t]*(?:\(|:|$)")
    for index, line in enumerate(lines):
        if start.match(line):
            indent = len(line) - len(line.lstrip())
            taken = [line]
            for further in lines[index + 1 :]:
                if further.strip() and len(further) - len(further.lstrip()) <= indent:
                    break
                taken.append(further)
            return "\n".join(taken)
    return ""


def _lists_bfloat16(paragraph: str) -> bool:
    """True if a sentence names bfloat16 as a value, and not as one that is refused."""
    sentences = re.split(r"(?<=[.;])\s", paragraph)
    return any(NAMES_BFLOAT16.search(one) and not _NEGATED.search(one) for one in sentences)
