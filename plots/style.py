"""One look for all figures: colours that colour-blind eyes tell apart (Okabe and Ito), each with its own marker, line and hatch,
sizes for a printed page, and a caption that names the sources."""

import itertools
import textwrap

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as pyplot  # noqa: E402  (the backend is chosen first)

from quantities import name_of  # noqa: E402

PAPER = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "legend.fontsize": 8,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "hatch.linewidth": 0.6,
    "svg.hashsalt": "cohort",
    "svg.fonttype": "path",
}
matplotlib.rcParams.update(PAPER)

# colour, marker, line, hatch
KINDS = {
    "all-reduce": ("#000000", "o", "-", ""),
    "parameter-server": ("#E69F00", "s", "--", "//"),
    "d-psgd": ("#56B4E9", "^", "-.", "\\\\"),
    "ad-psgd": ("#009E73", "v", ":", "xx"),
    "static": ("#0072B2", "D", "--", ".."),
    "random": ("#CC79A7", "P", ":", "++"),
    "smart": ("#D55E00", "*", "-", "oo"),
}
LOOKS = list(KINDS.values()) + [
    ("#999999", "X", "-.", "--"),
    ("#7F5B00", "<", "-", "||"),
    ("#004D7A", ">", "--", "**"),
]

PAPER_BOX = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}  # behind words that lines would strike through
TITLE_WIDTH = 36  # letters on one line above one of three panels
ROOM_BELOW = 0.9  # inches, of a grid: for its legend and caption

# The words for a straggler model's keys, in this order; of a kind's own where the kind stands before the key.
STRAGGLER_WORDS = {
    "scope": lambda scope: "of all at once" if scope == "all" else f"per {scope}",
    "file": lambda file: file.rsplit("/", 1)[-1],
    "probability": "p={}".format,
    "sigma": lambda sigma: f"{100 * sigma:g} %",
    "mean": "of mean {}".format,
    "shape": "of shape {}".format,
    "scale": "and scale {}".format,
    "factor": "x{}".format,
    "workers": lambda workers: "of workers " + ", ".join(map(str, workers)),
    "nodes": lambda nodes: "of nodes " + ", ".join(map(str, nodes)),
    "burst enter": "entered with p={}".format,
    "burst leave": "left with p={}".format,
    "link enter": "entered {}/s".format,
    "link leave": "left {}/s".format,
}

# compute, wait, sync, coordinate: of the timeline and of the split of time
STATES = {
    "compute": ("#56B4E9", ""),
    "wait": ("#E69F00", "//"),
    "sync": ("#0072B2", ".."),
    "coordinate": ("#CC79A7", "xx"),
}


def looks(rows):
    """{label: (colour, marker, line, hatch)}: a kind's own, the same in every figure, for its only label or the label of its
    name; what is left, by order, for the others."""
    kinds = rows.drop_duplicates("label").set_index("label")["policy"]
    alone = ~kinds.duplicated(keep=False)
    own = {label: KINDS[kind] for label, kind in kinds.items() if kind in KINDS and (label == kind or alone[label])}
    rest = itertools.cycle([look for look in LOOKS if look not in own.values()])
    return {label: own.get(label) or next(rest) for label in kinds.index}


def figure(width=6.4, height=4.2, columns=1, **options):
    return pyplot.subplots(1, columns, figsize=(width, height), squeeze=False, **options)


