"""What the source of a file says before anything is interpreted: definitions, bodies, slices."""
