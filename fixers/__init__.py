"""Pure builders of edits, shared by rules: no detection, no I/O."""
