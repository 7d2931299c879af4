"""Sweeps on the ranks of a launcher: the same bytes as on one, whatever happens to the others."""

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import time

import pytest
from conftest import BINARY, long_spec, ranks_in, small_spec
from test_sweep import contents, wait_for_rows

LIMIT = 90  # seconds
needs_mpi = pytest.mark.skipif(not shutil.which("mpirun"), reason="no MPI launcher here")
SMALL = {"/stragglers/0/factor": [1, 2, 3, 4, 5]}


def started(cohort, spec, rank, ranks, out="out"):
    """One rank, as Open MPI's launcher would start it."""
    job = {"OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_SIZE": ranks, "OMPI_COMM_WORLD_LOCAL_SIZE": ranks}
    return cohort.start("sweep", spec, "--out", out, env={**os.environ, **{name: str(value) for name, value in job.items()}})


def ended(process):
    """(exit code, standard error); standard output is empty."""
    output, message = process.communicate(timeout=LIMIT)
    assert output == ""
    return process.returncode, message


@pytest.fixture
def long(cohort):
    """A spec of seconds, and its results with one job in `whole`."""
    spec = cohort.spec(long_spec())
    assert cohort.run("sweep", spec, "--out", "whole", "--jobs", 1).returncode == 0
    return spec


def same_as_whole(cohort):
    return contents(cohort.folder / "out") == contents(cohort.folder / "whole")


def meeting(cohort):
    end = time.monotonic() + LIMIT
    file = cohort.folder / "out" / "ranks.json"
    while not file.exists():
        assert time.monotonic() < end
        time.sleep(0.01)
    return json.loads(file.read_text())


def mpirun(cohort, *options, **arguments):
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    command = ["mpirun", "--oversubscribe", *map(str, options)]
    return subprocess.Popen(command, cwd=cohort.folder, env={**os.environ, **root}, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **arguments)


@needs_mpi
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_the_number_of_ranks_changes_no_byte(cohort, ranks):
    spec = cohort.spec(small_spec(sweep=SMALL))
    assert cohort.run("sweep", spec, "--out", "whole", "--jobs", 1).returncode == 0
    code, message = ended(mpirun(cohort, "-np", ranks, BINARY, "sweep", spec, "--out", "out"))
    assert code == 0 and "20 computed now" in message
    assert same_as_whole(cohort) and not (cohort.folder / "out" / "ranks.json").exists()


@needs_mpi
def test_failed_cells_end_the_job_with_1(cohort):
    spec = cohort.spec(small_spec(policies=["all-reduce", "static"], cluster={
        **small_spec()["cluster"], "nodes": 1, "gpus_per_node": 3}))
    alone = cohort.run("sweep", spec, "--out", "whole", "--jobs", 1).returncode
    assert ended(mpirun(cohort, "-np", 2, BINARY, "sweep", spec, "--out", "out"))[0] == alone


def kill_rank(cohort, number):
    [rank] = [process for rank, process in ranks_in(cohort.folder, "OMPI_COMM_WORLD_RANK") if rank == number]
    os.kill(rank, signal.SIGKILL)


@needs_mpi
def test_where_the_launcher_ends_the_job_with_a_killed_rank_the_next_job_resumes(cohort, long):
    job = mpirun(cohort, "-np", 3, BINARY, "sweep", long, "--out", "out")
    wait_for_rows(cohort.folder / "out", 50, job)
    kill_rank(cohort, 2)
    assert ended(job)[0] != 0
    kept = (cohort.folder / "out" / "journal.jsonl").read_bytes().count(b"\n") - 1
    assert kept >= 50
    code, message = ended(mpirun(cohort, "-np", 2, BINARY, "sweep", long, "--out", "out"))
    assert code == 0 and f"{1000 - kept} computed now" in message and same_as_whole(cohort)


@needs_mpi
def test_where_the_launcher_goes_on_without_a_killed_rank_so_does_the_sweep(cohort, long):
    job = mpirun(cohort, "--enable-recovery", "-np", 3, BINARY, "sweep", long, "--out", "out")
    wait_for_rows(cohort.folder / "out", 50, job)
    kill_rank(cohort, 2)
    _, message = ended(job)
    assert "rank 2 is lost" in message and "1000 computed now" in message and same_as_whole(cohort)


def test_rows_of_a_killed_rank_go_to_others(cohort, long):
    ranks = [started(cohort, long, rank, 3) for rank in range(3)]
    wait_for_rows(cohort.folder / "out", 50, ranks[0])
    ranks[1].kill()
    code, message = ended(ranks[0])
    assert code == 0 and "rank 1 is lost" in message and "1000 computed now" in message
    assert ended(ranks[2]) == (0, "") and same_as_whole(cohort)
    ranks[1].communicate()


def test_a_stopped_rank_holds_nobody_up(cohort, long):
    ranks = [started(cohort, long, rank, 2) for rank in range(2)]
    wait_for_rows(cohort.folder / "out", 50, ranks[0])
    ranks[1].send_signal(signal.SIGSTOP)
    code, message = ended(ranks[0])
    assert code == 0 and "1000 computed now" in message and same_as_whole(cohort)
    ranks[1].kill()
    ranks[1].communicate()


