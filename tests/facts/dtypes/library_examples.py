"""Calls of libraries: what they give was recorded, and the dtype flow is held to it.

`x` is a tensor of a floating dtype, `i` an image and `m` a module of that dtype, `a` an array of
float32, `h` the bytes of a picture. Of an example with statements, `r` is what counts. What else an
example names is in `scripts/measure_libraries.py`, which runs them, and unknown to the flow.
"""

from __future__ import annotations

SETUP = """
import numpy as np
import torch
def wide(t):
    return t.double()
x = torch.ones(4, 4, dtype=torch.{dtype})
i = torch.ones(3, 4, 4, dtype=torch.{dtype})
m = torch.nn.Linear(4, 4).to(torch.{dtype})
n = torch.nn.Sequential(m)
a = np.ones(4, dtype=np.float32)
h = np.ones((4, 4, 3), dtype=np.uint8)
b = torch.ones(3, 4, 4, dtype=torch.uint8)
loader = torch.utils.data.DataLoader([x])
"""

EXAMPLES: dict[str, str] = {
    "python": """
        copy.deepcopy([x])
        typing.cast(object, x)
        itertools.chain([x], (x, x))
        itertools.chain.from_iterable([[x], [x]])
        itertools.islice([x, x], 1)
        itertools.compress([x, x], [1, 0])
        itertools.takewhile(bool, x.flatten())
        itertools.repeat(x, 2)
        itertools.tee([x])
        itertools.product([x], [1])
        itertools.zip_longest([x], [1])
        itertools.pairwise([x, x])
        itertools.combinations([x, x], 2)
        collections.deque([x])
        heapq.nlargest(1, [x.sum()])
        random.choice([x])
        random.sample([x], 1)
        typing.assert_type(x, object)
        typing.reveal_type(x)
        with contextlib.nullcontext(x) as r: pass
        itertools.islice(itertools.cycle([x]), 2)
        [list(group) for _, group in itertools.groupby([x], id)]
    """,
    "tqdm": """
        tqdm.tqdm([x], disable=True)
        tqdm.contrib.tzip([x], [x], disable=True)
        tqdm.notebook.tqdm_notebook([x], disable=True)
    """,
    "rich": """
        rich.progress.track([x], disable=True)
    """,
    "torch": """
        torch.compile(m)
        torch.jit.script(m)
        torch.fx.symbolic_trace(m)
        torch.nn.utils.parametrizations.weight_norm(m)
        torch.nn.utils.parametrizations.spectral_norm(m.float())
        torch.nn.SyncBatchNorm.convert_sync_batchnorm(m)
        torch.optim.swa_utils.AveragedModel(m)
        torch.nn.utils.parameters_to_vector([x, x])
        torch.nn.utils.get_total_norm([x, x])
        torch.nn.utils.rnn.pad_sequence([x, x])
        torch.nn.utils.rnn.unpad_sequence(x, torch.tensor([4, 3, 2, 1]))
        torch.nn.utils.rnn.pack_padded_sequence(x, [4, 3, 2, 1])
        torch.nn.utils.rnn.pack_sequence([x, x])
        torch.nn.utils.rnn.pad_packed_sequence(torch.nn.utils.rnn.pack_sequence([x, x]))
        torch.nn.utils.rnn.unpack_sequence(torch.nn.utils.rnn.pack_sequence([x, x]))
        torch.utils.data.default_collate([(x, 1, 2.0, {"a": x}, [x, x])] * 2)
        torch.utils.data.DataLoader([(x, 1)])
        torch.utils.data.TensorDataset(x, x.int())
        torch.utils.data.ConcatDataset([[x], [x]])
        torch.utils.data.Subset([x, x], [0])
        torch.utils.data.random_split([x, x], [1, 1])
        d = torch.distributions.Normal(x, x); r = d.sample()
        d = torch.distributions.Normal(loc=x, scale=x); r = d.rsample()
        d = torch.distributions.Normal(x, 1.0); r = d.mean
        d = torch.distributions.Normal(x, x.float()); r = d.sample()
        d = torch.distributions.LogNormal(x, x); r = d.log_prob(x)
        d = torch.distributions.HalfNormal(x); r = d.sample((2,))
        d = torch.distributions.Laplace(x, x); r = d.entropy()
        d = torch.distributions.Uniform(x, x + 1); r = d.stddev
        d = torch.distributions.Exponential(x); r = d.sample()
        d = torch.distributions.Cauchy(x, x); r = d.sample()
        d = torch.distributions.Gumbel(x, x); r = d.mode
        d = torch.distributions.Independent(torch.distributions.Normal(x, x), 1); r = d.sample()
        torch.from_numpy(a)
        torch.nn.parallel.DataParallel(m)
        torch.distributed.nn.functional.all_gather(x)
        torch.distributed.nn.functional.all_reduce(x)
        torch.nn.parallel.DistributedDataParallel(m)
        torch.jit.trace(m, x)
        torch.jit.freeze(torch.jit.script(m.eval()), ["weight", "bias"])
        torch.utils.data.StackDataset(x, x)
        torch.distributed.nn.functional.broadcast(x, 0)
        torch.nn.DataParallel(m)
        torch.vmap(m)(x)
        torch.func.vmap(m)(x)
        torch.nn.utils.parametrizations.orthogonal(m.float())
        torch.nn.utils.remove_weight_norm(torch.nn.utils.weight_norm(m))
        torch.nn.utils.remove_spectral_norm(torch.nn.utils.spectral_norm(m.float()))
        torch.utils.checkpoint.checkpoint(m, x, use_reentrant=False)
        torch.utils._pytree.tree_map(wide, [x])[0]
        torch.utils._pytree.tree_map_(wide, [x])
        torch.load(saved(x))
        torch.hub.load_state_dict_from_url(address(x), model_dir=".")
        torch.distributed.fsdp.FullyShardedDataParallel(m, device_id=torch.device("cpu"))
        torch.distributed.fsdp.fully_shard(m)
        r = [None]; torch.distributed.all_gather_object(r, x)
        r = [None]; torch.distributed.gather_object(x, r)
        torch.distributed.all_gather([x], x)
        torch.distributed.all_gather_into_tensor(x, x)
        torch.distributed.all_reduce(x)
        torch.distributed.broadcast(x, 0)
        torch.distributed.broadcast_object_list([x], 0)
        torch.distributed.gather(x, [x])
        torch.distributed.reduce(x, 0)
        torch.distributed.reduce_scatter(x, [x])
        torch.distributed.reduce_scatter_tensor(x, x)
        torch.distributed.scatter(x, [x])
        torch.distributed.barrier()
    """,
    "accelerate": """
        accelerate.Accelerator(cpu=True).prepare(m)
        accelerate.Accelerator(cpu=True).prepare_model(m)
        accelerate.Accelerator(cpu=True, mixed_precision="no").prepare(m)(x)
        accelerate.Accelerator(cpu=True, mixed_precision="bf16").prepare(m)(x)
        accelerate.Accelerator(cpu=True, mixed_precision="bf16").prepare_model(m)(x)
        accelerate.Accelerator(cpu=True).unwrap_model(m)
        accelerate.Accelerator(cpu=True).gather((x, {"a": x}))
        accelerate.Accelerator(cpu=True).gather_for_metrics((x, x))
        accelerate.Accelerator(cpu=True).pad_across_processes(x, dim=1)
        accelerate.Accelerator(cpu=True).reduce(x, "mean")
        accelerate.utils.gather([x])
        accelerate.utils.send_to_device({"a": x}, "cpu")
        accelerate.utils.slice_tensors(x, slice(0, 1))
        accelerate.utils.concatenate([x, x])
        accelerate.utils.convert_to_fp32([x, {"a": x}, 1])
        accelerate.utils.extract_model_from_parallel(m)
        accelerate.Accelerator(cpu=True).prepare_data_loader(torch.utils.data.DataLoader([x]))
        accelerate.skip_first_batches(torch.utils.data.DataLoader([x, x]), 1)
        accelerate.utils.broadcast(x)
        accelerate.utils.reduce(x, "mean")
        accelerate.cpu_offload(m, execution_device="cpu")
        accelerate.Accelerator(cpu=True).prepare_optimizer(optimizer(m))
        accelerate.Accelerator(cpu=True).prepare_scheduler(scheduler(m))
        accelerate.utils.recursively_apply(wide, [x])[0]
    """,
    "lightning": """
        lightning.fabric.Fabric(accelerator="cpu", precision="64-true").setup(m.double())
        lightning.fabric.Fabric(accelerator="cpu").all_gather(x)
        lightning.fabric.Fabric(accelerator="cpu").to_device(x)
        lightning.fabric.utilities.move_data_to_device([x], "cpu")
        lightning.fabric.Fabric(accelerator="cpu").broadcast(x)
        lightning.fabric.Fabric(accelerator="cpu").all_reduce(x)
        lightning.fabric.Fabric(accelerator="cpu").setup_dataloaders(loader)
        lightning.fabric.Fabric(accelerator="cpu").setup_module(m)
        lightning.fabric.Fabric(accelerator="cpu", precision="bf16-true").setup_module(m)
        lightning.fabric.Fabric(accelerator="cpu", precision="16-true").setup_module(m)
        lightning.fabric.Fabric(accelerator="cpu", precision="32-true").setup_module(m)
        lightning.fabric.Fabric(accelerator="cpu", precision="64-true").setup_module(m)
        lightning.fabric.Fabric(accelerator="cpu", precision="bf16-mixed").setup_module(m)
        lightning.fabric.Fabric(accelerator="cpu", precision="bf16-true").setup(m)(x)
        lightning.fabric.Fabric(accelerator="cpu", precision="16-true").setup(m)(x)
        lightning.fabric.Fabric(accelerator="cpu", precision="bf16-mixed").setup(m)(x)
        lightning.fabric.Fabric(accelerator="cpu", precision="16-mixed").setup(m)(x)
        lightning.fabric.Fabric(accelerator="cpu", precision="32-true").setup(m)(x)
    """,
    "einops": """
        einops.rearrange([x, x], "c a b -> a b c")
        einops.repeat(x, "a b -> c a b", c=2)
        einops.reduce(x, "a b -> a", "mean")
        einops.einsum(x, x, "a b, b c -> a c")
        einops.pack([x, x], "a *")
        einops.unpack(x, [[2], [2]], "a *")
        einops.layers.torch.Rearrange("a b -> b a")(x)
        einops.layers.torch.Reduce("a b -> b", "max")(x)
    """,
    "deepspeed": """
        deepspeed.initialize(model=m, config={"train_batch_size": 1})[0]
        deepspeed.initialize(model=m, config={"train_batch_size": 1})[0](x)
    """,
    "torchvision": """
        torchvision.transforms.Compose([torchvision.transforms.Resize(2)])(i)
        torchvision.transforms.functional.resize(i, [2])
        torchvision.transforms.functional.normalize(i, [0.5] * 3, [0.5] * 3)
        torchvision.transforms.functional.gaussian_blur(i, [3, 3])
        torchvision.transforms.functional.five_crop(i, [2, 2])
        torchvision.transforms.functional.convert_image_dtype(i)
        torchvision.transforms.functional.adjust_sharpness(i, 1.0)
        torchvision.transforms.functional.affine(i, 1.0, [0, 0], 1.0, [0.0])
        torchvision.utils.make_grid([i, i])
        torchvision.ops.box_convert(x, "xyxy", "xywh")
        torchvision.models.resnet18()
        torchvision.transforms.CenterCrop(2)(i)
        torchvision.transforms.ColorJitter(0.5)(i)
        torchvision.transforms.GaussianBlur(3)(i)
        torchvision.transforms.Grayscale()(i)
        torchvision.transforms.Normalize([0.5], [0.5])(i)
        torchvision.transforms.Pad(1)(i)
        torchvision.transforms.RandomAffine(5)(i)
        torchvision.transforms.RandomCrop(2)(i)
        torchvision.transforms.RandomErasing(1.0)(i)
        torchvision.transforms.RandomGrayscale(1.0)(i)
        torchvision.transforms.RandomHorizontalFlip(1.0)(i)
        torchvision.transforms.RandomPerspective(p=1.0)(i)
        torchvision.transforms.RandomResizedCrop(2)(i)
        torchvision.transforms.RandomRotation(5)(i)
        torchvision.transforms.RandomVerticalFlip(1.0)(i)
        torchvision.transforms.Resize(2)(i)
        torchvision.transforms.v2.CenterCrop(2)(i)
        torchvision.transforms.v2.ColorJitter(0.5)(i)
        torchvision.transforms.v2.GaussianBlur(3)(i)
        torchvision.transforms.v2.Grayscale()(i)
        torchvision.transforms.v2.Normalize([0.5], [0.5])(i)
        torchvision.transforms.v2.Pad(1)(i)
        torchvision.transforms.v2.RandomAffine(5)(i)
        torchvision.transforms.v2.RandomCrop(2)(i)
        torchvision.transforms.v2.RandomErasing(1.0)(i)
        torchvision.transforms.v2.RandomGrayscale(1.0)(i)
        torchvision.transforms.v2.RandomHorizontalFlip(1.0)(i)
        torchvision.transforms.v2.RandomPerspective(p=1.0)(i)
        torchvision.transforms.v2.RandomResizedCrop(2)(i)
        torchvision.transforms.v2.RandomRotation(5)(i)
        torchvision.transforms.v2.RandomVerticalFlip(1.0)(i)
        torchvision.transforms.v2.Resize(2)(i)
        torchvision.transforms.functional.adjust_brightness(i, 1.5)
        torchvision.transforms.functional.adjust_contrast(i, 1.5)
        torchvision.transforms.functional.adjust_gamma(i, 1.5)
        torchvision.transforms.functional.adjust_hue(i, 0.1)
        torchvision.transforms.functional.adjust_saturation(i, 1.5)
        torchvision.transforms.functional.autocontrast(i)
        torchvision.transforms.functional.center_crop(i, [2])
        torchvision.transforms.functional.crop(i, 0, 0, 2, 2)
        torchvision.transforms.functional.erase(i, 0, 0, 2, 2, i[:, :2, :2])
        torchvision.transforms.functional.hflip(i)
        torchvision.transforms.functional.invert(i)
        torchvision.transforms.functional.pad(i, [1])
        torchvision.transforms.functional.perspective(i, corners, corners)
        torchvision.transforms.functional.resized_crop(i, 0, 0, 2, 2, [2])
        torchvision.transforms.functional.rgb_to_grayscale(i)
        torchvision.transforms.functional.rotate(i, 5)
        torchvision.transforms.functional.solarize(i, 0.5)
        torchvision.transforms.functional.vflip(i)
        torchvision.transforms.functional.ten_crop(i, [2])
        torchvision.transforms.v2.ToImage()(h)
        torchvision.transforms.v2.ToPureTensor()(i)
        torchvision.transforms.v2.ToTensor()(h)
        torchvision.transforms.ToTensor()(h)
        torchvision.transforms.ToTensor()(h / 2)
        torchvision.transforms.ToTensor()(picture())
        torchvision.transforms.PILToTensor()(picture())
        torchvision.transforms.Compose([torchvision.transforms.ToTensor()])(picture())
        torchvision.transforms.Compose([torchvision.transforms.PILToTensor()])(picture())
        torchvision.transforms.functional.to_tensor(picture())
        torchvision.transforms.functional.pil_to_tensor(picture())
        torchvision.transforms.v2.functional.to_dtype(i)
        torchvision.transforms.v2.functional.to_dtype(i, torch.float64)
        torchvision.io.decode_image(torchvision.io.encode_png(b))
        torchvision.io.read_image(picture_file())
        torchvision.ops.nms(x, x[0], 0.5)
        torchvision.ops.batched_nms(x, x[0], torch.arange(4), 0.5)
        torchvision.ops.clip_boxes_to_image(x, (4, 4))
        torchvision.ops.box_area(x)
        torchvision.ops.box_iou(x, x)
        torchvision.ops.box_area(x.long())
        torchvision.ops.box_iou(x.long(), x.long())
        torchvision.ops.generalized_box_iou(x, x)
        torchvision.models.get_model("resnet18")
        torchvision.models.get_model("resnet18").eval()(i[None].float())
    """,
    "timm": """
        timm.create_model("resnet18")
    """,
    "kornia": """
        kornia.filters.gaussian_blur2d(i[None], (3, 3), (1.0, 1.0))
        kornia.geometry.transform.resize(i[None], (2, 2))
        kornia.color.rgb_to_lab(i[None])
        kornia.enhance.normalize(i[None], torch.ones(3).to(x), torch.ones(3).to(x))
        kornia.enhance.denormalize(i[None], torch.ones(3).to(x), torch.ones(3).to(x))
        kornia.tensor_to_image(i)
        kornia.filters.sobel(i[None])
        kornia.geometry.transform.hflip(i[None])
        kornia.color.rgb_to_grayscale(i[None])
        kornia.color.rgb_to_hsv(i[None])
        kornia.color.rgb_to_ycbcr(i[None])
    """,
    "diffusers": """
        diffusers.image_processor.VaeImageProcessor().postprocess(i[None], output_type="pt")
        diffusers.utils.torch_utils.randn_tensor((2,), dtype=x.dtype)
        diffusers.image_processor.VaeImageProcessor().postprocess(i[None], output_type="np")
        diffusers.UNet2DModel.from_pretrained(network(x.dtype))
        diffusers.UNet2DModel.from_pretrained(network(x.dtype), torch_dtype=torch.float16)
        diffusers.DDPMPipeline.from_pretrained(pipeline(x.dtype)).unet
        diffusers.DDPMPipeline.from_pretrained(pipeline(x.dtype), torch_dtype=torch.float16).unet
    """,
    "transformers": """
        transformers.utils.logging.tqdm([x], disable=True)
    """,
    "safetensors": """
        safetensors.torch.load(safetensors.torch.save({"a": x}))
        safetensors.torch.load_file(stored(x))
        safetensors.safe_open(stored(x), "pt").get_tensor("a")
        safetensors.safe_open(stored(x), "pt").get_slice("a")[:]
    """,
    "lightning_utilities": """
        lightning_utilities.core.apply_func.apply_to_collection([x], torch.Tensor, wide)[0]
    """,
    "librosa": """
        librosa.load(sound(x))
    """,
    "soundfile": """
        soundfile.read(sound(x))
    """,
    "peft": """
        peft.get_peft_model(n, lora())(x)
        peft.PeftModel.from_pretrained(n, adapter())(x)
        peft.get_peft_model(n, lora()).get_base_model()(x)
        peft.get_peft_model(n, lora()).merge_and_unload()
    """,
    "sentence_transformers": """
        sentence_transformers.SentenceTransformer(modules=parts(x)).encode(["a"])
        sentence_transformers.SentenceTransformer(modules=parts(x)).encode("a", convert_to_tensor=True)
        sentence_transformers.SentenceTransformer(modules=parts(x)).encode("a", convert_to_numpy=False)
        sentence_transformers.SentenceTransformer(modules=parts(x)).encode(["a"], convert_to_numpy=False)
    """,  # noqa: E501
}  # fmt: skip
