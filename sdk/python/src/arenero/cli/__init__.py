"""The `arenero` command."""
