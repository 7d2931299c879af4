"""compare: what it prints, as text and JSON, and what it refuses."""

import json

import pytest
from conftest import small_spec


def as_measured(folder, real, slower):
    """The rows of a simulation as if a real run had been slower by a factor, with a tenth of its time coordination."""
    rows = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    for row in rows:
        row["measured_seconds"] = row.pop("simulated_seconds") * slower
        row["throughput_steps_per_second"] /= slower
        row["wait_fraction"] += row["coordinate_fraction"] - 0.1
        row["coordinate_fraction"] = 0.1
    real.mkdir()
    (real / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def both(cohort):
    spec = cohort.spec(small_spec(sweep={"/stragglers/0/factor": [1, 5]}))
    assert cohort.run("sweep", spec, "--out", "sim").returncode == 0
    as_measured(cohort.folder / "sim", cohort.folder / "real", 1.25)
    return cohort


def test_json_holds_error_and_phases_of_every_cell_and_policy(both):
    result = both.run("compare", "sim", "real", "--json")
    assert result.returncode == 0 and result.stderr == ""
    compared = json.loads(result.stdout)
    assert [(p["cell"]["/stragglers/0/factor"], p["policy"]) for p in compared["policies"]] == [
        (1, "all-reduce"), (1, "smart"), (5, "all-reduce"), (5, "smart")]
    for policy in compared["policies"]:
        assert policy["seeds"] == [1, 2]
        assert policy["plain_error"] == pytest.approx(0.25)
        assert 0 < policy["predicted_error"] < policy["plain_error"]
    assert compared["summary"]["worst_absolute_plain_error"] == pytest.approx(0.25)


def test_text_says_which_prediction_is_which(both):
    result = both.run("compare", "sim", "real")
    assert result.returncode == 0
    assert "recorded coordination" in result.stdout and "plain: as simulated" in result.stdout
    assert "+25.0" in result.stdout and "median" in result.stdout


def test_rows_without_a_partner_are_named(both):
    rows = (both.folder / "real" / "results.jsonl").read_text().splitlines(keepends=True)
    (both.folder / "real" / "results.jsonl").write_text("".join(rows[1:]))
    result = both.run("compare", "sim", "real", "--json")
    assert result.returncode == 0 and "simulated, not measured" in result.stderr
    assert len(json.loads(result.stdout)["left_out"]) == 1


def test_directories_in_the_wrong_order_are_refused(both):
    result = both.run("compare", "real", "sim")
    assert result.returncode == 2 and result.stdout == "" and "compare SIM REAL" in result.stderr
