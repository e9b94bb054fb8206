"""The Python SDK: `from arenero.sdk import Sandbox`. Imports nothing of the platform but `arenero.api`."""
