"""Bytes to text with positions, notebooks and comments included."""
