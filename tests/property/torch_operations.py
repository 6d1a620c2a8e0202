"""The tensor operations that random programs are made of, as templates.

One a line: `construct | template | kind | shape`. A slot such as `{fm}` stands for a tensor: its
first letter is the kind (`x` any, `f` floating, `i` integral, `b` bool, `n` a number), the second
its shape (`m` 3x3, `v` of length 3, `s` no dimension, absent for any of these); a digit tells two
slots apart. `{V…}` stands for a variable, `{d}` for a dtype, `{fd}` for a floating one. Kind and
shape of the result are words, or the slots that they are those of: `f+x` is what promotion gives.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Operation:
    """A template, and the kind and the shape of each of its results."""

    construct: str
    template: str
    results: tuple[tuple[str, str], ...]

    @property
    def slots(self) -> list[str]:
        return list(dict.fromkeys(SLOT.findall(self.template)))


def _table(text: str) -> tuple[Operation, ...]:
    operations = []
    for line in filter(None, map(str.strip, text.splitlines())):
        construct, template, *result = map(str.strip, line.split(" | "))
        kinds, shapes = result or ("", "")
        results = tuple(zip(kinds.split(), shapes.split(), strict=True))
        operations.append(Operation(construct, template, results))
    return tuple(operations)


FACTORIES = _table("""
factory | torch.zeros(3, 3) | float | square
factory | torch.ones((3, 3), dtype={d}) | d | square
factory | torch.zeros(3, dtype={fd}) | fd | row
factory | torch.full((3, 3), 2) | int | square
factory | torch.full((3, 3), 1.5) | float | square
factory | torch.full((3,), True) | bool | row
factory | torch.full((3, 3), 2, dtype={d}) | d | square
factory | torch.arange(3) | int | row
factory | torch.arange(3.0) | float | row
factory | torch.arange(0, 3, dtype={fd}) | fd | row
factory | torch.tensor([1, 2, 3]) | int | row
factory | torch.tensor([1.5, 2, 3]) | float | row
factory | torch.tensor([True, False, True]) | bool | row
factory | torch.tensor([[1, 2, 3]] * 3) | int | square
factory | torch.tensor(2) | int | scalar
factory | torch.tensor(1.5) | float | scalar
factory | torch.tensor(True) | bool | scalar
factory | torch.tensor(1.5, dtype={d}) | d | scalar
factory | torch.ones(()) | float | scalar
factory | torch.ones((), dtype={d}) | d | scalar
factory | torch.as_tensor([1.0, 2.0, 3.0]) | float | row
factory | torch.randn(3, 3) | float | square
factory | torch.randn(3, 3, dtype={fd}) | fd | square
factory | torch.rand((3, 3)) | float | square
factory | torch.randint(0, 3, (3, 3)) | int | square
factory | torch.randperm(3) | int | row
factory | torch.linspace(0, 1, 3) | float | row
factory | torch.eye(3) | float | square
factory | torch.eye(3, dtype={d}) | d | square
factory | torch.empty(3, 3, dtype={fd}) | fd | square
from NumPy | torch.from_numpy(np.ones((3, 3), dtype=np.float32)) | float | square
from NumPy | torch.from_numpy(np.ones(3)) | float | row
from NumPy | torch.from_numpy(np.arange(3)) | int | row
from NumPy | torch.tensor(np.float64(1.5)) | float | scalar
from NumPy | torch.as_tensor(np.zeros((3, 3), dtype=np.float16)) | float | square
""")

OPERATIONS = _table("""
factory like | torch.zeros_like({x}) | x | x
factory like | torch.ones_like({x}, dtype={d}) | d | x
factory like | torch.full_like({x}, 2) | x | x
factory like | torch.rand_like({f}) | f | f
factory like | {x}.new_zeros(3, 3) | x | square
factory like | {x}.new_ones((3, 3), dtype={d}) | d | square
factory like | {x}.new_full((3, 3), 1) | x | square
factory like | {f}.new_tensor([1, 2, 3]) | int | row
factory like | torch.zeros(3, 3, dtype={x}.dtype) | x | square
cast | {x}.to({d}) | d | x
cast | {x}.to({fd}) | fd | x
cast | {x}.to(dtype={fd}) | fd | x
cast | {x}.to("cpu", {fd}) | fd | x
cast | {x}.to({x1}.dtype) | x1 | x
cast | {x}.half() | float | x
cast | {x}.float() | float | x
cast | {x}.bfloat16() | float | x
cast | {x}.double() | float | x
cast | {x}.long() | int | x
cast | {x}.int() | int | x
cast | {x}.bool() | bool | x
cast | {x}.type({fd}) | fd | x
cast to a tensor's | {x}.type_as({x1}) | x1 | x
cast to a tensor's | {x}.to({x1}) | x1 | x
device | {x}.to("cpu") | x | x
device | {x}.cpu() | x | x
device | {x}.to(torch.device("cpu")) | x | x
device | {x}.detach() | x | x
device | {x}.clone() | x | x
unary operator | -{n} | n | n
unary operator | ~{b} | bool | b
unary operator | abs({n}) | n | n
scalar operand | {n} + 1 | n | n
scalar operand | {n} * 1.5 | n+float | n
scalar operand | 2 - {n} | n | n
scalar operand | {n} / 2 | float | n
scalar operand | 1 / {f} | f | f
scalar operand | {f} ** 2 | f | f
scalar operand | 2 ** {f} | f | f
scalar operand | {f} // 2 | f | f
scalar operand | {f} % 2 | f | f
scalar operand | {b} + 1 | int | b
scalar operand | {b} * 0.5 | float | b
scalar operand | True * {n} | n | n
scalar operand | {n} * n | n | n
NumPy scalar | {f} * np.float32(2) | f | f
NumPy scalar | {n} + np.float64(1.5) | n+float | n
NumPy scalar | {f} - np.int64(2) | f | f
tensor operands | {x} + {x1} | x+x1 | x+x1
tensor operands | {x} * {x1} | x+x1 | x+x1
tensor operands | {n} - {n1} | n+n1 | n+n1
tensor operands | {n} / {n1} | float | n+n1
tensor operands | {f} ** {f1} | f | f+f1
tensor operands | {x} * {xs} | x+xs | x
tensor operands | {xm} + {fs} | float | square
tensor operands | torch.add({x}, {x1}) | x+x1 | x+x1
tensor operands | {x}.mul({x1}) | x+x1 | x+x1
tensor operands | torch.div({n}, {n1}) | float | n+n1
tensor operands | torch.maximum({x}, {x1}) | x+x1 | x+x1
tensor operands | torch.addcmul({f}, {f}, {f}) | f | f
tensor operands | torch.lerp({f}, {f}, 0.5) | f | f
comparison | {x} > 0 | bool | x
comparison | {x} == {x1} | bool | x+x1
comparison | {n} <= {n1} | bool | n+n1
comparison | {x}.ne(0) | bool | x
comparison | torch.isnan({f}) | bool | f
logical | {b} & {b1} | bool | b+b1
logical | torch.logical_or({x}, {x1}) | bool | x+x1
logical | torch.bitwise_or({i}, {i1}) | int | i+i1
logical | ({x} > 0) & {b} | bool | x+b
reduction | {f}.sum() | f | scalar
reduction | {x}.sum(dim=0) | x | any
reduction | {i}.sum() | int | scalar
reduction | {b}.sum() | int | scalar
reduction | {f}.mean() | f | scalar
reduction | {fm}.mean(-1) | fm | row
reduction | {fm}.mean(-1, keepdim=True) | fm | any
reduction | {xm}.amax(-1) | xm | row
reduction | {n}.max() | n | scalar
reduction | {fm}.std() | float | scalar
reduction | {fm}.norm() | float | scalar
reduction | {x}.any() | bool | scalar
reduction | {xm}.all(-1) | bool | row
reduction | {n}.prod() | n | scalar
reduction | torch.logsumexp({fm}, -1) | float | row
reduction | {fm}.var(0) | float | row
index result | {n}.argmax() | int | scalar
index result | {nm}.argmin(-1) | int | row
index result | {nm}.argsort() | int | square
index result | {nm}.max(dim=0)[1] | int | row
index result | {nm}.max(dim=0).values | nm | row
index result | {nm}.topk(2)[0] | nm | any
index result | {nm}.topk(2).indices | int | any
index result | {xm}.nonzero() | int | any
index result | torch.where({x})[0] | int | any
index result | torch.bincount({iv}) | int | any
indexing | {xm}[0] | xm | row
indexing | {xm}[:, 1] | xm | row
indexing | {xm}[0, 0] | xm | scalar
indexing | {xm}[..., None] | xm | any
indexing | {xm}[1:] | xm | any
indexing | {xm}[{xm} > 0] | xm | any
indexing | {xm}[torch.tensor([2, 0, 1])] | xm | square
indexing | {xv}[-1] | xv | scalar
indexing | {xm}.gather(1, torch.zeros(3, 3, dtype=torch.int64)) | xm | square
indexing | {xm}.index_select(0, torch.tensor([0, 1, 2])) | xm | square
indexing | {xm}.masked_select({bm}) | xm | any
view | {xm}.t() | xm | square
view | {xm}.T | xm | square
view | {xm}.mT | xm | square
view | {xm}.view(-1) | xm | any
view | {xm}.reshape(3, 3) | xm | square
view | {xm}.flatten() | xm | any
view | {x}.unsqueeze(0) | x | any
view | {xv}.expand(3, 3) | xv | square
view | {xm}.transpose(0, 1) | xm | square
view | {xm}.contiguous() | xm | square
view | {xv}.repeat(3, 1) | xv | square
view | {x}.data | x | x
choice | torch.where({bm}, {xm}, {x}) | xm+x | square
choice | torch.where({b}, {f}, 0.0) | f | b+f
choice | torch.where({f} > 0, {f}, 0) | f | f
choice | {f}.masked_fill({f} > 0, 0.0) | f | f
choice | {n}.clamp(0, 1) | n | n
choice | {f}.clamp(min=0.5) | f | f
choice | torch.where({b}, 1.0, 0.0) | float | b
joined | torch.cat([{xm}, {xm1}]) | xm+xm1 | any
joined | torch.stack([{xv}, {xv1}, {xv}]) | xv+xv1 | square
joined | torch.cat(({xv}, {xm}[0])) | xv+xm | any
joined | torch.outer({fv}, {fv}) | fv | square
elementwise | {f}.exp() | f | f
elementwise | torch.sqrt({f}) | f | f
elementwise | torch.sin({x}) | x+float | x
elementwise | {x}.sigmoid() | x+float | x
elementwise | {f}.tanh() | f | f
elementwise | {f}.round() | f | f
elementwise | F.relu({f}) | f | f
elementwise | F.gelu({f}) | f | f
elementwise | F.silu({f}) | f | f
elementwise | {n}.abs() | n | n
elementwise | {f}.pow(2) | f | f
elementwise | {n}.cumsum(0) | n | n
elementwise | {b}.cumsum(0) | int | b
elementwise | torch.log1p({f}) | f | f
elementwise | torch.rsqrt({f}) | f | f
matrix | {fm} @ {fm} | fm | square
matrix | {im} @ {im} | im | square
matrix | {fm} @ {fm1}.type_as({fm}) | fm | square
matrix | torch.matmul({fm}, {fm}) | fm | square
matrix | {fm}.mm({fm}) | fm | square
matrix | {fm} @ {fm}[0] | fm | row
matrix | F.linear({fm}, {fm}) | fm | square
matrix | torch.einsum("ij,jk->ik", {fm}, {fm}) | fm | square
matrix | torch.addmm({fm}, {fm}, {fm}) | fm | square
matrix | torch.bmm({fm}[None], {fm}[None]) | fm | any
normalization | F.softmax({fm}, -1) | fm | square
normalization | {fm}.softmax(-1) | fm | square
normalization | {fm}.log_softmax(dim=-1) | fm | square
normalization | F.layer_norm({fm}, (3,)) | fm | square
normalization | F.normalize({fm}) | fm | square
normalization | F.rms_norm({fm}, (3,)) | fm | square
normalization | F.dropout({fm}, 0.5) | fm | square
dtype= | F.softmax({xm}, -1, dtype={fd}) | fd | square
dtype= | {xm}.softmax(-1, dtype=torch.float32) | float | square
dtype= | {x}.sum(dtype={d}) | d | scalar
dtype= | torch.mean({x}, dim=0, dtype={fd}) | fd | any
dtype= | {n}.cumsum(0, dtype={fd}) | fd | n
dtype= | torch.tensor([1, 2, 3], dtype={d}) | d | row
dtype= | torch.zeros(3, 3, dtype=dtype) | any | square
loss | F.mse_loss({fm}, {fm}) | fm | scalar
loss | F.mse_loss({fm}, {fm1}) | fm+fm1 | scalar
loss | F.cross_entropy({fm}, torch.tensor([0, 1, 2])) | fm | scalar
loss | F.l1_loss({fm}, {fm1}) | fm+fm1 | scalar
loss | F.binary_cross_entropy_with_logits({fm}, {fm}) | fm | scalar
loss | F.nll_loss({fm}.log_softmax(-1), torch.tensor([0, 1, 2])) | fm | scalar
loss | F.one_hot(torch.tensor([0, 1, 2]), 3) | int | square
conditional expression | {x} if flag0 else {x1} | any | any
conditional expression | ({fm} if flag1 else {fm}.float()) | fm | square
lambda | (lambda t: t.half())({x}) | float | x
lambda | (lambda t, k=2: t * k)({n}) | n | n
container | [{x}, {x1}][0] | x | x
container | ({x}, {x1})[1] | x1 | x1
container | {{"a": {x}, "b": {x1}}}["b"] | x1 | x1
container | torch.stack([row * 2 for row in {nm}]) | nm | square
container | sum([{f}, {f}]) | f | f
container | max({xs}, {xs}) | xs | scalar
""")

AUTOCAST = _table("""
autocast matrix | {fm} @ {fm1} | float | square
autocast matrix | torch.matmul({fm}, {fm1}) | float | square
autocast matrix | F.linear({fm}, {fm1}) | float | square
autocast matrix | torch.bmm({fm}[None], {fm1}[None]) | float | any
autocast other | {fm}.exp() | float | square
autocast other | F.softmax({fm}, -1) | float | square
autocast other | F.layer_norm({fm}, (3,)) | float | square
autocast other | {fm} + {fm1} | float | square
autocast other | {fm}.sum() | float | scalar
autocast other | F.mse_loss({fm}, {fm1}) | float | scalar
autocast other | torch.cat([{fm}, {fm1}]) | float | any
autocast other | F.cross_entropy({fm}, torch.tensor([0, 1, 2])) | float | scalar
autocast other | F.gelu({fm}) | float | square
""")

UNPACKED = _table("""
unpacking | {nm}.topk(2) | nm int | any any
unpacking | {nm}.sort() | nm int | square square
unpacking | {nm}.max(dim=0) | nm int | row row
unpacking | torch.min({nm}, dim=1) | nm int | row row
unpacking | torch.sort({nm}, descending=True) | nm int | square square
unpacking | {xm}.split([1, 2]) | xm xm | any any
unpacking | {xm}.chunk(2) | xm xm | any any
unpacking | torch.std_mean({fm}, 0) | float float | row row
unpacking | torch.frexp({fm}) | fm int | square square
unpacking | torch.unique({nm}, return_counts=True) | nm int | any any
unpacking | {x}, {x1} | x x1 | x x1
unpacking | ({x}, ({x1},))[0], {f} | x f | x f
unpacking | {xm}[:2] | xm xm | row row
unpacking | [t + 1 for t in ({f}, {f1})] | f f1 | f f1
""")

IN_PLACE = _table("""
augmented assignment | {Vf} += 1
augmented assignment | {Vf} *= 0.5
augmented assignment | {Vfm} += {x}
augmented assignment | {Vfm} /= {n}
augmented assignment | {Vn} -= 1
augmented assignment | {Vfm} @= {Vfm}
in-place method | {Vf}.add_(1)
in-place method | {Vfm}.add_({x})
in-place method | {Vfm}.mul_({x})
in-place method | {Vx}.zero_()
in-place method | {Vx}.fill_(1)
in-place method | {Vxm}.copy_({xm})
in-place method | {Vf}.clamp_(0, 1)
in-place method | {Vfm}.masked_fill_({Vfm} > 0, 0.0)
in-place method | {Vfm}.uniform_()
in-place method | nn.init.zeros_({Vf})
out= | torch.mul({fm}, 2, out={Vfm})
out= | torch.add({xm}, {xm}, out={Vfm})
item assignment | {Vxm}[0] = 1
item assignment | {Vfm}[:, 1] = {xv}
item assignment | {Vfm}[{Vfm} > 0] = 0.5
item assignment | {Vfm}[0] += 1
""")
