"""plot: what it hands to the figure scripts, and what comes back from them."""

import pytest

from conftest import small_spec


@pytest.fixture
def results(cohort):
    assert cohort.run("simulate", cohort.spec(small_spec()), "--out", "out").returncode == 0
    return cohort.folder / "out"


def test_formats_are_chosen(cohort, results):
    assert cohort.run("plot", results, "--out", "figures", "--format", "pdf,png").returncode == 0
    assert {path.suffix for path in (cohort.folder / "figures").iterdir()} == {".pdf", ".png"}


def test_a_format_that_is_none_is_refused(cohort, results):
    result = cohort.run("plot", results, "--out", "figures", "--format", "png,gif")
    assert result.returncode == 2 and "'gif' is none of png, svg, pdf" in result.stderr
    assert not (cohort.folder / "figures").exists()


def test_a_reader_that_leaves_costs_no_figure(cohort, results):
    process = cohort.start("plot", results, "--out", "figures", "--format", "png")
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait() == 0
    assert {path.name for path in (cohort.folder / "figures").iterdir()} == {"throughput.png", "time_split.png"}


def test_plot_of_a_directory_that_is_not_there_is_refused(cohort):
    result = cohort.run("plot", "none", "--out", "figures")
    assert result.returncode == 2 and "none" in result.stderr
