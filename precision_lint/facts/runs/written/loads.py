"""The calls that load a configuration, and what they say of the name of the file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from precision_lint.facts.project.facts import Recording
from precision_lint.model.frozen import frozen
from precision_lint.model.regex import regex
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import callee_name, dotted, qualified
from precision_lint.source.python.syntax_tree import syntax_tree

_OF_YAML = frozenset({"safe_load", "load", "full_load", "unsafe_load"})
_LIBRARIES = {
    ".yaml": ("yaml.", "ruamel.", "omegaconf.", "OmegaConf."),
    ".json": ("json.", "ujson.", "simplejson.", "orjson.", "yaml.", "omegaconf.", "OmegaConf."),
    ".toml": ("toml.", "tomllib.", "tomli.", "pytoml."),
}
_FUNCTIONS = frozenset({"loads", "compose"}) | _OF_YAML
_MENTIONED = {
    ".yaml": regex(r"\byaml\b|\bOmegaConf\b|\bYAML\(|\bhydra\b"),
    ".json": regex(r"\b\w*json\b|\byaml\b|\bOmegaConf\b"),
    ".toml": regex(r"\b\w*toml\w*\b"),
}
_SUFFIXES = {".yml": ".yaml"}
_FILE = regex(r"\.(?:ya?ml|json|toml)$")
_OF_LIBRARIES = regex(
    r"\b(?:pydantic_settings|pydantic_yaml|jsonargparse|simple_parsing|pyrallis|draccus|confz"
    r"|configargparse|dynaconf|sacred|anyconfig|argbind|TrlParser|H4ArgumentParser|LightningCLI"
    r"|fastargs|hydra_zen|hydra_runner|sconf|load_hyperpyyaml|parse_yaml_file|parse_json_file|merge_from_file)\b"
    r"|\bgin\.|\bConfig\.fromfile\(|\.read_config\(|\bConfigParser\.load_config"
    r"|\b(?:exec|eval)\([^\n]{0,80}(?:open|cfg|config)|\b(?:yaml|YAML)\.(?:load|safe_load|full_load|unsafe_load)_all\("
    r"|fromfile_prefix_chars|\bhydra\.experimental\b|\b(?:mmcv|mmengine|fileio)\.load\("
    r"|\b(?:import|from)[ \t]+(?!yaml\b|ruamel\b)\w*yaml\w*|\bfromYAML\b"
    r"|\bOmegaConf\.create\([^\n]*\bread(?:_text)?\("
)
"""How a library reads a file for a program, and its keys."""
_OF_CONFIG = r"(?:load|read|parse)_(?:config|cfg)s?(?:_\w+)?"
_BY_NAME = {
    f".{format}": regex(
        rf"(?<!def )(?<!pd\.)\b((?:load|read|parse|from)_{name}s?(?:_\w+)?|{_OF_CONFIG})\("
    )
    for format, name in (("yaml", "ya?ml"), ("json", "json"), ("toml", "toml"))
}
"""Functions that are named for reading a configuration."""
_OF_PATHS = frozenset({
    "open", "Path", "join", "exists", "isfile", "abspath", "resolve", "str", "add_argument",
    "add_option", "field", "Field", "Option", "option", "Argument", "print", "info",
})  # fmt: skip
"""Functions that make a path, or keep it as a default."""
_OF_FILES = ("os.", "pathlib.", "shutil.", "logging.", "io.", "codecs.")
_OF_MODELS = regex(r"^(?:\w+_)?config\.json$")
"""Files of a model's folder, which `from_pretrained` reads."""


@frozen(eq=False, slots=False)
class Load:
    """A call that loads a file, and what it gets: a path, a stream or a text."""

    call: ast.Call
    file: ParsedPython
    source: ast.expr | None


def loads_in(path: Path, suffix: str, project: Recording) -> Iterator[Load]:
    """The calls of a Python file that load configurations of a format."""
    suffix = _SUFFIXES.get(suffix, suffix)
    mentioned = _MENTIONED.get(suffix)
    if mentioned is None or mentioned.search(project.config_files.text(path)) is None:
        return
    file = project.module(path)
    for name in sorted(_FUNCTIONS) if file is not None else ():
        assert file is not None
        for call in syntax_tree(file).calls(name):
            if _is_load(call, suffix, file) and not _is_line(call, file):
                yield Load(call, file, next(iter(call.args), None))


def composed_in(
    path: Path, project: Recording
) -> Iterator[tuple[FunctionDefinition, ParsedPython]]:
    """The functions of a Python file that Hydra gives the settings to."""
    if "hydra" not in project.config_files.text(path):
        return
    file = project.module(path)
    for node in file.nodes if file is not None else ():
        if file is not None and isinstance(node, FunctionDefinition):
            names = syntax_tree(file).names
            if any(_decorates(each, names) for each in node.decorator_list):
                yield node, file


def _decorates(decorator: ast.expr, names: Mapping[str, str]) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return qualified(called, names) == "hydra.main"


