"""The concrete syntax of an expression: found by its span, each node where the file has it."""

import ast
import sys
from pathlib import Path

import libcst as cst
import pytest

from precision_lint.source.python.parse import ParsedPython, parse_python
from precision_lint.source.text.text import SourceText


def parsed(source: str) -> ParsedPython:
    return parse_python(SourceText(Path("file.py"), source))


def numpy_calls(file: ParsedPython) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(file.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "numpy"
    ]


@pytest.mark.parametrize(
    ("source", "receiver"),
    [
        ("a = x.cpu().numpy()\n", "x.cpu()"),
        ("a = (x + y).numpy()\n", "(x + y)"),
        ("a = (\n    x  # here\n    .cpu()\n    .numpy()\n)\n", "x  # here\n    .cpu()"),
        ("def f():\r\n    return (x\r\n        .numpy())\r\n", "x"),
        ("é = 'ü'; a = ß.cpu().numpy()\n", "ß.cpu()"),
        ("@decorated(x.numpy())\ndef f():\n    pass\n", "x"),
        ("def f(a=x.numpy()): ...\n", "x"),
        ("f(key=x.numpy())\n", "x"),
        ("a = [x[..., None].numpy() for x in xs if x]\n", "x[..., None]"),
        ("match x.numpy():\n    case _ if y: pass\n", "x"),
        ("with f(x.numpy()) as a: pass\n", "x"),
        ("async def f():\n    return (await x).numpy()\n", "(await x)"),
        ("a = f'{x.numpy()}'\n", "x"),
    ],
)
def test_the_receiver_stands_where_it_stands_in_the_file(source: str, receiver: str) -> None:
    file = parsed(source)
    [call] = numpy_calls(file)
    expression = file.expression(file.span_of(call))
    assert expression is not None
    assert isinstance(expression.node, cst.Call)
    assert isinstance(expression.node.func, cst.Attribute)
    assert file.text[expression.extent(expression.node.func.value)] == receiver


def test_a_place_in_an_f_string_that_is_wrong_is_no_place() -> None:
    source = 'a = f"""\n{a.numpy()} {  b.numpy()}\n{\nlonger.numpy()}"""\n'
    file = parsed(source)
    for call in numpy_calls(file):
        span = file.span_of(call)
        expression = file.expression(span)
        assert (expression is None) == (file.text[span] != ast.unparse(call))
        assert expression is not None or sys.version_info < (3, 12)


def test_a_span_that_is_no_expression_has_none() -> None:
    file = parsed("a = x.cpu().numpy()\n")
    for start in range(19):
        span = file.span_of(numpy_calls(file)[0])
        moved = type(span)(start, span.end)
        assert (file.expression(moved) is None) == (start != span.start)


@pytest.mark.parametrize("depth", [10, 500, 900])
def test_deep_nesting_is_no_error(depth: int) -> None:
    file = parsed("a = " + "x + " * depth + "y.numpy()\n")
    [call] = numpy_calls(file)
    assert file.expression(file.span_of(call)) is not None
    whole = file.tree.body[0]
    assert isinstance(whole, ast.Assign)
    file.expression(file.span_of(whole.value))


def test_invalid_escapes_are_another_linters_business(recwarn: pytest.WarningsRecorder) -> None:
    file = parsed("a = f(re.sub('\\d', x)).numpy()\n")
    [call] = numpy_calls(file)
    assert file.expression(file.span_of(call)) is not None
    assert not recwarn.list
