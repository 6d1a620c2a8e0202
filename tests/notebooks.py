"""Notebooks for tests, from the sources of their cells."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

Cell = dict[str, Any]


def code(source: str | list[str], **metadata: object) -> Cell:
    lines = source.splitlines(keepends=True) if isinstance(source, str) else source
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": metadata,
        "outputs": [{"data": {"image/png": "iVBORw0KGgo="}, "output_type": "display_data"}],
        "source": lines,
    }


def prose(source: str, kind: str = "markdown") -> Cell:
    return {"cell_type": kind, "metadata": {}, "source": source.splitlines(keepends=True)}


def document(cells: Iterable[Cell], language: str = "python") -> dict[str, Any]:
    return {
        "cells": list(cells),
        "metadata": {"language_info": {"name": language}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def notebook(*cells: Cell | str, language: str = "python") -> str:
    """A notebook as Jupyter writes it; a string is a code cell."""
    written = (code(cell) if isinstance(cell, str) else cell for cell in cells)
    return json.dumps(document(written, language), indent=1, ensure_ascii=False) + "\n"


def sources(text: str | bytes) -> list[str]:
    """The texts of all cells."""
    return ["".join(cell["source"]) for cell in json.loads(text)["cells"]]
