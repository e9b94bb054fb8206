"""An analysis to run in a sandbox: how fast did carbon dioxide rise at Mauna Loa?

Standard library only. Reads the table, prints a line per year while it works, and writes yearly.csv, trend.json and
trend.svg.
"""

import csv
import json
import math
import random
import sys
from collections import defaultdict
from pathlib import Path

RESAMPLES = 2000
WIDTH, HEIGHT, MARGIN = 800, 400, 50


def read(path):
    """Return (year as a decimal number, ppm) of all weeks that have a value."""
    weeks = []
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if row["co2"]:
                year, month, day = int(row["date"][:4]), int(row["date"][4:6]), int(row["date"][6:])
                weeks.append((year + (month - 1) / 12 + (day - 1) / 365.25, float(row["co2"])))
    return weeks


def slope_of(points):
    """Return the least-squares slope."""
    mean_x = math.fsum(x for x, _ in points) / len(points)
    mean_y = math.fsum(y for _, y in points) / len(points)
    across = math.fsum((x - mean_x) * (y - mean_y) for x, y in points)
    return across / math.fsum((x - mean_x) ** 2 for x, _ in points)


def interval_of(values, randomly):
    """Return a 95 % interval of the mean by resampling."""
    count = len(values)
    means = sorted(math.fsum(randomly.choices(values, k=count)) / count for _ in range(RESAMPLES))
    return means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES)]


def plot(yearly, slope):
    """Return an SVG of the yearly means and the trend."""
    years, means = [year for year, *_ in yearly], [mean for _, mean, *_ in yearly]
    low, high = min(means), max(means)

    def place(year, mean):
        x = MARGIN + (year - years[0]) / (years[-1] - years[0]) * (WIDTH - 2 * MARGIN)
        y = HEIGHT - MARGIN - (mean - low) / (high - low) * (HEIGHT - 2 * MARGIN)
        return f"{x:.1f},{y:.1f}"

    line = " ".join(place(year, mean) for year, mean in zip(years, means, strict=True))
    dots = "".join(
        '<circle cx="{}" cy="{}" r="3" fill="#c33"/>'.format(*place(year, mean).split(","))
        for year, mean in zip(years, means, strict=True)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>'
        f'<polyline points="{line}" fill="none" stroke="#36c" stroke-width="2"/>{dots}'
        f'<text x="{MARGIN}" y="30">CO2 at Mauna Loa, yearly means: {slope:+.2f} ppm a year</text>'
        f'<text x="{MARGIN}" y="{HEIGHT - 15}">{years[0]}</text>'
        f'<text x="{WIDTH - MARGIN - 35}" y="{HEIGHT - 15}">{years[-1]}</text>'
        f'<text x="5" y="{MARGIN}">{high:.0f}</text><text x="5" y="{HEIGHT - MARGIN}">{low:.0f}</text></svg>\n'
    )


def main():
    """Do it all."""
    source, out = Path(sys.argv[1]), Path(sys.argv[2])
    randomly = random.Random(1958)
    weeks = read(source)
    by_year = defaultdict(list)
    for when, ppm in weeks:
        by_year[int(when)].append((when, ppm))
    yearly = []
    for year, points in sorted(by_year.items()):
        mean = math.fsum(ppm for _, ppm in points) / len(points)
        yearly.append((year, mean, len(points)))
        low, high = interval_of([ppm for _, ppm in points], randomly)
        print(f"{year}: {mean:.2f} ppm ({low:.2f} to {high:.2f}) from {len(points)} weeks", flush=True)
    slope = slope_of(weeks)
    out.mkdir(exist_ok=True)
    with open(out / "yearly.csv", "w", newline="") as file:
        csv.writer(file).writerows([("year", "mean_ppm", "weeks"), *((y, f"{m:.4f}", n) for y, m, n in yearly)])
    (out / "trend.json").write_text(json.dumps({"ppm_per_year": slope, "weeks": len(weeks)}))
    (out / "trend.svg").write_text(plot(yearly, slope))
    print(f"rise: {slope:.3f} ppm a year over {len(weeks)} weeks", flush=True)


main()
