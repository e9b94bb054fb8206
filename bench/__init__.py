"""Measures the platform on this machine and compares it with its bars: `make bench`."""
