"""Result directories with training made up for the tests of the figures: the numbers are invented and stand for no system."""

import json
import math

import synthetic

FLOOR, TARGET = 0.2, 0.35
RATES = [0.05, 0.1, 0.2]
MIXING = {"all-reduce": 1.0, "parameter-server": 1.0, "d-psgd": 1.3, "ad-psgd": 1.4, "static": 1.1, "random": 1.3, "smart": 1.15}
BATCH = 32


def curve(row, samples_needed, replicas):
    """Losses that fall from 2.3 towards FLOOR, at TARGET after `samples_needed`."""
    decay = math.log((2.3 - FLOOR) / (TARGET - FLOOR)) / samples_needed
    end = 1.3 * samples_needed
    samples = [end * i / 20 for i in range(21)]
    losses = [FLOOR + (2.3 - FLOOR) * math.exp(-decay * used) for used in samples]
    apart = 0.0 if row["policy"] in ("all-reduce", "parameter-server") else 0.2
    lists = {
        "seconds": [used / BATCH / row["throughput_steps_per_second"] for used in samples],
        "samples": samples,
        "loss": losses,
        "consensus_distance": [apart * loss if used else 0.0 for used, loss in zip(samples, losses)],
        "accuracy": [0.9 - 0.35 * loss for loss in losses],
    }
    if replicas:
        lists["worst_loss"] = [(1 + apart) * loss for loss in losses]
        lists["replica_loss"] = [(1 + apart / 2) * loss for loss in losses]
    return lists


def candidates(chosen):
    steps = {rate: 4800 if rate == chosen else 1200 for rate in RATES}
    return [{"learning_rate": rate, "momentum": 0.0, "worker_steps": steps[rate], "loss": None if rate == 0.2 else 0.3 + rate,
             "samples": BATCH * steps[rate], "time_to_loss_seconds": None} for rate in RATES]


def learn(row, replicas):
    """The columns of training behind those of an invented row."""
    needed = 100_000 * MIXING[row["policy"]] * (1 + 0.01 * row["seed"])
    lists = curve(row, needed, replicas)
    return {
        **row,
        "learning_rate": 0.1,
        "momentum": 0.0,
        "final_loss": lists["loss"][-1],
        "final_accuracy": lists["accuracy"][-1],
        "time_to_loss_seconds": needed / BATCH / row["throughput_steps_per_second"],
        "samples_to_loss": needed,
        "consensus_distance": lists["consensus_distance"][-1],
        "curve": lists,
        "tuning": candidates(0.1),
        "error": None,
    }


def change(folder, edit):
    """Rewrites each row with `edit(row)`, which changes it in place."""
    path = folder / "results.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        edit(row)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def write(folder, sweep, seeds=(1, 2, 3), policies=("all-reduce", "ad-psgd", "smart"), replicas=True):
    """A result directory of `sweep` as synthetic.write() makes it, with training."""
    synthetic.write(folder, sweep, seeds, policies)
    change(folder, lambda row: row.update(learn(row, replicas)))
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["spec"]["workload"]["training"] = {"model": "mlp", "hidden": [256], "data": "fashion-mnist", "batch": BATCH}
    manifest["spec"]["measure"] = {"target_loss": TARGET, "tune": {"learning_rate": RATES}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder
