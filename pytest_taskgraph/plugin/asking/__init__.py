"""Asking of the questions of a run: they are built in the main thread, and sent by one event loop."""
