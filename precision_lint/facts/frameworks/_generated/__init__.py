"""What scripts/generate.py makes of the tables."""