def _is_load(call: ast.Call, suffix: str, file: ParsedPython) -> bool:
    name = qualified(call.func, syntax_tree(file).names)
    if callee_name(call) == "compose":
        return name == "hydra.compose"
    if name.startswith(_LIBRARIES[suffix]):
        return True
    if suffix == ".toml" or not isinstance(call.func, ast.Attribute):
        return False
    # `YAML(typ="safe").load(…)`, `parser.load(…)` of an object of ruamel.yaml
    root = (dotted(call.func) or "").partition(".")[0]
    is_object = root not in syntax_tree(file).names
    return callee_name(call) == "load" and "YAML(" in file.text.text and is_object


def _is_line(call: ast.Call, file: ParsedPython) -> bool:
    """True for a line of a stream: `for line in stream: json.loads(line)`."""
    match call.args:
        case [ast.Name(id=name)] if callee_name(call) == "loads":
            around = syntax_tree(file).around(call)
            return any(
                isinstance(each, ast.For)
                and isinstance(each.target, ast.Name)
                and each.target.id == name
                for each in around
            )
    return False


def hides_reading(path: Path, paths: Sequence[Path], project: Recording) -> bool:
    """True if a library may read a configuration in code of some files, by ways of its own."""
    suffix = _SUFFIXES.get(path.suffix, path.suffix)
    is_of_model = _OF_MODELS.search(path.name) is not None

    def compute() -> bool:
        texts = [*map(project.config_files.text, paths)]
        if suffix not in _BY_NAME or any(map(_OF_LIBRARIES.search, texts)):
            return True
        if is_of_model and any("from_pretrained" in text for text in texts):
            return True
        called = {name for text in texts for name in _BY_NAME[suffix].findall(text)}
        return any(not _is_defined(name, texts) for name in called)

    return project.config_files.once(("hides reading", suffix, is_of_model), compute)


def _is_defined(name: str, texts: Sequence[str]) -> bool:
    defined = re.compile(rf"\bdef {re.escape(name)}\(")
    return any(map(defined.search, texts))


def names_said(node: ast.expr, file: ParsedPython, hops: int = 2) -> tuple[str, ...]:
    """The names of files that an expression says, also by a variable or the stream that it opens:
    with a `*` before what is only the end of one. None if it says none.
    """
    found: list[str] = []
    pieces = {
        id(value) for each in walk(node) if isinstance(each, ast.JoinedStr) for value in each.values
    }
    for each in walk(node):
        match each:
            case ast.Constant(value=str(text)) if id(each) not in pieces and _FILE.search(text):
                found.append(text)
            case ast.JoinedStr(values=[*_, ast.Constant(value=str(text))]) if _FILE.search(text):
                found.append(f"*{text}")
            case ast.Name() if hops:
                found += _said_by(each, file, hops)
    return tuple(found)


def _said_by(name: ast.Name, file: ParsedPython, hops: int) -> Iterator[str]:
    """What a variable says that is assigned once, or opened by a `with`."""
    syntax = syntax_tree(file)
    function = syntax.function(name)
    stores = [*syntax.stores(function, name.id)] if function is not None else []
    stores = stores or [*syntax.stores(syntax.tree, name.id)]
    if len(stores) != 1:
        # A handle is opened again and again: the block around the read says which file it is.
        around = [*syntax.around(name)]
        stores = [each for each in stores if syntax.parent(each) in _items(around)][:1]
    for store in stores:
        match syntax.parent(store):
            case ast.Assign(targets=[target], value=value) if target is store:
                yield from names_said(value, file, hops - 1)
            case ast.withitem(context_expr=opened):
                yield from names_said(opened, file, hops - 1)


def _items(around: Sequence[ast.AST]) -> list[ast.AST]:
    return [item for each in around if isinstance(each, ast.With) for item in each.items]


def is_given_to_library(path: Path, paths: Sequence[Path], project: Recording) -> bool:
    """True if code gives the name of a file to a function of a library that is not one of files."""
    for each in paths:
        file = project.module(each) if path.name in project.config_files.text(each) else None
        for node in file.nodes if file is not None else ():
            match node:
                case ast.Constant(value=str(text)) if path.name in text and file is not None:
                    if _FILE.search(text) and may_mean(text, path) and _is_given(node, file):
                        return True
    return False


def _is_given(node: ast.AST, file: ParsedPython) -> bool:
    """True for an argument of a call that may read a file by its name."""
    names = syntax_tree(file).names
    for parent in syntax_tree(file).around(node):
        if isinstance(parent, ast.stmt):
            return False
        if isinstance(parent, ast.Call) and callee_name(parent) not in _OF_PATHS:
            root = (dotted(parent.func) or "").partition(".")[0]
            name = qualified(parent.func, names)
            is_load = any(name.startswith(each) for each in _LIBRARIES.values())
            return root in names and not is_load and not name.startswith(_OF_FILES)
    return False


def may_mean(text: str, path: Path) -> bool:
    """True if a text may be the name of a file, or the end of it."""
    if text.startswith("*"):
        return path.as_posix().endswith(text[1:].rpartition("/")[2])
    return PurePosixPath(text).name == path.name
