"""The interpreter across functions and files: callers, summaries, objects, regions."""
