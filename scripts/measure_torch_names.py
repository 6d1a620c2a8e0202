"""Record in which release of torch a public name can be imported for the first time.

    python scripts/measure_torch_names.py

Downloads the releases below, reads the source of their public modules without importing it, and
writes `precision_lint/facts/project/_generated/torch_names.py`: modules, and what they define or
export, that one release certainly lacks and all later ones have. A program that imports one of
these needs the release after.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "precision_lint/facts/project/_generated/torch_names.py"
RELEASES = ("2.2.2", "2.3.1", "2.4.1", "2.5.1", "2.6.0", "2.7.1", "2.8.0")
"""The first one is the base. A name of a later release proves no more than these do."""

PLATFORM = ("--platform", "macosx_11_0_arm64", "--python-version", "3.11")
"""The smallest wheels: the Python sources of all platforms are the same."""


_HEAD = '''\
"""The release of torch that brought a name. Written by scripts/measure_torch_names.py."""

from __future__ import annotations

SINCE: dict[str, str] = {'''


@dataclass(frozen=True)
class Module:
    """What a module defines, and every word in its source; no words if others fill it."""

    defined: frozenset[str]
    words: frozenset[str] | None


def main() -> None:
    releases = {release: _modules_of(release) for release in RELEASES}
    since: dict[str, str] = {}
    for index, release in enumerate(RELEASES[1:], 1):
        kept = set.intersection(*(_names(releases[later]) for later in RELEASES[index:]))
        before = releases[RELEASES[index - 1]]
        for name in kept - since.keys():
            if _lacks(before, name):
                since[name] = release.rpartition(".")[0]
    rows = (f'    "{name}": "{release}",' for name, release in sorted(since.items()))
    FILE.write_text("\n".join([_HEAD, *rows, "}", ""]))
    print(f"{len(since)} names", file=sys.stderr)


def _names(modules: dict[str, Module]) -> set[str]:
    own = {f"{module}.{name}" for module, one in modules.items() for name in one.defined}
    return own | modules.keys()


def _lacks(modules: dict[str, Module], name: str) -> bool:
    """True if no module of that release can have a name, however it came there."""
    module, _, last = name.rpartition(".")
    if name in modules:
        return False
    if module not in modules:
        return True
    words = modules[module].words
    return words is not None and last not in words


def _modules_of(release: str) -> dict[str, Module]:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder]
        command += ["--only-binary=:all:", *PLATFORM, f"torch=={release}"]
        subprocess.run(command, check=True)
        wheel = zipfile.ZipFile(next(Path(folder).glob("*.whl")))
        paths = [name for name in wheel.namelist() if _is_public(name)]
        return {
            path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): _module(
                wheel.read(path).decode()
            )
            for path in paths
        }


def _is_public(path: str) -> bool:
    if not (path.startswith("torch/") and path.endswith(".py")):
        return False
    parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
    return not any(part.startswith("_") or part == "testing" for part in parts)


def _module(source: str) -> Module:
    """What a module defines at its top level or lists in `__all__`, and the words in it."""
    names = (name for node in ast.parse(source).body for name in _names_in(node))
    is_filled = re.search(r"import \*|__getattr__|globals\(\)|sys\.modules", source)
    words = None if is_filled else frozenset(re.findall(r"\w+", source))
    return Module(frozenset(name for name in names if not name.startswith("_")), words)


def _names_in(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List(elts=listed)):
            yield from (one.value for one in listed if isinstance(one, ast.Constant))
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            yield name
        case ast.ImportFrom(names=aliases):
            yield from (alias.asname or alias.name for alias in aliases if alias.name != "*")


if __name__ == "__main__":
    main()
