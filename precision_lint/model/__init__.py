"""What everything else speaks of: findings, rules as data, dtype names."""
