"""Library versions as the project pins them, read from its requirement and lock files.

Many research projects pin nothing and name a version in the commands of their install page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from precision_lint.model.regex import regex
from precision_lint.project import disk, environments, images
from precision_lint.project.cuda_builds import (
    COMPANIONS,
    newest_torch,
    torch_of_companion,
    torch_of_triton,
)

FILES = (
    "uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "requirements.txt", "*requir*ment*.txt",
    "req.txt", "reqs.txt", "requirements/*.txt", "constraints*.txt", "pyproject.toml", "setup.cfg",
    "*environment*.y*ml", "cog.yaml", "requirements*.y*ml", "scripts/requirements*",
    "env*/*.y*ml", "conda*/*.y*ml", "env*.y*ml", "conda*.y*ml",
)  # fmt: skip
"""Files with pins below the project root: lock files take precedence over requirements.

`requirments.txt` is a frequent slip.
"""

DECLARATIONS = (
    "*requir*ment*.txt", "req.txt", "reqs.txt", "requirements/**/*.txt", "constraints*.txt",
    "pyproject.toml", "setup.cfg", "setup.py", "*environment*.y*ml", "requirements*.y*ml",
    "scripts/requirements*", "cog.yaml", "env*/*.y*ml", "conda*/*.y*ml", "env*.y*ml", "conda*.y*ml",
)  # fmt: skip
"""Files in which a project declares the versions that it supports."""

ENVIRONMENTS = ("*.y*ml",)
"""Files that can be environments of Conda under names of their own, such as `my-model.yaml`."""

_ENVIRONMENT = regex(r"^dependencies:[ \t]*(?:#.*)?$", re.MULTILINE)
_NAMED = regex(r"^(?:name|channels|prefix):", re.MULTILINE)


def _in_any_case(pattern: str) -> str:
    return re.sub("[a-z]", lambda letter: f"[{letter[0]}{letter[0].upper()}]", pattern)


_DOCUMENTS = (
    "readme*.md", "install*.md", "instructions*.md", "get*started*.md",
    "docs/install*.md", "docs/setup*.md", "docs/get*started*.md",
    "docs/*/install*.md", "docs/*/setup*.md", "docs/*/get*started*.md",
    "dockerfile*", "docker/*dockerfile*", "docker/*/*dockerfile*", "*.sh",
    "scripts/*install*.sh", "scripts/*setup*.sh", "*install/*.sh",
)  # fmt: skip
DOCUMENTS = tuple(map(_in_any_case, _DOCUMENTS))
"""Files whose install commands count where no other file pins a version."""

_OF_PARTS = (_in_any_case("*/readme*.md"),)
"""The pages of the parts of a project, which count where its own pages name no version."""

_LISTS = ("*requir*ment*.txt", "constraints*.txt", "*environment*.y*ml")
_OF_DOCUMENTATION = frozenset({"doc", "docs"})

_MAX_BYTES = 4_000_000

_INSTALL = regex(r"(?i)\binstall\b([^\n]*)")
_EXACT = regex(r"\s*===?\s*(\d+(?:\.\d+)+)")
_COMMENT = regex(r"^[ \t]*#.*$", re.MULTILINE)
_SPECIFIER = regex(r"(===|==|~=|!=|>=|<=|>|<|\^|~|=)?\s*(\d+(?:\.\d+)*)")


def pinned_version(root: Path, library: str) -> str | None:
    """The version that the project pins a library to, or that its install command names, if any."""
    name = _name(library)
    conda = _conda_name(library)
    pin = re.compile(
        rf"""(?mix)
        (?: ^[ \t"'-]* | ["'] ) {name} (?:\[[^\]\n]{{0,99}}\])?
            \s* (?:=== | == | ~= | = \s* ["']) =? \s*
            (?P<plain>\d+(?:\.\d+)+)                              # torch==2.3.1, torch = "2.3.1"
        | ^{name} \s* @ [^\n#]* / {name}-(?P<wheel>\d+(?:\.\d+)+)   # torch @ file:///torch-2.3.1-cp310…
        | ^[ \t]* - [ \t]* ["']? (?:[\w.-]+ ::)? {conda} [ \t]* ==?
            (?P<conda>\d+(?:\.\d+)+)                              # - conda-forge::pytorch=2.3.1
        | ^name \s* = \s* "{name}" \s* \n version \s* = \s* "(?P<locked>\d+(?:\.\d+)+)
        | "{name}" \s* : \s* \{{ [^{{}}]* "version" \s* : \s* "==(?P<pipfile>\d+(?:\.\d+)+)
        """,
    )
    for path, content in chain(_files(root, FILES), _environments(root)):
        if match := pin.search(content):
            version: str = next(filter(None, match.groups()))
            is_old = _is_contradicted(root, conda, version) or _is_upgraded(root, conda, path)
            return None if is_old else version
    for specifiers in images.requirements(root, conda):
        if exact := _EXACT.match(specifiers):
            return exact[1]
    shown = _installed_version(root, conda) or environments.listed(contents(root, DOCUMENTS), conda)
    return None if shown is None or _is_outdated(shown, root, library) else shown


def _is_outdated(version: str, root: Path, library: str) -> bool:
    """True for a version that a document names where a requirement asks for a later one."""
    named = tuple(map(int, version.split(".")))
    return any(named < lowest for lowest in _declared(contents(root, DECLARATIONS), library))


def _is_contradicted(root: Path, name: str, version: str) -> bool:
    """True if a comment in the requirements installs another release: one of the files is old."""
    pin = re.compile(rf"(?im)^[ \t]*#[^\n]*\binstall\b[^\n]*?(?<![\w.-]){name}==(\d+\.\d+)")
    installed = {each[1] for each in map(pin.search, contents(root, _LISTS[:1])) if each}
    return bool(installed) and not any(f"{version}.".startswith(f"{one}.") for one in installed)


def _is_upgraded(root: Path, name: str, file: Path) -> bool:
    """True if a document installs the newest release, and none names the file with the pin."""
    upgrade = re.compile(rf"(?i)[ \t](?:-U|--upgrade)[ \t](?:[^\n]*[ \t])?{name}(?:[ \t]|$)")
    pages = [*contents(root, DOCUMENTS)]
    commands = (each[1] for page in pages for each in _INSTALL.finditer(page))
    return any(map(upgrade.search, commands)) and not any(file.name in page for page in pages)


def _installed_version(root: Path, name: str) -> str | None:
    """The version that the first install command of the documentation names."""
    pin = re.compile(rf"(?i)(?<![\w.-])(?:\w+::)?{name}==?(\d+(?:\.\d+)+)")
    for content in contents(root, DOCUMENTS):
        for command in _INSTALL.finditer(content):
            if match := pin.search(command[1]):
                return match[1]
    return None


def own_version(package: Path) -> str:
    """The `__version__` that the top of a package assigns; empty if it assigns none."""
    try:
        content = disk.read(package, _MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
    match = re.search(r"""(?m)^__version__\s*=\s*["'](\d+(?:\.\d+)+)""", content)
    return match[1] if match else ""


def lowest_version(root: Path, library: str) -> str | None:
    """The lowest version of a library that the project declares to support; None if there is none.

    `torch>=2.1,<3` gives 2.1. With only an upper bound (`torch<2.3`), that bound is returned. Where
    no requirement has a version, an environment of Conda gives it, or one in a folder without code
    (`assets/requirements.txt`), then code that builds an image (of torch, then torchvision,
    torchaudio or Triton), then what the documents say ("PyTorch 2.0 required"; those of the parts
    where the project's own say nothing), and then for which CUDA commands install torch.
    """
    declared = [*_declared(contents(root, DECLARATIONS), library)]
    if not declared:
        declared += _declared((content for _, content in _environments(root)), library)
    if not declared:
        declared += _declared(_in_folders_without_code(root), library)
    if not declared:
        declared += _in_images(root, library)
    if not declared and library == "torch":
        declared += _by_companions(root)
    if not declared:
        declared += _documented(root, library, DOCUMENTS) or _documented(root, library, _OF_PARTS)
    if not declared and library == "torch":
        pages = contents(root, (*DECLARATIONS, *DOCUMENTS))
        declared += [one for one in map(newest_torch, pages) if one is not None]
    return ".".join(map(str, min(declared))) if declared else None


def _declared(contents: Iterable[str], library: str) -> Iterator[tuple[int, ...]]:
    """The lowest version that each requirement of a library in some files allows."""
    requirement = re.compile(
        rf"""(?mix)
        (?: ^[ \t-]* | ["'] ) {_conda_name(library)} ["']? [ \t]* (?:\[[^\]\n]{{0,99}}\] [ \t]*)?
        (?: (?: = [ \t]* (?:\{{ [^\n}}]{{0,199}} version [ \t]* = [ \t]*)? ["'] | \( ) [ \t]* )?
        (?P<specifiers> (?: (?:[=~!<>^]=?=? [ \t]*)? \d [\w.+*]* [ \t]* (?: , [ \t]*)?)+ )
        """
    )
    wheel = re.compile(rf"(?im)^{_name(library)}\s*@[^\n#]*/{_name(library)}-(\d+(?:\.\d+)+)")
    for content in contents:
        for match in requirement.finditer(_COMMENT.sub("", content)):
            if (version := _lowest(match["specifiers"])) is not None:
                yield version
        for match in wheel.finditer(content):
            yield tuple(map(int, match[1].split(".")))


def _in_folders_without_code(root: Path) -> Iterator[str]:
    """The requirements in folders at most two levels down that have no Python code.

    They are those of the whole project; a folder with code may be a project of its own.
    """
    for name in _LISTS:
        for depth in ("*", "*/*"):
            for path in disk.matching(root, f"{depth}/{name}"):
                folder = path.parent
                if folder.name not in _OF_DOCUMENTATION and not disk.matching(folder, "**/*.py"):
                    yield from contents(folder, (path.name,))


def _in_images(root: Path, library: str) -> Iterator[tuple[int, ...]]:
    """The lowest version that each image of the code allows."""
    for specifiers in images.requirements(root, _conda_name(library)):
        if (version := _lowest(specifiers)) is not None:
            yield version


def _by_companions(root: Path) -> Iterator[tuple[int, ...]]:
    """The torch that the requirements of torchvision, torchaudio and Triton ask for."""
    for package in COMPANIONS:
        for version in _declared(contents(root, DECLARATIONS), package):
            if (torch := torch_of_companion(package, version)) is not None:
                yield torch
    yield from filter(None, map(torch_of_triton, contents(root, DECLARATIONS)))


_MONTHS = (
    (20, 4), (20, 7), (20, 10), (21, 3), (21, 6), (21, 10), (22, 3), (22, 6), (22, 10), (23, 3),
    (23, 10), (24, 1), (24, 4), (24, 7), (24, 10), (25, 1), (25, 4), (25, 8), (25, 10),
)  # fmt: skip
"""When torch 1.5 and each release after it came out, up to 2.9.

The wiki of pytorch/pytorch lists those up to 2.7 (read on 2026-11-23); it has 1.11 a month earlier.
"""
_RELEASES = ((1, 5), *((1, minor) for minor in range(6, 14)), *((2, minor) for minor in range(10)))


def _release(library: str, version: tuple[int, ...]) -> tuple[int, ...] | None:
    """The release that a document names.

    `pytorch:21.07` is a container of NVIDIA, named after its month. It has a preview of the next
    release of torch, which has at least what the last one has.
    """
    if library != "torch" or version < (10,):
        return version
    known = zip(_MONTHS, _RELEASES, strict=True)
    return next((one for month, one in reversed([*known]) if month <= version[:2]), None)


def _documented(root: Path, library: str, pages: Sequence[str]) -> list[tuple[int, ...]]:
    """The versions that documentation names: `PyTorch 2.0`, `torch-1.13.1`, `pytorch>=1.8`.

    The name may be a link, and a tag may name a container: `pytorch/2.0.1-cuda11.7-cudnn8-devel`.
    """
    name = _conda_name(library)
    mention = re.compile(
        rf"(?i)(?:(?<![\w./-]){name}(?:\]\([^()\s]*\))?[ \t]*(?:version[ \t]*)?"
        r"(?:[-=<>~≥(`*]+[ \t]*)?v?"
        rf"|(?<![\w.-]){name}[/:](?=[\d.]+-cuda)"
        rf"|^from pytorch/{name}:|nvcr\.io/nvidia/{name}:)(\d+(?:\.\d+)+)",
        re.MULTILINE,
    )
    mentions = (each for content in contents(root, pages) for each in mention.finditer(content))
    named = (_release(library, tuple(map(int, each[1].split(".")))) for each in mentions)
    return [each for each in named if each is not None]


def _name(library: str) -> str:
    """A library's name as a pattern: `-` and `_` are equivalent."""
    return re.escape(library).replace("_", "[-_]").replace(r"\-", "[-_]")


def _conda_name(library: str) -> str:
    """The same, including conda's package names: it calls torch pytorch."""
    return f"(?:py)?{_name(library)}" if library == "torch" else _name(library)


def _lowest(specifiers: str) -> tuple[int, ...] | None:
    """The lowest version that a requirement such as `>=2.1,<3` allows."""
    lower: list[tuple[int, ...]] = []
    upper: list[tuple[int, ...]] = []
    written = " ".join(specifiers.split())
    for operator, digits in _SPECIFIER.findall(re.sub(r"\+\w+|\.\*", "", written)):
        version = tuple(int(part) for part in digits.split("."))
        version += (0,) * (2 - len(version))
        if operator in {"<", "<="}:
            upper.append(version)
        elif operator != "!=":
            lower.append(version)
    return max(lower) if lower else min(upper, default=None)


def _environments(root: Path) -> Iterator[tuple[Path, str]]:
    """What environments of Conda list that have names of their own."""
    for path, content in _files(root, ENVIRONMENTS):
        if _ENVIRONMENT.search(content) and _NAMED.search(content):
            yield path, content


def contents(root: Path, patterns: Sequence[str]) -> Iterator[str]:
    """What the files of a folder say whose paths match one of some patterns, each file once."""
    for _, content in _files(root, patterns):
        yield content


def _files(root: Path, patterns: Sequence[str]) -> Iterator[tuple[Path, str]]:
    seen: set[Path] = set()
    for pattern in patterns:
        for path in disk.matching(root, pattern):
            if path in seen:
                continue
            seen.add(path)
            try:
                content = disk.read(path, _MAX_BYTES)
            except OSError:
                continue
            yield path, content.decode("utf-8", "replace").replace("\r\n", "\n")
