"""accelerate's launcher and its DeepSpeed plugin against `accelerate.toml`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from unittest import mock

import pytest

os.environ.setdefault("DS_ACCELERATOR", "cpu")
launch = pytest.importorskip("accelerate.commands.launch")

from tests.cli.running import run  # noqa: E402
from tests.oracles import ABSENT, choices, errors  # noqa: E402

BASE = """compute_environment: LOCAL_MACHINE
distributed_type: {type}
num_processes: 1
machine_rank: 0
num_machines: 1
use_cpu: {cpu}
"""
PLAIN = BASE.format(type="'NO'", cpu="true")
WITH_DEEPSPEED = (
    BASE.format(type="DEEPSPEED", cpu="false")
    + "deepspeed_config:\n  deepspeed_config_file: ds.json\n  zero3_init_flag: true\n"
)
WRITTEN = ("no", "'no'", '"no"', "NO", "bf16", "'bf16'", "fp16", "half", "bfloat16", "'off'", "off")
ENABLED = (ABSENT, True, False, "auto")


def refusal(folder: Path, *flags: str) -> str:
    """What accelerate says to a launch with `a.yaml` and the flags; empty if it starts."""
    from accelerate.utils import DeepSpeedPlugin
    from accelerate.utils.launch import (
        prepare_deepspeed_cmd_env,
        prepare_simple_launcher_cmd_env,
    )

    started = []
    launchers = dict.fromkeys(("deepspeed_launcher", "simple_launcher"), started.append)
    words = ["--config_file", str(folder / "a.yaml"), *flags, "train.py"]
    try:
        with mock.patch.multiple(launch, **launchers):
            launch.launch_command(launch.launch_command_parser().parse_args(words))
        (arguments,) = started
        if not arguments.use_deepspeed:
            prepare_simple_launcher_cmd_env(arguments)
            return ""
        arguments.deepspeed_config_file = str(folder / arguments.deepspeed_config_file)
        _, environment = prepare_deepspeed_cmd_env(arguments)
        with mock.patch.dict(os.environ, environment, clear=True):
            plugin = DeepSpeedPlugin()
            plugin.set_mixed_precision(os.environ.get("ACCELERATE_MIXED_PRECISION", "no"))
    except (ValueError, AttributeError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


@pytest.mark.parametrize("written", WRITTEN)
def test_same_verdict_on_the_precision_of_a_file(written: str, tmp_path: Path) -> None:
    text = f"{PLAIN}mixed_precision: {written}\n"
    found = errors(tmp_path, a__yaml=text)
    assert bool(found) == bool(refusal(tmp_path))


def test_same_verdict_on_the_deepspeed_file(tmp_path: Path) -> None:
    pytest.importorskip("deepspeed")
    wrong, refused, count = [], 0, 0
    for sections in choices(fp16=ENABLED, bf16=(ABSENT, True, "auto")):
        if sections.get("fp16") is True and sections.get("bf16") is True:
            continue  # DeepSpeed refuses that by itself, and later
        deepspeed = {
            "zero_optimization": {"stage": 2},
            "train_micro_batch_size_per_gpu": "auto",
            **{key: {"enabled": each} for key, each in sections.items()},
        }
        for written in ("", "mixed_precision: bf16\n", "mixed_precision: 'no'\n"):
            for flag in ("", "bf16", "fp16", "no"):
                folder = tmp_path / str(count)
                flags = ["--mixed_precision", flag] if flag else []
                words = " ".join(["accelerate launch --config_file a.yaml", *flags, "train.py"])
                text = WITH_DEEPSPEED + written
                found = errors(folder, a__yaml=text, ds__json=deepspeed, run__sh=f"{words}\n")
                said = refusal(folder, *flags)
                count += 1
                refused += bool(said)
                if bool(said) != bool(found):
                    wrong.append(
                        (
                            json.dumps(sections),
                            written,
                            flag,
                            said[:150],
                            [f.message for f in found],
                        )
                    )
    assert not wrong, f"{len(wrong)} of {count}: {wrong[:4]}"
    assert 20 < refused < count - 20


def is_given_on(folder: Path, *flags: str) -> bool:
    """Whether a launch with `a.yaml` and the flags hands a DeepSpeed file on to the program."""
    from accelerate.utils import launch as preparing

    started = []
    launchers = ("deepspeed_launcher", "simple_launcher", "multi_gpu_launcher")
    words = ["--config_file", str(folder / "a.yaml"), *flags, "train.py"]
    with mock.patch.multiple(launch, **dict.fromkeys(launchers, started.append)):
        launch.launch_command(launch.launch_command_parser().parse_args(words))
    (arguments,) = started
    if arguments.use_deepspeed:
        _, environment = preparing.prepare_deepspeed_cmd_env(arguments)
    elif arguments.use_fsdp or arguments.multi_gpu:
        environment = preparing.prepare_multi_gpu_env(arguments)
    else:
        _, environment = preparing.prepare_simple_launcher_cmd_env(arguments)
    return "ACCELERATE_DEEPSPEED_CONFIG_FILE" in environment


@pytest.mark.parametrize(
    "flags", [(), ("--use_deepspeed",), ("--deepspeed_config_file", "ds.json")]
)
@pytest.mark.parametrize("kind", ["DEEPSPEED", "MULTI_GPU", "FSDP", "'NO'", "NO"])
def test_who_uses_the_deepspeed_file(kind: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    pytest.importorskip("deepspeed")
    text = WITH_DEEPSPEED.replace("DEEPSPEED", kind)
    wrong = {"bf16": {"enabled": True, "auto_cast": True}, "zero_optimization": {"stage": 2}}
    words = " ".join(["accelerate launch --config_file a.yaml", *flags, "train.py"])
    found = errors(tmp_path, a__yaml=text, ds__json=wrong, run__sh=f"{words}\n", train__py="")
    assert [one.code for one in found] == ["MP704"] * is_given_on(tmp_path, *flags)


RAW = """\
deepspeed_config:
  zero_stage: 3
  zero_optimization: {{stage: 2}}
  bf16: {{enabled: {}}}
  fp16: {{enabled: {}, loss_scale: 128}}
  communication_data_type: {}
