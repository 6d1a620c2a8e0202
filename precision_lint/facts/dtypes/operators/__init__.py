"""What operators, factories, casts and functions of libraries make of their arguments."""
