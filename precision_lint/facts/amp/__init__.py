"""Mixed-precision training: its steps, autocast regions, scalers, and the calls that set them.

`training_step` holds the protocol of a step (scale, backward, unscale, clip, step, update),
`regions` the contexts of autocast, `scaling` what scales a loss and when it must not.
"""
