"""Progress of a run in one line, for the last line of a terminal or for the log of a CI job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..escape import columns, one_line, shorten
from ..wording import count, duration

LONGEST_REASON = 40


def line(
    done: int,
    total: int,
    in_flight: int | None,
    errors: int,
    timeouts: int,
    retries: int,
    cost: float,
    unpriced: int,
    elapsed: float,
    left: float | None,
    waiting: Mapping[str, float],
    width: int,
) -> str:
    """Return the progress: "81/300 answered, 20 in flight, 2 errors, 3 retries, $0.08, 12 s, about 34 s left".

    What is zero or unknown is left out. If the line is too long, whole parts are left out, the least important first
    and the count of answers last.

    Args:
        done: How many questions are answered.
        total: How many questions there are.
        in_flight: How many requests are in flight; None if unknown.
        errors: How many questions ended in an error.
        timeouts: How many attempts timed out.
        retries: How many attempts were repeated.
        cost: The cost in US dollars, without the `unpriced` replies.
        unpriced: How many replies have an unknown cost.
        elapsed: Seconds since the start.
        left: The estimated seconds to the end; None if unknown.
        waiting: The reasons why no request is sent, each with the seconds that it lasts.
        width: The columns that the line may take.
    """
    parts = [
        (0, f"{done}/{total} answered"),
        (8, f"{in_flight} in flight" if in_flight else ""),
        (1, count(errors, "error") if errors else ""),
        (2, count(timeouts, "timeout") if timeouts else ""),
        (7, count(retries, "retry", "retries") if retries else ""),
        (5, _money(cost, unpriced)),
        (6, duration(elapsed)),
        (4, f"about {duration(left)} left" if left is not None else ""),
        (3, _longest_wait(waiting)),
    ]
    filled_parts = [(rank, text) for rank, text in parts if text]
    return next(
        (text for text in _shortened_texts(filled_parts) if columns(text) <= width), shorten(f"{done}/{total}", width)
    )


def _shortened_texts(parts: list[tuple[int, str]]) -> Iterator[str]:
    """Yield the parts joined; then without the part of the highest rank, and so on down to the first."""
    for most in sorted((rank for rank, _ in parts), reverse=True):
        yield ", ".join(text for rank, text in parts if rank <= most)


def _money(cost: float, unpriced: int) -> str:
    """Return the cost; replies of unknown cost are counted apart, never as 0."""
    spent = f"${cost:.2f}" if cost >= 0.005 else "under $0.01" if cost > 0 else ""
    unknown = f"{unpriced} of unknown cost" if unpriced else ""
    return " and ".join(filter(None, [spent, unknown]))


def _longest_wait(waiting: Mapping[str, float]) -> str:
    """Return the reason to wait that lasts longest."""
    if not waiting:
        return ""
    why, seconds = max(waiting.items(), key=lambda wait: (wait[1], wait[0]))
    return f"waiting on {one_line(why, LONGEST_REASON)}, {duration(seconds)}"
