"""What operators and layers of torch refuse, measured.

Written by scripts/measure_kernels.py with torch 2.13.0: do not edit.
"""

from __future__ import annotations

from collections.abc import Mapping

from precision_lint.facts.dtypes.operators.signature import Agreement, Lack

TORCH_ON_CUDA = "2.11.0"
"""The release that was measured on CUDA."""

LACKING: Mapping[str, Mapping[str, Lack]] = {
    "angle": {
        "float16": Lack(
            cuda="NotImplementedError: \"angle_cuda\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cuda="NotImplementedError: \"angle_cuda\" not implemented for 'BFloat16'",
            in_regions=("cuda",),
        ),
    },
    "cholesky": {
        "float16": Lack(
            cpu="NotImplementedError: \"cholesky_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"cholesky_cusolver\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"cholesky_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"cholesky_cusolver\" not implemented for 'BFloat16'",
            in_regions=("cuda",),
        ),
    },
    "cholesky_inverse": {
        "float16": Lack(
            cpu="NotImplementedError: \"cholesky_inverse_out_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"cholesky_cuda_potri\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"cholesky_inverse_out_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"cholesky_cuda_potri\" not implemented for 'BFloat16'",
            in_regions=("cuda",),
        ),
    },
    "cholesky_solve": {
        "float16": Lack(
            cpu="NotImplementedError: \"cholesky_solve_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"cholesky_cuda_potrs\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"cholesky_solve_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"cholesky_cuda_potrs\" not implemented for 'BFloat16'",
            in_regions=("cuda",),
        ),
    },
    "complex": {
        "bfloat16": Lack(
            cpu="RuntimeError: Expected both inputs to be Half, Float or Double tensors but got BFloat16 and BFloat16",
            cuda="RuntimeError: Expected both inputs to be Half, Float or Double tensors but got BFloat16 and BFloat16",
            in_regions=("cpu", "cuda"),
        )
    },
    "ctc_loss": {
        "float16": Lack(
            cpu="NotImplementedError: \"ctc_loss_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"ctc_loss_cuda\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"ctc_loss_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"ctc_loss_cuda\" not implemented for 'BFloat16'",
            in_regions=("cuda",),
        ),
    },
    "det": {
        "float16": Lack(
            cpu="NotImplementedError: \"lu_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"lu_factor_cusolver\" not implemented for 'Half'",
            in_regions=("cpu", "cuda"),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"lu_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"lu_factor_cusolver\" not implemented for 'BFloat16'",
            in_regions=("cpu", "cuda"),
        ),
    },
    "fft.fft": {
        "float16": Lack(cpu="RuntimeError: Unsupported dtype Half"),
        "bfloat16": Lack(
            cpu="RuntimeError: Unsupported dtype BFloat16",
            cuda="RuntimeError: Unsupported dtype BFloat16",
            in_regions=("cuda",),
        ),
    },
    "fft.fft2": {
        "float16": Lack(cpu="RuntimeError: Unsupported dtype Half"),
        "bfloat16": Lack(
            cpu="RuntimeError: Unsupported dtype BFloat16",
            cuda="RuntimeError: Unsupported dtype BFloat16",
            in_regions=("cuda",),
        ),
    },
    "fft.fftn": {
        "float16": Lack(cpu="RuntimeError: Unsupported dtype Half"),
        "bfloat16": Lack(
            cpu="RuntimeError: Unsupported dtype BFloat16",
            cuda="RuntimeError: Unsupported dtype BFloat16",
            in_regions=("cuda",),
        ),
    },
    "fft.hfft": {
        "float16": Lack(
            cpu="RuntimeError: Unsupported dtype Half",
            cuda="RuntimeError: cuFFT only supports dimensions whose sizes are powers of two when computing in half precision, but got a signal size of[6]",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="RuntimeError: Unsupported dtype BFloat16",
            cuda="RuntimeError: Unsupported dtype BFloat16",
            in_regions=("cuda",),
        ),
    },
    "fft.ifft": {
        "float16": Lack(cpu="RuntimeError: Unsupported dtype Half"),
        "bfloat16": Lack(
            cpu="RuntimeError: Unsupported dtype BFloat16",
            cuda="RuntimeError: Unsupported dtype BFloat16",
            in_regions=("cuda",),
        ),
    },
    "fft.ifft2": {
        "float16": Lack(cpu="RuntimeError: Unsupported dtype Half"),
        "bfloat16": Lack(
            cpu="RuntimeError: Unsupported dtype BFloat16",
            cuda="RuntimeError: Unsupported dtype BFloat16",
            in_regions=("cuda",),
        ),
    },
    "fft.ifftn": {
        "float16": Lack(cpu="RuntimeError: Unsupported dtype Half"),
        "bfloat16": Lack(
            cpu="RuntimeError: Unsupported dtype BFloat16",
            cuda="RuntimeError: Unsupported dtype BFloat16",
            in_regions=("cuda",),
        ),
    },
    "fft.ihfft": {
        "float16": Lack(cpu="RuntimeError: Unsupported dtype Half"),
        "bfloat16": Lack(
            cpu="RuntimeError: Unsupported dtype BFloat16",
            cuda="RuntimeError: Unsupported dtype BFloat16",
            in_regions=("cuda",),
        ),
    },
    "fft.irfft": {
        "float16": Lack(
            cpu="RuntimeError: Unsupported dtype Half",
            cuda="RuntimeError: cuFFT only supports dimensions whose sizes are powers of two when computing in half precision, but got a signal size of[6]",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="RuntimeError: Unsupported dtype BFloat16",
            cuda="RuntimeError: Unsupported dtype BFloat16",
            in_regions=("cuda",),
        ),
    },
    "fft.irfft2": {
        "float16": Lack(
            cpu="RuntimeError: Unsupported dtype Half",
            cuda="RuntimeError: cuFFT only supports dimensions whose sizes are powers of two when computing in half precision, but got a signal size of[6]",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="RuntimeError: Unsupported dtype BFloat16",
            cuda="RuntimeError: Unsupported dtype BFloat16",
            in_regions=("cuda",),
        ),
    },
    "fft.irfftn": {
        "float16": Lack(
            cpu="RuntimeError: Unsupported dtype Half",
            cuda="RuntimeError: cuFFT only supports dimensions whose sizes are powers of two when computing in half precision, but got a signal size of[6]",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="RuntimeError: Unsupported dtype BFloat16",
            cuda="RuntimeError: Unsupported dtype BFloat16",
            in_regions=("cuda",),
        ),
    },
    "fft.rfft": {
        "float16": Lack(cpu="RuntimeError: Unsupported dtype Half"),
        "bfloat16": Lack(
            cpu="RuntimeError: Unsupported dtype BFloat16",
            cuda="RuntimeError: Unsupported dtype BFloat16",
            in_regions=("cuda",),
        ),
    },
    "fft.rfft2": {
        "float16": Lack(cpu="RuntimeError: Unsupported dtype Half"),
        "bfloat16": Lack(
            cpu="RuntimeError: Unsupported dtype BFloat16",
            cuda="RuntimeError: Unsupported dtype BFloat16",
            in_regions=("cuda",),
        ),
    },
    "fft.rfftn": {
        "float16": Lack(cpu="RuntimeError: Unsupported dtype Half"),
        "bfloat16": Lack(
            cpu="RuntimeError: Unsupported dtype BFloat16",
            cuda="RuntimeError: Unsupported dtype BFloat16",
            in_regions=("cuda",),
        ),
    },
    "geqrf": {
        "float16": Lack(
            cpu="NotImplementedError: \"geqrf_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"geqrf_cuda\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"geqrf_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"geqrf_cuda\" not implemented for 'BFloat16'",
            in_regions=("cuda",),
        ),
    },
    "histc": {
        "float16": Lack(cuda="RuntimeError: HalfTensor is not supported", in_regions=("cuda",)),
        "bfloat16": Lack(
            cuda="NotImplementedError: \"histc\" not implemented for 'BFloat16'",
            in_regions=("cuda",),
        ),
    },
    "histogram": {
        "float16": Lack(
            cpu="NotImplementedError: \"histogramdd\" not implemented for 'Half'",
            in_regions=("cpu",),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"histogramdd\" not implemented for 'BFloat16'",
            in_regions=("cpu",),
        ),
    },
    "igamma": {
        "float16": Lack(
            cuda="NotImplementedError: \"igamma_cuda\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cuda="NotImplementedError: \"igamma_cuda\" not implemented for 'BFloat16'",
            in_regions=("cuda",),
        ),
    },
    "igammac": {
        "float16": Lack(
            cuda="NotImplementedError: \"igammac_cuda\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cuda="NotImplementedError: \"igammac_cuda\" not implemented for 'BFloat16'",
            in_regions=("cuda",),
        ),
    },
    "inverse": {
        "float16": Lack(
            cpu="RuntimeError: linalg.inv: Low precision dtypes not supported. Got Half",
            cuda="RuntimeError: linalg.inv: Low precision dtypes not supported. Got Half",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="RuntimeError: linalg.inv: Low precision dtypes not supported. Got BFloat16",
            cuda="RuntimeError: linalg.inv: Low precision dtypes not supported. Got BFloat16",
            in_regions=("cuda",),
        ),
    },
    "linalg.cholesky": {
        "float16": Lack(
            cpu="NotImplementedError: \"cholesky_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"cholesky_cusolver\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"cholesky_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"cholesky_cusolver\" not implemented for 'BFloat16'",
            in_regions=("cuda",),
        ),
    },
    "linalg.cholesky_ex": {
        "float16": Lack(
            cpu="NotImplementedError: \"cholesky_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"cholesky_cusolver\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"cholesky_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"cholesky_cusolver\" not implemented for 'BFloat16'",
            in_regions=("cuda",),
        ),
    },
    "linalg.cond": {
        "float16": Lack(
            cpu="NotImplementedError: \"linalg_svd_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"svd_cuda_gesvdjBatched\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"linalg_svd_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"svd_cuda_gesvdjBatched\" not implemented for 'BFloat16'",
            in_regions=("cuda",),
        ),
    },
    "linalg.det": {
        "float16": Lack(
            cpu="NotImplementedError: \"lu_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"lu_factor_cusolver\" not implemented for 'Half'",
            in_regions=("cpu", "cuda"),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"lu_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"lu_factor_cusolver\" not implemented for 'BFloat16'",
            in_regions=("cpu", "cuda"),
        ),
    },
    "linalg.eig": {
        "float16": Lack(
            cpu="NotImplementedError: \"linalg_eig_out_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"linalg_eig_cuda\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"linalg_eig_out_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"linalg_eig_cuda\" not implemented for 'BFloat16'",
            in_regions=("cuda",),
        ),
    },
    "linalg.eigh": {
        "float16": Lack(
            cpu="NotImplementedError: \"linalg_eigh_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"linalg_eigh_cuda\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"linalg_eigh_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"linalg_eigh_cuda\" not implemented for 'BFloat16'",
            in_regions=("cuda",),
        ),
    },
    "linalg.eigvals": {
        "float16": Lack(
            cpu="NotImplementedError: \"linalg_eig_out_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"linalg_eig_cuda\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"linalg_eig_out_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"linalg_eig_cuda\" not implemented for 'BFloat16'",
            in_regions=("cuda",),
        ),
    },
    "linalg.eigvalsh": {
        "float16": Lack(
            cpu="NotImplementedError: \"linalg_eigh_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"linalg_eigh_cuda\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"linalg_eigh_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"linalg_eigh_cuda\" not implemented for 'BFloat16'",
            in_regions=("cuda",),
        ),
    },
    "linalg.householder_product": {
        "float16": Lack(
            cpu="NotImplementedError: \"orgqr_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"orgqr_cuda\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"orgqr_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"orgqr_cuda\" not implemented for 'BFloat16'",
            in_regions=("cuda",),
        ),
    },
    "linalg.inv": {
        "float16": Lack(
            cpu="RuntimeError: linalg.inv: Low precision dtypes not supported. Got Half",
            cuda="RuntimeError: linalg.inv: Low precision dtypes not supported. Got Half",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="RuntimeError: linalg.inv: Low precision dtypes not supported. Got BFloat16",
            cuda="RuntimeError: linalg.inv: Low precision dtypes not supported. Got BFloat16",
            in_regions=("cuda",),
        ),
    },
    "linalg.inv_ex": {
        "float16": Lack(
            cpu="RuntimeError: linalg.inv: Low precision dtypes not supported. Got Half",
            cuda="RuntimeError: linalg.inv: Low precision dtypes not supported. Got Half",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="RuntimeError: linalg.inv: Low precision dtypes not supported. Got BFloat16",
            cuda="RuntimeError: linalg.inv: Low precision dtypes not supported. Got BFloat16",
            in_regions=("cuda",),
        ),
    },
    "linalg.lstsq": {
        "float16": Lack(
            cpu="RuntimeError: This function doesn't handle types other than float and double",
            cuda="RuntimeError: This function doesn't handle types other than float and double",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="RuntimeError: This function doesn't handle types other than float and double",
            cuda="RuntimeError: This function doesn't handle types other than float and double",
            in_regions=("cuda",),
        ),
    },
    "linalg.lu": {
        "float16": Lack(
            cpu="NotImplementedError: \"lu_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"lu_factor_cusolver\" not implemented for 'Half'",
            in_regions=("cpu", "cuda"),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"lu_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"lu_factor_cusolver\" not implemented for 'BFloat16'",
            in_regions=("cpu", "cuda"),
        ),
    },
    "linalg.lu_factor": {
        "float16": Lack(
            cpu="NotImplementedError: \"lu_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"lu_factor_cusolver\" not implemented for 'Half'",
            in_regions=("cpu", "cuda"),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"lu_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"lu_factor_cusolver\" not implemented for 'BFloat16'",
            in_regions=("cpu", "cuda"),
        ),
    },
    "linalg.matrix_rank": {
        "float16": Lack(
            cpu="RuntimeError: This function doesn't handle types other than float and double",
            cuda="RuntimeError: This function doesn't handle types other than float and double",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="RuntimeError: This function doesn't handle types other than float and double",
            cuda="RuntimeError: This function doesn't handle types other than float and double",
            in_regions=("cuda",),
        ),
    },
    "linalg.pinv": {
        "float16": Lack(
            cpu="RuntimeError: linalg.pinv(Half{[4, 4]}): expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble types",
            cuda="RuntimeError: linalg.pinv(Half{[4, 4]}): expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble types",
            in_regions=("cpu", "cuda"),
        ),
        "bfloat16": Lack(
            cpu="RuntimeError: linalg.pinv(BFloat16{[4, 4]}): expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble types",
            cuda="RuntimeError: linalg.pinv(BFloat16{[4, 4]}): expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble types",
            in_regions=("cpu", "cuda"),
        ),
    },
    "linalg.qr": {
        "float16": Lack(
            cpu="NotImplementedError: \"geqrf_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"geqrf_cuda\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"geqrf_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"geqrf_cuda\" not implemented for 'BFloat16'",
            in_regions=("cuda",),
        ),
    },
    "linalg.slogdet": {
        "float16": Lack(
            cpu="RuntimeError: linalg.slogdet: Low precision dtypes not supported. Got Half",
            cuda="RuntimeError: linalg.slogdet: Low precision dtypes not supported. Got Half",
            in_regions=("cpu", "cuda"),
        ),
        "bfloat16": Lack(
            cpu="RuntimeError: linalg.slogdet: Low precision dtypes not supported. Got BFloat16",
            cuda="RuntimeError: linalg.slogdet: Low precision dtypes not supported. Got BFloat16",
            in_regions=("cpu", "cuda"),
        ),
    },
    "linalg.solve": {
        "float16": Lack(
            cpu="NotImplementedError: \"lu_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"lu_factor_cusolver\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"lu_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"lu_factor_cusolver\" not implemented for 'BFloat16'",
            in_regions=("cuda",),
        ),
    },
    "linalg.solve_ex": {
        "float16": Lack(
            cpu="NotImplementedError: \"lu_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"lu_factor_cusolver\" not implemented for 'Half'",
            in_regions=("cpu", "cuda"),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"lu_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"lu_factor_cusolver\" not implemented for 'BFloat16'",
            in_regions=("cpu", "cuda"),
        ),
    },
    "linalg.solve_triangular": {
        "float16": Lack(
            cpu="NotImplementedError: \"triangular_solve_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"triangular_solve_cuda\" not implemented for 'Half'",
            in_regions=("cpu", "cuda"),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"triangular_solve_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"triangular_solve_cuda\" not implemented for 'BFloat16'",
            in_regions=("cpu", "cuda"),
        ),
    },
    "linalg.svd": {
        "float16": Lack(
            cpu="NotImplementedError: \"linalg_svd_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"svd_cuda_gesvdjBatched\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"linalg_svd_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"svd_cuda_gesvdjBatched\" not implemented for 'BFloat16'",
            in_regions=("cuda",),
        ),
    },
    "linalg.svdvals": {
        "float16": Lack(
            cpu="NotImplementedError: \"linalg_svd_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"svd_cuda_gesvdjBatched\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"linalg_svd_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"svd_cuda_gesvdjBatched\" not implemented for 'BFloat16'",
            in_regions=("cuda",),
        ),
    },
    "linalg.tensorinv": {
        "float16": Lack(
            cpu="RuntimeError: linalg.inv: Low precision dtypes not supported. Got Half",
            cuda="RuntimeError: linalg.inv: Low precision dtypes not supported. Got Half",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="RuntimeError: linalg.inv: Low precision dtypes not supported. Got BFloat16",
            cuda="RuntimeError: linalg.inv: Low precision dtypes not supported. Got BFloat16",
            in_regions=("cuda",),
        ),
    },
    "linalg.vander": {
        "float16": Lack(
            cpu="RuntimeError: linalg.vander supports floating point, complex, and integer tensors, but got Half",
            cuda="RuntimeError: linalg.vander supports floating point, complex, and integer tensors, but got Half",
            in_regions=("cpu", "cuda"),
        ),
        "bfloat16": Lack(
            cpu="RuntimeError: linalg.vander supports floating point, complex, and integer tensors, but got BFloat16",
            cuda="RuntimeError: linalg.vander supports floating point, complex, and integer tensors, but got BFloat16",
            in_regions=("cpu", "cuda"),
        ),
    },
    "logdet": {
        "float16": Lack(
            cpu="RuntimeError: logdet: Low precision dtypes not supported. Got Half",
            cuda="RuntimeError: logdet: Low precision dtypes not supported. Got Half",
            in_regions=("cpu", "cuda"),
        ),
        "bfloat16": Lack(
            cpu="RuntimeError: logdet: Low precision dtypes not supported. Got BFloat16",
            cuda="RuntimeError: logdet: Low precision dtypes not supported. Got BFloat16",
            in_regions=("cpu", "cuda"),
        ),
    },
    "lu": {
        "float16": Lack(
            cpu="NotImplementedError: \"lu_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"lu_factor_cusolver\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"lu_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"lu_factor_cusolver\" not implemented for 'BFloat16'",
            in_regions=("cuda",),
        ),
    },
    "nanquantile": {
        "float16": Lack(
            cpu="RuntimeError: quantile() input tensor must be either float or double dtype",
            cuda="RuntimeError: quantile() input tensor must be either float or double dtype",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="RuntimeError: quantile() input tensor must be either float or double dtype",
            cuda="RuntimeError: quantile() input tensor must be either float or double dtype",
            in_regions=("cuda",),
        ),
    },
    "nn.functional.ctc_loss": {
        "float16": Lack(
            cpu="NotImplementedError: \"ctc_loss_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"ctc_loss_cuda\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"ctc_loss_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"ctc_loss_cuda\" not implemented for 'BFloat16'",
            in_regions=("cuda",),
        ),
    },
    "nn.functional.multi_margin_loss": {
        "float16": Lack(
            cpu="NotImplementedError: \"multi_margin_loss_cpu_kernel\" not implemented for 'Half'"
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"multi_margin_loss_cpu_kernel\" not implemented for 'BFloat16'"
        ),
    },
    "nn.functional.multilabel_margin_loss": {
        "float16": Lack(
            cpu="NotImplementedError: \"multilabel_margin_loss_forward_out_frame\" not implemented for 'Half'"
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"multilabel_margin_loss_forward_out_frame\" not implemented for 'BFloat16'"
        ),
    },
    "nn.functional.pdist": {
        "float16": Lack(
            cpu="NotImplementedError: \"pdist\" not implemented for 'Half'",
            cuda="NotImplementedError: \"pdist_cuda\" not implemented for 'Half'",
            in_regions=("cpu",),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"pdist\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"pdist_cuda\" not implemented for 'BFloat16'",
            in_regions=("cpu",),
        ),
    },
    "orgqr": {
        "float16": Lack(
            cpu="NotImplementedError: \"orgqr_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"orgqr_cuda\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"orgqr_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"orgqr_cuda\" not implemented for 'BFloat16'",
            in_regions=("cuda",),
        ),
    },
    "pca_lowrank": {
        "float16": Lack(
            cpu="NotImplementedError: \"geqrf_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"geqrf_cuda\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="RuntimeError: expected m1 and m2 to have the same dtype, but got: c10::BFloat16 != float"
        ),
    },
    "pdist": {
        "float16": Lack(
            cpu="NotImplementedError: \"pdist\" not implemented for 'Half'",
            cuda="NotImplementedError: \"pdist_cuda\" not implemented for 'Half'",
            in_regions=("cpu",),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"pdist\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"pdist_cuda\" not implemented for 'BFloat16'",
            in_regions=("cpu",),
        ),
    },
    "pinverse": {
        "float16": Lack(
            cpu="RuntimeError: linalg.pinv(Half{[4, 4]}): expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble types",
            cuda="RuntimeError: linalg.pinv(Half{[4, 4]}): expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble types",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="RuntimeError: linalg.pinv(BFloat16{[4, 4]}): expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble types",
            cuda="RuntimeError: linalg.pinv(BFloat16{[4, 4]}): expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble types",
            in_regions=("cuda",),
        ),
    },
    "polar": {
        "float16": Lack(
            cpu="NotImplementedError: \"polar_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"polar_cuda\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="RuntimeError: Expected both inputs to be Half, Float or Double tensors but got BFloat16 and BFloat16",
            cuda="RuntimeError: Expected both inputs to be Half, Float or Double tensors but got BFloat16 and BFloat16",
            in_regions=("cuda",),
        ),
    },
    "qr": {
        "float16": Lack(
            cpu="NotImplementedError: \"geqrf_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"geqrf_cuda\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"geqrf_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"geqrf_cuda\" not implemented for 'BFloat16'",
            in_regions=("cuda",),
        ),
    },
    "quantile": {
        "float16": Lack(
            cpu="RuntimeError: quantile() input tensor must be either float or double dtype",
            cuda="RuntimeError: quantile() input tensor must be either float or double dtype",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="RuntimeError: quantile() input tensor must be either float or double dtype",
            cuda="RuntimeError: quantile() input tensor must be either float or double dtype",
            in_regions=("cuda",),
        ),
    },
    "slogdet": {
        "float16": Lack(
            cpu="RuntimeError: linalg.slogdet: Low precision dtypes not supported. Got Half",
            cuda="RuntimeError: linalg.slogdet: Low precision dtypes not supported. Got Half",
            in_regions=("cpu", "cuda"),
        ),
        "bfloat16": Lack(
            cpu="RuntimeError: linalg.slogdet: Low precision dtypes not supported. Got BFloat16",
            cuda="RuntimeError: linalg.slogdet: Low precision dtypes not supported. Got BFloat16",
            in_regions=("cpu", "cuda"),
        ),
    },
    "special.bessel_j0": {
        "float16": Lack(
            cpu="NotImplementedError: \"bessel_j0_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"bessel_j0_cuda\" not implemented for 'Half'",
            in_regions=("cpu", "cuda"),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"bessel_j0_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"bessel_j0_cuda\" not implemented for 'BFloat16'",
            in_regions=("cpu", "cuda"),
        ),
    },
    "special.bessel_j1": {
        "float16": Lack(
            cpu="NotImplementedError: \"bessel_j1_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"bessel_j1_cuda\" not implemented for 'Half'",
            in_regions=("cpu", "cuda"),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"bessel_j1_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"bessel_j1_cuda\" not implemented for 'BFloat16'",
            in_regions=("cpu", "cuda"),
        ),
    },
    "special.erfcx": {
        "float16": Lack(
            cpu="NotImplementedError: \"erfcx_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"erfcx_cuda\" not implemented for 'Half'",
            in_regions=("cpu", "cuda"),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"erfcx_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"erfcx_cuda\" not implemented for 'BFloat16'",
            in_regions=("cpu", "cuda"),
        ),
    },
    "special.gammainc": {
        "float16": Lack(
            cuda="NotImplementedError: \"igamma_cuda\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cuda="NotImplementedError: \"igamma_cuda\" not implemented for 'BFloat16'",
            in_regions=("cuda",),
        ),
    },
    "special.gammaincc": {
        "float16": Lack(
            cuda="NotImplementedError: \"igammac_cuda\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cuda="NotImplementedError: \"igammac_cuda\" not implemented for 'BFloat16'",
            in_regions=("cuda",),
        ),
    },
    "special.log_ndtr": {
        "float16": Lack(
            cpu="NotImplementedError: \"log_ndtr_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"log_ndtr_cuda\" not implemented for 'Half'",
            in_regions=("cpu", "cuda"),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"log_ndtr_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"log_ndtr_cuda\" not implemented for 'BFloat16'",
            in_regions=("cpu", "cuda"),
        ),
    },
    "special.ndtri": {
        "float16": Lack(
            cpu="NotImplementedError: \"ndtri_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"ndtri_cuda\" not implemented for 'Half'",
            in_regions=("cpu", "cuda"),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"ndtri_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"ndtri_cuda\" not implemented for 'BFloat16'",
            in_regions=("cpu", "cuda"),
        ),
    },
    "special.zeta": {
        "float16": Lack(
            cpu="NotImplementedError: \"zeta_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"zeta_cuda\" not implemented for 'Half'",
            in_regions=("cpu", "cuda"),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"zeta_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"zeta_cuda\" not implemented for 'BFloat16'",
            in_regions=("cpu", "cuda"),
        ),
    },
    "stft": {
        "float16": Lack(cpu="RuntimeError: MKL FFT doesn't support tensors of type: Half"),
        "bfloat16": Lack(
            cpu="RuntimeError: MKL FFT doesn't support tensors of type: BFloat16",
            cuda="RuntimeError: cuFFT doesn't support tensor of type: BFloat16",
            in_regions=("cuda",),
        ),
    },
    "svd": {
        "float16": Lack(
            cpu="NotImplementedError: \"linalg_svd_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"svd_cuda_gesvdjBatched\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"linalg_svd_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"svd_cuda_gesvdjBatched\" not implemented for 'BFloat16'",
            in_regions=("cuda",),
        ),
    },
    "svd_lowrank": {
        "float16": Lack(
            cpu="NotImplementedError: \"geqrf_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"geqrf_cuda\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="RuntimeError: expected m1 and m2 to have the same dtype, but got: c10::BFloat16 != float"
        ),
    },
    "triangular_solve": {
        "float16": Lack(
            cpu="NotImplementedError: \"triangular_solve_cpu\" not implemented for 'Half'",
            cuda="NotImplementedError: \"triangular_solve_cuda\" not implemented for 'Half'",
            in_regions=("cuda",),
        ),
        "bfloat16": Lack(
            cpu="NotImplementedError: \"triangular_solve_cpu\" not implemented for 'BFloat16'",
            cuda="NotImplementedError: \"triangular_solve_cuda\" not implemented for 'BFloat16'",
            in_regions=("cuda",),
        ),
    },
    "view_as_complex": {
        "bfloat16": Lack(
            cpu="RuntimeError: view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: BFloat16",
            cuda="RuntimeError: view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: BFloat16",
            in_regions=("cuda",),
        )
    },
}
"""By name, without `torch.`, and half dtype: functions and methods."""

