"""`arenero up`, `down`, `status` and `env`: the embedded platform on this machine."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from typing import Any, Final

import click

from arenero.cli.output import Progress, note, output_option, print_record
from arenero.cli.platform.instance import Instance, is_alive
from arenero.cli.running import EXIT_FAILED, EXIT_UNREACHABLE
from arenero.sdk.settings import read_client_file

DEFAULT_GRPC: Final = "127.0.0.1:8480"
DEFAULT_HTTP: Final = "127.0.0.1:8481"
_POLL_S: Final = 0.02
_START_TIMEOUT_S: Final = 60.0
_STOP_TIMEOUT_S: Final = 180.0


@click.command()
@click.option("-d", "--detach", is_flag=True, help="Return when all is ready, and leave it running.")
@click.option("--grpc", default=DEFAULT_GRPC, show_default=True, help="Address of the gRPC API; port 0: any free one.")
@click.option("--http", default=DEFAULT_HTTP, show_default=True, help="Address of the HTTP API; port 0: any free one.")
@click.option(
    "--sync-always",
    "sync",
    is_flag=True,
    help="Flush every change to disk before it counts: survives power loss, is slower.",
)
def up(detach: bool, grpc: str, http: str, sync: bool) -> None:
    """Start the platform on this machine: NATS and all services, with their state in ARENERO_HOME.

    Starting what runs already is no error. Ctrl-C, or `arenero down`, stops it.
    """
    instance = Instance.chosen()
    try:
        instance.prepare()
    except OSError as error:
        raise click.ClickException(f"{error}; choose another state directory with ARENERO_HOME") from None
    if state := instance.read_state():
        _wait_until_ready(instance, state["pid"], state["start_ticks"], None)
        _print_ready(instance, already=True)
        return
    if detach:
        supervisor_pid = _start_in_background(instance, grpc, http, sync)
        _print_ready(instance, already=not _is_ready(instance, supervisor_pid))
        return
    sys.exit(_run_in_foreground(instance, grpc, http, sync))


@click.command()
@click.option("--keep-sandboxes", is_flag=True, help="Leave the sandboxes running; the next `up` finds them again.")
@click.option("--purge", is_flag=True, help="Remove the state directory too: all records, events and keys.")
def down(keep_sandboxes: bool, purge: bool) -> None:
    """Stop the platform on this machine and end its sandboxes. Stopping what doesn't run is no error."""
    if keep_sandboxes and purge:
        raise click.UsageError("--keep-sandboxes and --purge contradict each other")
    instance = Instance.chosen()
    if state := instance.read_state():
        _stop(state["pid"], state["start_ticks"], keep_sandboxes=keep_sandboxes)
        if keep_sandboxes:
            instance.kept_file.touch(mode=0o600)
    elif instance.may_have_sandboxes() and not keep_sandboxes:
        note("ending the sandboxes of a platform that is down")
        _end_sandboxes(instance)
    instance.forget()
    if not keep_sandboxes:
        instance.kept_file.unlink(missing_ok=True)
        shutil.rmtree(instance.run, ignore_errors=True)
    if purge:
        shutil.rmtree(instance.home, ignore_errors=True)


@click.command()
@output_option
def status(output: str) -> None:
    """Show whether the platform runs on this machine, and its services. Exits with 4 when it doesn't."""
    instance = Instance.chosen()
    state = instance.read_state()
    if state is None:
        print_record({"home": str(instance.home), "phase": "down"}, output)
        sys.exit(EXIT_UNREACHABLE)
    services = state.pop("services")
    shown: dict[str, Any] = {"home": str(instance.home), "phase": state["phase"], "pid": state["pid"]}
    shown |= {name: state[name] for name in ("grpc", "http", "nats")}
    if output == "json":
        print_record(shown | {"services": services}, output)
        return
    for name, service in services.items():
        alive = is_alive(service["pid"], service["start_ticks"])
        shown[name] = f"pid {service['pid']}, {service['restarts']} restarts" if alive else "not running"
    print_record(shown, output)


