"""TaskLAMA: the steps of complex tasks, and the order between them."""

from pytest_taskgraph import Trial, suite, tasklama


@suite(tasklama)
def test_tasklama(trial: Trial) -> None:
    """One method of asking about one task; graded: it passes if there is an answer."""
    trial.check()
