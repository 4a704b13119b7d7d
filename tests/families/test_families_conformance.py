"""What holds for every benchmark family, whatever it asks: a further one is an entry of FAMILIES."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from math import fsum
from pathlib import Path
from statistics import fmean, geometric_mean, harmonic_mean, stdev
from typing import Any
from xml.etree import ElementTree

import jsonschema  # type: ignore[import-untyped]
import pytest
from loopback import Answer, Loopback, Received, refuse, reply
from plugin_project import Project, Ran

from pytest_taskgraph.__main__ import main

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "record.schema.json").read_text(encoding="utf-8"))
KINDS = ("json", "md", "html", "csv", "tables")
REPORTS = (*(f"--taskgraph-report={kind}=r.{kind}" for kind in KINDS), "--junitxml=junit.xml")
RECORD = "--taskgraph-report=json=r.json"
REPORT_ONLY = "--taskgraph-fail-on=nothing"
PRICE = (1e-8, 20e-6)  # US dollars a token in and out
PRICED = ("--taskgraph-price=0.01/20", "--taskgraph-model-option=max_tokens=20")
FORBIDDEN = [chr(code) for code in (*range(9), 11, 12, *range(14, 32), 127, 0x202E)]
HOSTILE = "\x00\x1b[31m\x1b]0;title\x07 \u202e ]]> <script>alert(1)</script> @everyone ::error::no | \r \x0b\n=1+1\n"
TERMS = ["fork", "join", "trace", "cluster", "jackknife", "guard", "gateway", "loop"]
GLOSSARY = "term,topic,definition\n" + "".join(f"{one},{one[0]},{one} is what a {one[::-1]} is\n" for one in TERMS)
SUITE = """
from pytest_taskgraph import suite
from {module} import {family}

@suite({family}{options})
def test_{family}(trial):
    trial.check()
"""
TWO_METHODS = """
from pytest_taskgraph import suite
from {module} import {family}

@suite({family}, tasklama_method=["icl"])
def test_steps(trial):
    trial.check()

@suite({family}, tasklama_method=["golden_whole"], pass_threshold=1)
def test_graphs(trial):
    trial.check()
