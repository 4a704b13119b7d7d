"""For every test of the repository, the suites included."""

from __future__ import annotations

import gc
import os
import signal

import pytest
from hypothesis import settings

pytest_plugins = ("pytester",)

# A machine that is busy is no reason to fail; and a run that failed is to fail again.
settings.register_profile("default-tier", deadline=None, derandomize=True, max_examples=10)
settings.register_profile("exhaustive", deadline=None, derandomize=True)

# Runs of pytest within tests make many objects; looking for garbage among them takes a twentieth of the time.
gc.set_threshold(100_000, 20, 20)

# Threads of numpy only wait for each other on the small matrices of the tests, and take the core of another worker.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A shell that starts the tests in the background has Ctrl-C ignored, and so would they wait for it forever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Try fewer examples in the default tier, and keep the tests of a module in one worker, for they share runs."""
    settings.load_profile("exhaustive" if config.option.markexpr else "default-tier")
    if getattr(config.option, "dist", "no") == "load":  # what -n alone means
        config.option.dist = "worksteal"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is marked `exhaustive`, unless `-m` or the id of a test decides what runs."""
    if config.option.markexpr or any("::" in argument for argument in config.args):
        return
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        (left_out if item.get_closest_marker("exhaustive") else kept).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left_out)
