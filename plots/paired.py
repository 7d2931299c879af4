"""Speedups over All-Reduce from paired seeds.

All policies of one cell and seed meet the same slowdowns, so the speedup is taken seed by seed, and the interval is Student's t
over those ratios: it shows how much the mean ratio depends on the seeds, not how far a simulation is from a machine.
"""

from dataclasses import dataclass

import numpy
from scipy import stats

CONFIDENCE = 0.95


@dataclass
class Estimate:
    """Mean with its 95 % interval; `half` is None with fewer than two seeds."""

    mean: float
    half: object
    seeds: int

    @property
    def low(self):
        return self.mean - (self.half or 0.0)

    @property
    def high(self):
        return self.mean + (self.half or 0.0)


def estimate(values):
    values = numpy.asarray(list(values), dtype=float)
    count = len(values)
    mean = float(values.mean())
    if count < 2:
        return Estimate(mean, None, count)
    half = stats.t.ppf((1 + CONFIDENCE) / 2, count - 1) * values.std(ddof=1) / numpy.sqrt(count)
    return Estimate(mean, float(half), count)


def baseline_label(rows):
    """The label of All-Reduce with default options if there, else the first one of that kind; None without any."""
    labels = list(dict.fromkeys(rows[rows["policy"] == "all-reduce"]["label"]))
    if not labels:
        return None
    return "all-reduce" if "all-reduce" in labels else labels[0]


def by_seed(rows, label, column):
    """A column's known values by seed, of one label within one cell."""
    return rows[rows["label"] == label].set_index("seed")[column].dropna()


def throughputs(rows, label):
    """Throughput by seed of one label within one cell."""
    return by_seed(rows, label, "throughput_steps_per_second")


def ratio(rows, label, against):
    """Estimate of throughput(label) / throughput(against) over the seeds that both have, or None without such a seed."""
    over, under = throughputs(rows, label), throughputs(rows, against)
    seeds = [seed for seed in over.index if seed in under.index and under[seed] > 0]
    return estimate(over[seed] / under[seed] for seed in seeds) if seeds else None
