"""What code of other files does with a model that it makes, is given, or has a method of.

A helper may freeze a part of it, add layers that are trained in its place, or give it to a backend
with float32 weights of its own. What the helper calls in its own file counts as well.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from precision_lint.facts.amp.module_paths import takes_part
from precision_lint.facts.amp.own_sharding import SHARDING, shards_by_itself
from precision_lint.facts.context import PythonFile
from precision_lint.facts.origin import Origin
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.code import code_of
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import Definition
from precision_lint.source.python.syntax import callee_name, qualified
from precision_lint.source.python.syntax_tree import syntax_tree

_CHANGING = regex(
    r"requires_grad(?:_\(\s*(?:requires_grad\s*=\s*)?|\s*=\s*)(?!\s*True\b)\w|freez"
    r"|\.data\s*=|master_weight|main_param|fp32_param|stochastic|kahan|galore|hqq|lora|peft"
    r"|adapter|load_in_[48]bit|quantization_config|deepspeed|megatron"
    r"|colossalai|fabric\b|lightning|accelerator\b",
    re.IGNORECASE,
)
"""What trains something else than the weights as they are."""

_MOST = 8
"""Files that are read for the definitions of one name."""


def may_be_changed_elsewhere(given: ast.expr, origin: Origin, file: PythonFile) -> bool:
    """True if code of another file may change what is trained of a model that an optimizer gets.

    `origin` is where the weights got their dtype.
    """
    if origin.source.path != file.text.path:
        home = file.project.module(origin.source.path)
        node = None if home is None else home.node_at(origin.span)
        if home is None or node is None:
            return True
        around = [each for each in syntax_tree(home).around(node) if isinstance(each, Definition)]
        if any(_changes(each, home) for each in around[-1:]):
            return True
    return any(
        _changes(definition, home)
        for call in syntax_tree(file).every_call
        if takes_part(call, given, file)
        for definition, home in _called(call, file)
    )


def _called(call: ast.Call, file: PythonFile) -> Iterator[tuple[Definition, ParsedPython]]:
    """The functions and classes of other files that a call may call."""
    name, project = callee_name(call), file.project
    if isinstance(call.func, ast.Name) and _definitions(file, name):
        return  # of other files' functions of this name it calls none
    module = qualified(call.func, syntax_tree(file).names).rpartition(".")[0]
    imported = project.locate(file.text.path, module) if module else None
    paths = [*project.defining(name)]
    for path in dict.fromkeys(([imported] if imported else []) + paths[:_MOST]):
        home = None if path == file.text.path else project.module(path)
        if home is not None:
            yield from ((definition, home) for definition in _definitions(home, name))


def _definitions(file: ParsedPython, name: str) -> list[ast.FunctionDef | ast.ClassDef]:
    return [each for each in _every(file) if each.name == name]


def _changes(definition: Definition, file: ParsedPython) -> bool:
    """True if the code of a definition, or what it calls in its file, changes what is trained."""
    return definition.name in _changing(file) or any(
        callee_name(call) in _changing(file)
        for call in walk(definition)
        if isinstance(call, ast.Call)
    )


@fact
def _changing(file: ParsedPython) -> frozenset[str]:
    """The names of the functions and classes of a file that change what is trained."""
    code = code_of(file)
    spans = ((each.name, file.span_of(each)) for each in _every(file))
    changing = [_CHANGING] if shards_by_itself(file) else [_CHANGING, SHARDING]
    return frozenset(
        name
        for name, span in spans
        if any(each.search(code, span.start, span.end) for each in changing)
    )


def _every(file: ParsedPython) -> list[ast.FunctionDef | ast.ClassDef]:
    functions, classes = file.nodes_of(ast.FunctionDef), file.nodes_of(ast.ClassDef)
    return [
        each for each in (*functions, *classes) if isinstance(each, ast.FunctionDef | ast.ClassDef)
    ]
