"""The index that scripts/generate.py writes."""
