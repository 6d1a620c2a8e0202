"""Which code loads files of a format."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.runs.written.loading import has_library, mentions_loading
from tests.context import recording


@pytest.mark.parametrize(
    ("line", "formats"),
    [
        ("config = json.load(file)", {"json"}),
        ("config = ujson.load(file)", set()),
        ("config = self.read_config(path)", {"json", "yaml"}),
        ("config = read_config(path)", set()),
        ("config = Config().read_config(path)", {"json", "yaml"}),
        ("config = ConfigParser.load_config_file(path)", {"json", "yaml"}),
        ("args, = parser.parse_json_file(path)", {"json"}),
        ("config = load_yaml_config(path)", {"yaml"}),
        ("config = reload_yaml(path)", set()),
        ("cfg.merge_from_file(path)", {"yaml"}),
        ("self._merge_from_file(path)", {"yaml"}),
        ("@hydra.main(config_path='conf')", {"yaml"}),
        ("config = tomllib.load(file)", {"toml"}),
    ],
)
def test_code_that_loads(line: str, formats: set[str], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(f"{line}\n")
    project = recording(tmp_path, ())
    found = {
        format
        for format in ("json", "yaml", "toml")
        if mentions_loading(tmp_path / "train.py", format, project)
    }
    assert found == formats


@pytest.mark.parametrize(("line", "loads"), [("import pyrallis", True), ("import engine", False)])
def test_a_library_that_loads(line: str, loads: bool, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(f"{line}\n")
    assert has_library([tmp_path / "train.py"], recording(tmp_path, ())) is loads
