"""STEPS: which step comes next, in recipes and in workflows."""

from pytest_taskgraph import Trial, steps, suite


@suite(steps)
def test_steps(trial: Trial) -> None:
    """One candidate for the next step, or two options of which one is the next step."""
    trial.check()
