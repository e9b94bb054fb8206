"""The guest beside every sandbox with a network policy: the only way out of it.

Nothing of it is built yet: sandboxes have their own loopback and no more, and lifecycle answers `EgressService` with
that as the reason. What it will speak is fixed: `arenero.api.egress.v1.GuestService` towards lifecycle, and the
client's side of `arenero.api.vault.v1.DeliveryService`.
"""
