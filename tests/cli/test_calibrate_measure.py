"""`cohort calibrate --measure`: collectives timed among the ranks of a launcher, and the cluster part of a spec."""

import json
import os

import pytest
from conftest import Cohort, small_spec
from test_run import missing, mpirun

CPUS = os.cpu_count()
REASON = missing() or ("no link shows where two ranks share a processor" if CPUS < 2 else "")
pytestmark = pytest.mark.skipif(bool(REASON), reason=REASON or "-")

SIZES = [4, 4096, 65536, 262144, 1048576, 4194304]


@pytest.fixture(scope="module", params=[2, 4])
def measured(request, tmp_path_factory):
    """What so many ranks of this host print with --json."""
    cohort = Cohort(tmp_path_factory.mktemp("measure"))
    done = mpirun(cohort, request.param, "calibrate", "--measure", "--json")
    assert done.returncode == 0, done.stderr
    return cohort, request.param, json.loads(done.stdout), done.stderr


def test_the_cluster_is_the_ranks_of_this_host_and_a_fabric(measured):
    _, ranks, result, _ = measured
    cluster = result["cluster"]
    assert cluster["nodes"] == 1 and cluster["gpus_per_node"] == ranks and cluster["collective"] == "ring"
    assert set(cluster["fabric"]) == {"kind", "bandwidth", "latency"}


def test_the_cluster_is_one_that_a_spec_takes(measured):
    cohort, _, result, _ = measured
    done = cohort.run("simulate", cohort.spec(small_spec(cluster=result["cluster"], policies=["all-reduce"])), "--json")
    assert done.returncode == 0, done.stderr


def test_every_pattern_has_a_time_for_every_size(measured):
    _, ranks, result, _ = measured
    names = {pattern["pattern"] for pattern in result["patterns"]}
    wanted = {"inside a node", "pair inside a node"} | ({"pairs inside a node, side by side"} if ranks > 3 else set())
    assert names == wanted
    for pattern in result["patterns"]:
        assert [timing["bytes"] for timing in pattern["timings"]] == SIZES
        assert all(timing["seconds"] > 0 and timing["repeats"] >= 5 for timing in pattern["timings"])


def test_the_model_is_held_against_every_all_reduce(measured):
    _, _, result, _ = measured
    assert {(check["pattern"], check["bytes"]) for check in result["checks"]} == {("inside a node", size) for size in SIZES}


def test_patterns_of_more_ranks_than_processors_carry_a_warning(measured):
    _, ranks, result, message = measured
    warned = any("feed no fit" in warning and warning in message for warning in result["warnings"])
    assert warned == (ranks > CPUS)


def test_one_rank_is_refused(cohort):
    done = mpirun(cohort, 1, "calibrate", "--measure", "--json")
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("cohort: ") == 1 and "there is one rank; allowed: two at least" in done.stderr


def test_without_a_launcher_the_way_to_start_it_is_shown(cohort):
    done = cohort.run("calibrate", "--measure")
    assert done.returncode == 2 and done.stdout == ""
    assert "mpirun -np N cohort calibrate --measure" in done.stderr


def test_logs_beside_it_are_refused(cohort):
    done = cohort.run("calibrate", "--measure", "log.txt")
    assert done.returncode == 2 and done.stdout == ""
