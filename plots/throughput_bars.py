"""Throughput of each policy, in groups of bars: one group per slowdown factor (none, 2x, 5x) or other short axis;
a second quantity makes panels."""

import bars
import paired


def applies(results):
    return bars.refusal(results)


def throughput(cell, label):
    values = paired.throughputs(cell, label)
    return None if values.empty else paired.estimate(values)


def figures(results):
    """(file name without ending, figure) of each figure."""
    drawn = bars.draw(results, throughput, "throughput\n(worker-steps per second)", shared=False)
    return [(bars.stem(results, "throughput"), drawn)]
