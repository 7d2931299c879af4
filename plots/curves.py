"""The learning curves of results.jsonl, brought to common instants: mean over seeds, and their range.

A row's `curve` is an object of lists of equal length: seconds, samples, loss, consensus_distance and, where they were measured,
accuracy, worst_loss, replica_loss, worst_accuracy, replica_accuracy.
"""

from dataclasses import dataclass

import numpy

from results import BadResults

INSTANTS = 200


@dataclass
class Band:
    """Of one quantity over time: from the start until the first of the seeds ends. `seeds` says how many."""

    seconds: numpy.ndarray
    mean: numpy.ndarray
    low: numpy.ndarray
    high: numpy.ndarray
    seeds: int


def refusal(results, quantity):
    """Why no figure of that quantity over time can be made, or None."""
    if results.without("curve"):
        return results.without("curve")
    known = [curve for curve in results.rows["curve"] if isinstance(curve, dict) and points(curve, quantity)]
    return None if known else f"no curve has its {quantity}"


def points(curve, quantity):
    """[(seconds, value)] of the points that know the quantity."""
    seconds, values = curve.get("seconds"), curve.get(quantity, [])
    if not isinstance(seconds, list) or not isinstance(values, list) or (values and len(values) != len(seconds)):
        raise BadResults(f"damaged: a curve whose lists of seconds and {quantity} differ in length")
    return [(time, value) for time, value in zip(seconds, values) if value is not None]


def band(rows, label, quantity):
    """The Band of a label within one cell, or None where no seed knows the quantity."""
    curves = [curve for curve in rows[rows["label"] == label]["curve"] if isinstance(curve, dict)]
    known = [found for found in (points(curve, quantity) for curve in curves) if found]
    if not known:
        return None
    ends = min(found[-1][0] for found in known)
    instants = numpy.union1d(numpy.linspace(0, ends, INSTANTS), [time for time, _ in known[0] if time <= ends])
    values = numpy.array([numpy.interp(instants, *zip(*found)) for found in known], dtype=float)
    return Band(instants, values.mean(axis=0), values.min(axis=0), values.max(axis=0), len(known))
