"""Tests of what is read from a run, without ReFrame: python3 -m unittest discover -s integrations/reframe"""

import unittest

from proofmark_figures import INVALID, SCHEMA, names, read


def figure(value=None, missing=None):
    return {"value": value, "ci95": None, "missing": missing}


def result(workload="memory.triad", verdict="valid", found=(), how="complete", **changes):
    """A result that a test says the rest of."""
    return {
        "workload": workload,
        "params": {"isa": "avx2", "threads": 2},
        "unit": "B/s",
        "summary": {
            "headline": "typical",
            "attainable": figure(5e10),
            "typical": figure(4e10),
            "delivered": figure(3e10),
        },
        "verdict": verdict,
        "findings": [{"severity": s, "check": c, "message": m} for s, c, m in found],
        "missing": {},
        "ending": {"how": how},
        **changes,
    }


def run(*results, planned=(), **changes):
    points = [{"workload": r["workload"], "params": r["params"]} for r in [*results, *planned]]
    return {
        "schema": SCHEMA,
        "ended": "2026-01-01T00:00:00Z",
        "interrupted": None,
        "plan": {"points": points},
        "measurements": list(results),
        **changes,
    }


class Figures(unittest.TestCase):
    def test_a_valid_run_has_the_headline_and_what_was_delivered(self):
        reading = read(run(result()))
        wanted = {"memory_triad_typical": (4e10, "B/s"), "memory_triad_delivered": (3e10, "B/s")}
        self.assertEqual(reading.figures, wanted)
        self.assertEqual((reading.suspects, reading.faults), ([], []))
        self.assertEqual(reading.absent["memory_triad_attainable"], "the figure of this workload is typical")

    def test_a_headline_that_was_not_seen_is_no_other_figure_under_its_name(self):
        summary = {**result()["summary"], "headline": "delivered", "typical": figure(missing="too busy")}
        reading = read(run(result(summary=summary)))
        self.assertEqual(list(reading.figures), ["memory_triad_delivered"])
        self.assertEqual(reading.absent["memory_triad_typical"], "too busy")

    def test_an_invalid_result_is_a_fault_with_its_cause(self):
        found = [("invalid", "page_cache", "it was read from memory"), ("note", "steal", "little")]
        reading = read(run(result("disk.seq_read", "invalid", found)), INVALID)
        self.assertEqual(reading.faults, ["disk_seq_read is invalid: page_cache: it was read from memory"])

    def test_an_invalid_result_without_a_finding_has_its_ending(self):
        bad = result(verdict="invalid", summary=None, ending={"how": "unverified", "reason": "1, not 2"})
        self.assertEqual(read(run(bad), INVALID).faults, ["memory_triad is invalid: 1, not 2"])

    def test_a_suspect_result_is_a_warning(self):
        suspect = result(verdict="suspect", found=[("suspect", "steal", "12 % were taken")])
        reading = read(run(suspect))
        self.assertEqual(reading.suspects, ["memory_triad is suspect: steal: 12 % were taken"])
        self.assertEqual((reading.faults, len(reading.figures)), ([], 2))
        # --strict is among the options.
        [fault] = read(run(suspect), INVALID).faults
        self.assertIn("--strict", fault)
        self.assertIn("steal", fault)

    def test_a_result_that_is_missing_is_a_fault_with_the_reason(self):
        for ending, reason in [
            ({"how": "refused", "reason": "no AVX"}, "no AVX"),
            ({"how": "crashed", "detail": "out of memory", "signal": "SIGKILL"}, "out of memory"),
            ({"how": "interrupted", "by": "SIGTERM"}, "stopped by SIGTERM"),
            ({"how": "unfinished"}, "no reason is given"),
        ]:
            reading = read(run(result(summary=None, ending=ending)))
            self.assertEqual(reading.faults, [f"memory_triad is missing: {reason}"])
            self.assertEqual(reading.figures, {})
        reading = read(run(result(), planned=[result("cpu.iops")]))
        self.assertEqual(reading.faults, ["cpu_iops is missing: it was not measured"])
        self.assertEqual(read(run()).faults, ["the run has no results"])

    def test_a_run_that_failed_is_a_fault_with_what_it_said(self):
        for status, said, fault in [
            (2, "[1/2]\nproofmark: no profile x\n\n", "exit status 2: proofmark: no profile x"),
            (143, "", "stopped by signal 15"),
            (0, "", "there is no run file"),
            (3, "", "there is no run file"),
        ]:
            [found] = read({}, status, said).faults
            self.assertIn(fault, found)
        self.assertEqual(read(run(result(), ended=None)).faults, ["the run was killed before its end"])
        self.assertIn("schema x, not proofmark.run", read({"schema": "x"}).faults[0])
        self.assertEqual(read(run(result(), interrupted="SIGINT")).faults, ["the run was stopped by SIGINT"])

    def test_names_have_the_fewest_parameters_that_tell_them_apart(self):
        def point(workload, **params):
            return {"workload": workload, "params": params}

        points = [
            point("disk.rand_read", engine="psync", queue_depth=1, threads=1),
            point("disk.rand_read", engine="io_uring", queue_depth=32, threads=1),
            point("cpu.flops", isa="avx2+fma", threads=2),
            point("cpu.flops", isa="scalar", threads=2),
            point("memory.copy", threads=2),
            point("memory.read", block=1, threads=1),
            point("memory.read", block=1, threads=2),
            point("memory.read", block=2, threads=1),
        ]
        wanted = ["disk_rand_read_queue_depth_1", "disk_rand_read_queue_depth_32"]
        wanted += ["cpu_flops_isa_avx2_fma", "cpu_flops_isa_scalar", "memory_copy"]
        wanted += [f"memory_read_block_{b}_threads_{t}" for b, t in [(1, 1), (1, 2), (2, 1)]]
        self.assertEqual(list(names(points).values()), wanted)


if __name__ == "__main__":
    unittest.main()
