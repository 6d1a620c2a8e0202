"""The abstract interpreter of one body: its expressions, statements, calls and objects."""
