"""The defaults of a program's own parser, for the options that a framework knows."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from precision_lint.facts.frameworks.sources import CodePlace, Occurrence
from precision_lint.facts.frameworks.table import Key
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.runs.interpreter.program import Program
from precision_lint.facts.settings.given import Kind
from precision_lint.model.finding import Place, Span
from precision_lint.model.frozen import frozen
from precision_lint.model.memo import fact
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.python.nodes import walk

_PARSERS = ("HfArgumentParser", "TrlParser", "H4ArgumentParser", "ArgumentParser")


@frozen(eq=False, slots=False)
class DefaultsSource:
    """What the program of a launch takes for the options that are not given."""

    run: RunEnvironment
    span: Span
    """The launch."""

    @property
    def file(self) -> ParsedConfig:
        return self.run.file

    def get(self, name: str) -> Occurrence | None:
        declared = self.run.program.options.get(name, ())
        owners = {given.owner for given in declared if given.kind is Kind.FIELD}
        parsed = {one for _, one in parsed_classes(self.run.program)}
        if name in self.run.program.assigned or not owners <= parsed:
            return None
        known = self.run.option(name)
        written = known.written if known is not None else None
        return written if written is not None and isinstance(written.origin, CodePlace) else None

    def all(self, name: str) -> Iterator[Occurrence]:
        if written := self.get(name):
            yield written

    def may_define(self, key: Key) -> bool:
        """What the program does with its options is looked for in its text."""
        return False


@fact
def parsed_classes(program: Program) -> tuple[tuple[Place, str], ...]:
    """The classes of settings that are given to a parser, `HfArgumentParser((A, B))`, and where."""
    return tuple(
        (file.text.place(file.span_of(call)), node.id)
        for parser in _PARSERS
        for file, call in program.calls(parser)
        for node in walk(call)
        if isinstance(node, ast.Name)
    )
