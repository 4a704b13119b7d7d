"""Forecast of the requests and costs of the collected items, made without requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from ...errors import TaskgraphError, UsageError
from .. import options, pytest_compat
from ..models_under_test import is_storable
from ..suites import asks
from .terminal_lines import width

if TYPE_CHECKING:
    from ...asking import Episode, Model
    from ...results.run_forecast import CostBasis, ForecastEntry
    from ...trial import Question, Request
    from ..asking.kept_questions import KeptQuestions
    from ..models_under_test import ModelUnderTest
    from ..session import RunSession
    from ..suites import CollectedQuestion

_NOTICE_LINES = 20  # at most, of one notice
Outline = tuple[int, str, list[str], list[str], dict[str, dict[str, Any]]]
"""Number of questions, their forecast, notices, remarks of suites, families."""
EXACT = 500  # up to this many questions, all are built before the run to count its requests
SAMPLE = 50  # of more questions, this many are built to estimate the number of requests
LEAST_SAMPLES = 10  # stored replies of a model that are necessary to expect their mean length of other replies


def forecast_entries(
    run: RunSession, items: Sequence[pytest.Item], bases: Mapping[str, CostBasis]
) -> Iterator[ForecastEntry]:
    """Yield the minimum of requests of each item that asks; items with tools or judges may send more.

    A request that an earlier item also makes is counted once.

    Args:
        run: The run.
        items: The items.
        bases: The cost bases by the name of the model, as `cost_bases` returns them.
    """
    from ...asking import is_one_turn
    from ...results.run_forecast import ForecastEntry

    seen: set[str] = set()
    for item in items:
        params = pytest_compat.params(item)
        if not asks(item) or pytest_compat.is_skipped(item):
            continue
        model, collected = run.models.of_item(params), params["taskgraph_reference"]
        question = _build_question(collected, run.kept_questions)
        if not model.live or model.client is None:
            yield ForecastEntry(model.name, question.family, question.group, question.section, 0, 0, 0.0, 0.0)
            continue
        episode, first = _first_requests(collected, question)
        requests = [(_key(run, model, item, request), request) for request in first]
        missing = {key: request for key, request in requests if key not in seen and not run.pipeline.holds(key)}
        stored = sum(key not in seen and run.pipeline.holds(key) for key in dict(requests))
        whole = all(run.pipeline.holds(key) for key, _ in requests)  # then the replies of judges are stored as well
        seen.update(key for key, _ in requests)
        sent = [*missing.values(), *_missing_probe(run, model.client, first, seen)]
        tokens, expected, worst, largest = _amounts(run, model, sent, bases.get(model.name))
        measuring = len(question.judged)
        yield ForecastEntry(
            model.name,
            question.family,
            question.group,
            question.section,
            len(sent) + (0 if whole else measuring),
            tokens,
            expected,
            worst,
            stored=stored + (measuring if whole else 0),
            shared=len(requests) - len(missing) - stored,
            measuring=0 if whole else measuring,
            more=not whole and not is_one_turn(episode),
            largest=largest,
        )


def _missing_probe(run: RunSession, client: Model, first: Sequence[Request], seen: set[str]) -> list[Request]:
    """Return the check of log-probabilities if the requests cause it to be sent, and add its key to `seen`."""
    from ...models.middleware.probes import SCORE_PROBE, needs_score_probe

    if run.pipeline.replay or not any(needs_score_probe(client, request) for request in first):
        return []
    key = run.pipeline.key(client, SCORE_PROBE)
    if key in seen or run.pipeline.holds(key):
        return []
    seen.add(key)
    return [SCORE_PROBE]


def _build_question(collected: CollectedQuestion, kept: KeptQuestions) -> Question:
    """Build the question of an item unless it was kept. Raises UsageError for any exception of its family."""
    from ...benchmarks.contract import report_family_errors

    with report_family_errors(collected.family, f"question({collected.reference.id!r})"):
        return kept.question(collected)


def _first_requests(collected: CollectedQuestion, question: Question) -> tuple[Episode, list[Request]]:
    """Return the episode of a question and its first requests. Raises UsageError for any exception of its family."""
    from ...asking import first_turn
    from ...benchmarks.contract import report_family_errors
    from ..asking.ask import repeated_request

    with report_family_errors(collected.family, f"episode({question.episode!r})"):
        episode = collected.family.episode(question.episode)
        return episode, [repeated_request(request, question) for request in first_turn(episode(question))]


def cost_bases(run: RunSession, items: Sequence[pytest.Item]) -> dict[str, CostBasis]:
    """Return the basis of the costs of each live model: the maximum and the expected length of its replies.

    If the model options of suites lead to different lengths, the longest counts.
    """
    from ...models.prices import expected_reply, longest_reply, reasons
    from ...models.store import reply_lengths
    from ...results.run_forecast import CostBasis
    from ...trial import Request

    bases: dict[str, CostBasis] = {}
    for model in dict.fromkeys(run.models.of_item(pytest_compat.params(item)) for item in items if asks(item)):
        client = model.client
        if client is None or not model.live:
            continue
        price, settings = run.pipeline.price(client), getattr(client, "settings", {})
        longest = longest_reply(Request(), price, settings)
        if model.name in bases and bases[model.name].longest >= longest.tokens:
            continue
        lengths = reply_lengths(run.pipeline.folder, run.pipeline.stored_name(client))
        enough = len(lengths) >= LEAST_SAMPLES
        expected = round(sum(lengths) / len(lengths)) if enough else expected_reply(price, settings)
        bases[model.name] = CostBasis(
            longest.tokens,
            longest.basis,
            min(expected, longest.tokens),
            len(lengths) if enough else 0,
            reasons(price, settings),
        )
    return bases


def outline(run: RunSession, items: Sequence[pytest.Item]) -> Outline:
    """Return the number of questions of the items, their forecast, the notices, the suites' remarks, and the families.

    All are plain values, for a worker sends them to the controller.
    """
    questions = sum(map(asks, items))
    line, limit_notice = forecast_line(run, items) if questions else ("", "")
    return (
        questions,
        line,
        [*run.notices, *run.shrinker.notices(items), *([limit_notice] if limit_notice else [])],
        run.remarks,
        run.families.pack(),
    )


def announcement(
    run: RunSession,
    questions: int,
    planned: str,
    notices: Sequence[str],
    remarks: Sequence[str],
    families: Mapping[str, dict[str, Any]],
) -> list[str]:
    """Store an outline in the run, and return the lines to print before the first request; none without questions.

    Several remarks of suites are counted, unless the run is verbose.
    """
    from ...reports.escape import wrap
    from ...reports.terminal import header

    run.questions = questions
    run.families.unpack(families)
    run.notices.extend(notice for notice in notices if notice not in run.notices)
    if not questions:
        return []
    run.announced = True
    verbose = run.config.get_verbosity() > 0
    if len(remarks) > 1 and not verbose:
        remarks = [f"{len(remarks)} remarks on what is asked and left out: -v"]
    return [
        *([f"taskgraph: {planned}"] if planned else []),
        *header(run.about(), width(run.config), verbose),
        *(
            line
            for notice in (*run.notices, *remarks)
            for line in wrap(f"taskgraph: {notice}", width(run.config), _NOTICE_LINES)
        ),
    ]


def forecast_line(run: RunSession, items: Sequence[pytest.Item]) -> tuple[str, str]:
    """Return a line on the requests of the items and their cost, and a notice if a cost limit slows them down.

    Both are empty if no model is live, or if a question cannot be built, which its item reports. The counts of many
    items are estimated from a sample.
    """
    from ...reports.terminal.forecast_lines import forecast, tightness
    from ...results.run_forecast import build_forecast

    live = [item for item in items if asks(item) and run.models.of_item(pytest_compat.params(item)).live]
    if not live:
        return "", ""
    sampled = len(live) > EXACT
    chosen = live[:: max(1, len(live) // SAMPLE)][:SAMPLE] if sampled else live
    try:
        entries = list(forecast_entries(run, chosen, cost_bases(run, live)))
    except TaskgraphError:
        return "", ""
    if not entries:
        return "", ""
    if sampled:
        # Each entry of the sample counts as often as the items that it represents, so that the shares sum to the total.
        shares = [len(live) // len(entries) + (k < len(live) % len(entries)) for k in range(len(entries))]
        entries = [entry for entry, share in zip(entries, shares, strict=True) for _ in range(share)]
    plan, (max_calls, max_cost) = build_forecast(entries, _retries(run)), _limits(run)
    limit_notice = "" if run.pipeline.replay else tightness(plan, max_cost)
    return forecast(plan, max_calls, max_cost, replay=run.pipeline.replay, sampled=sampled), limit_notice


def _limits(run: RunSession) -> tuple[int | None, float | None]:
    """Return the limits of calls and US dollars of the whole run; a worker on another machine has a share of them."""
    return options.whole(run.config, "max-calls"), options.number(run.config, "max-cost")


class Planner:
    """Plugin that replaces the loop of items under `--taskgraph-dry-run`."""

    def __init__(self, run: RunSession) -> None:
        self._run = run

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Print the plan, and return True, so that pytest runs no item."""
        from ...reports.terminal.forecast_lines import lines
        from ...results.run_forecast import build_forecast

        run = self._run
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        try:
            bases = cost_bases(run, session.items)
            plan = build_forecast(forecast_entries(run, session.items, bases), _retries(run), run.descriptions, bases)
        except UsageError as error:
            raise pytest.UsageError(str(error)) from None
        if reporter is not None and plan.rows:
            reporter.ensure_newline()
            for text, markup in lines(plan, width(session.config), run.pipeline.replay, *_limits(run)):
                reporter.write_line(text, **markup)
        return True


