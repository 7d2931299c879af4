"""run: training for real under mpirun, held against the simulator's."""

import json

import pytest
from test_run import missing, mpirun, real_spec, rows_of

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "-")

RANKS = 4
POLICIES = ["all-reduce", "parameter-server", "d-psgd", "ad-psgd", "static", {"kind": "random", "group_size": 2},
            {"kind": "smart", "group_size": 2}]


def training_spec(**changes):
    """Three workers, and a server where a policy has one; ten steps between two points."""
    spec = real_spec(policies=POLICIES, measure={"every": 30, "samples": 512}, stop={"steps_per_worker": 40})
    spec["workload"] = {"compute": "200us", "training": {
        "model": "softmax", "batch": 16, "learning_rate": 0.1,
        "data": {"synthetic": {"training_samples": 1024, "test_samples": 256}}}}
    spec.update(changes)
    return spec


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A directory of a run of every policy, verified; read only."""
    from conftest import Cohort
    cohort = Cohort(tmp_path_factory.mktemp("train"))
    spec = cohort.spec(training_spec())
    result = cohort.run("run", spec, "--ranks", RANKS, "--out", "out", "--verify")
    assert result.returncode == 0, result.stderr
    return cohort, spec, rows_of(cohort.folder / "out")


def test_every_policy_learns_and_its_row_says_how(trained):
    _, _, rows = trained
    assert len(rows) == len(POLICIES)
    for row in rows:
        curve = row["curve"]
        assert row["error"] is None
        assert row["final_loss"] == curve["loss"][-1] < 0.7 * curve["loss"][0]
        assert row["final_accuracy"] == curve["accuracy"][-1] > curve["accuracy"][0]
        assert row["worst_loss"] >= row["replica_loss"]
        assert row["samples"] == curve["samples"][-1] == 3 * 40 * 16
        assert row["samples_per_worker"] == [640, 640, 640]
        assert curve["seconds"][0] == 0 and curve["seconds"] == sorted(curve["seconds"])
        assert curve["seconds"][-1] <= row["measured_seconds"]


def test_the_log_of_a_run_with_training_replays(trained):
    result = trained[0].run("replay", "out")
    assert result.returncode == 0, result.stdout
    assert result.stdout.count("identical") == len(POLICIES)


@pytest.mark.parametrize("policy", [{"kind": "all-reduce"}, {"kind": "all-reduce", "what": "gradients"},
                                    {"kind": "all-reduce", "order": "average_then_update"},
                                    {"kind": "parameter-server"}, {"kind": "d-psgd"}],
                         ids=["models", "gradients", "after the average", "parameter-server", "d-psgd"])
def test_what_is_learned_in_lock_step_is_what_the_simulator_learns_sample_for_sample(cohort, policy):
    spec = cohort.spec(training_spec(policies=[policy], stragglers=[]))
    ranks = RANKS if policy["kind"] == "parameter-server" else RANKS - 1
    real = mpirun(cohort, ranks, "run", spec, "--backend", "mpi", "--json")
    assert real.returncode == 0, real.stderr
    simulated = cohort.run("simulate", spec, "--json")
    assert simulated.returncode == 0, simulated.stderr
    curves = [json.loads(result.stdout)["runs"][0]["curve"] for result in (real, simulated)]
    assert curves[0]["samples"] == curves[1]["samples"]
    assert curves[0]["loss"] == pytest.approx(curves[1]["loss"], abs=1e-4)


def test_rows_of_a_sweep_over_the_learning_rate_each_train_with_their_own(cohort):
    spec = cohort.spec(training_spec(policies=["all-reduce"], sweep={"/workload/training/learning_rate": [0.1, 0.001]}))
    result = mpirun(cohort, RANKS - 1, "run", spec, "--backend", "mpi", "--json")
    assert result.returncode == 0, result.stderr
    fast, slow = json.loads(result.stdout)["runs"]
    assert (fast["learning_rate"], slow["learning_rate"]) == (0.1, 0.001)
    assert fast["final_loss"] < slow["final_loss"]


def test_a_row_that_diverges_says_where_and_the_others_are_kept(cohort):
    spec = training_spec(policies=["all-reduce", {"kind": "smart", "group_size": 2}])
    spec["workload"]["training"] = {"model": "quadratic", "learning_rate": 0.1}
    spec["sweep"] = {"/workload/training/learning_rate": [1e6, 0.1]}
    result = mpirun(cohort, RANKS - 1, "run", cohort.spec(spec), "--backend", "mpi", "--json")
    assert result.returncode == 1, result.stderr
    rows = json.loads(result.stdout)["runs"]
    assert [row["error"] is None for row in rows] == [False, False, True, True]
    for row in rows[:2]:
        assert "/workload/training" in row["error"] and "worker" in row["error"] and "step" in row["error"]
    assert all(row["final_loss"] is not None for row in rows[2:])


@pytest.mark.parametrize(("changes", "arguments", "place"), [
    ({"stop": {"steps_per_worker": 5, "loss": 0.5}}, ["--backend", "mpi"], "/stop/loss"),
])
def test_what_a_real_training_cannot_do_is_refused_by_name(cohort, changes, arguments, place):
    spec = cohort.spec(training_spec(policies=["all-reduce"], **changes))
    result = cohort.run("run", spec, "--ranks", RANKS - 1, *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert place in result.stderr and "allowed" in result.stderr


def test_a_payload_smaller_than_the_model_is_refused_with_both_sizes(cohort):
    spec = training_spec(policies=["all-reduce"])
    spec["workload"]["payload"] = "1kB"
    result = cohort.run("run", cohort.spec(spec), "--ranks", RANKS - 1)
    assert result.returncode == 2
    assert "/workload/payload" in result.stderr and "1 kB" in result.stderr and "2.6 kB" in result.stderr
