"""Bodies of functions that turn tensors into NumPy arrays, for the oracle of fixes.

Each is the body of `run(x, y, m)`: two vectors and a matrix whose dtype the caller chooses. With
float32 it runs, with bfloat16 it raises. `SAFE` ones are repaired by `--fix` without a change for
any other dtype; `UNSAFE` ones give tensors back for tensors, and arrays after `--unsafe-fixes`.
`HELD` names those of the others that `--unsafe-fixes` repairs: their tensors are in a container,
which could hold Python numbers as well.
"""

from __future__ import annotations

SAFE = {
    # methods
    "numpy": "return x.numpy()",
    "numpy of a chain": "return x.detach().cpu().reshape(2, 2).numpy()",
    "numpy by force": "return x.numpy(force=True)",
    "numpy and on": "return x.cpu().numpy().round(2).tolist()",
    "numpy of an operator": "return (x - y).numpy(), m.T.numpy()",
    "__array__": "return x.__array__()",
    "__array__ with a dtype": "return x.__array__(np.float64)",
    # one argument
    "asarray": "return np.asarray(x)",
    "array": "return np.array(x)",
    "array with a dtype": "return np.array(x, dtype=np.float64)",
    "ascontiguousarray": "return np.ascontiguousarray(m.T)",
    "a scalar type": "return np.float32(x), np.float64(x[0])",
    "copy": "return np.copy(x)",
    "norm": "return np.linalg.norm(x - y)",
    "det": "return np.linalg.det(m)",
    "singular values": "return np.linalg.svdvals(m)",
    "median": "return np.median(x)",
    "percentile": "return np.percentile(x, 50)",
    "quantile by keyword": "return np.quantile(a=x, q=0.25)",
    "histogram": "return np.histogram(x, bins=3)",
    "unique": "return np.unique(x, return_counts=True)",
    "nanmean": "return np.nanmean(x)",
    "cov": "return np.cov(m)",
    "pad": "return np.pad(x, 1)",
    "expand_dims": "return np.expand_dims(x, 0)",
    "triu": "return np.triu(m)",
    "zeros_like": "return np.zeros_like(x)",
    "fft": "return np.fft.rfft(x)",
    "a masked array": "return np.ma.masked_invalid(x).sum()",
    "sort": "return np.sort(x)",
    "full": "return np.full((2, 2), fill_value=x[0])",
    # several arguments
    "where": "return np.where(x > 1, x, y)",
    "dot": "return np.dot(x, y), np.vdot(x, y)",
    "outer": "return np.outer(x, y)",
    "einsum": "return np.einsum('i,j->ij', x, y)",
    "allclose": "return np.allclose(x, y), np.allclose(x, x)",
    "interp": "return np.interp(x, [0.0, 4.0], [0.0, 1.0])",
    "weights": "return np.average(np.arange(4.0), weights=x)",
    "an array and a tensor": "return np.append(np.zeros(2), x)",
    "testing": "np.testing.assert_allclose(x, desired=x)",
    # files
    "save": "file = io.BytesIO()\nnp.save(file, x)\nreturn loaded(file)",
    "savez": "file = io.BytesIO()\nnp.savez(file, x, y=y)\nreturn loaded(file)",
    "savez of a literal": (
        "file = io.BytesIO()\nnp.savez(file, **{'x': x, 'y': y})\nreturn loaded(file)"
    ),
    "savez of a comprehension": (
        "file = io.BytesIO()\n"
        "np.savez(file, **{key: t.cpu() for key, t in {'x': x, 'y': y}.items()})\n"
        "return loaded(file)"
    ),
    "savetxt": "file = io.StringIO()\nnp.savetxt(file, x)\nreturn file.getvalue()",
    # lists
    "a list of scalars": "return np.array([x[0], x[1]])",
    "a list with numbers": "return np.array([x[0], 1.0, y[1]])",
    "a tuple": "return np.stack((x, y))",
    "nested lists": "return np.array([[x[0], x[1]], [y[0], y[1]]])",
    "a list by name": "xs = [x, y]\nreturn np.stack(xs)",
    "a list that grows": (
        "xs = []\nfor t in (x, y):\n    xs.append(t.sum())\nreturn np.mean(xs), np.array(xs)"
    ),
    "a comprehension": "return np.concatenate([t * 2 for t in (x, y)])",
    "what a method returns": "return np.vstack(x.split(2))",
    "two lists": "return np.concatenate([x, y]), np.column_stack([x, y])",
    "a function that would give a tensor back": "return np.exp([x[0], x[1]])",
    "reductions of lists": "return np.sum([x, y], axis=0), np.max([x[0], y[1]]), np.std([x, y])",
    "a list in a variable of a loop": (
        "rows = [[t[0], t[1]] for t in (x, y)]\nreturn [np.array(row) for row in rows]"
    ),
}  # fmt: skip

UNSAFE = {
    "sqrt": "return np.sqrt(x)",
    "abs": "return np.abs(x - y)",
    "exp of a scalar": "return np.exp(x.max())",
    "isnan": "return np.isnan(x)",
    "clip": "return np.clip(x, 0, 2)",
    "maximum": "return np.maximum(x, y)",
    "argsort": "return np.argsort(x)",
    "round": "return np.round(x, 2)",
    "an array and a tensor": "return np.add(np.ones(4), x)",
    "singular vectors": "return np.linalg.svd(m)",
    "transpose": "return np.transpose(m)",
}

OTHERS = {
    "pandas": {
        "Series": "return pd.Series(x)",
        "DataFrame": "return pd.DataFrame(m)",
        "columns": "return pd.DataFrame({'x': x, 'y': y})",
    },
    "sklearn": {
        "a metric": "return sklearn.metrics.mean_squared_error(x, y)",
        "similarity": "return sklearn.metrics.pairwise.cosine_similarity(m, m)",
        "confusion": "return sklearn.metrics.confusion_matrix(x > 1, y.round())",
    },
    "scipy": {
        "pearsonr": "return tuple(scipy.stats.pearsonr(x, y))",
        "cdf": "return scipy.stats.norm.cdf(x)",
        "cdist": "return scipy.spatial.distance.cdist(m, m)",
        "softmax": "return scipy.special.softmax(x)",
    },
    "matplotlib": {
        "plot": "line, = plt.plot(x, y)\nreturn line.get_xydata()",
        "hist": "return plt.hist(x)[:2]",
        "axes": "_, ax = plt.subplots()\nreturn ax.imshow(m).get_array()",
        "a list": "line, = plt.plot([x[0], x[1]])\nreturn line.get_ydata()",
    },
}
"""By the library that they need."""

HELD = frozenset(
    {
        "a comprehension",
        "a function that would give a tensor back",
        "a list by name",
        "a list in a variable of a loop",
        "a list of scalars",
        "a list that grows",
        "a list with numbers",
        "a tuple",
        "columns",
        "nested lists",
        "reductions of lists",
        "savez of a comprehension",
        "savez of a literal",
        "two lists",
        "what a method returns",
    }
)
