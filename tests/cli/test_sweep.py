"""Sweeps: the same bytes whatever happened on the way, and nothing lost."""

import csv
import fcntl
import json
import os
import resource
import signal
import subprocess
import time

import pytest
from conftest import BINARY, long_spec, small_spec

RESULTS = ("results.jsonl", "results.csv")


def contents(folder):
    return {name: (folder / name).read_bytes() for name in RESULTS}


def wait_for_rows(folder, rows, process):
    """Until the journal holds so many rows and the sweep still runs."""
    journal = folder / "journal.jsonl"
    end = time.monotonic() + 120
    while not journal.exists() or journal.read_bytes().count(b"\n") <= rows:
        assert process.poll() is None, "the sweep ended too early to be interrupted"
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.fixture
def swept(cohort):
    spec = cohort.spec(small_spec(sweep={"/stragglers/0/factor": [1, 2, 5]}))
    assert cohort.run("sweep", spec, "--out", "out").returncode == 0
    return spec


def test_one_row_per_cell_policy_and_seed_with_named_columns(cohort, swept):
    lines = [json.loads(line) for line in (cohort.folder / "out" / "results.jsonl").read_text().splitlines()]
    assert [(line["/stragglers/0/factor"], line["policy"], line["seed"]) for line in lines] == [
        (factor, policy, seed) for factor in (1, 2, 5) for policy in ("all-reduce", "smart") for seed in (1, 2)]
    with open(cohort.folder / "out" / "results.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 12
    assert float(rows[0]["throughput_steps_per_second"]) == lines[0]["throughput_steps_per_second"]
    assert rows[0]["error"] == "" and lines[0]["error"] is None
    manifest = json.loads((cohort.folder / "out" / "manifest.json").read_text())
    assert manifest["rows"] == 12 and manifest["resolved"]["workload"]["compute_ns"] == 10_000_000


def test_the_number_of_jobs_changes_no_byte(cohort):
    spec = cohort.spec(small_spec(sweep={"/stragglers/0/factor": [1, 2, 3, 4, 5]}))
    for jobs in (1, 2, 5):
        assert cohort.run("sweep", spec, "--out", f"out{jobs}", "--jobs", jobs).returncode == 0
    assert contents(cohort.folder / "out1") == contents(cohort.folder / "out2") == contents(cohort.folder / "out5")


def test_a_finished_directory_is_left_alone(cohort, swept):
    before = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in (cohort.folder / "out").iterdir()}
    again = cohort.run("sweep", swept, "--out", "out")
    assert again.returncode == 0 and "nothing to do" in again.stderr
    after = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in (cohort.folder / "out").iterdir()}
    assert before == after


@pytest.mark.parametrize("change", [
    {"seeds": [1, 2, 3]},
    {"policies": ["all-reduce", {"kind": "smart", "threshold": 4}, "static"]},
    {"sweep": {"/stragglers/0/factor": [1, 2, 3, 5]}},
])
def test_a_grown_spec_computes_just_what_is_new(cohort, swept, change):
    grown = cohort.spec(small_spec(**{"sweep": {"/stragglers/0/factor": [1, 2, 5]}, **change}), "grown.json")
    rows = {"seeds": 6, "policies": 6, "sweep": 4}[next(iter(change))]
    assert f"{rows} computed now" in cohort.run("sweep", grown, "--out", "out").stderr
    assert cohort.run("sweep", grown, "--out", "fresh").returncode == 0
    assert contents(cohort.folder / "out") == contents(cohort.folder / "fresh")


def test_a_directory_of_another_spec_is_refused_and_kept(cohort, swept):
    before = contents(cohort.folder / "out")
    other = cohort.spec(small_spec(workload={"compute": "11ms", "payload": "1MB"}), "other.json")
    for command in ("sweep", "simulate"):
        result = cohort.run(command, other, "--out", "out")
        assert result.returncode == 2 and "another spec" in result.stderr and result.stdout == ""
    assert contents(cohort.folder / "out") == before


def test_a_directory_with_other_files_is_refused(cohort):
    (cohort.folder / "home").mkdir()
    (cohort.folder / "home" / "letter.txt").write_text("dear")
    result = cohort.run("sweep", cohort.spec(small_spec()), "--out", "home")
    assert result.returncode == 2
    assert [path.name for path in (cohort.folder / "home").iterdir()] == ["letter.txt"]


def test_killed_again_and_again_it_ends_with_the_same_bytes(cohort):
    spec = cohort.spec(long_spec())
    assert cohort.run("sweep", spec, "--out", "whole").returncode == 0
    for rows in (20, 150, 400):
        process = cohort.start("sweep", spec, "--out", "out", "--jobs", 2)
        wait_for_rows(cohort.folder / "out", rows, process)
        process.kill()
        process.wait()
        assert not (cohort.folder / "out" / "results.csv").exists()
    kept = (cohort.folder / "out" / "journal.jsonl").read_bytes().count(b"\n") - 1
    assert kept >= 400
    last = cohort.run("sweep", spec, "--out", "out", "--jobs", 1)
    assert last.returncode == 0 and f"{1000 - kept} computed now" in last.stderr
    assert contents(cohort.folder / "out") == contents(cohort.folder / "whole")


