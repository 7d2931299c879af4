"""replay: what it prints, and its exit codes."""

from conftest import small_spec


def recorded(cohort):
    assert cohort.run("simulate", cohort.spec(small_spec()), "--out", "out").returncode == 0
    return cohort.folder / "out" / "events.jsonl"


def test_a_recorded_simulation_replays_identically(cohort):
    recorded(cohort)
    for path in ("out", "out/events.jsonl"):
        result = cohort.run("replay", path)
        assert result.returncode == 0 and result.stderr == ""
        lines = result.stdout.splitlines()
        assert len(lines) == 4 and all(line.endswith("actions: identical") for line in lines)
        assert lines[0].startswith("all-reduce, seed 1: ")


def test_the_first_difference_is_shown_with_its_line(cohort):
    log = recorded(cohort)
    lines = log.read_text().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if '{"release":3}' in line)
    lines[at] = lines[at].replace('{"release":3}', '{"release":2}', 1)
    log.write_text("".join(lines))
    result = cohort.run("replay", "out")
    assert result.returncode == 1
    assert f"different at line {at + 1}" in result.stdout
    assert result.stdout.count("identical") == 3


def test_a_damaged_log_is_refused_with_file_and_line_and_prints_nothing(cohort):
    log = recorded(cohort)
    log.write_bytes(log.read_bytes()[:-3])
    result = cohort.run("replay", "out")
    assert result.returncode == 2 and result.stdout == ""
    assert "events.jsonl:" in result.stderr and "cut off" in result.stderr


def test_a_directory_without_a_log_is_refused(cohort):
    result = cohort.run("replay", ".")
    assert result.returncode == 2 and "events.jsonl" in result.stderr
