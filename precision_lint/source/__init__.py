"""Reading files: bytes to text with positions, and text to trees."""
