"""Every class of statement that this Python parses, and everything that walks over statements.

`SAMPLES` holds one statement of every class: `{body}` and its like are its blocks, `head_…` names
are in its own expressions, `name` is what it binds. Each walker is fed all of them, and must see
each block of each, or `WALKERS` waives it with a reason.
"""

from __future__ import annotations

import ast
import re
import symtable
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from precision_lint.facts.amp.training_step.events import Event, EventKind
from precision_lint.facts.amp.training_step.graph import Repeat, graph_of, parts
from precision_lint.facts.amp.training_step.protocol import training_steps
from precision_lint.facts.context import PythonFile
from precision_lint.facts.dtypes.domain.environment import Environment
from precision_lint.facts.dtypes.domain.values import Tensor
from precision_lint.facts.dtypes.flow import calls_in
from precision_lint.facts.dtypes.interpreter.statements import StatementInterpreter
from precision_lint.facts.dtypes.syntax.definitions import Module as Definitions
from precision_lint.facts.dtypes.syntax.relevance import def_uses
from precision_lint.facts.settings.declarations import declared
from precision_lint.facts.triton.interpreter import Interpreter
from precision_lint.facts.triton.language import NEWEST
from precision_lint.facts.triton.module import Module as TritonModule
from precision_lint.facts.triton.values import Value
from precision_lint.fixers.imports import _lines_of
from precision_lint.fixers.torch_name import _branches
from precision_lint.source.python.compatibility import is_for_another_version
from precision_lint.source.python.imports import imported_names
from precision_lint.source.python.scopes import scopes_of
from precision_lint.source.python.statements import (
    Definition,
    blocks,
    bound_names,
    head,
    own_nodes,
    own_statements,
    statements,
)
from precision_lint.source.python.syntax_tree import SyntaxTree
from precision_lint.source.text.text import SourceText
from tests.context import python_file

BLOCK = re.compile(r"\{(\w+)\}")

SAMPLES = {
    "FunctionDef": "@head_1()\ndef name(a: head_2 = head_3()) -> head_4:\n    {body}\n",
    "AsyncFunctionDef": "@head_1()\nasync def name(a=head_2):\n    {body}\n",
    "ClassDef": "@head_1\nclass name(head_2, metaclass=head_3):\n    {body}\n",
    "Return": "return head_1\n",
    "Delete": "del name, name.head_1\n",
    "Assign": "(name, *name) = name.x = head_1\n",
    "AugAssign": "name += head_1\n",
    "AnnAssign": "name: head_1 = head_2\n",
    "For": "for name, _ in head_1():\n    {body}\nelse:\n    {orelse}\n",
    "AsyncFor": "async for name in head_1():\n    {body}\nelse:\n    {orelse}\n",
    "While": "while head_1():\n    {body}\nelse:\n    {orelse}\n",
    "If": "if head_1():\n    {body}\nelse:\n    {orelse}\n",
    "With": "with head_1() as name, head_2():\n    {body}\n",
    "AsyncWith": "async with head_1() as name, head_2():\n    {body}\n",
    "Match": (
        "match head_1():\n    case [1, *_] if head_2():\n        {case_1}\n"
        "    case {{head_3.x: 1, **name}}:\n        {case_2}\n    case name:\n        {case_3}\n"
    ),
    "Raise": "raise head_1() from head_2\n",
    "Try": (
        "try:\n    {body}\nexcept head_1:\n    {handler_1}\nexcept head_2 as name:\n"
        "    {handler_2}\nelse:\n    {orelse}\nfinally:\n    {finalbody}\n"
    ),
    "TryStar": (
        "try:\n    {body}\nexcept* head_1 as name:\n    {handler}\n"
        "else:\n    {orelse}\nfinally:\n    {finalbody}\n"
    ),
    "Assert": "assert head_1, head_2\n",
    "Import": "import name, name.x, x.y as name\n",
    "ImportFrom": "from x import y as name, name\n",
    "Global": "global name\n",
    "Nonlocal": "nonlocal name\n",
    "Expr": "head_1()\n",
    "Pass": "pass\n",
    "Break": "break\n",
    "Continue": "continue\n",
    "TypeAlias": "type name = head_1\n",
}
"""Those that the running Python does not know are not fed."""


def classes(base: type[ast.AST] = ast.stmt) -> Iterator[type[ast.AST]]:
    """The classes of statements that this Python's parser makes."""
    for each in base.__subclasses__():
        if each.__module__ in {"ast", "_ast"}:
            yield each
            yield from classes(each)


NAMES = [each.__name__ for each in classes()]
COMPOUND = [name for name in NAMES if BLOCK.search(SAMPLES.get(name, ""))]


