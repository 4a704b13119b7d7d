"""For every test of the repository, the suites included."""

from __future__ import annotations

import signal

from hypothesis import settings

pytest_plugins = ("pytester",)

# A machine that is busy is no reason to fail; and a run that failed is to fail again.
settings.register_profile("busy", deadline=None, derandomize=True)
settings.load_profile("busy")

# A shell that starts the tests in the background has Ctrl-C ignored, and so would they wait for it forever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
