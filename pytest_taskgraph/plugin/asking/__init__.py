"""Asking the questions of a run: built in the main thread, sent by one event loop."""
