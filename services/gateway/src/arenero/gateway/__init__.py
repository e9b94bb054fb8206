"""The one public door: authentication, and the way from a client to the services and to execd."""
