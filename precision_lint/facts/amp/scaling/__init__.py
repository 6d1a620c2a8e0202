"""Gradient scalers, and the runs in which a loss is scaled although they use bfloat16."""