def filled(name: str, probe: str = "seen_{}()") -> str:
    """The sample of a class with a probe in each of its blocks."""
    probes = {block: probe.format(block) for block in BLOCK.findall(SAMPLES[name])}
    return SAMPLES[name].format(**probes)


def node_of(name: str) -> ast.stmt:
    return ast.parse(filled(name)).body[0]


def test_every_class_has_a_sample() -> None:
    assert not set(NAMES) - SAMPLES.keys()
    assert all(type(node_of(name)).__name__ == name for name in NAMES)


# What a statement is


@pytest.mark.parametrize("name", NAMES)
def test_blocks_and_head_are_all_that_a_statement_has(name: str) -> None:
    source, node = filled(name), node_of(name)
    held = [ast.unparse(ast.Module(block.body, [])) for block in blocks(node)]
    assert held == re.findall(r"seen_\w+\(\)", source)
    own = " ".join(map(ast.unparse, head(node)))
    assert sorted(re.findall(r"head_\d", own)) == sorted(re.findall(r"head_\d", source))
    assert "seen_" not in own


@pytest.mark.parametrize("name", NAMES)
def test_blocks_say_what_they_are(name: str) -> None:
    found = [block.kind.value.rstrip("s") for block in blocks(node_of(name))]
    assert found == [each.partition("_")[0] for each in BLOCK.findall(SAMPLES[name])]


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"Delete", "Global", "Nonlocal"}))
def test_the_names_that_a_statement_binds_are_those_of_the_compiler(name: str) -> None:
    """Left out are statements that give a name a scope, or unbind it, and bind nothing."""
    function = f"async def f():\n while 0:\n{textwrap.indent(filled(name), '  ')}"
    (table,) = symtable.symtable(function, "case.py", "exec").get_children()
    bound = {
        each.get_name()
        for each in table.get_symbols()
        if each.is_assigned() or each.is_imported() or each.is_namespace()
    }
    assert set(bound_names(node_of(name))) == bound


# What walks over statements

Seen = Callable[[str], str]
"""Feeds a walker; the names of the blocks that it saw are somewhere in what it returns."""


def python(source: str) -> PythonFile:
    """A file as rules see it, in a project of its own."""
    return python_file(SourceText(Path("case.py"), textwrap.dedent(source)))


def _flow(source: str) -> str:
    """The interpreter of dtypes: the calls of `numpy` that it meets."""
    text = f"import torch\nasync def f(x: torch.Tensor):\n{textwrap.indent(source, ' ')}"
    file = python(text)
    found = calls_in(file, frozenset({"numpy"}))
    return " ".join(file.text[call.span] for call in found)


def _flow_of_callers(source: str) -> str:
    """The same where only some rows of a module are interpreted, for what its functions do."""
    return _flow(f"y = x.bfloat16()\n{source}")


def _slices(source: str) -> str:
    """The effects of statements: what is in a block is no part of the head around it."""
    file = python(source)
    every = list(def_uses(file.tree.body, file.text))
    own = every[0].reads | every[0].writes
    assert isinstance(every[0].node, Definition) or not any("seen" in name for name in own)
    return " ".join(name for each in every for name in each.reads)


def _graph(source: str) -> str:
    """The control flow of a training step: the calls on some way through it."""
    file = python(source)

    def read(call: ast.Call, statement: ast.stmt) -> Event:
        return Event(EventKind.STEP, "", ast.unparse(call), call, statement, file)

    return " ".join(event.subject for event in graph_of(file.tree.body, read).events)


def _training_steps(source: str) -> str:
    """The loops in which a scaler steps, at whatever depth."""
    head = "scaler = torch.amp.GradScaler()\n"
    return " ".join(
        ast.unparse(action.loop)
        for step in training_steps(python(head + source))
        for action in step.solution.graph.actions
        if isinstance(action, Repeat)
    )


def _definitions(source: str) -> str:
    return " ".join(Definitions(python(source)).top)


def _scopes(source: str) -> str:
    return " ".join(".".join(each.names) for each in scopes_of(ast.parse(source)).references)


def _syntax_tree(source: str) -> str:
    tree = SyntaxTree(python(source))
    lines = [each for each in ast.walk(tree.tree) if isinstance(each, ast.Expr)]
    return " ".join(ast.unparse(ast.Module(tree.block(each), [])) for each in lines)


def _imported(source: str) -> str:
    return " ".join(imported_names(python(source)))


def _own_nodes(source: str) -> str:
    found = own_nodes(ast.parse(source))
    return " ".join(each.id for each in found if isinstance(each, ast.Name))


def _probe_on_purpose(source: str) -> str:
    tree = SyntaxTree(python(source.replace("head_", "raises_")))
    lines = [each for each in ast.walk(tree.tree) if isinstance(each, ast.Expr)]
    return " ".join(ast.unparse(each) for each in lines if tree.may_fail_on_purpose(each))


