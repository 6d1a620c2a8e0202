"""What a rule sees of a file: the parsed file, the facts of its project, and a way to report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from precision_lint.facts.origin import Origin
from precision_lint.facts.project.facts import Recording
from precision_lint.model.finding import Confidence, Finding, Fix, Related, Severity, Span
from precision_lint.model.frozen import frozen
from precision_lint.model.precision import Precision
from precision_lint.model.regex import regex
from precision_lint.model.rule import Rule
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.python.long_lines import within_limit
from precision_lint.source.python.parse import ParsedPython
from precision_lint.source.text.notebook import NotebookText
from precision_lint.source.text.text import SourceText

if TYPE_CHECKING:
    from precision_lint.project.import_style import ImportStyle
    from precision_lint.source.python.helper_module import HelperModule


def finding_in(
    text: SourceText,
    rule: Rule,
    span: Span,
    message: str,
    *,
    confidence: Confidence,
    severity: Severity | None = None,
    why: str = "",
    fix: Fix | None = None,
    related: Sequence[Related] = (),
    precisions: tuple[Precision, ...] | None = None,
) -> Finding:
    """A finding of `rule` at `span`; `severity` and `precisions` default to the rule's own."""
    place = text.place(span)
    continued = text.around(place).line(place.start.row).endswith("\\")
    return Finding(
        code=rule.code,
        name=rule.name,
        message=message,
        severity=rule.severity if severity is None else severity,
        confidence=confidence,
        place=place,
        why=why,
        fix=fix,
        related=tuple(related),
        noqa_row=place.end.row if continued else place.start.row,
        precisions=rule.precisions if precisions is None else precisions,
    )


def _is_of_runs(rule: Rule, severity: Severity, precisions: tuple[Precision, ...] | None) -> bool:
    """True for what happens in a run: an error, or what a precision does; not for advice."""
    return severity is Severity.ERROR or bool(rule.precisions or precisions)


_CLASS = regex(r"class\s+(\w+)")


