"""The benchmark of the loss: its figures, its fairness, and its reduced form on a CPU."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", minversion="2.4")

import torch.nn.functional as F  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]

with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(ROOT / "benchmarks")
    import cross_entropy as benchmark
    import cross_entropy_cases as cases
    import cross_entropy_report as report
    import cross_entropy_timing as timing

SHAPES = {"cross_entropy": "24x50", "linear_cross_entropy": "24x8x50"}


def of(milliseconds: float) -> report.Timing:
    return report.Timing.of([milliseconds])


def test_bytes_of_a_direction():
    logits = 8192 * 128256 * 2
    moved = [report.useful_bytes(d, 8192, 128256, 2) for d in ("forward", "backward", "both")]
    assert moved == [logits, 2 * logits, 3 * logits]


def test_a_kernel_as_fast_as_a_copy_reaches_all_of_it():
    size = 8192, 128256, 2
    shares = {
        direction: report.figures(direction, of(ms), None, of(1.0), size).share
        for direction, ms in (("forward", 0.5), ("backward", 1.0), ("both", 1.5))
    }
    assert shares == pytest.approx({"forward": 1.0, "backward": 1.0, "both": 1.0})
    assert report.figures("forward", of(2.0), None, of(1.0), size).share == pytest.approx(0.25)


def test_bandwidth_is_in_bytes_per_second():
    found = report.figures("forward", of(2.0), 7, of(1.0), (1000, 1000, 2))
    assert found.bandwidth == pytest.approx(1e9)
    assert found.peak == 7


def test_without_a_copy_there_is_no_share():
    found = report.figures("both", of(2.0), None, None, (10, 10, 2))
    assert (found.bandwidth, found.share) == (None, None)


def test_median_and_spread():
    found = report.Timing.of([float(ms) for ms in range(100, -1, -1)])
    assert (found.median, found.low, found.high, found.repetitions) == (50.0, 10.0, 90.0, 101)


def test_failures_stay_in_the_table():
    figures = {"forward": report.Figures(of(1.25))}
    rows = [
        report.Row("t", "8x9", "bf16", "one", failure="ImportError: a | b"),
        report.Row("t", "8x9", "bf16", "two", figures=figures, failure="RuntimeError: late"),
    ]
    assert report.tables(rows).splitlines() == [
        "t, 8x9, bf16",
        "",
        "| rival | forward | backward |",
        "| --- | --: | --: |",
        "| one | ImportError: a \\| b |  |",
        "| two | 1.25 ms (1.25–1.25) | RuntimeError: late |",
    ]


def test_a_case_is_a_table():
    rows = [report.Row("t", shape, "bf16", "one", failure="x") for shape in ("1x2", "1x2", "3x4")]
    assert report.tables(rows).count("| rival |") == 2


def test_a_table_says_what_a_copy_reaches():
    # 2 MB read and written in a millisecond.
    found = report.figures("both", of(3.0), None, of(1.0), (1000, 1000, 2))
    rows = [report.Row("t", "1000x1000", "bf16", "one", figures={"both": found})]
    assert report.tables(rows).startswith("t, 1000x1000, bf16; a plain copy moves 4 GB/s\n")


def test_an_error_that_is_not_finite_is_seen():
    row = report.Row("t", "8x9", "bf16", "one", errors=report.Errors(math.nan, math.inf, 0.5))
    assert "| nan | inf | 5.0e-01 |" in report.tables([row])
    held = json.loads(json.dumps(report.document({}, [row]), allow_nan=False))
    assert held["rows"][0]["errors"] == {"loss": None, "gradient": None, "label": 0.5}


def test_notes_name_who_overwrites():
    figures = {"forward": report.Figures(of(1.0))}
    rows = [
        report.Row("t", "8x9", "bf16", "one", "forward", figures=figures),
        report.Row("t", "8x9", "fp16", "one", "forward", figures=figures),
        report.Row("t", "8x9", "bf16", "absent", "backward", failure="ImportError"),
    ]
    assert "in the forward pass: one." in report.notes(rows)
    assert "backward pass" not in report.notes(rows)


def test_an_exception_is_one_line():
    assert report.first_line(ValueError("\n one\ntwo")) == "ValueError: one"
    assert report.first_line(KeyboardInterrupt()) == "KeyboardInterrupt"


def test_the_plot_needs_matplotlib(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    path = tmp_path / "figure.png"
    assert report.plot([], path) == "no plot: matplotlib is not installed"
    assert not path.exists()


def test_the_plot(tmp_path):
    pytest.importorskip("matplotlib")
    size = 1000, 1000, 2
    figures = {"both": report.figures("both", of(3.0), None, of(1.0), size)}
    rows = [
        report.Row("t", "1000x1000", dtype, rival, figures=figures)
        for dtype in ("bf16", "fp16")
        for rival in ("precision-lint", "torch")
    ]
    path = tmp_path / "figure.png"
    assert report.plot(rows, path) == f"plot: {path}"
    assert path.read_bytes().startswith(b"\x89PNG")
    assert report.plot([report.Row("t", "1x1", "bf16", "one")], path).startswith("no plot: ")


def test_the_documents_hold_the_figures_of_the_compiled_kernels():
    """On a difference, `python benchmarks/cross_entropy_report.py` prints the new table."""
    document = json.loads(report.RESOURCES.read_text("utf-8"))
    assert report.resource_table(document) in (ROOT / "docs/benchmarks.md").read_text("utf-8")


@pytest.mark.parametrize("path", report.ON_A_GPU, ids=lambda path: path.stem)
def test_the_documents_hold_the_figures_of_a_gpu(path):
    document = json.loads(path.read_text("utf-8"))
    assert report.gpu_table(document) in (ROOT / "docs/benchmarks.md").read_text("utf-8")


def test_the_documents_compare_as_the_figures_do():
    """In bfloat16, forward and backward together: our time as a share of a rival's, by shape."""
    rows = json.loads(report.ON_A_GPU[0].read_text("utf-8"))["rows"]
    times = {
        (row["rival"], row["shape"]): row["figures"]["both"]["timing"]["median"]
        for row in rows
        if row["dtype"] == "bf16"
    }
    shapes = sorted({shape for _, shape in times})

    def share(rival: str) -> str:
        found = [100 * times["precision-lint", one] / times[rival, one] for one in shapes]
        return f"{min(found):.0f} to {max(found):.0f} %"

    for path in ("README.md", "docs/runtime.md", "docs/benchmarks.md"):
        text = " ".join((ROOT / path).read_text("utf-8").split())
        assert f"takes {share('compile')} of the time of `torch.compile" in text
    text = " ".join((ROOT / "docs/benchmarks.md").read_text("utf-8").split())
    assert f"{share('torch')} of eager torch's, and {share('liger')} of Liger's" in text


