"""What is read from the whole project: its use of bfloat16, and its pins."""

from __future__ import annotations

from pathlib import Path

import pytest

from precision_lint.facts.project.facts import ProjectFacts
from precision_lint.project.files import Project
from precision_lint.project.pins import lowest_version, pinned_version


@pytest.mark.parametrize(
    ("name", "content", "version"),
    [
        ("requirements.txt", "numpy\ntorch==2.3.1+cu121\n", "2.3.1"),
        ("requirements.txt", "torch>=2.3\n", None),
        ("constraints.txt", "numpy==1.23.4\ntorch==1.13.0\n", "1.13.0"),
        ("requirements.txt", "# torch==1.0\ntorchvision==0.18.0\n", None),
        ("requirments.txt", "torch==1.10.2\n", "1.10.2"),
        ("requirement.txt", "torch==2.1.1\n", "2.1.1"),
        ("requirements.txt", "torch @ file:///a/torch-2.3.0a0%2Bebedce2-cp310-x.whl\n", "2.3.0"),
        ("requirements.txt", "torchdata @ file:///opt/pytorch/torchdata-0.7.1-x.whl\n", None),
        ("requirements-gpu.txt", "torch ~= 2.4.0 ; python_version > '3.9'\n", "2.4.0"),
        ("pyproject.toml", 'dependencies = [\n    "torch==2.5.1",\n]\n', "2.5.1"),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "2.2.0"\n', "2.2.0"),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "^2.2.0"\n', None),
        ("uv.lock", '[[package]]\nname = "torch"\nversion = "2.6.0"\n', "2.6.0"),
        ("Pipfile.lock", '{"default": {"torch": {"index": "x", "version": "==2.1.0"}}}', "2.1.0"),
        ("environment.yml", "dependencies:\n  - torch==2.0.1\n", "2.0.1"),
        ("environment.yml", "dependencies:\n  - pip:\n      - torch==2.0.1\n", "2.0.1"),
        ("environment.yml", "dependencies:\n  - pytorch=2.0.1\n", "2.0.1"),
        ("environment.yml", "  - conda-forge::pytorch=2.0.1=cuda\n", "2.0.1"),
        ("environment.yml", "  - pytorch-cuda=12.1\n  - pytorch>=2.0.1\n", None),
        ("README.md", "```sh\npip install torch==2.0.1+cu118 torchvision==0.15.2\n```\n", "2.0.1"),
        ("INSTALL.md", "  conda install pytorch==1.10.1 cudatoolkit=11.3 -c pytorch\n", "1.10.1"),
        ("GET_STARTED.md", "conda install pytorch==1.8.0 torchvision==0.9.0 -c pytorch\n", "1.8.0"),
        ("README.md", "conda install -c pytorch torchvision==0.15.2 pytorch-cuda=11.8\n", None),
        ("README.md", "Tested with torch==2.0.1.\n", None),
        ("README.MD", "pip install torch==1.12.0+cu113\n", "1.12.0"),
        ("Install.md", "pip install torch==1.12.0\n", "1.12.0"),
        ("tft_environment.yaml", "dependencies:\n  - pip:\n      - torch==2.0.1\n", "2.0.1"),
        ("mine.yaml", "name: mine\ndependencies:\n  - pip:\n    - torch==2.0.1+cu117\n", "2.0.1"),
        ("model.yaml", "dependencies: [data]\ntorch==2.0.1\n", None),
        ("model.yaml", "dependencies:\n  - torch==2.0.1\n", None),
        ("cog.yaml", "build:\n  python_packages:\n    - torch==2.0.1\n", "2.0.1"),
    ],
)
def test_pins(name: str, content: str, version: str | None, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    assert pinned_version(tmp_path, "torch") == version


@pytest.mark.parametrize(
    ("pages", "version"),
    [
        ({"README.md": "```\ntransformers     4.43.4      pypi_0    pypi\n```\n"}, "4.43.4"),
        ({"README.md": "transformers 4.37.2 py310_0 conda-forge\n"}, "4.37.2"),
        ({"README.md": "```\ntorch==2.1.0\ntransformers==4.28.1\n```\n"}, "4.28.1"),
        ({"README.md": "transformers==4.28.1\n", "requirements.txt": "transformers\n"}, "4.28.1"),
        ({"README.md": "Tested with transformers==4.28.1.\n"}, None),
        ({"README.md": "transformers 4.46 or newer\n"}, None),
        ({"README.md": "sentence-transformers==2.2.2\ntransformers>=4.40\n"}, None),
        ({"README.md": "transformers==4.35.0\n", "requirements.txt": "transformers>=4.51\n"}, None),
    ],
)
def test_environments_that_pages_show(
    pages: dict[str, str], version: str | None, tmp_path: Path
) -> None:
    for name, content in pages.items():
        (tmp_path / name).write_text(content)
    assert pinned_version(tmp_path, "transformers") == version


@pytest.mark.parametrize(
    ("readme", "version"),
    [
        ("pip install -U transformers torch\n", None),
        ("pip install --upgrade torch\n", None),
        ("pip install torch\n", "2.0.1"),
        ("pip install -U torchvision pytorch-lightning\n", "2.0.1"),
        ("pip install -U torch==2.0.1\n", "2.0.1"),
        ("conda env create -f environment.yml\npip install -U torch\n", "2.0.1"),
    ],
)
def test_an_upgrade_goes_over_a_file_that_no_page_names(
    readme: str, version: str | None, tmp_path: Path
) -> None:
    (tmp_path / "README.md").write_text(readme)
    (tmp_path / "environment.yml").write_text("dependencies:\n  - pytorch=2.0.1\n")
    assert pinned_version(tmp_path, "torch") == version


def test_a_pin_precedes_the_documentation(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("pip install torch==1.13.1\n")
    (tmp_path / "requirements.txt").write_text("torch==2.3.1\n")
    assert pinned_version(tmp_path, "torch") == "2.3.1"


def test_an_install_command_counts_unless_a_requirement_asks_for_more(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "setup_rocm.sh").write_text("pip install torch==1.13.1+rocm5.2\n")
    (tmp_path / "requirements.txt").write_text("torch>=1.12\n")
    assert pinned_version(tmp_path, "torch") == "1.13.1"
    (tmp_path / "requirements.txt").write_text("torch>=2.2.0\n")
    assert pinned_version(tmp_path, "torch") is None


@pytest.mark.parametrize(
    ("name", "content", "version"),
    [
        ("requirements.txt", "torch @ https://x.org/whl/torch-2.3.0-cp310-x.whl\n", "2.3.0"),
        ("requirements.txt", "numpy\ntorch>=1.13\n", "1.13"),
        ("requirements.txt", "torch >= 2.1, < 3\n", "2.1"),
        ("constraints.txt", "numpy==1.23.4\ntorch==1.13.0\n", "1.13.0"),
        ("requirements.txt", "torch~=2.1.0 ; python_version > '3.8'\n", "2.1.0"),
        ("requirements.txt", "torch==2.8.0+cu121\n", "2.8.0"),
        ("requirements.txt", "torch==2.*\n", "2.0"),
        ("requirements.txt", "torch[extra]>2\n", "2.0"),
        ("requirements.txt", "torch<2.3\n", "2.3"),
        ("requirements.txt", "torch>=2.4 # was 1.0\ntorch==2.5; python_version > '3'\n", "2.4"),
        ("requirements.txt", "torch\n2to3\n", None),
        ("requirements.txt", "torch!=2.1\n", None),
        ("requirements.txt", "# torch>=1.0\ntorchvision>=0.1\n", None),
        ("requirements.txt", "torch --index-url https://host/cu121\n", None),
        ("requirements/gpu/base.txt", "torch>=2.2\n", "2.2"),
        ("setup.py", "install_requires=['numpy', \"torch>=1.12\"]\n", "1.12"),
        ("setup.py", "install_requires=['torch (>=1.6)']\n", "1.6"),
        ("setup.cfg", "install_requires =\n    torch>=1.9\n", "1.9"),
        ("pyproject.toml", 'dependencies = ["torch>=2.6.0", "numpy"]\n', "2.6.0"),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "^2.1"\n', "2.1"),
        ("pyproject.toml", 'torch = {version = ">=2.0,<3", optional = true}\n', "2.0"),
        ("pyproject.toml", 'torch = {index = "pytorch"}\n# "torch>=1.0"\n', None),
        ("pyproject.toml", 'a = ["open-clip-torch>=1.0", "torch @ https://host/torch-2"]\n', None),
        ("environment.yml", "dependencies:\n  - pytorch>=1.12\n", "1.12"),
        ("environment.yml", "dependencies:\n  - pytorch=2.1=py3\n", "2.1"),
        ("README.md", "* PyTorch 2.0 Required\n* PyTorch 2.3 is better\n", "2.0"),
        ("README.md", "pip install torch --index-url x  # install torch-1.13.1\n", "1.13.1"),
        ("README.md", "Tested with PyTorch (>= v1.8.1) and `torch==2.1`.\n", "1.8.1"),
        ("INSTALL.md", "pytorch version 1.12\n", "1.12"),
        ("README.md", "pytorch-lightning 1.8, torchvision 0.9, https://pytorch.org/1.9/\n", None),
        ("README.md", "Install [PyTorch](https://pytorch.org/get-started).\n", None),
        ("README.md", "- [PyTorch](https://pytorch.org/) >= 2.0\n- [x](y) >= 1\n", "2.0"),
        ("README.md", "In [PyTorch](https://pytorch.org/) and 3.5 hours.\n", None),
        ("README.md", "We used `pytorch/2.0.1-cuda11.7-cudnn8-devel`.\n", "2.0.1"),
        ("README.md", "See models/pytorch/2.0.1/model.bin\n", None),
        ("requirements.txt", "torch\ntriton==2.1.0\n", "2.1"),
        ("requirements.txt", "torch\ntriton>=2.1.0\n", None),
        ("requirements.txt", "torch>=2.5\ntriton==2.1.0\n", "2.5"),
        ("env/gpu.yml", "dependencies:\n  - pytorch=1.9\n", "1.9"),
        ("conda/train.yaml", "dependencies:\n  - pytorch=1.13=py3\n", "1.13"),
        ("Dockerfile", "RUN pip3 install torch==1.10.1+cu113 torchvision==0.11\n", "1.10.1"),
        ("docker/gpu.Dockerfile", "ARG A\nFROM pytorch/pytorch:2.1.0-cuda12.1\n", "2.1.0"),
        ("docker/Dockerfile", "FROM nvcr.io/nvidia/pytorch:21.07-py3\n", "1.9"),
        ("Dockerfile", "ARG IMAGE=nvcr.io/nvidia/pytorch:24.08-py3\nFROM ${IMAGE}\n", "2.4"),
        ("Dockerfile", "FROM nvcr.io/nvidia/pytorch:19.12-py3\n", None),
        ("Dockerfile", "FROM nvcr.io/nvidia/tritonserver:22.05-py3\n", None),
        ("docs/setup.md", "pip install torch==1.10.1+cu113\n", "1.10.1"),
        ("README.md", "- [PyTorch 21.07+ NGC container](https://ngc.nvidia.com)\n", "1.9"),
        ("install.sh", "pip3 install torch==2.0.1\n", "2.0.1"),
        ("README.md", "conda install pytorch cudatoolkit=11.3 -c pytorch\n", "1.12"),
        ("README.md", "conda install pytorch pytorch-cuda=12.1 -c pytorch\n", "2.5"),
        ("README.md", "conda install pytorch==1.8.0 cudatoolkit=11.1\n", "1.8.0"),
        ("README.md", "pip install torch -i https://download.pytorch.org/whl/cu117\n", "2.0"),
        ("README.md", "pip install torch -i https://download.pytorch.org/whl/cu121\n", "2.5"),
        ("README.md", "pip install torch -i https://download.pytorch.org/whl/cu150\n", None),
        ("requirements.txt", "torch\ntorchvision==0.19.1\n", "2.4"),
        ("requirements.txt", "torch\ntorchvision>=0.11,<0.20\n", "1.10"),
        ("requirements.txt", "torch>=2.1\ntorchvision==0.19.1\n", "2.1"),
        ("requirements.txt", "torch\ntorchaudio==2.3.0\n", "2.3"),
        ("requirements.txt", "torch\ntorchaudio==0.9.0\n", None),
        ("environment.yml", "dependencies:\n  - pytorch\n  - cudatoolkit=10.2\n", "1.12"),
        ("environment.yml", "dependencies:\n  - jax\n  - cudatoolkit=10.2\n", None),
        ("app.py", 'i = modal.Image.debian_slim().pip_install("torch==2.1.2", "x")\n', "2.1.2"),
        ("app.py", 'i = (\n  I().uv_pip_install([\n    "numpy",\n    "torch>=2.2,<3",\n', "2.2"),
        ("app.py", 'i = I().run_commands("pip install -U numpy torch==2.0.1+cu118")\n', "2.0.1"),
        ("app.py", "i = I().run_commands('pip install \"torch~=2.3\"')\n", "2.3"),
        ("app.py", 'i = Image(python_packages=["torch[opt]==1.13.1"])\n', "1.13.1"),
        ("app.py", "task = sky.Task(setup='conda install pytorch==1.12.0')\n", "1.12.0"),
        ("app.py", "# /// script\n# dependencies = ['torch==2.3']\n# ///\n", "2.3"),
        ("app.py", 'i = I().pip_install("torch", "torchmetrics==1.0", "x-torch==1.1")\n', None),
        ("app.py", 'i = I().pip_install("einops==0.7")\nassert v >= "2.1", "torch"\n', None),
        ("app.py", 'KNOWN = ["torch==1.13"]\n', None),
        ("app.py", 'torch_version = "2.1"\ni.pip_install("numpy==1.26")\n', None),
        ("src/app.py", 'i = I().pip_install("torch==2.1.2")\n', None),
    ],
)
def test_lowest_version(name: str, content: str, version: str | None, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    assert lowest_version(tmp_path, "torch") == version


def test_requirements_in_a_folder_without_code_are_those_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch\n")
    for folder in ("assets/setup", "docs", "server"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "requirements.txt").write_text("torch==2.1.0\n")
    (tmp_path / "server" / "main.py").touch()
    assert lowest_version(tmp_path, "torch") == "2.1.0"
    (tmp_path / "assets/setup" / "requirements.txt").unlink()
    assert lowest_version(tmp_path, "torch") is None


def test_documents_count_where_no_requirement_has_a_version(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("Tested with PyTorch 1.13.\n")
    (tmp_path / "requirements.txt").write_text("torch>=2.4\n")
    assert lowest_version(tmp_path, "torch") == "2.4"
    (tmp_path / "requirements.txt").write_text("torch\n")
    assert lowest_version(tmp_path, "torch") == "1.13"


def test_install_pages_of_a_language_count(tmp_path: Path) -> None:
    page = tmp_path / "docs" / "en" / "install.md"
    page.parent.mkdir(parents=True)
    page.write_text("```shell\nconda install pytorch==1.10.0 torchvision==0.11.0\n```\n")
    assert lowest_version(tmp_path, "torch") == "1.10.0"
    assert pinned_version(tmp_path, "torch") == "1.10.0"


def test_pages_of_parts_count_where_those_of_the_project_name_no_version(tmp_path: Path) -> None:
    (tmp_path / "new_ops").mkdir()
    (tmp_path / "new_ops" / "README.md").write_text("Builds with PyTorch ≥2.1 and CUDA ≥12.0.\n")
    assert lowest_version(tmp_path, "torch") == "2.1"
    (tmp_path / "README.md").write_text("Tested with PyTorch 2.6.\n")
    assert lowest_version(tmp_path, "torch") == "2.6"


@pytest.mark.parametrize("name", ["req.txt", "reqs.txt"])
def test_requirements_under_a_short_name(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("torch==2.2.1\n")
    assert lowest_version(tmp_path, "torch") == "2.2.1"
    assert pinned_version(tmp_path, "torch") == "2.2.1"


def test_images_count_where_no_requirement_has_a_version(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("Tested with PyTorch 1.13.\n")
    (tmp_path / "app.py").write_text('image = Image().pip_install("torch==2.1.2")\n')
    (tmp_path / "requirements.txt").write_text("torch\n")
    assert lowest_version(tmp_path, "torch") == "2.1.2"
    assert pinned_version(tmp_path, "torch") == "2.1.2"
    (tmp_path / "requirements.txt").write_text("torch>=2.6\n")
    assert lowest_version(tmp_path, "torch") == "2.6"


def test_the_lowest_of_all_declarations_counts(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch==2.6.0\n")
    (tmp_path / "setup.py").write_text("setup(install_requires=['torch>=2.0'])\n")
    (tmp_path / "uv.lock").write_text('[[package]]\nname = "torch"\nversion = "2.9.0"\n')
    assert Project(tmp_path).lowest_version_of("torch") == (2, 0)
    assert Project(tmp_path, target={"torch": "2.13"}).lowest_version_of("torch") == (2, 13)
    (tmp_path / "setup.py").unlink()
    (tmp_path / "requirements.txt").write_text("torch\n")
    assert Project(tmp_path).lowest_version_of("torch") == (2, 9)
    (tmp_path / "uv.lock").unlink()
    assert Project(tmp_path).lowest_version_of("torch") is None


def test_in_a_collection_the_oldest_pin_counts_where_nothing_is_declared(tmp_path: Path) -> None:
    for name, requirement in {"a": "torch==1.13.1", "b": "torch==2.0.1", "c": "torch"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.py").write_text("import torch\n")
        (tmp_path / name / "requirements.txt").write_text(f"{requirement}\n")
    inner, outer = tmp_path / "c" / "train.py", tmp_path / "train.py"
    assert Project(tmp_path).lowest_version_of("torch", inner) == (1, 13)
    assert Project(tmp_path).lowest_version_of("torch", tmp_path / "b" / "train.py") == (2, 0)
    assert Project(tmp_path).lowest_version_of("torch", outer) is None
    assert Project(tmp_path).lowest_version_of("torch") is None
    (tmp_path / "requirements.txt").write_text("torch\n")  # one project, and its parts
    assert Project(tmp_path).lowest_version_of("torch", inner) is None


def test_requirements_of_conda_among_the_scripts(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "requirements_conda.yaml").write_text(
        "dependencies:\n  - pytorch=1.9\n"
    )
    assert Project(tmp_path).lowest_version_of("torch") == (1, 9)
    assert Project(tmp_path).version_of("torch") == (1, 9)


def test_what_the_python_files_hold(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\n")
    (tmp_path / "notes.md").write_text("import jax\n")
    facts = ProjectFacts(Project(tmp_path))
    assert facts.python_source_matches(rb"import\s+torch")
    assert not facts.python_source_matches(rb"import\s+jax")


def test_settings_go_over_pins(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("triton==3.1.0\n")
    project = Project(tmp_path)
    assert project.version_of("triton") == (3, 1)
    assert Project(tmp_path, target={"triton": "3.5"}).version_of("triton") == (3, 5)
    assert project.version_of("torch") is None


@pytest.mark.parametrize(
    ("name", "content", "uses"),
    [
        ("train.py", "model.to(torch.bfloat16)\n", True),
        ("train.py", 'DTYPE = "bf16"\n', True),
        ("train.py", "# torch.bfloat16 is not supported\n", False),
        ("train.py", "def supports_bf16(): ...\n", False),
        ("train.yaml", "bf16: true\n", True),
        ("train.yaml", "bf16: false\n", False),
        ("train.yaml", "torch_dtype: bfloat16\n", True),
        ("run.sh", "accelerate launch --mixed_precision bf16 train.py\n", True),
        ("run.sh", "python train.py --bf16\n", True),
        ("ds.json", '{"bf16": {"enabled": true}}\n', True),
        ("README.md", "Uses torch.bfloat16\n", False),
        (".venv/lib.py", "torch.bfloat16\n", False),
    ],
)
def test_half_precision(name: str, content: str, uses: bool, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(content)
    (tmp_path / "kernel.py").write_text("import train\n")
    evidence = ProjectFacts(Project(tmp_path)).half_precision(tmp_path / "kernel.py")
    assert (evidence is not None) is uses
    if evidence is not None:
        assert evidence.place.path == path
        assert evidence.place.start.row == 1


def test_evidence_outside_of_tests_comes_first(tmp_path: Path) -> None:
    (tmp_path / "a_test.py").write_text("import model\ntorch.bfloat16\n")
    (tmp_path / "model.py").write_text("\n\ntorch.bfloat16\n")
    evidence = ProjectFacts(Project(tmp_path)).half_precision(tmp_path / "model.py")
    assert evidence is not None
    assert (evidence.place.path.name, evidence.place.start.row) == ("model.py", 3)


def test_the_version_of_a_copy_of_a_library(tmp_path: Path) -> None:
    package = tmp_path / "student/transformers/src/transformers/__init__.py"
    package.parent.mkdir(parents=True)
    package.write_text('"""A copy."""\n\n__version__ = "4.36.0.dev0"\n')
    assert Project(tmp_path).version_of("transformers") == (4, 36)
    assert Project(tmp_path).version_of("torch") is None
    (tmp_path / "requirements.txt").write_text("transformers==5.1.0\n")
    assert Project(tmp_path).version_of("transformers") == (5, 1)


@pytest.mark.parametrize(
    ("package", "more", "expected"),
    [
        ("model/transformers", {"train.py": ""}, True),
        ("transformers", {"train.py": ""}, True),
        ("transformers", {}, False),  # an unpacked wheel
        (
            "src/transformers",
            {"run.py": "", "setup.py": 'setup(\n    name="transformers",\n)'},
            False,
        ),
        ("peft", {"run.py": "", "pyproject.toml": '[project]\nname = "peft"\n'}, False),
        ("peft", {"run.py": "", "pyproject.toml": '[project]\nname = "mine"\n'}, True),
        ("models/mine", {"train.py": ""}, False),
        (
            "deepspeed",
            {"train.py": "", "deepspeed/__init__.py": "__version__ = version\n"},
            True,
        ),
    ],
)
def test_a_library_that_was_copied_into_a_project(
    package: str, more: dict[str, str], expected: bool, tmp_path: Path
) -> None:
    files = {f"{package}/__init__.py": '__version__ = "4.28.0.dev0"\n', f"{package}/a.py": ""}
    for name, content in (files | more).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    assert Project(tmp_path).is_secondary(tmp_path / package / "a.py") is expected


def test_a_folder_of_models_is_no_copy_of_a_library(tmp_path: Path) -> None:
    for name in ("train.py", "models/transformers/__init__.py", "models/transformers/vit.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    assert not Project(tmp_path).is_secondary(tmp_path / "models/transformers/vit.py")


@pytest.mark.parametrize(
    ("name", "is_kept"),
    [
        ("archive/train.py", True),
        ("archive/2024/train.py", True),
        ("src/_deprecated/train.py", True),
        ("obsolete/train.py", True),
        ("archive.py", False),
        ("archives/train.py", True),
        ("legacy_archive/train.py", False),
        ("legacy/train.py", False),
        ("src/archiver/train.py", False),
    ],
)
def test_code_that_is_only_kept(name: str, is_kept: bool, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("")
    assert Project(tmp_path).is_secondary(tmp_path / name) is is_kept
