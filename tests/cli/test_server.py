"""The language server, spoken to as an editor speaks to it: over a pipe."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import cpu_time
from tests.cli.running import CONFIG

pytest.importorskip("pygls")

SOURCE = 'import torch\n\nprint("🔥", torch.zeros(2, dtype=torch.bfloat16).numpy())\n'


class Editor:
    """A client that writes requests and reads until the answer, keeping what comes between."""

    def __init__(self, before: str = "") -> None:
        program = f"from precision_lint.cli.server import serve\n{before}\nserve()"
        self.process = subprocess.Popen(
            [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.ids = 0

    def send(self, method: str, params: dict[str, Any], *, answer: bool = False) -> int:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if answer:
            self.ids += 1
            message["id"] = self.ids
        body = json.dumps(message).encode()
        assert self.process.stdin
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()
        return self.ids

    def read(self) -> dict[str, Any]:
        assert self.process.stdout
        length = 0
        while line := self.process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return message

    def request(self, method: str, params: dict[str, Any]) -> Any:
        number = self.send(method, params, answer=True)
        while (message := self.read()).get("id") != number:
            pass
        return message["result"]

    def diagnostics(self) -> list[dict[str, Any]]:
        while (message := self.read()).get("method") != "textDocument/publishDiagnostics":
            pass
        found: list[dict[str, Any]] = message["params"]["diagnostics"]
        return found


def started(root: Path | None = None) -> Editor:
    editor = Editor()
    uri = root and root.as_uri()
    editor.request("initialize", {"processId": None, "rootUri": uri, "capabilities": {}})
    editor.send("initialized", {})
    return editor


def stop(editor: Editor) -> None:
    editor.request("shutdown", {})
    editor.send("exit", {})
    editor.process.wait(cpu_time.HANG)


@pytest.fixture
def editor() -> Iterator[Editor]:
    editor = started()
    yield editor
    stop(editor)


def test_diagnostics_and_quick_fix(editor: Editor, tmp_path: Path) -> None:
    uri = (tmp_path / "train.py").as_uri()
    document = {"uri": uri, "languageId": "python", "version": 1, "text": SOURCE}
    editor.send("textDocument/didOpen", {"textDocument": document})
    (diagnostic,) = editor.diagnostics()
    assert diagnostic["code"] == "MP101"
    assert diagnostic["severity"] == 1
    # columns in UTF-16: the emoji counts two
    assert diagnostic["range"]["start"] == {"line": 2, "character": 12}

    params = {
        "textDocument": {"uri": uri},
        "range": diagnostic["range"],
        "context": {"diagnostics": [diagnostic]},
    }
    (action,) = editor.request("textDocument/codeAction", params)
    (edit,) = action["edit"]["changes"][uri]
    assert edit["newText"] == ".float()"
    assert action["isPreferred"] is True

    change = {
        "textDocument": {"uri": uri, "version": 2},
        "contentChanges": [{"text": SOURCE.replace(".numpy()", ".float().numpy()")}],
    }
    editor.send("textDocument/didChange", change)
    assert editor.diagnostics() == []


def test_the_open_folder_is_the_project(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch==1.13.1\n")
    (tmp_path / "src").mkdir()
    text = "import torch\n\nscaler = torch.cuda.amp.GradScaler()\n"
    uri = (tmp_path / "src/train.py").as_uri()
    document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
    for root, codes in ((None, ["MP801"]), (tmp_path, [])):
        editor = started(root)
        editor.send("textDocument/didOpen", {"textDocument": document})
        assert [one["code"] for one in editor.diagnostics()] == codes
        stop(editor)


@pytest.mark.parametrize("name", ["notes.md", "train.ipynb"])
def test_files_of_other_kinds_are_left_alone(editor: Editor, tmp_path: Path, name: str) -> None:
    uri = (tmp_path / name).as_uri()
    document = {"uri": uri, "languageId": "markdown", "version": 1, "text": SOURCE}
    editor.send("textDocument/didOpen", {"textDocument": document})
    assert editor.diagnostics() == []


def test_markdown_is_read_where_the_settings_say_so(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / ".precision-lint.toml").write_text("markdown = true\n")
    fence = f"```yaml\n{CONFIG}```\n"
    uri = (tmp_path / "notes.md").as_uri()
    document = {"uri": uri, "languageId": "markdown", "version": 1, "text": fence}
    editor.send("textDocument/didOpen", {"textDocument": document})
    assert [each["code"] for each in editor.diagnostics()] == ["MP702"]


def test_a_character_that_is_half_of_one(editor: Editor, tmp_path: Path) -> None:
    uri = (tmp_path / "train.py").as_uri()
    text = SOURCE.replace("print", "x = '\ud83d'\nprint")
    document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
    editor.send("textDocument/didOpen", {"textDocument": document})
    assert [found["code"] for found in editor.diagnostics()] == ["MP101"]


def test_a_save_checks_the_other_open_documents(editor: Editor, tmp_path: Path) -> None:
    made = "import torch\n\n\ndef made():\n    return torch.zeros(2, dtype=torch.{})\n"
    helper, user = tmp_path / "helper.py", tmp_path / "user.py"
    helper.write_text(made.format("float32"))
    user.write_text("import torch\nfrom helper import made\n\nprint(made().numpy())\n")
    for path in (user, helper):
        document = {"uri": path.as_uri(), "languageId": "python", "version": 1}
        opened = {"textDocument": {**document, "text": path.read_text()}}
        editor.send("textDocument/didOpen", opened)
        assert editor.diagnostics() == []
    helper.write_text(made.format("bfloat16"))
    editor.send("textDocument/didSave", {"textDocument": {"uri": helper.as_uri()}})
    assert editor.diagnostics() == []
    assert [each["code"] for each in editor.diagnostics()] == ["MP101"]


def test_only_the_last_of_quick_changes_is_checked(editor: Editor, tmp_path: Path) -> None:
    uri = (tmp_path / "train.py").as_uri()
    document = {"uri": uri, "languageId": "python", "version": 1, "text": SOURCE}
    editor.send("textDocument/didOpen", {"textDocument": document})
    assert len(editor.diagnostics()) == 1
    for version in range(2, 32):
        text = SOURCE + "print(torch.zeros(2))\n" * version
        if version == 31:
            text = text.replace(".numpy()", "")
        change = {"textDocument": {"uri": uri, "version": version}}
        editor.send("textDocument/didChange", {**change, "contentChanges": [{"text": text}]})
    while (message := editor.read()).get("method") != "textDocument/publishDiagnostics":
        pass
    assert message["params"]["version"] == 31
    assert message["params"]["diagnostics"] == []


COUNTING = """
import gc
def count(phase, info):
    if phase == "start":
        with open({log!r}, "a") as log:
            log.write("1")
gc.callbacks.append(count)
"""


def test_garbage_is_looked_for_when_no_change_comes_in(tmp_path: Path) -> None:
    log = tmp_path / "collections"
    log.touch()
    editor = Editor(COUNTING.format(log=str(log)))
    editor.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    editor.send("initialized", {})
    uri = (tmp_path / "train.py").as_uri()
    document = {"uri": uri, "languageId": "python", "version": 1, "text": SOURCE}
    editor.send("textDocument/didOpen", {"textDocument": document})
    assert editor.diagnostics()
    for version in range(2, 5):
        text = SOURCE + "# more\n" * version
        change = {
            "textDocument": {"uri": uri, "version": version},
            "contentChanges": [{"text": text}],
        }
        editor.send("textDocument/didChange", change)
        assert editor.diagnostics()
    assert log.read_text() == ""
    end = time.monotonic() + cpu_time.HANG
    while not log.read_text() and time.monotonic() < end:
        time.sleep(0.1)
    assert log.read_text() == "1"
    editor.process.kill()
    editor.process.wait()
