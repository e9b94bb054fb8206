"""Configuration: a frozen dataclass beside its user, filled from defaults, a TOML file and the environment.

`loader` reads, `fields` turns texts and TOML values into typed fields, `render` prints the result without secrets.
"""
