"""Result directories made up for the tests of the figures: the numbers are invented and stand for no system."""

import itertools
import json
import random

POLICIES = ["all-reduce", "parameter-server", "d-psgd", "ad-psgd", "static", "random", "smart"]
RESISTANCE = {"all-reduce": 0, "static": 0.2, "smart": 0.6, "random": 0.2, "d-psgd": 0.3, "ad-psgd": 0.8, "parameter-server": 0}


def row(policy, label, seed, workers, slowdown, communication):
    """One invented row: more slowdown costs less where the policy resists it."""
    noise = random.Random(f"{label} {seed} {workers} {slowdown}").gauss(0, 0.02)
    step = 0.1 * (1 + (slowdown - 1) * (1 - RESISTANCE[policy])) * (1 + noise)
    sync = communication * (1.3 if policy == "random" else 0.8 if policy == "smart" else 1.0)
    wait = 0.1 * (slowdown - 1) * (1 - RESISTANCE[policy])
    total = step + sync
    return {
        "policy": policy,
        "label": label,
        "seed": seed,
        "workers": workers,
        "worker_steps": 500 * workers,
        "simulated_seconds": 500 * total,
        "throughput_steps_per_second": workers / total,
        "compute_fraction": (step - wait) / total,
        "wait_fraction": wait / total,
        "sync_fraction": 0.95 * sync / total,
        "coordinate_fraction": 0.05 * sync / total,
        "synchronisations": 500,
        "inter_node_bytes": 1e9,
        "intra_node_bytes": 1e9,
        "max_step_skew": 4,
    }


def write(folder, sweep, seeds=(1, 2, 3, 4, 5), policies=POLICIES, labels=None, workers=16):
    """A result directory of `sweep` {pointer: values}; probability, factor, payload (MB) and nodes move the numbers."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for values in itertools.product(*sweep.values()):
        cell = dict(zip(sweep, values))
        at = {pointer.rsplit("/", 1)[1]: value for pointer, value in cell.items()}
        n = 4 * at["nodes"] if "nodes" in at else workers
        probability = 1 / n if at.get("probability") == "1/n" else at.get("probability", 1 / n)
        slowdown = 1 + (at.get("factor", 5) - 1) * (1 - (1 - probability) ** n)
        communication = 0.02 * float(str(at.get("payload", "60MB")).removesuffix("MB")) / 60
        for (policy, label), seed in itertools.product(zip(policies, labels or policies), seeds):
            rows.append({**row(policy, label, seed, n, slowdown, communication), **cell})
    (folder / "results.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    spec = {
        "name": "synthetic",
        "cluster": {
            "nodes": 4,
            "gpus_per_node": 4,
            "nic": {"bandwidth": "56Gbit/s"},
            "fabric": {"bandwidth": "10GB/s"},
        },
        "workload": {"compute": "100ms", "payload": "60MB"},
    }
    (folder / "manifest.json").write_text(json.dumps({"spec": spec, "cohort_version": "0.1.0"}))
    return folder


def write_timeline(folder, workers=16, steps=6):
    """A timeline of pairs that average after each step, with one averaging in the background."""
    events = []
    for worker in range(workers):
        node = worker // 4
        events.append({"ph": "M", "name": "thread_name", "pid": node, "tid": worker, "args": {"name": f"worker {worker}"}})
    for step, worker in itertools.product(range(steps), range(workers)):
        node, start = worker // 4, 130_000.0 * step
        partner = worker ^ (1 if step % 2 else 4)
        length = 80_000.0 + 2_000 * worker
        meet = start + 80_000 + 2_000 * max(worker, partner)
        place = {"ph": "X", "pid": node, "tid": worker}
        sync = {"sync": step * workers + min(worker, partner), "members": sorted([worker, partner])}
        events.append({**place, "name": "compute", "ts": start, "dur": length})
        events.append({**place, "name": "wait", "ts": start + length, "dur": max(0.0, meet - start - length)})
        events.append({**place, "name": "coordinate", "ts": meet, "dur": 1_500.0})
        events.append({**place, "name": "sync", "ts": meet + 1_500, "dur": 12_000.0, "args": sync})
    background = {"ph": "X", "pid": 0, "tid": workers, "name": "sync", "ts": 20_000.0, "dur": 50_000.0}
    events.append({"ph": "M", "name": "thread_name", "pid": 0, "tid": workers, "args": {"name": "worker 0 background"}})
    events.append({**background, "args": {"sync": 10_000, "members": [0, 1]}})
    (folder / "timeline.json").write_text(json.dumps({"displayTimeUnit": "ms", "traceEvents": events}))
    return folder
