"""Speedup over All-Reduce against one swept quantity (the straggler probability, first of all), with 95 % bands.

A second swept quantity makes a panel for each of its values.
"""

from matplotlib.ticker import NullLocator

import paired
import style
from quantities import axis_of, independent, name_of, short_name, title_of

MOST_PANELS = 6
MOST_TITLED = 2  # more panels have one title in the middle below them


def applies(results):
    """None, or why the figure cannot be made."""
    if not results.swept:
        return "nothing is swept"
    if paired.baseline_label(results.rows) is None:
        return "no all-reduce row to compare with"
    if len(results.labels) < 2:
        return "all-reduce alone: nothing to compare"
    _, panel = split(results)
    if panel is not None and results.rows[panel].map(str).nunique() > MOST_PANELS:
        return f"two quantities swept, and {panel} takes more than {MOST_PANELS} values"
    if len(independent(results)) > 2:
        return "more than two quantities are swept at once"
    return None


def split(results):
    """(pointer along the axis, pointer of the panels or None): the one with more values goes along the axis."""
    pointers = independent(results)
    if len(pointers) < 2:
        return pointers[0], None
    by_count = sorted(pointers, key=lambda p: -results.rows[p].map(str).nunique())
    return by_count[0], by_count[1]


def draw_panel(axes, rows, axis, labels, looks, baseline):
    """Lines of one panel; `axis.positions` belongs to all rows of the results, by row number."""
    for number, label in enumerate(labels):
        colour, marker, line, _ = looks[label]
        points = []
        for position in axis.ticks:
            cell = rows[[axis.positions[i] == position for i in rows.index]]
            found = paired.ratio(cell, label, baseline)
            if found:
                points.append((position, found))
        if not points:
            continue
        xs, means = [x for x, _ in points], [e.mean for _, e in points]
        axes.plot(xs, means, color=colour, marker=marker, linestyle=line, markersize=6, label=label, zorder=3 + number)
        if any(e.half is not None for _, e in points) and label != baseline:
            axes.fill_between(xs, [e.low for _, e in points], [e.high for _, e in points], color=colour, alpha=0.18, lw=0)


def mark_axis(axes, axis):
    if axis.log:
        axes.set_xscale("log")
        axes.xaxis.set_minor_locator(NullLocator())
    close = axis.numeric and not axis.log and len(axis.ticks) > 2
    shown = thinned(axis.ticks, axis.names) if close else list(zip(axis.ticks, axis.names))
    axes.set_xticks([tick for tick, _ in shown])
    crowded = sum(len(name) for _, name in shown) > 46
    axes.set_xticklabels([name for _, name in shown], rotation=30 if crowded else 0, ha="right" if crowded else "center")


def title_axes(panels, title):
    if len(panels) <= MOST_TITLED:
        for axes in panels:
            axes.set_xlabel(title)
    else:  # the middle of an even number is the left edge of the right one of the two
        panels[len(panels) // 2].set_xlabel(title, x=0.5 if len(panels) % 2 else 0.0)


def thinned(ticks, names):
    """Ticks at least a fifteenth of the axis apart, so that their names do not touch."""
    apart, shown = (ticks[-1] - ticks[0]) / 15, []
    for tick, name in zip(ticks, names):
        if not shown or tick - shown[-1][0] >= apart:
            shown.append((tick, name))
    return shown


def draw(results):
    rows, looks = results.rows, style.looks(results.rows)
    baseline = paired.baseline_label(rows)
    pointer, panel = split(results)
    axis = axis_of(pointer, rows[pointer], rows["workers"], results.spec)
    panels = list(dict.fromkeys(rows[panel].map(name_of))) if panel else [None]
    labels = [baseline] + [label for label in results.labels if label != baseline]
    width = 6.4 if len(panels) == 1 else min(11.0, 1.6 + 2.8 * len(panels))
    fig, all_axes = style.figure(width, 4.4, len(panels), sharey=True)
    for axes, value in zip(all_axes[0], panels):
        here = rows if value is None else rows[rows[panel].map(name_of) == value]
        draw_panel(axes, here, axis, labels, looks, baseline)
        mark_axis(axes, axis)
        if value is not None:
            style.title_panel(axes, f"{title_of(panel, results.spec)}: {value}")
    title_axes(all_axes[0], axis.title)
    all_axes[0][0].set_ylim(bottom=0)
    all_axes[0][0].set_ylabel(f"speedup over {baseline}\n(ratio of steps per second)")
    lines = style.legend_below(fig, all_axes[0][0], min(len(labels), 4 if width < 7 else 6))
    seeds = rows["seed"].nunique()
    band = "bands: 95 % interval of the mean over paired seeds" if seeds > 1 else "one seed, so no intervals"
    return style.finish(fig, style.sources(results, band), lines)


def figures(results):
    """(file name without ending, figure) of each figure."""
    return [(f"speedup_by_{short_name(split(results)[0])}", draw(results))]