AGREEING: Mapping[str, Agreement] = {
    "__setattr__": Agreement(
        operands=((0, "input"), (2, "value")),
        message="RuntimeError: attempting to assign a gradient with dtype '{second}' to a tensor with grad_dtype '{First}'.",
        in_regions=("cpu", "cuda"),
    ),
    "__setitem__": Agreement(
        operands=((0, "input"), (2, "value")),
        message="RuntimeError: Index put requires the source and destination dtypes match, got {First} for the destination and {Second} for the source.",
        in_regions=("cpu", "cuda"),
    ),
    "addbmm": Agreement(
        operands=((0, "input"), (1, "batch1"), (2, "batch2")),
        message="RuntimeError: self and mat2 must have the same dtype, but got {First} and {Second}",
    ),
    "addmm": Agreement(
        operands=((0, "input"), (1, "mat1"), (2, "mat2")),
        message="RuntimeError: self and mat2 must have the same dtype, but got {First} and {Second}",
    ),
    "addmm_": Agreement(
        operands=((0, "input"), (1, "mat1"), (2, "mat2")),
        message="RuntimeError: self and mat2 must have the same dtype, but got {First} and {Second}",
        in_regions=("cpu", "cuda"),
    ),
    "addmv": Agreement(
        operands=((0, "input"), (1, "mat"), (2, "vec")),
        message="RuntimeError: addmv input tensors must have the same dtype, but got {First}, {Second}, and {Second}",
        in_regions=("cpu",),
    ),
    "allclose": Agreement(
        operands=((0, "input"), (1, "other")),
        message="RuntimeError: {First} did not match {Second}",
        in_regions=("cpu", "cuda"),
    ),
    "baddbmm": Agreement(
        operands=((0, "input"), (1, "batch1"), (2, "batch2")),
        message="RuntimeError: Input dtypes must be the same, got: input {first}, batch1: {second}, batch2: {second}",
    ),
    "baddbmm_": Agreement(
        operands=((0, "input"), (1, "batch1"), (2, "batch2")),
        message="RuntimeError: Input dtypes must be the same, got: input {first}, batch1: {second}, batch2: {second}",
        in_regions=("cpu", "cuda"),
    ),
    "bmm": Agreement(
        operands=((0, "input"), (1, "mat2")),
        message="RuntimeError: expected scalar type {First} but found {Second}",
    ),
    "cdist": Agreement(
        operands=((0, "x1"), (1, "x2")),
        message="NotImplementedError: \"cdist\" not implemented for '{First}'",
    ),
    "chain_matmul": Agreement(
        operands=((0, "input"), (1, "")),
        message="RuntimeError: multi_dot(): all tensors must have be the same dtype but tensor 0 is {first} and tensor 1 {second}",
        in_regions=("cpu",),
    ),
    "cholesky_solve": Agreement(
        operands=((0, "input"), (1, "input2")),
        message="RuntimeError: Expected b and A to have the same dtype, but found b of type {First} and A of type {Second} instead.",
        in_regions=("cuda",),
    ),
    "complex": Agreement(
        operands=((0, "real"), (1, "imag")),
        message="RuntimeError: Expected both inputs to be Half, {Second} or Double tensors but got {First} and {Second}",
        in_regions=("cpu", "cuda"),
    ),
    "conv1d": Agreement(
        operands=((0, "input"), (1, "weight")),
        message="RuntimeError: Input type (CPU{First}Type) and weight type (torch.{Second}Tensor) should be the same or input should be a MKLDNN tensor and weight is a dense tensor",
    ),
    "conv2d": Agreement(
        operands=((0, "input"), (1, "weight")),
        message="RuntimeError: Input type (CPU{First}Type) and weight type (torch.{Second}Tensor) should be the same or input should be a MKLDNN tensor and weight is a dense tensor",
    ),
    "conv3d": Agreement(
        operands=((0, "input"), (1, "weight")),
        message="RuntimeError: Input type (CPU{First}Type) and weight type (torch.{Second}Tensor) should be the same or input should be a MKLDNN tensor and weight is a dense tensor",
    ),
    "conv_transpose1d": Agreement(
        operands=((0, "input"), (1, "weight")),
        message="RuntimeError: Input type (CPU{First}Type) and weight type (torch.{Second}Tensor) should be the same or input should be a MKLDNN tensor and weight is a dense tensor",
    ),
    "conv_transpose2d": Agreement(
        operands=((0, "input"), (1, "weight")),
        message="RuntimeError: Input type (CPU{First}Type) and weight type (torch.{Second}Tensor) should be the same or input should be a MKLDNN tensor and weight is a dense tensor",
    ),
    "conv_transpose3d": Agreement(
        operands=((0, "input"), (1, "weight")),
        message="RuntimeError: Input type (CPU{First}Type) and weight type (torch.{Second}Tensor) should be the same or input should be a MKLDNN tensor and weight is a dense tensor",
    ),
    "cross": Agreement(
        operands=((0, "input"), (1, "other")),
        message="RuntimeError: expected scalar type {First} but found {Second}",
        in_regions=("cpu",),
    ),
    "dot": Agreement(
        operands=((0, "input"), (1, "tensor")),
        message="RuntimeError: dot : expected both vectors to have same dtype, but found {First} and {Second}",
        in_regions=("cpu",),
    ),
    "einsum": Agreement(
        operands=((1, ""), (2, "")),
        message="RuntimeError: expected scalar type {First} but found {Second}",
    ),
    "heaviside": Agreement(
        operands=((0, "input"), (1, "values")),
        message="RuntimeError: heaviside is not yet implemented for tensors with different dtypes.",
        in_regions=("cpu", "cuda"),
    ),
    "index_add": Agreement(
        operands=((0, "input"), (3, "source")),
        message="RuntimeError: index_add_(): self ({First}) and source ({Second}) must have the same scalar type",
        in_regions=("cpu", "cuda"),
    ),
    "index_add_": Agreement(
        operands=((0, "input"), (3, "source")),
        message="RuntimeError: index_add_(): self ({First}) and source ({Second}) must have the same scalar type",
        in_regions=("cpu", "cuda"),
    ),
    "index_copy": Agreement(
        operands=((0, "input"), (3, "source")),
        message="RuntimeError: index_copy_(): self and source expected to have the same dtype, but got (self) {First} and (source) {Second}",
        in_regions=("cuda",),
    ),
    "index_copy_": Agreement(
        operands=((0, "input"), (3, "source")),
        message="RuntimeError: index_copy_(): self and source expected to have the same dtype, but got (self) {First} and (source) {Second}",
        in_regions=("cpu", "cuda"),
    ),
    "index_put": Agreement(
        operands=((0, "input"), (2, "values")),
        message="RuntimeError: Index put requires the source and destination dtypes match, got {First} for the destination and {Second} for the source.",
        in_regions=("cpu",),
    ),
    "index_put_": Agreement(
        operands=((0, "input"), (2, "values")),
        message="RuntimeError: Index put requires the source and destination dtypes match, got {First} for the destination and {Second} for the source.",
        in_regions=("cpu", "cuda"),
    ),
    "index_reduce": Agreement(
        operands=((0, "input"), (3, "source")),
        message="RuntimeError: index_reduce_(): self ({First}) and source ({Second}) must have the same scalar type",
        in_regions=("cpu", "cuda"),
    ),
    "index_reduce_": Agreement(
        operands=((0, "input"), (3, "source")),
        message="RuntimeError: index_reduce_(): self ({First}) and source ({Second}) must have the same scalar type",
        in_regions=("cpu", "cuda"),
    ),
    "isclose": Agreement(
        operands=((0, "input"), (1, "other")),
        message="RuntimeError: {First} did not match {Second}",
        in_regions=("cpu", "cuda"),
    ),
    "lerp": Agreement(
        operands=((0, "input"), (1, "end"), (2, "weight")),
        message="RuntimeError: expected dtype {first} for `end` but got dtype {second}",
        in_regions=("cpu", "cuda"),
    ),
    "lerp_": Agreement(
        operands=((0, "input"), (1, "end")),
        message="RuntimeError: expected dtype {first} for `end` but got dtype {second}",
        in_regions=("cpu", "cuda"),
    ),
    "linalg.cross": Agreement(
        operands=((0, "input"), (1, "other")),
        message="RuntimeError: expected scalar type {First} but found {Second}",
        in_regions=("cpu",),
    ),
    "linalg.householder_product": Agreement(
        operands=((0, "input"), (1, "tau")),
        message="RuntimeError: torch.linalg.householder_product: tau dtype {Second} does not match input dtype {First}",
        in_regions=("cuda",),
    ),
    "linalg.lstsq": Agreement(
        operands=((0, "input"), (1, "b")),
        message="RuntimeError: torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's dtype {First} and other's dtype {Second}",
        in_regions=("cuda",),
    ),
    "linalg.matmul": Agreement(
        operands=((0, "input"), (1, "other")),
        message="RuntimeError: expected m1 and m2 to have the same dtype, but got: {first} != {second}",
    ),
    "linalg.solve": Agreement(
        operands=((0, "A"), (1, "B")),
        message="RuntimeError: linalg.solve: Expected A and B to have the same dtype, but found A of type {First} and B of type {Second} instead",
        in_regions=("cuda",),
    ),
    "linalg.solve_ex": Agreement(
        operands=((0, "A"), (1, "B")),
        message="RuntimeError: linalg.solve: Expected A and B to have the same dtype, but found A of type {First} and B of type {Second} instead",
        in_regions=("cpu", "cuda"),
    ),
    "linalg.vecdot": Agreement(
        operands=((0, "x"), (1, "y")),
        message="RuntimeError: linalg.vecdot: Expected x and y to have the same dtype, but found x of type {First} and y of type {Second} instead",
    ),
    "masked_scatter": Agreement(
        operands=((0, "input"), (2, "source")),
        message="RuntimeError: masked_scatter: expected self and source to have same dtypes but got{First} and {Second}",
        in_regions=("cpu", "cuda"),
    ),
    "masked_scatter_": Agreement(
        operands=((0, "input"), (2, "source")),
        message="RuntimeError: masked_scatter: expected self and source to have same dtypes but got{First} and {Second}",
        in_regions=("cpu", "cuda"),
    ),
    "matmul": Agreement(
        operands=((0, "input"), (1, "other")),
        message="RuntimeError: expected m1 and m2 to have the same dtype, but got: {first} != {second}",
    ),
    "mm": Agreement(
        operands=((0, "input"), (1, "mat2")),
        message="RuntimeError: expected m1 and m2 to have the same dtype, but got: {first} != {second}",
    ),
    "mv": Agreement(
        operands=((0, "input"), (1, "vec")),
        message="RuntimeError: addmv input tensors must have the same dtype, but got {Second}, {First}, and {Second}",
        in_regions=("cpu",),
    ),
    "nn.functional.binary_cross_entropy": Agreement(
        operands=((0, "input"), (1, "target")),
        message="RuntimeError: Found dtype {Second} but expected {First}",
    ),
    "nn.functional.conv1d": Agreement(
        operands=((0, "input"), (1, "weight")),
        message="RuntimeError: Input type (CPU{First}Type) and weight type (torch.{Second}Tensor) should be the same or input should be a MKLDNN tensor and weight is a dense tensor",
    ),
    "nn.functional.conv2d": Agreement(
        operands=((0, "input"), (1, "weight")),
        message="RuntimeError: Input type (CPU{First}Type) and weight type (torch.{Second}Tensor) should be the same or input should be a MKLDNN tensor and weight is a dense tensor",
    ),
    "nn.functional.conv3d": Agreement(
        operands=((0, "input"), (1, "weight")),
        message="RuntimeError: Input type (CPU{First}Type) and weight type (torch.{Second}Tensor) should be the same or input should be a MKLDNN tensor and weight is a dense tensor",
    ),
    "nn.functional.conv_transpose1d": Agreement(
        operands=((0, "input"), (1, "weight")),
        message="RuntimeError: Input type (CPU{First}Type) and weight type (torch.{Second}Tensor) should be the same or input should be a MKLDNN tensor and weight is a dense tensor",
    ),
    "nn.functional.conv_transpose2d": Agreement(
        operands=((0, "input"), (1, "weight")),
        message="RuntimeError: Input type (CPU{First}Type) and weight type (torch.{Second}Tensor) should be the same or input should be a MKLDNN tensor and weight is a dense tensor",
    ),
    "nn.functional.conv_transpose3d": Agreement(
        operands=((0, "input"), (1, "weight")),
        message="RuntimeError: Input type (CPU{First}Type) and weight type (torch.{Second}Tensor) should be the same or input should be a MKLDNN tensor and weight is a dense tensor",
    ),
    "nn.functional.cross_entropy": Agreement(
        operands=((0, "input"), (2, "weight")),
        message="RuntimeError: expected scalar type {First} but found {Second}",
    ),
    "nn.functional.grid_sample": Agreement(
        operands=((0, "input"), (1, "grid")),
        message="RuntimeError: expected scalar type {First} but found {Second}",
    ),
    "nn.functional.linear": Agreement(
        operands=((0, "input"), (1, "weight")),
        message="RuntimeError: expected m1 and m2 to have the same dtype, but got: {first} != {second}",
    ),
    "nn.functional.nll_loss": Agreement(
        operands=((0, "input"), (2, "weight")),
        message="RuntimeError: expected scalar type {First} but found {Second}",
    ),
    "nn.functional.prelu": Agreement(
        operands=((0, "input"), (1, "weight")),
        message="RuntimeError: prelu: Type promoting not supported. Got {First} and {Second}",
    ),
    "nn.functional.scaled_dot_product_attention": Agreement(
        operands=((0, "query"), (1, "key"), (2, "value")),
        message="RuntimeError: Expected query, key, and value to have the same dtype, but got query.dtype: {first} key.dtype: {second} and value.dtype: {second} instead.",
    ),
    "orgqr": Agreement(
        operands=((0, "input"), (1, "input2")),
        message="RuntimeError: torch.linalg.householder_product: tau dtype {Second} does not match input dtype {First}",
        in_regions=("cuda",),
    ),
    "polar": Agreement(
        operands=((0, "abs"), (1, "angle")),
        message="RuntimeError: Expected both inputs to be Half, {Second} or Double tensors but got {First} and {Second}",
        in_regions=("cuda",),
    ),
    "prelu": Agreement(
        operands=((0, "input"), (1, "weight")),
        message="RuntimeError: prelu: Type promoting not supported. Got {First} and {Second}",
    ),
    "put": Agreement(
        operands=((0, "input"), (2, "source")),
        message="RuntimeError: put_(): self and source expected to have the same dtype, but got self.dtype = {First} and source.dtype = {Second}",
        in_regions=("cpu", "cuda"),
    ),
    "put_": Agreement(
        operands=((0, "input"), (2, "source")),
        message="RuntimeError: put_(): self and source expected to have the same dtype, but got self.dtype = {First} and source.dtype = {Second}",
        in_regions=("cpu", "cuda"),
    ),
    "scatter": Agreement(
        operands=((0, "input"), (3, "src")),
        message="RuntimeError: scatter(): Expected self.dtype to be equal to src.dtype",
        in_regions=("cpu", "cuda"),
    ),
    "scatter_": Agreement(
        operands=((0, "input"), (3, "src")),
        message="RuntimeError: scatter(): Expected self.dtype to be equal to src.dtype",
        in_regions=("cpu", "cuda"),
    ),
    "scatter_add": Agreement(
        operands=((0, "input"), (3, "src")),
        message="RuntimeError: scatter(): Expected self.dtype to be equal to src.dtype",
        in_regions=("cpu",),
    ),
    "scatter_add_": Agreement(
        operands=((0, "input"), (3, "src")),
        message="RuntimeError: scatter(): Expected self.dtype to be equal to src.dtype",
        in_regions=("cpu", "cuda"),
    ),
    "scatter_reduce": Agreement(
        operands=((0, "input"), (3, "src")),
        message="RuntimeError: scatter(): Expected self.dtype to be equal to src.dtype",
        in_regions=("cpu", "cuda"),
    ),
    "scatter_reduce_": Agreement(
        operands=((0, "input"), (3, "src")),
        message="RuntimeError: scatter(): Expected self.dtype to be equal to src.dtype",
        in_regions=("cpu", "cuda"),
    ),
    "tensordot": Agreement(
        operands=((0, "a"), (1, "b")),
        message="RuntimeError: both inputs should have same dtype",
        in_regions=("cpu",),
    ),
    "triangular_solve": Agreement(
        operands=((0, "input"), (1, "A")),
        message="RuntimeError: Expected b and A to have the same dtype, but found b of type {First} and A of type {Second} instead.",
        in_regions=("cuda",),
    ),
    "vdot": Agreement(
        operands=((0, "input"), (1, "other")),
        message="RuntimeError: dot : expected both vectors to have same dtype, but found {First} and {Second}",
        in_regions=("cpu",),
    ),
}
"""By name, without `torch.`: functions and methods."""

TAKEN: Mapping[str, frozenset[tuple[str, str]]] = {
    "Linear": frozenset([]),
    "Conv1d": frozenset([]),
    "Conv2d": frozenset([]),
    "Conv3d": frozenset([]),
    "ConvTranspose1d": frozenset([]),
    "ConvTranspose2d": frozenset([]),
    "ConvTranspose3d": frozenset([]),
    "LayerNorm": frozenset([("float16", "float32"), ("bfloat16", "float32")]),
    "GroupNorm": frozenset([("float16", "float32"), ("bfloat16", "float32")]),
    "PReLU": frozenset([]),
    "RNN": frozenset([]),
    "LSTM": frozenset([]),
    "GRU": frozenset([]),
    "RNNCell": frozenset([]),
    "LSTMCell": frozenset([]),
    "GRUCell": frozenset([]),
    "TransformerEncoderLayer": frozenset([]),
    "MultiheadAttention": frozenset([]),
}
"""By class of `torch.nn`, different dtypes of input and parameters that it takes."""
