"""The language server: findings as diagnostics, fixes as quick fixes, over stdio."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from pathlib import Path

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from precision_lint.engine import registry
from precision_lint.engine.job import Result
from precision_lint.engine.options import Options
from precision_lint.engine.run import lint_bytes
from precision_lint.engine.session import Session
from precision_lint.engine.settings import ConfigError
from precision_lint.engine.warm import WarmJobs
from precision_lint.model.finding import Applicability, Finding, Place, Severity, Span
from precision_lint.model.version import __version__
from precision_lint.project.discovery import kind_of
from precision_lint.source.text.text import SourceText

_SEVERITY = {
    Severity.ERROR: lsp.DiagnosticSeverity.Error,
    Severity.WARNING: lsp.DiagnosticSeverity.Warning,
    Severity.INFO: lsp.DiagnosticSeverity.Information,
}


_PAUSE = 0.15
"""Seconds without a change after which a document is checked."""

_QUIET = 2.0
"""Seconds without a change after which garbage is looked for: half a second in a large project."""


def make_server() -> LanguageServer:
    """A server that has its handlers and does not run yet."""
    server = LanguageServer("precision-lint", __version__)
    documents = _Documents(server)

    def publish(uri: str) -> None:
        result = documents.result(uri)
        text = None if result is None else result.text
        diagnostics = (
            [_diagnostic(finding, text) for finding in result.findings] if result and text else []
        )
        server.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(uri, diagnostics, documents.version(uri))
        )

    async def tidy_up() -> None:
        checked = documents.checked
        await asyncio.sleep(_QUIET)
        if documents.checked == checked:
            gc.collect()

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        publish(params.text_document.uri)
        await tidy_up()

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        uri, version = params.text_document.uri, params.text_document.version
        await asyncio.sleep(_PAUSE)
        if documents.version(uri) == version:  # or else the check of a later change follows
            publish(uri)
            await tidy_up()

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        documents.look_again()
        publish(params.text_document.uri)
        for uri in documents.others(params.text_document.uri):
            await asyncio.sleep(0)  # a change that came in meanwhile goes first
            if documents.version(uri) is not None:
                publish(uri)
        await tidy_up()

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        documents.close(params.text_document.uri)
        server.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(uri=params.text_document.uri, diagnostics=[])
        )

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION,
        lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix]),
    )
    def code_actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        result = documents.result(params.text_document.uri)
        if result is None or result.text is None:
            return []
        return list(_actions(result, result.text, params))

    return server


def serve() -> None:
    """Serve an editor on stdin and stdout until it hangs up.

    Nobody waits for garbage: it is looked for when no change comes in.
    """
    gc.disable()
    make_server().start_io()


class _Documents:
    """The open documents: each is checked once per version, with facts that are kept."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._jobs = WarmJobs()
        self._results: dict[str, tuple[int | None, Result | None]] = {}
        self.checked = 0
        """How many checks there were."""

    def version(self, uri: str) -> int | None:
        """The version of an open document; None for one that is closed."""
        document = self._server.workspace.text_documents.get(uri)
        return None if document is None else document.version

    def others(self, uri: str) -> list[str]:
        """The other open documents, which may depend on one."""
        return [each for each in self._server.workspace.text_documents if each != uri]

    def result(self, uri: str) -> Result | None:
        """The result for a document as it is in the editor; None for one that is not checked."""
        version = self.version(uri)
        known = self._results.get(uri)
        if known is None or known[0] != version:
            known = self._results[uri] = version, self._check(uri)
            self.checked += 1
        return known[1]

    def look_again(self) -> None:
        """A file was written, which others may depend on."""
        self._jobs.look_again()
        self._results.clear()

    def close(self, uri: str) -> None:
        """Forget a document."""
        self._results.pop(uri, None)

    def _workspace_of(self, path: Path) -> Path:
        """The innermost open folder that contains a file, or else the folder of the file."""
        workspace = self._server.workspace
        uris = [*workspace.folders, workspace.root_uri]
        names = (to_fs_path(uri) for uri in uris if uri)
        folders = [Path(name) for name in names if name]
        inside = [folder for folder in folders if folder in path.parents]
        return max(inside, key=lambda folder: len(folder.parts), default=path.parent)

    def _check(self, uri: str) -> Result | None:
        name = to_fs_path(uri)
        path = Path(name) if name else None
        # Editors show the cells of a notebook as documents of their own, and not its JSON.
        if path is None or kind_of(path) in (None, "notebook"):
            return None
        try:
            session = Session.open([path], Options(), self._workspace_of(path))
        except ConfigError as error:
            message = lsp.ShowMessageParams(lsp.MessageType.Error, str(error))
            self._server.window_show_message(message)
            return None
        kind = kind_of(path, markdown=session.settings.markdown)
        if kind is None:
            return None
        job = self._jobs.job(session)  # fixes nothing: fixes are code actions
        document = self._server.workspace.get_text_document(uri)
        result = lint_bytes(job, path, document.source.encode("utf-8", "replace"), kind)
        job.facts.free()
        return result


def _diagnostic(finding: Finding, text: SourceText) -> lsp.Diagnostic:
    rule = registry.rule(finding.code)
    related = [
        lsp.DiagnosticRelatedInformation(_location(other.place, text), other.message)
        for other in finding.related
    ]
    return lsp.Diagnostic(
        range=_range(finding.place.span, text),
        message=f"{finding.message}\n{finding.why}".strip(),
        severity=_SEVERITY[finding.severity],
        code=finding.code,
        code_description=lsp.CodeDescription(rule.url),
        source="precision-lint",
        related_information=related,
    )


def _actions(
    result: Result, text: SourceText, params: lsp.CodeActionParams
) -> Iterator[lsp.CodeAction]:
    for finding in result.findings:
        where = _range(finding.place.span, text)
        fix = finding.fix
        if fix is None or fix.applicability is Applicability.DISPLAY:
            continue
        if where.end < params.range.start or params.range.end < where.start:
            continue
        edits = [lsp.TextEdit(_range(edit.span, text), edit.content) for edit in fix.edits]
        is_safe = fix.applicability is Applicability.SAFE
        yield lsp.CodeAction(
            title=f"{fix.message} ({finding.code}{'' if is_safe else ', unsafe'})",
            kind=lsp.CodeActionKind.QuickFix,
            diagnostics=[_diagnostic(finding, text)],
            is_preferred=is_safe,
            edit=lsp.WorkspaceEdit(changes={params.text_document.uri: edits}),
        )


def _location(place: Place, text: SourceText) -> lsp.Location:
    uri = from_fs_path(str(place.path)) or ""
    if place.path == text.path:
        return lsp.Location(uri, _range(place.span, text))
    # Another file, whose text is not at hand: whole rows are right in any encoding of columns.
    start, end = place.in_file
    return lsp.Location(uri, lsp.Range(lsp.Position(start.row - 1, 0), lsp.Position(end.row, 0)))


def _range(span: Span, text: SourceText) -> lsp.Range:
    return lsp.Range(_position(span.start, text), _position(span.end, text))


def _position(offset: int, text: SourceText) -> lsp.Position:
    """A position as editors count: rows from 0, columns in UTF-16 units."""
    row, column = text.position(offset)
    before = text.line(row)[: column - 1]
    return lsp.Position(row - 1, len(before.encode("utf-16-le", "surrogatepass")) // 2)
