"""A host that is cut off in the middle of a real run, while messages longer than a connection's window are under way."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from cluster import LIMIT, ROOT, cluster, until, why_not  # noqa: F401

BINARY = Path(os.environ.get("COHORT_BIN", ROOT / "build" / "cli" / "cohort")).resolve()
ENDS_WITHIN = 10  # seconds

SPEC = {
    "cluster": {"nodes": 3, "gpus_per_node": 1, "nic": {"bandwidth": "200Mbit/s", "latency": "5us"},
                "fabric": {"bandwidth": "10GB/s", "latency": "3us"}},
    "workload": {"compute": "50ms", "payload": "1MB"},
    "stop": {"steps_per_worker": 3},
    "sweep": [{"/stop/steps_per_worker": [3, 3000]}],
    "seeds": [1],
}
POLICIES = ["all-reduce", "parameter-server", "d-psgd", "ad-psgd", "static", {"kind": "random", "group_size": 2},
            {"kind": "smart", "group_size": 2}]


def missing():
    """Why there is no real run over a testbed here; empty when there is."""
    if why_not() or shutil.which("mpirun") is None:
        return why_not() or "mpirun is not installed"
    said = subprocess.run([BINARY, "run", "/dev/null"], capture_output=True, text=True, timeout=LIMIT).stderr
    return "this build has no real runs" if "no real runs" in said else ""


pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "-")


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: p if isinstance(p, str) else p["kind"])
def test_a_host_that_is_cut_off_ends_the_run_and_its_rank_is_named(cluster, tmp_path, policy):
    (tmp_path / "spec.json").write_text(json.dumps(SPEC | {"policies": [policy]}))
    cluster.up(nodes=3, slots=1)
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    ranks = 3 + (policy == "parameter-server")
    job = cluster.start("exec", "mpirun", *root, "--oversubscribe", "-np", ranks, BINARY, "run", "spec.json", "--out", "out",
                        cwd=tmp_path)
    events, journal = tmp_path / "out" / "events", tmp_path / "out" / "journal.jsonl"
    until(lambda: events.is_dir() and len(list(events.iterdir())) == 2, "the second row")
    assert cluster.run("cut", "node2").returncode == 0
    _, message = job.communicate(timeout=ENDS_WITHIN)
    assert job.returncode in (1, 3), message  # mpirun's own, for the host that it lost, or that of the ranks
    assert f"rank {ranks - 1}" in message and "on node2" in message and "worker 2" in message
    assert journal.read_text().count('"key"') == 1