class Counting:
    """A stopwatch that notes who was measured, and takes a millisecond more each time."""

    def __init__(self) -> None:
        self.ran: list[object] = []

    def time(self, work: timing.Work) -> float:
        self.ran.append(work())
        return float(len(self.ran))

    def peak(self, prepare: timing.Prepare) -> int | None:
        prepare()()
        return 5


def test_rivals_take_turns():
    stopwatch = Counting()
    contenders = {name: lambda name=name: lambda: name for name in "abc"}
    timings, peaks, failures = timing.compare(contenders, stopwatch, warmup=1, repetitions=3)
    assert "".join(stopwatch.ran) == "abcbcacababc"
    assert timings["a"].median == 8.0  # of 6, 8 and 10: the first round is a warm-up
    assert peaks == dict.fromkeys("abc", 5)
    assert failures == {}


def test_a_rival_that_raises_is_out():
    def broken() -> timing.Work:
        stopwatch.ran.append("broken")
        raise RuntimeError("out of memory\nwith details")

    stopwatch = Counting()
    contenders = {"good": lambda: lambda: "good", "bad": broken}
    timings, peaks, failures = timing.compare(contenders, stopwatch, warmup=2, repetitions=3)
    assert stopwatch.ran.count("broken") == 1
    assert failures == {"bad": "RuntimeError: out of memory"}
    assert timings["good"].repetitions == 3
    assert set(timings) == set(peaks) == {"good"}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_peak_memory_is_what_the_work_allocates_and_frees():
    size = 96 * 2**20
    peak = timing.CpuStopwatch().peak(lambda: lambda: torch.ones(size, dtype=torch.uint8))
    assert peak is not None
    assert 0.9 * size < peak < 1.5 * size


def right(logits, target):
    return F.cross_entropy(logits.double(), target)


def test_the_reference_is_the_loss_in_float64(monkeypatch):
    case = cases.logits_case((40, 50), torch.float32, "cpu")
    whole = cases.reference(case)
    assert whole.loss.item() == pytest.approx(right(*case.inputs, case.target).item(), rel=1e-12)
    monkeypatch.setattr(cases, "_CHUNK", 150)  # three rows
    chunked = cases.reference(case)
    torch.testing.assert_close(chunked.loss, whole.loss)
    torch.testing.assert_close(chunked.gradients, whole.gradients)
    found = cases.errors(right, case, whole)
    assert found.loss < 1e-12
    assert found.gradient < 1e-6  # rounded to float32
    assert found.label is not None
    assert found.label < 1e-6


