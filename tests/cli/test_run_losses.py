"""run: ranks that are killed, stopped, late or never there. Killed group generators and interruptions: test_run.py; losses of
the nccl backend: test_run_nccl.py; hosts that are cut off: tests/testbed."""

import os
import re
import shutil
import signal
import subprocess
import time

import pytest
from conftest import BINARY, ROOT, Cohort
from test_run import LAUNCHER, missing, processes, real_spec, wait_for

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "-")

POLICIES = ["all-reduce", "parameter-server", "d-psgd", "ad-psgd", "static", {"kind": "random", "group_size": 2},
            {"kind": "smart", "group_size": 2}]
LIMIT = 10  # seconds, from a loss to the end of all


def name_of(policy):
    return policy if isinstance(policy, str) else policy["kind"]


def losing_spec(policy, last=3000, **changes):
    """Two rows, the first quick. Worker 1 is slow: the others wait for it, where a policy waits."""
    spec = real_spec(policies=[policy], stop={"steps_per_worker": 3}, sweep=[{"/stop/steps_per_worker": [3, last]}],
                     stragglers=[{"kind": "fixed", "workers": [1], "factor": 5}], run={"nodes": "spec", "start_limit": "4s"})
    spec["workload"]["compute"] = "40ms"
    spec.update(changes)
    return spec


class Job:
    """Ranks under mpirun, whose files for a while have a folder of their own."""

    def __init__(self, cohort, spec, *arguments, launcher=(), wrapper=None, workers=3):
        self.folder, self.files = cohort.folder, cohort.folder / "files"
        self.files.mkdir()
        self.servers = int("parameter-server" in spec["policies"])
        command = [*LAUNCHER, *launcher, "-np", str(workers + self.servers), *([str(wrapper)] if wrapper else []), str(BINARY), "run",
                   str(cohort.spec(spec)), "--out", "out", *arguments]
        places = {"TMPDIR": str(self.files), "OMPI_MCA_btl_vader_backing_directory": str(self.files)}
        self.process = subprocess.Popen(command, cwd=cohort.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env={**os.environ, **places})

    def rows(self):
        journal = self.folder / "out" / "journal.jsonl"
        return journal.read_text().count('"key"') if journal.exists() else 0

    def wait_for_second_row(self):
        events = self.folder / "out" / "events"
        wait_for(lambda: self.rows() == 1 and len(list(events.iterdir())) == 2)
        time.sleep(0.5)  # into its steps

    def wait_for_steps(self):
        """Of the second row: large parameters take a while to be drawn."""
        self.wait_for_second_row()
        wait_for(lambda: any(file.stat().st_size > 4000 for file in (self.folder / "out" / "events").iterdir()))

    def signal(self, rank, number=signal.SIGKILL):
        self.wait_for_second_row()
        os.kill(processes(self.folder, rank)[0], number)

    def end(self, limit=LIMIT):
        """What it said, once it and every rank have ended and nothing is left."""
        try:
            _, message = self.process.communicate(timeout=limit)
        finally:
            if self.process.poll() is None:
                self.process.kill()
        wait_for(lambda: not processes(self.folder), LIMIT)
        assert list(self.files.glob("**/*segment*")) == []
        return message


def group(role):
    return rf"{role} was lost after [0-9.]+ s, in (no synchronisation|synchronisation \d+ of [a-z0-9, ]*{role})"


@pytest.mark.parametrize("policy", POLICIES, ids=name_of)
def test_a_killed_worker_ends_the_run_of_every_policy(cohort, policy):
    job = Job(cohort, losing_spec(policy))
    job.signal(2)
    message = job.end()
    assert job.process.returncode in (3, 128 + signal.SIGKILL)
    assert "rank 2" in message and re.search(group("worker 2"), message), message
    assert job.rows() == 1


def test_a_worker_killed_while_it_computes_is_named(cohort):
    job = Job(cohort, losing_spec("all-reduce", workload={"compute": "10s", "payload": "40kB"}, stop={"steps_per_worker": 1},
                                  sweep=[], stragglers=[]))
    events = cohort.folder / "out" / "events"
    wait_for(lambda: events.is_dir() and list(events.iterdir()))
    time.sleep(0.5)
    os.kill(processes(cohort.folder, 1)[0], signal.SIGKILL)
    message = job.end()
    assert job.process.returncode in (3, 128 + signal.SIGKILL) and "rank 1" in message and "worker 1" in message


def test_a_worker_killed_inside_a_large_mean_is_named_with_its_group(cohort):
    job = Job(cohort, losing_spec("all-reduce", workload={"compute": "1ms", "payload": "24MB"}, stragglers=[]))
    job.wait_for_steps()
    job.signal(2)
    message = job.end()
    assert job.process.returncode in (3, 128 + signal.SIGKILL)
    assert "rank 2" in message and re.search(group("worker 2"), message), message


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two ranks share one processor: none waits inside MPI_Allreduce")
def test_a_worker_killed_while_the_other_waits_inside_mpi_allreduce_is_named(cohort):
    spec = losing_spec("all-reduce", workload={"compute": "1us", "payload": "100MB"}, stragglers=[])
    spec["cluster"]["nodes"] = 2
    job = Job(cohort, spec, workers=2)
    job.wait_for_steps()
    job.signal(1)
    message = job.end()
    assert job.process.returncode in (3, 128 + signal.SIGKILL)
    assert "rank 1" in message and re.search(group("worker 1"), message), message


