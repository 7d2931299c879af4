"""Time until the mean model reaches the target loss, and the speedup in it over All-Reduce, in groups of bars.

`not reached` is written where the bar would stand.
"""

import bars
import paired
import to_loss


def applies(results):
    return to_loss.refusal(results) or bars.refusal(results)


def figures(results):
    """(file name without ending, figure) of each figure; no speedups without All-Reduce, or when it never reached the loss."""
    target = to_loss.target_words(results)
    made = [(bars.stem(results, "time_to_loss"),
             bars.draw(results, to_loss.seconds, f"{results.clock} time to the target loss (s)", target))]
    baseline = paired.baseline_label(results.rows)
    if baseline is None or results.rows[results.rows["label"] == baseline][to_loss.TIME].isna().all():
        return made
    speedups = bars.draw(results, lambda cell, label: to_loss.speedup(cell, label, baseline),
                         f"speedup over {baseline}\n(ratio of times to the target loss)", target, line=1.0)
    return [*made, (bars.stem(results, "time_to_loss_speedup"), speedups)]
