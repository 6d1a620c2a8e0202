"""Programs that raise or warn, by the pitfall whose message that is.

They see torch and other libraries; `h` in float16, `b` in bfloat16, `s` in float32, `d` in float64
and `e` in float8, all 4 by 4 on the CPU; `n` of NaN, and one index `i` for each row; `model`, a
linear layer, `adam`, its optimizer, and `bad`, a parameter with a gradient of NaN; `scaler`, a
GradScaler that is on, `backward()`, which scales a loss of `model`, and `group`, a process group of
gloo with one process.
"""

from __future__ import annotations

OF_TORCH: dict[str, tuple[str, ...]] = {
    "A01": ("b.numpy()", "e.numpy()", "e.to(torch.float8_e5m2).numpy()"),
    "A05": (
        "torch.from_numpy(np.zeros(2, 'V2'))", "np.dtype('bfloat16')", "np.dtype(torch.bfloat16)",
        "np.zeros(2, dtype=torch.float16)", "np.bfloat16",
    ),
    "A07": ("import json; json.dumps(np.float16(1))", "import json; json.dumps(np.float32(1))"),
    "B02": ("model.half(); scaler.scale(model(h).sum()).backward(); scaler.unscale_(adam)",),
    "B04": (
        "backward(); scaler.unscale_(adam); scaler.unscale_(adam)",
        "backward(); scaler.step(adam); scaler.step(adam)",
        "backward(); scaler.step(adam); scaler.unscale_(adam)",
    ),
    "B06": (
        "scaler.step(adam)", "scaler.unscale_(adam)", "scaler.update()",
        "scaler.scale(s.sum()); scaler.step(adam)", "scaler.scale(s.sum()); scaler.update()",
    ),
    "B07": ("optim.lr_scheduler.StepLR(adam, 1).step()",),
    "B11": (
        "scaler.step(adam, closure=lambda: 1)",
        "o = optim.LBFGS(model.parameters()); backward(); scaler.step(o)",
    ),
    "C01": (
        "torch.cuda.amp.autocast()", "torch.cpu.amp.autocast()", "torch.cuda.amp.GradScaler()",
        "torch.cpu.amp.GradScaler()", "torch.cuda.amp.custom_fwd(len)",
        "torch.cuda.amp.custom_bwd(len)",
    ),
    "C02": (
        "torch.autocast(torch.device('cpu'))", "torch.autocast()", "torch.autocast('gpu')",
        "torch.amp.custom_fwd(device_type=0)",
    ),
    "C03": (
        *(f"torch.autocast('{one}', torch.float32).__enter__()" for one in ("cpu", "mps", "xpu")),
        "torch.autocast('cpu', 'bfloat16').__enter__()", "torch.set_autocast_dtype('cpu', None)",
    ),
    "C07": ("torch.amp.custom_fwd(len)", "torch.amp.custom_bwd(len)"),
    "C09": (
        "torch.is_autocast_cpu_enabled()", "torch.get_autocast_cpu_dtype()",
        "torch.set_autocast_cpu_enabled(False)", "torch.get_autocast_gpu_dtype()",
        "torch.set_autocast_gpu_dtype(torch.float16)",
    ),
    "C11": ("torch.autocast('cuda')", "torch.amp.GradScaler('cuda')"),
    "D04": (
        "F.scaled_dot_product_attention(h, s, s)", "F.scaled_dot_product_attention(b, b, s)",
        "F.scaled_dot_product_attention(b, b, b, attn_mask=i)",
    ),
    "D08": (
        "F.embedding(i.half(), s)", "nn.Embedding(4, 4)(s)", "F.cross_entropy(s, i.half())",
        "F.nll_loss(s, i.bfloat16())", "s[i.half()]", "s.index_select(0, i.half())",
        "s.gather(0, s)", "s.scatter(0, h, s)", "F.one_hot(i.half())", "s.index_add(0, h[0], s)",
        "range(h[0, 0])",
    ),
    "D11": (
        "model.weight.grad = h", "model.weight.grad = d",
    ),
    "E01": (
        "h.masked_fill(h > 0, -1e9)", "h.fill_(1e9)", "torch.full((2,), 1e9, dtype=torch.half)",
        "F.pad(h, (1, 1), value=1e9)",
    ),
    "E02": ("b.fill_(torch.finfo(torch.float64).max)",),
    "E17": (
        "torch.multinomial(n, 1)", "nn.utils.clip_grad_norm_([bad], 1, error_if_nonfinite=True)",
        "torch.distributions.Normal(n, 1)", "torch.distributions.Categorical(n)",
        "torch.linalg.svd(n)", "torch.histc(n)", "int(n[0, 0])",
        "with torch.autograd.detect_anomaly(): n.log().requires_grad_().sqrt().sum().backward()",
    ),
    "F06": ("e + e", "e.sum()", "e + s", "F.linear(b, e)", "e * 2"),
    "H01": (
        *(f"torch.{one}" for one in "fp16 bf16 fp32 fp8 bfloat tf32 auto float8_e4m3".split()),
        "s.fp16()", "s.bf16()", "model.fp16()", "model.bf16()",
    ),
    "H02": (
        "torch.zeros(2, dtype='float16')", "s.to('float16')", "s.to(dtype='float16')",
        "s.type('float16')", "torch.finfo('float16')", "model.to(dtype='bfloat16')",
        "torch.set_default_dtype('float16')", "torch.empty(2, dtype=np.float16)",
        "s.view('int32')", "torch.promote_types('float16', 'float32')", "s.sum(dtype='float64')",
        
        "'float16'.itemsize", "'bfloat16'.is_floating_point",
    ),
    "K01": (
        "c = torch.backends.cudnn; c.conv.fp32_precision = 'ieee'; c.rnn.fp32_precision = 'tf32';"
        "c.allow_tf32",
    ),
    "K02": (
        "torch.set_float32_matmul_precision('tf32')", "torch.set_float32_matmul_precision(True)",
        "torch.backends.cuda.matmul.fp32_precision = 'high'",
        "torch.backends.cuda.matmul.fp32_precision = 'bf16'",
        "torch.backends.cudnn.conv.fp32_precision = True",
    ),
    "N01": ("group.all_reduce(e)",),
    "N03": (
        "group.all_gather([s], h)", "group.all_gather_into_tensor(s, h)",
        "group.reduce_scatter(s, [h])", "group.all_reduce_coalesced([s, h])",
    ),
}  # fmt: skip

OF_LIBRARIES: dict[str, tuple[str, ...]] = {
    "H05": ("accelerate.Accelerator(mixed_precision='float16')",),
    "H06": (
        "transformers.TrainingArguments(half_precision_backend='apex')",
        "transformers.TrainingArguments(fp16_backend='amp')",
    ),
    "I07": (
        "lightning.Trainer(precision='fp16')", "lightning.Trainer(precision=8)",
        "lightning.Trainer(amp_backend='native')", "lightning.Trainer(amp_level='O2')",
        "lightning.Fabric(precision='float16')",
    ),
    "J01": (
        "zero(fp16={'enabled': True}, bf16={'enabled': True})",
        "zero(fp16={'enabled': True, 'loss_scale': -1})", "zero(fp16={'enable': True})",
        "zero(communication_data_type='half')",
    ),
    "J03": ("zero(bf16={'enabled': 3})",),
    "L01": (
        "transformers.TrainingArguments(bf16=True)", "transformers.TrainingArguments(tf32=True)",
    ),
}  # fmt: skip
"""On a machine without a GPU. `zero` reads a configuration of DeepSpeed."""
