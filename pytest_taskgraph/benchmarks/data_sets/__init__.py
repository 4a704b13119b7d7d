"""Data sets that users state with `--taskgraph-data`: their files and archives, and the problems in them."""
