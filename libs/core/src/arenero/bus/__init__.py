"""The log of facts, over NATS JetStream and in memory. The only package that imports nats.

Start at `log`: the contract. `nats` and `memory` keep it; `projection` builds present state from it; `consumer` shares
work out; `publisher` writes activity; `envelope` knows what a message means; `subjects` names it.
"""
