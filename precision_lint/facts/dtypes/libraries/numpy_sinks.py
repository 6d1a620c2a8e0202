"""NumPy: which of its functions convert tensors. Measured with NumPy 2.4 and torch 2.13."""

from __future__ import annotations

from precision_lint.facts.dtypes.libraries.conversion import ANOTHER, ARRAY, Sink, Sinks

_OF_LISTS = Sink(tensors=False)

SINKS: Sinks = (
    (
        "numpy",
        ARRAY,
        """
        allclose angle append arange array asanyarray asarray asarray_chkfinite ascontiguousarray
        asfortranarray atleast_1d atleast_2d atleast_3d average broadcast
        broadcast_arrays broadcast_to column_stack complex128 complex64 convolve copy copyto
        corrcoef correlate count_nonzero cov cross cumulative_prod cumulative_sum diag diagonal diff
        digitize dot dstack einsum empty_like expand_dims extract flatnonzero fliplr flipud
        float16 float32 float64 full full_like geomspace gradient histogram histogram2d
        histogram_bin_edges hstack inner int16 int32 int64 int8 interp intersect1d isin
        kron matrix_transpose median meshgrid nan_to_num nanargmax nanargmin nancumprod nancumsum
        nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar
        ones_like outer pad partition percentile polyadd polydiv polyfit polymul polysub polyval
        quantile ravel resize roll rot90 save savetxt savez savez_compressed sinc sort stack
        tensordot tile trace trapezoid tril triu uint16 uint32 uint64 uint8 union1d unique unwrap
        vdot vstack where zeros_like
        """,
    ),
    (
        "numpy",
        ANOTHER,
        """
        abs absolute acos acosh add arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax
        argmin argpartition argsort around asin asinh atan atan2 atanh bincount cbrt ceil
        clip compress conj conjugate copysign cos cosh cumprod cumsum deg2rad degrees diagflat
        divide divmod ediff1d equal exp exp2 expm1 fabs fix float_power floor floor_divide fmax
        fmin fmod frexp greater greater_equal heaviside histogramdd hypot isclose isfinite isinf
        isnan isneginf isposinf ldexp less less_equal linspace log log10 log1p log2 logaddexp
        logaddexp2 logical_and logical_not logical_or logical_xor logspace matmul maximum minimum
        mod modf multiply negative nextafter not_equal permute_dims positive pow power ptp rad2deg
        radians reciprocal remainder repeat reshape rint round searchsorted sign signbit sin sinh
        spacing sqrt square subtract take tan tanh transpose true_divide trunc vecdot
        """,
    ),
    (
        "numpy",
        _OF_LISTS,  # of a tensor they call its own methods
        """
        all amax amin any concat concatenate flip imag lexsort max mean min ndim nonzero prod real
        shape size squeeze std sum var
        """,
    ),
    (
        "numpy.linalg",
        ARRAY,
        """
        cond det diagonal eigvals eigvalsh matrix_norm matrix_power matrix_rank matrix_transpose
        multi_dot norm outer slogdet svdvals tensordot tensorsolve trace vector_norm
        """,
    ),
    (
        "numpy.linalg",
        ANOTHER,
        "cholesky eig eigh inv lstsq matmul pinv qr solve svd vecdot",
    ),
    (
        "numpy.fft",
        ARRAY,
        """
        fft fft2 fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn rfft
        rfft2 rfftn
        """,
    ),
    ("numpy.ma", ARRAY, "array masked_array masked_equal masked_invalid masked_where"),
    ("numpy.random", ARRAY, "choice multinomial normal permutation"),
    (
        "numpy.testing",
        ARRAY,
        """
        assert_allclose assert_almost_equal assert_array_almost_equal
        assert_array_equal assert_array_less assert_array_max_ulp assert_equal
        """,
    ),
    (
        "torch.Tensor",
        Sink(frozenset({0}), frozenset(), lists=False, array="something else"),
        "numpy __array__",
    ),
)
