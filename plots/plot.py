"""Figures of result directories: python3 plots/plot.py DIR... [--out OUT] [--format png,svg,pdf]

Makes the figures that the data allow and says, one line each, which it made and which it could not. Without --out the figures
of a directory go to DIR/figures. Exit codes: 0 done; 2 the input is wrong; 3 a package is missing or nothing can be written.
"""

import argparse
import os
import sys
from pathlib import Path

SYSTEM_PYTHON = "/usr/bin/python3"
PACKAGES = "python3-matplotlib python3-pandas python3-scipy"


def load_figures():
    """The figures, in the order of making. Another Python than the system's may lack the packages that the system's has."""
    try:
        import final_accuracy
        import over_time
        import replicas
        import scaling
        import sensitivity
        import speedup_lines
        import speedup_split
        import throughput_bars
        import time_split
        import time_to_loss
        import timeline
        import winner_map
    except ImportError as error:
        if sys.executable != SYSTEM_PYTHON and os.path.exists(SYSTEM_PYTHON) and "COHORT_PYTHON_TRIED" not in os.environ:
            os.environ["COHORT_PYTHON_TRIED"] = "1"
            os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, *sys.argv])
        print(f"plot: {error}; install {PACKAGES}", file=sys.stderr)
        sys.exit(3)
    return {
        "speedup": speedup_lines,
        "throughput": throughput_bars,
        "time split": time_split,
        "winner map": winner_map,
        "scaling": scaling,
        "timeline": timeline,
        "time to loss": time_to_loss,
        "speedup split": speedup_split,
        "over time": over_time,
        "replicas": replicas,
        "final accuracy": final_accuracy,
        "sensitivity": sensitivity,
    }


def formats(text):
    chosen = text.split(",")
    unknown = [one for one in chosen if one not in ("png", "svg", "pdf")]
    if unknown:
        raise argparse.ArgumentTypeError(f"'{unknown[0]}' is none of png, svg, pdf")
    return list(dict.fromkeys(chosen))


class OneLineParser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f"plot: {message} (see cohort plot --help)\n")


def parse_arguments(arguments):
    parser = OneLineParser(prog="cohort plot", description="Figures from result directories.")
    parser.add_argument("directories", nargs="+", metavar="DIR", help="result directory of a sweep or a simulation")
    parser.add_argument("--out", metavar="OUT", help="where the figures go (default: DIR/figures)")
    parser.add_argument("--format", type=formats, default=["png", "svg"], metavar="LIST", help="of png, svg, pdf (png,svg)")
    return parser.parse_args(arguments)


def say(line):
    """Prints a line. A reader that has gone (`cohort plot DIR | head -1`) stops the lines, not the figures."""
    try:
        print(line, flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise OSError(error.errno, error.strerror, "standard output") from error


def plot_directory(figures, results, out, prefix, chosen_formats):
    """Makes what `results` allow; returns how many figures that is."""
    import style

    made = 0
    for title, module in figures.items():
        reason = module.applies(results)
        if reason is not None:
            say(f"not made: {title}: {reason}")
            continue
        for stem, figure in module.figures(results):
            paths = style.save(figure, out / f"{prefix}{stem}", chosen_formats)
            say(f"made: {title}: {' '.join(map(str, paths))}")
            made += 1
    return made


def plot_all(options, figures):
    from results import read_results

    read = [read_results(directory) for directory in options.directories]
    for results in read:
        for note in results.notes:
            print(f"plot: {note}", file=sys.stderr)
    made = 0
    for results in read:
        out = Path(options.out) if options.out else results.path / "figures"
        out.mkdir(parents=True, exist_ok=True)
        prefix = f"{results.path.resolve().name}_" if options.out and len(read) > 1 else ""
        made += plot_directory(figures, results, out, prefix, options.format)
    return made


def main(arguments):
    options = parse_arguments(arguments)
    figures = load_figures()
    from results import BadResults

    try:
        made = plot_all(options, figures)
    except BadResults as error:
        print(f"plot: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"plot: {error.filename or ''}: {error.strerror}", file=sys.stderr)
        return 3
    return 0 if made else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
