"""What calls of libraries give, in terms of their arguments: tables."""
