"""The object compiled for wide vectors shares no function with the rest of the program: the linker keeps one of several equal names."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ.get("COHORT_BUILD", Path(__file__).resolve().parents[2] / "build"))
OBJECT = BUILD / "training" / "libproducts_wide.a.p" / "products_wide.cc.o"
OWN = re.compile(r"EigenForX8664V3|cohort::wide::|__gxx_personality_v0")


@pytest.mark.skipif(not OBJECT.exists(), reason="no object for wide vectors is built here")
@pytest.mark.skipif(not shutil.which("nm"), reason="no nm")
def test_what_is_compiled_for_wide_vectors_has_names_of_its_own():
    listed = subprocess.run(["nm", "-C", "--defined-only", OBJECT], capture_output=True, text=True, check=True).stdout
    defined = [line for line in listed.splitlines() if re.match(r"\S+ [WVuTDB] ", line)]
    assert defined
    assert [line for line in defined if not OWN.search(line)] == []
