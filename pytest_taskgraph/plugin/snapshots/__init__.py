"""Snapshots of prompts, in a session with `--taskgraph-prompt-snapshots`: imported by no other."""
