"""How far a run is, on one line: what stands below a terminal's current line, or in a CI log now and then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..escape import columns, one_line, shorten

LONGEST_REASON = 40


def line(
    done: int,
    total: int,
    in_flight: int | None,
    errors: int,
    cost: float,
    unpriced: int,
    elapsed: float,
    left: float | None,
    waiting: Mapping[str, float],
    width: int,
) -> str:
    """The line, at most `width` columns: "81/300 answered, 20 in flight, 2 errors, $0.08, 12 s, about 34 s left".

    `in_flight` and `left` are None where nobody knows; `cost` is in US dollars and leaves out the `unpriced` replies;
    `elapsed` and `left` are seconds; `waiting` says why nothing is sent, each with the seconds it will last.
    What is zero or not known is left out. Where the line is too long, whole parts go, the least telling first; what
    was answered, and of how many, goes last.
    """
    parts = [
        (0, f"{done}/{total} answered"),
        (6, f"{in_flight} in flight" if in_flight else ""),
        (1, f"{errors} error{'s' if errors != 1 else ''}" if errors else ""),
        (4, _money(cost, unpriced)),
        (5, duration(elapsed)),
        (3, f"about {duration(left)} left" if left is not None else ""),
        (2, _longest(waiting)),
    ]
    said = [(rank, text) for rank, text in parts if text]
    return next((text for text in _ever_shorter(said) if columns(text) <= width), shorten(f"{done}/{total}", width))


def duration(seconds: float) -> str:
    """The time in the unit that suits it, never below zero: "34 s", "7 min", "2 h 5 min"."""
    whole = max(0, round(seconds))
    if whole < 100:
        return f"{whole} s"
    minutes = round(whole / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def _ever_shorter(parts: list[tuple[int, str]]) -> Iterator[str]:
    """The parts joined; then without the one of the highest rank, and so on down to the first."""
    for most in sorted((rank for rank, _ in parts), reverse=True):
        yield ", ".join(text for rank, text in parts if rank <= most)


def _money(cost: float, unpriced: int) -> str:
    """What was spent; a price that is not known is told as such, and never counted as nothing."""
    spent = f"${cost:.2f}" if cost >= 0.005 else "under $0.01" if cost > 0 else ""
    unknown = f"{unpriced} of unknown cost" if unpriced else ""
    return " and ".join(filter(None, [spent, unknown]))


def _longest(waiting: Mapping[str, float]) -> str:
    """The reason that lasts longest."""
    if not waiting:
        return ""
    why, seconds = max(waiting.items(), key=lambda one: (one[1], one[0]))
    return f"waiting on {one_line(why, LONGEST_REASON)}, {duration(seconds)}"
