"""gRPC servers and clients: channels, interceptors, and the one table from errors to status codes."""
