"""The binary under test (COHORT_BIN, or build/cli/cohort) and small specs for it."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("COHORT_BIN", ROOT / "build" / "cli" / "cohort")).resolve()


def small_spec(**changes):
    """Four workers, 20 steps; two policies, two seeds."""
    spec = {
        "cluster": {
            "nodes": 2, "gpus_per_node": 2,
            "nic": {"bandwidth": "10Gbit/s", "latency": "5us"},
            "fabric": {"bandwidth": "10GB/s", "latency": "3us"},
        },
        "workload": {"compute": "10ms", "payload": "1MB"},
        "stragglers": [{"kind": "bernoulli", "probability": "1/n", "factor": 5}],
        "policies": ["all-reduce", {"kind": "smart", "threshold": 4}],
        "stop": {"steps_per_worker": 20},
        "seeds": [1, 2],
    }
    spec.update(changes)
    return spec


def long_spec(**changes):
    """A sweep of seconds: many rows of some milliseconds."""
    changes.setdefault("stop", {"steps_per_worker": 3000})
    changes.setdefault("seeds", list(range(100)))
    return small_spec(sweep={"/stragglers/0/factor": [1, 2, 3, 4, 5]}, **changes)


def ranks_in(folder, variable):
    """(rank, process id) of what runs in `folder` with this variable of its launcher."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cwd").resolve() == folder.resolve():
                environment = dict(v.split(b"=", 1) for v in (entry / "environ").read_bytes().split(b"\0") if b"=" in v)
                if variable.encode() in environment:
                    found.append((int(environment[variable.encode()]), int(entry.name)))
        except OSError:  # it has ended since
            continue
    return found


class Cohort:
    def __init__(self, folder):
        self.folder = folder

    def spec(self, spec, name="spec.json"):
        path = self.folder / name
        path.write_text(spec if isinstance(spec, str) else json.dumps(spec))
        return path

    def run(self, *arguments, **options):
        return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, cwd=self.folder,
                              stdin=subprocess.DEVNULL, timeout=300, **options)

    def start(self, *arguments, **options):
        return subprocess.Popen([BINARY, *map(str, arguments)], cwd=self.folder, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


@pytest.fixture
def cohort(tmp_path):
    assert BINARY.exists(), f"{BINARY} is not built; set COHORT_BIN"
    return Cohort(tmp_path)
