"""The syntax of shell scripts: commands, words and variables."""
