"""simulate, policies, doctor: what they print and write."""

import json

from conftest import small_spec

KEYS = {"policy", "label", "seed", "workers", "worker_steps", "simulated_seconds", "throughput_steps_per_second",
        "compute_fraction", "wait_fraction", "sync_fraction", "coordinate_fraction", "synchronisations",
        "inter_node_bytes", "intra_node_bytes", "max_step_skew"}


def runs_of(result):
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)["runs"]


def test_json_has_one_object_per_policy_and_seed_with_all_keys(cohort):
    runs = runs_of(cohort.run("simulate", cohort.spec(small_spec()), "--json"))
    assert [(run["policy"], run["seed"]) for run in runs] == [("all-reduce", 1), ("all-reduce", 2), ("smart", 1), ("smart", 2)]
    for run in runs:
        assert KEYS <= run.keys()
        assert run["workers"] == 4 and run["worker_steps"] == 80
        fractions = [run[f"{part}_fraction"] for part in ("compute", "wait", "sync", "coordinate")]
        assert abs(sum(fractions) - 1) < 1e-9


def test_a_setting_changes_the_result(cohort):
    spec = cohort.spec(small_spec())
    slow = runs_of(cohort.run("simulate", spec, "--json", "--set", "/workload/compute=100ms"))
    fast = runs_of(cohort.run("simulate", spec, "--json"))
    assert slow[0]["simulated_seconds"] > 5 * fast[0]["simulated_seconds"]


def test_the_base_cell_of_a_sweep_runs_and_says_so(cohort):
    spec = cohort.spec(small_spec(sweep={"/stragglers/0/factor": [1, 2]}))
    result = cohort.run("simulate", spec, "--json")
    assert len(runs_of(result)) == 4 and "base cell" in result.stderr


def test_comments_are_allowed(cohort):
    text = json.dumps(small_spec(), indent=1).replace('"seeds"', '// which draws\n "seeds"')
    assert cohort.run("simulate", cohort.spec(text)).returncode == 0


def test_files_are_the_same_bytes_again(cohort):
    spec = cohort.spec(small_spec())
    for out in ("one", "two"):
        assert cohort.run("simulate", spec, "--out", out, "--timeline").returncode == 0
    names = {path.name for path in (cohort.folder / "one").iterdir()}
    assert {"events.jsonl", "results.jsonl", "results.csv", "manifest.json", "timeline.json"} <= names
    assert not [name for name in names if name.endswith(".part")]
    for name in ("events.jsonl", "results.jsonl", "results.csv", "timeline.json"):
        assert (cohort.folder / "one" / name).read_bytes() == (cohort.folder / "two" / name).read_bytes()


def test_the_event_log_heads_each_run_and_holds_every_step(cohort):
    cohort.run("simulate", cohort.spec(small_spec()), "--out", "out")
    lines = [json.loads(line) for line in (cohort.folder / "out" / "events.jsonl").read_text().splitlines()]
    assert [line["run"]["label"] for line in lines if "run" in line] == ["all-reduce", "all-reduce", "smart", "smart"]
    assert sum(line.get("event") == "ready" for line in lines) == 4 * 80


def test_a_timeline_without_a_directory_is_refused(cohort):
    assert cohort.run("simulate", cohort.spec(small_spec()), "--timeline").returncode == 2


def test_files_are_found_relative_to_the_spec(cohort):
    (cohort.folder / "specs").mkdir()
    rows = [f"{worker},{step},0.0{worker + 1}" for worker in range(4) for step in range(20)]
    (cohort.folder / "specs" / "steps.csv").write_text("worker,step,seconds\n" + "\n".join(rows) + "\n")
    (cohort.folder / "specs" / "curve.json").write_text("[[1024, 0.5], [1048576, 1.0]]")
    spec = small_spec(stragglers=[{"kind": "trace", "file": "steps.csv"}])
    spec["cluster"]["collective"] = {"measured": "curve.json"}
    (cohort.folder / "specs" / "spec.json").write_text(json.dumps(spec))
    runs = runs_of(cohort.run("simulate", "specs/spec.json", "--json"))
    assert runs[0]["simulated_seconds"] > 20 * 0.04


def test_policies_lists_options_defaults_and_sources(cohort):
    policies = json.loads(cohort.run("policies", "--json").stdout)["policies"]
    assert {"all-reduce", "parameter-server", "d-psgd", "ad-psgd", "static", "random", "smart"} <= {p["name"] for p in policies}
    smart = next(policy for policy in policies if policy["name"] == "smart")
    assert {"name", "default", "allowed", "description", "source"} <= smart["options"][0].keys()
    assert "threshold" in cohort.run("policies", "smart").stdout
    wrong = cohort.run("policies", "smrt")
    assert wrong.returncode == 2 and "smart" in wrong.stderr


def test_mixing_prints_the_published_numbers_of_static(cohort):
    result = cohort.run("policies", "static", "--mixing", "--workers", 16, "--per-node", 4, "--json")
    rates = json.loads(result.stdout)["policies"][0]["mixing"]["rates"]
    assert any(abs(rate["value"] - 0.421875) < 1e-12 for rate in rates)
    assert any(abs(rate["value"] - 0.5625) < 1e-12 for rate in rates)


def test_doctor_says_what_is_there(cohort):
    result = cohort.run("doctor")
    assert result.returncode == 0 and "matplotlib" in result.stdout
