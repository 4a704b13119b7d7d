"""What the collected items would ask and cost; nothing is asked for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from ...errors import TaskgraphError, UsageError
from .. import options, pytest_compat
from ..first_requests import build_question, first_requests
from ..models_under_test import is_storable
from ..suites import asks
from .terminal_lines import width

if TYPE_CHECKING:
    from ...results.run_forecast import CostBasis, ForecastEntry
    from ...trial import Request
    from ..models_under_test import ModelUnderTest
    from ..session import RunSession

Outline = tuple[int, str, list[str], dict[str, dict[str, Any]]]  # questions, their forecast, notices, families
EXACT = 500  # questions that are all built before the first is asked, for the first line to count what is sent
SAMPLE = 50  # of more questions, those from which the first line tells about how many are sent
LEAST_SAMPLES = 10  # stored replies of a model, from which on their mean length is expected of others


def entries(run: RunSession, items: Sequence[pytest.Item], bases: Mapping[str, CostBasis]) -> Iterator[ForecastEntry]:
    """What each of the items that ask would send at least; those with tools or judges send more, as it turns out.

    A request that an earlier item makes, too, is sent once. `bases` are by model, as `bases_of` gives them.
    """
    from ...asking import is_one_turn
    from ...results.run_forecast import ForecastEntry

    seen: set[str] = set()
    for item in items:
        params = pytest_compat.params(item)
        if not asks(item) or pytest_compat.is_skipped(item):
            continue
        subject, collected = run.models.of_item(params), params["taskgraph_reference"]
        question = build_question(collected)
        if not subject.live or subject.client is None:
            yield ForecastEntry(subject.name, question.family, question.group, question.section, 0, 0, 0.0, 0.0)
            continue
        episode, first = first_requests(collected, question)
        requests = [(_key(run, subject, item, one), one) for one in first]
        missing = {key: one for key, one in requests if key not in seen and not run.pipeline.holds(key)}
        stored = sum(key not in seen and run.pipeline.holds(key) for key in dict(requests))
        whole = all(run.pipeline.holds(key) for key, _ in requests)  # what measures the replies is stored as well
        seen.update(key for key, _ in requests)
        tokens, expected, worst, largest = _amounts(run, subject, list(missing.values()), bases.get(subject.name))
        measuring = len(question.judged)
        yield ForecastEntry(
            subject.name,
            question.family,
            question.group,
            question.section,
            len(missing) + (0 if whole else measuring),
            tokens,
            expected,
            worst,
            stored=stored + (measuring if whole else 0),
            shared=len(requests) - len(missing) - stored,
            measuring=0 if whole else measuring,
            more=not whole and not is_one_turn(episode),
            largest=largest,
        )


def bases_of(run: RunSession, items: Sequence[pytest.Item]) -> dict[str, CostBasis]:
    """Return what the costs of each live model rest on: how long its replies may be, and how long they are expected.

    Where the model options of suites differ in it, it is the longest of these.
    """
    from ...models.prices import expected_reply, longest_reply, reasons
    from ...models.store import reply_lengths
    from ...results.run_forecast import CostBasis
    from ...trial import Request

    found: dict[str, CostBasis] = {}
    for one in dict.fromkeys(run.models.of_item(pytest_compat.params(item)) for item in items if asks(item)):
        client = one.client
        if client is None or not one.live:
            continue
        price, settings = run.pipeline.price(client), getattr(client, "settings", {})
        longest = longest_reply(Request(), price, settings)
        if one.name in found and found[one.name].longest >= longest.tokens:
            continue
        lengths = reply_lengths(run.pipeline.folder, run.pipeline.stored_name(client))
        known = len(lengths) >= LEAST_SAMPLES
        expected = round(sum(lengths) / len(lengths)) if known else expected_reply(price, settings)
        found[one.name] = CostBasis(
            longest.tokens,
            longest.basis,
            min(expected, longest.tokens),
            len(lengths) if known else 0,
            reasons(price, settings),
        )
    return found


def outline(run: RunSession, items: Sequence[pytest.Item]) -> Outline:
    """How many questions the items ask, their forecast, what was left out: plain values, for a worker tells them."""
    questions = sum(map(asks, items))
    line, held_up = forecast(run, items) if questions else ("", "")
    return (
        questions,
        line,
        [*run.notices, *run.shrinker.notices(items), *([held_up] if held_up else [])],
        run.families.pack(),
    )


def announcement(
    run: RunSession, questions: int, planned: str, notices: Sequence[str], families: Mapping[str, dict[str, Any]]
) -> list[str]:
    """The lines that tell an outline before anything is asked, and the run knows it; none where nothing will be."""
    from ...reports.escape import one_line
    from ...reports.terminal import header

    run.questions = questions
    run.families.unpack(families)
    run.notices.extend(one for one in notices if one not in run.notices)
    if not questions:
        return []
    return [
        *([f"taskgraph: {planned}"] if planned else []),
        *header(run.about(), width(run.config)),
        *(f"taskgraph: {one_line(notice)}" for notice in run.notices),
    ]


def forecast(run: RunSession, items: Sequence[pytest.Item]) -> tuple[str, str]:
    """One line: how many requests the items send and what they cost; and one of what a limit of cost holds up, if any.

    Both are empty if none is live, or if a question cannot be built, of which its item will tell. The counts of many
    items are told from some of them.
    """
    from ...reports.terminal.forecast_lines import forecast as told
    from ...reports.terminal.forecast_lines import tightness
    from ...results.run_forecast import build_forecast

    live = [item for item in items if asks(item) and run.models.of_item(pytest_compat.params(item)).live]
    if not live:
        return "", ""
    sampled = len(live) > EXACT
    step = max(1, len(live) // SAMPLE) if sampled else 1
    try:
        found = list(entries(run, live[::step][:SAMPLE] if sampled else live, bases_of(run, live)))
    except TaskgraphError:
        return "", ""
    if not found:
        return "", ""
    if sampled:
        # Each of the sample stands for as many as it was chosen from, the last for what is left over.
        shares = [len(live) // len(found) + (at < len(live) % len(found)) for at in range(len(found))]
        found = [one for one, share in zip(found, shares, strict=True) for _ in range(share)]
    plan, (max_calls, max_cost) = build_forecast(found, _retries(run)), _limits(run)
    held_up = "" if run.pipeline.replay else tightness(plan, max_cost)
    return told(plan, max_calls, max_cost, replay=run.pipeline.replay, sampled=sampled), held_up


def _limits(run: RunSession) -> tuple[int | None, float | None]:
    """Calls and US dollars of the whole run: a worker on a machine apart has but its share of them."""
    return options.whole(run.config, "max-calls"), options.number(run.config, "max-cost")


class Planner:
    """Takes the place of the loop of items under `--taskgraph-dry-run`."""

    def __init__(self, run: RunSession) -> None:
        self._run = run

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """True: no item is run."""
        from ...reports.terminal.forecast_lines import lines
        from ...results.run_forecast import build_forecast

        run = self._run
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        try:
            bases = bases_of(run, session.items)
            plan = build_forecast(entries(run, session.items, bases), _retries(run), run.descriptions, bases)
        except UsageError as error:
            raise pytest.UsageError(str(error)) from None
        if reporter is not None and plan.rows:
            reporter.ensure_newline()
            for text, markup in lines(plan, width(session.config), run.pipeline.replay, *_limits(run)):
                reporter.write_line(text, **markup)
        return True


def check(config: pytest.Config) -> None:
    """Nothing, if a plan can be made in this process. Raises UsageError under xdist, whose controller has no items."""
    if getattr(config.option, "numprocesses", None) or getattr(config.option, "tx", None):
        raise UsageError(
            "--taskgraph-dry-run asks nothing, so there is nothing to distribute: leave out -n, or add -n 0"
        )


def _retries(run: RunSession) -> int:
    found = options.whole(run.config, "retries")
    return 0 if found is None else found


def _key(run: RunSession, subject: ModelUnderTest, item: pytest.Item, request: Request) -> str:
    """Return what makes the request the same as another one; of a model whose replies are not stored none is."""
    assert subject.client is not None
    key = run.pipeline.key(subject.client, request)
    return key if is_storable(subject.client) else f"{key} of {item.nodeid}"


def _amounts(
    run: RunSession, subject: ModelUnderTest, requests: Sequence[Request], basis: CostBasis | None
) -> tuple[int, float | None, float | None, float]:
    """Tokens in, expected and worst cost of requests that are sent, and the largest worst cost of one of them."""
    from ...models.prices import estimate_tokens, expected_cost, worst_cost

    assert subject.client is not None
    price, settings = run.pipeline.price(subject.client), getattr(subject.client, "settings", {})
    expected = [expected_cost(one, price, settings, basis.expected if basis else None) for one in requests]
    worst = [worst_cost(one, price, settings) for one in requests]
    largest = max((one for one in worst if one is not None), default=0.0)
    return sum(map(estimate_tokens, requests)), _sum(expected), _sum(worst), largest


def _sum(amounts: Sequence[float | None]) -> float | None:
    return None if None in amounts else sum(one for one in amounts if one is not None)
