"""The options: one table, read as flag, then environment, then ini, then profile, then default."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from .profiles import PROFILES, profiled

if TYPE_CHECKING:
    from ..benchmarks.settings import Settings

ALIAS = "taskgraph_model_alias"
SHARES = ("pass-mark", "max-errors", "margin")  # options that take a number from 0 to 1


@dataclass(frozen=True)
class Option:
    """One option: `--taskgraph-NAME`, the ini value `taskgraph_NAME`, the environment variable `TASKGRAPH_NAME`."""

    name: str
    metavar: str
    help: str
    default: str = ""
    repeatable: bool = False
    choices: tuple[str, ...] = ()
    switch: bool = False  # takes no value; in ini and environment "true"

    @property
    def dest(self) -> str:
        """The name of its value, also in ini files."""
        return f"taskgraph_{self.name.replace('-', '_')}"


OPTIONS = {
    option.name: option
    for option in (
        Option(
            "model", "SPEC[@@NAME]", "who is asked: any litellm name; recorded:FILE; python:MODULE:NAME, your own "
            "application; baseline, or baseline:NAME for an embedded baseline (reader, lexical, random, constant, "
            "first-mentioned); oracle:ACCURACY for testing the machinery. NAME stands for it in ids and reports. "
            "--model is an alias, unless the project owns that name. Repeatable", "baseline", repeatable=True,
        ),
        Option("model-option", "K=V", "a setting passed to the model as it is, such as api_base=URL or temperature=0; "
               "nothing else is sent. Repeatable", repeatable=True),
        Option("seed", "N", "what is generated follows from it", "0"),
        Option("instances", "N", "questions a pattern, size and notation", "4"),
        Option("tasks", "N[,N]", "sizes of generated workflows, in tasks", "12"),
        Option("notation", "NAME[,NAME]", "how workflows are written: wadl, wadl-separate, wadl-expanded, mermaid, "
               "json, prose; own files are converted only where this is given", "wadl"),
        Option("names", "KIND", "names in generated workflows: neutral (Task7), domain (tasks of a domain, in an order "
               "that makes sense), misleading (in one that contradicts sense), or mixed (each in turn)", "mixed",
               choices=("mixed", "neutral", "domain", "misleading")),
        Option("phrasing", "WHICH", "first, second, or both in turn", "both", choices=("both", "first", "second")),
        Option("workflow", "PATH", "ask about your own workflow: a file, or a folder that is one project. Its text is "
               "sent to the model. Repeatable", repeatable=True),
        Option("frame", "NAME|FILE", "how the question is put: direct, think-first, answer-first, few-shot, guided, "
               "or a Jinja file", "think-first"),
        Option("presentation", "KIND", "up-front: the workflow stands in the prompt; agent: the model asks for "
               "specifications through tools", "up-front", choices=("up-front", "agent")),
        Option("shots", "K", "solved examples before each question, about other workflows (default: the frame's, "
               "0 but for few-shot)"),
        Option("templates", "DIR", "a folder of Jinja files that stand in for the built-in ones of the same name"),
        Option("vary", "RELATION[,RELATION]", "ask each question also renamed, shuffled, in another notation, in the "
               "other phrasing, or beside another workflow: names, order, notation, phrasing, distractor; in a table "
               "of its own, in no rate"),
        Option("text-metric", "NAME[,NAME]", "how open answers are marked: rouge1, rouge2, rouge_l, rouge1_recall, "
               "bertscore, cosine (needs an embedder), judge (needs a judge model); the first decides", "rouge1"),
        Option("judge-model", "SPEC", "the model that judges open answers, for --taskgraph-text-metric=judge"),
        Option("judge-option", "K=V", "a setting passed to the judge's model, as --taskgraph-model-option is to that "
               "which is asked. Repeatable", repeatable=True),
        Option("embedder", "SPEC", "the model that embeds texts, for --taskgraph-text-metric=cosine"),
        Option("embedder-option", "K=V", "a setting passed to the embedder. Repeatable", repeatable=True),
        Option("reading", "KIND", "how replies are read: lenient, or strict as the study did", "lenient",
               choices=("lenient", "strict")),
        Option("pass-mark", "X", "the main score that passes, 0 to 1, of open answers too; 0: none passes or fails, "
               "all questions are graded (default: the answer form's, 0 for open answers)"),
        Option("repeats", "N", "ask each question N times, each an item of its own", "1"),
        Option("concurrency", "N", "requests in flight (default: adapts, from 20 on; shared by all workers)"),
        Option("rpm", "N", "requests a minute, at most"),
        Option("tpm", "N", "tokens a minute, at most; counted by characters until the provider tells"),
        Option("retries", "N", "how often a request that failed is repeated", "5"),
        Option("timeout", "SECONDS", "for one attempt at a request", "300"),
        Option("question-timeout", "SECONDS", "for all that one question takes: attempts, pauses, turns", "1800"),
        Option("store", "PATH", "where replies are kept: a folder (default: .taskgraph in the root folder)"),
        Option("replay", "", "take all replies from the store; nothing is sent", switch=True),
        Option("refresh", "", "ask again, though a reply is stored", switch=True),
        Option("plan", "", "print what would be asked and what it would cost; ask nothing", switch=True),
        Option("max-calls", "N", "requests sent at most, by all workers together; every attempt counts"),
        Option("max-cost", "USD", "US dollars spent at most, what is in flight included"),
        Option("price", "[MODEL=]IN/OUT", "US dollars for a million tokens in and out, where the price is not known. "
               "Repeatable", repeatable=True),
        Option("progress", "SECONDS", "between lines that tell how far the run is; 0: none", "30"),
        Option("judge", "WHAT", "what fails: questions (each wrong answer), gates (the cases that judge the whole "
               "run), none (a survey), or auto: gates where a budget is set, none for the default baseline, else "
               "questions", "auto", choices=("auto", "questions", "gates", "none")),
        Option("gate", "EXPR", "a case that judges the run, such as structure>=0.8, next_tasks.jaccard>=0.7, or "
               "structure>=0.8@95% to be certain. Repeatable", repeatable=True),
        Option("max-errors", "SHARE", "missing replies that are allowed, 0 to 1; above 0 a gate judges them", "0"),
        Option("save", "NAME", "keep the record of this run under a name, to be compared with"),
        Option("compare", "NAME|PATH", "compare with a saved run, question by question; last: the run before"),
        Option("fail-on", "WHAT[,WHAT]", "what a comparison fails on: regression, inconclusive, missing"),
        Option("margin", "X", "a loss that is none worth speaking of, 0 to 1, for comparisons", "0.05"),
        Option("report", "KIND=PATH", "write a report: json (the record), md, html or csv. Repeatable",
               repeatable=True),
        Option("junit-properties", "BOOL", "whether each test case of --junitxml holds properties", "true",
               choices=("true", "false")),
        Option("profile", "NAME", "a bundle of other options: dev, ci or full", choices=tuple(PROFILES)),
    )
}  # fmt: skip


def add_options(parser: pytest.Parser) -> None:
    """All options in one group of `pytest --help`, each with its ini twin."""
    group = parser.getgroup("taskgraph", "benchmarks of workflow understanding")
    for option in OPTIONS.values():
        text = option.help + (f" (default: {option.default})" if option.default else "")
        takes: dict[str, Any] = {"metavar": option.metavar, "action": "append" if option.repeatable else "store"}
        if option.switch:
            takes = {"action": "store_const", "const": "true"}
        group.addoption(
            f"--taskgraph-{option.name}", dest=option.dest, default=None, help=text.replace("%", "%%"), **takes
        )
        kind: Literal["linelist", "string"] = "linelist" if option.repeatable else "string"
        parser.addini(option.dest, f"as --taskgraph-{option.name}", type=kind, default=None)


def given(config: pytest.Config, name: str) -> list[str] | None:
    """The values that the user set for an option, by flag, environment, ini or profile; None if by none of them.

    Raises pytest.UsageError for a profile that there is not.
    """
    found = _stated(config, name)
    if found is not None or name == "profile":
        return found
    return profiled(value(config, "profile"), name)


def _stated(config: pytest.Config, name: str) -> list[str] | None:
    """The values that were set for the option itself, by flag, environment or ini; None if by none of them."""
    option = OPTIONS[name]
    flags = config.getoption(option.dest, None)
    if name == "model":
        flags = [*(flags or ()), *(config.getoption(ALIAS, None) or ())] or None
    if flags is not None:
        return flags if isinstance(flags, list) else [flags]
    stated = os.environ.get(option.dest.upper(), config.getini(option.dest))
    if isinstance(stated, str):
        stated = stated.splitlines() if option.repeatable else [stated]
    found = [one.strip() for one in stated or () if one.strip()]
    # A model that was to be set, and is empty, must not pass as the default baseline: it is given, and refused.
    return found or ([""] if name == "model" and stated is not None else None)


def flagged(config: pytest.Config, name: str) -> bool:
    """Whether the option stands on the command line, or in pytest's own addopts."""
    return config.getoption(OPTIONS[name].dest, None) is not None


