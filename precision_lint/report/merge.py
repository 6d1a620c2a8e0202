"""Reports of several runs made one: what one run over all of their files would have written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote

from precision_lint.report.json_report import dumps

_TOOL = "precision-lint"


class NotMergeable(Exception):
    """A report that is none of precision-lint's, or not of the format of the others."""


def merged(reports: Mapping[str, str]) -> tuple[str, int]:
    """Reports in JSON or SARIF, by the names of their files, as one; and how many findings it has.

    The findings of a file stay in their order. One that is in several reports counts once.

    Raises:
        NotMergeable: the message names the file.
    """
    documents = {name: _parsed(name, text) for name, text in reports.items()}
    kinds = {name: _kind(name, document) for name, document in documents.items()}
    first = next(iter(kinds))
    for name, kind in kinds.items():
        if kind is not kinds[first]:
            raise NotMergeable(f"{name}: not of the same format as {first}")
    if kinds[first] is list:
        records = _once(record for document in documents.values() for record in document)
        records.sort(key=lambda record: str(record.get("filename")))
        return dumps(records, indent=2) + "\n", len(records)
    return _merged_sarif(documents)


def _parsed(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise NotMergeable(f"{name}: not JSON: {error}") from None


def _kind(name: str, document: Any) -> type:
    """`list` for JSON, `dict` for SARIF, which has one run of this tool."""
    match document:
        case list() if all(isinstance(each, dict) and "filename" in each for each in document):
            return list
        case {"runs": [{"tool": {"driver": {"name": str(tool)}}, "results": list()}]}:
            if tool == _TOOL:
                return dict
    raise NotMergeable(f"{name}: not a report of {_TOOL} in JSON or SARIF")


def _merged_sarif(documents: Mapping[str, Any]) -> tuple[str, int]:
    runs = {name: document["runs"][0] for name, document in documents.items()}
    first = next(iter(runs))
    version = _version(runs[first])
    for name, run in runs.items():
        if _version(run) != version:
            raise NotMergeable(f"{name}: of version {_version(run)}, but {first} of {version}")
    rules = {rule["id"]: rule for run in runs.values() for rule in run["tool"]["driver"]["rules"]}
    ids = sorted(rules)
    results = _once(result for run in runs.values() for result in run["results"])
    results = [{**result, "ruleIndex": ids.index(result["ruleId"])} for result in results]
    results.sort(key=_uri)
    run = runs[first]
    driver = {**run["tool"]["driver"], "rules": [rules[each] for each in ids]}
    run = {**run, "tool": {**run["tool"], "driver": driver}, "results": results}
    return dumps({**documents[first], "runs": [run]}, indent=2) + "\n", len(results)


def _version(run: Any) -> object:
    return run["tool"]["driver"].get("version")


def _uri(result: Any) -> str:
    return unquote(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])


def _once(records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The records without those that are there already; a rule's index says nothing."""
    known: dict[str, dict[str, Any]] = {}
    for record in records:
        said = {key: value for key, value in record.items() if key != "ruleIndex"}
        known.setdefault(json.dumps(said, sort_keys=True), record)
    return list(known.values())
