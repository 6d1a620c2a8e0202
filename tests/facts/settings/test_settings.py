"""What the configuration says of a setting: each source, what is no source, and how it scales."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.origin import Setting
from precision_lint.facts.project.facts import ProjectFacts
from precision_lint.facts.settings import holds_settings
from precision_lint.facts.settings.vocabulary import chooses_precision
from precision_lint.project.files import Project
from tests import cpu_time
from tests.facts.project.test_evidence import write


def values(setting: Setting | None) -> list[object]:
    return [choice.value for choice in setting.choices] if setting else []


FILES: list[tuple[str, str, str, list[object]]] = [
    # key paths
    ("a.yaml", "training:\n  precision: bf16\n", "training.precision", ["bf16"]),
    ("a.yaml", "app:\n  training: {precision: bf16}\n", "training.precision", ["bf16"]),
    ("a.yaml", "training.precision: bf16\n", "training.precision", ["bf16"]),
    ("a.yaml", "base: &b\n  dtype: bf16\nmodel:\n  <<: *b\n", "model.dtype", ["bf16"]),
    ("a.yaml", "precision: bf16\n", "precision", ["bf16"]),
    ("a.yaml", "bf16: true\n", "bf16", [True]),
    ("a.yaml", "precision: 16\n", "precision", [16]),
    ("a.yaml", "compute: bfloat16\n", "compute", ["bfloat16"]),
    ("a.json", '{"model": {"torch-dtype": "bfloat16"}}\n', "model.torch_dtype", ["bfloat16"]),
    ("a.json", '{"bf16": {"enabled": true}}\n', "bf16.enabled", []),
    ("a.toml", '[model]\ndtype = "bfloat16"\n', "model.dtype", ["bfloat16"]),
    ("a.yaml", "train:\n  inner:\n    precision: bf16\n", "precision", ["bf16"]),
    ("conf/model/base.yaml", "dtype: bf16\n", "model.dtype", ["bf16"]),  # a group of hydra
    # unknown values, other keys
    ("a.yaml", "precision: ${oc.env:P}\n", "precision", []),
    ("a.yaml", "precision: auto\n", "precision", []),
    ("a.yaml", "precision:\n", "precision", []),
    ("a.yaml", "# precision: bf16\nx: 1\n", "precision", []),
    ("a.yaml", "hidden_size: 16\nprecision: bf16\n", "hidden_size", []),
    ("a.yaml", "coverage:\n  precision: 2\n", "precision", []),
    ("a.yaml", "training:\n  precision: bf16\n", "model.precision", []),
    ("a.yaml", "a:\n  dtype: bf16\nb:\n  dtype: fp32\n", "dtype", []),
    ("a.yaml", "dtype:\n  dtype: bf16\n", "dtype", []),
    ("a.yaml", "x: [\nprecision: bf16\n", "precision", []),
    # command lines
    ("a.sh", "python train.py --precision bf16\n", "precision", ["bf16"]),
    ("a.sh", "accelerate launch --mixed_precision=bf16 train.py\n", "mixed_precision", ["bf16"]),
    ("a.sh", "torchrun -m pkg.train --mixed-precision bf16\n", "mixed_precision", ["bf16"]),
    ("a.sh", "python train.py --bf16\n", "bf16", [True]),
    ("a.sh", "python train.py --bf16 False\n", "bf16", [False]),
    ("a.sh", "python train.py --trainer.precision bf16-mixed\n", "trainer.precision",
     ["bf16-mixed"]),
    ("a.sh", "python train.py +training.precision=bf16\n", "training.precision", ["bf16"]),
    ("a.sh", "P=bf16\npython train.py --precision $P\n", "precision", ["bf16"]),
    ("a.sh", "python train.py --precision $1  # bf16\n", "precision", []),
    ("a.sh", "convert image.png --precision bf16\n", "precision", []),
]  # fmt: skip

PYTHON: list[tuple[str, str, list[object]]] = [
    ('p.add_argument("--dtype", default="bf16")', "dtype", ["bf16"]),
    ('p.add_argument("-d", "--mixed-precision", default="bf16")', "mixed_precision", ["bf16"]),
    ('p.add_argument("--dt", dest="dtype", default="bf16")', "dtype", ["bf16"]),
    ('p.add_argument("--model.dtype", default="bf16")', "model.dtype", ["bf16"]),
    ('p.add_argument("--dtype", default=torch.bfloat16)', "dtype", ["bfloat16"]),
    ('p.add_argument("--dtype", choices=["fp32", "bf16"])', "dtype", ["fp32", "bf16"]),
    ('p.add_argument("--dtype", default="fp32", choices=("fp32", "bf16"))', "dtype",
     ["fp32", "bf16"]),
    ('p.add_argument("--dtype", default="fp32", help="fp32, bf16 or fp16")', "dtype",
     ["fp32", "bf16", "fp16"]),
    ('p.add_argument("--dtype", default="fp32", help="bf16 does not work, use fp32")', "dtype",
     ["fp32"]),
    ('p.add_argument("--dtype", default="fp32", help="set it to bf16")', "dtype", ["fp32"]),
    ('p.add_argument("--dtype", help="fp32 or bf16")', "dtype", []),
    ('p.add_argument("--dtype", default="a", help="fp32 or bf16")', "dtype", ["a"]),
    ('p.add_argument("--b", dest="dtype", action="store_const", const=torch.bfloat16, '
     'default=torch.float32)', "dtype", ["float32", "bfloat16"]),
    ('D = {"bf16": 1, "fp32": 2}\np.add_argument("--dtype", choices=list(D.keys()))', "dtype",
     ["bf16", "fp32"]),
    ('D = "bf16"\ndef main():\n    p.add_argument("--dtype", default=D)', "dtype", ["bf16"]),
    ('p.add_argument("--bf16", action="store_true")', "bf16", [False, True]),
    ('p.add_argument("--bf16", action=argparse.BooleanOptionalAction)', "bf16", [True, False]),
    ('p.set_defaults(dtype="bf16")', "dtype", ["bf16"]),
    ('flags.DEFINE_enum("dtype", "fp32", ["fp32", "bf16"], "help")', "dtype", ["fp32", "bf16"]),
    ('@click.option("--dtype", default="bf16")\ndef main(dtype): ...', "dtype", ["bf16"]),
    ('@click.option("--dtype", type=click.Choice(["bf16"]))\ndef main(dtype): ...', "dtype",
     ["bf16"]),
    ('@click.option("--bf16/--no-bf16", default=False)\ndef main(bf16): ...', "bf16",
     [False, True]),
    ('def main(x: int, dtype: str = typer.Option("bf16")): ...', "dtype", ["bf16"]),
    ('@dataclass\nclass ModelArgs:\n    torch_dtype: str = "bfloat16"', "torch_dtype",
     ["bfloat16"]),
    ('@dataclass\nclass Args:\n    dtype: str = field(default="bf16")', "dtype", ["bf16"]),
    ('@dataclass\nclass Args:\n    dtype: torch.dtype = torch.bfloat16', "dtype", ["bfloat16"]),
    ('@dataclass\nclass Args:\n    dtype: Literal["bf16", "fp32"] = "fp32"', "dtype",
     ["fp32", "bf16"]),
    ('class Settings(BaseSettings):\n    dtype: str = Field("bf16")', "dtype", ["bf16"]),
    ("@dataclass\nclass TrainConfig:\n    bf16: bool = False", "bf16", [False, True]),
    ('@dataclass\nclass ModelConfig:\n    dtype: str = "bf16"\n\n\n@dataclass\nclass Config:\n'
     "    model: ModelConfig = field(default_factory=ModelConfig)", "model.dtype", ["bf16"]),
    # nothing is declared, or nothing is known
    ('p.add_argument("--dtype", default=None, help="bf16 or fp32")', "dtype", []),
    ('p.add_argument("--dtype", default=best("bf16"))', "dtype", []),
    ('p.add_argument("--seed", default=16, help="not bf16")', "seed", []),
    ('D = "bf16"\nD = "fp32"\np.add_argument("--dtype", default=D)', "dtype", []),
    ('D = list(D)\np.add_argument("--dtype", choices=D)', "dtype", []),
    ('@dataclass\nclass Cache:\n    dtype: str = "bf16"', "dtype", []),
    ('class Config:\n    dtype: str = "bf16"', "dtype", []),
    ('@dataclass\nclass ModelConfig:\n    dtype: str = "bf16"', "model.dtype", []),
    ('@dataclass\nclass AConfig:\n    dtype: str = "bf16"\n\n\n'
     '@dataclass\nclass BConfig:\n    dtype: str = "fp32"', "dtype", []),
    ('"""p.add_argument("--dtype", default="bf16")"""', "dtype", []),
    ('p.add_argument("--dtype", default="bf16"', "dtype", []),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "path", "expected"), FILES)
def test_files(name: str, content: str, path: str, expected: list[object], tmp_path: Path) -> None:
    files = {name: content, "train.py": "", "pkg/train.py": ""}
    project = write(tmp_path, files)
    assert values(project.configured.setting(tuple(path.split(".")))) == expected


@pytest.mark.parametrize(("content", "path", "expected"), PYTHON)
def test_declarations(content: str, path: str, expected: list[object], tmp_path: Path) -> None:
    project = write(tmp_path, {"train.py": content + "\n"})
    assert values(project.configured.setting(tuple(path.split(".")))) == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({".env": "PRECISION=bf16\n"}, ["bf16"]),
        ({"run.sh": "export PRECISION=bf16\npython train.py\n"}, ["bf16"]),
        ({"train.py": 'os.environ["PRECISION"] = "bf16"\n'}, ["bf16"]),
        ({"train.py": 'os.environ.setdefault("PRECISION", "bf16")\n'}, ["bf16"]),
        ({"run.sh": "export PRECISION=$1  # bf16\n"}, []),
        ({"run.sh": "export MY_PRECISION=bf16\n"}, []),
        ({"a.yaml": "PRECISION: bf16\n"}, []),
    ],
)
def test_variables(files: dict[str, str], expected: list[object], tmp_path: Path) -> None:
    assert values(write(tmp_path, files).configured.variable("PRECISION")) == expected


def test_a_choice_names_its_place(tmp_path: Path) -> None:
    files = {
        "a.yaml": "x: 1\ntraining:\n  dtype: bf16\n",
        "run.sh": "python train.py --training.dtype fp16\n",
        "train.py": 'p.add_argument("--training.dtype", default="fp32", choices=["fp8"])\n',
    }
    setting = write(tmp_path, files).configured.setting(("training", "dtype"))
    assert setting is not None
    shown = [
        (origin.text, origin.source.path.name, origin.related.place.start.row, text)
        for origin in (choice.origin for choice in setting.choices)
        for text in [origin.source[origin.span]]
    ]
    assert shown == [
        ("`training.dtype` is set here", "a.yaml", 3, "dtype: bf16"),
        ("`--training.dtype` is given here", "run.sh", 1, "--training.dtype"),
        ("the default of `--training.dtype`", "train.py", 1, '"fp32"'),
        ("with `--training.dtype fp8`", "train.py", 1, '"fp8"'),
    ]


def test_a_value_is_a_choice_once(tmp_path: Path) -> None:
    files = {f"{name}.yaml": "precision: bf16\n" for name in "ab"} | {"c.yaml": "precision: fp32\n"}
    setting = write(tmp_path, files).configured.setting(("precision",))
    assert setting is not None
    assert values(setting) == ["bf16", "fp32"]
    assert setting.choices[0].origin.source.path.name == "a.yaml"


# Which of many: a false link is worse than none


def test_the_nearest_folder_counts_alone(tmp_path: Path) -> None:
    files = {"one/a.yaml": "dtype: bf16\n", "two/a.yaml": "dtype: fp32\n", "two/sub/model.py": ""}
    configured = write(tmp_path, files).configured
    assert values(configured.setting(("dtype",), tmp_path / "two/sub/model.py")) == ["fp32"]
    assert values(configured.setting(("dtype",), tmp_path / "model.py")) == ["bf16", "fp32"]


def test_the_options_of_another_script_are_not_meant(tmp_path: Path) -> None:
    option = 'p.add_argument("--dtype", default="{}")\n'
    files = {
        "convert.py": option.format("fp16"),
        "train.py": "from model import Model\n" + option.format("bf16"),
        "model.py": "",
        "eval.py": "",
    }
    configured = write(tmp_path, files).configured
    assert values(configured.setting(("dtype",), tmp_path / "train.py")) == ["bf16"]
    assert values(configured.setting(("dtype",), tmp_path / "model.py")) == ["bf16"]
    assert configured.setting(("dtype",), tmp_path / "eval.py") is None


def test_the_command_line_of_another_program_is_not_meant(tmp_path: Path) -> None:
    files = {
        "scripts/run.sh": "python ../train.py --dtype bf16\npython eval.py --dtype fp32\n",
        "train.py": "import model\n",
        "eval.py": "",
        "model.py": "",
    }
    configured = write(tmp_path, files).configured
    assert values(configured.setting(("dtype",), tmp_path / "train.py")) == ["bf16"]
    assert values(configured.setting(("dtype",), tmp_path / "model.py")) == ["bf16"]
    assert values(configured.setting(("dtype",), tmp_path / "eval.py")) == ["fp32"]


def test_an_argument_goes_over_a_key_further_down(tmp_path: Path) -> None:
    files = {
        "a.yaml": "other:\n  dtype: bf16\n",
        "train.py": 'p.add_argument("--dtype", default="fp32")\n',
    }
    assert values(write(tmp_path, files).configured.setting(("dtype",))) == ["fp32"]


@pytest.mark.parametrize("name", ["tests/a.yaml", "a_test.py", ".venv/a.yaml", "out/a.yaml"])
def test_what_is_no_part_of_the_project(name: str, tmp_path: Path) -> None:
    content = (
        'p.add_argument("--dtype", default="bf16")\n' if name[-2:] == "py" else "dtype: bf16\n"
    )
    (tmp_path / "p").mkdir()
    write(tmp_path / "p", {name: content, ".gitignore": "/out/\n"})
    assert ProjectFacts(Project(tmp_path / "p")).configured.setting(("dtype",)) is None


def test_large_files_are_data(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": "dtype: bf16\n" + "# filler\n" * 200_000})
    assert ProjectFacts(Project(tmp_path)).configured.setting(("dtype",)) is None
    assert ProjectFacts(Project(tmp_path)).half_precision(tmp_path / "a.py") is None


def test_links_are_read_once_and_loops_do_not_matter(tmp_path: Path) -> None:
    write(tmp_path, {"b/real.yaml": "dtype: bf16\n"})
    (tmp_path / "a.yaml").symlink_to("b/real.yaml")
    (tmp_path / "b/loop").symlink_to(tmp_path)
    (tmp_path / "dangling.yaml").symlink_to("nowhere")
    setting = ProjectFacts(Project(tmp_path)).configured.setting(("dtype",))
    assert setting is not None
    assert [choice.origin.source.path for choice in setting.choices] == [tmp_path / "b/real.yaml"]


def test_aliases_cannot_make_it_slow(tmp_path: Path) -> None:
    levels = [f"a{n}: &a{n} {{x: *a{n - 1}, y: *a{n - 1}}}" for n in range(1, 60)]
    write(tmp_path, {"a.yaml": "\n".join(["a0: &a0 {dtype: bf16}", *levels])})
    with cpu_time.at_most(5):
        assert ProjectFacts(Project(tmp_path)).configured.setting(("x", "dtype")) is not None
        assert ProjectFacts(Project(tmp_path)).half_precision(tmp_path / "a.py") is not None


def test_a_large_project_answers_at_once(tmp_path: Path) -> None:
    code = "class Model:\n" + "    def forward(self, x):\n        return x.to(self.dtype)\n" * 100
    files = {f"pkg{n % 20}/m{n}.py": code for n in range(1500)}
    files |= {f"conf/c{n}.yaml": f"lr: {n}\nname: run{n}\n" * 20 for n in range(500)}
    files |= {"conf/z.yaml": "training:\n  dtype: bf16\n", "pyproject.toml": ""}
    project = write(tmp_path, files)
    with cpu_time.at_most(5):
        for name in [f"size{n}" for n in range(2000)]:
            assert project.configured.setting((name,), tmp_path / "pkg1/m1.py") is None
        asked = project.configured.setting(("training", "dtype"), tmp_path / "pkg1/m1.py")
        assert project.half_precision(tmp_path / "a.py") is not None
    assert values(asked) == ["bf16"]


@pytest.mark.parametrize(
    ("name", "holds"),
    [("args", True), ("model_args", True), ("cfg", True), ("FLAGS", True), ("hparams", True),
     ("config", True), ("self", False), ("model", False), ("kwargs", False), ("flagship", False)],
)  # fmt: skip
def test_names_of_settings(name: str, holds: bool) -> None:
    assert holds_settings(name) is holds


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("precision", "mixed", True),
        ("fsdp_precision", "pure", True),
        ("precision", "macro", False),
        ("quality", "mixed", False),
        ("fp8-recipe", "blockwise", True),
        ("fp8_format", "e4m3", True),
        ("file_format", "e4m3", False),
        ("mp", "p=f32,c=bfloat16", True),
        ("mp", "p,c", False),
        ("command", "a=b", False),
    ],
)
def test_values_that_choose_a_precision(name: str, value: str, expected: bool) -> None:
    assert chooses_precision(name, value) is expected
