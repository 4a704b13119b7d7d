"""The behaviour patterns: in which order tasks run, under which condition, how often, and whether ever."""

from pytest_taskgraph import Trial, suite, understanding


@suite(understanding, patterns="behaviour")
def test_behaviour(trial: Trial) -> None:
    """One question of one pattern; it passes if the answer is right."""
    trial.check()
