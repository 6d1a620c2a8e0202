"""Where tensors become NumPy arrays: which arguments of which calls, and which dtypes that stops.

Measured with torch 2.13, NumPy 2.4, pandas 3.1, matplotlib 3.11, scikit-learn 1.9 and scipy 1.17: a
call is named here if it works with float32 tensors and raises `Got unsupported ScalarType BFloat16`
with bfloat16 ones. Calls that take bfloat16 (`np.split`, `train_test_split`, `plt.title`) and calls
that take no tensor at all (`np.mean(t)`, `cv2.resize`, `Image.fromarray`) are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from precision_lint.facts.dtypes.calls import Argument, Call
from precision_lint.facts.dtypes.values import (
    UNKNOWN,
    Dictionary,
    ModelOutput,
    NonTensor,
    Sequence,
    Tensor,
    Value,
)
from precision_lint.model.dtypes import BFLOAT16, FLOAT8

LACKING = frozenset({BFLOAT16}) | FLOAT8
"""The floating dtypes that NumPy lacks; float32 holds them without loss."""


def scalar_type(dtype: str) -> str:
    """What torch calls one of them in its message."""
    return "BFloat16" if dtype == BFLOAT16 else dtype.capitalize()


@dataclass(frozen=True, slots=True)
class Sink:
    """What a call turns into arrays: its `receiver`, or arguments by position and keyword.

    None is any of them. Converted are `tensors` as they are, those in `lists`, and the values of
    `mappings`; `scalars` says whether a tensor without dimensions counts, too. `array` says what
    the call makes of an array in the tensor's place: the same, another result (a ufunc gives a
    tensor back for a tensor, scikit-learn computes in float64 for one, seaborn writes its name on
    an axis), or something else (an image with its channels last, an error).
    """

    positions: frozenset[int] | None = None
    keywords: frozenset[str] | None = None
    receiver: bool = False
    tensors: bool = True
    lists: bool = True
    mappings: bool = False
    scalars: bool = True
    array: Literal["same", "another result", "something else"] = "same"

    def converted(self, call: Call) -> Iterator[Argument]:
        """The receiver or the arguments that become arrays, reduced to their tensors."""
        if self.receiver:
            if call.receiver_span is not None:
                yield Argument(self._tensors_of(call.receiver), call.receiver_span)
            return
        for position, argument in enumerate(call.arguments):
            if argument.starred:
                break  # what follows it has no known position
            if self.positions is None or position in self.positions:
                yield replace(argument, value=self._tensors_of(argument.value))
        for name, argument in call.keywords.items():
            if self.keywords is None and name == "**":
                values = replace(self, mappings=True)._tensors_of(argument.value)
                yield replace(argument, value=values)
            elif self.keywords is None or name in self.keywords:
                yield replace(argument, value=self._tensors_of(argument.value))

    def _tensors_of(self, value: Value) -> Value:
        """The value, with nothing known of those parts that do not become arrays.

        A `ModelOutput` may be an image, an array or JSON as well as a tensor: NumPy takes those.
        """
        match value:
            case Tensor(scalar=scalar) if self.tensors and (self.scalars or not scalar):
                return value
            case Sequence(item=item, items=items) if self.lists:
                inner = replace(self, tensors=True)
                return Sequence(
                    inner._tensors_of(item),
                    None if items is None else tuple(map(inner._tensors_of, items)),
                )
            case Dictionary(item=item, items=items) if self.mappings:
                return Dictionary(
                    self._tensors_of(item),
                    None
                    if items is None
                    else tuple((key, self._tensors_of(held)) for key, held in items),
                )
        return UNKNOWN


def tensors(value: Value) -> Iterator[Tensor]:
    """The tensors that a value is or holds."""
    match value:
        case Tensor():
            yield value
        case Sequence(items=tuple(items)):
            for item in items:
                yield from tensors(item)
        case Dictionary(items=tuple(members)):
            for _, item in members:
                yield from tensors(item)
        case Sequence(item=item) | Dictionary(item=item):
            yield from tensors(item)


def sink_of(call: Call) -> Sink | None:
    """What the call turns into arrays; None if that is nothing, or not known."""
    if call.function is not None:
        return FUNCTIONS.get(call.function) or _of_distribution(call.function)
    if isinstance(call.receiver, Tensor | ModelOutput):
        return METHODS_OF_TENSORS.get(call.name)
    if isinstance(call.receiver, NonTensor):
        return METHODS_OF_OTHERS.get(call.name)
    return None


def _of_distribution(function: str) -> Sink | None:
    """`scipy.stats.norm.cdf`: the methods of a distribution; making one converts nothing."""
    match function.split("."):
        case ["scipy", "stats", _, method] if method in _DISTRIBUTION:
            return _ARRAY
    return None


_ARRAY = Sink()
_ANOTHER = Sink(array="another result")
_OF_LISTS = Sink(tensors=False)
_PLOT = Sink(
    keywords=frozenset(
        """
        C U V X Y Z bins bottom c data dataset extent height left positions right s ticks top
        weights width x x1 x2 xerr xmax xmin y y1 y2 yerr ymax ymin z
        """.split()
    )
)
_FRAME = Sink(frozenset({0}), frozenset({"data"}), lists=False, mappings=True, scalars=False)

_PLOTTING = """
    acorr axhline axhspan axvline axvspan bar barbs barh boxplot broken_barh contour contourf ecdf
    errorbar eventplot fill fill_between fill_betweenx hexbin hist hist2d hlines imshow loglog
    magnitude_spectrum matshow pcolor pcolormesh pie plot psd quiver scatter semilogx semilogy
    specgram spy stackplot stairs stem step tricontour tricontourf tripcolor violinplot vlines
