"""Forecast of a run for the terminal: the questions, requests and cost of a plan, as tables and as one line.

Lines come with the markup that pytest's terminal writer takes, such as {"bold": True}.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from ...results.run_forecast import CostAmount, CostBasis, ForecastRow, RunForecast
from ..escape import columns, one_line, wrap
from ..table import table
from ..wording import count

Lines = list[tuple[str, dict[str, bool]]]
UNKNOWN = "unknown"
AT_A_TIME = 20  # requests in flight, from which on a limit of cost holds nothing up; as many are sent at first


@dataclass(frozen=True, slots=True)
class _Column:
    title: str
    short: str
    cell: Callable[[ForecastRow], str]


_QUESTIONS = _Column("questions", "asked", lambda row: f"{row.questions:,}")
_REQUESTS = _Column("requests", "requests", lambda row: f"{row.requests:,}")
_MISSING = _Column("missing", "missing", lambda row: f"{row.requests:,}")
_SHARED = _Column("shared", "shared", lambda row: f"{row.shared:,}")
_STORED = _Column("stored", "stored", lambda row: f"{row.stored:,}")
_TOKENS = _Column("prompt tokens", "tokens", lambda row: f"{row.tokens_in:,}")
_EXPECTED = _Column("expected cost", "expected", lambda row: amount(row.expected))
_WORST = _Column("worst cost", "worst", lambda row: amount(row.worst, up=True))


def lines(
    plan: RunForecast,
    width: int = 80,
    replay: bool = False,
    max_calls: int | None = None,
    max_cost: float | None = None,
) -> Lines:
    """Return the plan: a table for each model, then the total, each line of at most `width` columns.

    Args:
        plan: The plan of the run.
        width: The width of the terminal, at least 40 columns.
        replay: True if no request can be sent: requests are then replies that the store lacks.
        max_calls: The limit of requests. It affects the line of the total alone, not the tables.
        max_cost: The limit of cost in US dollars, likewise.
    """
    forecast_table: Lines = []
    for total in plan.totals:
        forecast_table.append((one_line(f"model {total.model}", width), {"bold": True}))
        rows = [*_with_headings(plan.rows_of(total.model)), ("total", total)]
        forecast_table += [*_table(plan.group, rows, width, replay), ("", {})]
    summary = f"taskgraph plan: {forecast(plan, max_calls, max_cost, replay)}; no request was sent"
    forecast_table += [(line, {"bold": True}) for line in wrap(summary, width, 3)]
    notes = () if replay else _notes(plan)
    return forecast_table + [(line, {"yellow": True}) for note in notes for line in wrap(note, width, 4)]


def forecast(
    plan: RunForecast,
    max_calls: int | None = None,
    max_cost: float | None = None,
    replay: bool = False,
    sampled: bool = False,
) -> str:
    """Return the plan in one line: "184 requests, about $0.12, at most $1.40".

    The requests are those of a run in which every attempt succeeds.

    Args:
        plan: The plan of the run.
        max_calls: The limit of requests; it counts where it is lower than the plan.
        max_cost: The limit of cost in US dollars, likewise.
        replay: True if no request can be sent.
        sampled: True if the plan was made from some of the questions, so that its counts are estimates.
    """
    total, about = plan.total, "about " if sampled else ""
    shared = [f"{about}{total.shared:,} shared with another question"] if total.shared else []
    if replay:
        lacking = [f"{about}{total.requests:,} missing in it"] if total.requests else []
        return f"a replay, nothing is sent: {', '.join([about + _stored(total), *lacking, *shared])}"
    requests = total.requests if max_calls is None else min(total.requests, max_calls)
    limited = f" of {about}{total.requests:,}" if requests < total.requests else ""
    least = "at least " if total.more and not limited else ""
    facts = [f"{least}{about if not limited else ''}{requests:,}{limited} request{'' if requests == 1 else 's'}"]
    facts += [about + _stored(total)] if total.stored else []
    return ", ".join([*facts, *shared, *([_price(total, max_cost)] if total.requests else [])])


def _stored(total: ForecastRow) -> str:
    return f"{count(total.stored, 'reply', 'replies')} from the store"


def _price(total: ForecastRow, max_cost: float | None) -> str:
    if total.expected.dollars is None:
        return "cost unknown" if max_cost is None else f"cost unknown, at most {dollars(max_cost, up=True)}"
    about = f"{'at least' if total.expected.more or total.more else 'about'} {dollars(total.expected.dollars)}"
    worst = None if total.worst.more or total.more else total.worst.dollars  # replies decide what follows
    bounds = [bound for bound in (worst, max_cost) if bound is not None]
    return f"{about}, at most {dollars(min(bounds), up=True) if bounds else UNKNOWN}"


def amount(cost: CostAmount, up: bool = False) -> str:
    """Return an amount as "$0.12", as "at least $0.12" if part of it is unknown, or as "unknown"."""
    if cost.dollars is None:
        return UNKNOWN
    return f"{'at least ' if cost.more else ''}{dollars(cost.dollars, up and not cost.more)}"


def dollars(cost: float, up: bool = False) -> str:
    """Return US dollars to the cent, below ten cents to a hundredth of a cent; rounded up if `up`, for bounds."""
    digits = 2 if cost >= 0.1 or cost == 0 else 4
    scaled = round(cost * 10**digits, 6)  # 1.4 is no 1.41 though its sum may come out at 1.4000000000000001
    rounded = (ceil(scaled) if up else round(scaled)) / 10**digits
    return f"${rounded:,.{digits}f}" if rounded or not cost else "under $0.0001"


def _with_headings(rows: Sequence[ForecastRow]) -> list[tuple[str, ForecastRow | None]]:
    """Return the rows of groups, with a heading above each section and, if there are several, each family."""
    headed_rows: list[tuple[str, ForecastRow | None]] = []
    several, family, section = len({row.family for row in rows}) > 1, "", ""
    for row in rows:
        if several and row.family != family:
            family, section = row.family, ""
            headed_rows.append((f"family {family}", None))
        if row.section != section:
            section = row.section
            headed_rows += [(section, None)] if section else []
        headed_rows.append((f"  {row.name}" if section or several else row.name, row))
    return headed_rows


def _table(group: str, rows: Sequence[tuple[str, ForecastRow | None]], width: int, replay: bool) -> Lines:
    """Return the rows as a table with as many columns as fit; names are shortened if even the fewest do not."""
    lines: list[str] = []
    for chosen, short in _choices([row for _, row in rows if row is not None], replay):
        titles = [group, *(column.short if short else column.title for column in chosen)]
        cells = [[name, *(column.cell(row) if row else "" for column in chosen)] for name, row in rows]
        lines = table(titles, cells, "l" + "r" * len(chosen))
        if max(map(columns, lines)) <= width:
            break
    else:
        lines = table(titles, cells, "l" + "r" * len(chosen), width)
    strong = [True, *(row is None or row.name == "total" for _, row in rows)]
    return [(line, {"bold": True} if bold else {}) for line, bold in zip(lines, strong, strict=True)]


def _choices(rows: Sequence[ForecastRow], replay: bool) -> Iterator[tuple[list[_Column], bool]]:
    """Yield selections of columns from the widest to the narrowest, and whether their titles are short."""
    if replay:
        yield [_QUESTIONS, _STORED, _MISSING], False
        return
    stored = [_STORED] if any(row.stored for row in rows) else []
    stored += [_SHARED] if any(row.shared for row in rows) else []
    yield [_QUESTIONS, _REQUESTS, *stored, _TOKENS, _EXPECTED, _WORST], False
    yield [_QUESTIONS, _REQUESTS, *stored, _TOKENS, _EXPECTED, _WORST], True
    yield [_REQUESTS, *stored, _TOKENS, _EXPECTED, _WORST], True
    yield [_REQUESTS, _EXPECTED, _WORST], True


def _notes(plan: RunForecast) -> Iterator[str]:
    for total in plan.totals:
        name, basis = one_line(total.model), plan.bases.get(total.model)
        if total.expected.dollars is None or total.expected.more:
            yield (
                f"the price of {name} is not known; state it in US dollars for a million tokens in and out: "
                f"--taskgraph-price {name}=IN/OUT"
            )
        elif basis is not None and total.requests:
            yield f"{name}: {_expected(basis)}; {_bound(basis, total, plan.retries)}"
    if plan.total.measuring:
        measuring = count(plan.total.measuring, "request")
        yield f"{measuring} at most to judges and embedders; what they cost is not in these sums"
    if plan.total.more:
        yield "some questions send more requests, as their replies turn out; what those cost is not in these sums"


def _expected(basis: CostBasis) -> str:
    """Return the clause that says what the expected cost is computed from."""
    if basis.samples:
        return f"expected are replies of {basis.expected:,} tokens, the mean of {basis.samples:,} stored ones"
    kind = ", as of a model that reasons" if basis.reasons else ""
    return f"expected are replies of {basis.expected:,} tokens (an assumption{kind}: no reply is stored yet)"


def tightness(plan: RunForecast, max_cost: float | None) -> str:
    """Return a line that says how far the limit of cost restricts concurrent requests.

    Counted for the request that may cost most; empty if at least 20 fit.
    """
    if max_cost is None or not plan.largest:
        return ""
    fitting = int(max_cost * (1 + 1e-9) / plan.largest)
    if fitting >= AT_A_TIME:
        return ""
    each = f"a request may cost up to {dollars(plan.largest, up=True)}"
    help_ = "--taskgraph-model-option max_tokens=N lowers it"
    if not fitting:
        return f"--taskgraph-max-cost={max_cost:g} is too low to ask every question: {each}; {help_}"
    return f"--taskgraph-max-cost={max_cost:g} lets {count(fitting, 'request')} or more be in flight: {each}; {help_}"


def _bound(basis: CostBasis, total: ForecastRow, retries: int) -> str:
    """Return the clause that says what the worst cost is computed from, and how to lower it."""
    sources = {
        "setting": "as max_tokens allows",
        "model": "the limit of the model",
        "assumed": "an assumption: the limit of the model is unknown",
    }[basis.bound]
    once = "" if total.worst.dollars is None else f" (once: {dollars(total.worst.dollars / (1 + retries), up=True)})"
    again = f", each request repeated {count(retries, 'time')} and billed each time{once}" if retries else ""
    lower = "" if basis.bound == "setting" else "; --taskgraph-model-option max_tokens=N lowers it"
    return f"at worst, replies have {basis.longest:,} tokens ({sources}){again}{lower}"
