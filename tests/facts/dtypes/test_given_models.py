"""Models under autocast that a function is given: what their class returns counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.facts.dtypes.following import described, last_call

NETS = """
class Logits(nn.Module):
    def __init__(self, size=8):
        super().__init__()
        self.head = nn.Linear(size, 3)
    def forward(self, x):
        return self.head(x)
    def encode(self, x):
        return self.forward(x)
class Scores(nn.Module):
    def __init__(self, size=8):
        super().__init__()
        self.head = nn.Linear(size, 3)
    def forward(self, x):
        return F.softmax(self.head(x), dim=-1)
    def encode(self, x):
        return self.forward(x)
def build(config):
    if config.large:
        model = {net}(16)
    else:
        model = {net}(config.size)
    return model
"""
REGION = 'with torch.autocast("cuda", dtype=torch.bfloat16):'
FUNCTION = f"def run(model, x):\n    {REGION}\n        y = model(x)\n    y.numpy()\n"
ANNOTATED = FUNCTION.replace("model,", "model: nn.Module,")
OTHER_NAME = FUNCTION.replace("model", "engine")
METHOD = FUNCTION.replace("model(x)", "model.encode(x)")
MOVED = FUNCTION.replace("    with", "    model = model.to('cuda').eval()\n    with")
MOVED_METHOD = MOVED.replace("model(x)", "model.encode(x)")
WRAPPED = FUNCTION.replace("    with", "    model = nn.DataParallel(model.cuda())\n    with")
CLASS = f"""
class Trainer:
    def __init__(self, model: nn.Module, parallel):
        self.model = model.to('cuda')
        if parallel:
            self.model = nn.parallel.DistributedDataParallel(self.model)
    def step(self, x):
        {REGION}
            y = self.model(x)
        y.numpy()
def run(model, x):
    Trainer(model, x).step(x)
