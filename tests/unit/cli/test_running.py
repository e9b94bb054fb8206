"""How commands end: exit codes, errors as one line, signals."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap

import click
import pytest

from arenero.cli import running
from arenero.sdk import errors


def ended_with(error: BaseException) -> int | str | None:
    """The exit code of a command that raises this."""

    @running.asynchronous
    async def command() -> None:
        raise error

    with pytest.raises(SystemExit) as raised:
        command()
    return raised.value.code


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.FailedPrecondition("x"), 1),
        (errors.OutcomeUnknown("x"), 1),
        (errors.InvalidArgument("x"), 2),
        (errors.NotFound("x"), 3),
        (errors.Unavailable("x"), 4),
        (errors.Unauthenticated("x"), 1),
        (errors.StartFailed("x", kind="NOT_FOUND", errno_name="ENOENT", stage="execve"), 127),
        (errors.StartFailed("x", kind="BAD_INTERPRETER", errno_name="ENOENT", stage="execve"), 127),
        (errors.StartFailed("x", kind="NOT_EXECUTABLE", errno_name="EACCES", stage="execve"), 126),
        (errors.StartFailed("x", kind="PERMISSION", errno_name="EPERM", stage="setuid"), 126),
        (errors.StartFailed("x", kind="LIMIT", errno_name="EAGAIN", stage="fork"), 125),
        (FileNotFoundError(2, "No such file or directory", "x"), 1),
        (KeyboardInterrupt(), 130),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else str(value),
)
def test_error_has_its_exit_code(error: BaseException, code: int) -> None:
    assert ended_with(error) == code


def test_error_is_one_line_that_can_not_change_the_screen(capsys: pytest.CaptureFixture[str]) -> None:
    ended_with(errors.NotFound("no \x1b[31msandbox", reason="SANDBOX_NOT_FOUND", fix="look"))
    assert capsys.readouterr().err == "arenero: no \N{REPLACEMENT CHARACTER}[31msandbox — look [SANDBOX_NOT_FOUND]\n"


def test_error_in_a_group_is_reported_as_itself() -> None:
    assert ended_with(BaseExceptionGroup("g", [BaseExceptionGroup("h", [errors.NotFound("x")])])) == 3


@pytest.mark.parametrize("error", [ZeroDivisionError(), ExceptionGroup("g", [ZeroDivisionError()])])
def test_defect_is_not_hidden(error: Exception) -> None:
    @running.asynchronous
    async def command() -> None:
        raise error

    with pytest.raises(ZeroDivisionError):
        command()


def test_wrong_usage_is_left_to_click() -> None:
    @running.asynchronous
    async def command() -> None:
        raise click.UsageError("x")

    with pytest.raises(click.UsageError):
        command()


def test_result_is_the_exit_code() -> None:
    @running.asynchronous
    async def command(code: int | None) -> int | None:
        return code

    for given, expected in ((None, 0), (0, 0), (42, 42)):
        with pytest.raises(SystemExit) as raised:
            command(given)
        assert raised.value.code == expected


PROGRAM = """
    import asyncio, sys
    from arenero.cli.running import asynchronous

    @asynchronous
    async def command():
        try:
            print("working", flush=True)
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.05)
            print("cleaned up", flush=True)

    command()
"""


def run_and_signal(number: int, **options) -> tuple[str, int]:
    command = [sys.executable, "-c", textwrap.dedent(PROGRAM)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        os.kill(process.pid, number)
        if options.get("preexec_fn"):
            os.kill(process.pid, signal.SIGTERM)
        output, _ = process.communicate(timeout=30)
    return output, process.returncode


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_ends_a_command_after_it_has_cleaned_up(number: signal.Signals) -> None:
    assert run_and_signal(number) == ("cleaned up\n", 128 + number)


def test_hangup_is_ignored_under_nohup() -> None:
    def ignore() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    assert run_and_signal(signal.SIGHUP, preexec_fn=ignore) == ("cleaned up\n", 128 + signal.SIGTERM)


def test_reader_that_goes_away_is_no_error_to_talk_about() -> None:
    program = textwrap.dedent("""
        import sys
        from arenero.cli.running import asynchronous

        @asynchronous
        async def command():
            for number in range(100_000):
                print("line", number)

        command()
    """)
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -c '{program}' | head -1; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("line 0\n1\n", "")


def test_client_takes_the_global_options() -> None:
    seen = []

    @click.group()
    @click.option("--address")
    @click.option("--api-key")
    def group(address: str, api_key: str) -> None:
        pass

    @group.command()
    def show() -> None:
        async def look() -> None:
            async with running.client() as client:
                seen.append((client.settings.address, client.settings.api_key))

        asyncio.run(look())

    group(["--address", "a:1", "--api-key", "k", "show"], standalone_mode=False)
    assert seen == [("a:1", "k")]