"""


@dataclass(frozen=True)
class Benchmark:
    """A family and a suite of it with `size` questions, of which some are graded and some right or wrong."""

    name: str
    module: str  # that a test file imports it from
    size: int
    requests: int  # of each question
    flags: tuple[str, ...] = ()
    options: str = ""  # of the suite
    files: Mapping[str, str] = field(default_factory=dict)
    own: tuple[str, Any, int] = ("", None, 0)  # an option of its own, its value, and how many requests there are then
    suite: str = SUITE
    tables: tuple[str, ...] = ()  # that its questions fill; all where empty
    unmoved: tuple[str, ...] = ()  # aggregates that right answers do not make 1, or wrong ones less
    graded: bool = True  # whether some of its questions are

    def filled(self, described: Mapping[str, Any]) -> set[str]:
        """The names of the tables that its questions fill."""
        return set(self.tables or (one["name"] for one in described["tables"]))

    @property
    def plugin(self) -> list[str]:
        """The arguments that tell a command where the family is registered."""
        return ["-p", self.module] if self.files else []


FAMILIES = (
    Benchmark(
        "glossary", "glossary", 16, 2, ("--taskgraph-data=glossary=terms.csv", "--taskgraph-instances=8"),
        files={
            "glossary.py": (Path(__file__).parent / "glossary.py").read_text(encoding="utf-8"), "terms.csv": GLOSSARY,
        },
        own=("glossary-revisions", 2, 16 * 3),
    ),
    Benchmark(
        "tasklama", "pytest_taskgraph", 16, 1, ("--taskgraph-instances=8",), suite=TWO_METHODS,
        own=("tasklama-split", "train", 16), tables=("steps", "matchings", "rates"), unmoved=("majority_accuracy",),
    ),
    Benchmark(
        "steps", "pytest_taskgraph", 92, 1, ("--taskgraph-instances=4",),
        ", steps_method=['zero_shot', 'one_shot', 'letter', 'workflow_step'], steps_seeds=2, steps_first=-2, "
        "steps_answer='text'",
        own=("steps-seeds", 1, 72), graded=False, unmoved=("by_logprobs", "ties", "chosen_a", "right_a"),
    ),
    Benchmark(
        "understanding", "pytest_taskgraph", 18, 1, ("--taskgraph-instances=6",),
        ", patterns=['flow_start', 'parallel_block', 'describe_task']", own=("phrasing", "second", 18),
    ),
)  # fmt: skip
each_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
_REPLIES: dict[tuple[str, str], dict[str, str]] = {}


def write(project: Project, *families: Benchmark) -> None:
    """Write files and suites of the families."""
    project.write("conftest.py", f"pytest_plugins = {[family.module for family in families if family.files]}\n")
    for family in families:
        for name, text in family.files.items():
            project.write(name, text)
        suite = family.suite.format(module=family.module, family=family.name, options=family.options)
        project.write(f"test_{family.name}.py", suite)


def line_of(ran: Ran) -> str:
    """The output with line breaks and what wraps lines made one space."""
    return " ".join(ran.output.split())


def prompt_of(record: Mapping[str, Any], trial: Mapping[str, Any]) -> str:
    return "".join(record["texts"][part] for part in trial["question"]["prompt"])


def replies(project: Project, family: Benchmark, accuracy: str) -> dict[str, str]:
    """The simulated model's reply to each prompt of the family's suite."""
    key = family.name, accuracy
    if key not in _REPLIES:
        write(project, family)
        project.run(
            f"--model=simulated:{accuracy}", *family.flags, "--taskgraph-report=json=simulated.json", REPORT_ONLY
        )
        record = project.record("simulated.json")
        _REPLIES[key] = {prompt_of(record, one): one["reply"]["text"] for one in record["trials"]}
    return _REPLIES[key]


class Provider:
    """A server that knows the answers, gives wrong ones to some questions, and remembers what it served."""

    def __init__(self, project: Project, family: Benchmark, server: Loopback) -> None:
        write(project, family)
        self.family, self.server, self.url = family, server, f"{server.url}#any"
        self.right, self.wrong = replies(project, family, "1"), replies(project, family, "0")
        self.served: list[tuple[str, int, int]] = []
        self.fails: Callable[[str], bool] = lambda prompt: sum(map(ord, prompt)) % 3 == 0
        server.asked, server.answer = self._prompt, self._answer

    @property
    def cost(self) -> float:
        return fsum(tokens * price for _, *took in self.served for tokens, price in zip(took, PRICE, strict=True))

    def _prompt(self, received: Received) -> str:
        contents = [str(one["content"]) for one in received.body["messages"]]
        return next(one for one in contents if one in self.right)

    def _answer(self, prompt: str) -> Answer:
        text = (self.wrong if self.fails(prompt) else self.right)[prompt]
        usage = (100 + len(text), 10 + len(prompt) % 7)
        self.served.append((text, *usage))
        return reply(text, usage=usage)

    @property
    def arguments(self) -> tuple[str, ...]:
        return (f"--model={self.url}", *PRICED, *self.family.flags, *REPORTS)


def scores(record: Mapping[str, Any]) -> dict[str, Any]:
    return {one["question"]["id"]: (one["outcome"], one["score"]) for one in record["trials"]}


def lasting(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record without what time or the store changes."""
    kept = json.loads(json.dumps(record))
    for one in [kept["usage"], *(part for trial in kept["trials"] for part in (trial["reply"], *trial["exchanges"]))]:
        for name in [name for name in one if name in ("latency", "seconds") or name.startswith("stored")]:
            del one[name]
    return dict(kept)


@each_family
def test_simulated_right_answers_score_one_and_wrong_ones_less(project: Project, family: Benchmark) -> None:
    write(project, family)
    ran = project.run("--model=simulated:1", *family.flags, RECORD)
    assert (ran.code, ran.counts) == (0, {"passed": family.size}), ran.output
    right = project.record("r.json")
    assert {one["outcome"] for one in right["trials"]} == {"right", *(["graded"] if family.graded else [])}
    assert {one["score"]["value"] for one in right["trials"]} == {1.0}
    project.run("--model=simulated:0", *family.flags, RECORD, REPORT_ONLY)
    assert all(one["score"]["value"] < 1 and one["outcome"] != "right" for one in project.record("r.json")["trials"])
    assert len(project.record("r.json")["trials"]) == family.size


