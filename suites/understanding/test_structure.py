"""The 24 structure patterns: what is there, what is linked to what, which blocks there are, what contains what."""

from pytest_taskgraph import Trial, suite, understanding


@suite(understanding, patterns="structure")
def test_structure(trial: Trial) -> None:
    """One question of one pattern; it passes if the answer is right."""
    trial.check()
