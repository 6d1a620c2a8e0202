"""precision-lint: finds mixed-precision mistakes before GPU time is spent on them.

Data flows one way: `source` reads files, `dtypes`, `triton_types` and `consumers` turn them into
facts, rules turn facts into findings, fixers build edits, `report` prints.
"""

from precision_lint.version import __version__

__all__ = ["__version__"]