@each_family
def test_live_run_keeps_what_the_server_answered(project: Project, server: Loopback, family: Benchmark) -> None:
    provider = Provider(project, family, server)
    ran = project.run(*provider.arguments)
    first = project.record("r.json")
    assert (ran.code, ran.clean, len(provider.served)) == (1, True, family.size * family.requests), ran.output
    exchanges = [each for one in first["trials"] for each in one["exchanges"]]
    texts = [
        each["text"] if "text" in each else one["reply"]["text"] for one in first["trials"] for each in one["exchanges"]
    ]
    kept = [(text, each["tokens_in"], each["tokens_out"]) for text, each in zip(texts, exchanges, strict=True)]
    assert sorted(kept) == sorted(provider.served)
    tokens_in, tokens_out = sum(one for _, one, _ in kept), sum(one for _, _, one in kept)
    usage = first["usage"]
    assert (usage["sent"], usage["tokens_in"], usage["tokens_out"]) == (len(provider.served), tokens_in, tokens_out)
    assert usage["cost"] == pytest.approx(provider.cost)
    total = f"{tokens_in:,} tokens in, {tokens_out:,} out, cost ${provider.cost:.4f}"
    assert total in line_of(ran)
    for name in ("r.md", "r.html"):
        assert total in (project.path / name).read_text(encoding="utf-8"), name
    fails = {one["question"]["id"]: provider.fails(prompt_of(first, one)) for one in first["trials"]}
    assert {id for id, (_, score) in scores(first).items() if score["value"] < 1} == {id for id in fails if fails[id]}

    again = project.run(*provider.arguments)
    assert (again.counts, len(provider.served)) == (ran.counts, len(exchanges))
    assert lasting(project.record("r.json"))["trials"] == lasting(first)["trials"]
    server.answer = "Nothing is to be asked."
    replayed = project.run(*provider.arguments, "--taskgraph-replay")
    assert (replayed.counts, len(server.requests)) == (ran.counts, len(exchanges))
    assert scores(project.record("r.json")) == scores(first)


@each_family
def test_two_workers_record_what_one_process_does(project: Project, server: Loopback, family: Benchmark) -> None:
    provider = Provider(project, family, server)
    alone = project.run(*provider.arguments)
    one = lasting(project.record("r.json"))
    provider.served.clear()
    spread = project.spread(*provider.arguments, "--taskgraph-refresh")
    assert (spread.code, spread.clean, spread.counts) == (alone.code, True, alone.counts), spread.output
    assert len(provider.served) == family.size * family.requests
    assert lasting(project.record("r.json")) == one


@each_family
def test_budgets_are_kept(project: Project, server: Loopback, family: Benchmark) -> None:
    provider = Provider(project, family, server)
    ran = project.run(*provider.arguments, f"--taskgraph-max-calls={family.size * family.requests - 1}")
    assert (ran.code, len(provider.served), ran.counts["skipped"]) == (1, family.size * family.requests - 1, 1)
    assert "failed budget::calls" in line_of(ran)
    (left,) = [one for one in project.record("r.json")["trials"] if one["outcome"] == "skipped"]
    assert len(left["exchanges"]) == left["requests"] == family.requests - 1
    provider.served.clear()
    ran = project.run(*provider.arguments, "--taskgraph-max-cost=0.003", "--taskgraph-refresh")
    assert 0 < provider.cost <= 0.003
    assert (ran.code, ran.counts["skipped"] > 0, "failed budget::cost" in line_of(ran)) == (1, True, True), ran.output


