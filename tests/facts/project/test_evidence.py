"""What counts as the use of bfloat16, and which of many uses is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.project.facts import ProjectFacts
from precision_lint.model.finding import Related
from precision_lint.project.files import Project

USES = [
    ("train.yaml", "mixed_precision: bf16\n"),
    ("train.yaml", "trainer:\n  precision: bf16-mixed\n"),
    ("train.yaml", "model: &model\n  dtype: torch.bfloat16\n"),
    ("train.yaml", "bf16: auto\n"),
    ("train.yaml", "bf16:\n  enabled: true\n"),
    ("train.yaml", "url: https://x//y\nprecision: bf16  # or fp16\n"),
    ("ds.json", '{\n  "bf16": {\n    "enabled": "auto"\n  }\n}\n'),
    ("config.json", '{"torch_dtype": "bfloat16"}\n'),
    ("train.toml", '[train]\nprecision = "amp_bf16"\n'),
    ("config.env", "MIXED_PRECISION=bf16\n"),
    ("run.sh", "python train.py \\\n  --dtype=bfloat16\n"),
    ("run.sh", "torchrun train.py --use-bf16\n"),
    ("run.sh", "python train.py trainer.precision=bf16-mixed\n"),
    ("train.py", "x = x.bfloat16()\n"),
    ("train.py", "from torch import bfloat16\n\nx = x.to(bfloat16)\n"),
    ("train.py", "args = TrainingArguments(bf16=True)\n"),
    ("train.py", 'config = {"bf16": True}\n'),
    ("train.py", "class Args:\n    bf16: bool = True\n"),
    ("train.py", 'parser.add_argument("--dtype", choices=["bf16", "fp16"])\n'),
    ("train.py", "if x.dtype == torch.bfloat16:\n    x = x.float()\n"),
]
NONE = [
    ("train.yaml", "bf16: false  # true needs an A100\n"),
    ("train.yaml", "# bf16: true\nfp16: true\n"),
    ("train.yaml", 'mixed_precision: "no"  # or bf16\n'),
    ("train.yaml", "bf16: null\n"),
    ("train.yaml", "bf16: ${oc.env:BF16}\n"),
    ("train.yaml", "precision: 32\nnotes: precision bf16 diverges\n"),
    ("ds.json", '{"bf16": {"enabled": false}}\n'),
    ("data.json", '{"text": "use dtype: bf16, it is faster"}\n'),
    ("run.sh", "# python train.py --bf16\npython train.py --bf16 false\n"),
    ("run.sh", 'echo "precision bf16"\n'),
    ("train.py", '"""Trains.\n\ndtype="bf16" is `torch.bfloat16`.\n"""\n'),
    ("train.py", 'def f():\n    """torch.bfloat16"""\n'),
    ("train.py", "args = TrainingArguments(bf16=False)\n"),
    ("train.py", "ok = torch.cuda.is_bf16_supported()\n"),
    ("train.py", "half = x.shape[-1] // 2  # not float16\nx1, x2 = x[..., :half], x[..., half:]\n"),
    ("train.py", 'print("precision: bf16 is not supported")\n'),
    ("train.py", 'policy = tf.keras.mixed_precision.Policy("mixed_bfloat16")\n'),
    ("train.py", "y = tf.cast(x, dtype='bfloat16')\n"),
    ("broken.py", "x = torch.bfloat16(\n"),
    ("broken.json", '{"dtype": "bf16'),
    ("CHANGELOG.md", "torch_dtype=torch.bfloat16\n"),
]


def write(root: Path, files: dict[str, str]) -> ProjectFacts:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    return ProjectFacts(Project(root))


def half_precision(root: Path, files: dict[str, str]) -> Related | None:
    """What shows that a kernel may get half precision, in a file that imports the Python files."""
    modules = [name[:-3].replace("/", ".") for name in files if name.endswith(".py")]
    kernel = {"kernel.py": "".join(f"import {name}\n" for name in modules)}
    return write(root, {**files, **kernel}).half_precision(root / "kernel.py")


@pytest.mark.parametrize(("name", "content"), USES, ids=[f"{n}: {c!r}" for n, c in USES])
def test_use(name: str, content: str, tmp_path: Path) -> None:
    evidence = half_precision(tmp_path, {name: content})
    assert evidence is not None
    assert evidence.place.path == tmp_path / name
    assert evidence.message == "the project uses bfloat16 here"


@pytest.mark.parametrize(("name", "content"), NONE, ids=[f"{n}: {c!r}" for n, c in NONE])
def test_no_use(name: str, content: str, tmp_path: Path) -> None:
    assert half_precision(tmp_path, {name: content}) is None


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("train.py", "examples/a.py"),
        ("train.py", "a_test.yaml"),
        ("latest.py", "tests/a.py"),  # `test` is a word of a name
        ("b.py", ".github/workflows/a.yaml"),
    ],
)
def test_the_plainest_place_is_shown(first: str, then: str, tmp_path: Path) -> None:
    uses = {".py": "x.to(torch.bfloat16)\n", ".yaml": "dtype: bf16\n"}
    files = {name: uses[Path(name).suffix] for name in (then, first)}
    evidence = half_precision(tmp_path, files)
    assert evidence is not None
    assert evidence.place.path == tmp_path / first


@pytest.mark.parametrize(
    ("content", "row"),
    [
        ("import torch\nmodel.half()\n", 2),
        ("x = x.to(torch.float16)\n", 1),
        ("with torch.autocast('cuda'):\n    pass\n", 1),
        ("train(use_amp=True)\n", 1),
    ],
)
def test_float16_counts_where_there_is_no_bfloat16(content: str, row: int, tmp_path: Path) -> None:
    files = {"a.py": content}
    evidence = half_precision(tmp_path, files)
    assert evidence is not None
    assert evidence.message == "the project uses half precision here"
    assert evidence.place.start.row == row
    files["tests/b.py"] = "import kernel\nx.bfloat16()\n"
    evidence = half_precision(tmp_path, files)
    assert evidence is not None
    assert evidence.message == "the project uses bfloat16 here"


def test_a_file_that_does_not_run_with_a_kernel_says_nothing_of_it(tmp_path: Path) -> None:
    kernel, use = tmp_path / "kernel.py", "model.to(torch.bfloat16)\n"
    facts = write(tmp_path, {"kernel.py": "", "tests/test_other.py": use, "other.py": use})
    assert facts.half_precision(kernel) is None
    facts = write(tmp_path, {"tests/test_kernel.py": f"import kernel\n{use}"})
    assert facts.half_precision(kernel) is not None
    facts = write(tmp_path, {"tests/test_kernel.py": "", "train.yaml": "dtype: bf16\n"})
    assert facts.half_precision(kernel) is None  # `other.py` does not run with it
    facts = write(tmp_path, {"train.py": "import kernel\nkernel.run(open('train.yaml'))\n"})
    assert facts.half_precision(kernel) is not None


def test_a_configuration_says_it_plainest(tmp_path: Path) -> None:
    use = "import kernel\nkernel.run(open('conf/train.yaml'), torch.bfloat16)\n"
    facts = write(tmp_path, {"kernel.py": "", "a.py": use, "conf/train.yaml": "dtype: bf16\n"})
    evidence = facts.half_precision(tmp_path / "kernel.py")
    assert evidence is not None
    assert evidence.place.path == tmp_path / "conf/train.yaml"


def test_a_configuration_of_a_project_without_programs_counts(tmp_path: Path) -> None:
    facts = write(tmp_path, {"kernel.py": "", "train.yaml": "dtype: bf16\n"})
    assert facts.half_precision(tmp_path / "kernel.py") is not None


@pytest.mark.parametrize("content", ["fp16: true\n", "bf16: false\n", "dtype: float16\n"])
def test_a_configuration_that_says_float16_decided(content: str, tmp_path: Path) -> None:
    assert half_precision(tmp_path, {"train.yaml": content}) is None


@pytest.mark.parametrize(
    "weak",
    [
        'DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}\n',
        "HALF = (torch.float16, torch.bfloat16)\n",
        "assert x.dtype == torch.bfloat16\n",
        'parser.add_argument("--dtype", choices=["bf16", "fp16"])\n',
        'ok = hasattr(torch, "bfloat16")\n',
    ],
)
def test_what_only_knows_the_dtype_comes_after_what_chooses_it(weak: str, tmp_path: Path) -> None:
    files = {"a.py": weak, "b.py": "x = 1\nmodel.to(dtype=torch.bfloat16)\n"}
    evidence = half_precision(tmp_path, files)
    assert evidence is not None
    assert (evidence.place.path.name, evidence.place.start) == ("b.py", (2, 16))


@pytest.mark.parametrize(
    ("content", "offers"),
    [
        ('class Config:\n    backbone_dtype: str = "bfloat16"\n', True),
        ("model = load(path, torch_dtype=torch.bfloat16)\n", True),
        ('parser.add_argument("--dtype", default="bf16")\n', True),
        ("x = torch.zeros(2, dtype=torch.bfloat16)\n", False),
        ('amp_dtype = "bfloat16"\n', False),
        ('TO_DTYPE = {"bf16": torch.bfloat16, "fp16": torch.float16}\n', False),
    ],
)
def test_the_dtype_of_weights(content: str, offers: bool, tmp_path: Path) -> None:
    evidence = write(tmp_path, {"train.py": content}).bfloat16_weights
    assert (evidence is not None) is offers


@pytest.mark.parametrize(
    ("code", "is_of_weights"),
    [
        ("model = load(path, torch_dtype=torch.bfloat16)", True),
        ("model = Net.from_pretrained(path, dtype=torch.bfloat16)", True),
        ("llm = LLM(path, dtype='bfloat16')", True),
        ("layer = nn.Linear(8, 8, dtype=torch.bfloat16)", False),  # itself has it, no model
        ("model.to(torch.bfloat16)", True),
        ("model.to(device, dtype=torch.bfloat16)", True),
        ("self.text_encoder.bfloat16()", True),
        ("net = Net().to(device).to(torch.bfloat16)", True),
        ("torch.set_default_dtype(torch.bfloat16)", True),
        ("weight_dtype = torch.bfloat16", True),
        ("x = x.to(torch.bfloat16)", False),
        ("coarse = codebook.bfloat16()", False),
        ("x = torch.from_numpy(array).view(torch.bfloat16)", False),
        ("x = torch.zeros(2, dtype=torch.bfloat16)", False),
        ("x = model(x.to(torch.bfloat16))", False),
        ("with torch.autocast('cuda', dtype=torch.bfloat16):\n    pass", False),
        ("trainer = Trainer(precision='bf16-mixed')", False),
        ("model = build_model(policy='mixed_bfloat16')", False),
        ("model = build_model(dtype='bfloat16')", True),
    ],
)
def test_weights_that_are_stored(code: str, is_of_weights: bool, tmp_path: Path) -> None:
    files = {"a.py": f"import torch\n{code}\n", "b.py": "import a\n"}
    found = write(tmp_path, files).bfloat16(tmp_path / "b.py", "stored weights")
    assert (found is not None) is is_of_weights