PUBLISHED = ["manifest.json", "results.jsonl", "results.csv"]  # in the order in which they come into place


@pytest.mark.parametrize("there", range(3))
def test_killed_while_it_publishes_the_next_run_publishes_all_of_it(cohort, swept, there):
    more = ["sweep", swept, "--set", "/seeds=[1,2,3]", "--out"]
    assert cohort.run(*more, "whole").returncode == 0
    out, whole = cohort.folder / "out", cohort.folder / "whole"
    (out / "journal.jsonl").write_bytes((whole / "journal.jsonl").read_bytes())
    for name in PUBLISHED[:there]:
        (out / name).write_bytes((whole / name).read_bytes())
    (out / f"{PUBLISHED[there]}.part").write_text("half a fi")
    last = cohort.run(*more, "out")
    assert last.returncode == 0 and " 0 computed now" in last.stderr
    assert contents(out) == contents(whole)
    assert json.loads((out / "manifest.json").read_text())["spec"]["seeds"] == [1, 2, 3]
    assert sorted(path.name for path in out.iterdir()) == sorted(["journal.jsonl", *PUBLISHED])
    assert "nothing to do" in cohort.run(*more, "out").stderr


@pytest.mark.parametrize("damaged", [None, "", "{", '{"name": "small"}}'])
def test_without_a_whole_manifest_results_are_not_finished(cohort, swept, damaged):
    manifest = cohort.folder / "out" / "manifest.json"
    manifest.unlink()
    if damaged is not None:
        manifest.write_text(damaged)
    assert " 0 computed now" in cohort.run("sweep", swept, "--out", "out").stderr
    assert json.loads(manifest.read_text())["rows"] == 12
    assert "nothing to do" in cohort.run("sweep", swept, "--out", "out").stderr


def test_a_torn_journal_is_resumed(cohort, swept):
    before = contents(cohort.folder / "out")
    journal = cohort.folder / "out" / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-100])
    (cohort.folder / "out" / "results.csv").unlink()
    assert "1 computed now" in cohort.run("sweep", swept, "--out", "out").stderr
    assert contents(cohort.folder / "out") == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_sweep_ends_with_130_and_resumes(cohort, number):
    spec = cohort.spec(long_spec())
    process = cohort.start("sweep", spec, "--out", "out")
    wait_for_rows(cohort.folder / "out", 10, process)
    process.send_signal(number)
    output, message = process.communicate(timeout=60)
    assert process.returncode == 130 and output == "" and "resumes" in message
    assert not (cohort.folder / "out" / "results.csv").exists()
    assert cohort.run("sweep", spec, "--out", "out").returncode == 0


def test_a_directory_in_use_is_refused(cohort, swept):
    descriptor = os.open(cohort.folder / "out", os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        result = cohort.run("sweep", swept, "--out", "out")
    finally:
        os.close(descriptor)
    assert result.returncode == 3 and "another process" in result.stderr


def test_a_directory_that_cannot_be_made_ends_with_3(cohort):
    result = cohort.run("sweep", cohort.spec(small_spec()), "--out", "/proc/none")
    assert result.returncode == 3 and result.stdout == "" and "/proc/none" in result.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_that_may_not_be_written_ends_with_3(cohort):
    (cohort.folder / "out").mkdir(mode=0o500)
    assert cohort.run("sweep", cohort.spec(small_spec()), "--out", "out").returncode == 3


def test_a_full_disk_ends_with_3_and_keeps_finished_rows(cohort):
    """A limit on the size of files stands in for a full disk: writes come back short, then fail."""
    spec = cohort.spec(small_spec(sweep={"/stragglers/0/factor": [1, 2, 3, 4, 5]}))
    assert cohort.run("sweep", spec, "--out", "whole").returncode == 0
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
    full = cohort.run("sweep", spec, "--out", "out", preexec_fn=limit)
    assert full.returncode == 3 and full.stdout == "" and "journal.jsonl" in full.stderr
    kept = (cohort.folder / "out" / "journal.jsonl").read_bytes()
    assert kept.endswith(b"\n") and 1 < kept.count(b"\n") < 20
    assert f"{21 - kept.count(b'%c' % 10)} computed now" in cohort.run("sweep", spec, "--out", "out").stderr
    assert contents(cohort.folder / "out") == contents(cohort.folder / "whole")


def test_a_full_standard_output_ends_with_3(cohort):
    with open("/dev/full", "w") as full:
        result = subprocess.run([BINARY, "policies"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 3 and "No space left" in result.stderr