@each_family
def test_gates_judge_every_aggregate_group_section_and_label(project: Project, family: Benchmark) -> None:
    write(project, family)
    project.run("--model=simulated:1", *family.flags, RECORD)
    record = project.record("r.json")
    (described,) = record["families"]
    questions = [one["question"] for one in record["trials"]]
    labels = [f'{name}="{value}"' for name, value in questions[0]["labels"].items()]
    declared = [one["name"] for one in described["aggregates"] if one["kind"] != "seed-deviation"]
    measuring = [name for name in declared if name not in family.unmoved]
    aggregates = [f"{family.name}.{one}" for one in measuring]
    names = [family.name, *{one["group"] for one in questions}, *{one["section"] for one in questions}, *labels]
    gates = [f"--taskgraph-gate={name}>=0.9" for name in [*names, *aggregates]]
    metrics = {f"{one['question']['group']}.{name}" for one in record["trials"] for name in one["score"]["metrics"]}
    measured = [f"--taskgraph-gate={name}>=0" for name in metrics]
    passed = project.run("--model=simulated:1", *family.flags, RECORD, *gates, *measured)
    assert (passed.code, passed.counts) == (0, {"passed": family.size + len(gates + measured)}), passed.output
    failed = project.run("--model=simulated:0", *family.flags, RECORD, *gates)
    cases = {one["name"].removeprefix("gates::"): one for one in project.record("r.json")["gates"]}
    short = {name for name, one in cases.items() if one["outcome"] == "passed"}
    assert (failed.code, short) == (1, {"glossary.short"} & set(aggregates)), failed.output
    for name in aggregates:
        assert cases[name]["estimate"] is not None, name


def value_of(
    aggregate: Mapping[str, Any],
    described: Sequence[Mapping[str, Any]],
    scores: Sequence[dict[str, Any]],
    labels: Sequence[Any],
) -> float:
    """The value of an aggregate as docs/aggregates.md defines it, of scores whose questions have these seeds."""
    of = aggregate["of"]
    if aggregate["kind"] == "mean":
        measured = [one["metrics"][of[0]] if of else one["value"] for one in scores]
        return fmean(value for value in measured if value is not None)
    if aggregate["kind"] == "ratio":
        pairs = [one["parts"][of[0]] for one in scores if of[0] in one["parts"]]
        return fsum(pair[0] for pair in pairs) / fsum(pair[1] for pair in pairs)
    if aggregate["kind"].startswith("seed-"):
        inner = next(one for one in described if one["name"] == of[0])
        seeds = sorted({label for label in labels if label is not None})
        by_seed = [
            value_of(inner, described, [score for score, at in zip(scores, labels, strict=True) if at == seed], [])
            for seed in seeds
        ]
        return fmean(by_seed) if aggregate["kind"] == "seed-mean" else stdev(by_seed)
    means: dict[str, Callable[[list[float]], float]]
    means = {"harmonic-mean": harmonic_mean, "geometric-mean": geometric_mean}
    others = [next(one for one in described if one["name"] == name) for name in of]
    return means[aggregate["kind"]]([value_of(one, described, scores, labels) for one in others])


@each_family
def test_aggregates_follow_their_definition_in_gates_and_comparisons(
    project: Project, family: Benchmark, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, family)
    project.run("--model=simulated:0.5", *family.flags, RECORD, REPORT_ONLY, "--taskgraph-save=base")
    (described,) = project.record("r.json")["families"]
    declared = described["aggregates"]
    named = [one["name"] for one in declared if one["kind"] != "seed-deviation"]
    gates = [f"--taskgraph-gate={name}>=0" for name in (family.name, *(f"{family.name}.{one}" for one in named))]
    assert project.run("--model=simulated:0.5", *family.flags, RECORD, *gates).code == 0
    record = project.record("r.json")
    estimates = {one["name"].rpartition(".")[2]: one["estimate"] for one in record["gates"]}
    assert set(estimates) == {*named, f"gates::{family.name}"}
    asked = [trial["score"] for trial in record["trials"]]
    seeds = [trial["question"]["labels"].get("seed") for trial in record["trials"]]
    known = {one["name"]: value_of(one, declared, asked, seeds) for one in declared}
    for name in named:
        assert estimates[name] == pytest.approx(known[name])
        assert 0 < known[name] <= 1 or name in family.unmoved
    capsys.readouterr()
    assert main([*family.plugin, "compare", "base", "r.json", "--json"]) == 0
    compared = json.loads(capsys.readouterr().out).get("aggregates", [])
    of_scores = {one["name"] for one in declared if one["kind"] == "mean" and not one["of"]}  # it is compared by itself
    expected = {name: value for name, value in known.items() if name not in of_scores}
    assert {one["name"]: one["before"] for one in compared} == pytest.approx(expected)
    assert {one["name"]: one["after"] for one in compared} == pytest.approx(expected)


