"""Accuracy of the mean model on the test set at the end of the run, in groups of bars."""

import bars
import paired


def applies(results):
    return results.without("final_accuracy") or bars.refusal(results)


def percent(cell, label):
    values = paired.by_seed(cell, label, "final_accuracy")
    return None if values.empty else paired.estimate(100 * values)


def end_of(results):
    """When a run ends: accuracies of runs that stop at a loss tell how good that loss is, not how good the policy."""
    stop = results.spec.get("stop")
    return "runs end at the target loss" if isinstance(stop, dict) and "loss" in stop else ""


def figures(results):
    """(file name without ending, figure) of each figure."""
    drawn = bars.draw(results, percent, "test accuracy at the end (%)", "of the mean model", end_of(results), written="{:.1f}",
                      top=100)
    return [(bars.stem(results, "final_accuracy"), drawn)]
