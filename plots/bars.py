"""Groups of bars: a group per value of the swept quantity (slowdown: none, 2x, 5x), in it a bar per label.

What a bar shows is the caller's. Where there is no value, words stand in the bar's place: never a bar of height zero.
"""

import textwrap

from matplotlib.patheffects import withStroke

import paired
import style
from quantities import axis_of, short_name

MOST_GROUPS = 6
NAME_WIDTH = 22  # letters of a group's name on one line
HIGHEST = 2.0  # an axis ends at most there, times the highest bar: intervals of two seeds may be wide
OUTLINED = [withStroke(linewidth=2.0, foreground="white")]  # seen on dark bars too


def pointer_of(results):
    """The swept pointer that makes the groups, None without a sweep."""
    factors = [pointer for pointer in results.swept if pointer.endswith("/factor")]
    return (factors or results.swept or [None])[0]


def refusal(results):
    """Why a result directory gives no groups of bars, or None."""
    if len(results.swept) > 1:
        return "more than one quantity is swept"
    pointer = pointer_of(results)
    if pointer and results.rows[pointer].map(str).nunique() > MOST_GROUPS:
        return f"{pointer} takes more than {MOST_GROUPS} values"
    return None


def stem(results, name):
    """The file name of a figure of that name, without its ending."""
    pointer = pointer_of(results)
    return f"{name}_by_{short_name(pointer)}" if pointer else name


def group_name(pointer, name):
    if pointer.endswith("/factor"):
        return "none" if name == "1" else f"{name}x"
    return textwrap.fill(name, NAME_WIDTH)


def groups_of(results):
    """[(name, rows)] and the title of the axis."""
    rows, pointer = results.rows, pointer_of(results)
    if pointer is None:
        return [(results.name, rows)], None
    axis = axis_of(pointer, rows[pointer], rows["workers"], results.spec)
    cells = [rows[[p == tick for p in axis.positions]] for tick in axis.ticks]
    return [(group_name(pointer, name), cell) for name, cell in zip(axis.names, cells)], axis.title


def write_instead(axes, x, words):
    axes.text(x, 0.015, words, rotation=90, ha="center", va="bottom", fontsize=6.5, color="#444444", bbox=style.PAPER_BOX,
              transform=axes.get_xaxis_transform(), zorder=3)


def draw_bar(axes, x, width, found, look, written):
    colour, _, _, hatch = look
    axes.bar(x, found.mean, width, color=colour, hatch=hatch, edgecolor="white", linewidth=0.6)
    if found.half is not None:
        axes.errorbar(x, found.mean, yerr=found.half, color="#333333", capsize=2, linewidth=0.9, path_effects=OUTLINED)
    if written:
        axes.text(x, 0.015, written.format(found.mean), rotation=90, ha="center", va="bottom", fontsize=7,
                  transform=axes.get_xaxis_transform(), bbox=style.PAPER_BOX)


def draw_groups(axes, groups, results, value, written):
    """The bars of all groups, and the legend's entries. Returns what the bars show."""
    looks, labels = style.looks(results.rows), results.labels
    width, drawn = 0.84 / len(labels), []
    for number, label in enumerate(labels):
        axes.bar([0], [0], width, color=looks[label][0], hatch=looks[label][3], edgecolor="white", label=label)  # the legend's
        for place, (_, cell) in enumerate(groups):
            x = place + (number - (len(labels) - 1) / 2) * width
            found = value(cell, label)
            if isinstance(found, str):
                write_instead(axes, x, found)
            elif found is not None:
                draw_bar(axes, x, width, found, looks[label], written)
                drawn.append(found)
    return drawn


def top_of(drawn):
    """The end of the axis: above all intervals, the wide ones cut."""
    highest = max((found.mean for found in drawn), default=0) or 1.0
    return 1.06 * max([highest, *(min(found.high, HIGHEST * highest) for found in drawn)])


def draw(results, value, title, *notes, written="", line=None, top=None):
    """`value(cell, label)`: an Estimate, words for the place of the bar, or None. `written`: format of the number on a bar.
    `line`: height of a dashed line. `top`: where the axis ends. `notes` end the caption."""
    groups, name = groups_of(results)
    fig, all_axes = style.figure(max(6.4, min(11.0, 1.0 + 0.27 * len(results.labels) * len(groups))), 4.2)
    axes = all_axes[0][0]
    drawn = draw_groups(axes, groups, results, value, written)
    if line is not None:
        axes.axhline(line, color="#333333", linestyle="--", linewidth=0.8)
    axes.grid(axis="x", visible=False)
    axes.set_xlim(-0.5, len(groups) - 0.5)
    axes.set_ylim(0, top or top_of(drawn))
    axes.set_xticks(range(len(groups)))
    axes.set_xticklabels([name for name, _ in groups])
    if name:
        axes.set_xlabel(name)
    axes.set_ylabel(title)
    lines = style.legend_below(fig, axes, min(len(results.labels), 4))
    seeds = results.rows["seed"].nunique()
    bars = "bars: mean over seeds, with its 95 % interval" if seeds > 1 else "one seed, so no intervals"
    return style.finish(fig, style.sources(results, bars, *notes), lines)
