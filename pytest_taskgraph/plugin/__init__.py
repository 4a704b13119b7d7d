"""The pytest plugin: `plugin.hooks` is what the entry point loads. PYTEST_DONT_REWRITE (see plain_imports)."""

from .plain_imports import import_plainly

import_plainly()

pytest_plugins = ["pytest_taskgraph.plugin.hooks"]  # for `-p pytest_taskgraph.plugin`, where it is not installed
