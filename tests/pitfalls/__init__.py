"""One bad program and its good twin for each pitfall of `docs/pitfalls.toml`."""
