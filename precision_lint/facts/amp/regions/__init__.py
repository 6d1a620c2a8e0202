"""Autocast: where its contexts are made, what they surround, and for which devices."""
