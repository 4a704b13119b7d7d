"""For every test of the repository, the suites included."""

from __future__ import annotations

import os
import signal

from hypothesis import settings

pytest_plugins = ("pytester",)

# A machine that is busy is no reason to fail, and the whole suite is to take under five minutes.
settings.register_profile("busy", deadline=None, max_examples=40, derandomize="CI" in os.environ)
settings.load_profile("busy")

# A shell that starts the tests in the background has Ctrl-C ignored, and so would they wait for it forever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
