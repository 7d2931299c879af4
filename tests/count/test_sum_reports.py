"""Counting of test results over all suites: what ./check prints last must be true."""

import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def cases(*outcomes):
    body = {
        "passed": '<testcase name="x"/>',
        "failed": '<testcase name="x"><failure message="1 == 2"/></testcase>',
        "crashed": '<testcase name="x"><error message="SIGSEGV"/></testcase>',
        "skipped": '<testcase name="x"><skipped message="no cluster"/></testcase>',
    }
    return "<testsuites><testsuite>" + "".join(body[o] for o in outcomes) + "</testsuite></testsuites>"


def reports(folder, programs, pytest=None, names=("simgrid", "mpi")):
    """A reports folder of `programs`: {name: (report or None, exit code or None, log)}, and of empty programs `names`."""
    folder.mkdir()
    programs = programs | {name: (cases(), 0, "") for name in names}
    (folder / "programs.json").write_text(json.dumps([{"name": name, "cmd": [f"/build/{name}"], "env": {}} for name in programs]))
    for name, (report, code, log) in programs.items():
        if report is not None:
            (folder / f"{name}.xml").write_text(report)
        if code is not None:
            (folder / f"{name}.code").write_text(f"{code}\n")
        (folder / f"{name}.log").write_text(log)
    if pytest is not None:
        (folder / "pytest.expected").touch()
        (folder / "pytest.xml").write_text(pytest)
    return folder


def total(*folders):
    done = subprocess.run([sys.executable, HERE / "sum_reports.py", *folders], capture_output=True, text=True)
    return done.stdout.splitlines()[-1], done.returncode


def test_cases_of_all_suites_are_added(tmp_path):
    folder = reports(
        tmp_path / "r",
        {"policies": (cases("passed", "passed"), 0, ""), "sim": (cases("passed"), 0, "")},
        pytest=cases("passed", "skipped"),
    )
    assert total(folder) == ("4 passed, 0 failed, 1 skipped", 0)


def test_a_failing_case_fails_the_sum(tmp_path):
    folder = reports(tmp_path / "r", {"policies": (cases("passed", "failed", "crashed"), 1, "")})
    assert total(folder) == ("1 passed, 2 failed, 0 skipped", 1)


def test_a_program_without_a_report_is_a_failure(tmp_path):
    folder = reports(tmp_path / "r", {"policies": (None, 139, ""), "sim": (cases("passed"), 0, "")})
    assert total(folder) == ("1 passed, 1 failed, 0 skipped", 1)


def test_a_torn_report_is_a_failure(tmp_path):
    folder = reports(tmp_path / "r", {"policies": (cases("passed")[:30], 0, "")})
    assert total(folder) == ("0 passed, 1 failed, 0 skipped", 1)


def test_a_bad_exit_code_after_passing_cases_is_a_failure(tmp_path):
    folder = reports(tmp_path / "r", {"policies": (cases("passed"), 1, ""), "sim": (cases("passed"), None, "")})
    assert total(folder) == ("2 passed, 2 failed, 0 skipped", 1)


def test_a_case_that_says_it_skipped_is_not_passed(tmp_path):
    log = "skipped: traces: real files: not at hand\n"
    folder = reports(tmp_path / "r", {"traces": (cases("passed", "passed"), 0, log)})
    assert total(folder) == ("1 passed, 0 failed, 1 skipped", 0)


def test_an_optional_program_that_was_not_built_is_one_skip(tmp_path):
    folder = reports(tmp_path / "r", {"policies": (cases("passed"), 0, "")}, names=("mpi",))
    assert total(folder) == ("1 passed, 0 failed, 1 skipped", 0)


def test_a_failed_build_is_a_failure(tmp_path):
    (tmp_path / "r").mkdir()
    assert total(tmp_path / "r") == ("0 passed, 1 failed, 0 skipped", 1)


def test_pytest_without_a_report_or_a_test_is_a_failure(tmp_path):
    good = {"policies": (cases("passed"), 0, "")}
    assert total(reports(tmp_path / "a", good, pytest="")) == ("1 passed, 1 failed, 0 skipped", 1)
    assert total(reports(tmp_path / "b", good, pytest=cases())) == ("1 passed, 1 failed, 0 skipped", 1)


def test_tests_that_run_one_program_have_reports_of_their_own(tmp_path):
    folder = reports(tmp_path / "r", {"policies": (cases("passed"), 0, ""), "again": (cases("passed", "failed"), 1, "")})
    tests = json.loads((folder / "programs.json").read_text())
    again = next(test for test in tests if test["name"] == "again")
    again |= {"cmd": ["/build/policies"], "env": {"COHORT_REPORT": "again"}}
    (folder / "programs.json").write_text(json.dumps(tests))
    assert total(folder) == ("2 passed, 1 failed, 0 skipped", 1)
    again["env"] = {}
    (folder / "programs.json").write_text(json.dumps(tests))
    assert total(folder) == ("1 passed, 1 failed, 0 skipped", 1)


def test_two_runs_are_added(tmp_path):
    good = {"policies": (cases("passed"), 0, "")}
    assert total(reports(tmp_path / "a", good), reports(tmp_path / "b", good)) == ("2 passed, 0 failed, 0 skipped", 0)


def test_nothing_at_all_is_not_a_success(tmp_path):
    assert total(reports(tmp_path / "a", {"policies": (cases(), 0, "")}))[1] == 1


def test_the_wrapper_leaves_report_output_and_exit_code(tmp_path):
    program = tmp_path / "policies"
    program.write_text('#!/bin/sh\necho "$@"\nexit 3\n')
    program.chmod(0o755)
    done = subprocess.run([HERE / "with_report", program, "--given"], env={**os.environ, "COHORT_REPORTS": str(tmp_path)})
    assert done.returncode == 3
    assert (tmp_path / "policies.code").read_text() == "3\n"
    assert (tmp_path / "policies.log").read_text() == f"--given --reporters=junit --out={tmp_path}/policies.xml\n"
    subprocess.run([HERE / "with_report", program], env={**os.environ, "COHORT_REPORTS": str(tmp_path), "COHORT_REPORT": "again"})
    assert (tmp_path / "again.code").read_text() == "3\n" and (tmp_path / "again.log").exists()
