"""Which drivers there are, by the runtime's name. The only module that imports them, and only those that are asked for."""
