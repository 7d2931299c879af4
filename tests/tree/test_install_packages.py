"""scripts/install_packages against a made-up system: stand-ins for dpkg-query, apt-get, apt-cache, id and sudo on the path."""

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "install_packages"
BASH = "/bin/bash"


class System:
    """A machine with some packages, whose apt-get notes what it is asked and installs it, unless it is broken."""

    def __init__(self, folder, user="0", sudo=False, dpkg=True, apt_works=True, known=True):
        self.bin, self.log, self.packages = folder / "bin", folder / "apt.log", folder / "packages"
        self.bin.mkdir()
        self.packages.touch()
        self.command("id", f"echo {user}")
        if dpkg:
            self.command("dpkg-query", f'grep -qx "${{@: -1}}" {self.packages} && echo -n installed')
        self.command("apt-cache", "true" if known else "false")
        install = f'[ "${{5}}" != update ] && for p in "${{@:8}}"; do echo $p >>{self.packages}; done' if apt_works else "exit 100"
        self.command("apt-get", f'echo "$@" >>{self.log}\nset -- x "$@"\n{install}\ntrue' if apt_works else install)
        if sudo:
            self.command("sudo", '[ "$1" = -n ] && shift\nexec "$@"')
        for tool in ("env", "grep", "true"):
            (self.bin / tool).symlink_to(f"/usr/bin/{tool}")

    def command(self, name, body):
        path = self.bin / name
        path.write_text(f"#!{BASH}\n{body}\n")
        path.chmod(0o755)

    def install(self, purpose, **environment):
        return subprocess.run([BASH, SCRIPT, purpose], env={"PATH": str(self.bin), **environment}, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL)

    def asked(self):
        return self.log.read_text() if self.log.exists() else ""


def test_root_installs_what_is_missing_and_a_second_run_asks_apt_for_nothing(tmp_path):
    system = System(tmp_path)
    assert system.install("quickstart").returncode == 0
    assert " g++ meson " in system.asked()
    system.log.unlink()
    done = system.install("quickstart")
    assert (done.returncode, system.asked()) == (0, "")
    assert "are installed" in done.stdout


def test_check_needs_more_than_quickstart(tmp_path):
    system = System(tmp_path)
    system.install("quickstart")
    assert "doctest-dev" not in system.packages.read_text()
    system.install("check")
    assert {"doctest-dev", "python3-pytest", "libsimgrid-dev"} <= set(system.packages.read_text().split())


def test_sudo_is_used_when_not_root(tmp_path):
    system = System(tmp_path, user="1000", sudo=True)
    assert system.install("quickstart").returncode == 0
    assert " g++ meson " in system.asked()


def test_without_root_and_sudo_it_ends_with_the_exact_list(tmp_path):
    system = System(tmp_path, user="1000")
    system.packages.write_text("g++\nmeson\n")
    done = system.install("quickstart")
    assert (done.returncode, done.stdout, system.asked()) == (3, "", "")
    listed = done.stderr.splitlines()[1].split()
    assert listed[:2] == ["ninja-build", "pkg-config"]
    assert "g++" not in listed


def test_without_dpkg_it_ends_with_the_list_unless_told_that_all_is_there(tmp_path):
    system = System(tmp_path, dpkg=False)
    done = system.install("quickstart")
    assert done.returncode == 3
    assert "ninja-build" in done.stderr
    assert system.install("quickstart", COHORT_PACKAGES="present").returncode == 0


def test_an_apt_that_fails_ends_with_the_list(tmp_path):
    done = System(tmp_path, apt_works=False).install("quickstart")
    assert done.returncode == 3
    assert "librandom123-dev" in done.stderr


def test_an_optional_package_that_cannot_be_had_is_no_failure(tmp_path):
    system = System(tmp_path, known=False)
    done = system.install("check")
    assert done.returncode == 0
    assert "optional libsimgrid-dev is not to be had" in done.stderr


@pytest.mark.parametrize("purpose", ["", "everything"])
def test_wrong_use_is_refused(tmp_path, purpose):
    done = System(tmp_path).install(purpose)
    assert done.returncode == 2
    assert "usage" in done.stderr