def test_when_rank_0_is_killed_the_others_say_so_and_the_next_job_resumes(cohort, long):
    ranks = [started(cohort, long, rank, 2) for rank in range(2)]
    wait_for_rows(cohort.folder / "out", 50, ranks[0])
    ranks[0].kill()
    ranks[0].communicate()
    code, message = ended(ranks[1])
    assert code == 3 and "lost rank 0" in message and "resumes" in message
    again = [started(cohort, long, rank, 2) for rank in range(2)]  # the file of the killed job is still there
    assert [ended(rank)[0] for rank in again] == [0, 0] and same_as_whole(cohort)


def test_an_interrupted_rank_0_sends_the_others_home(cohort, long):
    ranks = [started(cohort, long, rank, 2) for rank in range(2)]
    wait_for_rows(cohort.folder / "out", 50, ranks[0])
    ranks[0].send_signal(signal.SIGINT)
    code, message = ended(ranks[0])
    assert code == 130 and "resumes" in message
    assert ended(ranks[1]) == (0, "")


def test_a_rank_that_comes_when_all_is_done_is_waited_for(cohort):
    spec = cohort.spec(small_spec())
    first = started(cohort, spec, 0, 2)
    wait_for_rows(cohort.folder / "out", 4, first)
    time.sleep(0.5)
    assert ended(started(cohort, spec, 1, 2)) == (0, "") and ended(first)[0] == 0


def test_in_a_finished_directory_no_rank_has_anything_to_do(cohort):
    spec = cohort.spec(small_spec())
    assert cohort.run("sweep", spec, "--out", "out").returncode == 0
    ranks = [started(cohort, spec, rank, 3) for rank in range(3)]
    assert [ended(rank)[0] for rank in ranks[1:]] == [0, 0]
    assert "nothing to do" in ended(ranks[0])[1]


def test_a_rank_with_another_spec_is_refused_and_says_so(cohort):
    first = started(cohort, cohort.spec(small_spec()), 0, 2)
    other = started(cohort, cohort.spec(small_spec(seeds=[7]), "other.json"), 1, 2)
    code, message = ended(other)
    assert code == 2 and "rank 1" in message and "another spec" in message
    first.send_signal(signal.SIGKILL)
    first.communicate()


def hello_of_rank_1(cohort, spec):
    """The words of a helper's first line, taken by a rank 0 of the test's own."""
    (cohort.folder / "elsewhere").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = {"host": "here", "addresses": ["127.0.0.1"], "port": server.getsockname()[1], "secret": "s", "answer": "a"}
        (cohort.folder / "elsewhere" / "ranks.json").write_text(json.dumps(place))
        helper = started(cohort, spec, 1, 2, out="elsewhere")
        server.settimeout(LIMIT)
        with server.accept()[0] as peer, peer.makefile("rw") as lines:
            hello = lines.readline().split()
            lines.write("welcome a\nbeat\nrow 0 0 1 2\n")
            lines.flush()
            done = lines.readline()
            lines.write("end\n")
            lines.flush()
            assert ended(helper) == (0, "")
    return hello, done


def test_a_helper_computes_the_row_that_it_is_told(cohort):
    spec = cohort.spec(small_spec())
    _, done = hello_of_rank_1(cohort, spec)
    assert cohort.run("sweep", spec, "--out", "whole").returncode == 0
    rows = (cohort.folder / "whole" / "results.jsonl").read_text().splitlines()
    assert done == f"done 0 {rows[3]}\n"  # second policy, second seed


def say(port, text):
    """What the server answers until it closes."""
    with socket.create_connection(("127.0.0.1", port)) as peer:
        peer.settimeout(LIMIT)
        heard = b""
        try:
            peer.sendall(text.encode() if isinstance(text, str) else text)
            peer.shutdown(socket.SHUT_WR)
            while more := peer.recv(1 << 16):
                heard += more
        except OSError:  # it closed before it read all
            pass
        return heard


def test_garbage_and_strangers_disturb_nobody(cohort, long):
    plan = hello_of_rank_1(cohort, long)[0][4]
    ranks = [started(cohort, long, rank, 3) for rank in range(2)]
    here = meeting(cohort)
    secret, port = here["secret"], here["port"]
    assert (cohort.folder / "out" / "ranks.json").stat().st_mode & 0o077 == 0
    silent = socket.create_connection(("127.0.0.1", port))
    for text in ["done 99999 {}\n", "done 99999999999999999999 {}\n", "done -1 {}\n", "done\n", "row 1 1 1 1\n", "\n"]:
        assert say(port, f"cohort-sweep 1 {secret} 2 {plan}\n{text}").startswith(f"welcome {here['answer']}\n".encode())
    say(port, f"cohort-sweep 1 {secret} 2 {plan}\n{'x' * (2 << 20)}")  # ended while it talks, which may lose the answer
    for text in ["", "\n", "\0" * 100_000, random.Random(1).randbytes(5000), f"cohort-sweep 1 {'0' * 32} 2 {plan}\n"]:
        assert say(port, text) == b""
    for rest in [f"1 {secret} 2 {'0' * 16}", f"1 {secret} 3 {plan}", f"2 {secret} 2 {plan}"]:
        assert say(port, f"cohort-sweep {rest}\n").startswith(b"refused: ")
    code, message = ended(ranks[0])
    assert code == 0 and "refused a connection from 127.0.0.1" in message and same_as_whole(cohort)
    assert ended(ranks[1]) == (0, "")
    silent.close()
