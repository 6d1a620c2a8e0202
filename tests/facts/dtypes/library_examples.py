"""Calls of libraries, by the name of their row: what they give is compared with what is run.

`x` is a tensor of a floating dtype, `i` an image and `m` a module of that dtype, `a` an array of
float32.
"""

EXAMPLES = {
    "copy.deepcopy": "copy.deepcopy([x])",
    "typing.cast": "typing.cast(object, x)",
    "itertools.chain": "itertools.chain([x], (x, x))",
    "itertools.chain.from_iterable": "itertools.chain.from_iterable([[x], [x]])",
    "itertools.islice": "itertools.islice([x, x], 1)",
    "itertools.compress": "itertools.compress([x, x], [1, 0])",
    "itertools.takewhile": "itertools.takewhile(bool, x.flatten())",
    "itertools.repeat": "itertools.repeat(x, 2)",
    "itertools.tee": "itertools.tee([x])",
    "itertools.product": "itertools.product([x], [1])",
    "itertools.zip_longest": "itertools.zip_longest([x], [1])",
    "itertools.pairwise": "itertools.pairwise([x, x])",
    "itertools.combinations": "itertools.combinations([x, x], 2)",
    "collections.deque": "collections.deque([x])",
    "heapq.nlargest": "heapq.nlargest(1, [x.sum()])",
    "random.choice": "random.choice([x])",
    "random.sample": "random.sample([x], 1)",
    "tqdm.tqdm": "tqdm.tqdm([x], disable=True)",
    "tqdm.contrib.tzip": "tqdm.contrib.tzip([x], [x], disable=True)",
    "rich.progress.track": "rich.progress.track([x], disable=True)",
    "torch.compile": "torch.compile(m)",
    "torch.jit.script": "torch.jit.script(m)",
    "torch.fx.symbolic_trace": "torch.fx.symbolic_trace(m)",
    "torch.nn.utils.weight_norm": "torch.nn.utils.parametrizations.weight_norm(m)",
    "torch.nn.utils.spectral_norm": "torch.nn.utils.parametrizations.spectral_norm(m.float())",
    "torch.nn.SyncBatchNorm.convert_sync_batchnorm":
        "torch.nn.SyncBatchNorm.convert_sync_batchnorm(m)",
    "torch.optim.swa_utils.AveragedModel": "torch.optim.swa_utils.AveragedModel(m)",
    "torch.nn.utils.parameters_to_vector": "torch.nn.utils.parameters_to_vector([x, x])",
    "torch.nn.utils.get_total_norm": "torch.nn.utils.get_total_norm([x, x])",
    "torch.nn.utils.rnn.pad_sequence": "torch.nn.utils.rnn.pad_sequence([x, x])",
    "torch.nn.utils.rnn.unpad_sequence":
        "torch.nn.utils.rnn.unpad_sequence(x, torch.tensor([4, 3, 2, 1]))",
    "torch.nn.utils.rnn.pack_padded_sequence":
        "torch.nn.utils.rnn.pack_padded_sequence(x, [4, 3, 2, 1])",
    "torch.nn.utils.rnn.pack_sequence": "torch.nn.utils.rnn.pack_sequence([x, x])",
    "torch.nn.utils.rnn.pad_packed_sequence":
        "torch.nn.utils.rnn.pad_packed_sequence(torch.nn.utils.rnn.pack_sequence([x, x]))",
    "torch.nn.utils.rnn.unpack_sequence":
        "torch.nn.utils.rnn.unpack_sequence(torch.nn.utils.rnn.pack_sequence([x, x]))",
    "torch.utils.data.default_collate":
        "torch.utils.data.default_collate([(x, 1, 2.0, {'a': x}, [x, x])] * 2)",
    "torch.utils.data.DataLoader": "torch.utils.data.DataLoader([(x, 1)])",
    "torch.utils.data.TensorDataset": "torch.utils.data.TensorDataset(x, x.int())",
    "torch.utils.data.ConcatDataset": "torch.utils.data.ConcatDataset([[x], [x]])",
    "torch.utils.data.Subset": "torch.utils.data.Subset([x, x], [0])",
    "torch.utils.data.random_split": "torch.utils.data.random_split([x, x], [1, 1])",
    "torch.from_numpy": "torch.from_numpy(a)",
    "torch.nn.parallel.DataParallel": "torch.nn.parallel.DataParallel(m)",
    "torch.distributed.nn.functional.all_gather": "torch.distributed.nn.functional.all_gather(x)",
    "torch.distributed.nn.functional.all_reduce": "torch.distributed.nn.functional.all_reduce(x)",
    "torch.nn.parallel.DistributedDataParallel": "torch.nn.parallel.DistributedDataParallel(m)",
    "accelerate.Accelerator.prepare": "accelerate.Accelerator(cpu=True).prepare(m)",
    "accelerate.Accelerator.prepare_model": "accelerate.Accelerator(cpu=True).prepare_model(m)",
    "accelerate.Accelerator.unwrap_model": "accelerate.Accelerator(cpu=True).unwrap_model(m)",
    "accelerate.Accelerator.gather": "accelerate.Accelerator(cpu=True).gather((x, {'a': x}))",
    "accelerate.Accelerator.gather_for_metrics":
        "accelerate.Accelerator(cpu=True).gather_for_metrics((x, x))",
    "accelerate.Accelerator.pad_across_processes":
        "accelerate.Accelerator(cpu=True).pad_across_processes(x, dim=1)",
    "accelerate.Accelerator.reduce": "accelerate.Accelerator(cpu=True).reduce(x, 'mean')",
    "accelerate.utils.gather": "accelerate.utils.gather([x])",
    "accelerate.utils.send_to_device": "accelerate.utils.send_to_device({'a': x}, 'cpu')",
    "accelerate.utils.slice_tensors": "accelerate.utils.slice_tensors(x, slice(0, 1))",
    "accelerate.utils.concatenate": "accelerate.utils.concatenate([x, x])",
    "accelerate.utils.convert_to_fp32": "accelerate.utils.convert_to_fp32([x, {'a': x}, 1])",
    "accelerate.utils.extract_model_from_parallel":
        "accelerate.utils.extract_model_from_parallel(m)",
    "lightning.fabric.Fabric.setup":
        "lightning.fabric.Fabric(accelerator='cpu', precision='64-true').setup(m.double())",
    "lightning.fabric.Fabric.all_gather":
        "lightning.fabric.Fabric(accelerator='cpu').all_gather(x)",
    "lightning.fabric.Fabric.to_device": "lightning.fabric.Fabric(accelerator='cpu').to_device(x)",
    "lightning.fabric.utilities.move_data_to_device":
        "lightning.fabric.utilities.move_data_to_device([x], 'cpu')",
    "einops.rearrange": "einops.rearrange([x, x], 'c a b -> a b c')",
    "einops.repeat": "einops.repeat(x, 'a b -> c a b', c=2)",
    "einops.reduce": "einops.reduce(x, 'a b -> a', 'mean')",
    "einops.einsum": "einops.einsum(x, x, 'a b, b c -> a c')",
    "einops.pack": "einops.pack([x, x], 'a *')",
    "einops.unpack": "einops.unpack(x, [[2], [2]], 'a *')",
    "einops.layers.torch.Reduce.forward": "einops.layers.torch.Rearrange('a b -> b a')(x)",
    "einops.layers.torch.Reduce.__call__": "einops.layers.torch.Reduce('a b -> b', 'max')(x)",
    "torch.jit.trace": "torch.jit.trace(m, x)",
    "torch.jit.freeze": "torch.jit.freeze(torch.jit.script(m.eval()), ['weight', 'bias'])",
    "torch.utils.data.StackDataset": "torch.utils.data.StackDataset(x, x)",
    "accelerate.Accelerator.prepare_data_loader":
        "accelerate.Accelerator(cpu=True).prepare_data_loader(torch.utils.data.DataLoader([x]))",
    "accelerate.skip_first_batches":
        "accelerate.skip_first_batches(torch.utils.data.DataLoader([x, x]), 1)",
    "accelerate.utils.broadcast": "accelerate.utils.broadcast(x)",
    "accelerate.utils.reduce": "accelerate.utils.reduce(x, 'mean')",
    "accelerate.cpu_offload": "accelerate.cpu_offload(m, execution_device='cpu')",
    "lightning.fabric.Fabric.broadcast": "lightning.fabric.Fabric(accelerator='cpu').broadcast(x)",
    "lightning.fabric.Fabric.all_reduce":
        "lightning.fabric.Fabric(accelerator='cpu').all_reduce(x)",
    "lightning.fabric.Fabric.setup_dataloaders":
        "lightning.fabric.Fabric(accelerator='cpu').setup_dataloaders("
        "torch.utils.data.DataLoader([x]))",
    "torch.distributed.nn.functional.broadcast":
        "torch.distributed.nn.functional.broadcast(x, 0)",
    "torch.nn.DataParallel": "torch.nn.DataParallel(m)",
    "torchvision.transforms.Resize.__call__":
        "torchvision.transforms.Compose([torchvision.transforms.Resize(2)])(i)",
    "torchvision.transforms.functional.resize":
        "torchvision.transforms.functional.resize(i, [2])",
    "torchvision.transforms.functional.normalize":
        "torchvision.transforms.functional.normalize(i, [0.5] * 3, [0.5] * 3)",
    "torchvision.transforms.functional.gaussian_blur":
        "torchvision.transforms.functional.gaussian_blur(i, [3, 3])",
    "torchvision.transforms.functional.five_crop":
        "torchvision.transforms.functional.five_crop(i, [2, 2])",
    "torchvision.transforms.functional.convert_image_dtype":
        "torchvision.transforms.functional.convert_image_dtype(i)",
    "torchvision.transforms.functional.adjust_sharpness":
        "torchvision.transforms.functional.adjust_sharpness(i, 1.0)",
    "torchvision.transforms.functional.affine":
        "torchvision.transforms.functional.affine(i, 1.0, [0, 0], 1.0, [0.0])",
    "torchvision.utils.make_grid": "torchvision.utils.make_grid([i, i])",
    "torchvision.ops.box_convert": "torchvision.ops.box_convert(x, 'xyxy', 'xywh')",
    "torchvision.models.resnet18": "torchvision.models.resnet18()",
    "timm.create_model": "timm.create_model('resnet18')",
    "kornia.filters.gaussian_blur2d":
        "kornia.filters.gaussian_blur2d(i[None], (3, 3), (1.0, 1.0))",
    "kornia.geometry.transform.resize": "kornia.geometry.transform.resize(i[None], (2, 2))",
    "kornia.color.rgb_to_lab": "kornia.color.rgb_to_lab(i[None])",
    "diffusers.image_processor.VaeImageProcessor.postprocess":
        "diffusers.image_processor.VaeImageProcessor().postprocess(i[None], output_type='pt')",
    "diffusers.utils.torch_utils.randn_tensor":
        "diffusers.utils.torch_utils.randn_tensor((2,), dtype=x.dtype)",
}  # fmt: skip
