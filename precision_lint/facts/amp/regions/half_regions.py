"""The autocast region that a program runs the functions of a file in, where it names the dtype.

A program is a file that opens the region, or that makes what opens it (a Trainer of transformers
or of Lightning, an Accelerator), and imports the file. The flow is given the region (`calls_in`,
`around`), and says which tensors are in half precision then.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from precision_lint.facts.amp.regions.autocast import AutocastCall, autocasts, region_of
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.calls import Region
from precision_lint.facts.dtypes.domain.values import Dtype
from precision_lint.facts.dtypes.libraries import hooks
from precision_lint.facts.origin import Origin
from precision_lint.model.dtypes import ALIASES, BFLOAT16, FLOAT16, HALF
from precision_lint.model.memo import fact
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import callee_name, qualified
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree
from precision_lint.source.text.notebook import NotebookText

_OPENING = rb"\bautocast\(|\bfp16\s*=\s*True|\bbf16\s*=\s*True|\b(?:mixed_)?precision\s*=\s*[\"'1]"
"""What is in a file that opens a region, or makes what opens it."""

_OF_ACCELERATE = {"fp16": FLOAT16, "bf16": BFLOAT16}
_SWITCHES = {"fp16": FLOAT16, "bf16": BFLOAT16}


@fact
def half_regions(file: PythonFile) -> Mapping[str, Region]:
    """The regions around a file's functions, by their dtype: the first that a program opens."""
    found: dict[str, Region] = {}
    path = file.text.path
    _add(found, _of_frameworks(file))  # those that torch opens here are seen by the flow
    if not isinstance(file.text, NotebookText):  # nobody imports a notebook
        for other in file.project.python_sources_matching(_OPENING):
            if found.keys() >= {FLOAT16, BFLOAT16}:
                break
            is_opener = other != path and file.project.uses(other, path)
            if is_opener and (parsed := file.project.module(other)) is not None:
                _add(found, _opened_in(parsed))
    return found


def may_train_under_autocast(file: PythonFile) -> bool:
    """True if a file opens autocast, or trains with a Trainer that does.

    The weights of such a run are float32, and autocast casts for the operators.
    """
    syntax = syntax_tree(file)
    has_trainer = any(
        name.startswith("transformers.") and name.endswith("Trainer")
        for name in syntax.names.values()
    )
    return has_trainer or not all(made.is_off for made in autocasts(syntax))


def _add(found: dict[str, Region], regions: Iterable[Region]) -> None:
    for region in regions:
        for dtype in region.dtype.dtypes:
            found.setdefault(dtype, region)


@fact
def _opened_in(file: ParsedPython) -> tuple[Region, ...]:
    """The regions that a program opens around what it calls."""
    return (*_of_torch(file), *_of_frameworks(file))


def _of_torch(file: ParsedPython) -> Iterator[Region]:
    syntax = syntax_tree(file)
    for made in autocasts(syntax):
        dtype = None if made.is_off or region_of(made, syntax) is None else _dtype(made, syntax)
        if dtype is not None:
            yield _region(file, made.node, dtype)


def _of_frameworks(file: ParsedPython) -> Iterator[Region]:
    for node in file.nodes_of(ast.Call):
        for keyword in node.keywords:
            dtype = _of_framework(callee_name(node), keyword)
            if dtype is not None:
                yield _region(file, keyword.value, dtype)


def _region(file: ParsedPython, node: ast.expr, dtype: str) -> Region:
    origin = Origin(file.text, file.span_of(node), f"autocast to {dtype} is turned on here")
    return Region("cuda", Dtype(frozenset({dtype}), origin=origin))


def _dtype(made: AutocastCall, syntax: SyntaxTree) -> str | None:
    """The half dtype of a region for CUDA; None if the code does not say."""
    device = made.argument("device_type") if made.is_generic else None
    if made.device not in {None, "cuda"} or made.has_stars:
        return None
    dtype = made.argument("dtype")
    if dtype is None:
        is_plain = not made.is_generic or isinstance(device, ast.Constant)
        return FLOAT16 if is_plain else None
    return _named(dtype, syntax)


def _named(dtype: ast.expr, syntax: SyntaxTree) -> str | None:
    if isinstance(dtype, ast.Name):
        held = binding(dtype, syntax)
        dtype = held[0] if isinstance(held, list) and len(held) == 1 else dtype
    head, _, name = qualified(dtype, syntax.names).rpartition(".")
    named = ALIASES.get(name) if head == "torch" else None
    return named if named in HALF else None


def _of_framework(callee: str, keyword: ast.keyword) -> str | None:
    """The dtype that an argument makes a framework autocast the model to."""
    match keyword.arg, keyword.value:
        case str(name), ast.Constant(value=True) if name in _SWITCHES and callee.endswith(
            ("TrainingArguments", "SFTConfig", "DPOConfig", "RewardConfig")
        ):
            return _SWITCHES[name]
        case "mixed_precision", ast.Constant(value=str(name)) if callee == "Accelerator":
            return _OF_ACCELERATE.get(name)
        case "precision", ast.Constant(value=str() | int() as name) if callee in _LIGHTNING:
            return hooks.MIXED.get(str(name))
    return None


_LIGHTNING = frozenset({"Trainer", "Fabric"})
