"""`load_in_4bit` and `load_in_8bit` that a load of a model of transformers is given.

By keyword, or in a mapping that is unpacked into the call: `options["load_in_8bit"] = True`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.source.python.bindings import binding
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.statements import own_nodes
from precision_lint.source.python.syntax import callee_name, qualified
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree

BITS = ("load_in_4bit", "load_in_8bit")
_CONFIG = "quantization_config"
_NO_MODELS = ("Config", "Tokenizer", "TokenizerFast", "Processor", "ImageProcessor", "Extractor")
"""How classes of transformers end that load no weights."""

_CHANGING = frozenset({"pop", "clear", "update", "setdefault", "popitem"})


@frozen
class BitsArgument:
    """Such an argument: the keyword, or the statement that puts it into a mapping.

    `config` is the `quantization_config` that the same load certainly gets; `is_on` is true for
    the literal `True`.
    """

    name: str
    node: ast.keyword | ast.Assign
    load: ast.Call
    is_on: bool
    config: ast.Call | None

    @property
    def says_the_same(self) -> bool:
        """True if the `quantization_config` chooses the same bits, in a literal."""
        return self.config is not None and any(
            each.arg == self.name and _is_true(each.value) for each in self.config.keywords
        )


@fact
def bits_arguments(file: ParsedPython) -> tuple[BitsArgument, ...]:
    """Those of every load, each once, in the order of the loads."""
    syntax = syntax_tree(file)
    found: dict[ast.AST, BitsArgument] = {}
    for load in syntax.calls("from_pretrained"):
        if _is_of_model(load, syntax):
            for argument in (*_keywords(load, syntax), *_unpacked(load, syntax)):
                found.setdefault(argument.node, argument)
    return tuple(found.values())


def _is_of_model(load: ast.Call, syntax: SyntaxTree) -> bool:
    """True for a load by a class of transformers, whose code the checkpoint does not bring."""
    package, _, name = (
        qualified(load.func, syntax.names).removesuffix(".from_pretrained").partition(".")
    )
    brings_code = any(each.arg == "trust_remote_code" for each in load.keywords)
    return package == "transformers" and not name.endswith(_NO_MODELS) and not brings_code


def _keywords(load: ast.Call, syntax: SyntaxTree) -> Iterator[BitsArgument]:
    given = {each.arg: each for each in load.keywords}
    config = given.get(_CONFIG)
    for name in BITS:
        if (keyword := given.get(name)) is not None:
            of_load = None if config is None else _made(config.value, syntax)
            yield BitsArgument(name, keyword, load, _is_true(keyword.value), of_load)


def _unpacked(load: ast.Call, syntax: SyntaxTree) -> Iterator[BitsArgument]:
    """Those that statements put into a mapping that nothing else takes them out of."""
    for keyword in load.keywords:
        if keyword.arg is not None or not isinstance(keyword.value, ast.Name):
            continue
        mapping, body = keyword.value.id, syntax.body(load)
        if _is_changed(mapping, body, syntax):
            continue
        for node in own_nodes(body):
            name = _key_of(node, mapping)
            if name not in BITS or not isinstance(node, ast.Assign) or not _follows(load, node):
                continue
            beside = {_key_of(each, mapping): each for each in syntax.block(node)}
            config = beside.get(_CONFIG)
            of_load = _made(config.value, syntax) if isinstance(config, ast.Assign) else None
            yield BitsArgument(name, node, load, _is_true(node.value), of_load)


def _is_changed(mapping: str, body: ast.AST, syntax: SyntaxTree) -> bool:
    """True if a method, or a `del`, may take something out of a mapping."""
    for read in syntax.reads(body, mapping):
        match syntax.parent(read):
            case ast.Attribute(attr=method) if method in _CHANGING:
                return True
            case ast.Subscript(ctx=ast.Del()):
                return True
    return False


def _follows(load: ast.Call, statement: ast.Assign) -> bool:
    return (load.lineno, load.col_offset) > (statement.lineno, statement.col_offset)


def _key_of(node: ast.AST, mapping: str) -> str:
    """The key that a statement assigns in a mapping; empty for other statements."""
    match node:
        case ast.Assign(
            targets=[ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str() as key))]
        ) if name == mapping:
            return key
    return ""


def _made(value: ast.expr, syntax: SyntaxTree) -> ast.Call | None:
    """The call that makes a config, also where a name holds nothing else."""
    if isinstance(value, ast.Name):
        held = binding(value, syntax)
        value = held[0] if isinstance(held, list) and len(held) == 1 else value
    is_config = isinstance(value, ast.Call) and callee_name(value).endswith("Config")
    return value if is_config and isinstance(value, ast.Call) else None


def _is_true(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is True
