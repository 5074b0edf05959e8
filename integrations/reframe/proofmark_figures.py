"""Reads a run file of proofmark: its figures under stable names, and the problems found.
Only the standard library is used, so that it can be tested without ReFrame.
"""

import re
from typing import Dict, List, NamedTuple, Tuple

SCHEMA = "proofmark.run/2"
KINDS = ("attainable", "typical", "delivered")
INVALID = 3
"""Exit status of a run that completed and has a result that fails."""


class Reading(NamedTuple):
    """What a run says."""

    figures: Dict[str, Tuple[float, str]]
    """Value and unit by name."""
    absent: Dict[str, str]
    """Figures that were not seen, with the reason."""
    suspects: List[str]
    """Results that a named cause changed, each in one line."""
    faults: List[str]
    """Why the run cannot be used, each in one line: results that are invalid or missing."""


def read(run, status=0, errors=""):
    """Reads a run, {} if there is no file of it. status: the program's exit status; errors: what it printed on standard error."""
    faults = [ending(status, errors)] if status not in (0, INVALID) else []
    if run.get("schema") != SCHEMA:
        schema = f"the run file has schema {run.get('schema')}, not {SCHEMA}"
        return Reading({}, {}, [], faults or [schema if run else "there is no run file"])
    figures, absent, suspects = {}, {}, []
    measured = {key(m): m for m in run["measurements"]}
    if run.get("interrupted") and not faults:
        faults.append(f"the run was stopped by {run['interrupted']}")
    elif not run.get("ended") and not faults:
        faults.append("the run was killed before its end")
    if not run["plan"]["points"]:
        faults.append("the run has no results")
    for place, name in names(run["plan"]["points"]).items():
        result = measured.get(place)
        if result is None:
            faults.append(f"{name} is missing: it was not measured")
            continue
        if result["verdict"] == "invalid":
            faults.append(f"{name} is invalid: {causes(result, 'invalid')}")
        elif result["verdict"] == "suspect":
            suspects.append(f"{name} is suspect: {causes(result, 'suspect')}")
        summary = result.get("summary") or {}
        all_kinds = {kind: summary.get(kind, {}) for kind in KINDS}
        for kind, figure in all_kinds.items():
            if figure.get("value") is None:
                absent[f"{name}_{kind}"] = reason(result, figure)
            elif kind in (summary["headline"], "delivered"):
                figures[f"{name}_{kind}"] = figure["value"], result["unit"]
            else:
                absent[f"{name}_{kind}"] = f"the figure of this workload is {summary['headline']}"
        if result["verdict"] != "invalid" and not any(f.get("value") is not None for f in all_kinds.values()):
            faults.append(f"{name} is missing: {reason(result, all_kinds['delivered'])}")
    if status == INVALID and not faults:
        faults.append("; ".join(["--strict or --precision is missed (exit status 3)", *suspects]))
    return Reading(figures, absent, suspects, faults)


def key(point):
    """What tells a configuration from others."""
    return point["workload"], tuple(sorted(point["params"].items()))


def names(points):
    """A name for each configuration: its workload, and the fewest parameters that tell it from the others."""
    named = {}
    for workload in {p["workload"]: None for p in points}:
        all_params = [p["params"] for p in points if p["workload"] == workload]
        used = sorted(set().union(*all_params))
        for one in list(used):
            rest = [u for u in used if u != one]
            if len({tuple(p.get(u) for u in rest) for p in all_params}) == len(all_params):
                used = rest
        for params in all_params:
            words = [workload, *(f"{u}_{params[u]}" for u in used if u in params)]
            name = re.sub(r"[^A-Za-z0-9]+", "_", "_".join(words)).strip("_")
            named[workload, tuple(sorted(params.items()))] = name
    return named


def causes(result, severity):
    """Findings of this severity, in one line."""
    found = [f"{f['check']}: {f['message']}" for f in result["findings"] if f["severity"] == severity]
    return "; ".join(found) or reason(result, {})


def reason(result, figure):
    """Why a result has no value."""
    end = result["ending"]
    said = end.get("reason") or end.get("detail") or (f"stopped by {end['by']}" if "by" in end else None)
    return figure.get("missing") or said or result["missing"].get("summary") or "no reason is given"


def ending(status, errors):
    """How a run ended that did not complete."""
    lines = [line for line in errors.splitlines() if line.strip()]
    last = f": {lines[-1].strip()}" if lines else ""
    if status > 128:
        return f"the run was stopped by signal {status - 128}{last}"
    return f"the run failed with exit status {status}{last}"
