"""The table that scripts/measure_torch_names.py writes."""
