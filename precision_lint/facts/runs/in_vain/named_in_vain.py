"""Files of settings that nothing reads, although other files of the project name them.

An option that no code asks for gets the name, which words after the script of `accelerate launch`
are, too, or the launcher does not use the section with the name. One place that is none of these,
and somebody may read the file. What pages and messages say of a file gives it to nothing.
"""

from __future__ import annotations

import ast
from pathlib import Path

from precision_lint.facts.frameworks.launches import Launch, launch
from precision_lint.facts.frameworks.reading import EffectiveConfig
from precision_lint.facts.frameworks.recognition import program_of
from precision_lint.facts.frameworks.runs import runs
from precision_lint.facts.frameworks.sources import MappingSource, launch_of
from precision_lint.facts.project.facts import Recording
from precision_lint.facts.runs.code.becoming import shown
from precision_lint.facts.runs.code.written_down import RECORDING
from precision_lint.facts.runs.in_vain.never_named import given_in, naming_of
from precision_lint.facts.runs.in_vain.own_sections import in_own_section
from precision_lint.facts.runs.in_vain.refused_files import refused
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.runs.options.never_read import declared_in_vain, is_read_elsewhere
from precision_lint.facts.runs.readers.readers import readers
from precision_lint.facts.runs.written.quoted_commands import STARTS_NOTHING, quoted_commands
from precision_lint.facts.runs.written.typed_commands import typed_commands
from precision_lint.facts.settings.given import normal
from precision_lint.facts.settings.option_calls import flag_of
from precision_lint.model.finding import Related
from precision_lint.model.regex import regex
from precision_lint.project.discovery import kind_of
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.options import options
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import last_name
from precision_lint.source.python.syntax_tree import SyntaxTree, syntax_tree
from precision_lint.source.shell.commands import Command
from precision_lint.source.text.comments import without_comments

_MOST_COMMANDS = 64
_OWN = frozenset({"export", "echo", "printf", "set", "cd", "mkdir", "date", "sleep", "wait"})
"""Commands that give their environment to nobody who reads a file of settings."""
_HELPING = frozenset({"help", "description", "epilog", "usage"})
"""Arguments of parsers that only people read."""
_OF_DEEPSPEED = frozenset({"deepspeed_config", "deepscale_config"})
"""Options that `deepspeed.initialize(args=args)` reads."""
_IMPORTS_DEEPSPEED = r"\b(?:import|from)[ \t]+deepspeed\b"
_MORE_OPTIONS = regex(r"\badd_config_arguments\(|\bparents[ \t]*=|\ballow_abbrev[ \t]*=")
"""How a parser gets options that are not seen, and refuses what is left out of their names."""


def named_in_vain(run: EffectiveConfig, project: Recording) -> Related | None:
    """Why nobody reads the file or the section that a run consists of; None if somebody may."""
    file = run.file
    if (why := in_own_section(run, project)) is not None:
        return why
    if launch_of(run.source) is not None or file.python is not None:
        return None
    if file.around is not None or file.masked is not None:
        return None
    path, files = file.text.path, project.config_files
    why = files.once(("refused", path), lambda: refused(file, project))
    if why is not None or not isinstance(run.source, MappingSource):
        return why
    key = ("named in vain", path)
    return files.once(key, lambda: _named_in_vain(file, project))


def _named_in_vain(file: ParsedConfig, project: Recording) -> Related | None:
    path, files = file.text.path, project.config_files
    if readers(file, project):
        return None
    scripts = [one for one in files.scripts_naming(path) if one.text.path != path]
    modules = [one for one in files.named_in_python(path) if one != path]
    reasons: list[Related] = []
    for one in scripts:
        if one.text.path not in modules:
            found = _in_settings(one, path, project)
            if found is None:
                return None
            reasons += found
    for module in modules:
        python = project.module(module)
        in_code = _in_code(python, path, project) if python is not None else None
        if in_code is None:
            return None
        reasons += in_code
    known = frozenset({*(one.text.path for one in scripts), *modules})
    if not reasons or naming_of(file, project, besides=known) == "files":
        return None
    return reasons[0]


# In scripts, pages and files of settings


def _in_settings(other: ParsedConfig, path: Path, project: Recording) -> list[Related] | None:
    """Why nothing gets a file from another one which is no code; None if something may."""
    taking = runs(other, project)
    if any(path in run.paths for run in taking):
        return None
    unused = {
        reference.written.origin.span: why.related(
            f"accelerate does not use it: `{why.key.name}` is {shown(why.value)}"
        )
        for run in taking
        for part in run.parts
        for _, reference, why in part.unused
        if reference.written is not None
        and reference.written.file.text.path == other.text.path
        and str(reference.value).endswith(path.name)
    }
    reasons = [one for one in unused.values() if one is not None]
    count = len(reasons)
    for part in other.with_embedded:
        for command in part.commands[:_MOST_COMMANDS]:
            found = _in_command(command, part, path, project)
            if found is None:
                return None
            reasons += found
            count += len(found)
    text = other.text.text
    if other.format != "markdown":
        kind = kind_of(other.text.path)
        text = without_comments(other.text, kind) if kind is not None else text
        return reasons if text.count(path.name) == count else None
    typed = [
        _given_in_vain(one, other, path, project)
        for one in typed_commands(text, path.name, other.text.path, project)
    ]
    if not all(typed) or len(given_in(text, path.name)) > max(count, len(typed)):
        return None
    return reasons or [one for found in typed for one in found or ()]


