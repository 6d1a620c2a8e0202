"""Fields of classes of settings that no code of a project reads.

Whether a program makes an object of the class does not matter then. Only what is certain is said:
no code has the name of the field as that of a member, or in a text, and none takes all fields of an
object at once: `call(**asdict(config))`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from precision_lint.facts.frameworks.table import frameworks
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.written.entries import entry_points
from precision_lint.model.regex import regex
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import last_name, qualified
from precision_lint.source.python.syntax_tree import syntax_tree

_OPEN_BASES = frozenset({"object", "ABC", "BaseModel", "BaseSettings", "ChoiceRegistry", "Generic"})
"""Bases from libraries that read no field by its name."""
_TRAINER = "hf_trainer"
_ARGUMENTS = frozenset({
    "transformers.TrainingArguments", "transformers.Seq2SeqTrainingArguments",
})  # fmt: skip
_MOST_FILES = 2_000
_WHOLE = regex(
    r"\*\*[ \t]*(?:[\w.]+\.)?(?:asdict|vars|to_dict|to_container|model_dump|unstructure)\("
    r"|\*\*[ \t]*[\w.]+(?:\.__dict__|\.(?:dict|to_dict|model_dump|_asdict|as_dict)\()"
    r"|\binstantiate\("
    r"|\bgetattr\([ \t]*(?:\w+\.)*"
    r"\w*(?:args|arguments|config|cfg|conf|opts?|options|settings|params)"
    r"[ \t]*,[ \t]*[A-Za-z_]|\bgetattr\([^(),\n]+,[ \t]*\w+\.name\b"
)
"""How code takes all members of an object, or one by a name that it works out."""
_TABLE = regex(
    r"(?<!def )\b(?:asdict|astuple|_asdict|model_dump|unstructure|to_container)\(|\.__dict__\b"
    r"|\bvars\((?!\)|(?:args|opts?|options|flags|FLAGS)\))"
)
"""A table of all members of an object, which may go anywhere."""
_RECORDED = regex(
    r"\b(?:print|pprint|pformat|str|repr|log\w*|info|debug|warning|dumps?|safe_dump|save|write"
    r"|config\.update|init|init_trackers|add_text)\((?:[^()]|\([^()]*\)){0,300}$"
)
"""The start of a call that only writes down what it gets: who loads that reads entries by name."""
_BEFORE = 400
_MAPPINGS = regex(r"\bOmegaConf\b|\bDictConfig\b|\bhydra\b|\bml_collections\b")
"""Libraries whose settings are objects and mappings."""
_UNPACKED = regex(
    r"\*\*[ \t]*(?!\w*kwargs\b)(?:\w+\.)*\w*"
    r"(?:args|config|configs|cfg|conf|options|settings|params|hparams)\b"
    r"|\*\*[ \t]*\w+(?:\.\w+)*\.(?!\w*kwargs\b)\w+"
)
_CODE = (".py", ".ipynb")


def is_field_in_vain(owner: str, name: str, project: Recording) -> bool:
    """True if certainly no code of a project reads a field of a class."""
    paths = [path for path in project.config_files.project.files if path.suffix in _CODE]
    if len(paths) > _MOST_FILES or not _has_program(paths, project):
        return False  # what imports a library may read it
    if _may_be_taken_whole(paths, project):
        return False
    texts = [text for path in paths if name in (text := project.config_files.text(path))]
    word = re.escape(name)
    read = re.compile(rf"(?<!\bself)\.[ \t]*{word}\b(?![ \t]*=[^=])|([\"']){word}\\?\1(?!\s*:)")
    if any(map(read.search, texts)):
        return False
    matched = re.compile(rf"(?m)^[ \t]*case\b[^\n]*\b(?:{word}|{re.escape(owner)})\b")
    if any(matched.search(project.config_files.text(path)) for path in paths):
        return False
    classes = [*_kin(owner, paths, project)]
    names = [each.name for _, each in classes]
    own = re.compile(rf"\bself\.[ \t]*{word}\b|\bgetattr\(self,[ \t]*[A-Za-z_]")
    every = map(project.config_files.text, paths)
    if any(any(each in text for each in names) and own.search(text) for text in every):
        return False
    if not all(_is_open(each, name, names, file, project) for file, each in classes):
        return False
    return not project.other_file_matches(rb"\$\{[^}\n]*\b" + name.encode() + rb"\b")


def _has_program(paths: list[Path], project: Recording) -> bool:
    def compute() -> bool:
        return next(entry_points(paths, project), None) is not None

    return project.config_files.once(("has a program",), compute)


def _may_be_taken_whole(paths: list[Path], project: Recording) -> bool:
    files = project.config_files

    def compute() -> bool:
        texts = [files.text(path) for path in paths]
        are_mappings = any(map(_MAPPINGS.search, texts))
        return any(
            _WHOLE.search(text) or _has_table(text) or (are_mappings and _UNPACKED.search(text))
            for text in texts
        )

    return files.once(("objects taken whole",), compute)


def _has_table(text: str) -> bool:
    """True if code has all members of an object in a table, but to write them down."""
    starts = (match.start() for match in _TABLE.finditer(text))
    return any(not _RECORDED.search(text[max(at - _BEFORE, 0) : at]) for at in starts)


def _kin(
    owner: str, paths: list[Path], project: Recording
) -> Iterator[tuple[ParsedPython, ast.ClassDef]]:
    """The classes of a name, and those that extend them, each with its file."""
    pending, seen = [owner], {owner}
    for name in pending:  # it grows
        for path in paths:
            if path.suffix != ".py" or name not in project.config_files.text(path):
                continue
            file = project.module(path)
            for node in file.nodes_of(ast.ClassDef) if file is not None else ():
                assert file is not None
                if node.name == name and name == owner:
                    yield file, node
                elif name in map(last_name, node.bases) and node.name not in seen:
                    seen.add(node.name)
                    pending.append(node.name)
                    yield file, node


def _is_open(
    node: ast.ClassDef, field: str, kin: Sequence[str], file: ParsedPython, project: Recording
) -> bool:
    """True for a class whose bases do not read a field by its name: those of its kin, of the
    project, and of libraries for settings. A Trainer reads the fields of its own arguments.
    """
    is_own = field in frameworks()[_TRAINER].keys
    bases = [each.value if isinstance(each, ast.Subscript) else each for each in node.bases]
    return all(
        last_name(base) in _OPEN_BASES
        or (not is_own and qualified(base, syntax_tree(file).names) in _ARGUMENTS)
        or (
            isinstance(base, ast.Name)
            and base.id != node.name  # `class SFTConfig(SFTConfig)` extends an import
            and (base.id in kin or _is_defined(base.id, project))
        )
        for base in bases
    )


def _is_defined(name: str, project: Recording) -> bool:
    """True for a class of the project that extends nothing."""
    defined = rf"(?m)^[ \t]*class[ \t]+{re.escape(name)}[ \t]*(?:\(\s*\))?:".encode()
    return project.python_source_matches(defined)
