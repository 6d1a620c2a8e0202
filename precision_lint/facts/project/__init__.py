"""What a project as a whole says: its evidence and its modules."""