def _in_command(
    command: Command, part: ParsedConfig, path: Path, project: Recording
) -> list[Related] | None:
    """Why nothing gets a file from a command; None if something may. What the launcher itself gets
    is one of its settings.
    """
    if not any(path.name in word.text for word in command.words):
        return []
    first = command.words[0]
    if path.name in first.text and any(first is one for one in quoted_commands(part)):
        note = f"only this command names it, {STARTS_NOTHING}"
        return [Related(part.text.place(first.span), note)] * first.text.count(path.name)
    if first.text == "export" and _starts_nothing(part):
        return []
    started = launch(command)
    if started is None:
        return None
    if any(path.name in word.text for word in started.launcher):
        return []
    return _given_in_vain(started, part, path, project)


def _starts_nothing(part: ParsedConfig) -> bool:
    """True for a script that starts no program, which could get what it exports."""
    quoted = [*quoted_commands(part)]
    firsts = [command.words[0] for command in part.commands if command.words]
    return all(one.text in _OWN or any(one is each for each in quoted) for one in firsts)


def _given_in_vain(
    started: Launch, near: ParsedConfig, path: Path, project: Recording
) -> list[Related] | None:
    """Why the program of a launch does not read a file, once for each option that gets it."""
    at = program_of(started, near, project)
    if at is None:
        return None
    found: list[Related] = []
    for option in options(started.words):
        if path.name in option.text:
            reason = _reason(f"--{option.name}", Program(at, project))
            if reason is None:
                return None
            found.append(reason)
    return found if len(found) == sum(path.name in word.text for word in started.words) else None


def _reason(flag: str, program: Program) -> Related | None:
    """The option of a program which nothing reads; None if something may."""
    flag = _whole(flag, program)
    name = normal(flag.lstrip("-"))
    if name in _OF_DEEPSPEED and program.project.reaches(program.path, _IMPORTS_DEEPSPEED):
        return None
    found = declared_in_vain(name, program)
    if found is None:
        return None
    file, call = found
    place = file.text.place(file.span_of(call))
    return Related(place, f"only `{flag}` gets it, and nothing reads that option")


def _whole(flag: str, program: Program) -> str:
    """The name of an option as argparse completes it."""
    calls = program.calls("add_argument")
    declared = [
        each.value
        for _, call in calls
        for each in call.args
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    ]
    likely = [one for one in declared if one.startswith(flag)]
    has_more = any(_MORE_OPTIONS.search(file.text.text) for file in program.files)
    return likely[0] if len(likely) == 1 and not has_more else flag


# In code


def _in_code(file: ParsedPython, path: Path, project: Recording) -> list[Related] | None:
    """Why nothing gets a file from a module that names it; None if something may."""
    syntax = syntax_tree(file)
    found: list[Related] = []
    for node in file.nodes_of(ast.Constant):
        if not isinstance(node.value, str) or path.name not in node.value:
            continue
        if _is_message(node, syntax):
            for started in typed_commands(node.value, path.name, file.text.path, project):
                near = project.config_files.at(file.text.path)
                reasons = _given_in_vain(started, near, path, project) if near else None
                if reasons is None:
                    return None
                found += reasons
            continue
        reason = _of_default(node, file, syntax, project)
        if reason is None:
            return None
        found.append(reason)
    return found


def _is_message(node: ast.expr, syntax: SyntaxTree) -> bool:
    """True for a docstring, the help of a parser, and what is printed."""
    parent = syntax.parent(node)
    while isinstance(parent, ast.JoinedStr | ast.BinOp):
        node, parent = parent, syntax.parent(parent)
    match parent:
        case ast.Expr():
            return True
        case ast.keyword(arg=name):
            return name in _HELPING
        case ast.Call(func=function, args=args):
            return node in args and last_name(function) in RECORDING & {"print", "info", "warning"}
    return False


def _of_default(
    node: ast.expr, file: ParsedPython, syntax: SyntaxTree, project: Recording
) -> Related | None:
    """The option that has a text as its default and that nothing reads; None if it is none."""
    keyword = syntax.parent(node)
    call = syntax.parent(keyword) if isinstance(keyword, ast.keyword) else None
    if not isinstance(call, ast.Call) or last_name(call.func) != "add_argument":
        return None
    if not isinstance(keyword, ast.keyword) or keyword.arg != "default":
        return None
    program = Program(file.text.path, project)
    flag = flag_of(call)
    if not flag.startswith("--") or is_read_elsewhere(normal(flag.lstrip("-")), program):
        return None
    return _reason(flag, program)
