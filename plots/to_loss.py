"""Time and samples to the target loss, seed by seed, and what they are against All-Reduce.

A run that ends above the target has no time to it. Then neither has its label: the mean over the seeds that did reach it
would flatter it.
"""

from dataclasses import dataclass

import numpy

import paired

TIME, SAMPLES = "time_to_loss_seconds", "samples_to_loss"


@dataclass
class Split:
    """Speedup in time to the loss = ratio of samples per second until then x ratio of samples needed (fewer is above 1).
    Geometric means over the seeds, so that the product is exact."""

    time: paired.Estimate
    rate: paired.Estimate
    samples: paired.Estimate


@dataclass
class Geometric(paired.Estimate):
    """Mean and interval of logarithms, back in ratios."""

    @property
    def low(self):
        return self.mean / numpy.exp(self.half or 0.0)

    @property
    def high(self):
        return self.mean * numpy.exp(self.half or 0.0)


def geometric(ratios):
    found = paired.estimate(numpy.log(ratios))
    return Geometric(float(numpy.exp(found.mean)), found.half, found.seeds)


def refusal(results):
    """Why nothing can be said of the time to a loss, or None."""
    if TIME not in results.rows.columns:
        return results.without(TIME)
    if results.rows[TIME].isna().all() and results.target_loss is None:
        return "no target loss (measure.target_loss)"
    return None


def shortfall(cell, label):
    """None where every seed of the label reached the target, else words."""
    rows = cell[cell["label"] == label]
    reached = int(rows[TIME].notna().sum())
    if reached == len(rows):
        return None
    return "not reached" if reached == 0 else f"reached by {reached} of {len(rows)} seeds"


def pairs(cell, label, baseline, column):
    """Ratios baseline / label of a column that is the better the smaller, over the seeds that both have."""
    ours, theirs = paired.by_seed(cell, label, column), paired.by_seed(cell, baseline, column)
    return [theirs[seed] / ours[seed] for seed in ours.index if seed in theirs.index and ours[seed] > 0]


def seconds(cell, label):
    """Estimate of the time to the loss, words where it was not reached, None without rows."""
    if cell[cell["label"] == label].empty:
        return None
    return shortfall(cell, label) or paired.estimate(paired.by_seed(cell, label, TIME))


def compared(cell, label, baseline, make):
    """`make()` of labels that can be compared, else words; None without rows."""
    if cell[cell["label"] == label].empty:
        return None
    short = shortfall(cell, label)
    if short:
        return short
    if shortfall(cell, baseline) or not pairs(cell, label, baseline, TIME):
        return f"reached; {baseline} not"
    return make()


def speedup(cell, label, baseline):
    """Estimate of time(baseline) / time(label), or words, or None."""
    return compared(cell, label, baseline, lambda: paired.estimate(pairs(cell, label, baseline, TIME)))


def split(cell, label, baseline):
    """Split, or words, or None."""

    def make():
        time, samples = (numpy.array(pairs(cell, label, baseline, column)) for column in (TIME, SAMPLES))
        return Split(geometric(time), geometric(time / samples), geometric(samples))

    return compared(cell, label, baseline, make)


def target_words(results):
    return f"target: training loss {results.target_loss:g} of the mean model" if results.target_loss else "target loss as swept"
