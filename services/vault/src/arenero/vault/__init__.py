"""Credentials and their bindings, delivered only to the egress guest they are bound to."""