@frozen(eq=False, slots=False)
class PythonFile(ParsedPython):
    """A Python file in its project."""

    project: Recording

    @classmethod
    def of(cls, parsed: ParsedPython, project: Recording) -> PythonFile:
        return cls(parsed.text, parsed.tree, project)

    def finding(
        self,
        rule: Rule,
        span: Span,
        message: str,
        *,
        confidence: Confidence,
        severity: Severity | None = None,
        why: str = "",
        fix: Fix | Callable[[], Fix | None] | None = None,
        related: Sequence[Related] = (),
        precisions: tuple[Precision, ...] | None = None,
    ) -> Finding:
        """A finding of `rule` at `span`; `severity` and `precisions` default to the rule's own.

        What is not proved has low confidence in tests, benchmarks and vendored code: their authors
        choose dtypes on purpose, or maintain the code elsewhere. What happens in runs is low, even
        if proved, in functions that no run comes to, or whose modules no program imports, and where
        every program stops before the place, at an import or at another statement. A fix that is
        built on LibCST can be given as a function: it is called if the finding is shown.
        """
        severity = rule.severity if severity is None else severity
        is_medium = confidence is Confidence.MEDIUM
        is_proved = confidence is Confidence.HIGH and _is_of_runs(rule, severity, precisions)
        if (is_medium and self._is_beside_the_runs()) or (
            is_proved and self._is_in_unreached_function(span)
        ):
            confidence = Confidence.LOW
        elif is_medium or is_proved:
            if (stop := self._stop_before(span, related)) is not None:
                confidence, related = Confidence.LOW, (*related, stop)
            elif self._is_uncalled(span, related, has_effect_later=is_medium):
                confidence = Confidence.LOW
        if callable(fix):
            fix = fix() if self.project.shows(confidence) else None
        return finding_in(
            self.text,
            rule,
            span,
            message,
            confidence=confidence,
            severity=severity,
            why=why,
            fix=fix and self._within_limit(fix),
            related=related,
            precisions=precisions,
        )

    def _is_beside_the_runs(self) -> bool:
        """True for a file that no run of the project uses, but for tests and benchmarks."""
        from precision_lint.facts.project.measuring import only_measures

        path, project = self.text.path, self.project
        return project.is_secondary(path) or project.is_unreached(path) or only_measures(self)

    def _is_in_unreached_function(self, span: Span) -> bool:
        """True for a place in a function of a module that no program imports.

        What stands at the top level of a file runs where somebody runs the file.
        """
        from precision_lint.source.python.functions import functions_around

        path = self.text.path
        return bool(functions_around(self, span.start)) and self.project.is_unreached(path)

    def _is_uncalled(
        self, span: Span, related: Sequence[Related], *, has_effect_later: bool
    ) -> bool:
        """True if no run comes to a place, or to one that the finding is built on."""
        from precision_lint.facts.project.uncalled import is_uncalled

        return any(
            is_uncalled(file, at, self.project, has_effect_later=has_effect_later)
            for file, at in self._places(span, related)
        )

    def _stop_before(self, span: Span, related: Sequence[Related]) -> Related | None:
        """What keeps runs from a place, or from one that the finding is built on."""
        from precision_lint.facts.project.never_run import why_never_run

        found = (why_never_run(at, file, self.project) for file, at in self._places(span, related))
        return next(filter(None, found), None)

    def _places(self, span: Span, related: Sequence[Related]) -> Iterator[tuple[ParsedPython, int]]:
        """A place of this file, and those that a finding is built on, in their files."""
        yield self, span.start
        for each in related:
            path = each.place.path
            file = self if path == self.text.path else self._module(path)
            if file is not None:
                yield file, each.place.span.start

    def _module(self, path: Path) -> ParsedPython | None:
        return self.project.module(path) if path.suffix == ".py" else None

    def _within_limit(self, fix: Fix) -> Fix:
        """The fix, with breaks in the lines that it makes longer than the project has them."""
        return replace(fix, edits=within_limit(self, fix.edits, self.import_style.line_length))

    @property
    def import_style(self) -> ImportStyle:
        """How the imports of the file are sorted."""
        return self.project.import_style(self.text.path)

    def helper_module(self, name: str) -> HelperModule:
        """The module that a fix imports a helper from."""
        from precision_lint.source.python.helper_module import RUNTIME, HelperModule, defines

        module = self.project.helper_module
        if module in {"", RUNTIME}:
            return HelperModule(is_named=bool(module))
        found = self.project.locate(self.text.path, module)
        parsed = None if found is None else self.project.module(found)
        has_helper = parsed is not None and defines(parsed.tree, name)
        return HelperModule(module, True, has_helper, found == self.text.path)

    def related(self, span: Span, message: str) -> Related:
        """The other half of a finding, in this same file."""
        return Related(self.text.place(span), message)

    def chosen_by_caller(self, *, is_float16: bool = False) -> Confidence:
        """How sure a finding about a kernel can be whose caller chooses the dtype.

        Medium if the project shows that the file may get half precision, or float16 where only that
        hurts; low otherwise. A notebook is a program that nobody calls: what others use says
        nothing about it.
        """
        if isinstance(self.text, NotebookText):
            from precision_lint.facts.project.evidence import FLOAT16, is_used_in

            is_used = is_used_in(self, *([FLOAT16] if is_float16 else []))
        elif is_float16:
            is_used = self.project.float16(self.text.path) is not None
        else:
            is_used = self.project.half_precision(self.text.path) is not None
        return Confidence.MEDIUM if is_used else Confidence.LOW

    def bfloat16(self, origin: Origin) -> Related | None:
        """What shows that weights or data of an origin can be bfloat16.

        Autocast stores no tensor in bfloat16. For a model that anybody may give, what counts is a
        place of any program with this file that makes or loads modules in bfloat16; for a class of
        the project that the project loads with a dtype, of any program with a file that loads it.
        Who asks for the dtype of a checkpoint (`dtype="auto"`) expects a half one, if such a
        program uses bfloat16 at all. A checkpoint that is loaded without a dtype may hold any: only
        the files on the way from there show it. A configuration says in which dtype the program
        computes, and not what it loads. Nobody gives a model to a function that the project names
        nowhere. A notebook is a program of its own: what other files do says nothing about it.
        """
        if isinstance(self.text, NotebookText):
            from precision_lint.facts.project.evidence import stored_in

            return stored_in(self)
        if origin.kind == "auto":
            return self.project.bfloat16(self.text.path, "enabled")
        if (shown := self._shown_load(origin)) is not None:
            return shown
        is_given = origin.kind == "weights"
        if is_given and not self._is_named(origin):
            return None
        if is_given:
            return self.project.bfloat16(self.text.path, "stored weights")
        if origin.kind == "loader" and (loading := self._loading_with_dtype(origin)):
            beside = (self.project.bfloat16(path, "stored weights") for path in loading)
            return next(filter(None, beside), None)
        sources = (self.text, origin.source, *(site.source for site in origin.route))
        paths = dict.fromkeys(source.path for source in sources)
        found = (self.project.bfloat16(path, "stored here") for path in paths)
        return next(filter(None, found), None)

    def _shown_load(self, origin: Origin) -> Related | None:
        """Where a document loads the class of an origin in bfloat16."""
        name = _CLASS.match(origin.source.text, origin.span.start)
        if origin.kind != "loader" or name is None:
            return None
        from precision_lint.facts.project.shown_loads import shown_load

        return shown_load(name[1], origin.source.path, self.project)

    def _is_named(self, origin: Origin) -> bool:
        """True if the function of a place is named anywhere but where it is defined."""
        from precision_lint.facts.project.mentioned import is_mentioned
        from precision_lint.source.python.functions import functions_around

        around = functions_around(self, origin.span.start) if origin.source is self.text else []
        return not around or is_mentioned(around[0], self, self.project)

    def _loading_with_dtype(self, definition: Origin) -> Sequence[Path]:
        """The files that load a class of the project with a dtype; this one if a page does."""
        name = _CLASS.match(definition.source.text, definition.span.start)
        if name is None:
            return ()
        own = name[1].encode()
        # It begins with the name: a search that begins with `\b` takes twenty times as long.
        loading = rb"%b(?<!\w%b)\.from_pretrained\([^()]*dtype" % (own, own)
        if in_code := self.project.python_sources_matching(loading):
            return in_code
        return (self.text.path,) if self.project.page_matches(loading) else ()


@frozen(eq=False, slots=False)
class ConfigFile(ParsedConfig):
    """A configuration file in its project. What is embedded in it is parsed, and no more."""

    project: Recording = field(kw_only=True)

    @classmethod
    def of(cls, parsed: ParsedConfig, project: Recording) -> ConfigFile:
        values = {each.name: getattr(parsed, each.name) for each in fields(parsed)}
        return cls(**values, project=project)
