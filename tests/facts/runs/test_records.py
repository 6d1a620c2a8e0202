"""Records of finished runs that tools write: no framework reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import project, run

SETTINGS = """\
trainer:
  _target_: lightning.pytorch.trainer.Trainer
  default_root_dir: out
  min_epochs: 1
  max_epochs: 3
  accelerator: gpu
  devices: 1
  check_val_every_n_epoch: 1
  deterministic: false
  precision: 16-mixed
"""
PROGRAM = """\
import hydra
import lightning

@hydra.main(config_path="configs", config_name="a")
def main(config):
    hydra.utils.instantiate(config.trainer)

if __name__ == "__main__":
    main()
"""


def explained(tmp_path: Path, name: str) -> str:
    files = {name: SETTINGS, "train.py": PROGRAM}
    return run("explain-config", ".", cwd=project(tmp_path, files)).out


@pytest.mark.parametrize(
    "name",
    [
        ".hydra/config.yaml",
        "outputs/2024-01-01/.hydra/config.yaml",
        "lightning_logs/version_0/hparams.yaml",
        "logs/version_small/hparams.yaml",
        "wandb/run-20240101_1200-abc/files/config.yaml",
    ],
)
def test_a_record_of_a_tool_is_no_file_of_a_framework(name: str, tmp_path: Path) -> None:
    out = explained(tmp_path, name)
    assert "Lightning, " not in out
    assert "wrote it for a run; no program is seen to read it" in out


def test_a_record_that_a_program_names_may_be_read_by_it(tmp_path: Path) -> None:
    names = {"again.py": "PATH = 'logs/version_0/hparams.yaml'\n"}
    root = project(tmp_path, {"logs/version_0/hparams.yaml": SETTINGS} | names)
    out = run("explain-config", ".", cwd=root).out
    assert "(logs/version_0/hparams.yaml:10); Lightning wrote it for a run\n" in out


@pytest.mark.parametrize("name", ["hydra/config.yaml", "configs/hparams.yaml", "wandb/config.yaml"])
def test_other_files_are(name: str, tmp_path: Path) -> None:
    assert "Lightning" in explained(tmp_path, name)