def test_the_reference_of_a_linear_layer(monkeypatch):
    case = cases.linear_case((40, 8, 50), torch.float64, "cpu")
    monkeypatch.setattr(cases, "_CHUNK", 150)

    def loss(hidden, weight, target):
        return F.cross_entropy(hidden @ weight.T, target)

    found = cases.errors(loss, case, cases.reference(case))
    assert found.loss < 1e-12
    assert found.gradient < 1e-12
    assert found.label is None


class ReadBack(torch.autograd.Function):
    """Subtracts one from a probability that was rounded to the dtype of the logits."""

    @staticmethod
    def forward(ctx, logits, target):
        ctx.save_for_backward(logits, target)
        return F.cross_entropy(logits.float(), target)

    @staticmethod
    def backward(ctx, grad):
        logits, target = ctx.saved_tensors
        gradient = logits.float().softmax(1).to(logits.dtype)
        gradient[torch.arange(len(target)), target] -= 1
        return gradient * (grad / len(target)).to(logits.dtype), None


def test_a_wrong_gradient_shows():
    case = cases.logits_case((32, 500), torch.bfloat16, "cpu")
    reference = cases.reference(case)
    good = cases.errors(lambda x, t: F.cross_entropy(x.float(), t), case, reference).label
    bad = cases.errors(ReadBack.apply, case, reference).label
    assert good is not None
    assert bad is not None
    assert good < 2**-8  # one rounding
    assert bad > 0.1


@pytest.mark.parametrize("direction", report.PASSES)
def test_every_repetition_gets_fresh_logits(direction):
    seen = []

    def overwriting(logits, target):
        seen.append(logits.detach().clone())
        loss = right(logits, target)
        with torch.no_grad():
            logits.data.zero_()
        return loss

    case = cases.logits_case((8, 20), torch.float32, "cpu")
    prepare = case.prepare(overwriting, direction)
    for _ in range(2):
        prepare()()
    assert len(seen) == 2
    assert all(torch.equal(logits, case.inputs[0]) for logits in seen)


@pytest.mark.parametrize("table", SHAPES)
def test_the_reduced_form_runs_on_a_cpu(table, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    shape = SHAPES[table]
    rivals = ["precision-lint", "torch", "torch-float", "liger"]
    linear = ["--linear"] if table.startswith("linear") else []
    if not linear:
        rivals.insert(1, "precision-lint-inplace")
    path = tmp_path / "figures.json"
    benchmark.main(
        [
            *linear,
            *("--shapes", shape, "--dtypes", "bf16", "--rivals", ",".join(rivals)),
            *("--repetitions", "2", "--out", str(path)),
        ]
    )
    printed = capsys.readouterr().out
    document = json.loads(path.read_text("utf-8"))
    assert document["machine"]["torch"] == torch.__version__
    rows = {row["rival"]: row for row in document["rows"]}
    assert list(rows) == rivals
    # Not installed, or without the GPU that its kernels need.
    assert rows.pop("liger")["failure"] in printed
    for row in rows.values():
        assert (row["table"], row["shape"], row["dtype"]) == (table, shape, "bf16")
        assert row["failure"] is None
        assert set(row["figures"]) == set(report.PASSES)
        assert all(found["timing"]["median"] > 0 for found in row["figures"].values())
        assert row["errors"]["gradient"] < 0.01
    assert rows["precision-lint"]["errors"]["loss"] < 1e-5


def test_the_whole_form_is_the_default_with_a_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    plan, _ = benchmark.planned([])
    assert list(plan.shapes) == [(8192, 32000), (8192, 128256), (8192, 256000)]
    assert list(plan.cases())[1] == ((8192, 32000), "fp16")
    assert plan.device == "cuda"
    assert len(plan.rivals) == len({rival.name for rival in plan.rivals})
    reduced, _ = benchmark.planned(["--reduced"])
    assert max(shape[0] for shape in reduced.shapes) < 8192


@pytest.mark.parametrize(
    "arguments",
    [["--shapes", "3"], ["--shapes", "3x0"], ["--shapes", "axb"], ["--rivals", "nobody"]],
)
def test_what_cannot_be_measured_is_refused(arguments, capsys):
    with pytest.raises(SystemExit):
        benchmark.planned(arguments)
    assert "error: " in capsys.readouterr().err
