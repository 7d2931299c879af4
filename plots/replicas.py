"""How far the replicas are from their mean: loss of the mean model, of the worst and of one replica. A panel per label, of the
last cell of the sweep."""

import curves
import over_time
import style
from quantities import all_cells, name_of, title_of

ACROSS = 3
LINES = {  # quantity of the curve: colour, line, words
    "loss": ("#000000", "-", "mean model"),
    "worst_loss": ("#D55E00", "--", "worst replica"),
    "replica_loss": ("#0072B2", ":", "replica of worker 0"),
}


def applies(results):
    return curves.refusal(results, "loss") or curves.refusal(results, "worst_loss")


def draw_panel(axes, rows, label):
    for quantity, (colour, line, words) in LINES.items():
        band = curves.band(rows, label, quantity)
        if band is None:
            continue
        axes.plot(band.seconds, band.mean, color=colour, linestyle=line, linewidth=1.3, label=words)
        if band.seeds > 1:
            axes.fill_between(band.seconds, band.low, band.high, color=colour, alpha=0.15, lw=0)
    axes.set_title(label, fontsize=8)


def figures(results):
    """(file name without ending, figure) of each figure."""
    _, rows = all_cells(results)[-1]
    labels = results.labels
    across = min(ACROSS, len(labels))
    fig, panels = style.grid(len(labels), across, 2.9 if across > 1 else 6.4, 2.4 if across > 1 else 4.2, sharey=True)
    for number, (axes, label) in enumerate(zip(panels, labels)):
        draw_panel(axes, rows, label)
        axes.set_xlim(left=0)
        axes.set_xlabel(f"{results.clock} time (s)" if number + across >= len(labels) else "")
        if number % across == 0:
            axes.set_ylabel("training loss")
    over_time.plain_log(panels[0])
    lines = style.legend_below(fig, over_time.legend_axes(panels), 3)
    cell = ", ".join(f"{title_of(p, results.spec)}: {name_of(rows[p].iloc[0])}" for p in results.swept)
    bands = "lines: mean over seeds until the first of them ends, bands: their range" if rows["seed"].nunique() > 1 else ""
    return [("replicas_over_time", style.finish(fig, style.sources(results, cell, bands), lines))]
