"""Where files of tests run side by side (`./check`: most of their time is waiting), those of the testbed take turns."""

import pytest


def pytest_collection_modifyitems(config, items):
    if not config.pluginmanager.hasplugin("xdist"):
        return
    for item in items:
        *_, folder, file = item.nodeid.split("::")[0].split("/")
        item.add_marker(pytest.mark.xdist_group(folder if folder == "testbed" else file.removesuffix(".py")))
