"""What the expressions of a program come to in one run."""
