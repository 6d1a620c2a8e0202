"""Which functions that declare options a program calls: several of its files may have a parser."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence, Set
from pathlib import Path

from precision_lint.facts.project.facts import Recording
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.python.syntax import is_main
from precision_lint.source.python.syntax_tree import syntax_tree

_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@frozen(slots=False)
class Callers:
    """The files of a program, the started one first, as far as they call what declares options."""

    paths: Sequence[Path]
    project: Recording

    def call(self, path: Path, span: Span) -> bool:
        """False for what stands in a function of a file that the program does not call: the parser
        of a module that is a program of its own.
        """
        file = self.project.module(path)
        if file is None:
            return True
        around = (
            node.name
            for node in file.tree.body
            if isinstance(node, ast.FunctionDef)
            if file.span_of(node).start <= span.start < file.span_of(node).end
        )
        name = next(around, "")
        return not name or self.project.config_files.once(
            ("is called", self.paths[0], path, name),
            lambda: self._mention(name, file, frozenset()),
        )

    def _mention(self, name: str, file: ParsedPython, seen: Set[str]) -> bool:
        """True if one of the files mentions a function of a file, and not only defines it."""
        text = self.project.config_files.text
        return any(
            self._mention_at_home(name, file, seen)
            if path == file.text.path
            else name in text(path) and _is_mentioned_in(text(path), name)
            for path in self.paths
        )

    def _mention_at_home(self, name: str, file: ParsedPython, seen: Set[str]) -> bool:
        """The same for the file that defines it: what its functions mention counts if the program
        calls them, and what is done where it is started if it is the program.
        """
        is_started = file.text.path == self.paths[0]
        for function in _mentioning(name, file, is_started):
            if not function:
                return True
            if (
                function != name
                and function not in seen
                and (is_started or self._mention(function, file, seen | {name}))
            ):
                return True
        return False


def _is_mentioned_in(text: str, name: str) -> bool:
    """True for the text of another file that mentions a function, as `parse_args` or
    `options.parse_args`, and no method or function of its own.
    """
    word = re.escape(name)
    used = (
        rf"(?<![.\w])(?<!def ){word}[ \t]*\(|[(=,][ \t]*{word}[ \t]*[,)\n]"
        rf"|\bimport\b[^\n]*\b{word}\b"
    )
    if re.search(rf"\bimport\b[^\n]*\b{word}[ \t]+as\b", text) is not None:
        return True
    is_own = re.search(rf"^def {word}\(", text, re.MULTILINE) is not None
    if not is_own and re.search(used, text) is not None:
        return True
    holders = dict.fromkeys(re.findall(rf"\b(\w+)\.{word}\b", text))
    return any(re.search(rf"\bimport\b[^\n]*\b{each}\b", text) for each in holders)


def _mentioning(name: str, file: ParsedPython, is_started: bool) -> Iterator[str]:
    """The functions and classes at the top of a file that mention a name; empty for its top."""
    syntax = syntax_tree(file)
    for node in file.nodes:
        match node:
            case ast.Name(id=found, ctx=ast.Load()) | ast.Attribute(attr=found) if found == name:
                around = [*syntax.around(node)]
                if not is_started and any(
                    isinstance(each, ast.If) and is_main(each) for each in around
                ):
                    continue
                owners = (each for each in around if isinstance(each, _NAMED))
                yield next((each.name for each in reversed([*owners])), "")
