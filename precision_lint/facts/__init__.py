"""What is known about code, settings and projects before any rule looks."""
