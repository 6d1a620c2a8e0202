"""Configuration in any format as one tree of settings."""
