"""Whatever the bytes are: settings, or the project's own exception, in reasonable time."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from precision_lint.facts.context import ConfigFile
from precision_lint.source.config.limits import MAX_CHARACTERS
from precision_lint.source.text.errors import Unparsable
from tests import cpu_time
from tests.source.config.reading import config, findings

FORMATS = ["yaml", "json", "toml", "shell", "dockerfile", "makefile", "markdown"]

PIECES = st.sampled_from(
    [*"{}[]\"',:\\\n\t #$()`|&;<>=-*!?%@~ab01.é😀\0\r\ufeff\x85", "<<", "${", "$(", "true", "---\n",
     "&a ", "*a ", "!!int ", "|\n", "export ", "A=", "if ", "\n  ", '"""', "\r\n", "fp16: true\n",
     "cat > a.json <<E\n", "E\n", "bash -c '", "eval '", "run: |\n  ", "RUN ", "ENV A ", "a:\n\t",
     "; then\n", "fi\n", "done\n", "}\n", "f() {\n"]
)  # fmt: skip


def read(text: str, format: str) -> None:
    with suppress(Unparsable):
        file = config(text, format)
        findings(file)
        within(file)


def within(file: ConfigFile) -> None:
    """Read what is embedded in a file, and in that."""
    for part in file.embedded:
        within(part.file)


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join), st.sampled_from(FORMATS))
@example("\ufeff\ufeffa: 1", "yaml")
@example("a: !!bool perhaps", "yaml")
@example("&a [*a, {<<: *a}]", "yaml")
@example("{*b: 1}", "yaml")
def test_nothing_but_the_own_exception(text: str, format: str) -> None:
    read(text, format)


HOSTILE = {
    "brackets": "a = " + "[" * 100_000,
    "closed brackets": "[" * 50_000 + "]" * 50_000,
    "braces": "{" * 100_000,
    "quotes": '"' * 100_001,
    "open quotes": "'a\n" * 50_001,
    "substitutions": "$(" * 100_000,
    "expansions": "${x\n" * 50_000,
    "pipes": "a|" * 50_000,
    "arrays": "a=(\n" * 20_000,
    "here-documents": "cat <<E\n" * 20_000,
    "ifs": "if " * 100_000,
    "functions": "f() { " * 20_000,
    "doubling": "a=$a$a\n" * 20_000,
    "dotted key": "a" + ".a" * 100_000 + " = 1",
    "tables": "".join(f"[{'.'.join('a' * n)}]\n" for n in range(1, 190)),
    "integer": "a: " + "1" * 10_000,
    "branches": "if a; then\nA=1\nelse\nA=2\nfi\n" * 8_000,
    "arms": "case $A in\n" + "a) A=1 ;;\n" * 20_000,
    "exports": "".join(f"export A{n}=1\nrun\n" for n in range(20_000)),
    "nested branches": "if a; then\nA=1\n" * 20_000 + "fi\n" * 20_000,
    "inner scripts": "bash -c '" * 20_000 + 'bash -c "$A"\n' * 10_000,
    "inner here-documents": "A=$(cat <<E\n" * 20_000,
    "written files": "cat > a.json <<E\n{}\nE\n" * 20_000,
    "jobs": "- run: |\n    a\n" * 20_000,
    "instructions": "ENV A=1\nRUN a\n" * 20_000,
    "recipes": "a:\n\tb $(C)\n" * 20_000,
    "open calls": "a:\n\t" + "$(" * 100_000,
    "long line": "a: '" + "x" * 900_000 + "'",
    "merges": "a0: &a0 {x: 1}\n"
    + "".join(f"a{n}: &a{n}\n  <<: *a{n - 1}\n  fp16: true\n" for n in range(1, 3000)),
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_input_ends(name: str, format: str) -> None:
    with cpu_time.at_most(30):
        read(HOSTILE[name], format)


@pytest.mark.parametrize("format", FORMATS)
def test_data_is_no_configuration(format: str) -> None:
    file = config("x" * (MAX_CHARACTERS + 1), format)
    assert file.documents == ()
    assert file.script is None


@pytest.mark.parametrize("format", ["yaml", "json", "toml"])
def test_deep_nesting_is_refused_at_its_place(format: str) -> None:
    prefix = "a = " if format == "toml" else ""
    with pytest.raises(Unparsable, match="nested"):
        config(prefix + "[" * 500 + "]" * 500, format)


def test_an_unknown_format_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="ini"):
        config("", "ini")
