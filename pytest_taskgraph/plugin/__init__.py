"""The pytest plugin: `plugin.hooks` is what the entry point loads."""

pytest_plugins = ["pytest_taskgraph.plugin.hooks"]  # for `-p pytest_taskgraph.plugin`, where it is not installed
