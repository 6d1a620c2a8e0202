"""The abstract domain: values, their order and join, terms, and the facts at a call."""
