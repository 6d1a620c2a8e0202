"""What host code passes to kernels: which dtype has which tensor where a kernel is launched.

`scopes` finds calls, `reach` follows names across files, `run` evaluates a function statement by
statement, `expressions` its expressions, `calls` what project functions return, `callers` what
they are given, `autograd` what a backward pass gets from its forward pass. `view` is what the
analysis of a kernel asks.
"""
