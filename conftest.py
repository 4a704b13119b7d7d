"""For every test of the repository, the suites included."""

pytest_plugins = ("pytester",)
