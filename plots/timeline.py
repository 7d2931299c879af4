"""The first steps of a recorded run: who computed, waited and synchronised, and with whom.

Reads timeline.json (Chrome trace events): "X" intervals named compute, wait, sync or coordinate, pid = node, tid = track; the
track's thread_name is `worker W` or `worker W background`; a sync carries its id and members.
"""

import json
import re
from dataclasses import dataclass

import style
from results import BadResults

STEPS_SHOWN = 8
MOST_WORKERS = 32


@dataclass
class Interval:
    worker: int
    node: int
    state: str
    begin: float  # ms
    end: float
    sync: object
    members: tuple
    background: bool


def read_events(path):
    try:
        events = json.loads(path.read_text())["traceEvents"]
        if not isinstance(events, list):
            raise TypeError("traceEvents is no list")
        return [event for event in events if isinstance(event, dict)]
    except (ValueError, KeyError, TypeError) as error:
        raise BadResults(f"{path}: damaged: not a Chrome trace ({error})") from error


def tracks_of(events):
    """{tid: (worker, is background)} from the names of the tracks."""
    tracks = {}
    for event in events:
        if event.get("ph") == "M" and event.get("name") == "thread_name":
            match = re.fullmatch(r"worker (\d+)( background)?", str(event.get("args", {}).get("name", "")))
            if match:
                tracks[event["tid"]] = (int(match.group(1)), match.group(2) is not None)
    return tracks


def read_intervals(path):
    events = read_events(path)
    tracks, intervals = tracks_of(events), []
    for event in events:
        if event.get("ph") != "X" or event.get("name") not in style.STATES:
            continue
        try:
            worker, background = tracks.get(event["tid"], (int(event["tid"]), False))
            begin, length = float(event["ts"]) / 1e3, float(event["dur"]) / 1e3
            args = event.get("args", {})
            intervals.append(Interval(worker, event["pid"], event["name"], begin, begin + length, args.get("sync"),
                                      tuple(args.get("members", ())), background))
        except (KeyError, TypeError, ValueError) as error:
            raise BadResults(f"{path}: damaged: an interval without {error}") from error
    if not intervals:
        raise BadResults(f"{path}: holds no intervals")
    return intervals


def applies(results):
    return None if results.timelines() else "no timeline.json (record one: cohort simulate SPEC --out DIR --timeline)"


def window(intervals):
    """End of the stretch shown, ms: about STEPS_SHOWN median steps of compute."""
    lengths = sorted(i.end - i.begin for i in intervals if i.state == "compute")
    last = max(i.end for i in intervals)
    return min(last, STEPS_SHOWN * 1.25 * lengths[len(lengths) // 2]) if lengths else last


def rows_of(intervals):
    """{worker: row}, a gap between nodes, at most MOST_WORKERS."""
    nodes = {i.worker: i.node for i in intervals}
    rows, row, previous = {}, 0.0, None
    for worker in sorted(nodes, key=lambda w: (nodes[w], w))[:MOST_WORKERS]:
        if previous is not None and nodes[worker] != previous:
            row += 0.6
        rows[worker], previous = row, nodes[worker]
        row += 1
    return rows


def draw_intervals(axes, intervals, rows):
    for state, (colour, hatch) in style.STATES.items():
        for background in (False, True):
            shown = [i for i in intervals if i.state == state and i.background == background and i.worker in rows]
            centre, height = (0.44, 0.2) if background else (0.0, 0.68)
            axes.barh([rows[i.worker] + centre for i in shown], [i.end - i.begin for i in shown], height,
                      left=[i.begin for i in shown], color=colour, hatch=hatch, edgecolor="white", linewidth=0.2)
        axes.fill_between([], [], [], color=colour, hatch=hatch, edgecolor="white", label=state)  # the legend's


def draw_groups(axes, intervals, rows):
    """A line with a dot on each member where a synchronisation begins."""
    syncs = {}
    for interval in intervals:
        if interval.state == "sync" and interval.sync is not None and len(interval.members) > 1:
            syncs.setdefault(interval.sync, interval)
    for interval in syncs.values():
        places = sorted(rows[member] for member in interval.members if member in rows)
        axes.plot([interval.begin] * len(places), places, color="black", linewidth=0.7, marker="o", markersize=2.2)


def draw(results, path, row):
    intervals = read_intervals(path)
    end = window(intervals)
    rows = rows_of(intervals)
    shown = [i for i in intervals if i.begin < end]
    height = 1.4 + 0.19 * max(rows.values(), default=1)
    fig, all_axes = style.figure(7.6, max(2.6, height))
    axes = all_axes[0][0]
    draw_intervals(axes, shown, rows)
    draw_groups(axes, shown, rows)
    axes.set_xlim(0, end)
    axes.set_ylim(max(rows.values(), default=0) + 0.7, -0.7)
    axes.set_yticks(list(rows.values()))
    axes.set_yticklabels([str(worker) for worker in rows], fontsize=7)
    axes.set_ylabel("worker (gap between nodes)")
    axes.set_xlabel(f"{results.clock} time (ms)")
    axes.grid(axis="y", visible=False)
    lines = style.legend_below(fig, axes, 4)
    workers = len({i.worker for i in intervals})
    last = max(i.end for i in intervals)
    cut = [f"the first {MOST_WORKERS} of {workers} workers"] if workers > MOST_WORKERS else []
    cut += [f"the first {end:.0f} of {last:.0f} ms"] if last > end else []
    what = "a black line joins the members of a synchronisation at its start; thin bars: in the background"
    title = "" if row is None else f"{row['label']}, seed {int(row['seed'])}"
    axes.set_title(title)
    return style.finish(fig, style.sources(results, *cut, what, seeds=row is None), lines)


def row_of(results, path):
    """The row that a timeline belongs to: timeline.json is of the first row, timeline-N.json of the Nth; None when it is gone."""
    number = path.stem.removeprefix("timeline").lstrip("-") or "1"
    rows = results.rows[results.rows["row"] == int(number)] if number.isdigit() else results.rows[:0]
    return None if rows.empty else rows.iloc[0]


def figures(results):
    """(file name without ending, figure): one for each label, of its first recorded run."""
    drawn = {}
    for path in results.timelines():
        row = row_of(results, path)
        label = path.stem if row is None else row["label"]
        if label not in drawn:
            slug = re.sub(r"[^A-Za-z0-9.=-]+", "_", label)
            drawn[label] = (f"timeline_{slug}", draw(results, path, row))
    return list(drawn.values())
