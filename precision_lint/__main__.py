"""`python -m precision_lint`: the command, with nothing imported from the working folder.

Python puts the working folder first on the import path. A `click.py` of the project that is checked
would be executed in place of the package, so the folder is taken off before anything is imported.
What Python imports to get here may still come from there: `python -P -m precision_lint`, from 3.11
on, or the command `precision-lint` itself has no such gap.
"""

import sys

if sys.path and not getattr(sys.flags, "safe_path", False):
    del sys.path[0]

from precision_lint.cli.main import main

if __name__ == "__main__":
    main()
