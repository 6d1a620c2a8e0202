"""Settings that Python keeps as plain values: attributes of a class, constants of a module.

`class Config: use_amp = True`, `self.use_amp = True` in its `__init__`, `USE_AMP = True` in
`config.py`. No parser and no library fills them: who wants another value edits the file.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from precision_lint.facts.settings.declarations import MARKERS, ProgramOption, program_options
from precision_lint.facts.settings.vocabulary import mentions_precision
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.model.regex import regex
from precision_lint.source.python.nodes import walk
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import FunctionDefinition
from precision_lint.source.python.syntax import is_main, last_name, parameters

_WORDS = (
    r"Config(?:uration)?s?|Cfg|CFG|Arg(?:ument)?s|Options?|Opts?|Settings|Param(?:eter)?s"
    r"|H[Pp]arams|Hyper[Pp]aram(?:eter)?s"
)
_PLAIN_NAME = regex(rf"(?:{_WORDS}|(?:^|_)(?:config|cfg|args|opts?|settings|h?params))_?\d*$")
"""Names of classes whose attributes are settings: `TrainConfig`, `CFG`, `args`."""
_PLAIN_CLASS = regex(
    rb"^class[ \t]+\w*(?:" + _WORDS.encode() + rb"|config|cfg|args|opts?|settings|params)_?\d*"
    rb"[ \t]*(?:\([ \t]*(?:object)?[ \t]*\))?[ \t]*:",
    re.MULTILINE,
)
_OF_SETTINGS = regex(
    r"(?:^|_)(?:config(?:uration)?s?|cfgs?|conf|settings|h?params|(?:hyper)?param(?:eter)?s"
    r"|options|opts|constants|defaults)(?:_|\d|$)",
    re.IGNORECASE,
)
"""Names of modules of settings."""
_FOLDER = regex(r"configs?|cfgs?|conf|settings", re.IGNORECASE)
"""Names of folders with such modules."""
_NO_VALUE = ast.Dict | ast.List | ast.Tuple | ast.Set | ast.Lambda | ast.ListComp | ast.DictComp
_TABLES = frozenset({"EasyDict", "edict", "AttrDict", "ConfigDict", "Munch", "DotMap", "Box"})
"""Classes of tables whose keys are members."""
_POWER = "initial_scale_power"


@frozen
class Constant:
    """A plain value of a class, or of a module where there is no `owner`."""

    statement: ast.Assign | ast.AnnAssign
    target: ast.Name | ast.Attribute
    value: ast.expr
    owner: str = ""

    @property
    def name(self) -> str:
        return self.target.id if isinstance(self.target, ast.Name) else self.target.attr


@fact
def constants(file: ParsedPython) -> tuple[Constant, ...]:
    """The plain values of a file that are settings, in the order of the source."""
    found: list[Constant] = []
    for node in file.tree.body:
        if isinstance(node, ast.ClassDef) and is_plain(node):
            found += _of_class(node)
    is_program = any(isinstance(node, ast.If) and is_main(node) for node in file.tree.body)
    if is_module_of_settings(file.text.path) and not is_program:
        found += _of_body(file.tree.body, "")
    return tuple(sorted(found, key=lambda one: one.statement.lineno))


def may_have_constants(path: Path, content: bytes) -> bool:
    """True for bytes of a file that may have plain values which are settings of precision."""
    if _PLAIN_CLASS.search(content) is None and not is_module_of_settings(path):
        return False
    return mentions_precision(content) or _POWER.encode() in content


def is_module_of_settings(path: Path) -> bool:
    """True for `config.py`, and for the modules of a folder `configs`."""
    is_named = _OF_SETTINGS.search(path.stem) is not None
    return is_named or _FOLDER.fullmatch(path.parent.name) is not None


def may_declare(path: Path, content: bytes) -> bool:
    """True for bytes of a Python file that may declare settings in any way."""
    return any(mark in content for mark in MARKERS) or may_have_constants(path, content)


@fact
def kept_in_tables(file: ParsedPython) -> tuple[Constant, ...]:
    """What a module of settings puts into a table by its members: `shared = EasyDict()` and then
    `shared.param_dtype = torch.bfloat16`, or `cfg.dtype = "bf16"` of a table that a function gets.
    The `owner` is the name of the table.
    """
    if not is_module_of_settings(file.text.path):
        return ()
    made = {
        target.id
        for node in file.nodes_of(ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and isinstance(node.value, ast.Call)
        if last_name(node.value.func) in _TABLES
    }
    found = (
        Constant(node, target, node.value, target.value.id)
        for node in file.nodes_of(ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name)
        if target.value.id in made or _PLAIN_NAME.search(target.value.id)
    )
    return tuple(one for one in found if not isinstance(one.value, _NO_VALUE))


def settings_of(file: ParsedPython) -> Iterator[ProgramOption]:
    """All settings that a file declares: options of parsers, fields of classes, plain values."""
    yield from program_options(file)
    for one in constants(file):
        yield ProgramOption(
            one.statement, one.target, f"--{one.name}", one.value, one.owner, is_parsed=False
        )


def is_plain(node: ast.ClassDef) -> bool:
    """True for a class without bases and decorators that is named as settings are."""
    bases = all(isinstance(each, ast.Name) and each.id == "object" for each in node.bases)
    is_bare = bases and not node.decorator_list and not node.keywords
    return is_bare and _PLAIN_NAME.search(node.name) is not None


def initializer(node: ast.ClassDef) -> FunctionDefinition | None:
    """The `__init__` of a class."""
    found = (each for each in node.body if isinstance(each, FunctionDefinition))
    return next((each for each in found if each.name == "__init__"), None)


def _of_class(node: ast.ClassDef) -> Iterator[Constant]:
    own = [*_of_body(node.body, node.name)]
    method = initializer(node)
    members = [
        one
        for one in (_of_body(method.body, node.name) if method is not None else ())
        if isinstance(one.target, ast.Attribute)
    ]
    given = {one.name for one in members}
    yield from (one for one in own if one.name not in given)
    taken = {each.arg for each in parameters(method.args)} if method is not None else set()
    yield from (one for one in members if taken.isdisjoint(_names(one.value)))


def _names(node: ast.expr) -> Iterator[str]:
    return (each.id for each in walk(node) if isinstance(each, ast.Name) and each.id != "self")


def _of_body(body: Iterable[ast.stmt], owner: str) -> Iterator[Constant]:
    found = [*_assigned(body, owner)]
    count = Counter(one.name for one in found)
    for one in found:
        is_special = one.name.startswith("_") or isinstance(one.value, _NO_VALUE)
        if count[one.name] == 1 and not is_special:
            yield one


def _assigned(body: Iterable[ast.stmt], owner: str) -> Iterator[Constant]:
    for node in body:
        match node:
            case ast.Assign(targets=[target], value=value):
                pass
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                pass
            case _:
                continue
        match target:
            case ast.Name() | ast.Attribute(value=ast.Name(id="self")):
                yield Constant(node, target, value, owner)
