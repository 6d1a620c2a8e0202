"""Settings without effect, and the reasons why a setting is not understood."""
