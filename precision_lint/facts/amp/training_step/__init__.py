"""The protocol of a training step, solved as a dataflow over the control flow of a body."""
