"""Traces, metrics and logs. The only package that imports the OpenTelemetry SDK.

`tracing` and `logs` are set up once per process; everybody else uses the OpenTelemetry API and stdlib logging. `store`
and `servicer` keep the last spans in memory for embedded mode. `metrics` counts and times, in Prometheus' text format.
"""