def idle(config: pytest.Config) -> bool:
    """Whether the session will run no item."""
    return any(map(config.getoption, ("collectonly", "setupplan", "setuponly"))) or switched(config, "plan")


def values(config: pytest.Config, name: str) -> list[str]:
    """The values of an option, the default included. Raises pytest.UsageError for one that is empty or no choice."""
    option = OPTIONS[name]
    found = given(config, name)
    if found is None:
        found = [option.default] if option.default else []
    for one in found:
        if not one.strip():
            raise pytest.UsageError(f"--taskgraph-{name}: nothing given; expected {option.metavar}")
        if option.choices and one not in option.choices:
            raise pytest.UsageError(f"--taskgraph-{name}: {one!r}; known: {', '.join(option.choices)}")
    return found


def value(config: pytest.Config, name: str) -> str:
    """The value of an option that takes one; the empty text where there is none."""
    return (values(config, name) or [""])[-1]


def switched(config: pytest.Config, name: str) -> bool:
    """Whether a switch is on. Raises pytest.UsageError for a value that is neither true nor false."""
    stated = value(config, name).lower() or "false"
    if stated not in ("true", "false"):
        raise pytest.UsageError(f"--taskgraph-{name}: {stated!r}; expected true or false")
    return stated == "true"


def number(config: pytest.Config, name: str, least: float = 0.0) -> float | None:
    """The number that an option gives; None where it gives none.

    Raises pytest.UsageError below `least`, and above 1 where the option is one of SHARES.
    """
    stated = value(config, name)
    if not stated:
        return None
    try:
        found = float(stated)
    except ValueError:
        found = float("nan")
    share = name in SHARES
    if not least <= found < float("inf") or (share and found > 1):
        expected = "a number from 0 to 1" if share else f"a number of at least {least:g}"
        raise pytest.UsageError(f"--taskgraph-{name}: {stated!r}; expected {expected}")
    return found


