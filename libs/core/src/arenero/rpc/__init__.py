"""gRPC between the parts: servers and clients that speak our errors, identities and traces.

`status` maps errors to gRPC and back, `interceptors` wrap every handler with it, `server` and `client` are what a
service makes, `identity` says who calls, `health` says whether a server takes calls, `otlp` ships spans.
"""
