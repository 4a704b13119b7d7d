"""The functionality patterns: what workflows and tasks mean, and what about them makes no sense."""

from pytest_taskgraph import Trial, suite, understanding


@suite(understanding, patterns="functionality")
def test_functionality(trial: Trial) -> None:
    """One question of one pattern; it passes if the answer is right."""
    trial.check()
