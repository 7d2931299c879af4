"""Sums the reports of one or more runs of ./check: `N passed, N failed, N skipped`, counted in test cases.

usage: sum_reports.py REPORTS...

A reports folder holds `programs.json` (what `meson introspect --tests` says), for each doctest program NAME its JUnit report
NAME.xml, exit code NAME.code and output NAME.log (see with_report), and for pytest `pytest.expected` and `pytest.xml`. A folder
without programs.json (the build failed), a program that wrote no report or no exit code, a program that failed although every
test case of its report passed, and two tests with the same report each count as one failure. Exit code 0: none failed.
"""

import json
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

SKIP_MARK = "skipped: "  # a line `skipped: TEST CASE: REASON` of a doctest program (tests/skip.h)
OPTIONAL = {
    "simgrid": "comparison with SimGrid: libsimgrid-dev is not installed, or the build is told to leave it out",
    "mpi": "the mpi backend: no MPI library is installed, or the build is told to leave real runs out",
}


class Count:
    """Test cases by outcome, and a line for each failure and skip."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.lines = []

    def fail(self, what):
        self.failed += 1
        self.lines.append(f"failed: {what}")

    def skip(self, what):
        self.skipped += 1
        self.lines.append(f"skipped: {what}")

    def last_line(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def read_cases(report):
    """The test cases of a JUnit report, or None when it is missing or torn."""
    try:
        return list(ElementTree.parse(report).iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return None


def count_cases(cases, suite, count):
    failed_before = count.failed
    for case in cases:
        name = f"{suite}: {case.get('name')}"
        problem = case.find("failure") if case.find("failure") is not None else case.find("error")
        skipped = case.find("skipped")
        if problem is not None:
            detail = " ".join((problem.text or "").split())[:300]
            count.fail(f"{name}: {problem.get('message', '')} {detail}".rstrip())
        elif skipped is not None:
            count.skip(f"{name}: {skipped.get('message', '')}")
        else:
            count.passed += 1
    return count.failed - failed_before


def count_program(folder, program, count):
    cases = read_cases(folder / f"{program}.xml")
    code_file = folder / f"{program}.code"
    code = code_file.read_text().strip() if code_file.exists() else None
    if cases is None:
        count.fail(f"{program}: wrote no report (exit code {code or 'unknown: killed or not run'})")
        return
    failed = count_cases(cases, program, count)
    if code != "0" and failed == 0:
        count.fail(f"{program}: no test case failed, yet its exit code is {code or 'unknown'}")
    log = folder / f"{program}.log"
    for line in log.read_text(errors="replace").splitlines() if log.exists() else []:
        if line.startswith(SKIP_MARK):
            count.passed -= 1
            count.skip(f"{program}: {line[len(SKIP_MARK):]}")


def count_pytest(folder, count):
    cases = read_cases(folder / "pytest.xml")
    if cases is None:
        count.fail("pytest: wrote no report")
    elif not cases:
        count.fail("pytest: found no test")
    else:
        count_cases(cases, "pytest", count)


def count_folder(folder, count):
    try:
        tests = json.loads((folder / "programs.json").read_text())
    except (OSError, ValueError):
        count.fail(f"{folder}: the build failed, no test was run")
        return
    programs = Counter(test["env"].get("COHORT_REPORT", Path(test["cmd"][0]).name) for test in tests)
    names = {test["name"] for test in tests}
    for program, writers in sorted(programs.items()):
        count_program(folder, program, count)
        if writers > 1:
            count.fail(f"{program}: {writers} tests write this one report")
    for name, reason in OPTIONAL.items():
        if name not in names:
            count.skip(reason)
    if (folder / "pytest.expected").exists():
        count_pytest(folder, count)


def main(folders):
    if not folders:
        print("usage: sum_reports.py REPORTS...", file=sys.stderr)
        return 2
    count = Count()
    for folder in folders:
        count_folder(Path(folder), count)
    print("\n".join(count.lines + [count.last_line()]))
    return 0 if count.failed == 0 and count.passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
