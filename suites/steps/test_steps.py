"""STEPS: which step comes next, in recipes and in workflows."""

from pytest_taskgraph import Trial, steps, suite


@suite(steps)  # taskgraph-lint: ignore[unbalanced-answers] most candidates are not the next step
def test_steps(trial: Trial) -> None:
    """One candidate for the next step, or two options of which one is the next step."""
    trial.check()
