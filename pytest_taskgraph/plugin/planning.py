"""What the collected items would ask and cost; nothing is asked for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ..errors import TaskgraphError, UsageError
from . import options, private
from .suites import asks

if TYPE_CHECKING:
    from ..asking import Model
    from ..models.prices import Price
    from ..results.plan import PlanEntry
    from ..trial import Question, Request
    from .run import Run

SAMPLE = 24  # questions, from which the first line of a run tells what all of them cost


def entries(run: Run, items: Sequence[pytest.Item]) -> Iterator[PlanEntry]:
    """What each of the items that ask would send at least; those with tools or judges send more, as it turns out."""
    from ..results.plan import PlanEntry

    subjects = map(run.subject, run.models)
    prices = {one.name: run.pipeline.price(one.client) for one in subjects if one.client}
    for item in items:
        params = private.params(item)
        if not asks(item) or private.skipped(item):
            continue
        subject, question = run.subject_of(params), params["taskgraph_reference"].question()
        if not subject.live:
            yield PlanEntry(subject.name, question.pattern, question.category, 0, 0, 0.0, 0.0, stored=True)
            continue
        price = prices[subject.name]
        requests = _requests(question)
        tokens, expected, worst = _amounts(subject.client, price, requests)
        yield PlanEntry(
            subject.name,
            question.pattern,
            question.category,
            len(requests) + len(question.judged),
            tokens,
            expected,
            worst,
            run.pipeline.holds(subject.client, requests),
        )


def outline(run: Run, items: Sequence[pytest.Item]) -> tuple[int, str, list[str]]:
    """How many questions the items ask, their forecast, what was left out: plain values, for a worker tells them."""
    questions = sum(map(asks, items))
    return questions, forecast(run, items) if questions else "", run.notices


def announced(run: Run, questions: int, planned: str, notices: Sequence[str]) -> list[str]:
    """The lines that tell an outline before anything is asked, and the run knows it; none where nothing will be."""
    from ..reports.terminal import header

    run.questions = questions
    run.notices.extend(one for one in notices if one not in run.notices)
    if not questions:
        return []
    return [
        *([f"taskgraph: {planned}"] if planned else []),
        *header(run.about(), private.width(run.config)),
        *(f"taskgraph: {notice}" for notice in run.notices),
    ]


def forecast(run: Run, items: Sequence[pytest.Item]) -> str:
    """One line: how many calls the items make and what they cost, told from some of them; empty if none is live, or
    if a question cannot be built, of which its item will tell.
    """
    from ..reports.plan import forecast as told
    from ..results.plan import plan_of

    live = [item for item in items if asks(item) and run.subject_of(private.params(item)).live]
    if not live:
        return ""
    step = max(1, len(live) // SAMPLE)
    try:
        some = list(entries(run, live[::step][:SAMPLE]))
    except TaskgraphError:
        return ""
    if not some:
        return ""
    # Each of the sample stands for as many as it was chosen from, the last for what is left over.
    shares = [len(live) // len(some) + (at < len(live) % len(some)) for at in range(len(some))]
    whole = [one for one, share in zip(some, shares, strict=True) for _ in range(share)]
    # The limits of the whole run: a worker on a machine apart has but its share of them.
    limits = options.whole(run.config, "max-calls"), options.number(run.config, "max-cost")
    return told(plan_of(whole, _retries(run)), *limits, replay=run.pipeline.replay)


class Planner:
    """Takes the place of the loop of items under `--taskgraph-plan`."""

    def __init__(self, run: Run) -> None:
        self._run = run

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """True: no item is run."""
        from ..reports.plan import lines
        from ..results.plan import plan_of

        run = self._run
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        try:
            order = [name for family in run.families for name in family.order()]
            plan = plan_of(entries(run, session.items), _retries(run), order)
        except UsageError as error:
            raise pytest.UsageError(str(error)) from None
        if reporter is not None and plan.rows:
            reporter.ensure_newline()
            for text, markup in lines(plan, private.width(session.config), run.pipeline.replay):
                reporter.write_line(text, **markup)
        return True


def check(config: pytest.Config) -> None:
    """Nothing, if a plan can be made in this process. Raises UsageError under xdist, whose controller has no items."""
    if getattr(config.option, "numprocesses", None) or getattr(config.option, "tx", None):
        raise UsageError("--taskgraph-plan asks nothing, so there is nothing to distribute: leave out -n, or add -n 0")


def _retries(run: Run) -> int:
    found = options.whole(run.config, "retries")
    return 0 if found is None else found


def _requests(question: Question) -> list[Request]:
    """What the question's episode asks first."""
    from ..benchmarks.episodes import episode

    first = next(episode(question.episode)(question))
    return [replace(one, repetition=question.repetition) for one in first]


def _amounts(
    client: Model | None, price: Price | None, requests: Sequence[Request]
) -> tuple[int, float | None, float | None]:
    from ..models.prices import expected_of, tokens_of, worst_of

    settings = getattr(client, "settings", {})
    expected = [expected_of(one, price, settings) for one in requests]
    worst = [worst_of(one, price, settings) for one in requests]
    return sum(map(tokens_of, requests)), _sum(expected), _sum(worst)


def _sum(amounts: Sequence[float | None]) -> float | None:
    return None if None in amounts else sum(one for one in amounts if one is not None)
