"""What travels: a question, the requests it makes, the reply, the score, and the trial that holds them.

Plain data throughout. A question *names* its form, metrics, episode and aggregate, so a trial crosses xdist, is
stored, is read back and is scored again without asking anyone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from hashlib import sha256
from math import exp, inf
from typing import Any, Final, Literal, NamedTuple, TypeVar

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Place = Literal["whole", "marker", "first-line"]
Parsing = Literal["lenient", "strict"]
Outcome = Literal["right", "wrong", "graded", "unparseable", "refused", "error", "skipped"]
PROMPT: Final = "prompt"  # the label that names the prompt template
MOST_REPETITIONS: Final = 10**6
"""More than the repetitions of any question. What an episode itself repeats in one question is so far apart: its second
request of a kind is repetition 1,000,001 in the first repetition of the question, 1,000,002 in the second."""
_T = TypeVar("_T")
_LARGEST_PART = 1e100
_SMALLEST_DENOMINATOR = 1e-9
_HIGHEST_EXPONENT = 700.0  # exp of more is beyond every float


def digest_of(text: str) -> str:
    """Return the SHA-256 digest of a text in UTF-8, 64 hexadecimal digits; lone surrogates are encoded, too."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read_fields(kind: type[_T], data: Mapping[str, Any]) -> _T:
    """Return an object of the dataclass `kind` from its JSON; fields that a later version added are ignored."""
    known = {f.name for f in fields(kind)}  # type: ignore[arg-type]
    return kind(**{k: v for k, v in data.items() if k in known})


@dataclass(frozen=True, slots=True)
class Question:
    """One question, ready to be put."""

    id: str
    family: str
    group: str  # what a row of a table is about, such as a kind of question
    section: str  # what its group stands under; empty where the family has no sections
    text: str  # the question alone
    prompt: str  # all that the model is told, but for the system prompt
    form: str  # a name in scoring.forms.FORMS
    reference: Json  # the right answer, as the form parses it
    metric: str  # the main metric, a name in scoring.metrics.METRICS
    further: list[str] = field(default_factory=list)  # further metrics, by name
    pass_threshold: float = 1.0  # the smallest score that is right; 0: none is right or wrong, the question is graded
    aggregate: str = "mean"
    names: list[str] = field(default_factory=list)  # the names an answer may hold
    place: Place = "marker"  # where in the reply the answer stands
    parsing: Parsing = "lenient"
    episode: str = "single"
    system: str = ""  # the system prompt; none where empty
    specifications: dict[str, str] = field(default_factory=dict)  # what an agent can ask for, by name
    needed: list[str] = field(default_factory=list)  # the names of those without which the answer cannot be known
    judged: list[str] = field(default_factory=list)  # metrics that a model measures, asked after the reply
    labels: dict[str, str | int] = field(default_factory=dict)
    cluster: str = ""  # what questions that are not independent share
    digests: dict[str, str] = field(
        default_factory=dict
    )  # of what it is about, the prompt, its template, the question's, ...
    chance: float | None = None  # the chance level: the score expected from guessing; None where it is not known
    relation: str = ""  # how it is varied, where it is asked once more: it then enters no rate
    twin: str = ""  # the id of the question that it varies
    spellings: dict[str, str] = field(default_factory=dict)  # further ways to write names in an answer, to the names
    repetition: int = 1  # which of several askings of the same; from the second on the id ends in "-r2"
    episode_settings: dict[str, Json] = field(default_factory=dict)  # what the episode needs beside the prompt

    @property
    def once(self) -> str:
        """The id that all repetitions of the question share: that of the first."""
        return self.id.removesuffix(f"-r{self.repetition}")

    @property
    def unit(self) -> str:
        """What answers depend on each other by within a cluster: the question, whatever its demonstrations.

        A question with the label "seed" is asked once for each draw of demonstrations; its text is that of them all.
        """
        if not self.cluster or "seed" not in self.labels:
            return self.once
        return "|".join((self.family, self.group, self.cluster, json.dumps(self.reference), self.text))

    @property
    def graded(self) -> bool:
        """Return True if no score is right or wrong: the answers have a mean score, and no pass rate."""
        return is_graded(self.pass_threshold)

    def __repr__(self) -> str:
        return f"<Question {self.id}>"


def is_part(pair: Sequence[float]) -> bool:
    """Return True for a numerator and a denominator that can be summed with others.

    Both are finite and at most 1e100; the denominator is 0, or at least 1e-9: it counts something.
    """
    if len(pair) != 2 or not all(abs(number) <= _LARGEST_PART for number in pair):
        return False
    return pair[1] == 0 or pair[1] >= _SMALLEST_DENOMINATOR


def is_graded(pass_threshold: float) -> bool:
    """Return True if questions of this pass threshold are graded: any answer would reach it."""
    return pass_threshold <= 0


@dataclass(frozen=True, slots=True)
class Request:
    """One call to a model."""

    messages: list[dict[str, Any]] = field(default_factory=list)  # role and content, as in the OpenAI protocol
    role: Literal["subject", "judge", "embedder", "paraphraser"] = "subject"
    kind: Literal["chat", "score", "embed"] = "chat"
    texts: list[str] = field(default_factory=list)  # for "embed", and for "score" what follows context or messages
    context: str = ""  # for "score": the text before each of the texts; none where there are messages
    tools: list[dict[str, Any]] = field(default_factory=list)
    settings: dict[str, Json] = field(default_factory=dict)
    repetition: int = 1
    # A right and a wrong reply for simulated models, if the answer to the question is no reply to this request: a text,
    # or for "score" a log-probability for each of the texts. No other model sees them.
    right: Json = None
    wrong: Json = None

    @property
    def prompt(self) -> str:
        """The text of the last message, or the empty text."""
        return str(self.messages[-1]["content"]) if self.messages else ""


