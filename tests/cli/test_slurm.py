"""Under Slurm's srun, on a cluster of one host that the test starts for itself: runs, sweeps, and what becomes of lost ranks."""

import json
import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from conftest import BINARY, ranks_in, small_spec
from test_run import missing, real_spec, wait_for
from test_sweep import contents, wait_for_rows

LIMIT = 10  # seconds, from a loss to the end of all
CONFIG = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort={controller}
SlurmdPort={daemon}
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}
SlurmdSpoolDir={folder}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=16
PartitionName=all Nodes={host} Default=YES
"""


def why_not():
    if os.geteuid() != 0 or not all(shutil.which(name) for name in ("slurmctld", "slurmd", "srun")):
        return "a cluster of Slurm needs root, slurmctld, slurmd and slurm-client"
    if not os.path.ismount("/sys/fs/cgroup"):
        return "slurmd needs control groups, and no file system is mounted on /sys/fs/cgroup"
    return missing()


pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "-")


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    """The environment of its commands."""
    folder = tmp_path_factory.mktemp("slurm")
    controller, daemon = free_ports(2)
    config = folder / "slurm.conf"
    config.write_text(CONFIG.format(host=socket.gethostname().split(".")[0], folder=folder, controller=controller, daemon=daemon))
    environment = {**os.environ, "SLURM_CONF": str(config)}
    daemons = [subprocess.Popen([name, "-D"], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL) for name in ("slurmctld", "slurmd")]
    try:
        wait_for(lambda: "idle" in subprocess.run(["sinfo", "-h", "-o", "%t"], env=environment, capture_output=True, text=True).stdout)
        yield environment
    finally:
        for process in daemons:
            process.terminate()
        for process in daemons:
            process.wait(timeout=30)


def srun(cohort, slurm, *words):
    return subprocess.Popen(["srun", "--mpi=pmix", *map(str, words)], cwd=cohort.folder, env=slurm, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ranks_of(folder):
    """Process ids of the ranks that run in `folder`, by rank."""
    return {rank: process for rank, process in ranks_in(folder, "SLURM_PROCID") if Path(f"/proc/{process}/exe").resolve() == BINARY}


def test_a_run_under_srun(cohort, slurm):
    job = srun(cohort, slurm, "-n", 4, BINARY, "run", cohort.spec(real_spec()), "--verify", "--json")
    output, message = job.communicate(timeout=120)
    assert job.returncode == 0 and "means verified" in message, message
    assert all(run["error"] is None for run in json.loads(output)["runs"])


def test_a_run_of_processes_that_srun_started_without_mpi_says_how(cohort, slurm):
    job = srun(cohort, slurm, "--mpi=none", "-n", 4, BINARY, "run", cohort.spec(real_spec()))
    output, message = job.communicate(timeout=60)
    assert job.returncode == 2 and output == ""
    assert message.count("cohort: ") == 1 and "srun --mpi=pmix" in message, message


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_lost_rank_ends_a_run_under_srun_and_is_named(cohort, slurm, number):
    spec = real_spec(policies=["all-reduce"], stop={"steps_per_worker": 3}, sweep=[{"/stop/steps_per_worker": [3, 10_000]}])
    job = srun(cohort, slurm, "-n", 3, BINARY, "run", cohort.spec(spec), "--out", "out")
    journal, events = cohort.folder / "out" / "journal.jsonl", cohort.folder / "out" / "events"
    wait_for(lambda: events.is_dir() and any(f.stat().st_size > 20_000 for f in events.iterdir()))
    os.kill(ranks_of(cohort.folder)[2], number)
    _, message = job.communicate(timeout=LIMIT)
    assert job.returncode in (3, 128 + signal.SIGKILL) and "worker 2 was lost" in message and "rank 2" in message, message
    assert ranks_of(cohort.folder) == {} and journal.read_text().count('"key"') == 1


def test_a_rank_that_never_comes_is_named_under_srun(cohort, slurm):
    wrapper = cohort.folder / "wrapper"
    wrapper.write_text('#!/bin/sh\n[ "$SLURM_PROCID" = 2 ] && exec sleep 100\nexec "$@"\n')
    wrapper.chmod(0o755)
    spec = cohort.spec(real_spec(policies=["all-reduce"], run={"nodes": "spec", "start_limit": "2s"}))
    job = srun(cohort, slurm, "-n", 3, wrapper, BINARY, "run", spec)
    _, message = job.communicate(timeout=2 + LIMIT)
    assert job.returncode != 0
    assert message.count("not every rank of the job started within 2000 ms; missing: rank 2") == 1, message


def test_a_sweep_under_srun_changes_no_byte_also_without_a_killed_rank(cohort, slurm):
    spec = cohort.spec(small_spec(stop={"steps_per_worker": 3000}, seeds=list(range(100)), sweep={"/stragglers/0/factor": [1, 2, 3]}))
    assert cohort.run("sweep", spec, "--out", "whole", "--jobs", 1).returncode == 0
    job = srun(cohort, slurm, "--mpi=none", "-n", 3, BINARY, "sweep", spec, "--out", "out")
    wait_for_rows(cohort.folder / "out", 50, job)
    os.kill(ranks_of(cohort.folder)[2], signal.SIGKILL)
    _, message = job.communicate(timeout=90)
    assert "rank 2 is lost" in message and "600 computed now" in message, message
    assert contents(cohort.folder / "out") == contents(cohort.folder / "whole")
