"""Configuration: a frozen dataclass per component, filled from defaults, a TOML file and the environment."""