"""


@pytest.mark.parametrize("values", [("true", "false", "bf16"), ("false", "true", "fp16")])
def test_nobody_gets_the_keys_of_deepspeed_in_its_section(
    values: tuple[str, str, str], tmp_path: Path
) -> None:
    pytest.importorskip("deepspeed")
    from accelerate.utils import DeepSpeedPlugin
    from accelerate.utils.launch import prepare_deepspeed_cmd_env

    text = BASE.format(type="DEEPSPEED", cpu="false") + RAW.format(*values)
    (tmp_path / "a.yaml").write_text(text + "mixed_precision: 'no'\n")
    started = []
    words = ["--config_file", str(tmp_path / "a.yaml"), "train.py"]
    with mock.patch.object(launch, "deepspeed_launcher", started.append):
        launch.launch_command(launch.launch_command_parser().parse_args(words))
    _, environment = prepare_deepspeed_cmd_env(started[0])
    with mock.patch.dict(os.environ, environment, clear=True):
        plugin = DeepSpeedPlugin()
        plugin.set_mixed_precision("no")
        settings = plugin.deepspeed_config
    assert settings["zero_optimization"]["stage"] == 3
    assert not settings.get("bf16", {}).get("enabled")
    assert not settings.get("fp16", {}).get("enabled")
    assert "communication_data_type" not in settings
    (tmp_path / "train.py").write_text("from accelerate import Accelerator\nAccelerator()\n")
    assert "DeepSpeed, without effect" in run("explain-config", ".", cwd=tmp_path).out


POLICIES = (
    "'bf16'", "'fp16'", "'fp32'", "'float16'", "'bfloat16'", "'no'",
    "{'param_dtype': torch.bfloat16, 'reduce_dtype': torch.float32}",
    "{'param_dtype': torch.float16, 'reduce_dtype': torch.float16, 'buffer_dtype': torch.float32}",
    "{'param_dtype': torch.float16, 'reduce_dtype': torch.float16, 'output_dtype': torch.float32}",
)  # fmt: skip


@pytest.mark.parametrize("policy", POLICIES)
def test_policies_of_fsdp(policy: str, tmp_path: Path) -> None:
    """Without a version it is FSDP1: only its missing `buffer_dtype` may mean FSDP2."""
    torch = pytest.importorskip("torch")
    plugin = pytest.importorskip("accelerate").FullyShardedDataParallelPlugin
    for version in (1, 2):
        value = eval(policy, {"torch": torch})
        try:
            plugin(mixed_precision_policy=value, fsdp_version=version)
            refused = False
        except ValueError:
            refused = True
        program = (
            "import torch\nfrom accelerate import FullyShardedDataParallelPlugin\n"
            "FullyShardedDataParallelPlugin("
            f"mixed_precision_policy={policy}, fsdp_version={version})\n"
        )
        found = errors(tmp_path / str(version), train__py=program)
        assert bool(found) is refused or (version == 1 and "output_dtype" in policy)
