"""The rules: one module per rule, named after it, found by walking this folder.

`_generated/index.py` is generated from them by `python scripts/generate.py`.
"""
