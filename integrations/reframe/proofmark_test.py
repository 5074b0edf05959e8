"""Measures each node with proofmark: every figure is a performance variable, and a result that is
invalid or missing fails the test. See README.md.
"""

import json
import os

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.exceptions import SanityError
from reframe.core.logging import getlogger
from reframe.utility import ScopedDict

import proofmark_figures

OUT = "proofmark"
"""Folder of the run, in the test's stage folder."""
STATUS = "proofmark.status"
"""File with the program's exit status, unless that is 0."""
SUSPECTS = "suspect_results"
"""Performance variable that counts the results that are suspect."""


@rfm.simple_test
class Proofmark(rfm.RunOnlyRegressionTest):
    """One run of proofmark on one node."""

    descr = "Speed of CPU, memory and disk, each result checked"
    tags = {"proofmark"}
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = "proofmark"
    num_tasks = 1
    exclusive_access = True
    time_limit = "15m"
    prerun_cmds = [f"rm -rf {OUT} {STATUS}"]
    keep_files = [f"{OUT}/run.json", f"{OUT}/report.html"]

    profile = variable(str, value="screen")
    """A profile that `proofmark list profiles` prints, or the path of a file."""
    disk_path = variable(str, value="")
    """A folder on a disk of every node; if empty, no disk is measured."""
    options = variable(str, value="")
    """More options of `proofmark run`, as typed in a shell."""

    @run_after("setup")
    def use_all_cpus(self):
        cpus = self.current_partition.processor.num_cpus
        if self.num_cpus_per_task is None and cpus:
            self.num_cpus_per_task = cpus

    @run_before("run")
    def set_command(self):
        disk = ["--disk-path", f"'{self.disk_path}'"] if self.disk_path else []
        parts = ["cpu", "memory", *(["disk"] if self.disk_path else [])]
        self.executable_opts = [
            *("run", *parts, "--profile", f"'{self.profile}'", *disk, "--no-history", "--out", OUT),
            *filter(None, [self.options]),
            # A launcher passes the status on; a script that stops at errors goes on.
            *("||", "echo", "$?", ">" + STATUS),
        ]

    def reading(self):
        """What the run says. Nothing is read before the job has ended."""
        errors = self.text(self.stderr.evaluate())
        try:
            run = json.loads(self.text(OUT, "run.json"))
        except ValueError:
            run = {}
        return proofmark_figures.read(run, int(self.text(STATUS) or 0), errors)

    def text(self, *names):
        """The text of a file in the stage folder; empty if it is not there."""
        try:
            with open(os.path.join(self.stagedir, *names), errors="replace") as file:
                return file.read()
        except OSError:
            return ""

    @sanity_function
    def every_result_can_be_used(self):
        reading = self.reading()
        faults = reading.faults or [
            f"{name} has a reference and no value: {reading.absent.get(name, 'the run has no such figure')}"
            for name in self.referenced()
            if name not in reading.figures
        ]
        if faults:
            raise SanityError("\n      ".join([f"proofmark on {self.node()}:", *faults]))
        return True

    @run_before("performance")
    def set_figures(self):
        if self.is_dry_run():
            return
        reading = self.reading()
        for line in reading.suspects:
            getlogger().warning(f"{self.name} on {self.node()}: {line}")
        for name, (value, unit) in reading.figures.items():
            self.perf_variables[name] = sn.make_performance_function(lambda value=value: value, unit)
        count = len(reading.suspects)
        self.perf_variables[SUSPECTS] = sn.make_performance_function(lambda: count, "results")

    def referenced(self):
        """Figures that have a reference on this partition."""
        scopes = ScopedDict(self.reference.data)
        return sorted(set(scopes.scope(self.current_partition.fullname)) - {SUSPECTS})

    def node(self):
        """The node as the scheduler calls it, else as the partition."""
        return ", ".join(self.job.nodelist or [self.current_partition.fullname])
