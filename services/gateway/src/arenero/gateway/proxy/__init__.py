"""Passes calls on, as bytes: what a client sends reaches the service or the sandbox's execd unread, and back.

`door` decides by name, `relay` moves one call, `pump` its messages, `metadata` what goes along, `verdict` how it ended;
`pool` and `sandboxes` know the way.
"""