def _compatibility(source: str) -> str:
    """What a statement whose own expressions ask for a version makes of its blocks."""
    source = re.sub(r"head_\d(\(\))?(?![\w.(])", "warns(torch.__version__)", source)
    source = re.sub(r"(except\*?) warns\(.*?\)", r"\1 AttributeError", source)
    file = python(source)
    return " ".join(
        ".".join(each.names)
        for each in scopes_of(file.tree).references
        if each.names[0].startswith("seen_")
        and is_for_another_version(each.node, each.at, file.text)
    )


def _branching(source: str) -> str:
    """The blocks that need not run: an import there does not serve what comes after."""
    references = scopes_of(ast.parse(source)).references
    return " ".join(each.names[0] for each in references if _branches(each.at))


def _emptied(source: str) -> str:
    """The blocks that an import cannot be taken out of, for nothing else is there."""
    file = python(source)
    lines = [each for each in ast.walk(file.tree) if isinstance(each, ast.Expr)]
    return " ".join(ast.unparse(each) for each in lines if _lines_of(file, each) is None)


def _declared(source: str) -> str:
    return " ".join(".".join(given.path) for given in declared(python(source)))


def _triton_module(source: str) -> str:
    file = python(source)
    return " ".join(ast.unparse(each) for each in TritonModule(file.tree, file.text).statements)


def _triton_names(source: str) -> str:
    file = python(source)
    module = TritonModule(file.tree, file.text)
    found = re.findall(r"\bseen_\w+", source)
    return " ".join(each for each in found if not module.lacks(each))


def _triton_constants(source: str) -> str:
    file = python(source)
    return " ".join(TritonModule(file.tree, file.text).assignments)


class _Recording(Interpreter):
    """Writes down what it evaluates."""

    def __init__(self, module: TritonModule) -> None:
        super().__init__(module, NEWEST)
        self.evaluated: list[str] = []

    def _evaluate(self, node: ast.expr) -> Value:
        self.evaluated.append(ast.unparse(node))
        return super()._evaluate(node)


def _triton_kernel(source: str) -> str:
    """The interpreter of kernels: the expressions that it evaluates."""
    kernel = f"@triton.jit\ndef kernel(x):\n{textwrap.indent(source, ' ')}"
    file = python(f"import triton\n{kernel}")
    (function,) = TritonModule(file.tree, file.text).jit_functions
    interpreter = _Recording(function.module)
    interpreter.run(function, {})
    return " ".join(interpreter.evaluated)


Reasons = dict[tuple[str, str], str]
"""Why a walker does not see a block, by the class and the name of the block."""


def _waive(reason: str, *names: str, only: tuple[str, ...] = ()) -> Reasons:
    """The same reason for some classes, for all of their blocks or `only` for some."""
    every = ((name, block) for name in names for block in BLOCK.findall(SAMPLES[name]))
    return {each: reason for each in every if not only or each[1] in only}


DEFINITIONS = ("FunctionDef", "AsyncFunctionDef", "ClassDef")
TRIES = ("Try", "TryStar")
HANDLERS = ("handler", "handler_1", "handler_2")

_RUNS_ELSEWHERE = _waive("it does not run where it is defined, or in another scope", *DEFINITIONS)
_OF_CALLS = _waive("what a decorator says is about the calls of it", *DEFINITIONS)
_NOT_COMPILED = _waive(
    "Triton 3.9 does not compile it: `unsupported AST node type`",
    *("FunctionDef", "AsyncFunctionDef", "ClassDef", "AsyncFor", "AsyncWith", "Match", *TRIES),
)

