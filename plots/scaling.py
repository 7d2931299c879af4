"""Scaling: throughput against the number of workers, and the speedup over All-Reduce at each size."""

from matplotlib.ticker import NullLocator

import paired
import style


def applies(results):
    return "one cluster size only" if results.rows["workers"].nunique() < 2 else None


def draw_lines(axes, results, value, banded):
    """One line per label of `value(cell, label)`, an Estimate or None, at every number of workers."""
    looks, sizes = style.looks(results.rows), sorted(results.rows["workers"].unique())
    for label in results.labels:
        colour, marker, line, _ = looks[label]
        points = [(n, value(results.rows[results.rows["workers"] == n], label)) for n in sizes]
        points = [(n, found) for n, found in points if found]
        xs, means = [n for n, _ in points], [e.mean for _, e in points]
        axes.plot(xs, means, color=colour, marker=marker, linestyle=line, markersize=5, label=label)
        if banded and points and points[0][1].half is not None:
            axes.fill_between(xs, [e.low for _, e in points], [e.high for _, e in points], color=colour, alpha=0.18, lw=0)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(sizes)
    axes.set_xticklabels([f"{int(n):,}" for n in sizes])
    axes.set_xlabel("workers")


def draw(results):
    rows = results.rows
    baseline = paired.baseline_label(rows)
    fig, all_axes = style.figure(9.0 if baseline else 6.4, 4.2, 2 if baseline else 1)
    left = all_axes[0][0]

    def throughput(cell, label):
        values = paired.throughputs(cell, label)
        return paired.estimate(values) if len(values) else None

    draw_lines(left, results, throughput, False)
    left.set_yscale("log")
    left.set_ylabel("throughput (worker-steps per second)")
    if baseline:
        right = all_axes[0][1]
        draw_lines(right, results, lambda cell, label: paired.ratio(cell, label, baseline), True)
        right.set_ylim(bottom=0)
        right.set_ylabel(f"speedup over {baseline}\n(ratio of steps per second)")
    lines = style.legend_below(fig, left, 4 if baseline is None else 7)
    band = "bands: 95 % interval over paired seeds" if rows["seed"].nunique() > 1 else "one seed, so no intervals"
    return style.finish(fig, style.sources(results, band), lines)


def figures(results):
    """(file name without ending, figure) of each figure."""
    return [("scaling", draw(results))]
