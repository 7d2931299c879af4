"""A testbed of a test: a name of its own, and what of it the machine can still see."""

import os
import shutil
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTBED = ROOT / "runtime" / "testbed" / "testbed"
LIMIT = 60  # seconds, of any command and any wait
PROBE = """ip link add name a0 type veth peer name b0 && ip link add name c0 type bridge &&
tc qdisc add dev a0 root tbf rate 1mbit burst 10kb limit 10kb"""


def why_not():
    """What a testbed needs and this machine lacks, or ''."""
    if os.geteuid() != 0:
        return "a testbed needs root"
    if not all(shutil.which(name) for name in ("ip", "tc", "unshare", "nsenter")):
        return "a testbed needs iproute2 and util-linux"
    probe = subprocess.run(["unshare", "--net", "--mount", "--pid", "--fork", "sh", "-c", PROBE], capture_output=True, text=True)
    return f"no network namespaces with limits here: {probe.stderr.strip()}" if probe.returncode else ""


def until(condition, what):
    """Waits for it, and returns what it returned."""
    end = time.monotonic() + LIMIT
    while not (found := condition()):
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.02)
    return found


class Cluster:
    def __init__(self):
        self.name = f"test-{uuid.uuid4().hex[:12]}"

    def command(self, verb, *arguments):
        return [sys.executable, str(TESTBED), verb, "--name", self.name, *map(str, arguments)]

    def run(self, verb, *arguments, **options):
        return subprocess.run(self.command(verb, *arguments), capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              timeout=LIMIT, **options)

    def start(self, verb, *arguments, **options):
        return subprocess.Popen(self.command(verb, *arguments), text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **options)

    def up(self, nodes=2, slots=2, rate="200mbit"):
        done = self.run("up", "--nodes", nodes, "--slots", slots, "--rate", rate)
        assert done.returncode == 0, done.stderr

    def processes(self, word=""):
        """PIDs of all that runs inside or keeps it up, and has `word` on its command line."""
        found = []
        for folder in Path("/proc").iterdir():
            try:
                line = (folder / "cmdline").read_bytes()
                inside = f"COHORT_TESTBED={self.name}\0".encode() in (folder / "environ").read_bytes()
            except (OSError, ValueError):
                continue
            keeper = b"\0keep\0" in line and self.name.encode() in line
            if (inside or keeper) and word.encode() in line:
                found.append(int(folder.name))
        return found

    def traces(self):
        """All that it left on the machine."""
        return [*self.processes(), *[line for line in Path("/proc/net/unix").read_text().splitlines() if self.name in line]]


@pytest.fixture
def cluster():
    """For one test, of which nothing is left."""
    made = Cluster()
    yield made
    made.run("down")
    assert made.traces() == []
