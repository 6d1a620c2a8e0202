"""What makes objects whose methods convert tensors (the tables of sinks), or that are called."""

from __future__ import annotations

from precision_lint.facts.dtypes.libraries.terms import Library, Object
from precision_lint.facts.dtypes.libraries.tracking_sinks import BOARD

_WRITER = Object("tensorboardX.SummaryWriter")

ROWS = (
    Library(
        "faiss 1.15.1",
        "faiss",
        """
        IndexFlat IndexFlatIP IndexFlatL2 IndexHNSWFlat IndexIDMap IndexIVFFlat IndexIVFPQ IndexLSH
        IndexPQ index_factory read_index
        """,
        Object("faiss.Index"),
    ),
    Library("faiss 1.15.1", "faiss", "Kmeans", Object("faiss.Kmeans")),
    Library("h5py 3.16.0", "h5py", "File", Object("h5py.Group")),
    Library("imageio 2.38.1", "imageio imageio.v2", "get_writer", Object("imageio.Writer")),
    Library("soundfile 0.14.0", "soundfile", "SoundFile", Object("soundfile.SoundFile")),
    Library("tensorboardX 2.6.5", "tensorboardX", "SummaryWriter", _WRITER),
    Library(
        "torch 2.13.0",
        "torch.utils.tensorboard torch.utils.tensorboard.writer",
        "SummaryWriter",
        Object(BOARD),
    ),
    Library(
        "torchvision 0.29.1",
        "torchvision.transforms torchvision.transforms.transforms",
        "ToPILImage",
        Object("torchvision.transforms.ToPILImage"),
    ),
    Library(
        "torchvision 0.29.1",
        "torchvision.transforms.v2",
        "ToPILImage",
        Object("torchvision.transforms.v2.ToPILImage"),
    ),
)
