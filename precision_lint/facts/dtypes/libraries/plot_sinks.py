"""Plots: matplotlib 3.11, seaborn 0.13, plotly 7.1."""

from __future__ import annotations

from precision_lint.facts.dtypes.libraries.conversion import Sink, Sinks

_PLOT = Sink(
    keywords=frozenset(
        """
        C U V X Y Z bins bottom c data dataset extent height left positions right s ticks top
        weights width x x1 x2 xerr xmax xmin y y1 y2 yerr ymax ymin z
        """.split()
    )
)

_PLOTTING = """
    acorr axhline axhspan axvline axvspan bar barbs barh boxplot broken_barh contour contourf ecdf
    errorbar eventplot fill fill_between fill_betweenx hexbin hist hist2d hlines imshow loglog
    magnitude_spectrum matshow pcolor pcolormesh pie plot psd quiver scatter semilogx semilogy
    specgram spy stackplot stairs stem step tricontour tricontourf tripcolor violinplot vlines
""".split()

SINKS: Sinks = (
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
        "plotly.graph_objects",
        _PLOT,
        "Bar Box Contour Heatmap Histogram Image Scatter Scatter3d Surface Violin",
    ),
    ("plotly.express", _PLOT, "area bar box histogram line scatter violin"),
    ("plotly.express", Sink(frozenset({0}), frozenset({"img"})), "imshow"),
)

METHODS: dict[str, Sink] = dict.fromkeys(
    # an optimizer steps far more often than a plot does
    [name for name in _PLOTTING if name != "step"]
    + "plot_surface plot_wireframe set_xlim set_xticks set_ylim set_yticks".split(),
    _PLOT,
)
"""Methods of axes."""
