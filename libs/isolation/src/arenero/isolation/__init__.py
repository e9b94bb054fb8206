"""Linux isolation by direct system calls. Standard library only; used by the local driver and by execd."""
