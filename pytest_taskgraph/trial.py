"""Questions, requests, replies, scores, and the trials that hold them, as plain data.

A question *names* its form, metrics, episode and aggregate, so that a trial crosses xdist, is stored, is read back and
is scored again without a request.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from functools import lru_cache
from hashlib import sha256
from math import exp, inf
from typing import Any, Final, Literal, NamedTuple, TypeVar

from .usage import AMOUNTS, Usage, usage_of

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Place = Literal["whole", "marker", "first-line"]
Parsing = Literal["lenient", "strict"]
Outcome = Literal["right", "wrong", "graded", "unparseable", "refused", "error", "skipped"]
PROMPT: Final = "prompt"  # the label that names the prompt template
SEED: Final = "seed"  # the label that names the seed, if a run has several, or the draw of demonstrations
MOST_REPETITIONS: Final = 10**6
"""A number above the repetitions of any question. Requests that an episode repeats within one question differ by it:
its second request of a kind is repetition 1,000,001 in the first repetition of the question, 1,000,002 in the
second."""
FINISH_REASONS: Final = ("stop", "length", "max_tokens", "tool_calls", "function_call", "content_filter", "error")
_T = TypeVar("_T")
_LARGEST_PART = 1e100
_SMALLEST_DENOMINATOR = 1e-9
_HIGHEST_EXPONENT = 700.0  # exp of a larger number overflows


@lru_cache(maxsize=8)  # several parts of a run need the digest of a prompt, one after the other
def digest_of(text: str) -> str:
    """Return the SHA-256 digest of a text in UTF-8: 64 hexadecimal digits; lone surrogates are encoded as well."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read_fields(kind: type[_T], data: Mapping[str, Any]) -> _T:
    """Return an object of the dataclass `kind` from its JSON; fields that a later version added are ignored."""
    names = kind.__dataclass_fields__  # type: ignore[attr-defined] # `fields` computes a tuple at each call
    return kind(**{name: value for name, value in data.items() if name in names})


