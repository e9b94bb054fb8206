"""The embedded platform: NATS and all services as child processes of one command on one machine."""
