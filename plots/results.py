"""Result directories of `cohort sweep` and `cohort simulate --out` as tables. Reads; computes nothing about the system.

Raises BadResults, with the file and line, for what is missing or damaged.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path

import pandas

NEEDED = ["policy", "label", "seed", "workers", "throughput_steps_per_second"]
NUMBERS = [
    "seed",
    "workers",
    "throughput_steps_per_second",
    "compute_fraction",
    "wait_fraction",
    "sync_fraction",
    "coordinate_fraction",
    "learning_rate",
    "momentum",
    "final_accuracy",
    "time_to_loss_seconds",
    "samples_to_loss",
]
LISTS = ["curve", "tuning"]  # in results.jsonl alone


class BadResults(Exception):
    """What the user gave cannot be plotted: exit code 2."""


@dataclass
class Results:
    """One result directory. `rows`: a row per cell, policy and seed (`row`: its number in the file, from 1); `swept`: the columns named by a JSON pointer."""

    path: Path
    rows: pandas.DataFrame
    spec: dict
    version: str
    notes: list = field(default_factory=list)

    @property
    def name(self):
        return self.spec.get("name") or self.path.name

    @property
    def swept(self):
        return [c for c in self.rows.columns if c.startswith("/") and self.rows[c].map(str).nunique() > 1]

    @property
    def labels(self):
        return list(dict.fromkeys(self.rows["label"]))

    @property
    def clock(self):
        """The word for the time that passed: of a real run it was measured."""
        return "measured" if "measured_seconds" in self.rows.columns else "simulated"

    @property
    def target_loss(self):
        """Of the spec, None without one (or when it is swept)."""
        for key, name in (("measure", "target_loss"), ("stop", "loss")):
            part = self.spec.get(key)
            if isinstance(part, dict) and part.get(name) is not None and f"/{key}/{name}" not in self.swept:
                return part[name]
        return None

    def without(self, column):
        """Why a figure that needs a column of training cannot be made, or None where some row knows it."""
        if column not in self.rows.columns:
            place = "results.jsonl of a spec" if column in LISTS else "a spec"
            return f"no column {column} ({place} with workload.training has it)"
        return f"no row knows its {column}" if self.rows[column].isna().all() else None

    def timelines(self):
        return sorted(self.path.glob("timeline*.json"), key=lambda path: (len(path.name), path.name))


def read_lines(path):
    rows = []
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise BadResults(f"{path}:{number}: damaged: not a JSON object ({error})") from error
        if not isinstance(row, dict):
            raise BadResults(f"{path}:{number}: damaged: a JSON object per line is expected")
        rows.append(row)
    return pandas.DataFrame(rows, dtype=object)


def read_table(path):
    try:
        return pandas.read_csv(path, float_precision="round_trip").astype(object)
    except (ValueError, pandas.errors.ParserError) as error:
        raise BadResults(f"{path}: damaged: {error}") from error


def read_rows(folder):
    lines, table = folder / "results.jsonl", folder / "results.csv"
    path = lines if lines.exists() else table
    if not path.exists():
        unfinished = " (an interrupted sweep: run the same `cohort sweep` again to finish it)"
        hint = unfinished if any(folder.glob("journal*")) else ""
        raise BadResults(f"{folder}: neither results.jsonl nor results.csv in it{hint}")
    try:
        rows = read_lines(path) if path == lines else read_table(path)
    except UnicodeDecodeError as error:
        raise BadResults(f"{path}: damaged: not a text file") from error
    if rows.empty:
        raise BadResults(f"{path}: holds no results")
    missing = [name for name in NEEDED if name not in rows.columns]
    if missing:
        raise BadResults(f"{path}: columns are missing: {', '.join(missing)}")
    return path, rows


def numeric(path, rows):
    """The known columns as numbers; null where unknown."""
    for name in [n for n in NUMBERS if n in rows.columns]:
        numbers = pandas.to_numeric(rows[name], errors="coerce")
        wrong = rows[name].notna() & numbers.isna()
        if wrong.any():
            line = int(wrong.idxmax()) + (1 if path.suffix == ".jsonl" else 2)
            raise BadResults(f"{path}:{line}: damaged: {name} is {rows[name][wrong.idxmax()]!r}, not a number")
        rows[name] = numbers
    return rows


def read_manifest(folder):
    path = folder / "manifest.json"
    if not path.exists():
        return {}
    try:
        manifest = json.loads(path.read_text())
    except (ValueError, UnicodeDecodeError) as error:
        raise BadResults(f"{path}: damaged: {error}") from error
    if not isinstance(manifest, dict):
        raise BadResults(f"{path}: damaged: a JSON object is expected")
    return manifest


def read_results(folder):
    """The results of one directory; rows without a throughput (failed cells) are left out and noted."""
    folder = Path(folder)
    if not folder.exists():
        raise BadResults(f"{folder}: no such directory")
    if not folder.is_dir():
        raise BadResults(f"{folder}: not a directory; `cohort plot` takes result directories")
    path, rows = read_rows(folder)
    rows = numeric(path, rows)
    rows["row"] = range(1, len(rows) + 1)
    known = rows["throughput_steps_per_second"].notna()
    manifest = read_manifest(folder)
    spec = manifest.get("spec")
    results = Results(
        folder,
        rows[known].reset_index(drop=True),
        spec if isinstance(spec, dict) else {},
        str(manifest.get("cohort_version", "")),
    )
    if not known.all():
        results.notes.append(f"{path}: {(~known).sum()} of {len(rows)} rows have no throughput and are left out")
    if results.rows.empty:
        raise BadResults(f"{path}: no row has a throughput")
    return results
