"""run: whole jobs of real ranks under mpirun on this machine."""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import BINARY, ranks_in, small_spec

POLICIES = ["all-reduce", "parameter-server", "d-psgd", "ad-psgd", "static", {"kind": "random", "group_size": 2},
            {"kind": "smart", "group_size": 2}, {"kind": "smart", "group_size": 2, "timing": "background", "label": "background"}]
LAUNCHER = ["mpirun", "--bind-to", "none", "--oversubscribe"] + (["--allow-run-as-root"] if os.geteuid() == 0 else [])


def missing():
    """Why there are no real runs here; empty when there are."""
    if shutil.which("mpirun") is None:
        return "mpirun is not installed"
    spec = Path("/dev/null")
    said = subprocess.run([BINARY, "run", spec], capture_output=True, text=True, timeout=60).stderr
    return "this build has no real runs" if "no real runs" in said else ""


pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "-")


def real_spec(**changes):
    """Three workers, and a server where a policy has one: four ranks. Some seconds for all policies."""
    spec = small_spec(seeds=[1], policies=POLICIES, run={"nodes": "spec"})
    spec["cluster"].update(nodes=3, gpus_per_node=1)
    spec["workload"] = {"compute": "4ms", "payload": "40kB"}
    spec["stop"] = {"steps_per_worker": 12}
    spec.update(changes)
    return spec


def long_spec(**changes):
    """One quick row, then one that takes half a minute."""
    return real_spec(policies=["all-reduce"], stop={"steps_per_worker": 5},
                     sweep=[{"/stop/steps_per_worker": [5, 6000]}], **changes)


def launched(ranks, *arguments):
    return [*LAUNCHER, "-np", str(ranks), str(BINARY), *map(str, arguments)]


def mpirun(cohort, ranks, *arguments, timeout=120):
    return subprocess.run(launched(ranks, *arguments), capture_output=True, text=True, cwd=cohort.folder,
                          stdin=subprocess.DEVNULL, timeout=timeout)


def processes(folder, rank=None):
    """Process ids of the ranks that run in `folder`: all, or the one of a number."""
    return [process for number, process in ranks_in(folder, "OMPI_COMM_WORLD_RANK") if rank in (None, number)]


