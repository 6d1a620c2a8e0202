"""Configurations that a library composes or overrides: Hydra, yacs, ml_collections, Lightning."""
