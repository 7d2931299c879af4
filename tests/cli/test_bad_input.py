"""What a user can get wrong: exit code 2, one message that says where and what is allowed, nothing on stdout, nothing written."""

import copy
import json
import os
import random
import subprocess

import pytest
from conftest import BINARY, ROOT, small_spec


def changed(pointer, value):
    spec = copy.deepcopy(small_spec())
    *parents, last = pointer.strip("/").split("/")
    place = spec
    for step in parents:
        place = place[int(step)] if isinstance(place, list) else place[step]
    place[int(last) if isinstance(place, list) else last] = value
    return spec


def refused(cohort, result, *words):
    assert result.returncode == 2, result
    assert result.stdout == ""
    assert len(result.stderr.strip().splitlines()) == 1, result.stderr
    assert result.stderr.startswith("cohort: ")
    for word in words:
        assert word in result.stderr
    assert not (cohort.folder / "out").exists()


WRONG_VALUES = [
    ("/workload/compuet", "1ms", "compute"),
    ("/workload/compute", 100, "unit"),
    ("/workload/compute", "100MB", "ms"),
    ("/workload/compute", "-1ms", "/workload/compute"),
    ("/workload/compute", "NaN", "/workload/compute"),
    ("/stragglers/0/probability", 1.5, "0 to 1"),
    ("/cluster/nodes", 0, "from 1"),
    ("/cluster/nodes", 10**9, "1048576"),
    ("/policies/1", {"kind": "smart", "group_size": 5}, "/policies/1/group_size"),
    ("/policies/1", {"kind": "static", "phases": [[[0, 1], [1, 2]]]}, "/policies/1/phases/0"),
    ("/policies/1", "smrt", "nearest: \"smart\""),
    ("/policies/1", "all-reduce", "label"),
    ("/seeds", [3, 3], "/seeds/1"),
    ("/stop", {}, "steps_per_worker"),
]


@pytest.mark.parametrize("pointer, value, word", WRONG_VALUES)
@pytest.mark.parametrize("command", ["simulate", "sweep"])
def test_a_wrong_value_is_refused_with_file_and_pointer(cohort, command, pointer, value, word):
    spec = cohort.spec(changed(pointer, value))
    refused(cohort, cohort.run(command, spec, "--out", "out"), str(spec), word)


@pytest.mark.parametrize("text, word", [
    ("", "empty"),
    ("not JSON", ":1:"),
    ("[]", "object"),
    (json.dumps(small_spec())[:200], ":1:"),
    ('{\n "seeds": [NaN]\n}', ":2:"),
    ('{"name": "a",\n "name": "b"}', ":2:"),
    ("[" * 200_000, "deeper"),
], ids=["empty", "words", "list", "truncated", "NaN", "key twice", "deep"])
def test_text_that_is_no_spec_is_refused_with_line_and_column(cohort, text, word):
    spec = cohort.spec(text)
    refused(cohort, cohort.run("sweep", spec, "--out", "out"), str(spec), word)


def test_a_missing_file_and_a_directory_are_refused(cohort):
    refused(cohort, cohort.run("simulate", "none.json", "--out", "out"), "none.json", "no such file")
    refused(cohort, cohort.run("simulate", ".", "--out", "out"), "directory")


def test_a_named_pipe_without_a_writer_is_empty_not_waited_for(cohort):
    os.mkfifo(cohort.folder / "pipe")
    for command in (["simulate"], ["calibrate"], ["trace", "show"]):
        refused(cohort, cohort.run(*command, "pipe"), "pipe", "empty")


def test_a_spec_comes_through_a_pipe(cohort):
    spec = json.dumps(small_spec())
    result = subprocess.run([BINARY, "simulate", "/dev/stdin", "--json"], input=spec, capture_output=True, text=True,
                            timeout=60)
    assert result.returncode == 0, result
    assert len(json.loads(result.stdout)["runs"]) == 4


def test_what_cannot_be_opened_is_refused_with_the_reason(cohort):
    (cohort.folder / "loop.json").symlink_to("loop.json")
    refused(cohort, cohort.run("simulate", "loop.json"), "loop.json", "symbolic links")


def test_a_message_is_one_line_whatever_a_key_or_a_file_is_called(cohort):
    refused(cohort, cohort.run("simulate", cohort.spec(changed("/workload/x\ny\x1b[31m", 1))), "\\x0a", "\\x1b")
    refused(cohort, cohort.run("simulate", "no\nspec.json"), "no such file")
    long = cohort.run("simulate", cohort.spec(changed("/workload/" + "k" * 100_000, 1)))
    refused(cohort, long)
    assert len(long.stderr) < 5000


