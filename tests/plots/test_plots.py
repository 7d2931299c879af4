"""Figures from result directories: which are made, what they show, and what is said about bad input.

All numbers come from tests/plots/synthetic.py: they are invented.
"""

import json
import math
import subprocess
import sys
from pathlib import Path

import pandas
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "plots"), str(Path(__file__).resolve().parent)]

import paired  # noqa: E402
import quantities  # noqa: E402
import speedup_lines  # noqa: E402
import style  # noqa: E402
import synthetic  # noqa: E402
import time_split  # noqa: E402
import timeline  # noqa: E402
import winner_map  # noqa: E402
from results import read_results  # noqa: E402

PROBABILITY = {"/stragglers/0/probability": [0, 0.02, "1/n", 0.25]}


def plot(*arguments, **options):
    command = [sys.executable, ROOT / "plots" / "plot.py", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, **options)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_probability_sweep_gives_the_figures_it_allows_and_names_the_others(tmp_path):
    folder = synthetic.write(tmp_path / "r", PROBABILITY)
    done = plot(folder, "--out", tmp_path / "f")
    assert done.returncode == 0, done.stderr
    assert names(tmp_path / "f") == [
        "speedup_by_probability.png",
        "speedup_by_probability.svg",
        "throughput_by_probability.png",
        "throughput_by_probability.svg",
        "time_split.png",
        "time_split.svg",
    ]
    assert f"made: speedup: {tmp_path}/f/speedup_by_probability.png" in done.stdout
    assert "not made: timeline: no timeline.json" in done.stdout
    assert "not made: scaling: one cluster size only" in done.stdout


def test_a_policy_looks_the_same_in_every_figure_and_no_two_labels_alike():
    labels = {"all-reduce": "all-reduce", "smart": "smart", "smart, no division": "smart", "published": "ad-psgd"}
    looks = style.looks(pandas.DataFrame({"label": labels.keys(), "policy": labels.values()}))
    assert list(looks) == list(labels)
    assert [looks[label] for label in ("all-reduce", "smart", "published")] == [
        style.KINDS[kind] for kind in ("all-reduce", "smart", "ad-psgd")]
    assert len(set(looks.values())) == len(labels)


def test_without_out_the_figures_go_into_the_directory(tmp_path):
    folder = synthetic.write(tmp_path / "r", PROBABILITY)
    assert plot(folder, "--format", "svg").returncode == 0
    assert "speedup_by_probability.svg" in names(folder / "figures")


def test_pdf_is_written_when_asked(tmp_path):
    folder = synthetic.write(tmp_path / "r", {}, policies=["all-reduce", "smart"])
    assert plot(folder, "--format", "pdf").returncode == 0
    assert (folder / "figures" / "throughput.pdf").read_bytes().startswith(b"%PDF")


def test_a_cluster_sweep_gives_the_scaling_figure(tmp_path):
    folder = synthetic.write(tmp_path / "r", {"/cluster/nodes": [2, 16, 256]}, seeds=(1, 2))
    assert plot(folder, "--format", "png").returncode == 0
    assert "scaling.png" in names(folder / "figures")


def test_two_directories_keep_their_names_apart(tmp_path):
    one = synthetic.write(tmp_path / "one", {}, seeds=(1, 2))
    two = synthetic.write(tmp_path / "two", {}, seeds=(1, 2))
    assert plot(one, two, "--out", tmp_path / "f", "--format", "png").returncode == 0
    assert names(tmp_path / "f") == ["one_throughput.png", "one_time_split.png", "two_throughput.png", "two_time_split.png"]


