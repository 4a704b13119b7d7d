"""Head of the HTML and Markdown reports: the verdict and the facts of the run."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from ..errors import BUDGET_KINDS
from ..installation import DISTRIBUTION
from ..results.case import INCONCLUSIVE, is_worse
from ..results.record import About
from ..results.scoreboard import is_baseline, order_models
from ..results.tally import Row, Tally
from .columns import graded_note, pooled_note
from .gate_lines import gate_state, sorted_gates
from .spending_line import RUN, TITLE, replies_line, sent_text, stored_text
from .wording import count, duration, fact_name, model_name, plural

if TYPE_CHECKING:
    from ..results.comparison import RunComparison

State = Literal["passed", "failed", "neutral"]
DECIDED = ("passed", "failed", INCONCLUSIVE)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Verdict on a run in a headline, with notes that qualify it."""

    state: State
    headline: str
    notes: list[str]
    counts: dict[str, list[tuple[str, int]]]
    """For each model, the number of trials of each outcome, those of varied questions left out."""


def verdict(record: Mapping[str, Any], tally: Tally, about: About, comparison: RunComparison | None = None) -> Verdict:
    """Return the verdict of the record: by gates if there are any, by answers if these fail the run.

    A run that is report only has no verdict. A comparison with the verdict "worse" fails a run that passed. The
    headline pools no models.
    """
    state, headline = _verdict(record, tally, about)
    if comparison is not None and is_worse(comparison.verdict):
        verdict_text = comparison.verdict.replace("worse", "Worse than before", 1)
        state, headline = "failed", f"{verdict_text}; {headline[:1].lower()}{headline[1:]}"
    counts = {model: _outcomes(tally, model) for model in order_models(tally.models)}
    return Verdict(state, headline, list(_notes(tally, about)), counts)


def _outcomes(tally: Tally, model: str) -> list[tuple[str, int]]:
    trials = [*tally.total_group(model).trials, *tally.total_group(model, graded=True).trials]
    outcomes: Counter[str] = Counter(trial.outcome for trial in trials)
    order = ("right", "wrong", "graded", "unparseable", "refused", "error", "skipped")
    return [(outcome, outcomes[outcome]) for outcome in order if outcomes[outcome]]


def _verdict(record: Mapping[str, Any], tally: Tally, about: About) -> tuple[State, str]:
    gates, total, graded = sorted_gates(record), tally.total(), tally.total(graded=True)
    right = _right_text(tally)
    if about.interrupted:
        return _interrupted_verdict(right, about)
    if not total.questions and not graded.questions and not gates:
        return "neutral", "No question was asked"
    if about.report_only and not any(gate_state(gate) in DECIDED for gate in gates):
        return "neutral", f"Report only: {right}"
    by_answers = _verdict_by_answers(tally, len(about.lost))
    if gates:
        by_gates = _verdict_by_gates(gates, total.errors + graded.errors)
        if "answers" in about.fail_on and by_answers[0] == "failed" and by_gates[0] != "failed":
            return "failed", f"{by_answers[1]}; {by_gates[1]}"
        return by_gates
    if "answers" not in about.fail_on:
        return "neutral", f"Fails on {', '.join(about.fail_on)} alone, and the record holds no such case: {right}"
    return by_answers


def _right_text(tally: Tally) -> str:
    """Return how many answers are right, and how many are graded; of several models, how many these are."""
    if len(tally.models) > 1:
        return _count_models(tally.models)
    total, graded = tally.total(), tally.total(graded=True)
    right = [f"{total.right:,} of {total.n:,} right"] if total.questions or not graded.questions else []
    return ", ".join([*right, *([f"{graded.n:,} graded"] if graded.n else [])])


def _count_models(models: Iterable[str], of: Sequence[str] = ()) -> str:
    """Return the numbers of models and baselines, such as "4 models and 1 baseline"; with `of`, how many of these."""
    asked, numbers = list(of or models), Counter(map(is_baseline, models))
    parts = [
        (f"{numbers[baseline]} of " if of else "") + count(sum(is_baseline(model) == baseline for model in asked), noun)
        for baseline, noun in ((False, "model"), (True, "baseline"))
        if numbers[baseline]
    ]
    return " and ".join(parts)


