"""The suites: `pytest suites/`, or `pytest --pyargs pytest_taskgraph.suites` once installed."""
