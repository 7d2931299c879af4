"""run --backend nccl: ranks of this machine without a launcher, on the test double of CUDA, cuBLAS and NCCL. Losses:
test_run_nccl_losses.py."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from conftest import BINARY, ROOT, small_spec

BUILD = Path(os.environ.get("COHORT_BUILD", ROOT / "build")).resolve()
MODULE = BUILD / "tests" / "runtime" / "nccl" / "cohort_nccl_on_stand_in_test_double.so"
POLICIES = ["all-reduce", "parameter-server", "d-psgd", "ad-psgd", "static", {"kind": "random", "group_size": 2},
            {"kind": "smart", "group_size": 2}]
FEW = ["all-reduce", {"kind": "smart", "group_size": 2}]


def missing():
    """Why there are no such runs here; empty when there are."""
    if not MODULE.exists():
        return f"{MODULE.name} is not built"
    said = subprocess.run([BINARY, "run", "/dev/null"], capture_output=True, text=True, timeout=60).stderr
    return "this build has no real runs" if "no real runs" in said else ""


pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "-")


def real_spec(**changes):
    spec = small_spec(seeds=[1], policies=FEW)
    spec["cluster"].update(nodes=1, gpus_per_node=4)
    spec["workload"] = {"compute": "4ms", "payload": "40kB"}
    spec["stop"] = {"steps_per_worker": 12}
    spec.update(changes)
    return spec


def run(cohort, spec, ranks, *arguments, **environment):
    variables = {**os.environ, "COHORT_NCCL_MODULE": str(MODULE), **environment}
    return cohort.run("run", cohort.spec(spec), "--backend", "nccl", "--ranks", ranks, *arguments, env=variables)


def test_every_policy_runs_and_every_mean_is_right(cohort):
    spec = real_spec(policies=POLICIES)
    spec["cluster"].update(gpus_per_node=3)  # and a server: four ranks
    done = run(cohort, spec, 4, "--verify", "--json")
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout)["runs"]
    assert [r["worker_steps"] for r in runs] == [36] * len(POLICIES)


def test_training_on_the_device_learns_what_the_simulation_does(cohort):
    training = {"model": {"kind": "mlp", "hidden": [20]}, "batch": 8, "momentum": 0.9,
                "data": {"synthetic": {"training_samples": 512, "test_samples": 128}}}
    spec = real_spec(policies=["all-reduce"], workload={"compute": "1ms", "training": training})
    done = run(cohort, spec, 4, "--set", "/workload/training/learning_rate=0.05", "--json")
    assert done.returncode == 0, done.stderr
    real = json.loads(done.stdout)["runs"][0]
    spec["workload"]["training"]["learning_rate"] = 0.05
    simulated = json.loads(cohort.run("simulate", cohort.spec(spec), "--json").stdout)["runs"][0]
    assert real["final_loss"] == pytest.approx(simulated["final_loss"], rel=1e-4)
    assert real["final_loss"] < real["curve"]["loss"][0]


def test_two_ranks_on_one_gpu_are_refused_before_anything_starts(cohort):
    done = run(cohort, real_spec(), 4, COHORT_STAND_IN_GPUS="3")
    assert done.returncode == 2
    assert "ranks 0 and 3 are both on GPU 0000:00:00.0" in done.stderr
    assert done.stdout == ""


def test_sharing_gpus_is_possible_when_asked_for(cohort):
    assert run(cohort, real_spec(), 4, "--share-gpus", COHORT_STAND_IN_GPUS="1").returncode == 0


def test_an_error_of_the_library_fails_its_row_alone_with_its_words(cohort):
    done = run(cohort, real_spec(), 4, "--json", COHORT_STAND_IN_FAIL="1:ncclAllReduce:5:async")
    assert done.returncode == 1
    failed, fine = json.loads(done.stdout)["runs"]
    assert "remote process exited or there was a network error" in failed["error"] and "rank 1" in failed["error"]
    assert fine["error"] is None


def test_a_module_that_is_not_there_is_named(cohort):
    done = run(cohort, real_spec(), 4, COHORT_NCCL_MODULE="nowhere.so")
    assert done.returncode == 3
    assert "nowhere.so does not exist" in done.stderr