@click.command()
def env() -> None:
    """Print the shell commands that tell other clients where the platform is: eval "$(arenero env)".

    OPEN_SANDBOX_DOMAIN and OPEN_SANDBOX_API_KEY are for clients of the OpenSandbox HTTP API, which this version does
    not serve yet: its HTTP address has health, metrics and nothing more.
    """
    local = read_client_file(Instance.chosen().home)
    if local is None:
        raise click.ClickException("no platform runs here; start one with `arenero up`")
    variables = {
        "ARENERO_ADDRESS": local["grpc"],
        "ARENERO_API_KEY": local["api_key"],
        "OPEN_SANDBOX_DOMAIN": local.get("http", "").removeprefix("http://"),
        "OPEN_SANDBOX_API_KEY": local["api_key"],
        "OTEL_EXPORTER_OTLP_ENDPOINT": os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", ""),
    }
    for name, value in variables.items():
        if value:
            click.echo(f"export {name}={shlex.quote(value)}")


def _run_in_foreground(instance: Instance, grpc: str, http: str, sync: bool) -> int:
    from arenero.cli.platform import configuration, supervisor

    note(f"starting in {instance.home}; Ctrl-C stops it")
    deadline_s = time.monotonic() + _START_TIMEOUT_S
    while True:
        try:
            return supervisor.run(instance, configuration.UpOptions(grpc=grpc, http=http, sync_always=sync))
        except supervisor.AlreadyRunning:
            if state := instance.read_state():
                # Another `up` was faster. Whoever holds it without a state is about to have one, or is a `down`.
                _wait_until_ready(instance, state["pid"], state["start_ticks"], None)
                _print_ready(instance, already=True)
                return 0
            if time.monotonic() > deadline_s:
                raise click.ClickException(f"something else is at work in {instance.home}") from None
            time.sleep(_POLL_S)


def _end_sandboxes(instance: Instance) -> None:
    from arenero.cli.platform import supervisor

    instance.prepare()
    if status := supervisor.end_sandboxes(instance):
        note(f"arenero: sandboxes may be left; the logs are in {instance.logs}")
        sys.exit(status)


def _start_in_background(instance: Instance, grpc: str, http: str, sync: bool) -> int:
    """Return the pid of a supervisor that was started. When another one was faster, it has ended, and that is ready."""
    instance.prepare()
    command = [sys.executable, "-P", "-m", "arenero.cli.main", "up", "--grpc", grpc, "--http", http]
    log_path = instance.logs / "up.log"
    with log_path.open("ab") as log:
        begin = log.tell()
        process = subprocess.Popen(
            command + (["--sync-always"] if sync else []),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd="/",
            env={**os.environ, "ARENERO_HOME": str(instance.home)},
        )
    with Progress("starting") as progress:
        while process.poll() is None and not _is_ready(instance, process.pid):
            progress.step("…")
            time.sleep(_POLL_S)
    if process.poll() is not None and (process.returncode != 0 or not _is_ready(instance)):
        with log_path.open("rb") as log:
            log.seek(begin)
            click.echo(log.read().decode(errors="replace"), err=True, nl=False)
        click.echo(f"arenero: the platform did not start; its logs are in {instance.logs}", err=True)
        sys.exit(EXIT_FAILED)
    return process.pid


def _wait_until_ready(instance: Instance, pid: int, ticks: int, timeout_s: float | None) -> None:
    deadline_s = time.monotonic() + (timeout_s or _START_TIMEOUT_S)
    while not _is_ready(instance, pid):
        if not is_alive(pid, ticks) or time.monotonic() > deadline_s:
            raise click.ClickException(f"the platform in {instance.home} is not ready; its logs are in {instance.logs}")
        time.sleep(_POLL_S)


def _is_ready(instance: Instance, pid: int | None = None) -> bool:
    """Whether the platform is ready; given a pid, that one's."""
    state = instance.read_state()
    return state is not None and pid in (None, state["pid"]) and state["phase"] == "ready"


def _print_ready(instance: Instance, *, already: bool) -> None:
    state = instance.read_state() or {}
    note(f"arenero is {'already ' if already else ''}up in {instance.home}")
    note(f"  gRPC {state.get('grpc', '')}   HTTP {state.get('http', '')}   events {state.get('nats', '')}")
    note('  try: arenero run -- uname -a     other clients: eval "$(arenero env)"')


def _stop(pid: int, ticks: int, *, keep_sandboxes: bool) -> None:
    if keep_sandboxes:
        os.kill(pid, signal.SIGUSR1)
    os.kill(pid, signal.SIGTERM)
    deadline_s = time.monotonic() + _STOP_TIMEOUT_S
    with Progress("stopping") as progress:
        while is_alive(pid, ticks):
            if time.monotonic() > deadline_s:
                raise click.ClickException(f"the platform (pid {pid}) has not stopped within {_STOP_TIMEOUT_S:.0f} s")
            progress.step("…")
            time.sleep(_POLL_S)
