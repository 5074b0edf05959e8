"""Recorded points of the corpus (`scripts/corpus`): their labels, their table, and their short form."""

import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from itertools import zip_longest

HERE = pathlib.Path(__file__).resolve().parent
# The same values as Subsystem::tolerance (crates/model/src/workload.rs).
TOLERANCE = {"cpu": 0.02, "memory": 0.10, "disk": 0.25, "network": 0.25}


def figure(path):
    """Return the subsystem and the headline figure of a run's only result."""
    try:
        result = json.loads(path.read_text())["measurements"][0]
    except (OSError, ValueError, LookupError):
        return None
    summary = result["summary"]
    return result["subsystem"], summary and summary[summary["headline"]]["value"]


NO_HEADLINE = "no headline"


def label(place):
    """Return the error of a point's headline figure, NO_HEADLINE, or None if the point is void."""
    before, planted, after = (figure(place / f"{n}.json") for n in ("before", "planted", "after"))
    if not (before and planted and after and before[1] and after[1]):
        return None
    if abs(math.log(before[1] / after[1])) > TOLERANCE[before[0]] / 2:
        return None
    return planted[1] / math.sqrt(before[1] * after[1]) - 1 if planted[1] else NO_HEADLINE


def grade(folder):
    """Print how many points are void by kind, then how the current rules judge the others."""
    kinds = {}
    for place in sorted(folder.glob("[0-9]*")):
        if (place / "plan.json").exists():
            kind = json.loads((place / "plan.json").read_text())["kind"]
            kinds.setdefault(kind, []).append(label(place))
    print(f"{'kind':8} {'all':>4} {'void':>4} {'no headline':>11}")
    for kind, errors in [*sorted(kinds.items()), ("all", sum(kinds.values(), []))]:
        print(f"{kind:8} {len(errors):4} {errors.count(None):4} {errors.count(NO_HEADLINE):11}")
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        reduce(folder, sum(map(len, kinds.values())), file)
        file.flush()
        test = ["cargo", "test", "--locked", "-q", "-p", "proofmark-judge", "--test", "corpus"]
        subprocess.run([*test, "--", "--nocapture"], cwd=HERE.parent, check=True,
                       env={**os.environ, "PROOFMARK_CORPUS": file.name})


def reduced(place):
    """Return a point as one line: the run without fields that no check reads or that name its machine."""
    plan = json.loads((place / "plan.json").read_text())
    run = json.loads((place / "planted.json").read_text())
    run["workloads"] = {}
    host = run["host"]
    host["findings"], host["settings"] = [], {}
    host["os"]["host_name"]["value"] = "host"
    kernel = host["os"]["kernel"]["value"]
    release = kernel.split("-")[0]
    for at, program in enumerate(run.get("programs") or []):
        program["name"] = f"program {at + 1}"
    for finding in run["measurements"][0]["findings"]:
        finding["advice"] = ""
    for trial in run["measurements"][0]["trials"]:
        for cut in trial.get("rounds", []):
            cut["strip"], cut["histogram"] = "", []
    quiet = [figure(place / f"{name}.json")[1] for name in ("before", "after")]
    line = json.dumps({"id": place.name, **plan, "quiet": quiet, "run": run}, separators=(",", ":"))
    recorded = run["host"]["storage"]["value"]["path"]
    for named, plain in [(str(place.resolve().parent), "/disk"), (recorded, "/disk"), (kernel, release)]:
        line = line.replace(named, plain)
    return re.sub(r"(/sys/fs/cgroup/[a-z]+)/[^ \"]+( upwards)", r"\1/group\2", line)


def reduce(folder, most, out=sys.stdout):
    """Print points of each kind in turn: one that is off by about the tolerance, one that is not off."""
    by_kind = {}
    for place in sorted(folder.glob("[0-9]*")):
        error = label(place) if (place / "plan.json").exists() else None
        if error not in (None, NO_HEADLINE):
            kind = json.loads((place / "plan.json").read_text())["kind"]
            tolerances = abs(error) / TOLERANCE[figure(place / "before.json")[0]]
            by_kind.setdefault(kind, []).append((tolerances, place))
    for found in by_kind.values():
        off = sorted(point for point in found if point[0] > 1)
        on = sorted(point for point in found if point[0] <= 1)
        found[:] = [point for pair in zip_longest(off, on) for point in pair if point]
    chosen = []
    while len(chosen) < most and any(by_kind.values()):
        for found in by_kind.values():
            chosen += [found.pop(0)[1]] if found and len(chosen) < most else []
    for place in sorted(chosen):
        print(reduced(place), file=out)
