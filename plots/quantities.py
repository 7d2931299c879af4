"""Swept values as positions on an axis, and pointers as axis titles."""

import json
import re
from dataclasses import dataclass

UNITS = {
    "bit/s": ("bandwidth", 1 / 8),
    "kbit/s": ("bandwidth", 1e3 / 8),
    "Mbit/s": ("bandwidth", 1e6 / 8),
    "Gbit/s": ("bandwidth", 1e9 / 8),
    "ns": ("time", 1e-9),
    "us": ("time", 1e-6),
    "ms": ("time", 1e-3),
    "s": ("time", 1.0),
}
for _prefix, _factor in {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}.items():
    UNITS[_prefix + "B"] = ("size", _factor)
    UNITS[_prefix + "B/s"] = ("bandwidth", _factor)

MOST_CELLS = 3
MODEL = "/workload/model"

TITLES = {
    "probability": "probability that a step is slowed",
    "factor": "slowdown factor",
    "stragglers/0": "slowdown",
    "nic/bandwidth": "bandwidth of a node's network card",
    "nic_bandwidth": "bandwidth of the slow node's network card",
    "cluster/nodes": "nodes",
    "workload/payload": "payload of a synchronisation",
    "workload/compute": "compute time of a step",
    "communicator/cache": "communicators kept by a worker",
    "communicator/setup": "set-up time of a communicator",
    "threshold": "threshold (requests ahead of the slowest)",
    "group_size": "workers in a group",
    "backward_share": "share of the step in the backward pass",
    "learning_rate": "learning rate",
    "batch": "batch of a worker",
    "workload/model": "model",
    "shards": "labels of the workers' shards",
    "dirichlet": "Dirichlet alpha of the shards' labels",
    "target_loss": "target loss",
}


@dataclass
class Axis:
    """`position` of each row's value; `ticks` with their names; numeric or by category; `log`: spread over decades."""

    title: str
    positions: list
    ticks: list
    names: list
    numeric: bool
    log: bool


def slows_links(pointer, spec):
    """Whether a pointer is to the factor of a link straggler."""
    found = re.fullmatch(r"/stragglers/([0-9]+)/factor", pointer)
    models = spec.get("stragglers")
    if not found or not isinstance(models, list) or int(found.group(1)) >= len(models):
        return False
    return models[int(found.group(1))].get("kind") == "link"


def title_of(pointer, spec):
    """What an axis says of a swept pointer into a spec."""
    if slows_links(pointer, spec):
        return "link slowdown factor"
    for ending, title in TITLES.items():
        if pointer.endswith("/" + ending):
            return title
    return pointer


def short_name(pointer):
    """The last words of a pointer that are no numbers, for file names: /stragglers/0/probability -> probability."""
    words = [word for word in pointer.split("/") if word and not word.isdigit()]
    return re.sub(r"[^A-Za-z0-9]+", "_", words[-1]) if words else "value"


def parse(value, workers):
    """(dimension, number in the base unit, unit as written), or None for what is no quantity."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return ("", float(value), "")
    text = str(value).strip()
    if text == "1/n":
        return ("", 1.0 / workers, "")
    match = re.fullmatch(r"([0-9.]+(?:[eE][-+]?[0-9]+)?)\s*([A-Za-z/]*)", text)
    if not match:
        return None
    unit = match.group(2)
    if unit and unit not in UNITS:
        return None
    try:
        number = float(match.group(1))
    except ValueError:
        return None
    return (UNITS[unit][0], number * UNITS[unit][1], unit) if unit else ("", number, "")


def words_of(value):
    """An object of a spec in words: {"kind": "fixed", "workers": [0], "factor": 6} -> fixed workers [0] x6."""
    words = [str(value["kind"])] if "kind" in value else []
    for key, part in value.items():
        if key == "factor":
            words.append(f"x{name_of(part)}")
        elif key != "kind":
            words.append(f"{key} {name_of(part)}")
    return " ".join(words)


def name_of(value):
    if isinstance(value, dict):
        return words_of(value)
    return value if isinstance(value, str) else json.dumps(value)


def follows(results, pointer, other):
    """Whether the value at `other` says which one is at `pointer`."""
    rows = results.rows
    return rows[pointer].map(str).groupby(rows[other].map(str)).nunique().max() == 1


def independent(results):
    """The swept pointers less those that only follow another one (lists that vary together). A model stands for what varies with it:
    its name says more than one of its numbers."""
    chosen = []
    for pointer in results.swept:
        if not any(follows(results, pointer, other) for other in chosen):
            chosen.append(pointer)
    if MODEL not in results.swept:
        return chosen
    return [MODEL if follows(results, pointer, MODEL) and follows(results, MODEL, pointer) else pointer for pointer in chosen]


def all_cells(results):
    """[(cell as text, its rows)] in the order of the file."""
    if not results.swept:
        return [("", results.rows)]
    return list(results.rows.groupby(results.rows[results.swept].astype(str).agg("|".join, axis=1), sort=False))


def cells(results):
    """(title or None, rows) of the cells that a figure with a panel for each shows: the first, the middle and the last."""
    groups = all_cells(results)
    chosen = groups if len(groups) <= MOST_CELLS else [groups[0], groups[len(groups) // 2], groups[-1]]
    titled = []
    for _, rows in chosen:
        values = [f"{title_of(p, results.spec)}: {name_of(rows[p].iloc[0])}" for p in results.swept]
        titled.append(("\n".join(values) or None, rows))
    return titled


def cells_shown(results):
    """What the caption says of cells()."""
    return "first, middle and last cell of the sweep" if len(all_cells(results)) > MOST_CELLS else ""


def categories(title, values):
    names = list(dict.fromkeys(name_of(value) for value in values))
    return Axis(title, [names.index(name_of(v)) for v in values], list(range(len(names))), names, False, False)


def axis_of(pointer, values, workers, spec):
    """The axis of a swept pointer: numbers or quantities of one dimension by size, anything else by category in file order."""
    parsed = [parse(value, n) for value, n in zip(values, workers)]
    title = title_of(pointer, spec)
    if any(p is None for p in parsed) or len({p[0] for p in parsed}) > 1:
        return categories(title, values)
    unit = parsed[0][2]
    scale = UNITS[unit][1] if unit else 1.0
    positions = [p[1] / scale for p in parsed]
    ticks = sorted(set(positions))
    log = len(ticks) > 2 and ticks[0] > 0 and ticks[-1] / ticks[0] >= 20
    spoken = {position: value for position, value in zip(positions, values) if value == "1/n"}
    names = [spoken.get(tick, f"{tick:.4g}") for tick in ticks]
    return Axis(f"{title} ({unit})" if unit else title, positions, ticks, names, True, log)
