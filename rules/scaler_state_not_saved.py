"""A checkpoint that contains the optimizer's state but not the scaler's.

## What it does
Finds checkpoints with `optimizer.state_dict()`, as an entry of a dict or put under a name
(`state["optimizer"] = optimizer.state_dict()`), in a file that creates a `GradScaler`, itself or in
a function that returns it, scales losses with it, and never calls its `state_dict()`. Functions of
the project that are given the scaler are followed. The file may also save an object of another
file's class that makes a scaler, `trainer.optimizer.state_dict()` of `trainer: Trainer`, or the
optimizer that a caller with a scaler gives to a function: then nothing that is seen may save the
scaler, hand it on to other code, or find attributes by their names. Not reported where nothing that
runs with the scaler computes in float16: all autocast regions of the file name bfloat16 or float32,
or the project has none. Nor where nothing in the programs of the file loads the state of an
optimizer, or what does in the file reads an entry that the checkpoint does not have: no run resumes
from such a checkpoint. A file with several scalers is reported if it saves the state of none of
them.

## Why it hurts
There is no error. After a resume the loss scale starts at 65536 again, whatever its value was: the
first steps overflow and are skipped while the learning-rate schedule continues, so the resumed run
differs from the interrupted one.

## Example
```python
scaler = torch.amp.GradScaler("cuda")
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
```

## Use instead
```python
scaler = torch.amp.GradScaler("cuda")
state = {
    "model": model.state_dict(),
    "optimizer": optimizer.state_dict(),
    "scaler": scaler.state_dict(),
}
torch.save(state, path)
```
and `scaler.load_state_dict(state["scaler"])` when the run is resumed.

## Fix safety
Shown only: the code that loads the checkpoint has to change too, and old checkpoints have no such
key. Where the function or the class that saves the checkpoint also loads the optimizer's state from
it, the fix loads that of the scaler below, if the checkpoint has one that is not empty, as that of
a scaler that is off. Where there may be no scaler,
as it is made under `if amp:`, both ask for it.

## References
- Pitfall B08
- https://docs.pytorch.org/docs/stable/notes/amp_examples.html
- https://github.com/huggingface/transformers/pull/11663
- https://github.com/ultralytics/ultralytics/pull/22189
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from precision_lint.fixers.checkpoints import load_beside
from precision_lint.fixers.entries import add_entry
from precision_lint.rule_api import (
    Applicability,
    Confidence,
    Edit,
    Finding,
    Fix,
    PythonFile,
    Related,
    Rule,
    Severity,
    UnsavedScaler,
    autocasts,
    callee_name,
    dotted,
    is_kept,
    is_refused,
    qualified,
    regex,
    resumption,
    scalers_made,
    scalers_of_callers,
    syntax_tree,
    unsaved_scalers,
)

RULE = Rule(
    code="MP206",
    name="scaler-state-not-saved",
    summary="a checkpoint without the state of the GradScaler",
    severity=Severity.WARNING,
    since="0.1.0",
    precisions=("fp16",),
    fix="display",
    triggers=((b".state_dict()",), (b"ptim", b"opt.")),
    pitfalls=("B08",),
)

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_OPTIMIZER = regex("(?<![a-z])(?:optimizer|optim|opt)(?![a-z])")
_FLOAT16 = rb"(?i)autocast|float16|fp16|\.half\(|precision|accelerat|fabric|deepspeed|apex"
"""How code, or a library that it calls, may compute in float16."""


def check_source(file: PythonFile) -> Iterator[Finding]:
    own = [*_of_file(file)]
    yield from own
    reported = {finding.place.span for finding in own}
    yield from (each for each in _of_others(file) if each.place.span not in reported)


def _of_file(file: PythonFile) -> Iterator[Finding]:
    """Checkpoints where a scaler of the file lives: in its function, or anywhere in the file."""
    scalers = sorted(scalers_made(file)) if ".scale(" in file.text.text else []
    if not scalers or is_kept(file, scalers) or _needs_no_scale(file):
        return
    confidence = resumption(file)
    if confidence is None:
        return
    scaler, *others = scalers
    living = [_living(other, file.tree) for other in others]
    for scope in _living(scaler, file.tree):
        if not all(scope in each for each in living):
            continue
        for node in ast.walk(scope):
            saved = [*filter(_is_entry_of_optimizer, _entries(node))]
            if saved and not (isinstance(node, ast.Dict) and is_refused(node, file)):
                key, value = saved[0]
                fix = None
                if isinstance(node, ast.Dict) and not others and _is_in_reach(scaler, node, file):
                    name = _name_beside(key, is_of_all=len(saved) > 1)
                    fix = _saved_too(scaler, name, key, value, scope, file)
                yield _finding(scalers, value, file, confidence, fix)


def _of_others(file: PythonFile) -> Iterator[Finding]:
    """Checkpoints of an object of another file, or of what callers give, who make the scaler."""
    if not file.project.python_sources_matching(rb"GradScaler\("):
        return
    for node in file.nodes:
        saved = [*filter(_is_entry_of_optimizer, _entries(node))]
        unsaved = _unsaved(saved[0][1], file) if saved else ()
        if not unsaved or any(_needs_no_scale(each.file) for each in unsaved):
            continue
        # What resumes has to run with the scaler, not only with the code that saves.
        resuming = [one for one in (resumption(each.file) for each in unsaved) if one is not None]
        if not resuming:
            continue
        confidence = max(resuming)
        key, value = saved[0]
        fix = None
        is_of_one = len(unsaved) == 1 and unsaved[0].is_always and _holder(value) is not None
        if isinstance(node, ast.Dict) and is_of_one:
            name = _name_beside(key, is_of_all=len(saved) > 1)
            fix = _saved_too(unsaved[0].name, name, key, value, file.tree, file)
        related = [each.related for each in unsaved]
        yield _finding([each.name for each in unsaved], value, file, confidence, fix, related)


def _unsaved(state: ast.expr, file: PythonFile) -> tuple[UnsavedScaler, ...]:
    """The scalers next to an optimizer that another object holds, or that a caller gives."""
    if (holder := _holder(state)) is not None:
        return unsaved_scalers(holder, file)
    match state:
        case ast.Call(func=ast.Attribute(value=ast.Name() as optimizer)):
            return scalers_of_callers(optimizer, file)
    return ()


def _holder(state: ast.expr) -> ast.expr | None:
    """The object of which `trainer.optimizer.state_dict()` saves a part."""
    match state:
        case ast.Call(func=ast.Attribute(value=ast.Attribute(value=holder))):
            return holder
    return None


def _entries(node: ast.AST) -> Iterable[tuple[ast.expr | None, ast.expr]]:
    """The keys and values of `{"model": …}`, `saved["model"] = …` and `dict(model=…)`, which has no
    key to write.
    """
    match node:
        case ast.Assign(
            targets=[ast.Subscript(slice=ast.Constant(value=str()) as key)], value=value
        ):
            return [(key, value)]
        case ast.Dict(keys=keys, values=values):
            return zip(keys, values, strict=True)
        case ast.Call(func=ast.Name(id="dict"), keywords=keywords):
            return [(None, keyword.value) for keyword in keywords]
    return ()


def _is_entry_of_optimizer(entry: tuple[ast.expr | None, ast.expr]) -> bool:
    return _is_state_of_optimizer(entry[1])


def _needs_no_scale(file: PythonFile) -> bool:
    """True if nothing that runs with a file computes in float16, whose gradients a scale keeps."""
    syntax = syntax_tree(file)
    dtypes = [made.argument("dtype") for made in autocasts(syntax) if not made.is_off]
    names = {each and qualified(each, syntax.names) for each in _alternatives(dtypes)}
    if names:
        return names <= {"torch.bfloat16", "torch.float32"}
    path, project = file.text.path, file.project
    return not project.is_alone and not any(
        each == path or project.runs_with(each, path)
        for each in project.python_sources_matching(_FLOAT16)
    )


def _alternatives(dtypes: Iterable[ast.expr | None]) -> Iterator[ast.expr | None]:
    """The dtypes, and both of `torch.bfloat16 if use_amp else torch.float32`."""
    for dtype in dtypes:
        match dtype:
            case ast.IfExp(body=body, orelse=orelse):
                yield from _alternatives([body, orelse])
            case _:
                yield dtype


def _living(scaler: str, tree: ast.Module) -> list[ast.AST]:
    """The functions that make a scaler for themselves: it ends with them. Else the whole file."""
    scopes = [
        node for node in ast.walk(tree) if isinstance(node, _Function) and _assigns(node, scaler)
    ]
    return [
        scope
        for scope in scopes
        if not any(other is not scope and _contains(scope, other) for other in scopes)
    ] or [tree]


def _contains(outer: ast.AST, inner: ast.AST) -> bool:
    return any(node is inner for node in ast.walk(outer))


def _assigns(function: ast.AST, name: str) -> bool:
    return any(
        isinstance(target, ast.Name) and target.id == name
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        for target in node.targets
    )


def _finding(
    scalers: Iterable[str],
    value: ast.expr,
    file: PythonFile,
    confidence: Confidence,
    fix: Fix | None,
    related: Sequence[Related] = (),
) -> Finding:
    named = " or ".join(f"`{each}`" for each in dict.fromkeys(scalers))
    return file.finding(
        RULE,
        file.span_of(value),
        f"the checkpoint holds the state of the optimizer, but not that of {named}",
        confidence=confidence,
        why="After a resume the loss scale starts at 65536 again, and the first steps are skipped.",
        fix=fix,
        related=related,
    )


def _is_in_reach(scaler: str, saved: ast.Dict, file: PythonFile) -> bool:
    """False if the code that saves has no variable for the object that holds the scaler."""
    owner = scaler.partition(".")[0]
    if owner == scaler:
        return True
    around = syntax_tree(file).around(saved)
    functions = [each for each in around if isinstance(each, _Function)]
    given = {
        arg.arg for each in functions for arg in ast.walk(each.args) if isinstance(arg, ast.arg)
    }
    return not functions or owner in given or any(_assigns(each, owner) for each in functions)


def _saved_too(
    scaler: str, name: str, key: ast.expr | None, value: ast.expr, scope: ast.AST, file: PythonFile
) -> Fix | None:
    asking = _asking_for(scaler, key, value, scope, file)
    if asking is None:
        return None
    state = f"{scaler}.state_dict()"
    if asking:
        state += f" if {asking} else None"
    edits = add_entry(file, key, value, name, state)
    loads: list[Edit] = []
    match key, value:
        case ast.Constant(value=str(written)), ast.Call(func=ast.Attribute(value=saved)):
            for each in _loading(scaler, scope, value, file.tree):
                loads += load_beside(file, each, written, saved, name, scaler, asking=asking)
    when = "" if loads else " when the run resumes"
    message = f"Save the state of the scaler too, and load it{when}"
    return Fix(Applicability.DISPLAY, message, (*edits, *loads))


def _asking_for(
    scaler: str, key: ast.expr | None, saved: ast.expr, scope: ast.AST, file: PythonFile
) -> str | None:
    """A condition that holds where there is a scaler: "" if there always is one, None if unknown.

    One that is made under `if amp:` alone is there if `amp` is true.
    """
    if _may_be_none(scaler, file.tree):
        return f"{scaler} is not None"
    made_under = _made_under(scaler, saved, file)
    if not made_under:
        return ""
    owner, _, attribute = scaler.rpartition(".")
    if owner:
        quote = "'" if key is not None and file.text[file.span_of(key)][0] == "'" else '"'
        return f"hasattr({owner}, {quote}{attribute}{quote})"
    condition = dotted(made_under[0].test)
    is_known = len(made_under) == 1 and _contains(scope, made_under[0])
    return condition if is_known else None


def _made_under(scaler: str, saved: ast.expr, file: PythonFile) -> list[ast.If]:
    """Each `if` of which only one side makes the scaler, and neither saves the checkpoint."""
    syntax = syntax_tree(file)
    found: list[ast.If] = []
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Assign) and scaler in map(dotted, node.targets):
            choices = (each for each in syntax.within_function(node) if isinstance(each, ast.If))
            choice = next((each for each in choices if not _contains(each, saved)), None)
            if choice is None or choice in found:
                return []
            found.append(choice)
    return found


def _may_be_none(scaler: str, tree: ast.Module) -> bool:
    """True if the file assigns None to the scaler, or a function that may return it does."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[target], value=value) if dotted(target) == scaler:
                sides = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
                if any(_is_none(one) or _may_return_none(one, tree) for one in sides):
                    return True
    return False


