"""Which policy wins where: communication/compute ratio along one axis, severity of the stragglers along the other.

The ratio is not modelled but read from the results: All-Reduce's share of sync over its share of compute where nobody is slowed
(factor 1 or probability 0). Without such cells the axis shows the swept quantity itself. A field is hatched when the lead over
the second is within the 95 % interval of their paired ratio.
"""

import matplotlib.patches as patches

import paired
import style
from quantities import axis_of

SEVERITY = ("/factor", "/probability")
COMMUNICATION = ("/payload", "/compute", "/nic/bandwidth")


def axes_of(results):
    """(pointer of communication, pointer of severity), or None."""
    across = [p for p in results.swept if p.endswith(COMMUNICATION)]
    up = [p for p in results.swept if p.endswith(SEVERITY)]
    return (across[0], up[0]) if across and up and len(results.swept) == 2 else None


def applies(results):
    if axes_of(results) is None:
        return "needs a sweep over communication (payload, compute or NIC bandwidth) and severity (factor or probability)"
    return "all-reduce alone: nothing to compare" if len(results.labels) < 2 else None


def harmless(pointer, position):
    return position == (1.0 if pointer.endswith("/factor") else 0.0)


def measured_ratio(cell, baseline):
    """Sync over compute of All-Reduce in one cell, or None."""
    rows = cell[cell["label"] == baseline]
    compute = rows["compute_fraction"].mean() if "compute_fraction" in rows else 0
    return rows["sync_fraction"].mean() / compute if compute and compute > 0 else None


def column_names(results, across, up):
    """Names of the columns and the title of that axis."""
    names, title = across.names, across.title
    baseline = paired.baseline_label(results.rows)
    calm = [i for i, position in enumerate(up.positions) if harmless(axes_of(results)[1], position)]
    if baseline is None or not calm:
        return names, title
    rows = results.rows.loc[calm]
    ratios = [measured_ratio(rows[[across.positions[i] == tick for i in rows.index]], baseline) for tick in across.ticks]
    if any(ratio is None or ratio != ratio for ratio in ratios):
        return names, title
    both = [f"{ratio:.2g}\n{value}" for ratio, value in zip(ratios, names)]
    return both, f"communication / compute of {baseline} without slowdown\n{title}"


def ranking(cell, labels):
    """Labels of one cell by mean throughput, best first."""
    means = {label: paired.throughputs(cell, label).mean() for label in labels}
    return sorted((label for label in labels if means[label] == means[label]), key=lambda label: -means[label])


def is_tie(cell, first, second):
    lead = paired.ratio(cell, first, second)
    return lead is not None and (lead.half is None or lead.low <= 1.0)


def text_colour(colour):
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "white" if 0.3 * red + 0.59 * green + 0.11 * blue < 130 else "black"


def draw_field(axes, place, cell, labels, looks, baseline):
    """One field of the map; returns its winner."""
    order = ranking(cell, labels)
    colour = looks[order[0]][0]
    tie = len(order) > 1 and is_tie(cell, order[0], order[1])
    axes.add_patch(patches.Rectangle((place[0] - 0.5, place[1] - 0.5), 1, 1, facecolor=colour, edgecolor="white",
                                     linewidth=1.2, hatch="///" if tie else ""))
    lead = paired.ratio(cell, order[0], baseline) if baseline else None
    speed = f"\n{lead.mean:.2f}x" if lead else ""
    box = {"facecolor": colour, "edgecolor": "none", "pad": 1.0} if tie else None
    axes.text(*place, f"{order[0]}{speed}", ha="center", va="center", fontsize=7, color=text_colour(colour), bbox=box)
    return order[0]


def draw(results):
    rows, (across_pointer, up_pointer) = results.rows, axes_of(results)
    across = axis_of(across_pointer, rows[across_pointer], rows["workers"], results.spec)
    up = axis_of(up_pointer, rows[up_pointer], rows["workers"], results.spec)
    looks, baseline = style.looks(rows), paired.baseline_label(rows)
    fig, all_axes = style.figure(max(6.4, 1.2 + 0.95 * len(across.ticks)), 1.9 + 0.55 * len(up.ticks))
    axes = all_axes[0][0]
    axes.grid(False)
    for x, x_position in enumerate(across.ticks):
        for y, y_position in enumerate(up.ticks):
            inside = [a == x_position and b == y_position for a, b in zip(across.positions, up.positions)]
            if any(inside):
                draw_field(axes, (x, y), rows[inside], results.labels, looks, baseline)
    axes.set_xlim(-0.5, len(across.ticks) - 0.5)
    axes.set_ylim(-0.5, len(up.ticks) - 0.5)
    names, title = column_names(results, across, up)
    axes.set_xticks(range(len(names)))
    axes.set_xticklabels(names)
    axes.set_xlabel(title)
    axes.set_yticks(range(len(up.names)))
    axes.set_yticklabels(up.names)
    axes.set_ylabel(up.title)
    caption = ["field: the policy of highest mean throughput", f"number: its speedup over {baseline}" if baseline else ""]
    tie = "hatched: the lead over the second is within the 95 % interval" if rows["seed"].nunique() > 1 else "one seed"
    return style.finish(fig, style.sources(results, *caption, tie))


def figures(results):
    """(file name without ending, figure) of each figure."""
    return [("winner_map", draw(results))]
