"""The defaults of a program's own parser, for the options that a framework knows."""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.facts.frameworks.sources import CodePlace, Occurrence
from precision_lint.facts.frameworks.table import Key
from precision_lint.facts.runs.interpreter.environment import RunEnvironment
from precision_lint.facts.settings.given import Kind
from precision_lint.model.finding import Span
from precision_lint.model.frozen import frozen
from precision_lint.source.config.config_file import ParsedConfig


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
        parsed = {one for _, one in self.run.program.parsed_classes}
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
