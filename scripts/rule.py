"""Start a new rule, or check one rule.

python scripts/rule.py new NAME --family MP3   write its files, with the next code of the family
python scripts/rule.py new NAME --code MP305   write its files, with this code
python scripts/rule.py check NAME              generate, lint, types and tests of this rule
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAYOUT = ROOT / ".typing"
RULES, CASES = ROOT / "rules", ROOT / "tests" / "rules"
_CODE = re.compile(r'^    code="(MP\d{3})",$', re.MULTILINE)
_TODO = "TODO"
_MYPY = (
    f"--config-file={ROOT / 'pyproject.toml'}",
    f"--cache-dir={ROOT / '.mypy_cache'}",
    "--follow-imports=silent",
)
_TESTS = [str(ROOT / f"tests/test_{subject}.py") for subject in ("rules", "architecture", "docs")]

_RULE = '''"""TODO: the title of the page.

## What it does
Finds calls of `torch.example`. TODO: what it finds, and what it does not.

## Why it hurts
TODO: what goes wrong, with the exact error message.

## Example
```python
x = torch.example()  # TODO
```

## Use instead
```python
x = torch.zeros(2)  # TODO
```

## Fix safety
There is no fix. TODO: or what it changes, and when it is unsafe.

## References
- TODO: an issue, a page of documentation
"""

from __future__ import annotations

from collections.abc import Iterator

from precision_lint.rule_api import Call, Confidence, Finding, PythonFile, Rule, Severity

RULE = Rule(
    code="{code}",
    name="{name}",
    summary="TODO: what it finds, in one line",
    severity=Severity.WARNING,
    since="{version}",
    triggers=((b"torch",), (b"example",)),
    calls=frozenset({{"example"}}),
    preview=True,
)


def check_call(call: Call, file: PythonFile) -> Iterator[Finding]:
    if call.function == "torch.example":
        yield file.finding(
            RULE,
            call.span,
            "TODO: what is wrong here",
            confidence=Confidence.HIGH,
            why="TODO: what follows from it",
        )
'''

_CASES = """# {name}

## TODO: what it finds

```py
import torch

x = torch.example()  # warning: [{name}] high
```

## TODO: what it leaves alone

```py
import torch

x = torch.zeros(2)
```
"""


def new(name: str, family: str, wanted: str | None = None) -> int:
    """Write the files of a rule, and its line in the changelog."""
    rule, cases = _files(name)
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", name) or rule.exists():
        print(f"{name}: not a new name in kebab-case", file=sys.stderr)
        return 2
    try:
        code = next_code(family) if wanted is None else free_code(wanted)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    version = re.search(
        r'"(\d+\.\d+\.\d+)', (ROOT / "precision_lint/model/version.py").read_text("utf-8")
    )
    assert version is not None
    rule.write_text(_RULE.format(code=code, name=name, version=version[1]), "utf-8")
    cases.write_text(_CASES.format(name=name), "utf-8")
    changelog = ROOT / "CHANGELOG.md"
    head, added, rest = changelog.read_text("utf-8").partition("### Added\n\n")
    changelog.write_text(f"{head}{added}- Rule `{name}` ({code}).\n{rest}", "utf-8")
    for path in (rule, cases, changelog):
        print(path.relative_to(ROOT))
    print(f"{code} is yours. Fill in every {_TODO}, then: python scripts/rule.py check {name}")
    return 0


def next_code(family: str) -> str:
    """The code after the last one of a family; a gap is a code that was used once."""
    last = max((code for code in _codes() if code.startswith(family)), default=f"{family}00")
    if not re.fullmatch(r"MP[1-8]", family) or last.endswith("99"):
        raise ValueError(f"{family}: not a family with a free code (MP1 to MP8)")
    return f"MP{int(last[2:]) + 1}"


def free_code(wanted: str) -> str:
    """A code that no rule has."""
    if not re.fullmatch(r"MP[1-8](?!00)\d\d", wanted) or wanted in _codes():
        raise ValueError(f"{wanted}: not a free code (MP101 to MP899)")
    return wanted


def _codes() -> list[str]:
    """The codes of all rules."""
    texts = (path.read_text("utf-8") for path in RULES.glob("*.py"))
    return [code for text in texts for code in _CODE.findall(text)]


def check(name: str) -> int:
    """Check one rule: generated files, style, types, and the tests that name it."""
    rule, cases = _files(name)
    missing = [path for path in (rule, cases) if not path.exists()]
    for path in missing:
        print(f"missing: {path.relative_to(ROOT)}")
    if missing:
        return 1
    todo = [path for path in (rule, cases) if _TODO in path.read_text("utf-8")]
    for path in todo:
        print(f"{_TODO} left in {path.relative_to(ROOT)}")
    selected = f"{name} or {rule.stem} or changelog"
    passed = _run([str(ROOT / "scripts/typing_links.py")])
    passed = passed and _run([str(ROOT / "scripts/generate.py")])
    passed = passed and _run(
        ["-m", "ruff", "check", str(rule)],
        ["-m", "ruff", "format", "--check", str(rule)],
        ["-m", "mypy", *_MYPY, "-m", f"precision_lint.rules.{rule.stem}"],
        ["-m", "pytest", "-q", *_TESTS, "-k", selected],
    )
    return int(bool(todo) or not passed)


def _run(*commands: list[str]) -> bool:
    """Run Python with several lists of arguments at once; True if all succeed.

    The installed layout of this checkout is in `.typing`. It comes first on the path, as the folder
    that `python -m` starts in does: another checkout may be the one that is installed.
    """
    environment = {**os.environ, "PYTHONPATH": f"{LAYOUT}{os.pathsep}{ROOT}"}
    running = [
        subprocess.Popen(
            [sys.executable, *command],
            cwd=LAYOUT if LAYOUT.exists() else ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for command in commands
    ]
    for command, process in zip(commands, running, strict=True):
        output, _ = process.communicate()
        what = " ".join(Path(word).name for word in command[:2])
        print(f"{'failed' if process.returncode else 'passed'}: {what}")
        if process.returncode:
            print(output)
    return not any(process.returncode for process in running)


def _files(name: str) -> tuple[Path, Path]:
    return RULES / f"{name.replace('-', '_')}.py", CASES / f"{name}.md"


def main() -> int:
    parser = argparse.ArgumentParser(description="Start a new rule, or check one rule.")
    actions = parser.add_subparsers(dest="action", required=True)
    starting = actions.add_parser("new", help="write the files of a rule")
    starting.add_argument("name", help="a new name, such as half-default-dtype")
    numbering = starting.add_mutually_exclusive_group(required=True)
    numbering.add_argument("--family", default="", help="the start of its code, such as MP3")
    numbering.add_argument("--code", help="its code, if it is not the next one of its family")
    checking = actions.add_parser("check", help="check one rule")
    checking.add_argument("name", help="the name of a rule")
    given = parser.parse_args()
    if given.action == "check":
        return check(given.name)
    return new(given.name, given.family, given.code)


if __name__ == "__main__":
    sys.exit(main())
