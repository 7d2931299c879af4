"""The numbers behind the figures as a table: python3 plots/speedups.py DIR [--against LABEL]

One line per cell and label: steps per second and their ratio to another label's, mean over paired seeds [95 % interval]. With a
target loss also the seconds to it, the speedup in them and its two parts: samples per second, and samples needed (fewer: above 1).
"""

import argparse
import sys

import paired
import to_loss
from quantities import all_cells, name_of
from results import BadResults, read_results

RATE = ["steps/s", "speedup"]
LOSS = ["s to the loss", "speedup", "= samples/s", "x fewer samples"]
GAP = 2


def written(found, digits=2):
    """An Estimate with its interval, words as they are, a dash for nothing."""
    if found is None:
        return "-"
    if isinstance(found, str):
        return found
    interval = "" if found.half is None else f" [{found.low:.{digits}f}, {found.high:.{digits}f}]"
    return f"{found.mean:.{digits}f}{interval}"


def line_of(rows, label, against, with_loss):
    """The fields of one line."""
    steps = paired.throughputs(rows, label)
    fields = [label, f"{steps.mean():.1f}" if len(steps) else "-", written(paired.ratio(rows, label, against), 3)]
    if not with_loss:
        return fields
    split = to_loss.split(rows, label, against)
    parts = [split.rate, split.samples] if isinstance(split, to_loss.Split) else [None, None]
    speedup = to_loss.speedup(rows, label, against)
    return [*fields, written(to_loss.seconds(rows, label)), *map(written, [speedup, *parts])]


def table(results, against):
    """The lines of the table."""
    with_loss = to_loss.refusal(results) is None
    heads = ["", *RATE, *(LOSS if with_loss else [])]
    cells = [(rows, [line_of(rows, label, against, with_loss) for label in results.labels]) for _, rows in all_cells(results)]
    every = [heads, *(line for _, lines in cells for line in lines)]
    widths = [max(len(line[column]) for line in every) + GAP for column in range(len(heads))]

    def laid_out(fields):
        return "".join(field.ljust(width) for field, width in zip(fields, widths)).rstrip()

    text = [f"against {against}", laid_out(heads)]
    for rows, lines in cells:
        text += [f"{pointer}: {name_of(rows[pointer].iloc[0])}" for pointer in results.swept]
        text += map(laid_out, lines)
    return text


def main(arguments):
    parser = argparse.ArgumentParser(prog="speedups", description="Speedups as a table.")
    parser.add_argument("directory", metavar="DIR", help="result directory")
    parser.add_argument("--against", metavar="LABEL", help="what to compare with (default: All-Reduce)")
    options = parser.parse_args(arguments)
    try:
        results = read_results(options.directory)
        against = options.against or paired.baseline_label(results.rows)
        if against not in results.labels:
            raise BadResults(f"--against {against or ''}: no such label; there are: {', '.join(results.labels)}")
    except BadResults as error:
        print(f"speedups: {error}", file=sys.stderr)
        return 2
    print("\n".join(table(results, against)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
