"""The rows, one module per subject."""
