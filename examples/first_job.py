"""A first job: what an agent does with a sandbox, from the first call to the last trace of it.

Run it against a platform that is up (`arenero up`), or let `make demo` do both. Uses only the public SDK.
"""

from __future__ import annotations

import asyncio
import csv
import io
import json
import os
import secrets
import statistics
import sys
from pathlib import Path

import leftovers

from arenero.sdk import Client, Exit, Output, Sandbox
from arenero.sdk.traces import tree
from arenero.sdk.types import Event

HERE = Path(__file__).parent
DATA = HERE / "data" / "mauna_loa_co2.csv"
JOB = HERE / "jobs" / "co2.py"
RESULTS = Path(os.environ.get("ARENERO_DEMO_OUT", HERE / "out"))


def say(title: str) -> None:
    """Print a heading."""
    print(f"\n\033[1m{title}\033[0m" if sys.stdout.isatty() else f"\n{title}", flush=True)


async def main() -> None:
    """Do the whole job."""
    trace_id = secrets.token_hex(16)
    async with Client() as client:
        say("1. Create a sandbox (runtime local, no network)")
        sandbox = await Sandbox.create(
            client=client,
            ttl_s=600,
            metadata={"example": "first-job"},
            best_effort=os.environ.get("ARENERO_BEST_EFFORT") == "1",
            traceparent=f"00-{trace_id}-{secrets.token_hex(8)}-01",
        )
        try:
            namespaces = await leftovers.namespaces_of(sandbox)
            await work(client, sandbox, trace_id)
        finally:
            say("6. Delete it, and look for what is left")
            await sandbox.delete()
            await sandbox.close()
        found = leftovers.find(sandbox.id, namespaces)
        for kind, items in found.items():
            print(f"   {kind}: {', '.join(items) if items else 'none'}")
        if any(found.values()):
            sys.exit("something of the sandbox is left")
    print("\nAll of it worked.")


async def work(client: Client, sandbox: Sandbox, trace_id: str) -> None:
    """Use the sandbox for all it is there for."""
    features = sandbox.record.isolation.features if sandbox.record.isolation else []
    print(f"   {sandbox.id} runs, isolated by {', '.join(features)}")
    events: list[Event] = []
    async with asyncio.TaskGroup() as group:
        watching = group.create_task(collect_events(sandbox, events))
        await analyse(sandbox)
        await use_terminal(sandbox)
        await survive_disconnect(sandbox)
        await show_events(sandbox, events)
        watching.cancel()
    print("   and the trace of the create call:")
    for line in tree(await client.trace(trace_id)):
        print(f"   {line}")


async def analyse(sandbox: Sandbox) -> None:
    """Upload a table, analyse it with output as it comes, download the results and check them."""
    say("2. Upload a table, analyse it, download the result")
    await sandbox.files.upload(DATA, "co2.csv")
    await sandbox.files.upload(JOB, "job.py")
    print(f"   uploaded {DATA.name}: {(await sandbox.files.stat('co2.csv')).size_bytes} bytes")
    lines = 0
    async for frame in sandbox.stream(["python3", "job.py", "co2.csv", "results"]):
        if isinstance(frame, Output):
            for line in frame.data.decode().splitlines():
                lines += 1
                if lines % 9 == 1 or line.startswith("rise"):
                    print(f"   | {line}", flush=True)
        elif isinstance(frame, Exit) and not frame.ok:
            sys.exit(f"the analysis failed: {frame}")
    RESULTS.mkdir(parents=True, exist_ok=True)
    for name in ("yearly.csv", "trend.json", "trend.svg"):
        await sandbox.files.download(f"results/{name}", RESULTS / name)
    check(RESULTS)
    print(f"   the result is right; table and plot are in {RESULTS}")


def check(results: Path) -> None:
    """Compare with the right answer, worked out here by other means."""
    weeks = [row for row in csv.DictReader(io.StringIO(DATA.read_text())) if row["co2"]]
    yearly = {row["year"]: row for row in csv.DictReader(io.StringIO((results / "yearly.csv").read_text()))}
    for year in {row["date"][:4] for row in weeks}:
        expected = statistics.fmean(float(row["co2"]) for row in weeks if row["date"].startswith(year))
        if abs(float(yearly[year]["mean_ppm"]) - expected) > 1e-4:
            sys.exit(f"{year}: {yearly[year]['mean_ppm']} is not {expected}")
    whens = [
        int(row["date"][:4]) + (int(row["date"][4:6]) - 1) / 12 + (int(row["date"][6:]) - 1) / 365.25 for row in weeks
    ]
    slope, _ = statistics.linear_regression(whens, [float(row["co2"]) for row in weeks])
    trend = json.loads((results / "trend.json").read_text())
    if trend["weeks"] != len(weeks) or abs(trend["ppm_per_year"] - slope) > 1e-9:
        sys.exit(f"{trend} is not {slope} ppm a year over {len(weeks)} weeks")
    if not (results / "trend.svg").read_text().startswith("<svg "):
        sys.exit("the plot is no SVG")


async def use_terminal(sandbox: Sandbox) -> None:
    """Open a terminal, resize it, type, read the screen."""
    say("3. A terminal: resize, type, read the screen")
    async with await sandbox.terminal(["sh"], rows=24, columns=80) as terminal:
        await terminal.write("stty size; echo first-done\n")
        await terminal.read_until("first-done\r\n")
        await terminal.resize(50, 132)
        await terminal.write("stty size; echo $((6 * 7))-done\n")
        screen = (await terminal.read_until("42-done")).decode()
        if "50 132" not in screen:
            sys.exit(f"the terminal has the wrong size: {screen!r}")
        print("   after the resize the shell sees 50 132, and 6 * 7 is 42")
        await terminal.hangup()


async def survive_disconnect(sandbox: Sandbox) -> None:
    """Start a background process, drop the connection, attach again where it broke, lose nothing."""
    say("4. A process that outlives the connection")
    count = 200
    process = await sandbox.start(f"for i in $(seq {count}); do echo line $i; sleep 0.005; done")
    seen = b""
    async with Client() as other:
        first = (await Sandbox.connect(sandbox.id, client=other)).process(process.exec_id)
        async for frame in first.output():
            if isinstance(frame, Output):
                seen += frame.data
            if seen.count(b"\n") >= 20:
                break
    print(f"   read {len(seen)} bytes, then dropped the connection while it runs on")
    async for frame in process.output(from_offsets={"stdout": len(seen)}):
        if isinstance(frame, Output):
            seen += frame.data
    if seen != b"".join(b"line %d\n" % number for number in range(1, count + 1)):
        sys.exit("output was lost or came twice")
    print(f"   attached again at that offset: all {count} lines are there, once each")


async def collect_events(sandbox: Sandbox, events: list[Event]) -> None:
    """Gather what happens to the sandbox, from its beginning on."""
    async for event in sandbox.follow(from_beginning=True):
        events.append(event)  # noqa: PERF401 - what came before a cancellation must not be lost


async def show_events(sandbox: Sandbox, events: list[Event]) -> None:
    """Print the events so far with their times."""
    say("5. What happened, as events")
    await sandbox.update_metadata({"job": "done"})
    async with asyncio.timeout(5):
        while not any(event.subject.endswith(".metadata_updated") for event in events):  # noqa: ASYNC110 - see above
            await asyncio.sleep(0.01)
    for event in events:
        print(f"   {event.time:%H:%M:%S.%f}  {event.subject.removeprefix('sandbox.')}")


if __name__ == "__main__":
    asyncio.run(main())