""".split()

_DISTRIBUTION = frozenset("cdf fit isf logcdf logpdf logpmf logsf pdf pmf ppf sf".split())

_MODULES: tuple[tuple[str, Sink, str], ...] = (
    (
        "numpy",
        _ARRAY,
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
        _ANOTHER,
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
        _ARRAY,
        """
        cond det diagonal eigvals eigvalsh matrix_norm matrix_power matrix_rank matrix_transpose
        multi_dot norm outer slogdet svdvals tensordot tensorsolve trace vector_norm
        """,
    ),
    (
        "numpy.linalg",
        _ANOTHER,
        "cholesky eig eigh inv lstsq matmul pinv qr solve svd vecdot",
    ),
    (
        "numpy.fft",
        _ARRAY,
        """
        fft fft2 fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn rfft
        rfft2 rfftn
        """,
    ),
    ("numpy.ma", _ARRAY, "array masked_array masked_equal masked_invalid masked_where"),
    ("numpy.random", _ARRAY, "choice multinomial normal permutation"),
    (
        "numpy.testing",
        _ARRAY,
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
    ("pandas", _FRAME, "DataFrame Series"),
    ("pandas", Sink(lists=False, scalars=False), "crosstab get_dummies"),
    ("matplotlib.pyplot", _PLOT, " ".join([*_PLOTTING, "imsave polar xlim xticks ylim yticks"])),
    ("seaborn", Sink(keywords=frozenset({"data"})), "clustermap heatmap"),
    (
        "seaborn",
        Sink(
            keywords=frozenset({"data", "x", "y"}),
            lists=False,
            mappings=True,
            array="another result",
        ),
        """
        barplot boxplot displot ecdfplot histplot jointplot kdeplot lineplot scatterplot stripplot
        violinplot
        """,
    ),
    (
        "sklearn.metrics",
        _ARRAY,
        """
        accuracy_score adjusted_mutual_info_score adjusted_rand_score auc average_precision_score
        balanced_accuracy_score brier_score_loss classification_report cohen_kappa_score
        completeness_score confusion_matrix davies_bouldin_score dcg_score det_curve
        euclidean_distances explained_variance_score f1_score fowlkes_mallows_score hamming_loss
        hinge_loss homogeneity_score jaccard_score matthews_corrcoef max_error
        mean_absolute_error mean_absolute_percentage_error mean_pinball_loss mean_squared_error
        mean_squared_log_error median_absolute_error multilabel_confusion_matrix mutual_info_score
        ndcg_score normalized_mutual_info_score pair_confusion_matrix pairwise_distances
        pairwise_distances_argmin pairwise_distances_argmin_min pairwise_kernels
        precision_recall_curve precision_recall_fscore_support precision_score r2_score rand_score
        recall_score roc_auc_score roc_curve root_mean_squared_error root_mean_squared_log_error
        silhouette_samples silhouette_score top_k_accuracy_score v_measure_score zero_one_loss
        """,
    ),
    ("sklearn.metrics", _ANOTHER, "log_loss"),
    (
        "sklearn.metrics.pairwise",
        _ARRAY,
        """
        chi2_kernel cosine_distances cosine_similarity euclidean_distances laplacian_kernel
        linear_kernel manhattan_distances paired_cosine_distances paired_distances
        paired_euclidean_distances paired_manhattan_distances pairwise_distances
        pairwise_distances_argmin pairwise_distances_argmin_min pairwise_kernels polynomial_kernel
        rbf_kernel sigmoid_kernel
        """,
    ),
    (
        "sklearn.preprocessing",
        _ANOTHER,
        """
        binarize label_binarize maxabs_scale minmax_scale normalize power_transform
        quantile_transform robust_scale scale
        """,
    ),
    (
        "sklearn.feature_selection",
        _ANOTHER,
        "chi2 f_classif f_regression mutual_info_classif mutual_info_regression r_regression",
    ),
    ("sklearn.model_selection", _ANOTHER, "cross_val_predict cross_val_score cross_validate"),
    ("sklearn.utils", _ARRAY, "check_X_y check_array column_or_1d"),
    (
        "scipy.stats",
        _ARRAY,
        """
        anderson_ksamp bartlett binned_statistic circmean circstd cramervonmises_2samp describe
        differential_entropy energy_distance entropy f_oneway gaussian_kde gmean gstd gzscore hmean
        iqr jarque_bera kendalltau kruskal ks_2samp kstest kurtosis levene linregress mannwhitneyu
        median_abs_deviation mode moment normaltest pearsonr percentileofscore pmean pointbiserialr
        probplot rankdata scoreatpercentile sem shapiro sigmaclip skew spearmanr theilslopes tmean
        trim_mean tstd ttest_1samp ttest_ind ttest_rel tvar variation wasserstein_distance
        weightedtau wilcoxon zmap zscore
        """,
    ),
    ("scipy.special", _ARRAY, "log_softmax logsumexp sinc softmax"),
    (
        "scipy.special",
        _ANOTHER,
        """
        beta betaln boxcox cbrt digamma entr erf erfc erfcinv erfinv exp10 exp2 expit expm1 gamma
        gammainc gammaln huber i0 i0e i1 i1e inv_boxcox kl_div log1p log_expit log_ndtr loggamma
        logit ndtr ndtri pseudo_huber psi rel_entr softplus xlog1py xlogy
        """,
    ),
    (
        "scipy.signal",
        _ARRAY,
        """
        convolve convolve2d correlate correlate2d decimate deconvolve detrend fftconvolve
        find_peaks find_peaks_cwt hilbert istft lfilter lombscargle medfilt medfilt2d oaconvolve
        periodogram resample resample_poly savgol_filter spectrogram stft upfirdn welch wiener
        """,
    ),
    ("scipy.signal", _ANOTHER, "csd"),
    ("scipy.spatial", _ARRAY, "ConvexHull Delaunay KDTree Voronoi cKDTree distance_matrix"),
    (
        "scipy.spatial.distance",
        _ARRAY,
        """
        braycurtis canberra cdist chebyshev cityblock correlation cosine dice directed_hausdorff
        euclidean hamming jaccard minkowski pdist seuclidean sqeuclidean squareform
        """,
    ),
    ("scipy.spatial.distance", _ANOTHER, "jensenshannon"),
    (
        "scipy.ndimage",
        _ARRAY,
        """
        binary_closing binary_dilation binary_erosion binary_fill_holes binary_opening
        center_of_mass convolve convolve1d correlate correlate1d distance_transform_edt extrema
        gaussian_filter gaussian_filter1d gaussian_gradient_magnitude gaussian_laplace
        grey_closing grey_dilation grey_erosion grey_opening label laplace maximum_filter
        median_filter minimum_filter percentile_filter prewitt shift sobel uniform_filter
        uniform_filter1d zoom
        """,
    ),
    (
        "scipy.linalg",
        _ARRAY,
        """
        block_diag cho_factor cholesky cosm det eig eigh eigvals eigvalsh expm inv logm lstsq lu
        lu_factor norm null_space orth orthogonal_procrustes pinv pinvh polar qr schur sinm solve
        solve_triangular sqrtm subspace_angles svd svdvals toeplitz
        """,
    ),
    (
        "scipy.fft",
        _ARRAY,
        """
        dct dctn dst dstn fft fft2 fftn fftshift idct idctn idst idstn ifft ifft2 ifftn ifftshift
        irfft irfft2 irfftn rfft rfft2 rfftn
        """,
    ),
    ("scipy.cluster.hierarchy", _ARRAY, "average centroid complete linkage median single ward"),
    (
        "scipy.interpolate",
        _ARRAY,
        """
        Akima1DInterpolator CubicSpline InterpolatedUnivariateSpline PchipInterpolator
        RBFInterpolator UnivariateSpline griddata interp1d make_interp_spline splrep
        """,
    ),
    ("scipy.optimize", _ARRAY, "isotonic_regression linear_sum_assignment linprog nnls"),
    ("scipy.integrate", _ARRAY, "cumulative_simpson cumulative_trapezoid romb simpson trapezoid"),
    ("scipy.sparse", _ARRAY, "coo_array coo_matrix"),
    ("scipy.io", Sink(frozenset({1}), frozenset({"mdict"}), mappings=True), "savemat"),
    ("soundfile", Sink(frozenset({1}), frozenset({"data"})), "write"),
    *(
        (module, Sink(frozenset({1}), frozenset({"im", "image"})), "imwrite imsave")
        for module in ("imageio", "imageio.v2", "imageio.v3")
    ),
    *(
        (
            module,
            Sink(frozenset({0}), frozenset({"pic"}), lists=False, array="something else"),
            "to_pil_image",
        )
        for module in ("torchvision.transforms.functional", "torchvision.transforms.v2.functional")
    ),
)

FUNCTIONS: Mapping[str, Sink] = {
    f"{module}.{name}": sink for module, sink, names in _MODULES for name in names.split()
}
"""By qualified name."""

METHODS_OF_TENSORS: Mapping[str, Sink] = dict.fromkeys(
    ("numpy", "__array__"), Sink(receiver=True, lists=False)
)

METHODS_OF_OTHERS: Mapping[str, Sink] = {
    # axes
    **dict.fromkeys(
        # an optimizer steps far more often than a plot does
        [name for name in _PLOTTING if name != "step"]
        + "plot_surface plot_wireframe set_xlim set_xticks set_ylim set_yticks".split(),
        _PLOT,
    ),
    # estimators
    **dict.fromkeys(
        """
        decision_function fit fit_predict fit_transform inverse_transform kneighbors partial_fit
        predict predict_log_proba predict_proba score score_samples transform
        """.split(),
        _ANOTHER,
    ),
    # data frames, files of HDF5
    "assign": Sink(frozenset(), lists=False, scalars=False),
    "create_dataset": Sink(frozenset({3}), frozenset({"data"})),
}
"""Methods of objects that are no tensors: figures, models of scikit-learn, data frames."""

PACKAGES = frozenset(name.partition(".")[0] for name in FUNCTIONS) - {"torch", "torchvision"}
"""The packages that the functions belong to, torch's own left out."""
