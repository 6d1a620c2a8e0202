"""A choice between bfloat16 and float16 that counts emulated bfloat16 as supported.

## What it does
Finds choices of bfloat16 or float16 by `torch.cuda.is_bf16_supported()`: a conditional expression,
an `if` with an `else`, and arguments such as `bf16=…, fp16=not …`. The answer may be held by a name
(`use_bf16 = torch.cuda.is_bf16_supported()`) or come from a function that does nothing but ask,
also in another file. The float16 side is what shows that the program is meant for older GPUs, too.

Not reported: `is_bf16_supported(including_emulation=False)`, a condition that asks for the compute
capability as well, uses that choose nothing between the two, projects that pin a torch before 2.4,
which has no such parameter, and projects whose [`target-gpu`](../configuration.md) computes in
bfloat16, such as `A100`. Nor is it reported where float16 would not help an older GPU: in programs
that load a model with FlashAttention, which needs Ampere, or whose options do so by default, in
functions that come to a call of `flash_attn_varlen_func` or its like after the choice, in programs
that only merge adapters into weights and save them, and for `bf16=…, fp16=not …` in files
that load a model in bfloat16 in any case. After `import unsloth` the function is another one, which
leaves emulation out (unsloth 2026.10.9). Confidence is low in a program that certainly raises
before it has computed anything.

## Why it hurts
`torch.cuda.is_bf16_supported()` is true on GPUs before Ampere (V100, T4), where bfloat16 is
emulated: its parameter `including_emulation` is True by default (torch 2.13). So the float16 side
is never taken there. There is no error, but matrix products run without tensor cores, several times
slower than in float16.

## Example
```python
dtype = torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
```

## Use instead
```python
dtype = (
    torch.bfloat16
    if torch.cuda.is_bf16_supported(including_emulation=False)
    else torch.float16
)
```

## Fix safety
Unsafe: on an older GPU, the program then computes in float16, which needs loss scaling to train.
torch before 2.4 rejects the argument. In a project that may run with it, the fix is
`torch.cuda.get_device_capability() >= (8, 0)` if the code checks for CUDA first. Otherwise the
argument is shown only, or the fix says that it takes 2.4 if the project names no version of torch.

## References
- Pitfall L02
- https://github.com/pytorch/pytorch/pull/148322
- https://github.com/huggingface/diffusers/pull/14129
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from precision_lint.fixers import calls
from precision_lint.rule_api import (
    Answer,
    Applicability,
    Confidence,
    Edit,
    Finding,
    Fix,
    PythonFile,
    Related,
    Rule,
    Severity,
    SyntaxTree,
    answers,
    asks_for_a_gpu,
    dotted,
    gpu,
    last_name,
    names_bfloat16,
    names_float16,
    oldest_torch,
    own_nodes,
    qualified,
    regex,
    syntax_tree,
)

RULE = Rule(
    code="MP604",
    name="is-bf16-supported-emulation",
    summary="a choice of bfloat16 or float16 that counts emulated bfloat16 as supported",
    severity=Severity.WARNING,
    since="0.1.0",
    precisions=("bf16",),
    fix="sometimes",
    triggers=((b"is_bf16_supported()",),),
    pitfalls=("L02",),
)

_FUNCTION = "torch.cuda.is_bf16_supported"
_SINCE = (2, 4)
_FLASH_NAME = regex(r"'flash_attention_[23]'")
_FLASH_GIVEN = rb"\battn_implementation\s*=\s*[\"']flash_attention_[23][\"']"
"""How another file of the program loads a model with it."""
_FLASH = {"attn_implementation": _FLASH_NAME}
_VARLEN = regex(r"flash_attn\.(?:\w+\.)*flash_attn_varlen_\w+")
"""Functions that FlashAttention has since 2.0: 1.x, which ran on Turing, called them `unpadded`."""
_BRANCHES = (ast.If, ast.Try, ast.For, ast.While, ast.Match)
_MERGING = ("merge_and_unload", "save_pretrained")
_RUNNING = (
    "Trainer", "SFTTrainer", "autocast", "backward", "compile", "forward", "generate", "model",
    "pipeline", "train",
)  # fmt: skip
"""The calls of a program that computes with a model."""
_OF_ATTENTION = regex(r"attn|attention")
_BFLOAT16 = dict.fromkeys(("dtype", "torch_dtype"), regex(r"(torch\.)?bfloat16|'bfloat16'"))
_ALSO_ASKED = regex(r"capab|major|_sm\b|ampere", re.IGNORECASE)


def check_source(file: PythonFile) -> Iterator[Finding]:
    version = file.project.version_of("torch")
    targeted = gpu(file.project.target_gpu)
    if (version is not None and version < _SINCE) or (targeted is not None and targeted.bfloat16):
        return
    syntax = syntax_tree(file)
    asked = [each for each in syntax.calls("is_bf16_supported") if _counts_emulation(each, syntax)]
    found = [each for each in asked if not _is_replaced(each, file, syntax)]
    for call in found:
        chosen = next((each for each in answers(call, file) if _counts(each, file)), None)
        if chosen is None or (fallback := _fallback(chosen)) is None:
            continue
        negated = _negated_in(syntax.parent(syntax.parent(call) or call), found)
        module = chosen.module
        place = module.text.place(module.span_of(fallback))
        yield file.finding(
            RULE,
            file.span_of(call),
            "this call is also true on GPUs that only emulate bfloat16",
            confidence=Confidence.MEDIUM,
            why="GPUs before Ampere emulate bfloat16, slowly, and the float16 branch never runs.",
            fix=_fix([call, *negated], file, syntax),
            related=[Related(place, "float16 is chosen for the other GPUs")],
        )


def _counts(answer: Answer, file: PythonFile) -> bool:
    """True for an answer that chooses between bfloat16 and float16, which older GPUs would run."""
    syntax = syntax_tree(answer.module)
    fallback = _fallback(answer)
    if fallback is None or (_is_switch(fallback) and _loads(syntax, _BFLOAT16)):
        return False
    if _comes_to_flash_attention(answer.node, syntax):
        return False
    return not (_needs_ampere(syntax, answer.module.text.path, file) or _only_merges(syntax))


def _loads(syntax: SyntaxTree, arguments: dict[str, re.Pattern[str]]) -> bool:
    """True if the file loads a model with one of these arguments, written out."""
    return any(
        pattern.fullmatch(ast.unparse(keyword.value))
        for call in syntax.calls("from_pretrained")
        for keyword in call.keywords
        if (pattern := arguments.get(keyword.arg or "")) is not None
    )


def _needs_ampere(syntax: SyntaxTree, path: Path, file: PythonFile) -> bool:
    """True for a program with FlashAttention, which refuses GPUs that emulate bfloat16."""
    return (
        _loads(syntax, _FLASH)
        or _is_flash_default(syntax)
        or any(
            file.project.runs_with(each, path)
            for each in file.project.python_sources_matching(_FLASH_GIVEN)
        )
    )


def _comes_to_flash_attention(call: ast.expr, syntax: SyntaxTree) -> bool:
    """True if a function calls FlashAttention 2 itself wherever it makes the choice."""
    function = syntax.function(call)
    around = {*syntax.around(call)}
    return function is not None and any(
        isinstance(node, ast.Call)
        and node.lineno > call.lineno
        and _VARLEN.fullmatch(qualified(node.func, syntax.names)) is not None
        and all(each in around for each in syntax.around(node) if isinstance(each, _BRANCHES))
        for node in own_nodes(function)
    )


def _is_flash_default(syntax: SyntaxTree) -> bool:
    """True if FlashAttention is the default of an option of the program."""
    return any(
        _FLASH_NAME.fullmatch(ast.unparse(keyword.value)) is not None
        for call in syntax.calls("add_argument")
        if call.args and _OF_ATTENTION.search(ast.unparse(call.args[0])) is not None
        for keyword in call.keywords
        if keyword.arg == "default"
    )


def _only_merges(syntax: SyntaxTree) -> bool:
    """True for a program that merges adapters into weights and saves them: it runs no model."""
    return all(map(syntax.calls, _MERGING)) and not any(map(syntax.calls, _RUNNING))


def _is_replaced(call: ast.Call, file: PythonFile, syntax: SyntaxTree) -> bool:
    """True after `import unsloth`, which replaces the function by one that leaves emulation out."""
    around = {*syntax.around(call)}
    for node in (*file.nodes_of(ast.Import), *file.nodes_of(ast.ImportFrom)):
        given = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        given += [each.name for each in node.names] if isinstance(node, ast.Import) else []
        if not any(name.partition(".")[0] == "unsloth" for name in given):
            continue
        function = syntax.function(node)
        if function is None and syntax.function(call) is not None:
            return True  # the module is imported before any of its functions is called
        if node.lineno < call.lineno and (function is None or function in around):
            return True
    return False


def _is_switch(fallback: ast.expr) -> bool:
    """True for `fp16=not …`, which leaves the weights as they were loaded."""
    return isinstance(fallback, ast.UnaryOp)


def _counts_emulation(call: ast.Call, syntax: SyntaxTree) -> bool:
    return not (call.args or call.keywords) and qualified(call.func, syntax.names) == _FUNCTION


def _fallback(answer: Answer) -> ast.expr | None:
    """The float16 that is chosen where bfloat16 is not supported."""
    asked, syntax = answer.node, syntax_tree(answer.module)
    inner: ast.AST = asked
    around = (
        each for each in syntax.within_function(asked) if isinstance(each, ast.If | ast.IfExp)
    )
    if any(_ALSO_ASKED.search(ast.unparse(each.test)) for each in around):
        return None
    for parent in syntax.within_function(asked):
        match parent:
            case ast.IfExp(test=test, body=body, orelse=orelse) if inner is test:
                return _chosen(test, answer, [body], [orelse])
            case ast.If(test=test, body=block, orelse=others) if inner is test:
                returns = isinstance(block[-1], ast.Return) and not others
                otherwise = _following(parent, syntax) if returns else others
                return _chosen(test, answer, _values(block), _values(otherwise))
            case ast.keyword(arg="bf16"):
                return _negation(asked, syntax.parent(parent))
            case ast.Assign(targets=[target]) if last_name(target) == "bf16":
                return _negated_after(parent, target, syntax)
            case ast.BoolOp() | ast.UnaryOp():
                inner = parent
                continue
        if not isinstance(parent, ast.BoolOp | ast.UnaryOp):
            return None
    return None


def _following(node: ast.stmt, syntax: SyntaxTree) -> Sequence[ast.stmt]:
    """The statements after one, in its block: they run where it does not return."""
    block = getattr(syntax.parent(node), "body", [])
    return block[block.index(node) + 1 :] if node in block else []


def _values(block: Sequence[ast.stmt]) -> list[ast.expr]:
    """What the assignments and returns of a short block give."""
    values = [node.value for node in block if isinstance(node, ast.Assign | ast.Return)]
    return [value for value in values if value is not None]


def _chosen(
    test: ast.expr, answer: Answer, body: list[ast.expr], orelse: list[ast.expr]
) -> ast.expr | None:
    """The float16 of two sides of which the other one is bfloat16."""
    asked, syntax = answer.node, syntax_tree(answer.module)
    if isinstance(test, ast.BoolOp) and not asks_for_a_gpu(test, asked, syntax):
        return None
    if isinstance(test, ast.UnaryOp):
        body, orelse = orelse, body
    is_bfloat16 = any(names_bfloat16(word) for one in body for word in _words(one))
    found = (one for one in orelse if any(map(names_float16, _words(one))))
    return next(found, None) if is_bfloat16 else None


def _words(node: ast.expr) -> Iterator[str]:
    """The texts and the last names in an expression."""
    for each in ast.walk(node):
        match each:
            case ast.Constant(value=str(word)) | ast.Attribute(attr=word) | ast.Name(id=word):
                yield word


def _negation(asked: ast.expr, around: ast.AST | None) -> ast.expr | None:
    """The `fp16=not torch.cuda.is_bf16_supported()` beside `bf16=`."""
    for keyword in around.keywords if isinstance(around, ast.Call) else []:
        match keyword:
            case ast.keyword(arg="fp16", value=ast.UnaryOp(op=ast.Not(), operand=operand)):
                if ast.unparse(operand) == ast.unparse(asked):
                    return keyword.value
    return None


def _negated_after(statement: ast.stmt, target: ast.expr, syntax: SyntaxTree) -> ast.expr | None:
    """The `args.fp16 = not args.bf16` after `args.bf16 =`."""
    for following in _following(statement, syntax):
        match following:
            case ast.Assign(
                targets=[other], value=ast.UnaryOp(op=ast.Not(), operand=operand) as negation
            ) if last_name(other) == "fp16" and ast.unparse(operand) == ast.unparse(target):
                return negation
    return None


def _negated_in(around: ast.AST | None, found: list[ast.Call]) -> list[ast.Call]:
    """The same question in the other arguments of a call."""
    if not isinstance(around, ast.Call):
        return []
    values = [keyword.value for keyword in around.keywords if keyword.arg == "fp16"]
    return [each for value in values for each in ast.walk(value) if each in found]


def _fix(asked: list[ast.Call], file: PythonFile, syntax: SyntaxTree) -> Fix | None:
    oldest = oldest_torch(file)
    if oldest is None or oldest < _SINCE:
        edits = [_capability(each, file) for each in asked if _is_on_a_gpu(each, syntax)]
        if len(edits) == len(asked):
            message = "Compare the compute capability instead"
            return Fix(Applicability.UNSAFE, message, tuple(edits))
    known = [
        edit
        for each in asked
        if (edit := calls.add_keyword(file, file.span_of(each), *_EXACT)) is not None
    ]
    if len(known) < len(asked):
        return None
    level, message = Applicability.UNSAFE, "Exclude emulation with `including_emulation=False`"
    if oldest is None:
        message += ", which torch before 2.4 rejects: require `torch>=2.4`"
    elif oldest < _SINCE:
        level, message = Applicability.DISPLAY, f"{message} (torch 2.4)"
    return Fix(level, message, tuple(known))


_EXACT = ("including_emulation", "False")


def _capability(call: ast.Call, file: PythonFile) -> Edit:
    """`torch.cuda.get_device_capability() >= (8, 0)`."""
    span = file.span_of(call)
    asked = file.text[span].replace("is_bf16_supported", "get_device_capability")
    return Edit(span, f"{asked} >= (8, 0)")


def _is_on_a_gpu(call: ast.Call, syntax: SyntaxTree) -> bool:
    """True if the code checks `torch.cuda.is_available()` first: there is no capability without."""
    inner: ast.AST = call
    for parent in syntax.within_function(call):
        match parent:
            case ast.If(test=test, body=body) | ast.IfExp(test=test, body=body):
                taken = body if isinstance(body, list) else [body]
                if inner is not test and inner in taken and _asks_for_cuda(test):
                    return True
            case ast.BoolOp(op=ast.And(), values=values):
                position = values.index(inner) if inner in values else 0
                if any(map(_asks_for_cuda, values[:position])):
                    return True
        if isinstance(inner, ast.stmt) and any(map(_leaves_without_cuda, _before(inner, syntax))):
            return True
        inner = parent
    return False


def _asks_for_cuda(test: ast.expr) -> bool:
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            return any(map(_asks_for_cuda, values))
    return isinstance(test, ast.Call) and (dotted(test.func) or "").endswith("cuda.is_available")


def _leaves_without_cuda(node: ast.stmt) -> bool:
    """True for `if not torch.cuda.is_available(): return`."""
    match node:
        case ast.If(
            test=ast.UnaryOp(op=ast.Not(), operand=operand), body=[*_, ast.Return() | ast.Raise()]
        ):
            return _asks_for_cuda(operand)
    return False


def _before(node: ast.stmt, syntax: SyntaxTree) -> Sequence[ast.stmt]:
    """The statements before one, in its block."""
    block = syntax.block(node)
    return block[: block.index(node)] if node in block else []
