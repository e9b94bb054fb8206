"""The guest beside every sandbox with a network policy: the only way out of it."""
