"""Throughput of each policy, in groups of bars: one group per slowdown factor (none, 2x, 5x) or other short axis."""

import paired
import style
from quantities import axis_of, short_name

MOST_GROUPS = 6


def pointer_of(results):
    """The swept pointer that makes the groups: a slowdown factor if there is one."""
    factors = [pointer for pointer in results.swept if pointer.endswith("/factor")]
    return (factors or results.swept or [None])[0]


def applies(results):
    if len(results.swept) > 1:
        return "more than one quantity is swept"
    pointer = pointer_of(results)
    if pointer and results.rows[pointer].map(str).nunique() > MOST_GROUPS:
        return f"{pointer} takes more than {MOST_GROUPS} values"
    return None


def group_name(pointer, name):
    if pointer and pointer.endswith("/factor"):
        return "none" if name == "1" else f"{name}x"
    return name


def draw(results):
    rows, pointer = results.rows, pointer_of(results)
    looks, labels = style.looks(rows), results.labels
    axis = axis_of(pointer, rows[pointer], rows["workers"], results.spec) if pointer else None
    groups = axis.ticks if axis else [None]
    width = 0.84 / len(labels)
    fig, all_axes = style.figure(max(6.4, min(11.0, 1.0 + 0.27 * len(labels) * len(groups))), 4.2)
    axes = all_axes[0][0]
    for number, label in enumerate(labels):
        colour, _, _, hatch = looks[label]
        for place, position in enumerate(groups):
            cell = rows if axis is None else rows[[p == position for p in axis.positions]]
            values = paired.throughputs(cell, label)
            if values.empty:
                continue
            found = paired.estimate(values)
            x = place + (number - (len(labels) - 1) / 2) * width
            axes.bar(x, found.mean, width, color=colour, hatch=hatch, edgecolor="white", linewidth=0.6,
                     label=label if place == 0 else None)
            if found.half is not None:
                axes.errorbar(x, found.mean, yerr=found.half, color="#333333", capsize=2, linewidth=0.9)
    axes.grid(axis="x", visible=False)
    axes.set_xticks(range(len(groups)))
    axes.set_xticklabels([group_name(pointer, name) for name in axis.names] if axis else [results.name])
    if axis:
        axes.set_xlabel(axis.title)
    axes.set_ylabel("throughput (worker-steps per second)")
    lines = style.legend_below(fig, axes, min(len(labels), 4))
    seeds = rows["seed"].nunique()
    bars = "bars: mean over seeds, with its 95 % interval" if seeds > 1 else "one seed, so no intervals"
    return style.finish(fig, style.sources(results, bars), lines)


def figures(results):
    """(file name without ending, figure) of each figure."""
    pointer = pointer_of(results)
    return [(f"throughput_by_{short_name(pointer)}" if pointer else "throughput", draw(results))]
