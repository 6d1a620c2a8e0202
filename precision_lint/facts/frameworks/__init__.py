"""Who reads a configuration, what it makes of the settings, and which of them conflict.

`table` holds what is known of each framework, `recognition` tells whose a file is, `reading` has
the effective settings, `runs` follows references between files, `verdicts` says what goes wrong.
"""
