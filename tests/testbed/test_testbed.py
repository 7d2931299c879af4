"""The testbed: hosts that differ, links with limits, Open MPI over them, and nothing left behind."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cluster import ROOT, Cluster, cluster, until, why_not  # noqa: F401

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())
needs_mpi = pytest.mark.skipif(not (shutil.which("mpirun") and shutil.which("mpicc")), reason="no Open MPI here")

RATE = 100  # Mbit/s
TALK = """
import json, socket, sys, time
megabytes, host = int(sys.argv[1]) * 10**6, sys.argv[2:]
if host:
    end = time.monotonic() + 20
    while True:
        try:
            peer = socket.create_connection((host[0], int(host[1])))
            break
        except ConnectionRefusedError:
            assert time.monotonic() < end
            time.sleep(0.02)
    began = time.monotonic()
    peer.sendall(bytes(megabytes))
else:
    server = socket.create_server(("", 0))
    server.settimeout(30)
    print(server.getsockname()[1], flush=True)
    peer, _ = server.accept()
    began = time.monotonic()
    while megabytes > 0:
        megabytes -= len(peer.recv(1 << 20))
print(json.dumps([began, time.monotonic()]))
"""


@pytest.fixture(scope="session")
def say_host(tmp_path_factory):
    program = tmp_path_factory.mktemp("mpi") / "say_host"
    subprocess.run(["mpicc", "-O1", ROOT / "tests" / "testbed" / "say_host.c", "-o", program], check=True)
    return program


def machine_sees():
    """Links, named namespaces, mounts and shared memory of the machine itself."""
    listed = [subprocess.run(command, capture_output=True, text=True, check=True).stdout
              for command in (["ip", "-o", "link"], ["ip", "netns"], ["findmnt", "-rno", "TARGET"])]
    return [*listed, sorted(os.listdir("/dev/shm"))]


def test_up_and_down_leave_the_machine_as_it_was(cluster):
    before = machine_sees()
    cluster.up()
    assert cluster.run("exec", "true").returncode == 0
    assert machine_sees() == before
    assert cluster.run("down").returncode == 0
    assert machine_sees() == before and cluster.traces() == []


def test_after_down_the_same_name_can_be_used_at_once(cluster):
    for _ in range(3):
        cluster.up()
        assert cluster.run("down").returncode == 0


def test_each_host_has_a_name_and_an_address_of_its_own(cluster):
    cluster.up(nodes=3)
    said = [cluster.run("exec", "--on", f"node{n}", "sh", "-c", "hostname; ip -o -4 addr show eth0").stdout for n in range(3)]
    assert [text.split()[0] for text in said] == ["node0", "node1", "node2"]
    assert [text.split("inet ")[1].split("/")[0] for text in said] == ["10.77.0.1", "10.77.0.2", "10.77.0.3"]


def test_exec_ends_with_the_exit_code_of_the_command(cluster):
    cluster.up()
    assert cluster.run("exec", "sh", "-c", "exit 7").returncode == 7
    assert cluster.run("exec", "--", "sh", "-c", "exit 7").returncode == 7
    assert cluster.run("exec", "no-such-command").returncode == 127


def test_exec_runs_in_the_directory_of_its_caller(cluster, tmp_path):
    cluster.up()
    assert cluster.run("exec", "pwd", cwd=tmp_path).stdout.strip() == str(tmp_path)


def megabits_per_second(cluster, flows, megabytes=8):
    """Of all flows (from, to) together, from the first byte to the last."""
    receivers = [cluster.start("exec", "--on", f"node{to}", sys.executable, "-c", TALK, megabytes) for _, to in flows]
    ports = [int(receiver.stdout.readline()) for receiver in receivers]
    senders = [cluster.start("exec", "--on", f"node{source}", sys.executable, "-c", TALK, megabytes, f"node{to}", port)
               for (source, to), port in zip(flows, ports)]
    sent = [json.loads(sender.communicate(timeout=60)[0]) for sender in senders]
    received = [json.loads(receiver.communicate(timeout=60)[0]) for receiver in receivers]
    seconds = max(ended for _, ended in received) - min(began for began, _ in sent)
    return len(flows) * megabytes * 8 / seconds


@pytest.mark.parametrize("flows", [[(0, 1)], [(1, 0)], [(0, 1), (0, 2)], [(0, 2), (1, 2)]],
                         ids=["one way", "the other way", "up of one host", "down of one host"])
def test_a_link_carries_its_rate(cluster, flows):
    """Within a factor: what is caught is a limit that is missing or in another unit."""
    cluster.up(nodes=3, rate=f"{RATE}mbit")
    assert 0.5 * RATE < megabits_per_second(cluster, flows) < 1.5 * RATE


def test_a_host_that_is_cut_off_is_reached_again_once_healed(cluster):
    cluster.up()
    connect = ["exec", "--on", "node0", sys.executable, "-c",
               "import socket; s = socket.socket(); s.settimeout(1); print(s.connect_ex(('node1', 9)))"]
    refused = str(111)  # node1 answers that nobody listens there
    assert cluster.run(*connect).stdout.strip() == refused
    assert cluster.run("cut", "node1").returncode == 0
    assert "node1 10.77.0.2 slots=2 cut off" in cluster.run("status").stdout
    assert cluster.run(*connect).stdout.strip() != refused
    assert cluster.run("heal", "1").returncode == 0
    assert "cut" not in cluster.run("status").stdout
    assert until(lambda: cluster.run(*connect).stdout.strip() == refused, "a healed link")


@needs_mpi
def test_open_mpi_places_ranks_host_by_host(cluster, say_host):
    cluster.up(nodes=4, slots=2)
    done = cluster.run("exec", "mpirun", "-np", 8, say_host)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split("\n")[:-1]) == [f"{rank} node{rank // 2}" for rank in range(8)]


@needs_mpi
@pytest.mark.parametrize("ranks, crosses", [(3, True), (2, False)], ids=["between hosts", "inside a host"])
def test_messages_cross_the_bridge_between_hosts_alone(cluster, say_host, ranks, crosses):
    cluster.up()
    counter = ["exec", "--on", "node0", "sh", "-c", "ip -s -o link show eth0"]

    def sent():
        return int(cluster.run(*counter).stdout.split("TX:")[1].split("\\")[1].split()[0])

    before = sent()
    assert cluster.run("exec", "mpirun", "-np", ranks, say_host, 4).returncode == 0
    assert (sent() - before > 4_000_000) == crosses


def test_a_second_testbed_of_the_name_is_refused_and_the_first_unharmed(cluster):
    cluster.up()
    second = cluster.run("up", "--nodes", 2, "--slots", 2, "--rate", "200mbit")
    assert second.returncode == 3 and "up already" in second.stderr and "--name" in second.stderr
    assert cluster.run("exec", "--on", "node1", "hostname").stdout == "node1\n"


def test_testbeds_of_two_names_do_not_meet(cluster):
    other = Cluster()
    cluster.up()
    other.up()
    try:
        assert cluster.run("cut", "node1").returncode == 0
        assert "cut" not in other.run("status").stdout
    finally:
        other.run("down")
    assert other.traces() == [] and cluster.run("exec", "true").returncode == 0


def running(cluster):
    """How many `sleep 987` are."""
    lines = [Path(f"/proc/{pid}/cmdline") for pid in cluster.processes("987")]
    return sum(line.exists() and line.read_bytes().startswith(b"sleep\0") for line in lines)


SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=["Ctrl-C", "SIGTERM", "SIGKILL"])


@SIGNALS
@pytest.mark.parametrize("command", [
    pytest.param(["mpirun", "-np", 4, "sleep", 987], marks=needs_mpi, id="mpirun"),
    pytest.param(["sh", "-c", "sleep 987 & sleep 987; true"], id="shell"),
])
@pytest.mark.parametrize("when", ["at once", "later"])
def test_an_exec_that_is_ended_takes_all_that_it_started_with_it(cluster, number, command, when):
    cluster.up()
    process = cluster.start("exec", *command)
    until(lambda: cluster.processes("987") if when == "at once" else running(cluster) >= 2, "the command")
    process.send_signal(number)
    try:
        process.communicate(timeout=15)
    except subprocess.TimeoutExpired:  # a command that missed it while it started: as a user would, once more
        process.send_signal(number)
        process.communicate(timeout=60)
    assert process.returncode != 0
    until(lambda: not cluster.processes("987"), "the end of the command")
    assert cluster.run("exec", "true").returncode == 0


def test_down_ends_what_still_runs_inside(cluster):
    cluster.up()
    process = cluster.start("exec", "sh", "-c", "sleep 987 & sleep 987")
    until(lambda: running(cluster), "the command")
    assert cluster.run("down").returncode == 0
    assert not running(cluster)
    _, message = process.communicate(timeout=60)
    assert process.returncode == 3 and "has ended" in message


def test_orphans_inside_are_reaped(cluster):
    cluster.up()
    done = cluster.run("exec", "sh", "-c", "(sh -c 'exec true' &); (sleep 0.1 &); sleep 0.5; cat /proc/[0-9]*/stat")
    states = [line.rsplit(")", 1)[1].split()[0] for line in done.stdout.splitlines()]
    assert states and "Z" not in states


@SIGNALS
def test_an_up_that_is_ended_half_way_leaves_nothing(cluster, number):
    process = cluster.start("up", "--nodes", 60, "--slots", 1, "--rate", "200mbit",
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # the tests may run with it ignored
    until(lambda: cluster.processes(), "the keeper")
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode != 0
    until(lambda: not cluster.traces(), "the end of the keeper")
    cluster.up()


def test_without_a_testbed_commands_say_how_to_start_one(cluster):
    for arguments in (["exec", "true"], ["status"], ["cut", "node0"]):
        done = cluster.run(*arguments)
        assert done.returncode == 3 and "testbed up" in done.stderr and done.stdout == ""
    assert cluster.run("down").returncode == 0


@pytest.mark.parametrize("change, says", [
    (["--nodes", "0"], "found 0; allowed: 1 to 250"), (["--rate", "fast"], "found fast"), (["--rate", "200"], "found 200"),
    (["--latency", "5"], "found 5"), (["--slots", "-1"], "found -1"),
], ids=" ".join)
def test_wrong_arguments_are_refused(cluster, change, says):
    done = cluster.run("up", *["--nodes", "2", "--slots", "2", "--rate", "200mbit"], *change)
    assert done.returncode == 2 and says in done.stderr and cluster.traces() == []


def test_a_host_that_is_not_there_is_refused(cluster):
    cluster.up()
    for arguments in (["cut", "node2"], ["exec", "--on", "2", "true"], ["heal", "moon"]):
        done = cluster.run(*arguments)
        assert done.returncode == 2 and "node0 to node1" in done.stderr


def test_without_root_it_says_that_it_needs_root(cluster):
    done = cluster.run("up", "--nodes", "2", "--slots", "2", "--rate", "200mbit", user=65534, group=65534)
    assert done.returncode == 3 and "needs root" in done.stderr


def test_without_iproute2_it_says_what_to_install(cluster, tmp_path):
    done = cluster.run("up", "--nodes", "2", "--slots", "2", "--rate", "200mbit", env={"PATH": str(tmp_path)})
    assert done.returncode == 3 and "iproute2" in done.stderr
