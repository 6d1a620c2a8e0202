"""Which program reads a file: one that gets it from a command, names it, or reads its keys."""