def grid(panels, across, width, height, **options):
    """A figure with that many axes, `across` in a row, each `width` x `height` inches, and room below; the axes in a list."""
    rows = -(-panels // across)
    size = (width * across, height * rows + ROOM_BELOW)
    fig, axes = pyplot.subplots(rows, across, figsize=size, squeeze=False, **options)
    for extra in axes.flat[panels:]:
        extra.set_visible(False)
    return fig, list(axes.flat[:panels])


def title_panel(axes, title):
    """A title in lines that stay above its own panel."""
    axes.set_title("\n".join(textwrap.fill(line, TITLE_WIDTH) for line in title.split("\n")), fontsize=8)


def seeds_of(results):
    seeds = sorted(int(seed) for seed in results.rows["seed"].unique())
    if len(seeds) == 1:
        return f"seed {seeds[0]}"
    whole = seeds == list(range(seeds[0], seeds[-1] + 1))
    return f"seeds {seeds[0]}-{seeds[-1]}" if whole else "seeds " + ", ".join(map(str, seeds))


def cluster_of(results):
    cluster, nodes = results.spec.get("cluster"), None
    if not isinstance(cluster, dict):
        return ""
    nodes, gpus = cluster.get("nodes"), cluster.get("gpus_per_node")
    varied = any(pointer.startswith("/cluster/nodes") or pointer.startswith("/cluster/gpus") for pointer in results.swept)
    size = "" if varied or isinstance(gpus, list) else f"{nodes} x {gpus} workers"
    if results.clock == "measured":  # over the links that are there, not those of the spec
        return size
    links = []
    for key, word in (("nic", "network"), ("fabric", "inside a node")):
        bandwidth = (cluster.get(key) or {}).get("bandwidth")
        used = key != "nic" or nodes != 1 or varied
        if bandwidth and used and f"/cluster/{key}/bandwidth" not in results.swept:
            links.append(f"{bandwidth} {word}")
    return ", ".join(filter(None, [size, *links, collective_of(results, cluster)]))


def collective_of(results, cluster):
    """How group means are timed, where it is not the default ring: a measured curve with its file."""
    collective = cluster.get("collective", "ring")
    if collective == "ring" or any(pointer.startswith("/cluster/collective") for pointer in results.swept):
        return ""
    if not isinstance(collective, dict):
        return f"{collective} collectives"
    curve = collective.get("measured")
    return "group means as measured" + (f" ({curve.rsplit('/', 1)[-1]})" if isinstance(curve, str) else "")


def workload_of(results):
    workload = results.spec.get("workload")
    if not isinstance(workload, dict):
        return ""
    named = isinstance(workload.get("model"), str) and "/workload/model" not in results.swept
    parts = [f"load of {workload['model']}"] if named else []
    for key, word in (("compute", "a step"), ("payload", "payload")):
        if workload.get(key) and f"/workload/{key}" not in results.swept:
            parts.append(f"{workload[key]} {word}")
    return ", ".join([*parts, *training_of(results, workload.get("training"))])


def first_word(value):
    """A choice of a spec that is a name, or an object with a kind or with its name as the key."""
    return value.get("kind") or next(iter(value), "") if isinstance(value, dict) else str(value)


def training_of(results, training):
    """What was trained, and with rates from where."""
    if not isinstance(training, dict):
        return []
    data = first_word(training.get("data", ""))
    parts = [f"{first_word(training.get('model', ''))}{' on ' if data else ''}{data}", f"batch {training.get('batch', 32)}"]
    if training.get("shards", "iid") != "iid" and "/workload/training/shards" not in results.swept:
        parts.append(f"shards {name_of(training['shards'])}")
    tune = (results.spec.get("measure") or {}).get("tune")
    if tune:
        parts.append("learning rate tuned for each policy and cell")
    elif "/workload/training/learning_rate" not in results.swept:
        parts.append(f"learning rate {training.get('learning_rate', 0.1)}")
    return parts


def straggler_of(results, pointer, model):
    """One straggler model in words, without what is swept: the axes say that."""
    kind = model.get("kind")
    words = [f"{model.get('distribution')} jitter" if kind == "jitter" else f"{kind}"]
    for name, word in STRAGGLER_WORDS.items():
        key = name.removeprefix(f"{kind} ")
        if key in model and not any(swept.startswith(f"{pointer}/{key}") for swept in results.swept):
            words.append(word(model[key]))
    return " ".join(words)


def stragglers_of(results):
    """The straggler models of the spec, unless they themselves are swept."""
    models = results.spec.get("stragglers")
    if not isinstance(models, list) or "/stragglers" in results.swept:
        return ""
    places = [(f"/stragglers/{i}", model) for i, model in enumerate(models)]
    return ", ".join(straggler_of(results, pointer, model) for pointer, model in places if pointer not in results.swept)


def transports_of(results):
    """The policies whose transport is limited: every figure that shows them says so."""
    limited = []
    policies = results.spec.get("policies")
    for policy in policies if isinstance(policies, list) else []:
        if isinstance(policy, dict) and policy.get("endpoint_bandwidth"):
            limited.append(f"{policy.get('label', policy.get('kind'))}: transport of {policy['endpoint_bandwidth']} a worker")
    return ", ".join(limited)


def sources(results, *more, seeds=True):
    """The caption: where the numbers come from."""
    version = f"Cohort {results.version}" if results.version else "Cohort"
    parts = [f"{results.clock.capitalize()} by {version}, spec {results.name}", cluster_of(results), workload_of(results),
             stragglers_of(results), transports_of(results), seeds_of(results) if seeds else ""]
    return "; ".join(part for part in [*parts, *more] if part) + "."


def legend_below(fig, axes, columns):
    """A legend of the first axes' labelled artists, under the plots; returns the lines it takes."""
    handles, names = axes.get_legend_handles_labels()
    fig.legend(handles, names, loc="lower center", ncol=columns, frameon=False, bbox_to_anchor=(0.5, 0.0), fontsize=8)
    return -(-len(names) // columns)


def finish(fig, caption, legend_lines=0):
    """Lays out the figure with a caption of its sources at the bottom, the legend above it."""
    width, height = fig.get_size_inches()
    lines = textwrap.wrap(caption, int(width * 18.5))
    text = 0.145 * len(lines) + 0.06
    legend = 0.19 * legend_lines
    fig.text(0.012, 0.05 / height, "\n".join(lines), fontsize=6.5, color="#444444", va="bottom", linespacing=1.25)
    for item in fig.legends:
        item.set_bbox_to_anchor((0.5, text / height))
    fig.tight_layout(rect=(0, (text + legend) / height, 1, 1))
    return fig


def save(fig, stem, formats):
    """Writes STEM.FORMAT for each format; the same data gives the same bytes in SVG and PNG."""
    paths = []
    for extension in formats:
        path = stem.with_name(f"{stem.name}.{extension}")
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(extension)
        fig.savefig(path, dpi=200, metadata=metadata)
        paths.append(path)
    pyplot.close(fig)
    return paths