def wait_for(condition, limit=60.0):
    end = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def start_long(cohort, ranks=3):
    """A job in the middle of its second row."""
    spec = cohort.spec(long_spec())
    job = subprocess.Popen(launched(ranks, "run", spec, "--out", "out"), cwd=cohort.folder, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    events = cohort.folder / "out" / "events"
    wait_for(lambda: events.is_dir() and len([f for f in events.iterdir() if f.stat().st_size > 20_000]) > 0)
    return spec, job


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A directory of a run of every policy, verified; read only."""
    from conftest import Cohort
    cohort = Cohort(tmp_path_factory.mktemp("run"))
    spec = cohort.spec(real_spec())
    result = cohort.run("run", spec, "--ranks", 4, "--out", "out", "--verify", "--timeline")
    assert result.returncode == 0, result.stderr
    return cohort, spec, result


def rows_of(folder):
    return [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]


def test_every_policy_runs_for_real_and_its_means_are_right(finished):
    cohort, _, result = finished
    assert "means verified" in result.stderr
    rows = rows_of(cohort.folder / "out")
    assert len(rows) == len(POLICIES)
    for row in rows:
        assert row["error"] is None and row["worker_steps"] == 36 and row["workers"] == 3
        assert row["measured_seconds"] > 12 * 0.004 and "simulated_seconds" not in row
        fractions = [row[f"{part}_fraction"] for part in ("compute", "wait", "sync", "coordinate")]
        assert sum(fractions) == pytest.approx(1) and min(fractions) >= 0
        assert row["synchronisations"] > 0


def test_every_log_replays_to_identical_actions(finished):
    result = finished[0].run("replay", "out")
    assert result.returncode == 0, result.stdout
    assert result.stdout.count("identical") == len(POLICIES)


def test_real_rows_compare_with_a_simulation_of_the_same_spec(finished):
    cohort, spec, _ = finished
    assert cohort.run("sweep", spec, "--out", "sim").returncode == 0
    compared = cohort.run("compare", "sim", "out", "--json")
    assert compared.returncode == 0 and compared.stderr == ""
    assert len(json.loads(compared.stdout)["policies"]) == len(POLICIES)


def test_the_steps_of_a_run_are_a_trace_that_a_simulation_replays(finished):
    cohort, _, _ = finished
    steps = sorted((cohort.folder / "out" / "steps").iterdir())
    assert len(steps) == len(POLICIES)
    assert steps[0].read_text().startswith("worker,step,seconds,stretched_seconds,wait_seconds,coordinate_seconds,")
    traced = real_spec(stragglers=[{"kind": "trace", "file": str(steps[0])}], workload={"payload": "40kB"})
    assert cohort.run("simulate", cohort.spec(traced, "traced.json")).returncode == 0


def test_the_manifest_names_ranks_hosts_and_processor_time(finished):
    run = json.loads((finished[0].folder / "out" / "manifest.json").read_text())["run"]
    assert run["backend"] == "mpi" and run["ranks"] == 4 and len(run["host_of_rank"]) == 4
    assert sorted(run["worker_ranks"] + run["server_ranks"]) == [0, 1, 2, 3]
    assert all(seconds > 0 for seconds in run["cpu_seconds_of_rank"])
    assert run["verified"]["means"] > 0


def test_timelines_are_written_as_simulate_names_them(finished):
    names = {path.name for path in (finished[0].folder / "out").iterdir()}
    assert {"timeline.json", f"timeline-{len(POLICIES)}.json"} <= names


def test_a_finished_directory_is_left_alone(finished):
    cohort, spec, _ = finished
    before = {path: path.stat().st_mtime_ns for path in (cohort.folder / "out").iterdir()}
    again = cohort.run("run", spec, "--ranks", 4, "--out", "out")
    assert again.returncode == 0 and "nothing to do" in again.stderr
    assert before == {path: path.stat().st_mtime_ns for path in (cohort.folder / "out").iterdir()}


def test_json_has_one_object_per_cell_policy_and_seed(cohort):
    spec = real_spec(policies=["static"], seeds=[1, 2], sweep={"/stragglers/0/factor": [1, 2]})
    result = mpirun(cohort, 3, "run", cohort.spec(spec), "--json")
    assert result.returncode == 0, result.stderr
    runs = json.loads(result.stdout)["runs"]
    assert [(run["/stragglers/0/factor"], run["seed"]) for run in runs] == [(1, 1), (1, 2), (2, 1), (2, 2)]


def test_the_number_of_ranks_must_be_that_of_workers_and_servers(cohort):
    spec = cohort.spec(real_spec())
    for result in (mpirun(cohort, 3, "run", spec), cohort.run("run", spec, "--ranks", 3)):
        assert result.returncode == 2 and result.stdout == ""
        assert "found 3; allowed: 4" in result.stderr


def test_without_ranks_both_ways_to_start_are_shown(cohort):
    result = cohort.run("run", cohort.spec(real_spec()))
    assert result.returncode == 2
    assert "mpirun -np 4 cohort run" in result.stderr and "--ranks 4" in result.stderr


@pytest.mark.parametrize("change, word", [
    ({"workload": {"compute": 5, "payload": "40kB"}}, "/workload/compute"),
    ({"workload": {"compute": "1ms", "payload": "100000GB"}}, "/workload/payload"),
    ({"policies": [{"kind": "all-reduce", "overlap": True}]}, "/policies/0"),
    ({"run": {"backend": "gloo"}}, "/run/backend"),
    ({"run": {"listen": "nowhere"}}, "/run/listen"),
])
def test_a_spec_that_cannot_be_run_is_refused_by_one_message(cohort, change, word):
    result = mpirun(cohort, 3, "run", cohort.spec(real_spec(**change)), "--out", "out")
    assert result.returncode == 2
    assert result.stderr.count("cohort: ") == 1 and word in result.stderr
    assert not (cohort.folder / "out").exists()


def test_a_killed_rank_ends_the_job_with_its_name_and_the_rest_resumes(cohort):
    spec, job = start_long(cohort)
    os.kill(processes(cohort.folder, 2)[0], signal.SIGKILL)
    began = time.monotonic()
    _, message = job.communicate(timeout=60)
    assert time.monotonic() - began < 10
    assert job.returncode != 0
    assert "rank 2" in message and "worker 2 was lost" in message
    wait_for(lambda: not processes(cohort.folder), 10)
    assert (cohort.folder / "out" / "journal.jsonl").read_text().count('"key"') == 1
    assert not (cohort.folder / "out" / "results.jsonl").exists()
    rest = mpirun(cohort, 3, "run", spec, "--out", "out", "--set", "/sweep/0/~1stop~1steps_per_worker=[5, 6]")
    assert rest.returncode == 0 and "2 rows, 1 computed now" in rest.stderr
    assert cohort.run("replay", "out").stdout.count("identical") == 2


def test_a_killed_group_generator_ends_the_job(cohort):
    _, job = start_long(cohort)
    os.kill(processes(cohort.folder, 0)[0], signal.SIGKILL)
    began = time.monotonic()
    _, message = job.communicate(timeout=60)
    assert time.monotonic() - began < 10
    assert job.returncode != 0 and "rank" in message
    wait_for(lambda: not processes(cohort.folder), 10)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_job_keeps_its_finished_rows(cohort, number):
    _, job = start_long(cohort)
    job.send_signal(number)
    output, message = job.communicate(timeout=60)
    assert job.returncode != 0 and output == ""
    wait_for(lambda: not processes(cohort.folder), 10)
    assert (cohort.folder / "out" / "journal.jsonl").read_text().count('"key"') == 1
    assert "interrupted with 1 of 2 rows finished" in message


def test_rank_0_itself_ends_with_130_when_interrupted(cohort):
    _, job = start_long(cohort)
    os.kill(processes(cohort.folder, 0)[0], signal.SIGINT)
    _, message = job.communicate(timeout=60)
    assert job.returncode == 130 and "the same command resumes" in message


def test_a_rank_under_a_launcher_cannot_be_asked_for_more(cohort):
    spec = cohort.spec(real_spec(policies=["all-reduce"]))
    result = mpirun(cohort, 3, "run", spec, "--ranks", 4)
    assert result.returncode == 2 and result.stderr.count("cohort: --ranks") == 1


def test_a_directory_of_a_simulation_is_refused(cohort):
    spec = cohort.spec(real_spec(policies=["all-reduce"]))
    assert cohort.run("sweep", spec, "--out", "out").returncode == 0
    result = mpirun(cohort, 3, "run", spec, "--out", "out")
    assert result.returncode == 2 and "another spec" in result.stderr
