"""The rules: one module each, named after the rule, found by walking this folder.

`index.py` is generated from them by `python scripts/generate.py`.
"""
