"""Prompt snapshots of a session with `--taskgraph-prompt-snapshots`; no other session imports this package."""
