"""Snapshot records, the OCI content store, and the sources that sandboxes are restored from."""
