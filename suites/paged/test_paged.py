"""PAGED: the procedural graph of a document."""

from pytest_taskgraph import Trial, paged, suite


@suite(paged)
def test_paged(trial: Trial) -> None:
    """A document, of which the answer is the procedural graph."""
    trial.check()
