"""What the range and the steps of half precision make of numbers: fills, positions, updates."""
