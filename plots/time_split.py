"""What the workers' time goes into, policy by policy: stacked shares of compute, wait, sync and coordinate."""

import style
from quantities import cells, cells_shown


def applies(results):
    missing = [state for state in style.STATES if f"{state}_fraction" not in results.rows.columns]
    if missing:
        return f"no column {missing[0]}_fraction"
    if results.rows[[f"{state}_fraction" for state in style.STATES]].isna().all(axis=None):
        return "the shares of time are not known"
    return None


def draw(results):
    shown = cells(results)
    labels = results.labels
    height = 1.6 + (0.3 * len(labels) + 0.25)
    fig, all_axes = style.figure(6.4 if len(shown) == 1 else 2.2 + 2.6 * len(shown), max(2.8, height), len(shown), sharey=True)
    for axes, (title, rows) in zip(all_axes[0], shown):
        left = [0.0] * len(labels)
        for state, (colour, hatch) in style.STATES.items():
            shares = [100 * rows[rows["label"] == label][f"{state}_fraction"].mean() for label in labels]
            shares = [0.0 if share != share else share for share in shares]
            axes.barh(range(len(labels)), shares, 0.72, left=left, color=colour, hatch=hatch, edgecolor="white",
                      linewidth=0.6, label=state)
            left = [a + b for a, b in zip(left, shares)]
        axes.set_yticks(range(len(labels)))
        axes.set_yticklabels(labels)
        axes.set_xlim(0, 100)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel("share of worker time (%)")
        if title:
            style.title_panel(axes, title)
    all_axes[0][0].invert_yaxis()
    lines = style.legend_below(fig, all_axes[0][0], 4)
    seeds = "mean over seeds" if results.rows["seed"].nunique() > 1 else ""
    return style.finish(fig, style.sources(results, seeds, cells_shown(results)), lines)


def figures(results):
    """(file name without ending, figure) of each figure."""
    return [("time_split", draw(results))]
