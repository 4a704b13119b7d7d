"""The timing patterns: how long the whole takes, when tasks run, what may be late, and what few workers can do.

A curve by size: `pytest suites/understanding/test_timing.py --taskgraph-tasks=5,10,20,40,80`.
"""

from pytest_taskgraph import Trial, suite, understanding


@suite(understanding, patterns="timing")
def test_timing(trial: Trial) -> None:
    """One question of one pattern; it passes if the answer is right."""
    trial.check()