@pytest.mark.parametrize("setting, word", [
    ("/workload/compuet=1ms", "compute"),
    ("/nothing/there=1", "no value there"),
    ("/stragglers/4/factor=2", "no index"),
    ("/cluster/communicator/setup=1s", "the file has no key \"communicator\""),
    ("compute=1ms", "pointer"),
    ("nothing", "POINTER=VALUE"),
])
def test_a_wrong_setting_is_refused(cohort, setting, word):
    refused(cohort, cohort.run("simulate", cohort.spec(small_spec()), "--set", setting, "--out", "out"), word)


def test_a_cell_that_cannot_be_is_refused_before_the_first_runs(cohort):
    spec = cohort.spec(small_spec(sweep={"/stragglers/0/probability": [0.5, 1.5]}))
    for command in ("simulate", "sweep"):
        refused(cohort, cohort.run(command, spec, "--out", "out"), "in the cell", "1.5")


def test_wrong_arguments_end_with_2(cohort):
    for arguments in ([], ["simulat"], ["sweep", "x.json"], ["simulate", "--jobs", "0", "x.json"]):
        refused(cohort, cohort.run(*arguments))


@pytest.mark.parametrize("arguments, words", [
    (["simulat", "x.json"], ["\"simulat\"", "nearest: \"simulate\"", "calibrate"]),
    (["trace", "shw", "x.csv"], ["nearest: \"show\"", "import"]),
    (["simulate", "x.json", "--jsn"], ["nearest: \"--json\"", "--timeline"]),
    (["sweep", "x.json", "--out", ""], ["--out", "empty"]),
    (["simulate", "x.json", "--out", ""], ["--out", "empty"]),
    (["policies", "--workers", "3"], ["--workers", "--mixing"]),
    (["run", "x.json", "--backend", "gloo"], ["--backend", "\"gloo\"", "allowed: mpi, nccl"]),
    (["run", "x.json", "--on-loss", "fial"], ["--on-loss", "nearest: \"fail\"", "allowed: fail, continue"]),
])
def test_wrong_arguments_are_refused_with_what_is_allowed(cohort, arguments, words):
    refused(cohort, cohort.run(*arguments), *words)


def test_help_and_version_end_with_0(cohort):
    assert cohort.run("--version").stdout.startswith("cohort ")
    assert "Usage" in cohort.run("sweep", "--help").stdout


def test_a_compute_trace_with_a_gap_is_refused_with_its_line(cohort):
    (cohort.folder / "steps.csv").write_text("worker,step,seconds\n0,0,0.1\n0,2,0.1\n")
    spec = cohort.spec(small_spec(stragglers=[{"kind": "trace", "file": "steps.csv", "repeat": True}]))
    refused(cohort, cohort.run("simulate", spec, "--out", "out"), "/stragglers/0/file", "steps.csv")


def test_factors_of_a_trace_of_zeros_are_refused(cohort):
    rows = [f"{worker},{step},0" for worker in range(4) for step in range(20)]
    (cohort.folder / "steps.csv").write_text("\n".join(["worker,step,seconds", *rows, ""]))
    spec = cohort.spec(small_spec(stragglers=[{"kind": "trace", "file": "steps.csv", "as": "factor"}]))
    refused(cohort, cohort.run("simulate", spec, "--out", "out"), "/stragglers/0/file", "above zero")


def test_damaged_specs_never_crash(cohort):
    """Flipped bytes and cut ends of a bundled spec: taken or refused, nothing else."""
    whole = (ROOT / "experiments" / "ablation.json").read_bytes()
    chance = random.Random(20)
    seen = set()
    for _ in range(150):
        text = bytearray(whole[: chance.randrange(len(whole))] if chance.random() < 0.3 else whole)
        for _ in range(chance.randrange(4)):
            if text:
                text[chance.randrange(len(text))] = chance.randrange(256)
        path = cohort.folder / "damaged.json"
        path.write_bytes(text)
        result = cohort.run("simulate", path, "--set", "/seeds=[1]", "--set", "/stop/steps_per_worker=2", errors="replace")
        assert result.returncode in (0, 2), (bytes(text), result)
        seen.add(result.returncode)
    assert seen == {0, 2}
