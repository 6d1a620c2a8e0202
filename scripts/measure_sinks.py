"""Measure which calls of libraries take float32 tensors and raise for bfloat16 ones.

    python scripts/measure_sinks.py [LIBRARY ...]

Runs each call below with tensors of float32, float16 and bfloat16, and with arrays in their place,
and writes what happens into `tests/facts/dtypes/sinks.json`. Of the libraries in `FORMS` it runs
each function that the tables of sinks name, with the first form of arguments that converts.
Libraries that are not installed keep their rows, so that several environments can add to the file.
The tables of sinks are held to it.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
import tempfile
import warnings
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import torch
from sink_forms import FORMS, OF_FUNCTIONS

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))

from precision_lint.facts.dtypes.libraries import plot_sinks  # noqa: E402
from precision_lint.facts.dtypes.operators import sinks  # noqa: E402

FILE = ROOT / "tests/facts/dtypes/sinks.json"
DTYPES = ("float32", "float16", "bfloat16")
REFUSED = "Got unsupported ScalarType BFloat16"

PROBES: dict[str, str] = {
    "torchvision": """
        torchvision.transforms.functional.to_pil_image(m)
        torchvision.transforms.v2.functional.to_pil_image(m)
        torchvision.transforms.ToPILImage()(m)
        torchvision.transforms.v2.ToPILImage()(m)
        torchvision.transforms.functional.to_tensor(m)
        torchvision.utils.save_image(m, "a.png")
        torchvision.utils.make_grid([m, m])
        torchvision.io.write_png(m, "a.png")
        torchvision.io.write_jpeg(m, "a.jpg")
    """,
    "torchaudio": """
        torchaudio.save("a.wav", b, 16000)
    """,
    "tensorboard": """
        torch.utils.tensorboard.SummaryWriter(".").add_scalar("a", s)
        torch.utils.tensorboard.SummaryWriter(".").add_scalars("a", {"b": s})
        torch.utils.tensorboard.SummaryWriter(".").add_histogram("a", x)
        torch.utils.tensorboard.SummaryWriter(".").add_histogram("a", [s, s])
        torch.utils.tensorboard.SummaryWriter(".").add_image("a", m)
        torch.utils.tensorboard.SummaryWriter(".").add_images("a", m[None])
        torch.utils.tensorboard.SummaryWriter(".").add_image_with_boxes("a", m, p[:, :4])
        torch.utils.tensorboard.SummaryWriter(".").add_video("a", m[None, None])
        torch.utils.tensorboard.SummaryWriter(".").add_audio("a", x)
        torch.utils.tensorboard.SummaryWriter(".").add_embedding(b)
        torch.utils.tensorboard.SummaryWriter(".").add_pr_curve("a", x > 0.3, x)
        torch.utils.tensorboard.SummaryWriter(".").add_mesh("a", b[None, :, :3])
        torch.utils.tensorboard.SummaryWriter(".").add_tensor("a", x)
        torch.utils.tensorboard.SummaryWriter(".").add_hparams({"a": 1}, {"b": s})
        torch.utils.tensorboard.SummaryWriter(".").add_hparams({"a": s}, {"b": 1})
    """,
    "tensorboardX": """
        tensorboardX.SummaryWriter(".").add_scalar("a", s)
        tensorboardX.SummaryWriter(".").add_scalars("a", {"b": s})
        tensorboardX.SummaryWriter(".").add_histogram("a", x)
        tensorboardX.SummaryWriter(".").add_image("a", m)
        tensorboardX.SummaryWriter(".").add_images("a", m[None])
        tensorboardX.SummaryWriter(".").add_video("a", m[None, None])
        tensorboardX.SummaryWriter(".").add_audio("a", x)
        tensorboardX.SummaryWriter(".").add_embedding(b)
        tensorboardX.SummaryWriter(".").add_pr_curve("a", x > 0.3, x)
    """,
    "wandb": """
        wandb.Image(m)
        wandb.Image([m, m])
        wandb.Histogram(x)
        wandb.Histogram([s, s])
        wandb.Video(v, format="gif")
        wandb.Audio(x, sample_rate=16000)
        wandb.Object3D(p)
        wandb.Table(data=[[s]], columns=["a"])
        wandb.Table(data=b, columns=["a", "b", "c", "d"])
        wandb_run().log({"a": s})
        wandb_run().log({"a": x})
        wandb_run().log({"a": [s, s]})
        wandb_run().summary.update({"a": s})
        wandb_run().summary.update({"a": x})
        wandb_run().config.update({"a": s}, allow_val_change=True)
    """,
    "lightning": """
        lightning.pytorch.loggers.TensorBoardLogger(".").log_metrics({"a": s})
        lightning.pytorch.loggers.CSVLogger(".").log_metrics({"a": s})
        lightning.pytorch.loggers.TensorBoardLogger(".").experiment.add_image("a", m)
    """,
    "soundfile": """
        soundfile.write("a.wav", x, 16000)
        soundfile.SoundFile("a.wav", "w", 16000, 1).write(x)
    """,
    "imageio": """
        imageio.imwrite("a.tiff", b)
        imageio.v2.imwrite("a.tiff", b)
        imageio.v3.imwrite("a.tiff", b)
        imageio.imsave("a.tiff", b)
        imageio.v2.imsave("a.tiff", b)
        imageio.v3.imsave("a.tiff", b)
        imageio.mimwrite("a.tiff", [b, b])
        imageio.mimsave("a.tiff", [b, b])
        imageio.v2.mimwrite("a.tiff", [b, b])
        imageio.v2.mimsave("a.tiff", [b, b])
        imageio.v3.imwrite("a.tiff", [b, b])
        imageio.get_writer("a.tiff").append_data(b)
    """,
    "tifffile": """
        tifffile.imwrite("a.tiff", b)
        tifffile.imsave("a.tiff", b)
    """,
    "cv2": """
        cv2.imwrite("a.tiff", b)
        cv2.resize(b, (2, 2))
        cv2.cvtColor(m, cv2.COLOR_RGB2BGR)
        cv2.applyColorMap(b, cv2.COLORMAP_JET)
    """,
    "PIL": """
        PIL.Image.fromarray(b)
        PIL.Image.fromarray(m)
    """,
    "skimage": """
        skimage.io.imsave("a.tiff", b, check_contrast=False)
        skimage.metrics.structural_similarity(b, b, win_size=3, data_range=1.0)
        skimage.metrics.peak_signal_noise_ratio(b, b, data_range=1.0)
        skimage.metrics.mean_squared_error(b, b)
        skimage.metrics.normalized_root_mse(b, b)
        skimage.transform.resize(b, (2, 2))
        skimage.color.rgb2gray(c)
        skimage.color.rgb2lab(c)
        skimage.color.lab2rgb(c)
        skimage.filters.gaussian(b)
        skimage.filters.sobel(b)
        skimage.filters.threshold_otsu(b)
        skimage.exposure.rescale_intensity(b)
        skimage.exposure.equalize_hist(b)
        skimage.img_as_ubyte(b)
        skimage.img_as_float(b)
        skimage.util.img_as_ubyte(b)
        skimage.util.img_as_float(b)
        skimage.util.img_as_float32(b)
        skimage.img_as_float32(b)
        skimage.measure.label(b > 0.5)
        skimage.measure.find_contours(b, 0.5)
        skimage.measure.marching_cubes(m, 0.4)
    """,
    "datasets": """
        datasets.Dataset.from_dict({"a": x})
        datasets.Dataset.from_dict({"a": [x, x]})
        datasets.Dataset.from_dict({"a": [s, s]})
        datasets.Dataset.from_list([{"a": x}])
        datasets.Dataset.from_dict({"a": [1, 2, 3, 4]}).add_column("b", x)
        datasets.Dataset.from_dict({"a": [1, 2]}).map(lambda row: {"b": x})
        datasets.Dataset.from_dict({"a": [1, 2]}).add_item({"a": s})
        list(datasets.Dataset.from_generator(one_row, gen_kwargs={"row": [x]}))
    """,
    "pyarrow": """
        pyarrow.array(x)
        pyarrow.array([x, x])
        pyarrow.array([s, s])
        pyarrow.table({"a": x})
        pyarrow.scalar(s)
        pyarrow.Tensor.from_numpy(x)
    """,
    "polars": """
        polars.Series("a", x)
        polars.Series("a", [s, s])
        polars.DataFrame(b)
        polars.DataFrame({"a": x})
    """,
    "h5py": """
        h5py.File("a.h5", "w").create_dataset("a", data=x)
        h5py.File("a.h5", "w").require_dataset("a", (4,), "f4", data=x)
        h5py.File("a.h5", "w").attrs.create("a", x)
        h5py.File("a.h5", "w").__setitem__("a", x)
        h5py.File("a.h5", "w").create_dataset("a", (4,)).write_direct(x)
    """,
    "faiss": """
        faiss.IndexFlatL2(4).add(b)
        faiss.IndexFlatL2(4).search(b, 1)
        faiss.IndexIVFFlat(faiss.IndexFlatL2(4), 4, 1).train(b)
        faiss.normalize_L2(b)
        faiss.Kmeans(4, 2).train(b)
    """,
    "json": """
        json.dumps({"a": x})
        json.dumps({"a": s})
        json.dumps({"a": x.tolist()})
    """,
    "orjson": """
        orjson.dumps({"a": x})
        orjson.dumps({"a": x}, option=orjson.OPT_SERIALIZE_NUMPY)
    """,
    "accelerate": """
        tracker(["tensorboard"]).log({"a": s})
        tracker(["tensorboard"]).log({"a": x})
        tracker(["tensorboard"]).get_tracker("tensorboard").log_images({"a": m[None]})
        tracker(["wandb"]).log({"a": s})
        tracker(["wandb"]).get_tracker("wandb").log_images({"a": [m]})
    """,
    "evaluate": """
        metric().add_batch(predictions=x, references=x)
        metric().add_batch(predictions=[s, s], references=[s, s])
        metric().add(prediction=s, reference=s)
        metric().compute(predictions=x, references=x)
        metric().compute(predictions=[s, s], references=[s, s])
    """,
    "torchmetrics": """
        torchmetrics.MeanMetric()(s)
        torchmetrics.MeanSquaredError()(x, x)
        torchmetrics.Accuracy(task="binary")(x, x > 0.3)
        torchmetrics.AUROC(task="binary")(x, (x > 0.3).int())
        torchmetrics.PearsonCorrCoef()(x, x)
        torchmetrics.SpearmanCorrCoef()(x, x * 2)
        torchmetrics.R2Score()(x, x)
        torchmetrics.image.StructuralSimilarityIndexMeasure()(w[None], w[None])
        torchmetrics.image.PeakSignalNoiseRatio(data_range=1.0)(m, m)
        torchmetrics.functional.mean_squared_error(x, x)
        torchmetrics.text.Perplexity()(b[None], torch.zeros(1, 4, dtype=torch.int64))
    """,
    "seqeval": """
        seqeval.metrics.f1_score([x], [x])
    """,
    "transformers": """
        transformers.utils.to_numpy(x)
        transformers.utils.generic.to_numpy(x)
        transformers.image_utils.to_numpy_array(m)
        transformers.image_transforms.to_pil_image(m)
        transformers.trainer_pt_utils.nested_numpify({"a": x})
        transformers.WhisperFeatureExtractor()(x, sampling_rate=16000)
        transformers.CLIPImageProcessor()(images=m, do_rescale=False)
        transformers.EvalPrediction(x, x)
    """,
    "diffusers": """
        diffusers.image_processor.VaeImageProcessor.pt_to_numpy(m[None])
        diffusers.image_processor.VaeImageProcessor().postprocess(m[None])
        diffusers.image_processor.VaeImageProcessor().postprocess(m[None], output_type="np")
        diffusers.image_processor.VaeImageProcessor().postprocess(m[None], output_type="pt")
        diffusers.utils.pt_to_pil(m[None])
        diffusers.video_processor.VideoProcessor().postprocess_video(v[None])
        diffusers.utils.export_to_gif([c], "a.gif")
    """,
    "sentence_transformers": """
        sentence_transformers.util.cos_sim(b, b)
        sentence_transformers.util.pytorch_cos_sim(b, b)
        sentence_transformers.util.semantic_search(b, b)
    """,
    "kornia": """
        kornia.tensor_to_image(m)
        kornia.utils.tensor_to_image(m)
        kornia.image.tensor_to_image(m)
        kornia.io.write_image("a.png", m)
    """,
    "librosa": """
        librosa.feature.melspectrogram(y=w[0, 0], sr=16000, n_fft=8)
        librosa.amplitude_to_db(x)
        librosa.power_to_db(x)
        librosa.stft(w[0, 0], n_fft=8)
        librosa.griffinlim(b, n_iter=1)
        librosa.display.specshow(b)
    """,
    "plotly": """
        plotly.graph_objects.Scatter(y=x)
        plotly.graph_objects.Heatmap(z=b)
        plotly.graph_objects.Histogram(x=x)
        plotly.express.line(y=x)
        plotly.express.scatter(x=x, y=x)
        plotly.express.histogram(x=x)
        plotly.express.bar(x=x)
        plotly.express.imshow(b)
        plotly.express.line({"a": x})
        plotly.express.area(y=x)
        plotly.express.box(y=x)
        plotly.express.violin(y=x)
        plotly.graph_objects.Bar(y=x)
        plotly.graph_objects.Box(y=x)
        plotly.graph_objects.Contour(z=b)
        plotly.graph_objects.Scatter3d(x=x, y=x, z=x)
        plotly.graph_objects.Surface(z=b)
        plotly.graph_objects.Violin(y=x)
        plotly.graph_objects.Image(z=m)
    """,
    "nibabel": """
        nibabel.Nifti1Image(m, np.eye(4))
    """,
    "mediapy": """
        mediapy.write_image("a.png", b)
        mediapy.show_image(b)
        mediapy.to_uint8(b)
        mediapy.resize_image(b, (2, 2))
    """,
    "trimesh": """
        trimesh.Trimesh(vertices=p[:, :3], faces=[[0, 1, 2]])
        trimesh.PointCloud(p[:, :3])
    """,
    "networkx": """
        networkx.from_numpy_array(b)
    """,
    "scipy": """
        scipy.io.wavfile.write("a.wav", 16000, x)
        scipy.io.savemat("a.mat", {"a": x})
        scipy.sparse.csr_matrix(b)
        scipy.sparse.csc_matrix(b)
        scipy.sparse.csr_array(b)
        scipy.sparse.coo_matrix(b)
        scipy.special.softmax(b)
        scipy.spatial.distance.cdist(b, b)
    """,
    "pandas": """
        pandas.DataFrame({"a": x})
        pandas.DataFrame({"a": [1, 2, 3, 4]}).__setitem__("a", x)
        pandas.DataFrame({"a": [1, 2, 3, 4]}).insert(0, "b", x)
        pandas.DataFrame({"a": [1, 2, 3, 4]}).assign(b=x)
        pandas.DataFrame.from_dict({"a": x})
        pandas.DataFrame.from_records(b)
        pandas.Series(x)
        pandas.Index(x)
        pandas.crosstab(x, y)
        pandas.get_dummies(x)
        pandas.cut(x, 2)
        pandas.qcut(x, 2)
        pandas.to_numeric(x)
    """,
    "sklearn": """
        sklearn.linear_model.LogisticRegression().fit(b, l)
        sklearn.linear_model.LogisticRegression().fit(h, l).decision_function(b)
        sklearn.linear_model.LogisticRegression().fit(h, l).predict(b)
        sklearn.linear_model.LogisticRegression().fit(h, l).predict_log_proba(b)
        sklearn.linear_model.LogisticRegression().fit(h, l).predict_proba(b)
        sklearn.linear_model.LogisticRegression().fit(h, l).score(b, l)
        sklearn.linear_model.SGDRegressor().partial_fit(b, l)
        sklearn.cluster.KMeans(2).fit_predict(b)
        sklearn.decomposition.PCA(2).fit_transform(b)
        sklearn.decomposition.PCA(4).fit(h).transform(b)
        sklearn.decomposition.PCA(4).fit(h).inverse_transform(b)
        sklearn.decomposition.PCA(2).fit(h).score_samples(b)
        sklearn.neighbors.NearestNeighbors().fit(h).kneighbors(b, 2)
    """,
    "matplotlib": """
        matplotlib.pyplot.figure().add_subplot(projection="3d").plot_surface(b, b, b)
        matplotlib.pyplot.figure().add_subplot(projection="3d").plot_wireframe(b, b, b)
    """,
    "torch": """
        torch.Tensor.numpy(x)
        torch.Tensor.__array__(x)
    """,
    "numpy": """
        numpy.zeros(4).__setitem__(0, s)
        numpy.zeros((2, 4)).__setitem__(0, x)
        numpy.zeros((2, 4)).__setitem__(0, [s, s, s, s])
        numpy.zeros(4).__iadd__(x)
        numpy.zeros(4).__add__(x)
        numpy.zeros(4).__mul__(s)
        numpy.zeros(4).fill(s)
        numpy.zeros(4).dot(x)
        numpy.zeros(4).put([0], s)
        numpy.add.at(numpy.zeros(4), [0], s)
        numpy.maximum.reduce([x, x])
        numpy.asarray(x)
        numpy.memmap("a.dat", "f4", "w+", shape=(4,)).__setitem__(slice(None), x)
    """,
}


def wandb_run() -> Any:
    import wandb

    return wandb.init(mode="offline", dir=".", reinit="return_previous")


def one_row(row: list[Any]) -> Any:
    yield {"a": row[0]}


def tracker(names: list[str]) -> Any:
    import accelerate
    from accelerate.state import AcceleratorState

    AcceleratorState._reset_state(True)
    os.environ["WANDB_MODE"] = "offline"
    accelerator = accelerate.Accelerator(cpu=True, log_with=names, project_dir=".")
    accelerator.init_trackers("a")
    return accelerator


def metric() -> Any:
    import datasets
    import evaluate

    class Difference(evaluate.Metric):  # type: ignore[misc]
        def _info(self) -> Any:
            numbers = datasets.Features(
                {"predictions": datasets.Value("float32"), "references": datasets.Value("float32")}
            )
            return evaluate.MetricInfo("", "", features=numbers)

        def _compute(self, predictions: Any, references: Any) -> Any:
            return {"difference": float(predictions[0]) - float(references[0])}

    return Difference(cache_dir=tempfile.mkdtemp())


def operands(dtype: str) -> dict[str, Any]:
    """The tensors of the expressions, or for "array" arrays."""
    made = {
        "x": torch.tensor([0.2, 0.4, 0.8, 0.1]),
        "s": torch.tensor(0.5),
        "b": torch.arange(16).reshape(4, 4) / 16,
        "m": torch.arange(192).reshape(3, 8, 8) / 192,
        "c": torch.arange(192).reshape(8, 8, 3) / 192,
        "p": torch.arange(24).reshape(4, 6) / 24,
        "v": torch.arange(384).reshape(2, 3, 8, 8) / 384,
        "w": torch.arange(768).reshape(3, 16, 16) / 768,
        "y": torch.tensor([0.5, 0.3, 0.9, 0.7]),
        "o": torch.tensor([0.0, 1.0, 1.0, 0.0]),
        "n": torch.tensor([1.0, 2.0, 4.0, 3.0]),
        "t": torch.arange(24) * 7 % 24 / 32,
        "g": torch.arange(24) / 32,
        "q": torch.tensor([[2.0, 1.0], [1.0, 3.0]]),
    }
    always = {"a": made["y"].numpy(), "h": made["b"].numpy(), "l": [0, 1, 1, 0]}
    if dtype == "array":
        return {name: one.numpy() for name, one in made.items()} | always
    return {name: one.to(getattr(torch, dtype)) for name, one in made.items()} | always


def outcome(expression: str, scope: dict[str, Any]) -> tuple[str, Any]:
    """ "works" or the error, and the types in the result."""
    quiet = io.StringIO()
    if "matplotlib" in sys.modules:
        import_module("matplotlib.pyplot").close("all")
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(quiet),
            contextlib.redirect_stderr(quiet),
        ):
            warnings.simplefilter("ignore")
            result = eval(expression, {**globals(), **scope})
    except Exception as error:
        if REFUSED in str(error):
            return f"{type(error).__name__}: {REFUSED}", ""
        text = str(error).strip().splitlines()
        return f"{type(error).__name__}: {text[0] if text else ''}"[:160], ""
    return "works", types_in(result)


def types_in(result: Any) -> Any:
    """The types in a result, with the dtypes of arrays and tensors."""
    if isinstance(result, tuple | list):
        return [types_in(item) for item in result]
    dtype = getattr(result, "dtype", "")
    return f"{type(result).__name__} {dtype}".strip()


def measure(library: str) -> list[dict[str, str]]:
    distributions = metadata.packages_distributions().get(library)
    version = (
        f"{distributions[0]} {metadata.version(distributions[0])}"
        if distributions
        else f"Python {sys.version_info.major}.{sys.version_info.minor}"
    )
    given = (line.strip() for line in PROBES.get(library, "").splitlines())
    rows = [row_of(expression) for expression in given if expression]
    rows += [row for name in listed(library) if (row := converting(name)) is not None]
    return [{**row, "measured": version} for row in rows]


def listed(library: str) -> list[str]:
    """The functions that the tables of sinks name; of axes the methods."""
    if library not in FORMS:
        return []
    names = [name for name in sinks.FUNCTIONS if name.startswith(f"{library}.")]
    if library == "matplotlib":
        axes = import_module("matplotlib.axes").Axes
        methods = [method for method in plot_sinks.METHODS if hasattr(axes, method)]
        names += [f"matplotlib.pyplot.gca().{method}" for method in methods]
    return sorted(names)


def converting(name: str) -> dict[str, str] | None:
    """The row of a call that converts; of several one that makes a difference for arrays."""
    last = name.replace("matplotlib.pyplot.gca()", "matplotlib.pyplot")
    forms = OF_FUNCTIONS.get(last, FORMS[name.partition(".")[0]])
    rows = [row_of(f"{name}({form})") for form in forms]
    found = [row for row in rows if row["float32"] == "works" and REFUSED in row["bfloat16"]]
    found.sort(key=lambda row: row["array"] == "same")
    if not found:
        print(f"{name}: no form of arguments converts", file=sys.stderr)
    return found[0] if found else None


def row_of(expression: str) -> dict[str, str]:
    row = {"call": expression}
    for dtype in DTYPES:
        row[dtype], types = outcome(expression, {**modules(expression), **operands(dtype)})
        if dtype == "float32":
            of_tensor = types
    error, types = outcome(expression, {**modules(expression), **operands("array")})
    row["array"] = error if error != "works" else ("same" if types == of_tensor else str(types))
    return row


def modules(expression: str) -> dict[str, Any]:
    """The packages that an expression names, with the modules inside imported."""
    found: dict[str, Any] = {}
    for path in re.findall(r"(?<![\w.)\"])[a-zA-Z]\w+(?:\.\w+)+", expression):
        root = path.partition(".")[0]
        if root in globals() and root != "torch":
            continue
        with contextlib.suppress(ImportError):
            found[root] = import_module(root)
            parts = path.split(".")
            for end in range(2, len(parts) + 1):
                import_module(".".join(parts[:end]))
    return found


def main() -> None:
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    for library in sys.argv[1:] or {**PROBES, **FORMS}:
        try:
            import_module(library)
        except Exception as error:
            print(f"{library}: {error}"[:200], file=sys.stderr)
            continue
        known[library] = measure(library)
        FILE.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
