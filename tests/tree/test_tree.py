"""The shape of the tree: include directions, file sizes, and what each folder promises. The linker checks none of it."""

import json
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# What each folder may include from besides itself (DESIGN: dependencies point one way).
BELOW = {
    "policies": [],
    "traces": ["policies"],
    "training": ["traces", "policies"],
    "sim": ["training", "traces", "policies"],
    "runtime": ["training", "traces", "policies"],
    "experiments": ["sim", "runtime", "training", "traces", "policies"],
    "cli": ["experiments", "sim", "runtime", "training", "traces", "policies"],
}
LIBRARIES_OF_POLICIES = {"Random123"}
MOST_LINES = 400
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.MULTILINE)


def tracked(*patterns):
    listed = subprocess.run(["git", "ls-files", "--", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).exists()]


def sources(folder=""):
    return [path for path in tracked("*.cc", "*.h", "*.cu") if str(path.relative_to(ROOT)).startswith(folder)]


def upward(folder, text):
    """Project includes of a file's text that `folder` may not have."""
    quoted = [name for kind, name in INCLUDE.findall(text) if kind == '"']
    return [name for name in quoted if name.split("/")[0] not in [folder, *BELOW[folder]] or "/" not in name]


@pytest.mark.parametrize("folder", BELOW)
def test_includes_point_down_and_start_at_the_root(folder):
    wrong = {path.name: upward(folder, path.read_text()) for path in sources(f"{folder}/")}
    assert {name: includes for name, includes in wrong.items() if includes} == {}


def test_the_check_of_includes_finds_a_wrong_one():
    assert upward("policies", '#include "sim/cluster.h"\n') == ["sim/cluster.h"]
    assert upward("sim", '#include "runtime/worker.h"\n#include "policies/policy.h"\n') == ["runtime/worker.h"]
    assert upward("runtime", '#  include "sim/cluster.h"\n') == ["sim/cluster.h"]
    assert upward("policies", '#include "policy.h"\n') == ["policy.h"]


def test_policies_use_the_standard_library_and_random123_alone():
    found = set()
    for path in sources("policies/"):
        for kind, name in INCLUDE.findall(path.read_text()):
            if kind == "<" and ("/" in name or name.endswith((".h", ".hpp"))):
                found.add(name.split("/")[0])
    assert found <= LIBRARIES_OF_POLICIES


def test_policies_know_no_clock_thread_io_or_standard_randomness():
    forbidden = re.compile(r"#\s*include\s*<(thread|mutex|atomic|future|iostream|fstream|cstdio|random|ctime|filesystem)>|::now\(")
    assert [path.name for path in sources("policies/") if forbidden.search(path.read_text())] == []


def test_no_file_is_above_the_limit_of_lines():
    files = sources() + tracked("*.py", "meson.build", "*/meson.build")
    long = {str(p.relative_to(ROOT)): n for p in files if (n := len(p.read_text().splitlines())) > MOST_LINES}
    assert long == {}


def test_headers_have_pragma_once_and_an_opening_contract():
    for path in [p for p in sources() if p.suffix == ".h"]:
        text = path.read_text()
        assert text.startswith("//"), f"{path}: no opening comment"
        assert text.count("\n#pragma once\n") == 1, f"{path}: #pragma once"


def test_every_source_is_named_in_its_folders_build_file():
    for folder in BELOW:
        named = "".join(build.read_text() for build in (ROOT / folder).rglob("meson.build"))
        missing = [path.name for path in sources(f"{folder}/") if path.suffix == ".cc" and f"'{path.name}'" not in named]
        assert missing == [], f"{folder}/meson.build does not build {missing}"


def test_every_figure_script_is_installed():
    build = (ROOT / "plots" / "meson.build").read_text()
    assert [p.name for p in tracked("plots/*.py") if f"'{p.name}'" not in build] == []


def installed_headers():
    table = re.search(r"^foreach folder, names : \{(.*?)^\}", (ROOT / "meson.build").read_text(), re.MULTILINE | re.DOTALL).group(1)
    folders = re.findall(r"'(\w+)': \[([^\]]*)\]", table)
    return {f"{folder}/{name}.h" for folder, names in folders for name in re.findall(r"'(\w+)'", names)}


def test_installed_headers_include_installed_headers_alone():
    headers = installed_headers()
    assert {"policies/policy.h", "sim/scenario.h"} <= headers
    for header in headers:
        needed = {name for kind, name in INCLUDE.findall((ROOT / header).read_text()) if kind == '"'}
        assert needed <= headers, header


def test_every_bundled_spec_is_installed():
    build = (ROOT / "meson.build").read_text()
    assert [path.name for path in specs() if f"'experiments/{path.name}'" not in build] == []


def test_each_policy_is_one_line_of_the_registry():
    """A file that makes a PolicyEntry is reached from registry.cc by one include and one line of the list."""
    registry = (ROOT / "policies" / "registry.cc").read_text()
    makers = [name for path in sources("policies/") if path.suffix == ".h" and path.name != "registry.h"
              for name in re.findall(r"PolicyEntry (\w+_entry)\(\);", path.read_text())]
    assert makers, "no policy declares its entry"
    for name in makers:
        assert len(re.findall(rf"\b{name}\(\)", registry)) == 1, name


def specs():
    return sorted((ROOT / "experiments").glob("*.json"))


def without_comments(text):
    return re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)


@pytest.mark.parametrize("path", specs(), ids=lambda path: path.stem)
def test_each_bundled_spec_is_named_after_its_file_documented_and_jittered(path):
    spec = json.loads(without_comments(path.read_text()))
    assert spec["name"] == path.stem
    assert f"## {path.stem}\n" in (ROOT / "docs" / "experiments.md").read_text()
    assert {"kind": "jitter", "distribution": "lognormal", "sigma": 0.02} in spec["stragglers"]
    takes_its_time = "run" in spec or "training" in spec["workload"]
    assert len(spec["seeds"]) >= (3 if takes_its_time else 5)
    assert spec["sweep"]


def test_the_bundled_specs_are_those_of_the_contract():
    assert {path.stem for path in specs()} >= {
        "straggler_probability", "straggler_factor", "persistent_straggler", "slow_link", "link_straggler", "bandwidth",
        "communicator_cost", "overlapped_baseline", "scale", "ablation", "threshold", "real_trace", "time_to_loss", "accuracy",
        "throughput", "thirty_two_workers", "label_skew",
    }


def test_shell_scripts_parse_and_may_be_executed():
    for name in ("quickstart", "check", ".ci/run", "scripts/install_packages", "tests/count/with_report"):
        path = ROOT / name
        assert path.stat().st_mode & 0o111, name
        shell = path.read_text().splitlines()[0].removeprefix("#!").split()[-1].rsplit("/", 1)[-1]
        assert subprocess.run([shell, "-n", path]).returncode == 0, name
