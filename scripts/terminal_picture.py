"""Make docs/img/terminal.svg: what the linter really prints on `examples/`, as a picture.

    python scripts/terminal_picture.py          write it
    python scripts/terminal_picture.py --check  exit 1 if the linter prints something else by now

The text of the picture stands in its description, for those who cannot see it and for the check.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from html import escape, unescape
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "img" / "terminal.svg"
COMMAND = ("precision-lint", "examples/finetune/kernels", "examples/finetune/vocab.py")
COLUMNS = 100

_LINK = re.compile(r"\x1b\]8;;[^\x1b]*\x1b\\")
_FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
_DESCRIPTION = re.compile(r"<desc>(.*?)</desc>", re.DOTALL)
_THEME = TerminalTheme(
    (24, 27, 33),
    (212, 216, 224),
    [
        (70, 76, 88),
        (244, 112, 103),
        (135, 198, 128),
        (226, 184, 107),
        (108, 166, 240),
        (196, 134, 224),
        (86, 190, 196),
        (212, 216, 224),
    ],
)


def printed() -> Text:
    """What the command prints at a terminal."""
    program = Path(sys.executable).with_name(COMMAND[0])
    environment = {**os.environ, "FORCE_COLOR": "1", "PYTHONUTF8": "1"}
    environment.pop("NO_COLOR", None)
    output = subprocess.run(
        [program, "--no-cache", *COMMAND[1:]], cwd=ROOT, env=environment, stdout=subprocess.PIPE
    ).stdout.decode()
    return Text.from_ansi(f"\x1b[1;32m$\x1b[0m {' '.join(COMMAND)}\n{_LINK.sub('', output)}")


def picture(text: Text) -> str:
    """The SVG, with fonts that are there already instead of one from the network."""
    console = Console(width=COLUMNS, record=True, file=io.StringIO(), force_terminal=True)
    console.print(text, overflow="fold")
    svg = console.export_svg(title="precision-lint", theme=_THEME, unique_id="terminal")
    svg = _FONT.sub("", svg).replace("Fira Code, monospace", "ui-monospace, Menlo, monospace")
    head, tag, rest = svg.partition(">\n")
    # Some viewers trim a text that starts with blanks unless they are told to keep them.
    return (
        f'{head} role="img" xml:space="preserve"{tag}    <desc>{escape(text.plain)}</desc>\n{rest}'
    )


def is_fresh() -> bool:
    """True if the picture shows what the command prints."""
    if not PICTURE.exists():
        return False
    shown = _DESCRIPTION.search(PICTURE.read_text("utf-8"))
    return shown is not None and unescape(shown[1]) == printed().plain


def main() -> int:
    if "--check" in sys.argv:
        if is_fresh():
            return 0
        print(f"stale: {PICTURE.relative_to(ROOT)}")
        return 1
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(picture(printed()), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
