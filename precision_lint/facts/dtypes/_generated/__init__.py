"""Tables that scripts/measure_operators.py writes."""