@each_family
def test_failure_of_the_provider_is_an_error_and_no_score(
    project: Project, server: Loopback, family: Benchmark
) -> None:
    provider = Provider(project, family, server)
    server.script(refuse(400, "out of order"))
    ran = project.run(*provider.arguments, REPORT_ONLY, "--taskgraph-concurrency=1")
    trials = project.record("r.json")["trials"]
    (failed,) = [one for one in trials if one["outcome"] == "error"]
    assert (ran.code, ran.clean, failed["score"], failed["reply"]) == (1, True, None, None), ran.output
    assert "out of order" in failed["failure"]["message"]
    assert len(provider.served) == (family.size - 1) * family.requests
    jsonschema.validate(project.record("r.json"), SCHEMA)
    again = project.run(*provider.arguments, REPORT_ONLY)
    assert (again.code, len(provider.served)) == (0, family.size * family.requests), again.output


@each_family
def test_unknown_names_in_gates_list_the_known_ones(project: Project, family: Benchmark) -> None:
    write(project, family)
    project.run("--model=simulated:1", *family.flags, RECORD)
    (first, *_) = project.record("r.json")["trials"]
    group, label = first["question"]["group"], next(iter(first["question"]["labels"]))
    for gate, known in (
        (f"{group}x>=0.5", group),
        (f"{group}.no_such_aggregate>=0.5", "is called so"),
        (f"{label}=nowhere>=0.5", f"known values of {label}: "),
    ):
        ran = project.run("--model=simulated:1", *family.flags, f"--taskgraph-gate={gate}")
        assert (ran.code, ran.clean, known in line_of(ran)) == (4, True, True), ran.output
        assert "passed" not in ran.counts


@each_family
def test_comparison_tells_identical_and_worse_runs(project: Project, family: Benchmark) -> None:
    write(project, family)
    compare = (*family.flags, RECORD, "--taskgraph-compare=base", "--taskgraph-fail-on=regression")
    assert project.run("--model=simulated:1", *family.flags, "--taskgraph-save=base").code == 0
    same = project.run("--model=simulated:1", *compare)
    assert (same.code, "passed compare::base: identical replies" in line_of(same)) == (0, True), same.output
    worse = project.run("--model=simulated:0", *compare)
    assert (worse.code, "failed compare::base: worse: -1.000 over" in line_of(worse)) == (1, True), worse.output
    assert main([*family.plugin, "compare", "base", "r.json"]) == 1


@each_family
def test_runs_of_other_question_sets_are_not_compared(project: Project, family: Benchmark) -> None:
    write(project, family)
    project.run("--model=simulated:1", *family.flags, "--taskgraph-save=base")
    path = project.path / ".taskgraph" / "runs" / "base.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    assert list(record["question_sets"]) == [family.name]
    record["question_sets"][family.name] += 1
    path.write_text(json.dumps(record), encoding="utf-8")
    ran = project.run("--model=simulated:1", *family.flags, "--taskgraph-compare=base")
    assert (ran.code, ran.clean) == (4, True), ran.output
    assert f"of the questions of '{family.name}'" in line_of(ran)


@each_family
def test_every_report_is_readable_and_free_of_raw_hostile_text(
    project: Project, server: Loopback, family: Benchmark
) -> None:
    provider = Provider(project, family, server)
    server.answer = lambda prompt: f"{HOSTILE}Final answer: {HOSTILE.strip()} {provider.wrong[prompt]}"
    ran = project.run(*provider.arguments)
    assert (ran.code, ran.clean) == (1, True), ran.output
    texts = {kind: (project.path / f"r.{kind}").read_text(encoding="utf-8") for kind in KINDS}
    texts |= {"terminal": ran.output, "junit": (project.path / "junit.xml").read_text(encoding="utf-8")}
    for kind, text in texts.items():
        assert [char for char in FORBIDDEN if char in text] == [], kind
    assert "<script>alert" not in texts["html"]
    assert "\n::error::" not in texts["terminal"]
    record = json.loads(texts["json"])
    jsonschema.validate(record, SCHEMA)
    assert len(record["trials"]) == len(list(csv.DictReader(texts["csv"].splitlines()))) == family.size
    assert len(ElementTree.fromstring(texts["junit"]).findall("testsuite/testcase")) == family.size