def test_the_same_results_give_the_same_bytes(tmp_path):
    folder = synthetic.write(tmp_path / "r", PROBABILITY, seeds=(1, 2))
    for out in ("a", "b"):
        assert plot(folder, "--out", tmp_path / out).returncode == 0
    for name in names(tmp_path / "a"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


def test_a_csv_reads_as_the_jsonl_does(tmp_path):
    folder = synthetic.write(tmp_path / "r", PROBABILITY)
    before = read_results(folder)
    rows = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    lines = [",".join(rows[0])] + [",".join(str(value) for value in row.values()) for row in rows]
    (folder / "results.csv").write_text("\n".join(lines) + "\n")
    (folder / "results.jsonl").unlink()
    after = read_results(folder)
    assert list(after.rows["throughput_steps_per_second"]) == list(before.rows["throughput_steps_per_second"])
    pointer = "/stragglers/0/probability"
    axes = [quantities.axis_of(pointer, r.rows[pointer], r.rows["workers"], r.spec) for r in (before, after)]
    assert axes[0] == axes[1]


def test_a_policy_that_no_table_knows_is_drawn_with_a_look_of_its_own(tmp_path):
    folder = synthetic.write(tmp_path / "r", {}, policies=["all-reduce", "smart", "smart"], labels=["all-reduce", "smart", "mine"])
    looks = style.looks(read_results(folder).rows)
    assert len(set(looks.values())) == 3


def test_the_caption_names_sources_and_limited_transports(tmp_path):
    results = read_results(synthetic.write(tmp_path / "r", PROBABILITY, seeds=(1, 2)))
    results.spec["policies"] = ["smart", {"kind": "ad-psgd", "endpoint_bandwidth": "0.7GB/s"}]
    caption = style.sources(results)
    for part in ("spec synthetic", "4 x 4 workers", "56Gbit/s network", "60MB payload", "seeds 1-2", "Cohort 0.1.0"):
        assert part in caption
    assert "ad-psgd: transport of 0.7GB/s a worker" in caption


@pytest.mark.parametrize("collective, words", [
    ({"measured": "data/curve.json"}, "10GB/s inside a node, group means as measured (curve.json)"),
    ({"measured": [[1024, 1.5]]}, "group means as measured;"),
    ("tree", "tree collectives"),
])
def test_the_caption_names_a_collective_other_than_the_ring(tmp_path, collective, words):
    results = read_results(synthetic.write(tmp_path / "r", PROBABILITY, seeds=(1, 2)))
    assert "measured" not in style.sources(results)
    results.spec["cluster"]["collective"] = collective
    assert words in style.sources(results)


def test_the_caption_of_one_node_names_no_network(tmp_path):
    results = read_results(synthetic.write(tmp_path / "r", PROBABILITY, seeds=(1, 2)))
    results.spec["cluster"]["nodes"] = 1
    assert "network" not in style.sources(results)


@pytest.mark.parametrize("panels", [[2, 5], [1, 2, 5], [1, 2, 3, 5], [1, 2, 3, 5, 8]])
def test_titles_of_axes_do_not_overlap(tmp_path, panels):
    sweep = {"/workload/payload": ["6MB", "30MB", "60MB", "150MB", "300MB", "600MB"], "/stragglers/0/factor": panels}
    fig = speedup_lines.draw(read_results(synthetic.write(tmp_path / "r", sweep, seeds=(1, 2))))
    fig.canvas.draw()
    legend = fig.legends[0].get_window_extent()
    boxes = [axes.xaxis.label.get_window_extent() for axes in fig.axes if axes.get_xlabel()]
    assert boxes and all(left.x1 < right.x0 for left, right in zip(boxes, boxes[1:]))
    assert all(box.y0 > legend.y1 for box in boxes)
    assert 0.5 * (boxes[0].x0 + boxes[-1].x1) == pytest.approx(
        0.5 * (fig.axes[0].bbox.x0 + fig.axes[-1].bbox.x1), abs=0.02 * fig.bbox.width)


def test_the_caption_of_a_timeline_says_how_much_of_the_run_it_shows(tmp_path):
    folder = synthetic.write(tmp_path / "r", {})
    events = [{"ph": "X", "name": "compute", "pid": 0, "tid": 0, "ts": 1e5 * step, "dur": 1e5} for step in range(100)]
    (folder / "timeline.json").write_text(json.dumps({"traceEvents": events}))
    results = read_results(folder)
    ((_, fig),) = timeline.figures(results)
    assert "the first 1000 of 10000 ms" in " ".join(text.get_text().replace("\n", " ") for text in fig.texts)


def test_the_caption_names_the_stragglers_but_not_what_the_axis_says(tmp_path):
    results = read_results(synthetic.write(tmp_path / "r", PROBABILITY, seeds=(1, 2)))
    results.spec["stragglers"] = [
        {"kind": "bernoulli", "probability": "1/n", "factor": 5},
        {"kind": "jitter", "distribution": "lognormal", "sigma": 0.02},
        {"kind": "fixed", "workers": [0, 3], "factor": 2},
        {"kind": "link", "nodes": [1], "enter": 0.125, "leave": 0.5, "factor": 10},
        {"kind": "trace", "scope": "node", "file": "data/slow.csv", "as": "factor"},
    ]
    assert (
        "60MB payload; bernoulli x5, lognormal jitter 2 %, fixed x2 of workers 0, 3, link x10 of nodes 1 entered 0.125/s left"
        " 0.5/s, trace per node slow.csv; seeds 1-2"
    ) in style.sources(results)


def test_the_factor_of_slow_links_is_named_as_theirs():
    spec = {"stragglers": [{"kind": "link", "factor": 2}, {"kind": "bernoulli", "factor": 2}]}
    assert quantities.title_of("/stragglers/0/factor", spec) == "link slowdown factor"
    assert quantities.title_of("/stragglers/1/factor", spec) == "slowdown factor"


def test_a_reader_that_leaves_after_one_line_stops_the_lines_and_not_the_figures(tmp_path):
    folder = synthetic.write(tmp_path / "r", PROBABILITY, seeds=(1, 2))
    command = [sys.executable, ROOT / "plots" / "plot.py", folder, "--format", "png"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.close()
    assert process.communicate()[1] == ""
    assert process.returncode == 0
    assert "time_split.png" in names(folder / "figures")


def test_a_full_standard_output_is_one_message(tmp_path):
    folder = synthetic.write(tmp_path / "r", {}, seeds=(1,))
    with open("/dev/full", "w") as full:
        command = [sys.executable, ROOT / "plots" / "plot.py", folder, "--format", "png"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 3
    assert done.stderr == "plot: standard output: No space left on device\n"


def test_speedups_are_taken_seed_by_seed():
    rows = [("all-reduce", 1, 10.0), ("all-reduce", 2, 20.0), ("smart", 1, 20.0), ("smart", 2, 60.0)]
    import pandas

    table = pandas.DataFrame(rows, columns=["label", "seed", "throughput_steps_per_second"])
    found = paired.ratio(table, "smart", "all-reduce")
    assert found.mean == 2.5
    # Student's t at one degree of freedom, 97.5 %: 12.7062; the ratios 2 and 3 have a standard error of 0.5.
    assert math.isclose(found.half, 12.7062 * 0.5, rel_tol=1e-5)


def test_one_seed_has_no_interval():
    assert paired.estimate([2.0]).half is None


def test_quantities_stand_at_their_size_and_the_unit_in_the_title():
    axis = quantities.axis_of("/cluster/nic/bandwidth", ["10Gbit/s", "1GB/s", "100Gbit/s"], [16] * 3, {})
    assert axis.positions == [10, 8, 100]
    assert axis.title == "bandwidth of a node's network card (Gbit/s)"


def test_one_in_n_stands_at_its_probability_under_its_own_name():
    axis = quantities.axis_of("/stragglers/0/probability", [0, "1/n", 0.5], [16] * 3, {})
    assert axis.positions == [0, 1 / 16, 0.5]
    assert axis.names == ["0", "1/n", "0.5"]


@pytest.mark.parametrize("values", [["ring", "tree"], [None, 4], ["1GB/s", "3ms"], [True, False]])
def test_anything_else_stands_by_category(values):
    axis = quantities.axis_of("/cluster/collective", values, [16] * 2, {})
    assert (axis.numeric, axis.positions) == (False, [0, 1])


def test_lists_that_vary_together_are_one_axis(tmp_path):
    folder = synthetic.write(tmp_path / "r", PROBABILITY, seeds=(1, 2))
    results = read_results(folder)
    results.rows["/follows"] = results.rows["/stragglers/0/probability"].map(str) + "x"
    assert quantities.independent(results) == ["/stragglers/0/probability"]


def test_a_model_stands_for_the_numbers_that_vary_with_it(tmp_path):
    sweep = {"/workload/compute": ["10ms", "20ms"], "/stragglers/0/factor": [1, 5]}
    results = read_results(synthetic.write(tmp_path / "r", sweep))
    results.rows["/workload/model"] = results.rows["/workload/compute"].map({"10ms": "small", "20ms": "large"})
    assert set(quantities.independent(results)) == {"/workload/model", "/stragglers/0/factor"}


def test_titles_of_panels_do_not_overlap(tmp_path):
    sweep = {"/cluster/overrides/0/nic_bandwidth": ["56Gbit/s", "14Gbit/s", "3.5Gbit/s"]}
    fig = time_split.draw(read_results(synthetic.write(tmp_path / "r", sweep)))
    fig.canvas.draw()
    boxes = [axes.title.get_window_extent() for axes in fig.axes]
    assert len(boxes) == 3 and all(left.x1 < right.x0 for left, right in zip(boxes, boxes[1:]))


def test_the_winner_map_reads_the_ratio_from_the_calm_cells_of_all_reduce(tmp_path):
    sweep = {"/workload/payload": ["60MB", "240MB"], "/stragglers/0/factor": [1, 5]}
    results = read_results(synthetic.write(tmp_path / "r", sweep))
    assert winner_map.applies(results) is None
    pointer = winner_map.axes_of(results)
    axes = [quantities.axis_of(p, results.rows[p], results.rows["workers"], results.spec) for p in pointer]
    for payload, compute, sync in (("60MB", 0.8, 0.16), ("240MB", 0.5, 0.5)):
        calm = (results.rows["/workload/payload"] == payload) & (results.rows["/stragglers/0/factor"] == 1)
        results.rows.loc[calm & (results.rows["policy"] == "all-reduce"), ["compute_fraction", "sync_fraction"]] = compute, sync
    named, _ = winner_map.column_names(results, *axes)
    assert named == ["0.2\n60", "1\n240"]
    assert plot(tmp_path / "r", "--format", "png").returncode == 0
    assert "winner_map.png" in names(tmp_path / "r" / "figures")


def test_a_timeline_shows_background_work_on_its_workers_lane(tmp_path):
    folder = synthetic.write_timeline(synthetic.write(tmp_path / "r", {}))
    intervals = timeline.read_intervals(folder / "timeline.json")
    assert [i.worker for i in intervals if i.background] == [0]
    assert {i.worker for i in intervals} == set(range(16))
    assert plot(folder, "--format", "png").returncode == 0
    assert "timeline_all-reduce.png" in names(folder / "figures")


def test_each_label_has_the_timeline_of_its_first_recorded_run(tmp_path):
    folder = synthetic.write(tmp_path / "r", {}, seeds=(1, 2), policies=["all-reduce", "smart"])
    for name in ("timeline.json", "timeline-2.json", "timeline-3.json", "timeline-10.json"):
        synthetic.write_timeline(folder)
        (folder / "timeline.json").rename(folder / name)
    synthetic.write_timeline(folder)
    results = read_results(folder)
    assert [path.name for path in results.timelines()][-2:] == ["timeline-3.json", "timeline-10.json"]
    assert [stem for stem, _ in timeline.figures(results)] == ["timeline_all-reduce", "timeline_smart", "timeline_timeline-10"]


def bad(tmp_path, case):
    folder = tmp_path / "r"
    if case != "missing":
        synthetic.write(folder, PROBABILITY, seeds=(1, 2))
    rows = folder / "results.jsonl"
    if case == "empty directory":
        rows.unlink()
    elif case == "empty file":
        rows.write_text("")
    elif case == "cut off":
        rows.write_text(rows.read_text()[:-20])
    elif case == "a list":
        rows.write_text("[1]\n")
    elif case == "binary":
        rows.write_bytes(b"\xff\xfe\x00\x80")
    elif case == "no throughput":
        rows.write_text('{"policy": "smart", "label": "smart", "seed": 1, "workers": 4}\n')
    elif case == "a word for a number":
        rows.write_text(rows.read_text().replace('"seed": 1,', '"seed": "one",', 1))
    elif case == "manifest":
        (folder / "manifest.json").write_text("{")
    elif case == "timeline":
        (folder / "timeline.json").write_text('{"traceEvents": [{"ph": "X", "name": "sync", "tid": 1}]}')
    elif case == "a file":
        return rows
    return folder


SAID = {
    "missing": "no such directory",
    "empty directory": "neither results.jsonl nor results.csv",
    "empty file": "holds no results",
    "cut off": "results.jsonl:56: damaged",
    "a list": "results.jsonl:1: damaged",
    "binary": "not a text file",
    "no throughput": "columns are missing: throughput_steps_per_second",
    "a word for a number": "results.jsonl:1: damaged: seed is 'one'",
    "manifest": "manifest.json: damaged",
    "timeline": "timeline.json: damaged",
    "a file": "not a directory",
}


@pytest.mark.parametrize("case", SAID)
def test_bad_input_ends_with_code_2_and_one_message(tmp_path, case):
    done = plot(bad(tmp_path, case), "--out", tmp_path / "f")
    assert done.returncode == 2
    assert SAID[case] in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_unknown_format_is_refused_with_the_allowed_ones(tmp_path):
    done = plot(tmp_path, "--format", "gif")
    assert done.returncode == 2
    assert "none of png, svg, pdf" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_missing_package_ends_with_code_3_and_what_to_install(tmp_path):
    (tmp_path / "matplotlib.py").write_text("raise ImportError('no matplotlib')\n")
    folder = synthetic.write(tmp_path / "r", {}, seeds=(1,))
    done = plot(folder, env={"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin", "COHORT_PYTHON_TRIED": "1"})
    assert done.returncode == 3
    assert "python3-matplotlib" in done.stderr


def test_rows_of_failed_cells_are_left_out_and_said(tmp_path):
    folder = synthetic.write(tmp_path / "r", PROBABILITY, seeds=(1, 2))
    lines = (folder / "results.jsonl").read_text().splitlines()
    failed = {**json.loads(lines[0]), "throughput_steps_per_second": None, "error": "broken promise"}
    (folder / "results.jsonl").write_text("\n".join([json.dumps(failed), *lines[1:]]) + "\n")
    done = plot(folder, "--format", "png")
    assert done.returncode == 0
    assert "1 of 56 rows have no throughput" in done.stderr
