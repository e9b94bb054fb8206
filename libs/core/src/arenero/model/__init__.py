"""The nouns of Arenero as plain values: ids, states, specs, policies and records.

Standard library only, no I/O, no clock reads: everything here can be built in a test by calling it. Wire forms
(protobuf, JSON of other APIs) are made from and into these at the edges.
"""