def _interrupted_verdict(right: str, about: About) -> tuple[State, str]:
    suffix = "; there is no verdict of gates" if "gates" in about.fail_on else ""
    state: State = "neutral" if about.report_only else "failed"
    return state, f"Interrupted: {right}{suffix}"


def _verdict_by_gates(gates: list[dict[str, Any]], missing: int) -> tuple[State, str]:
    outcomes = Counter(map(gate_state, gates))
    failed = sum(times for outcome, times in outcomes.items() if outcome not in ("passed", "skipped", INCONCLUSIVE))
    if failed:
        return "failed", f"{failed} of {count(len(gates), 'gate')} failed"
    if missing and not any("errors" in str(gate.get("name")) for gate in gates):
        return "failed", f"{count(missing, 'error')}; no gate failed"
    others = [f"{outcomes[INCONCLUSIVE]} {INCONCLUSIVE}"] if outcomes[INCONCLUSIVE] else []
    others += [f"{outcomes['skipped']} left out"] if outcomes["skipped"] else []
    if outcomes["passed"]:
        return "passed", ", ".join([f"{count(outcomes['passed'], 'gate')} passed", *others])
    if outcomes[INCONCLUSIVE]:
        return "neutral", f"No gate was decided: {', '.join(others)}"
    return "neutral", f"No gate was decided: {count(len(gates), 'gate')} left out"


def _verdict_by_answers(tally: Tally, lost: int) -> tuple[State, str]:
    """Return the verdict where each wrong answer fails the run; graded questions need an answer, of whatever score."""
    models = tally.models
    state, text = _verdict_on_rows(tally.total(), tally.total(graded=True), lost)
    if len(models) < 2 or state == "neutral":
        return state, text
    if state == "passed":
        return state, f"All right: {_count_models(models)}"
    rows = {model: (tally.total(model), tally.total(model, graded=True)) for model in models}
    failed = [model for model, of_model in rows.items() if _verdict_on_rows(*of_model, 0)[0] == "failed"]
    parts = [f"not all right: {_count_models(failed, models)}"] if failed else []
    return state, ", ".join([*parts, *([f"{lost:,} lost"] if lost else [])]).capitalize()


def _verdict_on_rows(total: Row, graded: Row, lost: int) -> tuple[State, str]:
    """Return the verdict on the totals of right or wrong answers and of graded ones, and on lost questions."""
    missing, unparsed = total.errors + graded.errors, graded.unparseable + graded.refused
    graded_text = f", {graded.n:,} graded" if graded.n else ""
    if missing or lost or unparsed or total.right < total.n:
        wrong = [f"{total.n - total.right:,} of {total.n:,} not right"] if total.right < total.n or not unparsed else []
        facts = {f"{unparsed:,} of {graded.n:,} graded without an answer": unparsed, count(missing, "error"): missing}
        return "failed", ", ".join([*wrong, *(fact for fact, of in {**facts, f"{lost:,} lost": lost}.items() if of)])
    if not total.n and graded.n:
        return "neutral", f"No answer is right or wrong{graded_text}"
    if not total.n:
        return "neutral", f"No answer is scored: {count(total.skipped + graded.skipped, 'question')} skipped"
    return "passed", (f"All {total.n:,} right" if total.n > 1 else "The question is right") + graded_text


