"""The log of events over NATS JetStream, and its in-memory twin. The only package that imports nats."""
