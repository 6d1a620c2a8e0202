"""What code does with a setting: where it goes, what it becomes, what decides a precision."""
