"""`python -m bench`: measure, print, write bench/out/latest.json; exit with 1 when a bar was missed."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import traceback
from pathlib import Path

from bench.context import Bench
from bench.registry import Measured, Row, Skipped, rows
from bench.report import Report, Result, table_head, table_row

OUT = Path(__file__).parent / "out" / "latest.json"
EXIT_MISSED, EXIT_USAGE, EXIT_INTERRUPTED = 1, 2, 130


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", default="", help="names of rows or subjects, separated by commas")
    parser.add_argument("--list", action="store_true", help="list the rows and their bars")
    parser.add_argument("--scale", type=float, default=1.0, help="take counts times this, to try the machinery")
    parser.add_argument("--out", type=Path, default=OUT, help="where to write the results  [%(default)s]")
    asked = parser.parse_args()
    try:
        chosen = rows([name.strip() for name in asked.only.split(",") if name.strip()])
    except ValueError as error:
        parser.error(str(error))
    if asked.list:
        for row in chosen:
            print(f"{row.name:<18} {row.bar or ''!s:<9} {row.unit:<6} {row.title}")
        return 0
    report = Report()
    try:
        asyncio.run(measure_all(chosen, report, asked.scale))
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    finally:
        report.write(asked.out, {"scale": asked.scale, "cores": os.cpu_count(), "only": asked.only or None})
    print(f"\n{report.summary()}\nwritten to {asked.out}")
    return EXIT_MISSED if report.missed else 0


async def measure_all(chosen: list[Row], report: Report, scale: float) -> None:
    print(table_head(), flush=True)
    async with Bench(scale) as bench:
        for row in chosen:
            result = await measure(row, bench)
            report.results.append(result)
            print(table_row(result), flush=True)


async def measure(row: Row, bench: Bench) -> Result:
    try:
        measured: Measured = await row.measure(bench)
    except Skipped as reason:
        return Result(row, skipped=str(reason))
    except Exception as error:  # noqa: BLE001 - the other rows are still worth measuring; this one counts as missed
        traceback.print_exc()
        return Result(row, failed=f"{type(error).__name__}: {error}")
    return Result(row, measured)


if __name__ == "__main__":
    sys.exit(main())
