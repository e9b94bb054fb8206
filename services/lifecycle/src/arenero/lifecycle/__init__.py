"""Sandbox records, their state machine, the runtime drivers, and expiry."""