@each_family
def test_every_report_holds_the_tables_of_the_family(project: Project, family: Benchmark) -> None:
    write(project, family)
    ran = project.run("--model=simulated:0.5", *family.flags, *REPORTS, REPORT_ONLY)
    record = project.record("r.json")
    (described,) = record["families"]
    declared = family.filled(described)
    assert declared
    assert declared <= {one["name"] for one in described["tables"]}
    assert declared <= {one["name"] for one in record["tables"]}
    with (project.path / "r.tables").open(encoding="utf-8", newline="") as file:
        assert declared <= {one["table"] for one in csv.DictReader(file) if one["family"] == family.name}
    files = ((project.path / name).read_text(encoding="utf-8") for name in ("r.md", "r.html"))
    texts = [ran.output, *map(unescape, files)]
    for name in {row["name"] for table in record["tables"] for row in table["rows"]}:
        assert all(re.search(rf"\b{re.escape(name)}\b", text) for text in texts), name
    for table in described["tables"]:
        for published in table["references"] if table["name"] in declared else ():
            assert all(published["source"] in text for text in texts)


@each_family
def test_rescoring_reproduces_every_score(
    project: Project, server: Loopback, family: Benchmark, capsys: pytest.CaptureFixture[str]
) -> None:
    provider = Provider(project, family, server)
    server.answer = lambda prompt: (
        (f"{provider.right[prompt]}, Nobody" if family.graded else provider.wrong[prompt])
        if provider.fails(prompt)
        else provider.right[prompt]
    )
    project.run(*provider.arguments, REPORT_ONLY)
    record = project.record("r.json")
    values = {one["score"]["value"] for one in record["trials"]}
    assert {0.0, 1.0} < values | {0.0, 1.0} if family.graded else values == {0.0, 1.0}
    capsys.readouterr()
    assert main([*family.plugin, "rescore", "r.json", "--check", "--out", "new.json"]) == 0
    assert f"{family.size} answers scored again" in capsys.readouterr().out
    assert scores(project.record("new.json")) == scores(record)
    damaged = json.loads(json.dumps(record))
    damaged["trials"][0]["score"]["value"] = 0.123
    project.write("r.json", json.dumps(damaged))
    assert main([*family.plugin, "rescore", "r.json", "--check", "--out", "renewed.json"]) == 1
    assert scores(project.record("renewed.json")) == scores(record)


@each_family
def test_plan_tells_requests_and_facts_and_asks_nothing(project: Project, server: Loopback, family: Benchmark) -> None:
    provider = Provider(project, family, server)
    ran = project.run(f"--model={provider.url}", *PRICED, *family.flags, "--taskgraph-dry-run")
    assert (ran.code, ran.clean, provider.served) == (0, True, []), ran.output
    assert f"{family.size} requests" in line_of(ran)
    assert ("at least" in line_of(ran)) == (family.requests > 1), ran.output
    project.run("--model=simulated:1", *family.flags, RECORD)
    (described,) = project.record("r.json")["families"]
    assert described["facts"]
    for name, value in described["facts"].items():
        assert f"{name} {value[:60]}" in line_of(ran)  # a long path is cut


@each_family
def test_option_of_the_family_is_read_and_recorded(project: Project, server: Loopback, family: Benchmark) -> None:
    provider = Provider(project, family, server)
    server.asked, server.answer = (lambda received: received.prompt), "Perhaps."
    name, value, requests = family.own
    ran = project.run(*provider.arguments, f"--taskgraph-{name}={value}", REPORT_ONLY)
    assert (ran.clean, len(server.requests)) == (True, requests), ran.output
    assert str(project.record("r.json")["settings"][name]) == str(value)
    assert f"--taskgraph-{name}=" in project.run("--help").output


