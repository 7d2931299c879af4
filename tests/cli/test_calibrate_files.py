"""`cohort calibrate` of training logs, profiler traces, topologies and hostfiles: what they say, the part of a spec, what is refused."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "tests" / "traces" / "samples"
BINARY = os.environ.get("COHORT_BIN", str(ROOT / "build" / "cli" / "cohort"))


def calibrate(*arguments, **options):
    return subprocess.run([BINARY, "calibrate", *map(str, arguments)], capture_output=True, text=True, timeout=60, **options)


def entry(file):
    done = calibrate(file, "--json")
    assert done.returncode == 0, done.stderr
    (log,) = json.loads(done.stdout)["logs"]
    assert list(log)[:2] == ["kind", "file"] and log["file"] == str(file)
    return log


def test_a_training_log_gives_an_effective_step_and_no_distribution():
    log = entry(SAMPLES / "training_4_workers.log")
    assert log["kind"] == "training-log" and log["workers"] == 4 and len(log["epochs"]) == 3
    assert log["workload"] == {"compute": "54 ms"} and log["effective"]
    assert abs(log["batch_seconds_behind_first"] - 0.051) < 1e-5
    assert any("no distribution" in refusal for refusal in log["refused"])
    assert any("communication and waiting" in refusal for refusal in log["refused"])
    assert '"workload": {"compute":"54 ms"}' in calibrate(SAMPLES / "training_4_workers.log").stdout


def test_a_profiler_trace_gives_the_steps_of_its_rank():
    log = entry(SAMPLES / "profiler_rank2.json")
    assert log["kind"] == "profiler-trace" and log["rank"] == 2
    assert [step["step"] for step in log["steps"]] == [4, 5, 6]
    assert log["steps"][0]["duration_us"] == 6200.25
    assert any("communication and waiting" in refusal for refusal in log["refused"])


def test_a_topology_gives_nics_and_the_kind_of_fabric_and_no_bandwidth():
    log = entry(SAMPLES / "topology_2_gpus_2_nics.txt")
    assert log["kind"] == "topology" and log["gpu_paths"] == ["NV4"]
    assert log["cluster"] == {"nodes": 1, "gpus_per_node": 2, "fabric": {"kind": "switched"}, "nics_per_node": 2}
    assert [device["adapter"] for device in log["devices"]] == [None, None, "mlx5_0", "mlx5_bond_1"]
    assert any(refusal.startswith("bandwidths") for refusal in log["refused"])


def test_gpus_linked_over_bridges_have_no_fabric_and_it_says_so(tmp_path):
    file = tmp_path / "topo.txt"
    file.write_text("     GPU0 GPU1 CPU Affinity\nGPU0 X PHB 0-3\nGPU1 PHB X 0-3\n")
    log = entry(file)
    assert log["cluster"] == {"nodes": 1, "gpus_per_node": 2}
    assert any("the GPUs are linked by PHB" in refusal for refusal in log["refused"])


def test_a_hostfile_gives_a_cluster_and_names_the_hosts_without_slots():
    log = entry(SAMPLES / "hostfile_4_hosts.txt")
    assert log["kind"] == "hostfile" and log["slots"] == 17
    assert log["cluster"] == {"nodes": 3, "gpus_per_node": [8, 3, 6]}
    assert any(refusal.startswith("head in the cluster: it has no slots") for refusal in log["refused"])


def test_files_of_several_kinds_are_told_apart_by_their_content(tmp_path):
    samples = ["training_4_workers.log", "hostfile_4_hosts.txt", "broadcast.txt", "topology_2_gpus_2_nics.txt", "profiler_rank0.json"]
    files = []
    for i, sample in enumerate(samples):
        files.append(tmp_path / str(i))
        files[-1].write_bytes((SAMPLES / sample).read_bytes())
    done = calibrate(*files, "--json")
    assert [log["kind"] for log in json.loads(done.stdout)["logs"]] == [
        "training-log", "hostfile", "nccl-tests", "topology", "profiler-trace"]
    assert done.stderr.count("\n") == 0
    assert calibrate(*files).stdout.count(str(tmp_path)) == 5


def test_a_file_of_no_kind_is_refused_with_the_kinds_and_a_compute_trace_shown_its_command(tmp_path):
    file = tmp_path / "file"
    file.write_text("hello\n")
    done = calibrate(SAMPLES / "hostfile_4_hosts.txt", file)
    assert done.returncode == 2 and done.stdout == ""
    for kind in ("nccl-tests", "training", "profiler", "nvidia-smi topo -m", "hostfile"):
        assert kind in done.stderr
    done = calibrate(SAMPLES / "slow_stage_3dp_x_2pp.csv")
    assert done.returncode == 2 and "cohort trace fit" in done.stderr


def test_damaged_files_exit_with_2_and_their_line(tmp_path):
    file = tmp_path / "file"
    for text, says in (("node1 slots=8\nnode2 slots=-8\n", ":2: "), ("I am worker 9 of 8.\n", ":1: "),
                       ("  GPU0 GPU1 CPU Affinity\nGPU0 X PHB 0\nGPU1 SYS X 0\n", ":3: "),
                       ('{"traceEvents": [\n{"ph": "X"', ":2: ")):
        file.write_text(text)
        done = calibrate(file)
        assert done.returncode == 2 and done.stdout == ""
        assert f"{file}{says}" in done.stderr


def test_a_warning_names_file_and_line(tmp_path):
    file = tmp_path / "hosts"
    file.write_text("node1\nnode2 slots=2\n")
    done = calibrate(file, "--json")
    assert done.returncode == 0
    assert done.stderr == f"cohort: {file}: line 1: node1 has no slots=N, counted as 1\n"


def test_a_pipe_is_read_once():
    with (SAMPLES / "hostfile_4_hosts.txt").open() as pipe:
        done = subprocess.run(["sh", "-c", f"cat | '{BINARY}' calibrate /dev/stdin --json"], stdin=pipe,
                              capture_output=True, text=True, timeout=60)
    assert json.loads(done.stdout)["logs"][0]["slots"] == 17


def test_the_parts_of_a_spec_are_taken_by_one(tmp_path):
    """Cluster of a hostfile, workload of a training log; what no file shows is filled in."""
    cluster = entry(SAMPLES / "hostfile_4_hosts.txt")["cluster"]
    cluster |= {"nic": {"bandwidth": "10GB/s"}, "fabric": {"bandwidth": "100GB/s"}}
    workload = entry(SAMPLES / "training_4_workers.log")["workload"] | {"payload": "1MB"}
    spec = tmp_path / "spec.json"
    spec.write_text(json.dumps({"cluster": cluster, "workload": workload, "policies": ["all-reduce"],
                                "stop": {"steps_per_worker": 2}}))
    done = subprocess.run([BINARY, "simulate", spec, "--json"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["runs"][0]["workers"] == 17


CASES = Path(os.environ.get("COHORT_CASES", ROOT.parent / "shared" / "cases"))
with_cases = pytest.mark.skipif(not CASES.is_dir(), reason="the shared cases are not at hand")


@with_cases
def test_cases_topology_8_gpus_all_pairs_nv12_two_numa_nodes_no_nic_no_bandwidth():
    log = entry(CASES / "topology" / "topo_m_8xA100.txt")
    assert log["kind"] == "topology" and log["gpus"] == 8 and log["nics"] == 0 and log["gpu_paths"] == ["NV12"]
    assert log["numa"] == {"0": ["GPU0", "GPU1", "GPU2", "GPU3"], "1": ["GPU4", "GPU5", "GPU6", "GPU7"]}
    assert log["cluster"] == {"nodes": 1, "gpus_per_node": 8, "fabric": {"kind": "switched"}}
    assert any(refusal.startswith("bandwidths") for refusal in log["refused"])
    assert any("network cards: none" in refusal for refusal in log["refused"])


@with_cases
def test_cases_training_log_8_workers_10_epochs_averages_and_warm_up():
    log = entry(CASES / "training-logs" / "resnet50_ddp_8ranks.log")
    assert log["kind"] == "training-log" and log["workers"] == 8 and len(log["epochs"]) == 10
    assert [epoch["average_batch_seconds"] for epoch in log["epochs"]][:3] == [0.075, 0.071, 0.067]
    assert log["warm_up_seconds"] == 0.983 and log["batches_per_epoch"] == 100
    assert log["workload"] == {"compute": "67.5 ms"}
    assert any("about 100 batches" in refusal and "no distribution" in refusal for refusal in log["refused"])


@with_cases
def test_cases_profiler_trace_steps_1009_and_1010_of_one_rank():
    log = entry(CASES / "training-logs" / "kineto_two_steps_rank1.json")
    assert log["kind"] == "profiler-trace" and log["rank"] == 1
    assert log["steps"] == [{"step": 1009, "duration_us": 100298}, {"step": 1010, "duration_us": 122149}]


@with_cases
def test_cases_hostfile_20_slots_on_three_of_four_hosts():
    log = entry(CASES / "hostfiles" / "openmpi_slots.txt")
    assert log["kind"] == "hostfile" and log["slots"] == 20
    assert [(host["name"], host["slots"], host["max_slots"]) for host in log["hosts"]] == [
        ("node001", 8, None), ("node002", 8, 16), ("node003", 4, None), ("node004.cluster.example", 0, None)]
    assert log["cluster"] == {"nodes": 3, "gpus_per_node": [8, 8, 4]}
    assert any("node004.cluster.example" in refusal for refusal in log["refused"])
