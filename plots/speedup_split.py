"""The speedup in time to the target loss split in two: samples per second, and samples needed. A panel per cell.

The axis is logarithmic, so the lengths of the two parts add up to that of the whole.
"""

from matplotlib.ticker import FuncFormatter, NullLocator

import paired
import style
import to_loss
from quantities import cells, cells_shown

PARTS = {  # colour, hatch, words
    "time": ("#000000", "", "time to the loss"),
    "rate": ("#56B4E9", "//", "= samples per second"),
    "samples": ("#E69F00", "..", "x samples needed (to the right: fewer)"),
}
HEIGHT = 0.27
TICKS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50, 100]


def applies(results):
    refused = to_loss.refusal(results)
    if refused is None and to_loss.SAMPLES not in results.rows.columns:
        refused = results.without(to_loss.SAMPLES)
    if refused:
        return refused
    baseline = paired.baseline_label(results.rows)
    if baseline is None:
        return "no all-reduce row to compare with"
    if not compared(results, baseline):
        return f"nothing to compare: no other label than {baseline} reached the target loss where it did"
    return None


def compared(results, baseline):
    """Whether any cell has a split."""
    return any(isinstance(to_loss.split(rows, label, baseline), to_loss.Split)
               for _, rows in cells(results) for label in results.labels if label != baseline)


def draw_parts(axes, y, found):
    for number, (part, (colour, hatch, _)) in enumerate(PARTS.items()):
        value = getattr(found, part)
        place = y + (number - 1) * HEIGHT
        axes.barh(place, value.mean - 1, HEIGHT, left=1, color=colour, hatch=hatch, edgecolor="white", linewidth=0.6)
        if value.half is not None:
            axes.plot([value.low, value.high], [place, place], color="#777777", linewidth=1.1, marker="|", markersize=4)


def draw_panel(axes, rows, labels, baseline):
    """Returns the Splits it shows."""
    drawn = []
    for y, label in enumerate(labels):
        found = to_loss.split(rows, label, baseline)
        if isinstance(found, str):
            axes.text(0.5, y, found, ha="center", va="center", fontsize=7, color="#444444",
                      bbox=style.PAPER_BOX, transform=axes.get_yaxis_transform())
        elif found is not None:
            draw_parts(axes, y, found)
            drawn.append(found)
    return drawn


def ends_of(drawn):
    """The ends of the axis: around all intervals, but wide ones are cut at twice the outermost bars."""
    parts = [getattr(found, part) for found in drawn for part in PARTS]
    outer = max(max(part.mean, 1 / part.mean) for part in parts)
    low, high = min(part.low for part in parts), max(part.high for part in parts)
    return min(0.8, max(low, 0.5 / outer)) / 1.05, max(1.25, min(high, 2 * outer)) * 1.05


def mark_axes(axes, labels, ends):
    axes.set_xscale("log")
    axes.set_xlim(ends)
    axes.set_xticks([tick for tick in TICKS if ends[0] <= tick <= ends[1]])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.axvline(1, color="#333333", linewidth=0.8)
    axes.set_yticks(range(len(labels)))
    axes.set_yticklabels(labels)
    axes.grid(axis="y", visible=False)


def draw(results):
    shown, baseline = cells(results), paired.baseline_label(results.rows)
    labels = [label for label in results.labels if label != baseline]
    height = 1.6 + 0.52 * len(labels)
    fig, all_axes = style.figure(6.4 if len(shown) == 1 else 2.0 + 2.7 * len(shown), height, len(shown), sharey=True, sharex=True)
    drawn = []
    for axes, (title, rows) in zip(all_axes[0], shown):
        drawn += draw_panel(axes, rows, labels, baseline)
        if title:
            style.title_panel(axes, title)
    for axes in all_axes[0]:
        mark_axes(axes, labels, ends_of(drawn))
        axes.set_xlabel(f"ratio to {baseline}")
    all_axes[0][0].set_ylim(len(labels) - 0.4, -0.6)
    for colour, hatch, words in PARTS.values():
        all_axes[0][0].fill_between([], [], [], color=colour, hatch=hatch, edgecolor="white", label=words)
    lines = style.legend_below(fig, all_axes[0][0], 3)
    seeds = "geometric means over paired seeds" if results.rows["seed"].nunique() > 1 else "one seed, so no intervals"
    interval = ", with 95 % intervals" if results.rows["seed"].nunique() > 1 else ""
    caption = style.sources(results, to_loss.target_words(results), seeds + interval, cells_shown(results))
    return style.finish(fig, caption, lines)


def figures(results):
    """(file name without ending, figure) of each figure."""
    return [("speedup_split", draw(results))]
