"""Running rules over files: settings, checks, fixes, suppression."""