class TextScore(NamedTuple):
    """How probable a given text is to a model, behind the context or the messages of the request."""

    logprob: float | None  # natural logarithm, of all its tokens; None: below each token that the endpoint lists
    tokens: int  # so many have a log-probability; the first of all has none where nothing stands before it
    greedy: bool | None  # whether each is the most probable one at its place; None where the endpoint does not tell

    @property
    def perplexity(self) -> float | None:
        """The perplexity of the text, exp(-logprob / tokens); None where no token has a log-probability."""
        if self.logprob is None or not self.tokens:
            return None
        mean = -self.logprob / self.tokens
        return exp(mean) if mean < _HIGHEST_EXPONENT else inf


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered to one request. Any text that arrived is a reply, refusals and cut-offs included."""

    text: str
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None  # US dollars; None is unknown, never 0
    latency: float | None = None  # seconds
    finish_reason: str = "stop"
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    source: str = ""  # where it came from: a provider's model, a file, a baseline
    logprobs: list[list[Any]] = field(default_factory=list)  # for "score": the fields of a TextScore for each text
    embeddings: list[list[float]] = field(default_factory=list)  # for "embed": a vector a text; in no trial
    retries: int = 0  # how often the request was repeated before this came
    stored: bool = False  # whether it came from the store, which an earlier run had put it in

    @property
    def scores(self) -> list[TextScore]:
        """The scores of the texts of a "score" request, in their order."""
        return [TextScore(*row) for row in self.logprobs]

    @property
    def cut_off(self) -> bool:
        """Return True if the reply ended at the token limit."""
        return self.finish_reason in ("length", "max_tokens")


@dataclass(frozen=True, slots=True)
class Score:
    """The score of one reply."""

    value: float  # the main metric, 0.0 to 1.0
    metrics: dict[str, float | None] = field(default_factory=dict)  # further metrics; None is undefined
    parts: dict[str, list[float]] = field(default_factory=dict)  # name -> [numerator, denominator]
    given: Json = None  # the answer as it was read
    status: Literal["read", "unparseable", "refused"] = "read"
    remark: str = ""  # why it could not be read
    missing: list[str] = field(default_factory=list)  # in the reference, not in the answer
    extra: list[str] = field(default_factory=list)  # in the answer, not in the reference


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a trial has no score.

    `kind` is a short name to count and compare by, that of the error: "timeout", "budget::calls", "skipped" where the
    question was not asked for a reason that has no kind of its own. `message` is for people.
    """

    kind: str
    message: str

    def __str__(self) -> str:
        return self.message if self.kind == "skipped" else f"{self.kind}: {self.message}"


@dataclass(frozen=True, slots=True)
class Trial:
    """A question, what came back, and its score; or why nothing came back."""

    question: Question
    model: str
    outcome: Outcome
    reply: Reply | None = None
    score: Score | None = None
    failure: Failure | None = None  # of the provider or of scoring, or the reason for not asking
    requests: int = 0
    retries: int = 0  # how often requests were repeated, after failures of the provider
    exchanges: list[dict[str, Any]] = field(default_factory=list)  # all requests and replies, as results.exchanges says
    # For reports that draw, as `diagram.pack` gives it: the JSON of
    diagram: str = ""  # what the question is about, a Diagram
    diagram_pair: str = ""  # the expected and the given answer, a DiagramPair
    texts: dict[str, str] = field(default_factory=dict)  # of messages that the question does not hold, by digest

    @property
    def failure_text(self) -> str:
        """The failure as a text for people; empty if there is none."""
        return "" if self.failure is None else str(self.failure)

    @property
    def passed(self) -> bool:
        """Return True if the main score reaches the pass threshold; an answer to a graded question never does."""
        return self.outcome == "right"

    @property
    def accepted(self) -> bool:
        """Return True if `check` accepts the answer: it is right, or the question is graded and has an answer."""
        return self.outcome in ("right", "graded")

    def check(self) -> None:
        """Check that the answer is right; of a graded question, that there is one, whatever its score.

        Raises:
            WrongAnswerError: if it is not. An assertion error.
        """
        __tracebackhide__ = True
        if not self.accepted:
            raise WrongAnswerError(self)

    def to_json(self) -> dict[str, Any]:
        """The trial as plain JSON values; `from_json` gives it back."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Trial:
        """Return the trial that `to_json` wrote, of an earlier version too: that called graded answers right."""
        whole = read_fields(cls, data)
        question = read_fields(Question, data["question"])
        return cls(
            **{f.name: getattr(whole, f.name) for f in fields(cls)}
            | {
                "question": question,
                "outcome": "graded" if question.graded and whole.outcome == "right" else whole.outcome,
                "reply": data.get("reply") and read_fields(Reply, data["reply"]),
                "score": data.get("score") and read_fields(Score, data["score"]),
                "failure": data.get("failure") and read_fields(Failure, data["failure"]),
            }
        )

    def __repr__(self) -> str:
        score = "" if self.score is None else f" {self.score.value:.3f}"
        return f"<Trial {self.question.id} {self.outcome}{score}>"


class WrongAnswerError(AssertionError):
    """Answer that is not right, or cannot be parsed."""

    def __init__(self, trial: Trial) -> None:
        super().__init__(f"{trial.outcome}: expected {trial.question.reference!r}")
        self.trial = trial
