"""The code of a file without the optimizers that it may make.

What one of them does (`bf16_stochastic_round=True`, `GaLoreAdamW`) is not done by the others that
the file may choose instead.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from precision_lint.facts.amp.optimizers import OPTIMIZERS, names_optimizer
from precision_lint.facts.context import PythonFile
from precision_lint.model.finding import Span
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.code import code_of
from precision_lint.source.python.imports import Import, imported
from precision_lint.source.python.syntax import callee_name
from precision_lint.source.python.syntax_tree import calls_by_span

_WORD = regex(r"\w+")


@fact
def beside_optimizers(file: PythonFile) -> tuple[str, ...]:
    """The text of a file without the calls that make optimizers of libraries."""
    calls = calls_by_span(file).items()
    made = [span for span, call in calls if callee_name(call) in OPTIMIZERS]
    return tuple(_between(made, code_of(file)))


@fact
def beside_unused_imports(file: PythonFile) -> tuple[str, ...]:
    """The text without those and the ones that are called like them (`GaLoreAdamW`), and without
    the imports that nothing else uses.
    """
    return tuple(_between([*_made(file), *_unused_imports(file)], code_of(file)))


def _between(left_out: list[Span], text: str) -> Iterator[str]:
    start = 0
    for span in sorted(left_out):
        yield text[start : max(start, span.start)]
        start = max(start, span.end)
    yield text[start:]


def _made(file: PythonFile) -> list[Span]:
    calls = calls_by_span(file).items()
    return [span for span, call in calls if names_optimizer(callee_name(call))]


def _unused_imports(file: PythonFile) -> Iterator[Span]:
    """The imports of names that only calls which make optimizers use, or nothing.

    A name that two imports bind may be either.
    """
    statements: list[Import] = [*file.nodes_of(ast.Import), *file.nodes_of(ast.ImportFrom)]
    bound = Counter(each.name for node in statements for each in imported(node))
    left_out = [*_made(file), *map(file.span_of, statements)]
    used = {word for part in _between(left_out, code_of(file)) for word in _WORD.findall(part)}
    for node in statements:
        names = [*imported(node)]
        unused = [each for each in names if each.name not in used and bound[each.name] == 1]
        if unused and len(unused) == len(names) and names[0].name != "*":
            yield file.span_of(node)
        else:
            yield from (file.span_of(each.alias) for each in unused if each.name != "*")