def _is_none(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _may_return_none(value: ast.expr, tree: ast.Module) -> bool:
    """True for a call of a function of the file that returns None in one of its branches."""
    called = callee_name(value) if isinstance(value, ast.Call) else ""
    return any(
        isinstance(node, ast.Return) and _is_none(node.value)
        for function in tree.body
        if isinstance(function, ast.FunctionDef) and function.name == called
        for node in ast.walk(function)
    )


def _loading(scaler: str, scope: ast.AST, saved: ast.expr, tree: ast.Module) -> Iterator[ast.AST]:
    """What may load the scaler's state: where its variable is, or the methods of the class."""
    if "." not in scaler:
        if _assigns(scope, scaler):
            yield scope
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and _contains(node, saved):
            methods = [each for each in node.body if isinstance(each, _Function)]
            yield from (each for each in methods if _has_scaler(each, scaler, methods))


def _has_scaler(
    method: ast.AST, scaler: str, methods: Sequence[ast.FunctionDef | ast.AsyncFunctionDef]
) -> bool:
    """True if an object has its scaler when a method begins, or the method makes it.

    One that another method than `__init__` makes may not be there yet, and neither may one in a
    method that `__init__` calls before.
    """
    making = [each for each in methods if _stores(each, scaler)]
    if any(each is method for each in making):
        return True
    begin = next((each for each in making if each.name == "__init__"), None)
    if begin is None or not isinstance(method, _Function):
        return False
    called = [
        node.lineno
        for node in ast.walk(begin)
        if isinstance(node, ast.Call) and dotted(node.func) == f"self.{method.name}"
    ]
    made = max(node.lineno for node in _stores(begin, scaler))
    return all(line > made for line in called)


def _stores(function: ast.AST, name: str) -> list[ast.Name | ast.Attribute]:
    """Where a function assigns a variable or an attribute of `self`."""
    return [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Name | ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and dotted(node) == name
    ]


def _name_beside(key: ast.expr | None, *, is_of_all: bool) -> str:
    """`scaler_state` beside `optimizer_state`; beside `g_optimizer_state`, if there are others."""
    match key:
        case ast.Constant(value=str(written)) if written.isidentifier():
            if found := _OPTIMIZER.search(written):
                name = _OPTIMIZER.sub("scaler", written)
                return name[found.start() :] if is_of_all else name
    return "scaler"


def _is_state_of_optimizer(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="state_dict"), args=[]):
            last = (dotted(owner) or "").rpartition(".")[2]
            return "optim" in last.lower() or last == "opt"
    return False