CALL = "seen_{}()"
WALKERS: dict[str, tuple[Seen, str, Reasons]] = {
    "dtypes.statements": (_flow, "x.bfloat16().seen_{}.numpy()", {}),
    "dtypes.bodies": (_flow_of_callers, "y.seen_{}.numpy()", {}),
    "dtypes.relevance": (_slices, CALL, {}),
    "dtypes.definitions": (_definitions, "def seen_{}(): pass", _RUNS_ELSEWHERE),
    "source.python_imports": (_imported, "import seen_{}", {}),
    "source.python_statements.own_nodes": (_own_nodes, CALL, _RUNS_ELSEWHERE),
    "source.scopes": (_scopes, CALL, {}),
    "source.syntax_tree": (_syntax_tree, CALL, {}),
    "source.syntax_tree.may_fail_on_purpose": (
        _probe_on_purpose,
        CALL,
        _OF_CALLS
        | _waive("it catches nothing", "For", "AsyncFor", "While", "If", "Match")
        | _waive("nothing is caught there", *TRIES, only=(*HANDLERS, "orelse", "finalbody")),
    ),
    "source.compatibility": (
        _compatibility,
        CALL,
        _OF_CALLS | _waive("nobody asks for a version so", "For", "AsyncFor", "While", "Match"),
    ),
    "configured.declarations": (_declared, "p.add_argument('--seen_{}', default='x')", {}),
    "amp.graph": (
        _graph,
        CALL,
        _RUNS_ELSEWHERE | _waive("ways that raise are left out", *TRIES, only=HANDLERS),
    ),
    "amp.protocol": (
        _training_steps,
        "for seen_{} in x: scaler.scale(loss).backward()",
        _waive("ways that raise are left out", *TRIES, only=HANDLERS),
    ),
    "fixers.torch_name": (
        _branching,
        CALL,
        _waive("its body always runs", *DEFINITIONS, "With", "AsyncWith"),
    ),
    "fixers.imports": (_emptied, CALL, {}),
    "triton_types.module.statements": (_triton_module, CALL, {}),
    "triton_types.module.lacks": (_triton_names, "seen_{} = 1", _RUNS_ELSEWHERE),
    "triton_types.module.assignments": (_triton_constants, "seen_{} = 1", _RUNS_ELSEWHERE),
    "triton_types.interpreter": (
        _triton_kernel,
        CALL,
        _NOT_COMPILED | _waive("of a loop, it is not compiled", "For", "While", only=("orelse",)),
    ),
}


@pytest.mark.parametrize("name", COMPOUND)
@pytest.mark.parametrize("walker", WALKERS)
def test_a_walker_sees_every_block_or_says_why_not(walker: str, name: str) -> None:
    seen, probe, waived = WALKERS[walker]
    found = set(re.findall(r"\bseen_([a-z]+(?:_\d)?)\b", seen(filled(name, probe))))
    expected = set(BLOCK.findall(SAMPLES[name]))
    assert found & expected == {each for each in expected if (name, each) not in waived}


# The interpreter of dtypes, which must know all of them

BINDING = [name for name in NAMES if re.search(r"\bname\b", SAMPLES[name])]


@pytest.mark.parametrize("name", sorted({*BINDING} - {"Global", "Nonlocal"}))
def test_what_a_statement_binds_is_no_longer_what_it_was(name: str) -> None:
    """`name += x` alone keeps the dtype: it adds in place."""
    file = python(
        "import torch\nasync def f():\n name = torch.zeros(2, dtype=torch.bfloat16)\n"
        f"{textwrap.indent(filled(name, 'pass'), ' ')} name.numpy()\n"
    )
    (call,) = calls_in(file, frozenset({"numpy"}))
    value = call.receiver
    is_kept = isinstance(value, Tensor) and value.must_be(frozenset({"bfloat16"}))
    assert is_kept == (name == "AugAssign")


@pytest.mark.parametrize("name", NAMES)
def test_the_interpreter_has_a_case_for_every_statement(name: str) -> None:
    context = "def outer():\n name = 1\n async def f():\n  while head():\n"
    assert (
        _flow(f"{context}{textwrap.indent(filled(name, 'pass'), '   ')}\nx.numpy()") == "x.numpy()"
    )


def test_the_interpreter_refuses_a_statement_that_it_does_not_know() -> None:
    class Newer(ast.stmt):
        pass

    body = StatementInterpreter.__new__(StatementInterpreter)
    body.frame = SimpleNamespace(slice=None)  # type: ignore[assignment]
    with pytest.raises(NotImplementedError, match="Newer"):
        body.statement(Newer(), Environment())


def test_statements_are_in_the_order_of_the_source() -> None:
    for name in COMPOUND:
        tree = ast.parse(filled(name))
        rows = [each.lineno for each in statements(tree.body)]
        assert rows == sorted(rows)
        own = [each.lineno for each in own_statements(tree.body)]
        assert own == (rows[:1] if name in DEFINITIONS else rows)
        assert name in DEFINITIONS or parts(tree.body[0]) == [*head(tree.body[0])]


def test_a_name_that_is_bound_inside_of_a_function_is_none_of_the_statement() -> None:
    source = """
def f(n=(default := 1)):
    if (inside := n):
        return [(each := one) for one in inside]

class C:
    if (held := 1):
        pass

while (item := next(items)):
    y = (below := item)
"""
    file = python(source)
    written = {
        each.node.lineno: each.writes & {"default", "inside", "each", "held", "item", "below"}
        for each in def_uses(file.tree.body, file.text)
    }
    assert written == {
        2: {"default"},
        6: set(),
        7: {"held"},
        8: set(),
        10: {"item"},
        11: {"below"},
    }
