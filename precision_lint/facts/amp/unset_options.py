"""Options of argparse that are None where no word gives them, in the runs that do not."""

from __future__ import annotations

import ast

from precision_lint.facts.amp.plain_runs import PlainRun
from precision_lint.facts.context import PythonFile
from precision_lint.facts.runs.options.unmade_options import namespace_of
from precision_lint.facts.settings.fixed_switches import fills_namespaces, is_written
from precision_lint.facts.settings.given import normal
from precision_lint.facts.settings.option_calls import destination, names_of
from precision_lint.source.python.syntax_tree import syntax_tree


def is_unset(node: ast.expr, run: PlainRun, file: PythonFile) -> bool:
    """True for `args.deepspeed` of a run without this option, if its default is None."""
    match node:
        case ast.Attribute(value=ast.Name() as holder, attr=name, ctx=ast.Load()):
            pass
        case _:
            return False
    made = namespace_of(holder, file, file.project)
    if made is None or any(
        is_written(name, syntax) or fills_namespaces(syntax)
        for syntax in (syntax_tree(file), syntax_tree(made.file))
    ):
        return False
    calls = syntax_tree(made.file).calls("add_argument")
    declared = [call for call in calls if destination(call) == name]
    if len(declared) != 1 or not _is_none_without_word(declared[0]):
        return False
    given = {normal(each.lstrip("-")) for each in names_of(declared[0])}
    words = run.environment
    return not words.has_unknown_words and given.isdisjoint(words.words)


def _is_none_without_word(call: ast.Call) -> bool:
    """True for an option, not a position, whose value is None if it is not given."""
    given = {each.arg: each.value for each in call.keywords}
    if None in given or given.keys() & {"action", "required", "nargs"}:
        return False
    default = given.get("default", ast.Constant(None))
    is_option = all(name.startswith("-") for name in names_of(call))
    return is_option and isinstance(default, ast.Constant) and default.value is None
