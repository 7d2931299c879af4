"""Every bundled spec runs, and `cohort plot` draws what it gives; with few steps and seeds, so that the test is short."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("COHORT_BIN", ROOT / "build" / "cli" / "cohort")).resolve()
SPECS = sorted((ROOT / "experiments").glob("*.json"))
SHORT = ["--set", "/stop/steps_per_worker=20", "--set", "/seeds=[1, 2]"]
# A set that is there on every machine, and a short search for learning rates.
SHORT_TRAINING = ["--set", "/workload/training/data=synthetic", "--set", "/measure/every=320", "--set", "/measure/tune/budget=160"]


def run(*arguments):
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL)


def without_comments(path):
    return json.loads(re.sub(r"^\s*//.*$", "", path.read_text(), flags=re.MULTILINE))


def axes(spec):
    """Objects of lists; those of one object vary together."""
    sweep = spec["sweep"]
    return sweep if isinstance(sweep, list) else [{pointer: values} for pointer, values in sweep.items()]


def cells(spec):
    number = 1
    for axis in axes(spec):
        number *= len(next(iter(axis.values())))
    return number


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_a_bundled_spec_gives_a_row_for_each_cell_policy_and_seed(path, tmp_path):
    spec = without_comments(path)
    training = "training" in spec["workload"]
    done = run("sweep", path, "--out", tmp_path / "out", *SHORT, *(SHORT_TRAINING if training else []))
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in (tmp_path / "out" / "results.jsonl").read_text().splitlines()]
    assert len(rows) == cells(spec) * len(spec["policies"]) * 2
    assert all(row["throughput_steps_per_second"] > 0 for row in rows)
    for axis in axes(spec):
        for pointer, values in axis.items():
            assert [row[pointer] for row in rows if row[pointer] not in values] == []
    if training:
        assert all(row["final_loss"] > 0 and row["tuning"] for row in rows)


@pytest.mark.parametrize("name, figure", [
    ("straggler_probability", "speedup_by_probability"),
    ("straggler_factor", "throughput_by_factor"),
    ("winner_map", "winner_map"),
    ("scale", "scaling"),
])
def test_cohort_plot_draws_the_figure_that_a_spec_is_for(name, figure, tmp_path):
    assert run("sweep", ROOT / "experiments" / f"{name}.json", "--out", tmp_path, *SHORT).returncode == 0
    done = run("plot", tmp_path, "--out", tmp_path / "figures")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "figures" / f"{figure}.png").read_bytes().startswith(b"\x89PNG")
    assert "</svg>" in (tmp_path / "figures" / f"{figure}.svg").read_text()


def test_a_recorded_run_gives_the_timeline_of_each_policy(tmp_path):
    spec = ROOT / "experiments" / "straggler_factor.json"
    assert run("simulate", spec, "--timeline", "--out", tmp_path / "out", *SHORT).returncode == 0
    done = run("plot", tmp_path / "out", "--out", tmp_path / "figures")
    assert done.returncode == 0, done.stderr
    drawn = {path.name for path in (tmp_path / "figures").glob("timeline_*.png")}
    assert {"timeline_all-reduce.png", "timeline_smart.png", "timeline_ad-psgd.png"} <= drawn
