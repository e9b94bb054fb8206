"""The `local` driver: sandboxes from the kernel's own parts on this host, with no daemon and no image registry."""
