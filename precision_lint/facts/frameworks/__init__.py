"""Which framework reads a configuration, what the settings mean to it, and which of them conflict.

`table` describes each framework, `recognition` finds the framework of a file, `reading` has the
effective settings, `runs` follows references between files, `verdicts` finds conflicts.
"""
