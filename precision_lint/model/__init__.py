"""The data that every layer shares: findings, rules as data, dtype names."""
