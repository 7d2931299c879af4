"""Figures of training: which are made, what they show, and what stands where a target was not reached.

All numbers come from tests/plots/synthetic_training.py: they are invented.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "plots"), str(Path(__file__).resolve().parent)]

import curves  # noqa: E402
import final_accuracy  # noqa: E402
import over_time  # noqa: E402
import quantities  # noqa: E402
import replicas  # noqa: E402
import sensitivity  # noqa: E402
import speedup_split  # noqa: E402
import style  # noqa: E402
import synthetic  # noqa: E402
import synthetic_training as training  # noqa: E402
import time_to_loss  # noqa: E402
import to_loss  # noqa: E402
from results import read_results  # noqa: E402

@pytest.fixture(autouse=True)
def closed_figures():
    yield
    style.pyplot.close("all")


FACTOR = {"/stragglers/0/factor": [1, 2, 5]}


def plot(*arguments):
    command = [sys.executable, ROOT / "plots" / "plot.py", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def made(folder):
    done = plot(folder, "--format", "png")
    assert (done.returncode, done.stderr) == (0, "")
    return {path.name for path in (folder / "figures").iterdir()}


def lose(row, policy, seeds=(1, 2, 3)):
    if row["policy"] == policy and row["seed"] in seeds:
        row["time_to_loss_seconds"] = row["samples_to_loss"] = None


def words_in(fig):
    texts = [text for axes in fig.axes for text in axes.texts] + fig.texts
    return [text.get_text().replace("\n", " ") for text in texts]


def bars_of(axes):
    return [patch for patch in axes.patches if patch.get_height() > 0]


def test_a_factor_sweep_with_training_gives_the_figures_of_training(tmp_path):
    names = made(training.write(tmp_path / "r", FACTOR))
    assert names >= {
        "time_to_loss_by_factor.png",
        "time_to_loss_speedup_by_factor.png",
        "speedup_split.png",
        "loss_over_time.png",
        "accuracy_over_time.png",
        "consensus_over_time.png",
        "replicas_over_time.png",
        "final_accuracy_by_factor.png",
        "sensitivity.png",
    }


def test_a_directory_without_training_gives_none_of_them_and_says_why(tmp_path):
    done = plot(synthetic.write(tmp_path / "r", FACTOR, seeds=(1, 2)), "--format", "png")
    assert "not made: time to loss: no column time_to_loss_seconds" in done.stdout
    assert "not made: over time: no column curve" in done.stdout
    assert "not made: sensitivity: no column tuning" in done.stdout
    assert "not made: final accuracy: no column final_accuracy" in done.stdout


def test_one_cell_and_one_seed_are_enough(tmp_path):
    names = made(training.write(tmp_path / "r", {}, seeds=(1,)))
    assert {"time_to_loss_speedup.png", "speedup_split.png", "loss_over_time.png", "sensitivity.png"} <= names
    results = read_results(tmp_path / "r")
    for module in (time_to_loss, speedup_split, final_accuracy):
        for _, fig in module.figures(results):
            assert "one seed, so no intervals" in words_in(fig)[-1]


def test_the_same_results_give_the_same_bytes(tmp_path):
    folder = training.write(tmp_path / "r", FACTOR)
    for out in ("a", "b"):
        assert plot(folder, "--out", tmp_path / out).returncode == 0
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes(), path.name


def test_a_speedup_is_the_mean_of_the_ratios_of_times_seed_by_seed(tmp_path):
    results = read_results(training.write(tmp_path / "r", {}, seeds=(1, 2)))
    times = {"all-reduce": (20.0, 40.0), "smart": (10.0, 10.0)}
    for (label, seed), row in results.rows.groupby(["label", "seed"]):
        if label in times:
            results.rows.loc[row.index, "time_to_loss_seconds"] = times[label][int(seed) - 1]
    assert to_loss.speedup(results.rows, "smart", "all-reduce").mean == 3.0


def test_the_two_parts_of_a_speedup_multiply_to_it(tmp_path):
    results = read_results(training.write(tmp_path / "r", {}))
    found = to_loss.split(results.rows, "smart", "all-reduce")
    assert found.rate.mean * found.samples.mean == pytest.approx(found.time.mean, rel=1e-12)
    assert found.samples.mean == pytest.approx(1 / 1.15, rel=1e-12)
    assert found.time.low < found.time.mean < found.time.high


def test_where_the_target_was_not_reached_words_stand_and_no_bar(tmp_path):
    folder = training.change(training.write(tmp_path / "r", {}), lambda row: lose(row, "smart"))
    for stem, fig in time_to_loss.figures(read_results(folder)):
        assert "not reached" in words_in(fig), stem
        assert len(bars_of(fig.axes[0])) == 2, stem


def test_a_label_that_some_seeds_did_not_bring_to_the_target_has_no_speedup(tmp_path):
    folder = training.change(training.write(tmp_path / "r", {}), lambda row: lose(row, "smart", (2,)))
    assert to_loss.speedup(read_results(folder).rows, "smart", "all-reduce") == "reached by 2 of 3 seeds"


def test_where_all_reduce_did_not_reach_the_target_no_speedup_is_made_up(tmp_path):
    folder = training.change(training.write(tmp_path / "r", {}), lambda row: lose(row, "all-reduce"))
    results = read_results(folder)
    assert to_loss.speedup(results.rows, "smart", "all-reduce") == "reached; all-reduce not"
    assert [stem for stem, _ in time_to_loss.figures(results)] == ["time_to_loss"]
    assert speedup_split.applies(results).startswith("nothing to compare")


def test_when_nobody_reached_the_target_the_figure_says_so(tmp_path):
    def lose_all(row):
        lose(row, row["policy"])

    folder = training.change(training.write(tmp_path / "r", FACTOR), lose_all)
    assert {"time_to_loss_by_factor.png", "loss_over_time.png"} <= made(folder)
    results = read_results(folder)
    assert speedup_split.applies(results).startswith("nothing to compare")
    ((_, fig),) = time_to_loss.figures(results)
    assert words_in(fig).count("not reached") == 9
    assert bars_of(fig.axes[0]) == []


def test_without_a_target_there_is_no_time_to_it(tmp_path):
    folder = training.write(tmp_path / "r", {})
    training.change(folder, lambda row: lose(row, row["policy"]))
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["spec"]["measure"]["target_loss"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert time_to_loss.applies(read_results(folder)) == "no target loss (measure.target_loss)"


@pytest.mark.parametrize("column, figures, words", [
    ("curve", (over_time, replicas), "no column curve"),
    ("tuning", (sensitivity,), "no column tuning"),
    ("final_accuracy", (final_accuracy,), "no column final_accuracy"),
    ("samples_to_loss", (speedup_split,), "no column samples_to_loss"),
])
def test_a_missing_column_is_named(tmp_path, column, figures, words):
    folder = training.change(training.write(tmp_path / "r", FACTOR), lambda row: row.pop(column))
    results = read_results(folder)
    assert [figure.applies(results) for figure in figures if not figure.applies(results).startswith(words)] == []
    assert "loss_over_time.png" in made(folder) or column == "curve"


def test_a_csv_has_the_bars_and_says_where_the_curves_are(tmp_path):
    folder = training.write(tmp_path / "r", FACTOR)
    rows = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    columns = [name for name in rows[0] if name not in ("curve", "tuning")]
    lines = [columns, *([("" if row[name] is None else str(row[name])) for name in columns] for row in rows)]
    (folder / "results.csv").write_text("".join(",".join(line) + "\n" for line in lines))
    (folder / "results.jsonl").unlink()
    done = plot(folder, "--format", "png")
    assert "made: final accuracy" in done.stdout
    assert "not made: over time: no column curve (results.jsonl of a spec with workload.training has it)" in done.stdout


def test_replicas_are_drawn_where_they_were_measured_alone(tmp_path):
    names = made(training.write(tmp_path / "r", {}, replicas=False))
    assert "replicas_over_time.png" not in names
    assert "loss_over_time.png" in names


def test_a_model_without_classes_has_no_accuracy(tmp_path):
    def forget(row):
        row["final_accuracy"] = None
        del row["curve"]["accuracy"]

    names = made(training.change(training.write(tmp_path / "r", {}), forget))
    assert not {"accuracy_over_time.png", "final_accuracy.png"} & names
    assert "loss_over_time.png" in names


def test_a_line_over_time_is_the_mean_of_the_seeds_at_the_same_instant(tmp_path):
    def straight(row):
        row["curve"]["seconds"] = [0, 10 * row["seed"]]
        row["curve"]["loss"] = [2.0, 1.0]

    results = read_results(training.change(training.write(tmp_path / "r", {}, seeds=(1, 2)), straight))
    found = curves.band(results.rows, "smart", "loss")
    assert (found.seconds[0], found.seconds[-1], found.seeds) == (0, 10, 2)
    assert (found.low[-1], found.mean[-1], found.high[-1]) == (1.0, 1.25, 1.5)


def test_a_distance_of_zero_is_told_and_not_drawn_on_a_logarithmic_axis(tmp_path):
    drawn = dict(over_time.figures(read_results(training.write(tmp_path / "r", {}))))
    fig = drawn["consensus_over_time"]
    assert "0 throughout: all-reduce" in words_in(fig)[-1]
    assert [text.get_text() for text in fig.legends[0].get_texts()] == ["ad-psgd", "smart"]


def test_one_long_line_is_cut_and_the_caption_says_so(tmp_path):
    def linger(row):
        if row["policy"] == "ad-psgd":
            row["curve"]["seconds"] = [9 * second for second in row["curve"]["seconds"]]

    results = read_results(training.change(training.write(tmp_path / "r", {}), linger))
    (_, fig), *_ = over_time.figures(results)
    ends = sorted(line.get_xdata()[-1] for line in fig.axes[0].lines if len(line.get_xdata()) > 2)
    assert fig.axes[0].get_xlim()[1] == pytest.approx(1.02 * 3 * ends[1])
    assert "lines longer than 3 times the median are cut" in words_in(fig)[-1]


def test_a_damaged_curve_ends_with_code_2_and_one_message(tmp_path):
    folder = training.change(training.write(tmp_path / "r", {}), lambda row: row["curve"]["loss"].pop())
    done = plot(folder, "--format", "png")
    assert done.returncode == 2
    assert done.stderr == "plot: damaged: a curve whose lists of seconds and loss differ in length\n"


def test_the_chosen_rate_is_ringed_and_a_diverged_one_is_at_the_edge(tmp_path):
    results = read_results(training.write(tmp_path / "r", {}, policies=("smart",)))
    found = sensitivity.tried(results.rows, "smart")
    assert [(one.rate, one.loss, one.longest, one.chosen) for one in found] == [
        (0.05, 0.35, False, False), (0.1, 0.4, True, True), (0.2, None, False, False)]
    ((_, fig),) = sensitivity.figures(results)
    lines = fig.axes[0].lines
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in lines if line.get_markersize() == 10] == [(0.1, 0.4)]
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in lines if line.get_marker() == "x"] == [
        (0.2, fig.axes[0].get_ylim()[1])]


def test_of_several_momenta_the_best_stands_at_each_rate(tmp_path):
    def two_momenta(row):
        better = [{**one, "momentum": 0.9, "loss": 0.01} for one in row["tuning"] if one["learning_rate"] == 0.05]
        row["tuning"] += better

    results = read_results(training.change(training.write(tmp_path / "r", {}), two_momenta))
    assert sensitivity.tried(results.rows, "smart")[0].loss == 0.01
    ((_, fig),) = sensitivity.figures(results)
    assert "at each rate the best momentum" in words_in(fig)[-1]


def test_a_real_run_gives_the_same_figures_with_measured_times(tmp_path):
    def measure(row):
        row["measured_seconds"] = row.pop("simulated_seconds")

    folder = training.change(training.write(tmp_path / "r", {}), measure)
    results = read_results(folder)
    (_, fig), *_ = over_time.figures(results)
    assert fig.axes[0].get_xlabel() == "measured time (s)"
    caption = words_in(fig)[-1]
    assert caption.startswith("Measured by Cohort 0.1.0, spec synthetic; 4 x 4 workers;")
    assert "network" not in caption
    assert "time_to_loss_speedup.png" in made(folder)


def test_the_caption_says_what_was_trained_and_how_rates_were_chosen(tmp_path):
    results = read_results(training.write(tmp_path / "r", {}))
    assert "mlp on fashion-mnist, batch 32, learning rate tuned for each policy and cell" in style.sources(results)
    del results.spec["measure"]["tune"]
    results.spec["workload"]["training"]["shards"] = {"dirichlet": 0.1}
    assert "batch 32, shards dirichlet 0.1, learning rate 0.1" in style.sources(results)


def test_accuracies_of_runs_that_end_at_a_loss_are_marked(tmp_path):
    results = read_results(training.write(tmp_path / "r", {}))
    results.spec["stop"] = {"steps_per_worker": 600, "loss": 0.35}
    ((_, fig),) = final_accuracy.figures(results)
    assert "runs end at the target loss" in words_in(fig)[-1]


@pytest.mark.parametrize("value, words", [
    ({"kind": "fixed", "workers": [0], "factor": 6}, "fixed workers [0] x6"),
    ({"dirichlet": 0.1}, "dirichlet 0.1"),
    ("iid", "iid"),
])
def test_a_swept_object_is_named_in_words(value, words):
    assert quantities.name_of(value) == words


def table(*arguments):
    command = [sys.executable, ROOT / "plots" / "speedups.py", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_table_has_a_line_for_each_cell_and_label(tmp_path):
    folder = training.change(training.write(tmp_path / "r", FACTOR), lambda row: lose(row, "ad-psgd"))
    done = table(folder)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "against all-reduce"
    assert [line for line in lines if line.startswith("/")] == [f"/stragglers/0/factor: {factor}" for factor in (1, 2, 5)]
    assert len([line for line in lines if line.startswith("smart") and "0.87 [0.87, 0.87]" in line]) == 3
    assert len([line for line in lines if line.startswith("ad-psgd") and "not reached" in line]) == 3


def test_a_second_swept_quantity_makes_panels_titled_with_all_that_goes_with_it(tmp_path):
    def follow(row):
        row["/workload/model"] = {"60MB": "a", "240MB": "b"}[row["/workload/payload"]]

    sweep = {"/workload/payload": ["60MB", "240MB"], "/stragglers/0/factor": [1, 5]}
    results = read_results(training.change(training.write(tmp_path / "r", sweep), follow))
    ((stem, fig),) = final_accuracy.figures(results)
    assert stem == "final_accuracy_by_factor"
    assert [axes.get_title() for axes in fig.axes] == [
        "payload of a synchronisation: 60MB, model: a", "payload of a synchronisation: 240MB, model: b"]
    assert [len(bars_of(axes)) for axes in fig.axes] == [6, 6]


def test_the_table_of_throughputs_alone_has_no_losses(tmp_path):
    done = table(synthetic.write(tmp_path / "r", {}, seeds=(1, 2)), "--against", "smart")
    assert done.stdout.startswith("against smart\n")
    assert "loss" not in done.stdout


def test_the_table_refuses_a_label_that_is_not_there(tmp_path):
    done = table(synthetic.write(tmp_path / "r", {}, policies=["all-reduce", "smart"]), "--against", "smartt")
    assert done.returncode == 2
    assert done.stderr == "speedups: --against smartt: no such label; there are: all-reduce, smart\n"
