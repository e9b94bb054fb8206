"""Traces, metrics and logs. The only package that imports the OpenTelemetry SDK."""
