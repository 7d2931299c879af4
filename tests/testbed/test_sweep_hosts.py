"""Sweeps on the hosts of a testbed: the same bytes as on one, also without a rank that was killed."""

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from cluster import LIMIT, ROOT, cluster, until, why_not  # noqa: F401

BINARY = Path(os.environ.get("COHORT_BIN", ROOT / "build" / "cli" / "cohort")).resolve()
ROWS = 600
SPEC = {
    "cluster": {"nodes": 2, "gpus_per_node": 2, "nic": {"bandwidth": "10Gbit/s", "latency": "5us"},
                "fabric": {"bandwidth": "10GB/s", "latency": "3us"}},
    "workload": {"compute": "10ms", "payload": "1MB"},
    "stragglers": [{"kind": "bernoulli", "probability": "1/n", "factor": 5}],
    "policies": ["all-reduce", {"kind": "smart", "threshold": 4}],
    "stop": {"steps_per_worker": 3000},
    "seeds": list(range(100)),
    "sweep": {"/stragglers/0/factor": [1, 2, 3]},
}

pytestmark = pytest.mark.skipif(bool(why_not()) or shutil.which("mpirun") is None, reason=why_not() or "mpirun is not installed")


@pytest.fixture
def folder(tmp_path):
    """With a spec of seconds, and its results with one job in `whole`."""
    (tmp_path / "spec.json").write_text(json.dumps(SPEC))
    subprocess.run([BINARY, "sweep", "spec.json", "--out", "whole", "--jobs", "1"], cwd=tmp_path, check=True, capture_output=True)
    return tmp_path


def start_sweep(cluster, folder, *options):
    """On two hosts of two slots."""
    cluster.up()
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return cluster.start("exec", "mpirun", *root, "--oversubscribe", *options, "-np", 4, BINARY, "sweep", "spec.json", "--out", "out",
                         cwd=folder)


def ranks(cluster):
    """Process ids of those that run, by rank."""
    found = {}
    for process in cluster.processes("sweep"):
        try:
            variables = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
        except OSError:  # it has ended since
            continue
        found.update({int(v[21:]): process for v in variables if v.startswith(b"OMPI_COMM_WORLD_RANK=")})
    return found


def same_as_whole(folder):
    return all((folder / "out" / name).read_bytes() == (folder / "whole" / name).read_bytes()
               for name in ("results.csv", "results.jsonl"))


def test_a_sweep_over_hosts_changes_no_byte(cluster, folder):
    job = start_sweep(cluster, folder)
    _, message = job.communicate(timeout=LIMIT)
    assert job.returncode == 0 and f"{ROWS} computed now" in message, message
    assert same_as_whole(folder)


def test_a_rank_that_is_killed_on_another_host_costs_its_rows_alone(cluster, folder):
    job = start_sweep(cluster, folder, "--enable-recovery")
    journal = folder / "out" / "journal.jsonl"
    until(lambda: journal.exists() and journal.read_bytes().count(b"\n") > 50, "the first rows")
    os.kill(ranks(cluster)[3], signal.SIGKILL)
    until(lambda: (folder / "out" / "results.jsonl").exists() and not ranks(cluster), "the end of the ranks")
    job.send_signal(signal.SIGINT)  # Open MPI 4.1.4 itself would wait for ever for the rank that was killed
    _, message = job.communicate(timeout=LIMIT)
    assert "rank 3 is lost" in message and f"{ROWS} computed now" in message, message
    assert same_as_whole(folder)