"""
CALL = "from nets import {net}, build\nfrom main import run\nrun({made}, torch.randn(2, 8))\n"


@pytest.mark.parametrize("made", ["{net}()", "{net}().cuda()", "build(config)"])
@pytest.mark.parametrize(
    "main",
    [FUNCTION, ANNOTATED, OTHER_NAME, METHOD, MOVED, MOVED_METHOD, WRAPPED, CLASS],
    ids="function annotated other-name method moved moved-method wrapped class".split(),
)
@pytest.mark.parametrize(("net", "dtype"), [("Logits", "bfloat16"), ("Scores", "float32")])
def test_a_given_model_returns_what_its_class_returns(
    net: str, dtype: str, main: str, made: str, tmp_path: Path
) -> None:
    nets = NETS.replace("{net}", net)
    call = CALL.format(net=net, made=made.format(net=net))
    receiver = last_call(tmp_path, nets=nets, train=call, main=main).receiver
    assert described(receiver) == dtype


@pytest.mark.parametrize(
    ("taken", "returned", "dtype"),
    [
        ("y['b']", "{'a': y, 'b': s}", "float32"),
        ("y['a']", "{'a': y, 'b': s}", "bfloat16"),
        ("y[1]", "(y, s)", "float32"),
        ("y[0]", "(y, s)", "bfloat16"),
        ("y['b'][1]", "{'b': (y, s)}", "float32"),
        ("z", "(y, s)", "float32"),
    ],
)
def test_what_is_taken_out_of_an_output(
    taken: str, returned: str, dtype: str, tmp_path: Path
) -> None:
    net = (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.head = nn.Linear(8, 3)\n    def forward(self, x):\n        y = self.head(x)\n"
        f"        s = y.softmax(-1)\n        return {returned}\n"
    )
    unpacked = "y, z = model(x)" if taken == "z" else "y = model(x)"
    main = FUNCTION.replace("y = model(x)", unpacked).replace("y.numpy", f"{taken}.numpy")
    call = "from nets import Net\nfrom main import run\nrun(Net(), torch.randn(2, 8))\n"
    assert described(last_call(tmp_path, nets=net, train=call, main=main).receiver) == dtype


def test_a_helper_that_is_called_in_a_region_and_outside(tmp_path: Path) -> None:
    source = (
        "class Net:\n    def __init__(self, model):\n        self.model = model\n"
        "    def forward(self, x):\n        return self.model(x)\n"
        f"    def train(self, x):\n        {REGION}\n            self.forward(x)\n"
        "    def predict(self, x):\n        return self.forward(x).numpy()\n"
    )
    assert "bfloat16" not in described(last_call(tmp_path, main=source).receiver)


def test_a_model_that_nobody_gives_is_a_guess_by_its_region(tmp_path: Path) -> None:
    assert described(last_call(tmp_path, main=FUNCTION).receiver) == "bfloat16 chosen"


@pytest.mark.parametrize(
    ("layers", "dtype"),
    [
        ("nn.Linear(8, 8), nn.Softmax(dim=1)", "float32"),
        ("nn.Linear(8, 8), nn.LayerNorm(8)", "float32"),
        ("nn.Linear(8, 8), nn.Softmax(dim=1), nn.Linear(8, 8)", "bfloat16"),
        ("nn.Linear(8, 8), nn.ReLU()", "bfloat16"),
        ("nn.Sequential(nn.Linear(8, 8), nn.Softmax(dim=1)), nn.Dropout()", "float32"),
    ],
)
def test_the_layers_of_a_sequential_decide_in_a_region(
    layers: str, dtype: str, tmp_path: Path
) -> None:
    call = f"run(nn.Sequential({layers}), torch.randn(2, 8))\n"
    assert described(last_call(tmp_path, main=FUNCTION + call).receiver) == dtype


NESTED = (
    "MODELS = {}\ndef register(name):\n    def put(cls):\n        MODELS[name] = cls\n"
    "        return cls\n    return put\n"
)
PLAIN = "MODELS = dict()\ndef register(cls):\n    MODELS[cls.__name__] = cls\n    return cls\n"
BUILD = "def build(name):\n    return MODELS[name]()\n"
ELSEWHERE = "from registry import MODELS, register, build\n"


@pytest.mark.parametrize(
    ("registry", "decorator"), [(NESTED, "@register('a')\n"), (PLAIN, "@register\n")]
)
@pytest.mark.parametrize(("net", "dtype"), [("Logits", "bfloat16"), ("Scores", "float32")])
@pytest.mark.parametrize("is_one_file", [True, False])
def test_a_table_that_decorators_fill(
    is_one_file: bool, net: str, dtype: str, registry: str, decorator: str, tmp_path: Path
) -> None:
    nets = NETS[: NETS.index("def build")].replace(f"class {net}", f"{decorator}class {net}")
    files = {"registry": registry + BUILD + nets}
    if not is_one_file:
        files = {"registry": registry + BUILD, "nets": ELSEWHERE + nets}
    train = "import nets\nfrom registry import build\nfrom main import run\nrun(build('a'), 1)\n"
    if is_one_file:
        train = train.replace("import nets\n", "")
    assert described(last_call(tmp_path, main=FUNCTION, train=train, **files).receiver) == dtype


def test_a_table_of_classes_that_do_not_agree(tmp_path: Path) -> None:
    nets = NETS[: NETS.index("def build")].replace("class ", "@register\nclass ")
    train = "from nets import build\nfrom main import run\nrun(build('a'), 1)\n"
    files = {"nets": PLAIN + BUILD + nets, "train": train, "main": FUNCTION}
    assert described(last_call(tmp_path, **files).receiver) == "bfloat16 float32"


ENTER = "torch.autocast('cuda', dtype=torch.{dtype}).__enter__()\n"


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize(
    "use",
    [
        "net(x).numpy()\n",
        "def run(x):\n    return net(x).numpy()\nrun(x)\n",
        "with torch.no_grad():\n    y = net(x)\ny.numpy()\n",
    ],
)
def test_autocast_that_is_entered_by_a_call(use: str, dtype: str, tmp_path: Path) -> None:
    source = (
        f"{ENTER.format(dtype=dtype)}x = torch.randn(2, 8)\nnet = nn.Linear(8, 3).cuda()\n{use}"
    )
    assert described(last_call(tmp_path, main=source).receiver) == dtype


def test_autocast_that_is_entered_by_a_call_ends_with_its_body(tmp_path: Path) -> None:
    source = f"def warm_up(x):\n    {ENTER.format(dtype='bfloat16')}    nn.Linear(8, 3)(x)\n"
    call = "warm_up(1)\nnn.Linear(8, 3)(torch.randn(2, 8)).numpy()\n"
    assert described(last_call(tmp_path, main=source + call).receiver) == "float32"


def test_a_function_that_the_top_level_calls_in_a_region(tmp_path: Path) -> None:
    run = "def run(net, x):\n    return net(x).numpy()\n"
    source = f"{run}{REGION}\n    run(nn.Linear(8, 3), torch.randn(2, 8))\n"
    assert described(last_call(tmp_path, main=source).receiver) == "bfloat16"


CONTEXT = "ctx = torch.autocast('cuda', dtype=torch.bfloat16)\n"
USED = "y = nn.Linear(8, 3)(torch.randn(2, 8))\n"


@pytest.mark.parametrize(
    "source",
    [
        f"{CONTEXT}ctx.__enter__()\nctx.__exit__(None, None, None)\n{USED}y.numpy()\n",
        f"{CONTEXT}if a:\n    ctx.__enter__()\nelse:\n    {USED}    y.numpy()\n",
        f"{CONTEXT}with torch.no_grad():\n    ctx.__enter__()\n{USED}y.numpy()\n",
    ],
    ids=["after its end", "on the other side of a branch", "after the block around it"],
)
def test_where_autocast_that_was_entered_by_a_call_is_off(source: str, tmp_path: Path) -> None:
    assert described(last_call(tmp_path, main=source).receiver) == "float32"


def test_autocast_that_one_side_of_a_branch_enters_is_on_after_it(tmp_path: Path) -> None:
    source = f"{CONTEXT}if a:\n    ctx.__enter__()\n{USED}y.numpy()\n"
    assert described(last_call(tmp_path, main=source).receiver) == "bfloat16"
