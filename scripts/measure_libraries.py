"""Record what calls of libraries give for tensors and modules of each floating dtype.

    python scripts/measure_libraries.py [LIBRARY ...]

Runs the examples in `tests/facts/dtypes/library_examples.py` and writes the dtypes in their results
into `tests/facts/dtypes/libraries.json`, with the names of the tables that each library has. What
is not installed keeps its rows, so that several environments can add to the file. The tables of
libraries are held to it.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from importlib import import_module, metadata
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))

from precision_lint.facts.dtypes.operators import lookup  # noqa: E402
from tests.facts.dtypes.library_examples import EXAMPLES, SETUP  # noqa: E402

FILE = ROOT / "tests/facts/dtypes/libraries.json"
DTYPES = ("bfloat16", "float16", "float32", "float64")


def main() -> None:
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    for library in sys.argv[1:] or sorted(set(map(library_of, lookup.ROWS))):
        try:
            version = version_of(library)
        except (ImportError, metadata.PackageNotFoundError) as error:
            print(f"{library}: {error}"[:200], file=sys.stderr)
            continue
        examples = filter(None, map(str.strip, EXAMPLES.get(library, "").splitlines()))
        known[library] = {
            "measured": version,
            "names": names_in(library),
            "calls": {example: measure(example) for example in examples},
        }
        FILE.write_text(text_of(known) + "\n")


def text_of(value: Any, depth: int = 0) -> str:
    """JSON with one line for each call."""
    if not isinstance(value, dict) or depth > 2:
        return json.dumps(value, sort_keys=True)
    inner = "\n" + " " * (depth + 1)
    items = (f"{json.dumps(key)}: {text_of(one, depth + 1)}" for key, one in sorted(value.items()))
    return f"{{{inner}" + f",{inner}".join(items) + "\n" + " " * depth + "}"


def version_of(library: str) -> str:
    if library == "python":
        return f"Python {sys.version_info.major}.{sys.version_info.minor}"
    import_module(library)
    distribution = metadata.packages_distributions()[library][0]
    return f"{distribution} {metadata.version(distribution)}"


def names_in(library: str) -> list[str]:
    """The names of the tables that a library has."""
    return sorted(name for name in lookup.ROWS if library_of(name) == library and exists(name))


def library_of(name: str) -> str:
    root = name.partition(".")[0]
    return "python" if root in sys.stdlib_module_names else root


def exists(name: str) -> bool:
    """A class in between counts as a module: `accelerate.Accelerator.gather`."""
    root, *parts = name.split(".")
    try:
        found: Any = import_module(root)
        for position, part in enumerate(parts, 1):
            if not hasattr(found, part):
                import_module(".".join([root, *parts[:position]]))
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return False
    return True


def measure(example: str) -> dict[str, Any]:
    """By dtype, the kind of the result, or the error."""
    return {dtype: outcome(example, dtype) for dtype in DTYPES}


def outcome(example: str, dtype: str) -> Any:
    scope: dict[str, Any] = {**HELPERS, **modules(example)}
    quiet = io.StringIO()
    if "accelerate" in sys.modules:  # an accelerator keeps what the first one was made with
        import_module("accelerate.state").AcceleratorState._reset_state(True)
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(quiet),
            contextlib.redirect_stderr(quiet),
        ):
            warnings.simplefilter("ignore")
            exec(SETUP.format(dtype=dtype), scope)
            try:
                return kind(eval(example, scope))
            except SyntaxError:
                exec(example, scope)
                return kind(scope["r"])
    except Exception as error:
        text = str(error).strip().splitlines()
        return f"{type(error).__name__}: {text[0] if text else ''}"[:160]


def kind(found: Any, depth: int = 0) -> Any:
    """The tensors and modules in an object, with their dtypes; else the name of its type."""
    match found:
        case torch.Tensor():
            return ["tensor", dtype_of(found)]
        case torch.nn.Module() | torch.jit.ScriptModule():
            return ["module", *sorted({dtype_of(one) for one in found.parameters()})]
        case Mapping():
            return ["values", joined([kind(one, depth + 1) for one in found.values()])]
        case str() | bytes() | np.ndarray() | np.generic():
            return type(found).__name__
    try:
        items = [kind(one, depth + 1) for one in found] if depth < 5 else []
    except TypeError:
        return type(found).__name__
    return ["items", joined(items)]


def dtype_of(found: torch.Tensor) -> str:
    return str(found.dtype).removeprefix("torch.")


def joined(kinds: list[Any]) -> Any:
    """One kind for the items of a container: that of the tensors in it, if there are some."""
    for head in ("tensor", "module", "items", "values"):
        same = [one for one in kinds if isinstance(one, list) and one[0] == head]
        if same and head in {"tensor", "module"}:
            return [head, *sorted({dtype for one in same for dtype in one[1:]})]
        if same:
            return [head, joined([one[1] for one in same])]
    return kinds[0] if kinds else "nothing"


def modules(example: str) -> dict[str, ModuleType]:
    """The packages that an example names, with the modules inside imported."""
    found: dict[str, ModuleType] = {}
    for node in ast.walk(ast.parse(example)):
        if isinstance(node, ast.Attribute) and (name := dotted(node)) is not None:
            root, *parts = name.split(".")
            with contextlib.suppress(ImportError):
                if root not in HELPERS and len(root) > 1:
                    found[root] = import_module(root)
                    for end in range(1, len(parts) + 1):
                        import_module(".".join([root, *parts[:end]]))
    return found


def dotted(node: ast.expr) -> str | None:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr) if (owner := dotted(value)) is not None:
            return f"{owner}.{attr}"
    return None


# what the examples name beside their libraries


def saved(x: torch.Tensor) -> io.BytesIO:
    file = io.BytesIO()
    torch.save(x, file)
    file.seek(0)
    return file


def address(x: torch.Tensor) -> str:
    path = Path(f"{dtype_of(x)}.pt").absolute()
    torch.save(x, path)
    return path.as_uri()


def stored(x: torch.Tensor) -> str:
    from safetensors.torch import save_file

    save_file({"a": x}, f"{dtype_of(x)}.safetensors")
    return f"{dtype_of(x)}.safetensors"


def sound(x: torch.Tensor) -> str:
    import soundfile

    soundfile.write("a.wav", x.float().flatten().numpy(), 16000)
    return "a.wav"


def picture_file() -> str:
    import PIL.Image

    PIL.Image.fromarray(np.ones((4, 4, 3), dtype=np.uint8)).save("a.png")
    return "a.png"


def picture() -> Any:
    import PIL.Image

    return PIL.Image.open(picture_file())


def optimizer(m: torch.nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(m.parameters())


def scheduler(m: torch.nn.Module) -> Any:
    return torch.optim.lr_scheduler.ConstantLR(optimizer(m))


def network(dtype: torch.dtype) -> str:
    """The folder of a network of diffusers in a dtype."""
    unet(dtype).save_pretrained("unet")
    return "unet"


def pipeline(dtype: torch.dtype) -> str:
    import diffusers

    made = diffusers.DDPMPipeline(unet(dtype), diffusers.DDPMScheduler())
    made.save_pretrained("pipeline")
    return "pipeline"


def unet(dtype: torch.dtype) -> torch.nn.Module:
    import diffusers

    blocks = {"down_block_types": ("DownBlock2D",), "up_block_types": ("UpBlock2D",)}
    made = diffusers.UNet2DModel(8, block_out_channels=(8,), norm_num_groups=4, **blocks)
    return made.to(dtype)


def lora() -> Any:
    import peft

    return peft.LoraConfig(target_modules=["0"])


def adapter() -> str:
    """The folder of an adapter."""
    import peft

    made = peft.get_peft_model(torch.nn.Sequential(torch.nn.Linear(4, 4)), lora())
    made.save_pretrained("adapter")
    return "adapter"


def parts(x: torch.Tensor) -> list[torch.nn.Module]:
    """The parts of an encoder."""
    from sentence_transformers.models import StaticEmbedding
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel

    tokenizer = Tokenizer(WordLevel({"a": 0, "[UNK]": 1}, unk_token="[UNK]"))
    return [StaticEmbedding(tokenizer, embedding_dim=4).to(x)]


HELPERS: dict[str, Any] = {
    name: globals()[name]
    for name in """
        adapter address lora network optimizer parts picture picture_file pipeline saved
        scheduler sound stored
    """.split()
} | {"corners": [[0, 0], [3, 0], [3, 3], [0, 3]]}


@contextlib.contextmanager
def in_a_group_of_one() -> Iterator[None]:
    """One process is a group as well."""
    os.environ.setdefault("LOCAL_RANK", "0")  # DeepSpeed reads it
    store = torch.distributed.FileStore(os.path.abspath("store"), 1)
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    yield
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with in_a_group_of_one():
            main()
