"""Deprecated AMP API of torch.cuda and torch.cpu.

## What it does
Finds what torch deprecated in 2.4: `autocast`, `GradScaler`, `custom_fwd` and `custom_bwd` of
`torch.cuda.amp`, `autocast` and `GradScaler` of `torch.cpu.amp`, and the functions that have the
device in their name: `torch.get_autocast_gpu_dtype`, `torch.set_autocast_cpu_enabled` and so on. It
reports calls, decorators, annotations, subclasses, the class as a value, and all imports of these.

Silent in a project that still supports torch before 2.4: by `--target-torch`, by a pin, by a lower
bound such as `torch>=2.1` in its requirements, or, if it declares none, by its documentation, by
code that builds an image (`pip_install("torch==2.1.2")`), by a pin of another project in the same
collection, by an import of `torch._six`, which torch 2.0 removed, by a timm that has this import
(`assert timm.__version__ == "0.3.2"`), by code that chooses between the old and the new API, or, in
one file, by code for older releases alone (`torch.__version__.startswith("1.8.")`).
That code itself is not reported either (under `if torch.__version__ …`, `hasattr(torch.amp, …)` or
`try: … except ImportError:`), nor are names that are imported here for other files.

## Why it hurts
`` FutureWarning: `torch.cuda.amp.autocast(args...)` is deprecated. Please use
`torch.amp.autocast('cuda', args...)` instead. `` Following this literally causes a crash or
different numbers, because the signatures differ: the first argument of the old class is `enabled`,
the second argument of the new class is `dtype`. `torch.amp.autocast("cuda", use_amp)` raises
`TypeError: set_autocast_dtype(): argument 'dtype' (position 2) must be torch.dtype, not bool`.
Inside another region, the new class inherits that region's dtype, while the old one was always
float16.

## Example
```python
from torch.cuda.amp import GradScaler, autocast

scaler = GradScaler(2.0**12)
with autocast(use_amp, amp_dtype):
    loss = model(batch)
with autocast():
    loss = model(batch)
```

## Use instead
```python
scaler = torch.amp.GradScaler("cuda", 2.0**12)
with torch.amp.autocast("cuda", enabled=use_amp, dtype=amp_dtype):
    loss = model(batch)
with torch.amp.autocast("cuda", dtype=torch.float16):
    loss = model(batch)
```

## Fix safety
Safe: positional arguments get their names. If the new default can differ from the old one, the old
default is written out: `dtype=torch.float16` (bfloat16 on CPU), and `cache_enabled=True` if a
program with the file disables the cache. A disabled region (`enabled=False`) needs neither; only
code in it that queries the autocast dtype, or opens a region without one, could tell the
difference.

Unsafe if the project checks for the class (`isinstance(scaler, torch.cuda.amp.GradScaler)`), for
`**options` that may or may not contain a dtype, for `functools.partial(autocast)`, and for
`is_autocast_cpu_enabled` in a project that uses `torch.jit.script`, which does not compile the new
call. No fix for `autocast(*args)`, for subclasses, and where the class is passed on as a value.

Where no requirement of the project has a version of torch, that of torchvision or torchaudio
counts, then what its README or install page says ("PyTorch 2.0 required"), then the CUDA for which
its commands install torch: `whl/cu121` gives torch 2.5. Where these name none, either, the newest
is assumed, and the finding says so. Then the fix is unsafe unless it is that of autocast, or the
project needs a torch that has the new API: it calls it elsewhere, or a program with the file
imports a later name, such as `torch.distributed.fsdp.fully_shard` of torch 2.6. torch before 2.3
lacks `torch.amp.GradScaler`, torch before 2.4 lacks `torch.amp.custom_fwd` and the functions that
take the device: the fix then says which bound it takes.

The fix of an import migrates all its uses in the file and removes it, unless another file imports
the name from there.

## References
- Pitfalls C01, C09
- https://docs.pytorch.org/docs/stable/amp.html
- https://github.com/karpathy/nanoGPT/issues/635
- https://github.com/MIC-DKFZ/nnUNet/pull/2684
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.fixers import amp_api, imports
from precision_lint.rule_api import (
    DEPRECATED_FUNCTIONS,
    Applicability,
    Confidence,
    DeprecatedImport,
    DeprecatedUse,
    Finding,
    Fix,
    PythonFile,
    Rule,
    Severity,
    Span,
    deprecated_amp,
    is_in_every_torch,
    is_interchangeable,
    turns_cache_off,
)

RULE = Rule(
    code="MP801",
    name="deprecated-amp-api",
    summary="AMP API that torch 2.4 deprecated, with another signature than its replacement",
    severity=Severity.WARNING,
    since="0.1.0",
    fix="sometimes",
    triggers=(
        (b"torch",),
        (
            *(b"cuda.amp", b"cpu.amp", b"torch.cuda import", b"torch.cpu import", b"torch.cuda as"),
            *(name.encode() for name in sorted(DEPRECATED_FUNCTIONS)),
        ),
    ),
    pitfalls=("C01", "C09"),
)

_WARNS = "torch has warned since 2.4 (FutureWarning)."
_WHY = {
    "amp.autocast": f"{_WARNS} The old class takes `enabled` first, the new one "
    "`device_type, dtype, enabled`.",
    "amp.GradScaler": f"{_WARNS} The new one takes the device first.",
}
_WARNS_QUIETLY = "torch has warned since 2.4 (DeprecationWarning)."
_ASSUMED = " The project names no version of torch, so the newest is assumed."


def check_source(file: PythonFile) -> Iterator[Finding]:
    for found in deprecated_amp(file):
        match found:
            case DeprecatedUse():
                yield _of_use(found, file)
            case DeprecatedImport():
                yield _of_import(found, file)


def _of_use(use: DeprecatedUse, file: PythonFile) -> Finding:
    quiet = _WARNS if use.api.name.startswith("amp.") else _WARNS_QUIETLY
    return file.finding(
        RULE,
        file.span_of(use.node),
        f"`{use.qualified}` is deprecated: use `{use.api.usage}`",
        confidence=Confidence.HIGH,
        why=_why(_WHY.get(use.api.name, quiet), file),
        fix=_migrated(use, file),
    )


def _migrated(use: DeprecatedUse, file: PythonFile) -> Fix | None:
    migration = amp_api.migration(file, use, file.import_style, keeps_cache=turns_cache_off(file))
    if migration is None:
        return None
    level, message = Applicability.SAFE, f"Use `torch.{use.api.name}`"
    if not (migration.is_exact and is_interchangeable(use, file)):
        level = Applicability.UNSAFE
    elif not is_in_every_torch(use, file):
        level = Applicability.UNSAFE
        since = _SINCE.get(use.api.name, "2.4")
        message += f", which torch before {since} lacks: require `torch>={since}`"
    return Fix(level, message, migration.edits)


_SINCE = {"amp.GradScaler": "2.3"}


def _why(text: str, file: PythonFile) -> str:
    version = file.project.lowest_version_of("torch", file.text.path)
    return text + _ASSUMED if version is None else text


def _of_import(old: DeprecatedImport, file: PythonFile) -> Finding:
    start = file.text.offset_of_utf8(old.alias.lineno, old.alias.col_offset)
    return file.finding(
        RULE,
        Span(start, start + len(old.alias.name)),
        f"`{old.qualified}` is deprecated: use `torch.{old.api.name if old.api else 'amp'}`",
        confidence=Confidence.HIGH,
        why=_why(_WARNS, file),
        fix=_removed(old, file),
    )


def _removed(old: DeprecatedImport, file: PythonFile) -> Fix | None:
    """The import goes once nothing uses it: together with the migration of its uses."""
    migrated = [_migrated(use, file) for use in old.uses]
    fixes = [fix for fix in migrated if fix is not None]
    migrations = [edit for fix in fixes for edit in fix.edits]
    removal = imports.remove_name(file, old.statement, old.alias, migrations)
    if removal is None or len(fixes) < len(migrated):
        return None
    if not fixes:
        return Fix(Applicability.SAFE, "Remove the import, which nothing uses", (removal,))
    level = min(fix.applicability for fix in fixes)
    edits = dict.fromkeys((removal, *migrations))
    return Fix(level, f"{fixes[0].message}, and remove the import", tuple(edits))