def whole(config: pytest.Config, name: str, least: int = 0) -> int | None:
    """The whole number that an option gives; None where it gives none. Raises pytest.UsageError below `least`."""
    return _whole(config, name, least)[0] if value(config, name) else None


def store_folder(config: pytest.Config) -> Path:
    """The folder of the store of replies, whether it is there or not."""
    named = value(config, "store")
    return Path(config.invocation_params.dir, named) if named else config.rootpath / ".taskgraph"


def settings(config: pytest.Config) -> Settings:
    """What decides the questions. Raises pytest.UsageError for a value that is not of its kind."""
    from ..benchmarks.settings import Settings

    return Settings(
        seed=_whole(config, "seed")[0],
        instances=_whole(config, "instances", least=1)[0],
        tasks=_whole(config, "tasks", least=1),
        notations=_parts(config, "notation"),
        convert=given(config, "notation") is not None,
        names=value(config, "names"),  # type: ignore[arg-type]
        phrasing=value(config, "phrasing"),  # type: ignore[arg-type]
        frame=value(config, "frame"),
        presentation=value(config, "presentation"),  # type: ignore[arg-type]
        shots=_whole(config, "shots", least=0)[0] if given(config, "shots") else None,
        templates=value(config, "templates"),
        vary=_parts(config, "vary") if given(config, "vary") else (),
        text_metrics=_parts(config, "text-metric"),
        reading=value(config, "reading"),  # type: ignore[arg-type]
        workflows=tuple(dict.fromkeys(values(config, "workflow"))),
        pass_mark=number(config, "pass-mark"),
        given=frozenset(
            name for name, option in (("tasks", "tasks"), ("instances", "instances"), ("notations", "notation"))
            if given(config, option) is not None
        ),
    )  # fmt: skip


def pairs(config: pytest.Config, name: str) -> list[tuple[str, str]]:
    """Key and value of an option that takes KEY=VALUE. Raises pytest.UsageError for one without a key or "="."""
    found = []
    for one in values(config, name):
        key, equals, rest = one.partition("=")
        if not equals or not key.strip():
            shown = repr(one) if one.isidentifier() and one.islower() else "a value without a name"  # it may be a key
            raise pytest.UsageError(f"--taskgraph-{name}: {shown}; expected {OPTIONS[name].metavar}")
        found.append((key.strip(), rest))
    return found


def _parts(config: pytest.Config, name: str) -> tuple[str, ...]:
    parts = tuple(part.strip() for part in value(config, name).replace(",", " ").split())
    if not parts:
        raise pytest.UsageError(f"--taskgraph-{name}: nothing given; expected {OPTIONS[name].metavar}")
    return tuple(dict.fromkeys(parts))


def _whole(config: pytest.Config, name: str, least: int | None = None) -> tuple[int, ...]:
    found = []
    for part in _parts(config, name):
        try:
            found.append(int(part))
        except ValueError:
            raise pytest.UsageError(f"--taskgraph-{name}: {part!r}; expected a whole number") from None
        if least is not None and found[-1] < least:
            raise pytest.UsageError(f"--taskgraph-{name}: {part}; expected at least {least}")
    return tuple(found)
