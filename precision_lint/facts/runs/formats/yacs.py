"""Configurations of yacs: a tree of defaults in Python, and files and words that change it.

`_C.SOLVER.AMP = CN({"ENABLED": False})` declares what may be set. `cfg.merge_from_file(path)` and
`cfg.merge_from_list(["SOLVER.AMP.ENABLED", "True"])` raise for any other key, and for a value of
another type. The errors were observed with yacs 0.1.8.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from precision_lint.facts.frameworks.sources import DEFAULT, CodePlace, MappingSource, Occurrence
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.interpreter.known import Holder, Known
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.settings import holds_settings
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.config.options import pairs
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import last_name
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

MERGING = r"merge_from_file\("
"""How a program reads a file of yacs."""
_CLASSES = rb"\bCfgNode\b"
_NODES = frozenset({"CfgNode", "CN"})
_CHANGING = frozenset({"merge_from_file", "merge_from_list", "defrost"})
"""Calls in functions that change a configuration, and do not declare one."""
_SUFFIXES = (".yaml", ".yml")
_FILE = regex(r"config|cfg")
"""In the names of options that choose a file."""
_MOST_FILES = 60
_MOST_PARAMETERS = 2


@frozen
class Declared:
    """A key with its default, and where it is declared.

    It `is_constant` if the default is a literal and no condition decides about the declaration.
    """

    default: object
    path: Path
    span: Span
    is_constant: bool


@frozen(slots=False)
class Tree:
    """The keys that the code of a project declares, by their dotted names."""

    keys: Mapping[str, tuple[Declared, ...]]
    sections: frozenset[str]
    """The keys that hold others; empty for the root of a tree."""
    open: frozenset[str]
    """The sections that take any key."""

    def has(self, name: str) -> bool:
        return name in self.keys or name in self.sections

    def beside(self, section: str) -> Declared | None:
        """The declaration of a key in a section, to show where its keys are."""
        below = f"{section}." if section else ""
        return next((each[0] for key, each in self.keys.items() if key.startswith(below)), None)

    def mistyped(self, name: str, value: object) -> str:
        """What yacs raises where a switch gets something else; empty if it takes the value."""
        declared = self.only(name)
        if declared is None or not isinstance(declared.default, bool):
            return ""
        if value is None or isinstance(value, bool):
            return ""
        types = f"<class 'bool'> vs. <class '{type(value).__name__}'>"
        values = f"{declared.default} vs. {value}"
        return f"ValueError: Type mismatch ({types}) with values ({values}) for config key: {name}"

    def only(self, name: str) -> Declared | None:
        """The declaration of a key, if all agree on its default and nothing else changes it."""
        found = self.keys.get(name, ())
        is_same = all(each.is_constant and each.default == found[0].default for each in found)
        return found[0] if found and is_same else None


def tree_of(project: Recording) -> Tree | None:
    """The tree of a project; None if its code declares none, or reads no file of yacs."""
    if not project.python_source_matches(MERGING.encode()):
        return None
    return project.config_files.once(tree_of, lambda: _whole(project))


def _whole(project: Recording) -> Tree | None:
    keys: dict[str, tuple[Declared, ...]] = {}
    sections: set[str] = set()
    opened: set[str] = set()
    for path in project.python_sources_matching(_CLASSES)[:_MOST_FILES]:
        file = project.module(path)
        if file is None:
            continue
        for name, value, node in _declarations(file):
            if isinstance(value, ast.Call):
                sections.add(name)
                if any(keyword.arg == "new_allowed" for keyword in value.keywords):
                    opened.add(name)
                continue
            found = _declared(value, node, file)
            keys[name] = (*keys.get(name, ()), found)
    return Tree(keys, frozenset(sections), frozenset(opened)) if "" in sections and keys else None


def _declarations(file: ParsedPython) -> Iterator[tuple[str, ast.expr, ast.stmt]]:
    """The names that a file assigns below a root, with what they get: for a section, its call."""
    for node in file.nodes:
        match node:
            case ast.Assign(targets=[target], value=value):
                name = _path(target)
                is_section = isinstance(value, ast.Call) and last_name(value.func) in _NODES
                if is_section and isinstance(target, ast.Name):
                    yield "", value, node
                elif name and is_section:
                    assert isinstance(value, ast.Call)
                    yield name, value, node
                    yield from ((key, one, node) for key, one in _given(name, value))
                elif name and not isinstance(value, ast.Call):
                    yield name, value, node


def _given(name: str, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """The keys of `CN({"ENABLED": False})`."""
    match call.args:
        case [ast.Dict(keys=keys, values=values), *_]:
            for key, value in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield f"{name}.{key.value}", value


def _path(target: ast.expr) -> str:
    """What is assigned below a variable: `SOLVER.AMP` of `_C.SOLVER.AMP`."""
    names = []
    while isinstance(target, ast.Attribute):
        names.append(target.attr)
        target = target.value
    is_plain = isinstance(target, ast.Name) and target.id not in ("self", "cls")
    return ".".join(reversed(names)) if is_plain else ""


def _declared(value: ast.expr, node: ast.stmt, file: ParsedPython) -> Declared:
    is_literal = isinstance(value, ast.Constant)
    default = value.value if isinstance(value, ast.Constant) else None
    is_constant = is_literal and not _is_decided(node, syntax_tree(file))
    return Declared(default, file.text.path, file.span_of(node), is_constant)


def _is_decided(node: ast.stmt, syntax: SyntaxTree) -> bool:
    """True if a condition or an argument decides about an assignment: it declares nothing."""
    for parent in syntax.around(node):
        if isinstance(parent, FunctionDefinition):
            if len(parent.args.args) > _MOST_PARAMETERS:
                return True
            calls = (call for name in _CHANGING for call in syntax.calls(name))
            return any(syntax.function(call) is parent for call in calls)
        if not isinstance(parent, ast.Module):
            return True
    return False


# Runs


@frozen(slots=False)
class Configured:
    """The configuration of one run: words over a file over the defaults of the tree."""

    run: RunEnvironment
    tree: Tree
    words: Mapping[str, Occurrence]
    source: MappingSource | None
    is_clear: bool
    """False if an unknown word may name another file, or be a setting."""

    def get(self, name: str) -> Known | None:
        declared = self.tree.only(name)
        if declared is None:
            return None
        if written := self.words.get(name):
            is_taken = not self.tree.mistyped(name, written.value)
            return Known(written.value, written) if is_taken else None
        if not self.is_clear:
            return None
        if self.source is not None and (written := self.source.get(name)):
            is_taken = not self.tree.mistyped(name, written.value)
            return Known(written.value, written) if is_taken else None
        file = self.run.program.project.config_files.at(declared.path)
        if file is None:
            return None
        place = CodePlace(declared.span, DEFAULT)
        return Known(declared.default, Occurrence(name, declared.default, place, file))


@frozen(slots=False)
class Part(Holder):
    """A section of the configuration: `cfg.SOLVER`."""

    of: Configured
    name: str

    def has(self, name: str) -> bool:
        return self.of.tree.has(f"{self.name}.{name}")

    def get(self, name: str) -> Known | None:
        return self.of.get(f"{self.name}.{name}")


def is_merged(program: Program) -> bool:
    """True if a program merges files into a tree of yacs, or may do so."""
    return program.fact(
        is_merged, lambda: any("merge_from_file" in file.text.text for file in program.files)
    )


def configured(run: RunEnvironment) -> Configured | None:
    """The configuration of a run; None if its program has no tree, or reads no file."""
    return run.fact(configured, lambda: _configured(run))


def _configured(run: RunEnvironment) -> Configured | None:
    if not is_merged(run.program):
        return None
    tree = tree_of(run.program.project)
    if tree is None:
        return None
    words = dict(_words(run, tree))
    files = _files(run)
    is_clear = files is not None and len(files) <= 1 and not run.has_unknown_words
    settings = run.settings_at(min(files)) if files and is_clear else None
    source = settings.source if settings is not None else None
    is_clear = is_clear and (source is not None or not files)
    return Configured(run, tree, words, source, is_clear)


def _words(run: RunEnvironment, tree: Tree) -> Iterator[tuple[str, Occurrence]]:
    """The words `SOLVER.AMP.ENABLED True` of a command line."""
    for option in pairs(run.launch.words if run.launch else ()):
        if option.name in tree.keys:
            value = literal(option.value) if isinstance(option.value, str) else None
            yield option.name, Occurrence(option.name, value, option, run.file)


def literal(word: str) -> object:
    """A word as yacs reads it: what is no literal of Python is a text."""
    try:
        return ast.literal_eval(word)
    except (ValueError, SyntaxError):
        return word


def _files(run: RunEnvironment) -> set[Path] | None:
    """The files that a run may read; None if one of them is not known."""
    if run.opened is not None:
        return {run.opened}
    found = set()
    for name in sorted({*run.words, *run.program.options}):
        option = run.words.get(name)
        value = option.value if option is not None else _default(name, run)
        if option is not None and value is None and _FILE.search(name):
            return None
        if isinstance(value, str) and value.endswith(_SUFFIXES):
            settings = run.settings(value, run.program.path)
            if settings is None:
                return None
            found.add(settings.source.file.text.path)
    return found


def _default(name: str, run: RunEnvironment) -> object:
    declared = run.program.options[name]
    if not any(str(given.value).endswith(_SUFFIXES) for given in declared):
        return None
    known = run.default(name)
    return known.value if known is not None else None


def member(node: ast.Attribute, run: RunEnvironment) -> Known | None:
    """What an attribute of the configuration is: `cfg.SOLVER.AMP.ENABLED`, `self.cfg.SOLVER`."""
    found = configured(run)
    if found is None:
        return None
    names: list[str] = []
    owner: ast.expr = node
    while isinstance(owner, ast.Attribute):
        names.insert(0, owner.attr)
        owner = owner.value
    if not isinstance(owner, ast.Name):
        return None
    names.insert(0, owner.id)
    for index in range(1, len(names)):
        path = ".".join(names[index:])
        if not found.tree.has(path):
            continue
        if not holds_settings(names[index - 1]) and index + 1 == len(names):
            continue
        if path in found.tree.sections:
            return Known(Part(found, path))
        return found.get(path)
    return None
