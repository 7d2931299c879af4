"""Groups of bars: a group per value of the swept quantity (slowdown: none, 2x, 5x), in it a bar per label; a panel per value of a
second one.

What a bar shows is the caller's. Where there is no value, words stand in the bar's place: never a bar of height zero.
"""

import textwrap

from matplotlib.patheffects import withStroke

import paired
import style
from quantities import axis_of, independent, name_of, short_name, title_of

MOST_GROUPS = 6
MOST_PANELS = 4
ACROSS = 2  # panels in a row
NAME_WIDTH = 22  # letters of a group's name on one line
HIGHEST = 2.0  # an axis ends at most there, times the highest bar: intervals of two seeds may be wide
OUTLINED = [withStroke(linewidth=2.0, foreground="white")]  # seen on dark bars too


def pointers_of(results):
    """(the swept pointer that makes the groups, that of the panels), each None where there is none."""
    swept = independent(results)
    groups = next((pointer for pointer in swept if pointer.endswith("/factor")), swept[0] if swept else None)
    return groups, next((pointer for pointer in swept if pointer != groups), None)


def refusal(results):
    """Why a result directory gives no groups of bars, or None."""
    if len(independent(results)) > 2:
        return "more than two quantities are swept at once"
    for pointer, most in zip(pointers_of(results), (MOST_GROUPS, MOST_PANELS)):
        if pointer and results.rows[pointer].map(str).nunique() > most:
            return f"{pointer} takes more than {most} values"
    return None


def stem(results, name):
    """The file name of a figure of that name, without its ending."""
    pointer, _ = pointers_of(results)
    return f"{name}_by_{short_name(pointer)}" if pointer else name


def group_name(pointer, name):
    if pointer.endswith("/factor"):
        return "none" if name == "1" else f"{name}x"
    return textwrap.fill(name, NAME_WIDTH)


def groups_of(results, rows):
    """[(name, rows)] of those rows, and the title of the axis."""
    pointer, _ = pointers_of(results)
    if pointer is None:
        return [(results.name, rows)], None
    axis = axis_of(pointer, rows[pointer], rows["workers"], results.spec)
    cells = [rows[[p == tick for p in axis.positions]] for tick in axis.ticks]
    return [(group_name(pointer, name), cell) for name, cell in zip(axis.names, cells)], axis.title


def panels_of(results):
    """[(title or None, rows)]. What varies together with the panels' pointer stands in the title too."""
    groups, pointer = pointers_of(results)
    if pointer is None:
        return [(None, results.rows)]
    panels = []
    for _, rows in results.rows.groupby(results.rows[pointer].map(str), sort=False):
        same = [other for other in results.swept if other != groups and rows[other].map(str).nunique() == 1]
        panels.append((", ".join(f"{title_of(one, results.spec)}: {name_of(rows[one].iloc[0])}" for one in same), rows))
    return panels


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


def draw_panel(axes, results, rows, value, written):
    """The groups of some rows, with their names; returns what the bars show."""
    groups, title = groups_of(results, rows)
    drawn = draw_groups(axes, groups, results, value, written)
    axes.grid(axis="x", visible=False)
    axes.set_xlim(-0.5, len(groups) - 0.5)
    axes.set_xticks(range(len(groups)))
    axes.set_xticklabels([name for name, _ in groups])
    if title:
        axes.set_xlabel(title)
    return drawn


def draw(results, value, title, *notes, written="", line=None, top=None, shared=True):
    """`value(cell, label)`: an Estimate, words for the place of the bar, or None. `written`: format of the number on a bar.
    `line`: height of a dashed line. `top`: where the axis ends. `shared`: the panels have one scale. `notes` end the caption."""
    panels = panels_of(results)
    groups = max(len(groups_of(results, rows)[0]) for _, rows in panels)
    across = min(len(panels), ACROSS)
    width = max(6.4, min(11.0, 1.0 + 0.27 * len(results.labels) * groups * across))
    fig, all_axes = style.grid(len(panels), across, width / across, 3.3 if len(panels) <= across else 2.6, sharey=shared)
    drawn = []
    for axes, (name, rows) in zip(all_axes, panels):
        here = draw_panel(axes, results, rows, value, written)
        drawn += here
        axes.set_ylim(0, top or top_of(drawn if shared else here))
        axes.set_title(name or "", fontsize=8)
        if line is not None:
            axes.axhline(line, color="#333333", linestyle="--", linewidth=0.8)
    for axes in all_axes[::across]:
        axes.set_ylabel(title)
    lines = style.legend_below(fig, all_axes[0], min(len(results.labels), 4 if across == 1 else 8))
    bars = "bars: mean over seeds, with its 95 % interval" if results.rows["seed"].nunique() > 1 else "one seed, so no intervals"
    return style.finish(fig, style.sources(results, bars, *notes), lines)
