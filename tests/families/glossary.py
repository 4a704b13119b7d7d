"""A benchmark family in one file: terms of a glossary are to be defined, each definition revised, and to be named."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_taskgraph import Family, Form, Label, Option, QuestionReference, Registry, Settings
from pytest_taskgraph.asking import Episode, Transcript, Turns
from pytest_taskgraph.diagram import Diagram, DiagramNode, DiagramPair
from pytest_taskgraph.errors import UnparseableError
from pytest_taskgraph.family_description import Aggregate, Column, FamilyDescription, ReferenceValue, TableSpec
from pytest_taskgraph.scoring.measurement import Measurement, declares
from pytest_taskgraph.trial import Json, Question, Reply, Request, Score

EMBEDDED = """term,topic,definition
fork,flow,a gateway behind which several branches run at once
trace,runs,a sequence of tasks in the order of their completion
join,flow,the place where branches that ran side by side meet again
cluster,statistics,a group of observations that depend on each other
"""
REVISIONS = Option("glossary-revisions", "N", "how often an answer is revised", "1", kind="whole", least=0)
COLUMNS = tuple(Column(name, name.replace("_", " ")) for name in ("n", "mean", "word_recall", "word_overlap"))


def words(text: Json) -> list[str]:
    return list(dict.fromkeys(re.findall(r"[a-z]+", str(text).lower())))


def measure(given: Json, reference: Json) -> Measurement:
    """Return the F1 of the words that an answer shares with the reference; its recall and precision are parts."""
    ours, theirs = words(given), words(reference)
    shared = len({*ours} & {*theirs})
    parts = {"recall": (shared, len(theirs)), "precision": (shared, len(ours))}
    return Measurement(2 * shared / (len(ours) + len(theirs)), {"brevity": min(1.0, len(theirs) / len(ours))}, parts)


def measure_nothing(reference: Json) -> Measurement:
    return Measurement(0.0, {"brevity": 0.0}, {"recall": (0, len(words(reference)))})


def read(text: str, names: Sequence[str], parsing: str) -> str:
    if not words(text):
        raise UnparseableError("expected a text, found no word")
    return " ".join(text.split())


def write(answer: Json, names: Sequence[str]) -> str:
    return str(answer)


def revise(question: Question) -> Turns:
    """Ask for an answer, then to make it better, as often as the question says."""
    messages, notes = [{"role": "user", "content": question.prompt}], [{"draft": 0}]
    (reply,) = yield [Request(messages)]
    for draft in range(1, int(question.labels["revisions"]) + 1):
        better = {"role": "user", "content": "Make it better. Reply with the whole text."}
        messages = [*messages, {"role": "assistant", "content": reply.text}, better]
        (reply,) = yield [Request(messages)]
        notes.append({"draft": draft})
    return Transcript(reply, {"revised": float(len(notes) > 1)}, notes=notes)


class Echo:
    name = "baseline:echo"

    async def answer(self, request: Request) -> Reply:
        return Reply(str(request.messages[0]["content"]).rpartition(": ")[2], source=self.name)


class Glossary(Family):
    """Check that the model knows the terms of a field."""

    name, topic, data_names, baselines = "glossary", "terms of a field", ("glossary",), ("echo",)
    options, suite_options, episode_metrics = (REVISIONS,), frozenset({"glossary_revisions"}), ("revised",)

    def references(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[QuestionReference]:
        path = settings.data.get("glossary")
        lines = Path(path).read_text(encoding="utf-8") if path else EMBEDDED
        rows = list(csv.DictReader(lines.splitlines()))[: settings.instances]
        labels = [{"topic": row["topic"], "revisions": settings.value_of(REVISIONS, options)} for row in rows]
        return [
            QuestionReference(f"{group}-{row['term']}", group, {**row, "labels": own}, own, row["term"])
            for group in ("define", "name")
            for row, own in zip(rows, labels, strict=True)
        ]

    def question(self, reference: QuestionReference, settings: Settings) -> Question:
        row, group = reference.payload, reference.group
        sought, given = ("definition", "term") if group == "define" else ("term", "definition")
        text = f"What is the {sought} for this {given}: {row[given]}"
        threshold = float(group == "name") if settings.pass_threshold is None else settings.pass_threshold
        return Question(
            reference.id, self.name, group, self.section(group), text, f"Reply with the {sought} only. {text}",
            "short-text", row[sought], "shared_words", pass_threshold=threshold, place="whole",
            parsing=settings.parsing, episode="revise",
            labels=row["labels"], cluster=reference.cluster, digests={"term": row["term"]},
        )  # fmt: skip

    def episode(self, name: str) -> Episode:
        return revise if name == "revise" else super().episode(name)

    def labels(self) -> Mapping[str, Label]:
        return {"topic": Label(), "revisions": Label()}

    def metrics(self, group: str, settings: Settings) -> Sequence[str]:
        return ("shared_words", "revised")

    def graded(self, group: str, settings: Settings) -> bool:
        return settings.pass_threshold == 0 if settings.pass_threshold is not None else group == "define"

    def section(self, group: str) -> str:
        return {"define": "texts", "name": "terms"}[group]

    def baseline(self, name: str, settings: Settings) -> Echo:
        return Echo()

    def question_set(self, group: str) -> int:
        return 1

    def diagram_pair(self, question: Question, score: Score) -> DiagramPair:
        nodes = [[DiagramNode(word, word) for word in words(text)] for text in (question.reference, score.given)]
        return DiagramPair(*(Diagram("words", words) for words in nodes))

    def description(self, settings: Settings) -> FamilyDescription:
        published = (ReferenceValue("define", "word_recall", 0.5, "Doe 2020, table 2"),)
        topics = TableSpec("topics", "topic", (*COLUMNS, Column("rate", "right")), rows="label", label="topic")
        return FamilyDescription(
            self.name, "task", "kind", "term", ("revisions",), ("define", "name"), ("texts", "terms"),
            {"glossary": settings.data.get("glossary", "embedded")}, 1,
            (
                Aggregate("word_recall", "ratio", ("recall",)),
                Aggregate("word_precision", "ratio", ("precision",)),
                Aggregate("word_overlap", "harmonic-mean", ("word_recall", "word_precision")),
                Aggregate("short", "mean", ("brevity",)),
            ),
            (TableSpec("definitions", "task", COLUMNS, graded=True, references=published), topics),
        )  # fmt: skip


glossary = Glossary()


def pytest_taskgraph_register(registry: Registry) -> None:
    registry.metric("shared_words", declares("brevity", unparseable=measure_nothing)(measure))
    wrong = lambda reference, names: "xyzzy"  # noqa: E731
    registry.form(Form("short-text", lambda names: "A short text.", read, write, "shared_words", wrong=wrong))
    registry.family(glossary)
