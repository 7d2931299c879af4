"""`cohort trace import|show|fit`: recorded compute times."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "tests" / "traces" / "samples"
SAMPLE = SAMPLES / "slow_stage_3dp_x_2pp.csv"
BINARY = os.environ.get("COHORT_BIN", str(ROOT / "build" / "cli" / "cohort"))


def trace(*arguments):
    return subprocess.run([BINARY, "trace", *map(str, arguments)], capture_output=True, text=True, timeout=60)


def test_import_writes_a_dense_trace_and_says_what_it_renumbered(tmp_path):
    out = tmp_path / "steps.csv"
    done = trace("import", SAMPLE, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "renumbered 0 to 3" in done.stderr and "pipeline stage 1" in done.stderr
    lines = out.read_text().splitlines()
    assert lines[0] == "worker,step,seconds"
    assert [line.rsplit(",", 1)[0] for line in lines[1:]] == [f"{w},{s}" for w in range(6) for s in range(4)]
    assert [path.name for path in tmp_path.iterdir()] == ["steps.csv"]


def test_import_of_a_damaged_recording_writes_nothing(tmp_path):
    damaged = tmp_path / "damaged.csv"
    damaged.write_text(SAMPLE.read_text()[:-30])
    done = trace("import", damaged, "--out", tmp_path / "steps.csv")
    assert done.returncode == 2 and done.stdout == ""
    assert f"{damaged}:25: " in done.stderr
    assert not (tmp_path / "steps.csv").exists()


def test_import_into_a_missing_folder_is_an_error_of_the_environment(tmp_path):
    done = trace("import", SAMPLE, "--out", tmp_path / "none" / "steps.csv")
    assert done.returncode == 3 and done.stdout == ""


def test_import_writes_to_a_pipe_or_device_and_leaves_it_one(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
        done = trace("import", SAMPLE, "--out", pipe)
        assert done.returncode == 0, done.stderr
        assert reader.communicate(timeout=10)[0].startswith("worker,step,seconds\n")
    assert pipe.is_fifo()


def test_show_tells_a_slow_stage_from_slow_workers():
    done = trace("show", SAMPLE)
    assert done.returncode == 0
    assert "regrouping data-parallel replicas cannot help" in done.stdout
    assert done.stdout.count("  slow") == 3


def test_fit_prints_parts_of_a_spec_and_leaves_out_what_four_steps_cannot_show():
    done = trace("fit", SAMPLE)
    assert done.returncode == 0
    spec = json.loads(done.stdout)
    assert {model["kind"] for model in spec["stragglers"]} == {"fixed"}
    assert "too few" in done.stderr


def test_import_joins_profiler_traces_one_per_rank(tmp_path):
    out = tmp_path / "steps.csv"
    done = trace("import", SAMPLES / "profiler_rank2.json", SAMPLES / "profiler_rank0.json", "--out", out)
    assert done.returncode == 0, done.stderr
    assert "ranks: 2 numbers from 0 to 2 with gaps, renumbered 0 to 1" in done.stderr
    assert "communication and waiting" in done.stderr
    assert out.read_text().splitlines()[1:] == ["0,0,0.005200000", "0,1,0.005100000", "1,0,0.006200250", "1,1,0.006100501"]
    assert trace("show", out).returncode == 0


def test_profiler_traces_of_one_rank_and_cut_off_ones_are_refused(tmp_path):
    zero = SAMPLES / "profiler_rank0.json"
    done = trace("show", zero, zero)
    assert done.returncode == 2 and "is of rank 0" in done.stderr
    cut = tmp_path / "cut.json"
    cut.write_text(zero.read_text()[:-40])
    done = trace("fit", cut)
    assert done.returncode == 2 and done.stdout == "" and "it was cut off" in done.stderr


CASES = Path(os.environ.get("COHORT_CASES", ROOT.parent / "shared" / "cases"))


@pytest.mark.skipif(not CASES.is_dir(), reason="the shared cases are not at hand")
def test_cases_profiler_trace_of_rank_1_becomes_worker_0_with_two_steps(tmp_path):
    out = tmp_path / "steps.csv"
    done = trace("import", CASES / "training-logs" / "kineto_two_steps_rank1.json", "--out", out)
    assert done.returncode == 0, done.stderr
    assert "steps: 2 numbers from 1009 to 1010, renumbered 0 to 1" in done.stderr
    assert "ranks: 1 number from 1 to 1, renumbered 0 to 0" in done.stderr
    assert out.read_text().splitlines()[1:] == ["0,0,0.100298000", "0,1,0.122149000"]
