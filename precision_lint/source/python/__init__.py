"""The syntax of Python: trees, scopes, names and bindings."""
