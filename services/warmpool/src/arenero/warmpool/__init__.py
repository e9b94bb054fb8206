"""Pools of ready sandboxes per template, and the claims that take them."""