def _field_values(instance: Any) -> dict[str, Any]:  # noqa: ANN401 - any dataclass
    """Return the fields of a dataclass by name, the objects in them not copied."""
    return {name: getattr(instance, name) for name in instance.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class Question:
    """One question, ready to be asked."""

    id: str
    family: str
    group: str  # the subject of a table row, such as a kind of question
    section: str  # the section of its group; empty if the family has no sections
    text: str  # the question alone
    prompt: str  # everything that the model receives, except the system prompt
    form: str  # the name of the answer form
    reference: Json  # the right answer, as the form parses it
    metric: str  # the name of the main metric, such as jaccard
    further: list[str] = field(default_factory=list)  # further metrics, by name
    pass_threshold: float = (
        1.0  # the smallest score that passes; 0: the question is graded, no answer is right or wrong
    )
    aggregate: str = "mean"
    names: list[str] = field(default_factory=list)  # the names that an answer may contain
    place: Place = "marker"  # where in the reply the answer stands
    parsing: Parsing = "lenient"
    episode: str = "single"
    system: str = ""  # the system prompt; none if empty
    specifications: dict[str, str] = field(default_factory=dict)  # the texts that an agent can request, by name
    needed: list[str] = field(default_factory=list)  # the names of the specifications that the answer depends on
    judged: list[str] = field(default_factory=list)  # metrics that a model measures after the reply
    labels: dict[str, str | int] = field(default_factory=dict)
    cluster: str = ""  # equal for questions that are not independent
    digests: dict[str, str] = field(default_factory=dict)  # of its subject, the prompt, its template, the text, ...
    chance: float | None = None  # the chance level: the score expected from guessing; None if unknown
    relation: str = ""  # the kind of variation of a varied question, which enters no rate
    twin: str = ""  # the id of the question that it varies
    spellings: dict[str, str] = field(default_factory=dict)  # spelling in an answer -> name
    repetition: int = 1  # from 1; from the second repetition on, the id ends in "-r2"
    episode_settings: dict[str, Json] = field(default_factory=dict)  # settings of the episode beside the prompt

    @property
    def once(self) -> str:
        """Return the id that all repetitions of the question share: that of the first."""
        return self.id.removesuffix(f"-r{self.repetition}")

    @property
    def unit(self) -> str:
        """Return the key of answers that depend on each other within a cluster: the question without demonstrations.

        A question with the label "seed" is asked once for each draw of demonstrations; all draws share its text.
        """
        if not self.cluster or "seed" not in self.labels:
            return self.once
        return "|".join((self.family, self.group, self.cluster, json.dumps(self.reference), self.text))

    @property
    def graded(self) -> bool:
        """Return True if the question is graded: its answers have a mean score, and no pass rate."""
        return is_graded(self.pass_threshold)

    def __repr__(self) -> str:
        return f"<Question {self.id}>"


def is_part(pair: Sequence[float]) -> bool:
    """Return True if numerator and denominator can be summed with others.

    Both have to be finite and at most 1e100 in magnitude; the denominator has to be 0, or at least 1e-9.
    """
    if len(pair) != 2 or not all(abs(number) <= _LARGEST_PART for number in pair):
        return False
    return pair[1] == 0 or pair[1] >= _SMALLEST_DENOMINATOR


def is_graded(pass_threshold: float) -> bool:
    """Return True if questions of this pass threshold are graded, for every answer reaches it."""
    return pass_threshold <= 0


@dataclass(frozen=True, slots=True)
class Request:
    """One call to a model."""

    messages: list[dict[str, Any]] = field(default_factory=list)  # role and content, as in the OpenAI protocol
    role: Literal["subject", "judge", "embedder", "paraphraser"] = "subject"
    kind: Literal["chat", "score", "embed"] = "chat"
    texts: list[str] = field(default_factory=list)  # for "embed", and for "score" the texts after context or messages
    context: str = ""  # for "score": the text before each of the texts; empty if there are messages
    tools: list[dict[str, Any]] = field(default_factory=list)
    settings: dict[str, Json] = field(default_factory=dict)
    repetition: int = 1
    # A right and a wrong reply for simulated models, where these differ from the answer to the question: a text, or for
    # "score" a log-probability for each of the texts. No other model receives them.
    right: Json = None
    wrong: Json = None

    @property
    def prompt(self) -> str:
        """Return the text of the last message; empty if there is none."""
        return str(self.messages[-1]["content"]) if self.messages else ""


class TextScore(NamedTuple):
    """The probability of a given text after the context or the messages of the request."""

    logprob: float | None  # natural logarithm of the product over all tokens; None: below the tokens that are listed
    tokens: int  # number of tokens with a log-probability; the first token of an empty context has none
    greedy: bool | None  # True if each token is the most probable one at its place; None if the endpoint omits it

    @property
    def perplexity(self) -> float | None:
        """Return the perplexity of the text, exp(-logprob / tokens); None if no token has a log-probability."""
        if self.logprob is None or not self.tokens:
            return None
        mean = -self.logprob / self.tokens
        return exp(mean) if mean < _HIGHEST_EXPONENT else inf


SOFT_PROMPT_SOURCE: Final = ", soft prompt"
"""What the source of a reply ends with if a tuned soft prompt stood before the prompt."""


@dataclass(frozen=True, slots=True)
class Reply:
    """Reply of a model to one request. Any text that arrived is a reply, also a refusal or a truncated text."""

    text: str
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None  # US dollars; None if unknown, never 0 then
    latency: float | None = None  # seconds
    finish_reason: str = "stop"  # one of FINISH_REASONS, or a provider's word that is not known
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    source: str = ""  # the origin: a provider's model, a file, a baseline
    logprobs: list[list[Any]] = field(default_factory=list)  # for "score": the fields of a TextScore for each text
    embeddings: list[list[float]] = field(default_factory=list)  # for "embed": a vector for each text; in no trial
    retries: int = 0  # number of failed attempts before this reply
    stored: bool = False  # True if an earlier run stored it
    reasoning: str = ""  # what the model wrote before its answer, where the provider gives it; no part of `text`
    tokens_reasoning: int | None = None  # of `tokens_out`; None if unknown
    # Of a reply with tool calls: reasoning as the provider sent it, for the message that repeats it; in no trial.
    message_fields: dict[str, Any] = field(default_factory=dict)

    @property
    def usage(self) -> Usage:
        """Return what the reply took."""
        return usage_of({name: getattr(self, name) for name in (*AMOUNTS, "stored")})

    @property
    def scores(self) -> list[TextScore]:
        """Return the scores of the texts of a "score" request, in their order."""
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
    given: Json = None  # the parsed answer
    status: Literal["read", "unparseable", "refused"] = "read"
    remark: str = ""  # why the answer could not be parsed
    missing: list[str] = field(default_factory=list)  # names in the reference, but not in the answer
    extra: list[str] = field(default_factory=list)  # names in the answer, but not in the reference


@dataclass(frozen=True, slots=True)
class Failure:
    """Reason why a trial has no score.

    Attributes:
        kind: The short name of the error for counting and comparing, such as "timeout" or "budget::calls"; "skipped"
            if the question was not asked for a reason without a kind of its own.
        message: The reason in words.
    """

    kind: str
    message: str

    def __str__(self) -> str:
        return self.message if self.kind == "skipped" else f"{self.kind}: {self.message}"


@dataclass(frozen=True, slots=True)
class Trial:
    """A question, its reply and its score; or the failure that prevented them."""

    question: Question
    model: str
    outcome: Outcome
    reply: Reply | None = None
    score: Score | None = None
    failure: Failure | None = None  # of the provider or of scoring, or the reason for not asking
    requests: int = 0
    retries: int = 0  # number of retries after failures of the provider
    exchanges: list[dict[str, Any]] = field(default_factory=list)  # requests with their replies, as in the record
    # Diagrams for reports that draw, as `diagram.pack` compresses them:
    diagram: str = ""  # the compressed drawing of what the question is about
    diagram_pair: str = ""  # the compressed drawings of the expected and the given answer
    texts: dict[str, str] = field(default_factory=dict)  # texts of messages that are not in the question, by digest

    @property
    def failure_text(self) -> str:
        """Return the failure in words; empty if there is none."""
        return "" if self.failure is None else str(self.failure)

    @property
    def passed(self) -> bool:
        """Return True if the main score reaches the pass threshold; False for every answer to a graded question."""
        return self.outcome == "right"

    @property
    def accepted(self) -> bool:
        """Return True if `check` accepts the answer: it is right, or the question is graded and has an answer."""
        return self.outcome in ("right", "graded")

    def check(self) -> None:
        """Check that the answer is right; for a graded question, that there is an answer, whatever its score.

        Raises:
            WrongAnswerError: if the check fails; it is an AssertionError.
        """
        __tracebackhide__ = True
        if not self.accepted:
            raise WrongAnswerError(self)

    def to_json(self) -> dict[str, Any]:
        """Return the trial as plain JSON values; `from_json` reverses it."""
        return asdict(self)

    def to_shared_json(self) -> dict[str, Any]:
        """Return `to_json` for a caller that copies it: lists and mappings are those of the trial."""
        values = _field_values(self).items()
        return {name: _field_values(value) if is_dataclass(value) else value for name, value in values}

    def to_json_text(self) -> str:
        """Return `to_json` as text, in a third of the time: nothing is copied."""
        return json.dumps(self, default=_field_values)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Trial:
        """Return the trial that `to_json` wrote."""
        parts = {
            "question": read_fields(Question, data["question"]),
            "reply": data.get("reply") and read_fields(Reply, data["reply"]),
            "score": data.get("score") and read_fields(Score, data["score"]),
            "failure": data.get("failure") and read_fields(Failure, data["failure"]),
        }
        return read_fields(cls, {**data, **parts})

    def __repr__(self) -> str:
        score = "" if self.score is None else f" {self.score.value:.3f}"
        return f"<Trial {self.question.id} {self.outcome}{score}>"


class WrongAnswerError(AssertionError):
    """Answer that is not right, or cannot be parsed."""

    def __init__(self, trial: Trial) -> None:
        super().__init__(f"{trial.outcome}: expected {trial.question.reference!r}")
        self.trial = trial
