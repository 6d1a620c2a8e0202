"""The options that programs declare, what they offer, and which of them nothing reads."""
