"""The JSON of a trial in a record, as pydantic checks it and writes its schema.

A field without a default is always written; unknown ones are those of a later version and are ignored. The modules of
the schema import pydantic, so they are imported only where a record is read.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from ...diagram import Flow, NodeKind
from ...trial import Outcome, Parsing, Place, is_part

DEEPEST: Final = 100  # most levels of lists and objects in a value
MOST: Final = 1e100  # greatest number without a range of its own; sums and squares stay finite
MOST_WHOLE: Final = 10**18


def _check_depth(value: Any, *, room: int = DEEPEST) -> Any:  # noqa: ANN401
    """Return the value.

    Raises:
        ValueError: if its lists and objects are nested deeper than DEEPEST.
    """
    if type(value) in (list, dict):
        if not room:
            raise ValueError(f"at most {DEEPEST} levels of lists and objects")
        for member in value if type(value) is list else value.values():
            _check_depth(member, room=room - 1)
    return value


def _check_part(pair: list[float]) -> list[float]:
    if not is_part(pair):
        raise ValueError("a numerator and a denominator of at least 0")
    return pair


Value = Annotated[Any, AfterValidator(_check_depth)]
Number = Annotated[float, Field(ge=-MOST, le=MOST)]
Size = Annotated[float, Field(ge=0, le=MOST)]
Share = Annotated[float, Field(ge=0, le=1)]
Whole = Annotated[int, Field(ge=-MOST_WHOLE, le=MOST_WHOLE)]
Count = Annotated[int, Field(ge=0, le=MOST_WHOLE)]
Ordinal = Annotated[int, Field(ge=1, le=MOST_WHOLE)]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Part = Annotated[list[Number], AfterValidator(_check_part), Field(json_schema_extra={"minItems": 2, "maxItems": 2})]


class RecordPart(BaseModel):
    """An object of a record."""

    model_config = ConfigDict(strict=True, use_attribute_docstrings=True)


class NodeJson(RecordPart):
    """A task, gateway, data, START or END."""

    id: str
    """Id that no other node or group has."""
    label: str
    kind: NodeKind = "task"
    """Kind of the node; `task` by default. `composite` is a task whose inside is not drawn."""
    group: str = ""
    """Group that the node stands in."""
    note: str = ""


class EdgeJson(RecordPart):
    """A link between two nodes or groups that stand in the same group."""

    source: str
    """Node or group, in the same group as the target."""
    target: str
    label: str = ""
    """Guard of the link."""
    kind: Flow = "control"
    """Kind of the link; `control` by default."""


class GroupJson(RecordPart):
    """A box around nodes and groups."""

    id: str
    label: str
    parent: str = ""
    """Group that the group stands in."""
    note: str = ""


class BarJson(RecordPart):
    """A task with the time at which it runs, in the unit of its diagram."""

    label: str
    start: int
    """Its start after that of the whole."""
    length: int
    critical: bool = False
    """True if the whole ends later where the task does; false by default."""


class DiagramJson(RecordPart):
    """A graph as it can be drawn. A property with its default, the empty text unless stated, is left out."""

    title: str
    """Name of the graph."""
    nodes: list[NodeJson]
    """Tasks, gateways, data, START and END."""
    edges: list[EdgeJson]
    """Links between nodes or groups."""
    groups: list[GroupJson]
    """Groups of nodes, each after the group it stands in."""
    omitted: Count = 0
    """Number of nodes and links that were too many to be drawn."""
    bars: list[BarJson] = []
    """When tasks run, if durations alone decide it, in the order of their starts."""
    unit: str = ""
    """Unit of the times in `bars`, such as `minutes`."""


class DiagramPairJson(RecordPart):
    """Two diagrams to be drawn side by side.

    Nodes and groups with the same id are the same; links are the same if ends, kind and label are. Both together have
    at most 400 nodes and 800 links.
    """

    expected: DiagramJson
    """Diagram of the reference answer."""
    given: DiagramJson
    """Diagram of the given answer."""


class QuestionJson(RecordPart):
    """A question as it was asked."""

    id: str
    """Id of the question, also the id of the pytest item."""
    family: str
    """Benchmark family."""
    group: str
    """Group that a row of a table is about, such as a method."""
    section: str
    """Section that the group stands under; empty if the family has no sections."""
    text: str
    """Text of the question alone."""
    prompt: list[Digest]
    """The whole prompt: digests in `texts`, whose texts are to be joined."""
    form: str
    """Answer form."""
    reference: Value
    """Reference answer."""
    metric: str
    """Metric of the main score."""
    further: list[str]
    """Further metrics."""
    pass_threshold: Number
    """Smallest score that passes; 0 for a graded question."""
    aggregate: str
    """How scores of the group are averaged."""
    names: list[str]
    """Known names: those that an answer may hold."""
    spellings: dict[str, str] = {}
    """Further spellings of names in an answer, with the names that they stand for."""
    place: Place
    """Place of the answer in the reply."""
    parsing: Parsing
    """Answer parsing."""
    episode: str
    """Kind of conversation; `single` is one request with one reply."""
    labels: dict[str, str | Whole]
    """Labels of the question, such as size and prompt, by name."""
    cluster: str
    """Key that questions about the same subject share."""
    digests: dict[str, str]
    """Digests of what the question is made of: subject, prompt, templates and others, by name."""
    system: str = ""
    """System prompt; empty if there is none."""
    specifications: dict[str, str] = {}
    """Specifications that an agent can ask for, by name."""
    needed: list[str] = []
    """Names of the specifications without which the answer cannot be known."""
    judged: list[str] = []
    """Metrics that a second model measures after the reply."""
    chance: Share | None = None
    """Chance level: the main score expected from guessing; null if it is not known."""
    relation: str = ""
    """Variation of the question, which keeps the answer; such a question enters no rate."""
    twin: str = ""
    """Id of the question that this question varies."""
    repetition: Ordinal = 1
    """Number of the repetition, from 1; from the second on the id ends in `-r2`."""
    episode_settings: dict[str, Value] = {}
    """What the episode needs beside the prompt."""


class ReplyJson(RecordPart):
    """Reply of the model under test.

    Texts over 20,000 characters keep their beginning and end around a note of the full length.
    """

    text: str
    """Text of the reply."""
    reasoning: str = ""
    """What the model wrote before its reply, where the provider gives it; no part of `text`, and never scored. Empty if
    missing."""
    tokens_in: Count | None
    """Tokens of the requests; null if unknown."""
    tokens_out: Count | None
    """Tokens of the replies; null if unknown."""
    tokens_reasoning: Count | None = None
    """Those of `tokens_out` that are reasoning; null or missing if unknown."""
    cost: Number | None
    """US dollars; null if unknown, never 0 instead."""
    latency: Number | None
    """Seconds; null if unknown."""
    finish_reason: str
    """Reason why the reply ended: `stop`, `length` and others, as the provider states it."""
    tool_calls: list[dict[str, Value]]
    """Tool calls of the reply."""
    message_fields: dict[str, Value] = {}
    """Always empty: reasoning as the provider sent it is kept for the next request alone."""
    source: str
    """Origin of the reply: a model of a provider, a file, a baseline."""
    logprobs: list[list[Value]]
    """For each text that was scored: log-probability or null, number of tokens, and whether each token was the most
    probable, or null."""
    embeddings: list[list[Number]] = []
    """Always empty: vectors are not kept."""
    retries: Count = 0
    """How often the request was repeated before this reply."""
    stored: bool = False
    """True if the store held the reply of an earlier run, so that this run sent and paid nothing; false if missing."""


class ScoreJson(RecordPart):
    """Score of a reply."""

    value: Share
    """Main score, 0 to 1."""
    metrics: dict[str, Number | None]
    """Further metrics by name; null if undefined."""
    parts: dict[str, Part]
    """Numerator and denominator by name; the denominator is 0, or at least 1e-9."""
    given: Value
    """Parsed answer."""
    status: Literal["read", "unparseable", "refused"]
    """`read` if an answer was parsed."""
    remark: str
    """Reason why no answer was parsed, or a note on the parsing."""
    missing: list[str]
    """Names in the reference that the answer lacks."""
    extra: list[str]
    """Names in the answer that the reference lacks."""


class FailureJson(RecordPart):
    """Reason why a trial has no score."""

    kind: str
    """Short name to count and compare by, such as `timeout` or `budget::calls`."""
    message: str
    """Text for people."""


class MessageJson(RecordPart):
    """A message of a request."""

    role: str
    """Role as in the OpenAI protocol; `context` and `text` for texts to score or to embed."""
    digest: Digest


class ExchangeJson(RecordPart):
    """A request and its reply.

    An episode may add properties: `calls` with the status of their answers, or `metric` and `value` of what a model
    measured.
    """

    role: str
    """Receiver of the request: `subject` (the model under test), `judge`, `embedder` or `paraphraser`."""
    messages: list[MessageJson]
    """Role and digest of each message. The digest is the SHA-256 of the text without secrets. It is that of a prompt,
    system prompt or specification of the question, or stands in `texts`. Texts there that are no prompts are cut above
    20,000 characters. Tool calls of a message are part of its text, as JSON."""
    kind: Literal["chat", "score", "embed"] = "chat"
    """Kind of the request; `chat` if missing."""
    final: bool = False
    """True if its reply is the reply of the trial: text, reasoning, finish_reason and logprobs stand there."""
    failure: str = ""
    """Kind of failure if no reply came; such an exchange has no property of a reply."""
    text: str = ""
    """Text of the reply."""
    reasoning: str = ""
    """What the model wrote before its reply, where the provider gives it; empty if missing."""
    tokens_in: Count | None = None
    """Tokens of the request."""
    tokens_out: Count | None = None
    """Tokens of the reply."""
    tokens_reasoning: Count | None = None
    """Those of `tokens_out` that are reasoning; unknown if missing."""
    cost: Number | None = None
    """US dollars; null if unknown."""
    latency: Number | None = None
    """Seconds from request to reply."""
    stored: bool = False
    """True if the store held the reply of an earlier run."""
    source: str = ""
    """Origin of the reply: a model of a provider, a file, a baseline."""
    finish_reason: str = "stop"
    """Reason why the reply ended; `stop` if missing."""
    logprobs: list[list[Value]] = []
    """Scores of texts, as in the reply; none if missing."""
    calls: list[dict[str, Value]] = []
    """Tools that the model called: name, arguments, and how the call was answered."""
    metric: str = ""
    """Metric that the reply measured."""
    value: Number | None = None
    """Value of that metric; null if undefined."""


class TrialJson(RecordPart):
    """A question with the reply and its score, or with the reason why there is none."""

    question: QuestionJson
    """The question."""
    model: str
    """Model under test."""
    outcome: Outcome
    """Outcome of the trial. `graded`: an answer was parsed, and the question is graded, so that it is neither right nor
    wrong. `error`: there is no reply. `skipped`: the question was not asked."""
    reply: ReplyJson | None
    """The reply of the model under test."""
    score: ScoreJson | None
    """Score of the reply."""
    failure: FailureJson | None
    """Reason why there is no score: a failure of the provider, or the reason for not asking."""
    requests: Count
    """Requests of the trial that got a reply or a failure."""
    attempts: Ordinal
    """How often the question was asked; the last trial is kept."""
    diagram: None = None
    """Always null: the diagram stands in `diagrams` of the record, under the `cluster` of the question."""
    diagram_pair: DiagramPairJson | None = None
    """Reference answer and given answer, to be drawn side by side; missing if the family draws none, or no report that
    draws was written."""
    exchanges: list[ExchangeJson]
    """Requests with their replies in the order of asking: first those to the model under test, then those to judges and
    embedders. Tokens and cost of the trial are sums over them."""
    retries: Count
    """How often requests were repeated after failures of the provider."""
    texts: None = None
    """Always null: these texts stand in `texts` of the record."""
