"""Supervision of one process: named tasks, health, signals, an orderly stop."""
