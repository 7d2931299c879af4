"""run --backend nccl --ranks N: ranks that are killed, stopped, late or never there, without a launcher, on the test double."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import BINARY, ranks_in
from test_run import wait_for
from test_run_losses import LIMIT, group, name_of
from test_run_nccl import MODULE, POLICIES, missing, real_spec, run

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "-")


def ranks_of(folder):
    """Process ids of the ranks that run in `folder`, by rank."""
    return dict(ranks_in(folder, "COHORT_RANK"))


class Job:
    """Three workers in a folder of their own, and a server where the policy has one: a quick row, then one of minutes."""

    def __init__(self, cohort, policy, compute="40ms", **environment):
        spec = real_spec(policies=[policy], stop={"steps_per_worker": 3}, sweep=[{"/stop/steps_per_worker": [3, 3000]}],
                         stragglers=[{"kind": "fixed", "workers": [1], "factor": 5}])
        spec["cluster"].update(gpus_per_node=3)
        spec["workload"]["compute"] = compute
        self.ranks = 3 + (policy == "parameter-server")
        self.folder = cohort.folder / name_of(policy)
        self.folder.mkdir()
        variables = {**os.environ, "COHORT_NCCL_MODULE": str(MODULE), **environment}
        command = [BINARY, "run", cohort.spec(spec), "--backend", "nccl", "--ranks", str(self.ranks), "--out", "out"]
        self.process = subprocess.Popen(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=variables)

    def rows(self):
        journal = self.folder / "out" / "journal.jsonl"
        return journal.read_text().count('"key"') if journal.exists() else 0

    def wait_for_second_row(self):
        events = self.folder / "out" / "events"
        wait_for(lambda: self.rows() == 1 and any(f.stat().st_size > 2000 for f in events.iterdir()))
        time.sleep(0.5)  # into its steps

    def signal(self, rank, number):
        self.wait_for_second_row()
        os.kill(ranks_of(self.folder)[rank], number)

    def end(self, limit=LIMIT):
        """What it said, once it and every rank have ended."""
        try:
            _, message = self.process.communicate(timeout=limit)
        finally:
            self.process.kill()
        assert ranks_of(self.folder) == {}
        return message


@pytest.mark.parametrize("policy", POLICIES, ids=name_of)
def test_a_killed_worker_ends_the_run_of_every_policy(cohort, policy):
    job = Job(cohort, policy)
    job.signal(2, signal.SIGKILL)
    message = job.end()
    assert job.process.returncode == 3 and job.rows() == 1
    assert "rank 2" in message and re.search(group("worker 2"), message), message


@pytest.mark.parametrize("policy", POLICIES, ids=name_of)
def test_a_stopped_worker_ends_the_run_of_every_policy_and_is_ended(cohort, policy):
    job = Job(cohort, policy)
    job.signal(2, signal.SIGSTOP)
    message = job.end()
    assert job.process.returncode == 3 and job.rows() == 1
    assert re.search(group("worker 2"), message) and "it was silent for 5.0 s" in message, message


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_lost_server_ends_the_run(cohort, number):
    job = Job(cohort, "parameter-server")
    job.signal(3, number)
    message = job.end()
    assert job.process.returncode == 3 and job.rows() == 1
    assert "rank 3" in message and re.search(group("server 0"), message), message


def test_a_worker_killed_while_all_compute_is_named(cohort):
    job = Job(cohort, "all-reduce", compute="10s")
    events = job.folder / "out" / "events"
    wait_for(lambda: events.is_dir() and list(events.iterdir()))
    time.sleep(0.5)
    os.kill(ranks_of(job.folder)[1], signal.SIGKILL)
    assert re.search(group("worker 1"), job.end()) and job.process.returncode == 3


def test_a_rank_that_dies_inside_a_collective_ends_the_run_and_is_named(cohort):
    done = run(cohort, real_spec(), 4, COHORT_STAND_IN_FAIL="2:ncclAllReduce:5:die")
    assert done.returncode == 3 and re.search(group("worker 2"), done.stderr), done.stderr


def test_ranks_do_not_hold_the_port_of_the_group_generator(cohort):
    job = Job(cohort, "all-reduce")
    job.wait_for_second_row()
    listening = {line.split()[9] for line in Path("/proc/net/tcp").read_text().splitlines()[1:] if line.split()[3] == "0A"}
    for rank in ranks_of(job.folder).values():
        held = {os.readlink(file).removeprefix("socket:[").rstrip("]") for file in Path(f"/proc/{rank}/fd").iterdir()}
        assert not held & listening
    job.process.kill()
    job.process.communicate(timeout=LIMIT)


def test_ranks_end_with_the_group_generator(cohort):
    job = Job(cohort, "all-reduce")
    job.wait_for_second_row()
    job.process.kill()
    job.process.communicate(timeout=LIMIT)
    wait_for(lambda: ranks_of(job.folder) == {}, LIMIT)


def test_ranks_of_a_stopped_group_generator_say_so_and_end(cohort):
    job = Job(cohort, "all-reduce")
    job.wait_for_second_row()
    job.process.send_signal(signal.SIGSTOP)
    wait_for(lambda: all(ended(rank) for rank in ranks_of(job.folder).values()), LIMIT)
    job.process.kill()
    assert "the connection to the group generator is lost: it was silent" in job.end()


def ended(process):
    """Also one that nobody has reaped."""
    return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"


def test_told_to_go_on_it_finishes_without_the_dead(cohort):
    spec = real_spec(policies=[{"kind": "smart", "group_size": 2}])
    done = run(cohort, spec, 4, "--on-loss", "continue", COHORT_STAND_IN_FAIL="2:ncclAllReduce:3:die")
    assert "rank 2" in done.stderr
    assert done.returncode == 0, done.stderr


def test_told_to_go_on_it_says_why_it_cannot_after_a_loss_inside_an_exchange(cohort):
    done = run(cohort, real_spec(policies=["ad-psgd"], stop={"steps_per_worker": 200}), 4, "--on-loss", "continue",
               COHORT_STAND_IN_FAIL="1:ncclGroupEnd:3:die")
    assert done.returncode == 3 and re.search(group("worker 1"), done.stderr), done.stderr
    assert "failed although no member was lost" in done.stderr and "was aborted after an earlier failure" in done.stderr


def test_a_rank_that_comes_late_is_waited_for(cohort):
    began = time.monotonic()
    done = run(cohort, real_spec(), 4, COHORT_STAND_IN_LATE="2:5000")
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - began > 5


def test_a_rank_that_never_comes_is_named_within_the_limit(cohort):
    began = time.monotonic()
    done = run(cohort, real_spec(run={"start_limit": "2s"}), 4, COHORT_STAND_IN_LATE="2:100000")
    assert done.returncode == 3 and time.monotonic() - began < 2 + LIMIT
    assert re.search(r"1 of 4 ranks did not connect to \S+ within 2000 ms: 2\n", done.stderr), done.stderr
    assert ranks_of(cohort.folder) == {}


def start_with_late_rank(cohort):
    variables = {**os.environ, "COHORT_NCCL_MODULE": str(MODULE), "COHORT_STAND_IN_LATE": "2:100000"}
    job = cohort.start("run", cohort.spec(real_spec()), "--backend", "nccl", "--ranks", 4, env=variables)
    wait_for(lambda: len(ranks_of(cohort.folder)) == 4)
    return job


def test_a_rank_killed_before_it_came_is_named_at_once(cohort):
    job = start_with_late_rank(cohort)
    os.kill(ranks_of(cohort.folder)[2], signal.SIGKILL)
    _, message = job.communicate(timeout=LIMIT)
    assert job.returncode == 3 and "rank 2 was ended by signal 9 (Killed) before all ranks were there" in message
    assert ranks_of(cohort.folder) == {}


def test_who_waits_for_ranks_can_be_interrupted(cohort):
    job = start_with_late_rank(cohort)
    job.send_signal(signal.SIGINT)
    _, message = job.communicate(timeout=LIMIT)
    assert job.returncode == 130 and "interrupted before all ranks were there" in message
    assert ranks_of(cohort.folder) == {}
