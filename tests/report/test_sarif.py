"""SARIF: the official schema, and what the schema cannot say."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from precision_lint.model.finding import Applicability


@pytest.fixture
def source(code):
    return code("src/a b%日.py", "import os\nx = '🔥'.numpy()\ny = x.numpy()\n")


@pytest.fixture
def finding(source):
    return source.finding(
        ".numpy()",
        why="it raises",
        fix=source.replacing((".numpy", ".float().numpy"), ("import os\n", "")),
        related=[source.related("os", "here"), source.related("os", "here")],
    )


def log(render, findings, *sources):
    text = render("sarif", findings, *sources)
    assert text.isascii()
    return json.loads(text)


def test_schema(sarif_schema, render, source, finding, rules):
    sarif_schema.validate(log(render, []))
    sarif_schema.validate(log(render, [finding], source))
    sarif_schema.validate(log(render, [finding, source.finding("y", rule=rules[2])]))


def test_result(render, source, finding):
    [result] = log(render, [finding], source)["runs"][0]["results"]
    artifact = {"uri": "src/a%20b%25%E6%97%A5.py", "uriBaseId": "SRCROOT"}
    assert result["ruleId"] == "MP101"
    assert result["level"] == "error"
    assert result["message"] == {"text": "bfloat16 reaches NumPy\nit raises"}
    assert result["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": artifact,
                "region": {"startLine": 2, "startColumn": 8, "endLine": 2, "endColumn": 16},
            }
        }
    ]
    assert result["fixes"] == [
        {
            "description": {"text": "Convert to float32 first"},
            "artifactChanges": [
                {
                    "artifactLocation": artifact,
                    "replacements": [
                        {
                            "deletedRegion": {
                                "startLine": 2,
                                "startColumn": 8,
                                "endLine": 2,
                                "endColumn": 14,
                            },
                            "insertedContent": {"text": ".float().numpy"},
                        },
                        {
                            "deletedRegion": {
                                "startLine": 1,
                                "startColumn": 1,
                                "endLine": 2,
                                "endColumn": 1,
                            }
                        },
                    ],
                }
            ],
        }
    ]
    assert [place["message"] for place in result["relatedLocations"]] == [{"text": "here"}] * 2


def test_run(render, source, finding, rules):
    findings = [source.finding("y", rule=rules[2]), finding]
    [run] = log(render, findings, source)["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["originalUriBaseIds"] == {"SRCROOT": {"uri": "file:///repo/"}}
    described = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in described] == ["MP101", "MP701"]
    assert described[1] == {
        "id": "MP701",
        "name": "env-precision-conflict",
        "shortDescription": {"text": "two settings differ"},
        "helpUri": rules[2].url,
        "defaultConfiguration": {"level": "note"},
    }
    assert [result["ruleIndex"] for result in run["results"]] == [1, 0]


def test_files_outside_the_root(render, source, finding):
    outside = replace(finding, place=replace(finding.place, path=Path("/else where/\udce9.py")))
    [result] = log(render, [outside])["runs"][0]["results"]
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": "file:///else%20where/%E9.py"}


def test_fixes_that_an_editor_may_not_apply(render, source, finding):
    def fixes(applicability, sources):
        fix = replace(finding.fix, applicability=applicability)
        [result] = log(render, [replace(finding, fix=fix)], *sources)["runs"][0]["results"]
        return result.get("fixes")

    [unsafe] = fixes(Applicability.UNSAFE, [source])
    assert unsafe["description"] == {"text": "Convert to float32 first (unsafe)"}
    assert fixes(Applicability.DISPLAY, [source]) is None
    assert fixes(Applicability.SAFE, []) is None


def marks(render, *places):
    results = log(render, [place[0] for place in places], *(place[1] for place in places))
    return [
        result["partialFingerprints"]["precisionLint/v1"]
        for result in results["runs"][0]["results"]
    ]


def test_fingerprints_outlive_edits_elsewhere(render, code):
    before = code("a.py", "x = 1\ny = 2\n")
    after = code("a.py", "import os\n\nif y:\n    x  = 1\n")
    [mark] = marks(render, (before.finding("x"), before))
    [moved] = marks(render, (after.finding("x"), after))
    assert mark == moved


def test_fingerprints_tell_findings_apart(render, code, rules):
    source = code("a.py", "x = 1\ny = 2\n")
    other = code("b.py", "x = 1\n")
    finding = source.finding("x")
    places = [
        (finding, source),
        (finding, source),
        (source.finding("y"), source),
        (source.finding("x", rule=rules[1]), source),
        (other.finding("x"), other),
    ]
    assert len(set(marks(render, *places))) == len(places)
    assert marks(render, *places) == marks(render, *places)
