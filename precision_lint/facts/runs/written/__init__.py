"""Settings as they are written: keys, options, variables, and what no run understands."""