@each_family
def test_repetitions_are_asked_apart_and_averaged(project: Project, server: Loopback, family: Benchmark) -> None:
    provider = Provider(project, family, server)
    provider.fails = lambda prompt: len(provider.served) % 2 == 1
    ran = project.run(*provider.arguments, "--taskgraph-repeats=2", REPORT_ONLY)
    assert (ran.clean, len(provider.served)) == (True, 2 * family.size * family.requests), ran.output
    trials = project.record("r.json")["trials"]
    assert {one["question"]["repetition"] for one in trials} == {1, 2}
    assert len(trials) == 2 * family.size
    assert project.record("r.json")["settings"]["repeats"] == 2


def test_ids_and_prompts_do_not_depend_on_the_hash_seed(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project, *FAMILIES)
    found = []
    for seed in ("0", "1"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        ran = project.spawn("--model=simulated:0.5", "-v", RECORD, REPORT_ONLY)
        items = [line.split()[0] for line in ran.output.splitlines() if line.startswith("test_")]
        found.append((items, (project.path / "r.json").read_text(encoding="utf-8")))
    assert found[0] == found[1]
    (items, record), _ = found
    assert len(items) == len(json.loads(record)["trials"])
    assert {one["question"]["family"] for one in json.loads(record)["trials"]} == {one.name for one in FAMILIES}


@each_family
def test_without_a_model_the_baseline_of_the_family_answers(project: Project, family: Benchmark) -> None:
    write(project, family)
    ran = project.run(*family.flags, RECORD)
    assert (ran.code, ran.clean, "skipped" in ran.counts) == (0, True, False), ran.output
    record = project.record("r.json")
    sources = {one["reply"]["source"] for one in record["trials"]}
    (model,) = record["models"]
    assert f"model {model}," in line_of(ran)
    assert model in sources | {"baseline"}
    for source in sources - {model}:
        assert f"answered by {source}" in line_of(ran)


def test_reports_hold_no_word_of_a_family_that_was_not_asked(project: Project) -> None:
    asked = FAMILIES[0]
    write(project, asked)
    saved = project.run("--model=simulated:1", *asked.flags, "--taskgraph-save=base", "-v")
    ran = project.run("--model=simulated:0", *asked.flags, *REPORTS, "--taskgraph-compare=base", "-v")
    assert "failed compare::base" in line_of(ran)
    texts = {kind: (project.path / f"r.{kind}").read_text(encoding="utf-8") for kind in KINDS}
    texts |= {"first": saved.output, "terminal": ran.output, "junit": (project.path / "junit.xml").read_text()}
    for name, text in texts.items():
        found = re.search(r"\b(pattern|workflow|notation|categor|understanding|baseline:reader)", text, re.IGNORECASE)
        assert found is None, (name, text[found.start() - 200 : found.end() + 200])


def test_families_together_have_tables_options_and_gates_of_their_own(project: Project) -> None:
    write(project, *FAMILIES)
    flags = [flag for family in FAMILIES for flag in family.flags]
    gates = [f"--taskgraph-gate={family.name}>=0.9" for family in FAMILIES]
    gates += ["--taskgraph-gate=glossary.word_overlap>=0.9", "--taskgraph-gate=understanding.rouge1>=0.9"]
    ran = project.run("--model=simulated:1", *flags, *REPORTS, *gates)
    assert (ran.code, ran.clean) == (0, True), ran.output
    record = project.record("r.json")
    trials = record["trials"]
    assert [one["name"] for one in record["families"]] == ["understanding", "tasklama", "steps", "glossary"]
    assert {family.own[0] for family in FAMILIES} <= set(record["settings"])
    tables = {(one["family"], one["name"]) for one in record["tables"]}
    known = {family.name: family for family in FAMILIES}
    filled = {(one["name"], name) for one in record["families"] for name in known[one["name"]].filled(one)}
    assert filled <= tables
    cases = {one["name"]: one["reason"] for one in record["gates"]}
    for family in FAMILIES:
        own = [one for one in trials if one["question"]["family"] == family.name]
        right, graded = (sum(one["outcome"] == what for one in own) for what in ("right", "graded"))
        assert bool(graded) is family.graded
        assert f"of {right} answered" in cases[f"gates::{family.name}"]
        assert not graded or f"{graded} graded left out" in cases[f"gates::{family.name}"]
    rated = [one for one in trials if one["outcome"] == "right"]
    assert record["totals"][0]["n"] == len(rated) < len(trials)
