"""How much the learning rate matters: the loss of every candidate of measure.tune against its rate. A panel per label, a line per
cell; the chosen rate is ringed."""

from dataclasses import dataclass

from matplotlib.ticker import NullLocator

import over_time
import style
from quantities import cells, cells_shown
from results import BadResults

ACROSS = 3
LOOKS = [("#0072B2", "o", "-"), ("#E69F00", "s", "--"), ("#D55E00", "^", "-.")]
HIGHEST = 10  # times the lowest loss: what is above is drawn at the edge, like what diverged
NEEDED = ["learning_rate", "momentum", "worker_steps", "loss"]


@dataclass
class Tried:
    """The best candidate at one learning rate. `loss` is None where it diverged; `longest`: no other ran for more steps."""

    rate: float
    loss: object
    longest: bool
    chosen: bool


def applies(results):
    refused = results.without("tuning")
    if refused:
        return refused
    rows = results.rows[results.rows["tuning"].notna()]
    known = any(one["loss"] is not None for _, row in rows.iterrows() for one in candidates(row))
    return None if known else "no candidate's loss is known"


def candidates(row):
    tuning = row["tuning"]
    if not isinstance(tuning, list) or not all(isinstance(one, dict) and all(key in one for key in NEEDED) for one in tuning):
        raise BadResults(f"damaged: tuning of {row['label']}, seed {int(row['seed'])}, is no list of candidates")
    return tuning


def is_chosen(one, row):
    return one["learning_rate"] == row["learning_rate"] and one["momentum"] == row["momentum"]


def tried(rows, label):
    """[Tried] by learning rate of a label within a cell; seeds share it."""
    known = rows[(rows["label"] == label) & rows["tuning"].notna()]
    if known.empty:
        return []
    row = known.iloc[0]
    most = max(one["worker_steps"] for one in candidates(row))
    by_rate = {}
    for one in candidates(row):  # the one that ran longest, then of the lowest loss
        rank = (not is_chosen(one, row), -one["worker_steps"], one["loss"] is None, one["loss"])
        known = by_rate.get(one["learning_rate"])
        if known is None or rank < known[0]:
            by_rate[one["learning_rate"]] = (rank, one)
    best = [by_rate[rate][1] for rate in sorted(by_rate)]
    return [Tried(one["learning_rate"], one["loss"], one["worker_steps"] == most, is_chosen(one, row)) for one in best]


def draw_line(axes, found, look, ceiling, name):
    """A line over what stayed below the ceiling; crosses at it for the others."""
    colour, marker, line = look
    fine = [one for one in found if one.loss is not None and one.loss <= ceiling]
    axes.plot([one.rate for one in fine], [one.loss for one in fine], color=colour, linestyle=line, linewidth=1.1, label=name,
              marker=marker, markersize=4.5, markerfacecolor="white", zorder=3)
    longest = [one for one in fine if one.longest]
    axes.plot([one.rate for one in longest], [one.loss for one in longest], color=colour, linestyle="", marker=marker, markersize=4.5,
              zorder=4)
    worse = [one.rate for one in found if one not in fine]
    (crosses,) = axes.plot(worse, [ceiling] * len(worse), color=colour, linestyle="", marker="x", clip_on=False, zorder=5)
    crosses.set_in_layout(False)
    for one in fine:
        if one.chosen:
            axes.plot(one.rate, one.loss, color="black", marker="o", markersize=10, markerfacecolor="none", linestyle="", zorder=5)


def mark_axes(axes, rates, ceiling, lowest):
    axes.set_xscale("log")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(rates)
    axes.set_xticklabels([f"{rate:g}" for rate in rates], rotation=45 if len(rates) > 6 else 0)
    over_time.plain_log(axes)
    axes.set_ylim(0.9 * lowest, ceiling)


def figures(results):
    """(file name without ending, figure) of each figure."""
    shown, labels = cells(results), results.labels
    found = {(cell, label): tried(rows, label) for cell, (_, rows) in enumerate(shown) for label in labels}
    everything = [one for line in found.values() for one in line]
    losses = [one.loss for one in everything if one.loss is not None]
    lowest = min(losses)
    ceiling = min(HIGHEST * lowest, 1.1 * max(losses))
    rates = sorted({one.rate for one in everything})
    across = min(ACROSS, len(labels))
    fig, panels = style.grid(len(labels), across, 2.9 if across > 1 else 6.4, 2.4 if across > 1 else 4.2, sharey=True)
    for number, (axes, label) in enumerate(zip(panels, labels)):
        for cell, (title, _) in enumerate(shown):
            draw_line(axes, found[cell, label], LOOKS[cell], ceiling, (title or label).replace("\n", ", "))
        mark_axes(axes, rates, ceiling, lowest)
        axes.set_title(label, fontsize=8)
        axes.set_xlabel("learning rate" if number + across >= len(labels) else "")
        if number % across == 0:
            axes.set_ylabel("training loss\nat the end of the trial")
    lines = style.legend_below(fig, panels[0], len(shown)) if results.swept else 0
    return [("sensitivity", style.finish(fig, caption(results), lines))]


def caption(results):
    notes = ["ringed: the rate chosen", "filled: the longest trials, hollow: dropped after fewer steps",
             "crosses at the upper edge: diverged or above it"]
    if len({one["momentum"] for row in results.rows["tuning"].dropna() for one in row}) > 1:
        notes.append("at each rate the best momentum")
    return style.sources(results, *notes, cells_shown(results), seeds=False)
