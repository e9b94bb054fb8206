"""Reading standard input of any kind."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

PROGRAM = textwrap.dedent("""
    import asyncio
    from arenero.cli.standard_input import read_input

    async def main():
        print(sum([len(piece) async for piece in read_input()]))

    asyncio.run(main())
""")


@pytest.mark.parametrize("kind", ["file", "pipe", "nothing", "socket"])
def test_everything_is_read_to_its_end(kind: str, tmp_path: Path) -> None:
    size = 0 if kind == "nothing" else 300_000
    (tmp_path / "input").write_bytes(bytes(size))
    source: Any
    if kind == "file":
        source = (tmp_path / "input").open("rb")
        command = [sys.executable, "-c", PROGRAM]
    elif kind == "socket":
        # bash's process substitution and pipes are pipes; only a program makes standard input a socket.
        source = subprocess.DEVNULL
        wrapper = (
            "import socket, subprocess, sys, threading\n"
            "a, b = socket.socketpair()\n"
            f"threading.Thread(target=lambda: (a.sendall(bytes({size})), a.close())).start()\n"
            "sys.exit(subprocess.run([sys.executable, '-c', sys.argv[1]], stdin=b).returncode)"
        )
        command = [sys.executable, "-c", wrapper, PROGRAM]
    else:
        source = subprocess.DEVNULL if kind == "nothing" else None
        command = [sys.executable, "-c", PROGRAM]
    try:
        options: dict[str, Any] = {"stdin": source} if source is not None else {"input": bytes(size)}
        done = subprocess.run(command, stdout=subprocess.PIPE, timeout=30, check=True, **options)
    finally:
        if kind == "file":
            source.close()
    assert int(done.stdout) == size


def test_program_ends_while_nothing_comes_in() -> None:
    """No thread sits in a read that nobody can end."""
    program = textwrap.dedent("""
        import asyncio
        from arenero.cli.standard_input import read_input

        async def main():
            try:
                async with asyncio.timeout(0.1):
                    async for _ in read_input():
                        pass
            except TimeoutError:
                print("gave up")

        asyncio.run(main())
    """)
    reading, writing = os.pipe()
    try:
        done = subprocess.run(
            [sys.executable, "-c", program], stdin=reading, stdout=subprocess.PIPE, timeout=30, check=True
        )
    finally:
        os.close(reading)
        os.close(writing)
    assert done.stdout == b"gave up\n"
