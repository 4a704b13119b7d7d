"""Properties for pytest's own JUnit report: of a test case, and of the suite.

Plain pairs of texts, XML-safe and on one line each; the plugin passes them to LogXML. The order is always the same.
"""

from __future__ import annotations

import shlex
from typing import Literal

from ..family_description import FamilyDescription
from ..results.record import About
from ..results.record.facts import RunUsage
from ..results.tally import Group, Tally
from ..trial import PROMPT, SEED, Trial
from ..usage import TOKENS
from .escape import one_line
from .trial_columns import TrialRow
from .wording import interval

LONGEST = 200  # columns of a value
LONGEST_COMMAND = 2_000  # columns of the command line

Properties = list[tuple[str, str]]


def properties(trial: Trial, described: FamilyDescription) -> Properties:
    """Return the properties of a test case; what is unknown (score, tokens, cost) is left out, never 0.

    Tokens and cost are sums over all replies for which they are known.

    Args:
        trial: The trial of the case.
        described: The description of its family, which names its group and section.
    """
    question, row = trial.question, TrialRow(trial)
    score, stored, cost = row["score"], row["stored"], row["cost_usd"]
    values = {
        "outcome": row["outcome"],
        "score": None if score is None else _number(score),
        described.group: row["group"],
        described.section: row["section"],
        **{name: question.labels.get(name) for name in (*described.presented_by, PROMPT, SEED)},
        "relation": row["relation"] or None,
        "model": row["model"],
        **{name: row[name] for name in TOKENS},
        "stored": None if stored is None else "yes" if stored else "no",
        "cost_usd": None if cost is None else f"{cost:.6f}",
        "expected": row["expected"],
        "given": row["given"],
        "remark": row["remark"] or trial.failure_text or None,
    }
    return [(f"taskgraph.{name}", _value(value)) for name, value in values.items() if value is not None]


def suite_properties(tally: Tally, about: About) -> Properties:
    """Return the properties of the suite: the facts of the run, its totals, and lines of numbers.

    Each section, group and relation has a line. Graded questions are in the lines of their groups, and counted in the
    others. With several models each such name ends in the model's, in brackets; with several families it begins with
    the family's.
    """
    facts: dict[str, str | int | None] = {
        "model": ", ".join(about.models),
        "simulated": "yes" if about.simulated else None,
        "seed": about.seeds,
        **about.facts,
        "prompt": ", ".join(about.prompts),
        "parsing": about.parsing,
        "fail_on": ",".join(about.fail_on) or "nothing",
        "version": about.version,
    }
    facts |= _provenance_facts(about)
    facts |= _usage_facts(about.usage) if about.usage else {}
    pairs = [
        (f"taskgraph.{name}", one_line(str(value), LONGEST_COMMAND if name == "command" else LONGEST))
        for name, value in facts.items()
        if value not in (None, "")
    ]
    several = len(tally.models) > 1
    for model in tally.models:
        end = f"[{one_line(model, LONGEST)}]" if several else ""
        pairs += [
            (f"taskgraph.{name}{end}", value) for name, value in _numbers(tally, tally.total_group(model)).items()
        ]
        for family in tally.families:
            pairs += _family_properties(tally.of_family(family), model, end, len(tally.families) > 1)
    return pairs


def _family_properties(tally: Tally, model: str, end: str, several: bool) -> Properties:
    """Return the lines of one family and model."""
    (family,) = tally.families
    start = f"taskgraph.{one_line(family, LONGEST)}." if several else "taskgraph."
    lines = [*_rows(tally, "section", model, start, end), *_rows(tally, "group", model, start, end)]
    lines += _rows(tally, PROMPT, model, start, end) if tally.pooled_prompts else []
    whole = tally.total_group(model)
    if several and whole.trials:
        lines.append((f"{start}total{end}", _numbers_text(tally, whole)))
    return lines + [
        (f"{start}relation.{one_line(relation.name, LONGEST)}{end}", f"pairs={relation.pairs} same={relation.same}")
        for relation in tally.relations(model)
    ]


def _provenance_facts(about: About) -> dict[str, str | int | None]:
    """Return the circumstances of the run, and the versions of its question sets."""
    facts: dict[str, str | int | None] = {
        f"question_set.{name}": version for name, version in about.question_sets.items()
    }
    if (provenance := about.provenance) is None:
        return facts
    return facts | {
        "started": provenance.started,
        "seconds": None if provenance.seconds is None else f"{provenance.seconds:g}",
        "command": shlex.join(provenance.command),
        "git_commit": provenance.commit,
        "git_dirty": None if provenance.dirty is None else "yes" if provenance.dirty else "no",
        **{f"version.{name}": version for name, version in provenance.versions.items()},
        "platform": provenance.platform,
    }


def _usage_facts(usage: RunUsage) -> dict[str, str | int]:
    """Return what the run sent and spent, and what the store answered; incomplete sums are left out."""
    live, stored = usage.live, usage.stored
    facts: dict[str, str | int] = {
        "requests_sent": usage.sent,
        "requests_answered": live.replies,
        "retries": usage.retries,
        "tokens_in": live.tokens_in or 0,
        "tokens_out": live.tokens_out or 0,
        **({"tokens_reasoning": live.tokens_reasoning} if live.tokens_reasoning else {}),
        "cost_usd": f"{live.cost or 0:.6f}",
        "replies_stored": stored.replies,
        "stored_cost_usd": f"{stored.cost or 0:.6f}",
    }
    unknown = dict.fromkeys(TOKENS, live.untold)
    unknown["cost_usd"] = live.unpriced
    unknown["stored_cost_usd"] = stored.unpriced
    return {name: value for name, value in facts.items() if not unknown.get(name) and usage.complete}


def _rows(tally: Tally, by: Literal["group", "section", "prompt"], model: str, start: str, end: str) -> Properties:
    word = by if by == PROMPT else tally.descriptions.word(by, tally.families)
    graded = tally.groups(by, model, graded=True) if by != "section" else []
    return [
        (f"{start}{word}.{one_line(group.name, LONGEST)}{end}", _numbers_text(tally, group))
        for group in [*tally.groups(by, model), *graded]
        if group.name
    ]


def _numbers_text(tally: Tally, group: Group) -> str:
    return " ".join(f"{name}={value}" for name, value in _numbers(tally, group).items())


def _numbers(tally: Tally, group: Group) -> dict[str, str]:
    """Return the numbers of a row by name.

    Rate, its 95 % interval and mean are "none" if no question was answered; the chance level is left out if it is
    unknown. Graded questions have a mean and its interval, and no rate; beside others they are only counted.
    """
    row = tally.row(group)
    passed = {} if group.graded else {"right": str(row.right), "rate": _number(row.rate)}
    graded = {"graded": str(row.graded)} if row.graded else {}
    chance = {} if row.chance is None else {"chance": _number(row.chance)}
    return {
        "n": str(row.n),
        **passed,
        "interval": interval(group.interval) if group.interval else "none",
        "mean": _number(row.mean),
        "errors": str(row.errors),
        "unparseable": str(row.unparseable),
        "refused": str(row.refused),
        "skipped": str(row.skipped),
        **graded,
        **chance,
    }


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"


def _value(value: object) -> str:
    return one_line(str(value), LONGEST)
