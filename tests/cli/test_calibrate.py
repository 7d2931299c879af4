"""`cohort calibrate`: nccl-tests logs in, tables and parts of a spec out."""

import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "tests" / "traces" / "samples"
BINARY = os.environ.get("COHORT_BIN", str(ROOT / "build" / "cli" / "cohort"))


def calibrate(*arguments):
    return subprocess.run([BINARY, "calibrate", *map(str, arguments)], capture_output=True, text=True, timeout=60)


def test_json_holds_a_measured_curve_from_sizes_and_times():
    done = calibrate(SAMPLES / "all_reduce_4_ranks.txt", "--json")
    assert done.returncode == 0, done.stderr
    (log,) = json.loads(done.stdout)["logs"]
    assert log["kind"] == "nccl-tests"
    assert log["collective"] == "all-reduce" and log["ranks"] == 4 and log["hosts"] == ["alpha"]
    for point, (size, bus) in zip(log["points"], log["measured"], strict=True):
        assert point["bytes"] == size
        assert abs(bus / (size / point["time_us"] / 1e3 * 1.5) - 1) < 1e-5
    assert log["fit"]["good"] and not log["fit"]["effective"]
    assert set(log["fit"]["cluster"]) == {"fabric", "collective"}


def test_the_last_row_is_reported_as_printed():
    """Derived from a rounded time, the bus bandwidth may differ in its last digit."""
    words = [line.split() for line in (SAMPLES / "all_reduce_4_ranks.txt").read_text().splitlines()]
    row = [line for line in words if line and line[0].isdigit()][-1]
    (log,) = json.loads(calibrate(SAMPLES / "all_reduce_4_ranks.txt", "--json").stdout)["logs"]
    assert log["last_row"] == {"bytes": int(row[0]), "printed_algbw_gb_per_s": float(row[6]),
                               "printed_busbw_gb_per_s": float(row[7])}
    assert f"busbw {row[7]} GB/s, as printed" in calibrate(SAMPLES / "all_reduce_4_ranks.txt").stdout


def test_a_link_fitted_over_two_hosts_is_called_effective():
    done = calibrate(SAMPLES / "all_reduce_2_nodes.txt", "--json")
    (log,) = json.loads(done.stdout)["logs"]
    assert log["fit"]["effective"] and set(log["fit"]["cluster"]) == {"nic", "collective"}
    assert "effective" in calibrate(SAMPLES / "all_reduce_2_nodes.txt").stdout


def test_several_logs_are_reported_in_order():
    done = calibrate(SAMPLES / "broadcast.txt", SAMPLES / "all_reduce_4_ranks.txt", "--json")
    logs = json.loads(done.stdout)["logs"]
    assert [log["collective"] for log in logs] == ["broadcast", "all-reduce"]
    assert logs[0]["measured"] is None  # no all-reduce, no curve for a spec


def test_another_file_a_missing_one_and_a_failed_run_exit_with_2_and_an_empty_stdout(tmp_path):
    failed = tmp_path / "failed.txt"
    failed.write_text((SAMPLES / "all_reduce_4_ranks.txt").read_text().replace(": 0 OK", ": 7 FAILED"))
    for file in (Path(__file__), tmp_path / "none.txt", tmp_path, failed):
        done = calibrate(SAMPLES / "broadcast.txt", file)
        assert done.returncode == 2 and done.stdout == ""
        assert str(file) in done.stderr