def _notes(tally: Tally, about: About) -> Iterator[str]:
    """Yield the notes that qualify the scores."""
    if about.simulated:
        yield "A simulated model knows the answers and tests the machinery: its scores say nothing about a model."
    if about.report_only:
        yield "Report only: no answer, gate or comparison fails the run."
    if note_on_graded := graded_note(tally):
        yield f"{note_on_graded}."
    if note_on_prompts := pooled_note(tally):
        yield f"{note_on_prompts}."
    for budget, times in _unasked_by_budget(tally).items():
        yield f"The budget of {budget} was spent: {count(times, 'question')} not asked."
    skipped = sum(trial.outcome == "skipped" for trial in tally)
    if skipped:
        yield f"{count(skipped, 'question')} skipped: not counted in rates and means."
    errors = sum(trial.outcome == "error" for trial in tally)
    if errors:
        yield f"{count(errors, 'question')} without a reply: not counted in rates and means."
    if about.lost:
        yield f"{count(len(about.lost), 'question')} lost with a worker: asked, but without a result."
    elif about.questions is not None and len(tally) < about.questions:
        yield f"{about.questions:,} questions were collected, {len(tally):,} are in the record."


def _unasked_by_budget(tally: Tally) -> Counter[str]:
    """Return how many questions were not asked because of each budget, by what it limits."""
    kinds = (trial.failure.kind for trial in tally if trial.failure is not None)
    return Counter(BUDGET_KINDS[kind] for kind in kinds if kind in BUDGET_KINDS)


def _spending_facts(tally: Tally, about: About) -> list[tuple[str, str]]:
    """Return what the run sent and what the store answered; what the replies took if usage was not recorded."""
    usage = about.usage
    if usage is None:
        return [(TITLE, replies_line(tally).removeprefix(f"{TITLE}: "))]
    if not (usage.sent or usage.stored.replies):
        return []
    return [(RUN, sent_text(usage)), ("the store answered", stored_text(usage).removeprefix("the store answered "))]


def run_facts(tally: Tally, about: About) -> list[tuple[str, str]]:
    """Return the facts of the run as names and values."""
    total, graded = tally.total(), tally.total(graded=True)
    named_facts = [
        (plural("model", len(about.models)), ", ".join(map(model_name, order_models(about.models))) or "none"),
        ("answered", f"{total.n + graded.n:,} of {total.questions + graded.questions:,}"),
        *((fact_name(name, value), value) for name, value in about.facts.items()),
        (plural("prompt", len(about.prompts)), ", ".join(about.prompts)),
        ("parsing", about.parsing),
        ("fails on", ", ".join(about.fail_on) or "nothing"),
        (fact_name("seed", about.seeds), about.seeds),
        *_spending_facts(tally, about),
    ]
    return [(name, value) for name, value in named_facts if value not in ("", "-")]


def provenance_facts(about: About) -> list[tuple[str, str]]:
    """Return when, where and with what a run was made, as names and values; what is unknown is left out."""
    facts = [("question sets", ", ".join(f"{family} {version}" for family, version in about.question_sets.items()))]
    provenance = about.provenance
    if provenance is None:
        return [(name, value) for name, value in [*facts, (DISTRIBUTION, about.version)] if value]
    versions = {DISTRIBUTION: about.version} | provenance.versions
    changed = {True: ", with uncommitted changes", False: "", None: ""}[provenance.dirty]
    facts = [
        ("date", date_text(provenance.started)),
        ("duration", "" if provenance.seconds is None else duration(provenance.seconds)),
        ("command", shlex.join(provenance.command)),
        ("git commit", provenance.commit and provenance.commit + changed),
        *facts,
        *(("Python" if name == "python" else name, version) for name, version in versions.items()),
        ("platform", provenance.platform),
    ]
    return [(name, value) for name, value in facts if value]


def date_text(started: str) -> str:
    """Return a date and time of ISO 8601 as `2026-11-23 14:05:09 +01:00`; a damaged one as it is."""
    moment = _parse_date(started)
    if moment is None:
        return started
    zone = moment.strftime("%z")
    return f"{moment:%Y-%m-%d %H:%M:%S}" + (f" {zone[:3]}:{zone[3:5]}" if zone else "")


def moment_of(started: str) -> datetime | None:
    """Return the moment that a date and time of ISO 8601 states, in UTC if without a zone; None for a damaged one."""
    moment = _parse_date(started)
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment


def _parse_date(started: str) -> datetime | None:
    try:
        return datetime.fromisoformat(started)
    except ValueError:
        return None
