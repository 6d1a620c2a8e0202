"""Which dtype can an expression have? An abstract interpreter over one Python file."""
