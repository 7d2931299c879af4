"""Loss, accuracy and consensus distance of the mean model over time: a line per label, a panel per cell."""

import numpy
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

import curves
import style
from quantities import cells, cells_shown

QUANTITIES = {  # quantity of the curve: (file name, title of the axis, logarithmic, factor)
    "loss": ("loss_over_time", "training loss of the mean model", True, 1),
    "accuracy": ("accuracy_over_time", "test accuracy of the mean model (%)", False, 100),
    "consensus_distance": ("consensus_over_time", "consensus distance\n(root mean square over replicas)", True, 1),
}
POINTS_SHOWN = 30  # of accuracy, in percent: the first steps fall below the axis
MARKERS = 8
LONGEST = 3  # times the median line: where a panel ends, so that one slow label does not squeeze the others
TICKS = {12: (1.0, 1.5, 2.0, 3.0, 5.0, 7.0), 200: (1.0, 2.0, 5.0), float("inf"): (1.0,)}  # by the most that the axis spans


def applies(results):
    return curves.refusal(results, "loss")


def draw_line(axes, band, look, name, log, factor):
    """The line and its band; on a logarithmic axis without the instants at 0."""
    colour, marker, line, _ = look
    shown = band.mean > 0 if log else numpy.isfinite(band.mean)
    if not shown.any():
        return False
    seconds, mean = band.seconds[shown], factor * band.mean[shown]
    axes.plot(seconds, mean, color=colour, linestyle=line, linewidth=1.3, marker=marker, markersize=4,
              markevery=max(1, len(seconds) // MARKERS), label=name)
    if band.seeds > 1:
        low = numpy.where(band.low > 0, band.low, band.mean) if log else band.low
        axes.fill_between(seconds, factor * low[shown], factor * band.high[shown], color=colour, alpha=0.18, lw=0)
    return True


def plain_log(axes):
    """A logarithmic axis in plain numbers, with ticks for less than a decade or for many."""
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    within = next(subs for decades, subs in TICKS.items() if high <= low * decades)
    axes.yaxis.set_major_locator(LogLocator(10, within))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def draw_panel(axes, rows, quantity, looks):
    """Returns the labels it shows, and whether all of every line."""
    _, _, log, factor = QUANTITIES[quantity]
    bands = {label: curves.band(rows, label, quantity) for label in looks}
    shown = [label for label, band in bands.items() if band and draw_line(axes, band, looks[label], label, log, factor)]
    ends = [bands[label].seconds[-1] for label in shown]
    right = min(max(ends), LONGEST * float(numpy.median(ends))) if ends else 1.0
    axes.set_xlim(0, 1.02 * right)
    return shown, not ends or right == max(ends)


def draw_panels(results, panels, all_axes, quantity):
    """Draws all panels; returns the labels that no panel could show, and whether all lines are there to their ends."""
    looks, shown, whole = style.looks(results.rows), set(), True
    for axes, (title, rows) in zip(all_axes, panels):
        here, uncut = draw_panel(axes, rows, quantity, looks)
        shown, whole = shown | set(here), whole and uncut
        axes.set_xlabel(f"{results.clock} time (s)")
        if title:
            style.title_panel(axes, title)
    return [label for label in results.labels if label not in shown], whole


def legend_axes(all_axes):
    """The panel with most entries: a label may be missing from some."""
    return max(all_axes, key=lambda axes: len(axes.get_legend_handles_labels()[1]))


def draw(results, quantity):
    _, title, log, _ = QUANTITIES[quantity]
    shown = cells(results)
    fig, all_axes = style.figure(6.4 if len(shown) == 1 else 1.6 + 2.9 * len(shown), 4.2, len(shown), sharey=True)
    hidden, whole = draw_panels(results, shown, all_axes[0], quantity)
    first = all_axes[0][0]
    first.set_ylabel(title)
    if log:
        plain_log(first)
    if quantity == "accuracy":
        first.set_ylim(bottom=max(0.0, first.dataLim.y1 - POINTS_SHOWN))
    if quantity == "loss" and results.target_loss:
        for axes in all_axes[0]:
            axes.axhline(results.target_loss, color="#333333", linestyle=(0, (1, 2)), linewidth=1.0)
    lines = style.legend_below(fig, legend_axes(all_axes[0]), 4 if len(shown) == 1 else 6)
    return style.finish(fig, caption(results, quantity, hidden, whole), lines)


def caption(results, quantity, hidden, whole):
    seeds = results.rows["seed"].nunique()
    bands = "lines: mean over seeds until the first of them ends, bands: their range" if seeds > 1 else ""
    target = f"dotted: target loss {results.target_loss:g}" if quantity == "loss" and results.target_loss else ""
    zero = f"0 throughout: {', '.join(hidden)}" if hidden and quantity == "consensus_distance" else ""
    cut = "" if whole else f"lines longer than {LONGEST} times the median are cut"
    return style.sources(results, bands, target, zero, cut, cells_shown(results))


def figures(results):
    """(file name without ending, figure) of each figure that the curves allow."""
    known = [quantity for quantity in QUANTITIES if curves.refusal(results, quantity) is None]
    return [(QUANTITIES[quantity][0], draw(results, quantity)) for quantity in known]