def check(config: pytest.Config) -> None:
    """Check that this process has items to plan. Raises UsageError under xdist, whose controller has none."""
    if getattr(config.option, "numprocesses", None) or getattr(config.option, "tx", None):
        raise UsageError(
            "--taskgraph-dry-run sends nothing, so there is nothing to distribute: leave out -n, or add -n 0"
        )


def _retries(run: RunSession) -> int:
    retries = options.whole(run.config, "retries")
    return 0 if retries is None else retries


def _key(run: RunSession, model: ModelUnderTest, item: pytest.Item, request: Request) -> str:
    """Return a key that is equal for requests that share a reply; unique for a model whose replies are not stored."""
    assert model.client is not None
    key = run.pipeline.key(model.client, request)
    return key if is_storable(model.client) else f"{key} of {item.nodeid}"


def _amounts(
    run: RunSession, model: ModelUnderTest, requests: Sequence[Request], basis: CostBasis | None
) -> tuple[int, float | None, float | None, float]:
    """Return tokens in, expected and worst cost of requests, and the largest worst cost of a single request."""
    from ...models.prices import estimate_tokens, expected_cost, worst_cost

    assert model.client is not None
    price, settings = run.pipeline.price(model.client), getattr(model.client, "settings", {})
    expected = [expected_cost(request, price, settings, basis.expected if basis else None) for request in requests]
    worst = [worst_cost(request, price, settings) for request in requests]
    largest = max((cost for cost in worst if cost is not None), default=0.0)
    return sum(map(estimate_tokens, requests)), _sum(expected), _sum(worst), largest


def _sum(amounts: Sequence[float | None]) -> float | None:
    return None if None in amounts else sum(amount for amount in amounts if amount is not None)
