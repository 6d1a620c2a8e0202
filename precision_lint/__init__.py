"""precision-lint: finds mixed-precision mistakes before GPU time is spent on them.

Data flows one way: `project` finds files, `source` reads them, `facts` says what their code and
settings mean, rules turn facts into findings, fixers build edits, `engine` runs it all, `report`
prints, and `cli` is what users start. All use the findings that `model` defines.
"""

from precision_lint.model.version import __version__

__all__ = ["__version__"]
