"""Specs with training: what rows then say, what a sweep keeps, and what is refused."""

import csv
import json

from conftest import small_spec

COLUMNS = ["learning_rate", "momentum", "final_loss", "final_accuracy", "worst_loss", "worst_accuracy", "replica_loss",
           "replica_accuracy", "time_to_loss_seconds", "samples_to_loss", "consensus_distance", "effective_staleness",
           "samples", "slowest_worker_samples"]
SYNTHETIC = {"synthetic": {"training_samples": 512, "test_samples": 64}}


def training_spec(training=None, **changes):
    """Softmax regression on four workers, 20 steps of 8 samples."""
    learning = {"model": "softmax", "data": SYNTHETIC, "batch": 8, "learning_rate": 0.05}
    learning.update(training or {})
    return small_spec(workload={"compute": "10ms", "payload": "1MB", "training": learning}, **changes)


def quadratic_spec(**changes):
    return small_spec(workload={"compute": "10ms", "training": {"model": "quadratic"}}, **changes)


def runs_of(result):
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)["runs"]


def rows_of(cohort, out="out"):
    return [json.loads(line) for line in (cohort.folder / out / "results.jsonl").read_text().splitlines()]


def test_rows_say_what_was_learned(cohort):
    spec = cohort.spec(training_spec(measure={"target_loss": 2.2, "every": 8, "replicas": True}))
    for run in runs_of(cohort.run("simulate", spec, "--json")):
        assert set(COLUMNS) <= run.keys()
        curve = run["curve"]
        assert {len(values) for values in curve.values()} == {len(curve["seconds"])}
        assert curve["loss"][-1] == run["final_loss"] < curve["loss"][0]
        assert 0 < run["time_to_loss_seconds"] < run["simulated_seconds"]
        assert run["samples"] == sum(run["samples_per_worker"]) == 4 * 20 * 8
        assert run["worst_loss"] >= run["replica_loss"] > 0


def test_without_training_there_are_no_such_columns(cohort):
    run = runs_of(cohort.run("simulate", cohort.spec(small_spec()), "--json"))[0]
    assert not set(COLUMNS) & run.keys()


def test_a_target_that_is_not_reached_is_null_never_zero(cohort):
    spec = cohort.spec(training_spec(measure={"target_loss": 0.001}))
    run = runs_of(cohort.run("simulate", spec, "--json"))[0]
    assert run["time_to_loss_seconds"] is None and run["samples_to_loss"] is None


def test_a_run_ends_at_the_loss_of_its_stop_rule(cohort):
    spec = cohort.spec(training_spec(stop={"steps_per_worker": 20, "loss": 2.2}, measure={"every": 4}))
    run = runs_of(cohort.run("simulate", spec, "--json"))[0]
    assert run["final_loss"] <= 2.2 and run["worker_steps"] < 80
    assert run["time_to_loss_seconds"] <= run["simulated_seconds"]


def test_the_table_shows_loss_accuracy_and_time_to_the_loss(cohort):
    result = cohort.run("simulate", cohort.spec(training_spec(measure={"target_loss": 2.0})))
    head = result.stdout.splitlines()[0]
    assert all(word in head for word in ("loss", "accuracy %", "s to loss"))
    assert "accuracy" not in cohort.run("simulate", cohort.spec(small_spec())).stdout


