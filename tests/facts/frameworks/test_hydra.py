"""Files that Hydra composes: what is left open, and which of them a finding stands in.

What is composed is held against Hydra in tests/oracles.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.frameworks.hydra import composed
from precision_lint.facts.frameworks.sources import MappingSource
from precision_lint.source.config.config_file import ParsedConfig
from precision_lint.source.config.settings_tree import Mapping
from tests.context import recording
from tests.facts.frameworks.test_runs import found, project


def is_complete(root: Path) -> bool:
    project = recording(root, ())
    files = project.config_files
    file = files.at(root / "config.yaml")
    assert file is not None
    return composed(file, files.at, project)[1]


@pytest.mark.parametrize(
    "text",
    [
        "defaults:\n  - trainer: ???\n",
        "defaults:\n  - schema\n",
        "defaults:\n  - trainer: ${name}\n",
        "defaults:\n  - override trainer@x: a\n  - trainer: a\n",
        "defaults:\n  - {a: b, c: d}\n",
    ],
)
def test_what_is_chosen_elsewhere_leaves_it_open(text: str, tmp_path: Path) -> None:
    project(tmp_path, {"config.yaml": text, "trainer/a.yaml": "p: 1\n"})
    assert not is_complete(tmp_path)


def test_a_list_that_names_itself_comes_to_an_end(tmp_path: Path) -> None:
    project(tmp_path, {"config.yaml": "defaults:\n  - config\n  - config\nx: 1\n"})
    assert not is_complete(tmp_path)


@pytest.mark.parametrize("key", ["_BASE_", "defaults"])
def test_a_file_below_another_one(key: str, tmp_path: Path) -> None:
    files = {
        "config.yaml": f"{key}: conf/base.yaml\na: {{x: 1}}\n",
        "conf/base.yaml": f"{key}: ../first.yaml\na: {{x: 2, y: 2}}\n",
        "first.yaml": "a: {y: 3, z: 3}\n",
    }
    known = recording(project(tmp_path, files), ()).config_files
    file = known.at(tmp_path / "config.yaml")
    assert file is not None
    whole, is_complete = composed(file, known.at, recording(tmp_path, ()))
    source = MappingSource(whole, mapping_of(whole))
    assert is_complete
    assert [getattr(source.get(f"a.{name}"), "value", None) for name in "xyz"] == [1, 2, 3]


@pytest.mark.parametrize("base", ["config.yaml", "missing.yaml"])
def test_a_base_that_is_missing_or_the_file_itself_leaves_it_open(
    base: str, tmp_path: Path
) -> None:
    project(tmp_path, {"config.yaml": f"_BASE_: {base}\nx: 1\n"})
    assert not is_complete(tmp_path)


def mapping_of(file: ParsedConfig) -> Mapping:
    (root,) = file.documents
    assert isinstance(root, Mapping)
    return root


def test_aliases_of_aliases_are_merged_once(tmp_path: Path) -> None:
    """27 levels are 2^27 ways to the innermost mapping."""
    levels = ["l0: &l0 {x: 1}"]
    levels += [f"l{i}: &l{i} {{a: *l{i - 1}, b: *l{i - 1}}}" for i in range(1, 28)]
    text = "\n".join(levels) + "\n"
    project(tmp_path, {"config.yaml": "defaults: [base, _self_]\n" + text, "base.yaml": text})
    assert is_complete(tmp_path)


def test_more_mappings_than_anyone_writes_leave_it_open(tmp_path: Path) -> None:
    text = "".join(f"k{i}: {{x: 1}}\n" for i in range(5000))
    project(tmp_path, {"config.yaml": "defaults: [base, _self_]\n" + text, "base.yaml": text})
    assert not is_complete(tmp_path)


def test_before_hydra_1_1_the_list_was_stronger(tmp_path: Path) -> None:
    files = {"requirements.txt": "hydra-core==1.0.7\n", "trainer/a.yaml": "p: 1\n"}
    project(tmp_path, {"config.yaml": "defaults:\n  - trainer: a\ntrainer: {p: 2}\n", **files})
    assert not is_complete(tmp_path)


NEMO = """\
defaults:
  - trainer: {trainer}
  - _self_
exp_manager: {{}}
model:
  micro_batch_size: 1
  tensor_model_parallel_size: 1
  megatron_amp_O2: true
"""


def test_a_setting_of_another_file_contradicts(tmp_path: Path) -> None:
    files = {
        "conf/config.yaml": NEMO.format(trainer="full"),
        "conf/trainer/full.yaml": "precision: 32\ndevices: 1\n",
        "conf/trainer/half.yaml": "precision: bf16\ndevices: 1\n",
    }
    project(tmp_path, files)
    (finding,) = found(tmp_path, *files)
    assert finding.name == "env-precision-conflict"
    assert {place.place.path.name for place in finding.related} | {finding.place.path.name} == {
        "config.yaml",
        "full.yaml",
    }
    (finding,) = found(tmp_path, "conf/trainer/full.yaml")
    assert finding.place.path.name == "full.yaml"
    assert found(tmp_path, "conf/trainer/half.yaml") == []
    (tmp_path / "conf/config.yaml").write_text(NEMO.format(trainer="half"))
    assert found(tmp_path, *files) == []


FAIRSEQ = """\
defaults:
  - dist: {choice}
task: {{_name: t}}
criterion: {{_name: c}}
optimizer: {{_name: o}}
dataset: {{max_tokens: 1}}
common: {{bf16: true}}
"""


@pytest.mark.parametrize(("choice", "count"), [("sharded", 1), ("'???'", 0), ("null", 0)])
def test_what_a_list_leaves_open_is_not_judged(choice: str, count: int, tmp_path: Path) -> None:
    files = {
        "config.yaml": FAIRSEQ.format(choice=choice),
        "dist/sharded.yaml": "# @package distributed_training\nddp_backend: fully_sharded\n",
    }
    project(tmp_path, files)
    assert len(found(tmp_path, *files)) == count


@pytest.mark.parametrize(("beneath", "is_fixed"), [("", True), ("fp16: true\n", False)])
def test_nothing_is_removed_that_would_show_another(
    beneath: str, is_fixed: bool, tmp_path: Path
) -> None:
    axolotl = "base_model: m\nadapter: lora\ndatasets: []\n"
    config = f"defaults:\n  - base\n{axolotl}bf16: true\nfp16: true\n"
    project(tmp_path, {"config.yaml": config, "base.yaml": f"sequence_len: 8\n{beneath}"})
    (finding,) = found(tmp_path, "config.yaml")
    assert (finding.fix is not None) is is_fixed
