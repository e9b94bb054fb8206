"""Keys: what opens the platform, to whom, and until when.

`record` is what is known of a key, `codec` how it is stored, `secrets` what its holder has, `keyring` all keys in
memory, `ledger` the log that they come from, `admission` decides about calls, `bootstrap` makes the first key.
"""
