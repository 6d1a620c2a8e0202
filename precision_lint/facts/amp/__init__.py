"""The protocol of a mixed-precision training step: scale, backward, unscale, clip, step, update.

`events` reads what a statement does, `paths` the orders in which a body can do it, `protocol` puts
both together for the functions of a file.
"""