def test_a_killed_server_ends_the_run(cohort):
    job = Job(cohort, losing_spec("parameter-server"))
    job.signal(3)
    message = job.end()
    assert job.process.returncode in (3, 128 + signal.SIGKILL)
    assert "rank 3" in message and re.search(group("server 0"), message), message


def test_a_stopped_worker_ends_the_run_of_every_policy(tmp_path):
    jobs = []
    for policy in POLICIES:
        (tmp_path / name_of(policy)).mkdir()
        jobs.append(Job(Cohort(tmp_path / name_of(policy)), losing_spec(policy)))
    for job in jobs:
        job.wait_for_second_row()
    for job in jobs:
        job.signal(2, signal.SIGSTOP)
    for job in jobs:
        message = job.end()
        assert job.process.returncode == 3 and job.rows() == 1
        assert re.search(group("worker 2"), message) and "it was silent for 5.0 s" in message, message


@pytest.mark.parametrize("rank", [0, 2])
def test_a_stopped_rank_ends_the_run_with_3(cohort, rank):
    job = Job(cohort, losing_spec("all-reduce"))
    job.signal(rank, signal.SIGSTOP)
    message = job.end()
    assert job.process.returncode == 3
    if rank == 0:  # the group generator too: only the others can tell
        assert "rank 1: the connection to the group generator is lost: it was silent" in message
    else:
        assert "rank 2" in message and "it was silent for 5.0 s" in message


def test_told_to_go_on_under_a_launcher_that_does_it_finishes_without_the_dead(cohort):
    job = Job(cohort, losing_spec({"kind": "smart", "group_size": 2}, last=20), "--on-loss", "continue",
              launcher=["--enable-recovery"])
    job.signal(2)
    message = job.end(60)
    assert job.process.returncode == 0, message
    assert "worker 2 was lost" in message and job.rows() == 2


def wrapped(cohort, what, rank=2):
    """A wrapper that makes one rank do something before the program."""
    path = cohort.folder / "wrapper"
    path.write_text(f'#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" = {rank} ] && {what}\nexec "$@"\n')
    path.chmod(0o755)
    return path


def test_a_rank_that_comes_late_is_waited_for(cohort):
    spec = losing_spec("all-reduce", last=4, run={"nodes": "spec", "start_limit": "30s"})
    job = Job(cohort, spec, wrapper=wrapped(cohort, "sleep 5"))
    assert job.end(60) and job.process.returncode == 0 and job.rows() == 2


def test_a_rank_that_never_comes_is_named_within_the_limit(cohort):
    job = Job(cohort, losing_spec("all-reduce"), wrapper=wrapped(cohort, "exec sleep 100"))
    message = job.end(4 + LIMIT)
    assert job.process.returncode == 3
    assert message.count("not every rank of the job started within 4000 ms; missing: rank 2") == 1


@pytest.fixture(scope="module")
def stop_in(tmp_path_factory):
    """What stops a rank inside a call of MPI, once preloaded."""
    if shutil.which("mpicc") is None:
        pytest.skip("no Open MPI compiler here")
    library = tmp_path_factory.mktemp("stop") / "stop_in.so"
    subprocess.run(["mpicc", "-shared", "-fPIC", ROOT / "tests" / "cli" / "stop_in.c", "-o", library], check=True)
    return library


def stopped_job(cohort, stop_in, rank, call):
    wrapper = wrapped(cohort, f'export LD_PRELOAD={stop_in} STOP_IN={call}', rank)
    return Job(cohort, losing_spec("all-reduce", last=4), wrapper=wrapper)


@pytest.mark.parametrize("rank, call", [(2, "MPI_Finalize:1"), (0, "MPI_Finalize:1"), (0, "MPI_Bcast:3")],
                         ids=["finalising", "rank 0 finalising", "rank 0 telling how the job went"])
def test_a_rank_that_stops_while_the_job_ends_is_named_and_all_rows_are_there(cohort, stop_in, rank, call):
    job = stopped_job(cohort, stop_in, rank, call)
    wait_for(lambda: (cohort.folder / "out" / "results.jsonl").exists())
    message = job.end()
    assert job.process.returncode == 3
    assert message.count(f"not every rank of the job came to its end within 7000 ms; stopped: rank {rank}\n") == 1, message
    assert len((cohort.folder / "out" / "results.jsonl").read_text().splitlines()) == 2


def test_a_rank_0_that_stops_before_it_gives_orders_is_named(cohort, stop_in):
    job = stopped_job(cohort, stop_in, 0, "MPI_Bcast:1")
    message = job.end(4 + LIMIT)
    assert job.process.returncode == 3
    assert message.count("not every rank of the job started within 4000 ms; stopped: rank 0") == 1, message
