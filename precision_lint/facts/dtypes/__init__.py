"""Which dtype can an expression have? An abstract interpreter over one Python file.

    syntax <- domain <- libraries <- operators <- interpreter <- whole_program <- the modules here

`flow` answers the calls that rules ask for. `half_run` and `program_run` look at one run of the
file: with weights in half precision, and as the program that is started.
"""
