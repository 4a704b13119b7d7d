"""The plan of a run for the terminal: what would be asked and what it would cost, and both in one line.

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
    """The plan, a table for each model and the total of all, each line of at most `width` columns (width >= 40).

    The limits of the run bind the last line, as they bind the first line of the run; the tables are without them.
    `replay`: nothing can be sent, so that requests are replies that the store lacks.
    """
    found: Lines = []
    for total in plan.totals:
        found.append((one_line(f"model {total.model}", width), {"bold": True}))
        rows = [*_with_headings(plan.rows_of(total.model)), ("total", total)]
        found += [*_table(plan.group, rows, width, replay), ("", {})]
    told = f"taskgraph plan: {forecast(plan, max_calls, max_cost, replay)}; nothing was asked"
    found += [(line, {"bold": True}) for line in wrap(told, width, 3)]
    notes = () if replay else _notes(plan)
    return found + [(line, {"yellow": True}) for note in notes for line in wrap(note, width, 4)]


def forecast(
    plan: RunForecast,
    max_calls: int | None = None,
    max_cost: float | None = None,
    replay: bool = False,
    sampled: bool = False,
) -> str:
    """The plan in one line: "184 requests, about $0.12, at most $1.40"; the limits of the run bind where they are less.

    The requests are those of a run in which every attempt succeeds. `replay` as in `lines`. `sampled`: the plan was
    made from some of the questions, so that its counts are no exact ones.
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
    """The amount as "$0.12", "at least $0.12" where there is more that is not known, or "unknown"."""
    if cost.dollars is None:
        return UNKNOWN
    return f"{'at least ' if cost.more else ''}{dollars(cost.dollars, up and not cost.more)}"


def dollars(cost: float, up: bool = False) -> str:
    """US dollars to the cent, below ten cents to a hundredth of it; rounded up where `up`, as a bound has to be."""
    digits = 2 if cost >= 0.1 or cost == 0 else 4
    scaled = round(cost * 10**digits, 6)  # 1.4 is no 1.41 though its sum may come out at 1.4000000000000001
    rounded = (ceil(scaled) if up else round(scaled)) / 10**digits
    return f"${rounded:,.{digits}f}" if rounded or not cost else "under $0.0001"


def _with_headings(rows: Sequence[ForecastRow]) -> list[tuple[str, ForecastRow | None]]:
    """The rows of groups, a line with the section's name above the first of each, and with that of one of families."""
    found: list[tuple[str, ForecastRow | None]] = []
    several, family, section = len({row.family for row in rows}) > 1, "", ""
    for row in rows:
        if several and row.family != family:
            family, section = row.family, ""
            found.append((f"family {family}", None))
        if row.section != section:
            section = row.section
            found += [(section, None)] if section else []
        found.append((f"  {row.name}" if section or several else row.name, row))
    return found


def _table(group: str, rows: Sequence[tuple[str, ForecastRow | None]], width: int, replay: bool) -> Lines:
    """The rows as a table with as many columns as find room; where even few do not, the names are shortened."""
    drawn: list[str] = []
    for chosen, short in _choices([row for _, row in rows if row is not None], replay):
        titles = [group, *(column.short if short else column.title for column in chosen)]
        cells = [[name, *(column.cell(row) if row else "" for column in chosen)] for name, row in rows]
        drawn = table(titles, cells, "l" + "r" * len(chosen))
        if max(map(columns, drawn)) <= width:
            break
    else:
        drawn = table(titles, cells, "l" + "r" * len(chosen), width)
    strong = [True, *(row is None or row.name == "total" for _, row in rows)]
    return [(line, {"bold": True} if bold else {}) for line, bold in zip(drawn, strong, strict=True)]


def _choices(rows: Sequence[ForecastRow], replay: bool) -> Iterator[tuple[list[_Column], bool]]:
    """Selections of columns from the widest to the narrowest, and whether their titles are short."""
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
    """What the expected cost rests on."""
    if basis.samples:
        return f"expected are replies of {basis.expected:,} tokens, the mean of {basis.samples:,} stored ones"
    kind = ", as of a model that reasons" if basis.reasons else ""
    return f"expected are replies of {basis.expected:,} tokens (an assumption{kind}: no reply is stored yet)"


def tightness(plan: RunForecast, max_cost: float | None) -> str:
    """Return what a limit of cost holds up, in a line; the empty text where at least 20 requests fit at a time.

    Counted for the request that may cost most.
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
    """What the worst cost rests on, and how to lower it."""
    says = {
        "setting": "as max_tokens allows",
        "model": "the limit of the model",
        "assumed": "an assumption, for nobody says the limit of the model",
    }[basis.bound]
    once = "" if total.worst.dollars is None else f" (once: {dollars(total.worst.dollars / (1 + retries), up=True)})"
    again = f", each request repeated {count(retries, 'time')} and billed each time{once}" if retries else ""
    lower = "" if basis.bound == "setting" else "; --taskgraph-model-option max_tokens=N lowers it"
    return f"at worst, replies have {basis.longest:,} tokens ({says}){again}{lower}"