def test_csv_has_the_columns_but_no_lists(cohort):
    assert cohort.run("sweep", cohort.spec(training_spec()), "--out", "out").returncode == 0
    with (cohort.folder / "out" / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert set(COLUMNS) <= rows[0].keys() and "curve" not in rows[0] and "samples_per_worker" not in rows[0]
    assert [float(row["final_loss"]) for row in rows] == [row["final_loss"] for row in rows_of(cohort)]
    assert rows[0]["time_to_loss_seconds"] == ""


def test_results_are_the_same_bytes_for_any_number_of_jobs_and_after_growth(cohort):
    tune = {"target_loss": 2.0, "tune": {"learning_rate": [0.01, 0.05, 0.2, 0.4], "budget": 64}}
    one = cohort.spec(training_spec(measure=tune, sweep={"/workload/training/shards": ["iid", {"dirichlet": 0.3}]}))
    fewer = cohort.spec(training_spec(measure=tune, seeds=[1], sweep={"/workload/training/shards": ["iid"]}), "fewer.json")
    assert cohort.run("sweep", one, "--out", "alone", "--jobs", 1).returncode == 0
    assert cohort.run("sweep", one, "--out", "many", "--jobs", 4).returncode == 0
    assert cohort.run("sweep", fewer, "--out", "grown").returncode == 0
    assert cohort.run("sweep", one, "--out", "grown").returncode == 0
    for name in ("results.jsonl", "results.csv"):
        expected = (cohort.folder / "alone" / name).read_bytes()
        assert (cohort.folder / "many" / name).read_bytes() == expected
        assert (cohort.folder / "grown" / name).read_bytes() == expected


def test_a_rate_that_is_tuned_in_every_cell_cannot_be_swept(cohort):
    spec = cohort.spec(training_spec(measure={"tune": {"learning_rate": [0.01, 0.1], "budget": 64}},
                                     sweep={"/workload/training/learning_rate": [0.01, 0.1]}))
    result = cohort.run("sweep", spec, "--out", "out")
    assert result.returncode == 2 and not (cohort.folder / "out").exists()
    assert "/sweep: /workload/training/learning_rate is tuned in every cell (/measure/tune/learning_rate)" in result.stderr
    momentum = cohort.spec(training_spec(measure={"tune": {"learning_rate": [0.01, 0.1], "budget": 64}}, seeds=[1],
                                         sweep={"/workload/training/momentum": [0, 0.5]}))
    assert cohort.run("sweep", momentum, "--out", "out").returncode == 0


def test_every_policy_trains_at_its_best_candidate_and_shows_them_all(cohort):
    tune = {"tune": {"learning_rate": [0.001, 0.1], "momentum": [0, 0.5], "budget": 64}}
    runs = runs_of(cohort.run("simulate", cohort.spec(training_spec(measure=tune)), "--json"))
    for run in runs:
        tried = [(each["learning_rate"], each["momentum"]) for each in run["tuning"]]
        assert tried == [(0.001, 0), (0.001, 0.5), (0.1, 0), (0.1, 0.5)]
        assert (run["learning_rate"], run["momentum"]) in tried and run["learning_rate"] == 0.1
    assert runs[0]["tuning"] == runs[1]["tuning"]  # two seeds of one policy


def test_the_manifest_has_the_training_as_resolved(cohort):
    spec = cohort.spec(training_spec(measure={"target_loss": 2.0}, stop={"steps_per_worker": 20, "loss": 1.0}))
    assert cohort.run("simulate", spec, "--out", "out").returncode == 0
    resolved = json.loads((cohort.folder / "out" / "manifest.json").read_text())["resolved"]
    training = resolved["training"]
    assert training["model"] == {"kind": "softmax"} and training["parameters"] == 650
    assert training["data"]["fingerprint"] > 0 and training["batch"] == 8
    assert training["measure"]["target_loss"] == 2.0 and resolved["stop"]["loss"] == 1.0


def test_a_cell_that_diverges_says_where_and_the_others_go_on(cohort):
    spec = cohort.spec(quadratic_spec(sweep={"/workload/training/learning_rate": [0.1, 1e6]}, seeds=[1],
                                      stop={"steps_per_worker": 100}, measure={"every": 1000}))
    result = cohort.run("sweep", spec, "--out", "out")
    assert result.returncode == 1
    rows = rows_of(cohort)
    assert [row["error"] is None for row in rows] == [True, True, False, False]
    assert "worker" in rows[2]["error"] and "step" in rows[2]["error"]
    assert rows[2]["final_loss"] is None and rows[0]["final_loss"] > 0


def test_a_model_too_large_for_memory_is_refused_before_it_is_made(cohort):
    spec = cohort.spec(training_spec({"model": "mlp", "hidden": [65536] * 20}, seeds=[1]))
    result = cohort.run("simulate", spec, "--json")
    assert result.returncode == 1
    assert all("GB" in run["error"] for run in json.loads(result.stdout)["runs"])


def test_a_synthetic_set_too_large_for_memory_is_refused_before_it_is_made(cohort):
    data = {"synthetic": {"training_samples": 10_000_000, "test_samples": 10_000_000, "side": 256}}
    spec = cohort.spec(training_spec(sweep={"/workload/training/data": [SYNTHETIC, data]}))
    result = cohort.run("sweep", spec, "--out", "out")
    assert result.returncode == 2 and result.stdout == ""
    assert "/workload/training/data/synthetic: the samples need up to 1310.7 GB" in result.stderr
    assert not (cohort.folder / "out" / "results.jsonl").exists()


def test_missing_fashion_mnist_is_a_matter_of_the_machine_and_says_what_to_install(cohort):
    result = cohort.run("simulate", cohort.spec(training_spec({"data": {"fashion-mnist": "nowhere"}})))
    assert result.returncode == 3 and result.stdout == ""
    assert "dataset-fashion-mnist" in result.stderr


def test_damaged_data_is_refused_before_the_first_cell_runs(cohort):
    names = ("training_images", "training_labels", "test_images", "test_labels")
    for name in names:
        (cohort.folder / name).write_bytes(b"\x00\x00\x08\x03")
    idx = {"idx": {name: name for name in names}}
    spec = cohort.spec(training_spec(sweep={"/workload/training/data": [SYNTHETIC, idx]}))
    result = cohort.run("sweep", spec, "--out", "out")
    assert result.returncode == 2 and result.stdout == ""
    assert "/workload/training/data" in result.stderr and "training_images" in result.stderr
    assert not (cohort.folder / "out" / "results.jsonl").exists()


def test_wrong_values_are_refused_with_their_place(cohort):
    for training, place in [({"model": "resnet"}, "/workload/training/model"),
                            ({"momentum": 1}, "/workload/training/momentum"),
                            ({"shards": {"dirichlet": 0}}, "/workload/training/shards/dirichlet"),
                            ({"data": "mnist"}, "/workload/training/data")]:
        result = cohort.run("simulate", cohort.spec(training_spec(training)))
        assert result.returncode == 2 and f"{place}: " in result.stderr, result.stderr
    result = cohort.run("simulate", cohort.spec(training_spec(measure={"target_loss": 0})))
    assert result.returncode == 2 and "/measure/target_loss: found 0" in result.stderr


def test_a_named_model_is_a_load_with_its_own_step_time(cohort):
    spec = cohort.spec(small_spec(workload={"model": "resnet18-imagenet", "gpu": "gtx-1080-ti"}))
    assert cohort.run("simulate", spec, "--out", "out").returncode == 0
    resolved = json.loads((cohort.folder / "out" / "manifest.json").read_text())["resolved"]["workload"]
    assert resolved["payload_bytes"] == 4 * 11_689_512 and resolved["compute_ns"] == 32_780_000
    result = cohort.run("simulate", cohort.spec(small_spec(workload={"model": "transformer-base"})))
    assert result.returncode == 2 and "compute" in result.stderr
