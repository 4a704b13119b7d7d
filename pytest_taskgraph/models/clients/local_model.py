"""Models on this machine, `local:PATH`: a folder in transformers' format, a GGUF file, or a name in the local cache.

Requests to score texts and to write a reply are computed one at a time, in a thread beside the event loop. Weights are
loaded at the first request. Computation on this machine costs nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import fsum, isfinite
from threading import Event
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from ...errors import NotAskedError, ProviderError, UsageError
from ...local_weights import PRECISIONS, check_local_extra, find_language_model, fingerprint_weights, load_weights
from ...redaction import scrub
from ...trial import SOFT_PROMPT_SOURCE, Json, Reply, Request
from .local_forward import first_scored, logits_before, reply_logits
from .reasoning import split_reasoning
from .schemes import LOCAL

if TYPE_CHECKING:
    from ...local_weights import LocalWeights

_SPELLINGS: Final = {"max_completion_tokens": "max_tokens"}
_EXPECTED: Final = {
    "max_tokens": "a whole number from 1",
    "temperature": "a number from 0 to 100",
    "top_p": "a number above 0 and up to 1",
    "seed": "a whole number",
}
_LOADING: Final = ("device", "precision", "network")  # model options of loading; all others are of writing
_log = logging.getLogger(__name__)
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class WritingSettings:
    """How a reply is written.

    Args:
        max_tokens: The most tokens of a reply, at least 1.
        temperature: 0 takes the most probable token at each place; above 0, tokens are sampled.
        top_p: Tokens are sampled from the most probable ones that together have this probability, above 0 and up to 1.
        seed: Determines the sample, with the repetition of the request and the prompt.
    """

    max_tokens: int = 256
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0

    @classmethod
    def of(cls, stated: Mapping[str, Json]) -> WritingSettings:
        """Return the stated settings, which `check_setting` has accepted."""
        values = {_SPELLINGS.get(name, name): value for name, value in stated.items() if value is not None}
        return cls(**cast("dict[str, Any]", values))


def check_setting(name: str, value: Json, further: Iterable[str] = ()) -> None:
    """Check the name and the value of a setting of writing; None counts as not stated.

    Args:
        name: The name.
        value: The value.
        further: Names that the message lists beside those of `WritingSettings`.

    Raises:
        UsageError: if the name is unknown or the value not allowed.
    """
    own = _SPELLINGS.get(name, name)
    if own not in _EXPECTED:
        known_names = sorted([*(field.name for field in fields(WritingSettings)), *_SPELLINGS, *further])
        raise UsageError(f"unknown model option {name!r} of a local model; known: {', '.join(known_names)}")
    if value is not None and not _fits(own, value):
        raise UsageError(f"the model option {name}: found {value!r}, expected {_EXPECTED[own]}")


def _fits(name: str, value: Json) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return False
    if name in ("max_tokens", "seed"):
        return isinstance(value, int) and (name == "seed" or value >= 1)
    return 0 <= value <= 100 if name == "temperature" else 0 < value <= 1


def write_reply(
    weights: LocalWeights, ids: Sequence[int], settings: WritingSettings, repetition: int, stop: Event
) -> tuple[str, int, str]:
    """Write a reply to a prompt.

    Args:
        weights: The model.
        ids: The tokens of the prompt, at least one, and no more than the model accepts.
        settings: How it is written.
        repetition: Which of several replies to the same prompt it is.
        stop: Once it is set, writing ends.

    Returns:
        The text, the number of tokens written, and "stop" if the model ended it, "length" if it was cut off.
    """
    import torch

    room = settings.max_tokens
    if weights.longest is not None and weights.start is None:
        room = min(room, weights.longest - len(ids) + 1)
    draw = _generator(ids, settings.seed, repetition)
    tokens: list[int] = []
    finish = "length"
    following = reply_logits(weights, ids)
    with torch.inference_mode():
        while len(tokens) < room and not stop.is_set():
            logits = following.send(tokens[-1]) if tokens else next(following)
            token = _next_token(logits, settings, draw)
            tokens.append(token)
            if token in weights.ends:
                finish = "stop"
                break
    text = weights.tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    return str(text), len(tokens), finish


def _generator(ids: Sequence[int], seed: int, repetition: int) -> Any:  # noqa: ANN401 - of a package without types here
    """Return a random generator that the prompt, seed and repetition determine."""
    import torch

    digest = hashlib.sha256(f"{seed}|{repetition}|{','.join(map(str, ids))}".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8]) >> 1)


def _next_token(logits: Any, settings: WritingSettings, draw: Any) -> int:  # noqa: ANN401
    import torch

    if not settings.temperature:
        return int(logits.argmax())
    probabilities = torch.softmax(logits / settings.temperature, dim=-1)
    if settings.top_p < 1:
        ordered, places = probabilities.sort(descending=True)
        ordered[ordered.cumsum(0) - ordered >= settings.top_p] = 0.0
        probabilities = torch.zeros_like(probabilities).scatter(0, places, ordered)
    return int(torch.multinomial(probabilities, 1, generator=draw))


class LocalModel:
    """A language model of transformers, causal or an encoder with a decoder, under the name `local:PATH`.

    Beside the model options, `settings` state a digest of the model's files, so that a reply of other weights in the
    same place is never taken from the store.

    Args:
        spec: The path of a folder or of a GGUF file, or a name in the local cache.
        settings: The model options: `device`, `precision`, `network`, and those of `WritingSettings`.

    Raises:
        UsageError: if torch or transformers is missing, the model is not there, or a model option is unknown or has a
            value that is not allowed.
    """

    live = True
    in_flight = 1  # further requests only wait for it until their time limit expires

    def __init__(self, spec: str, settings: Mapping[str, Json] | None = None) -> None:
        check_local_extra()
        self.name = f"{LOCAL}:{spec.strip()}"
        self._options = dict(settings or {})
        _check_options(self.name, self._options)
        self._place = find_language_model(spec.strip(), network=self._options.get("network") is True)
        self._failed: ProviderError | None = None
        self._loaded: LocalWeights | None = None

    @cached_property
    def settings(self) -> dict[str, Json]:
        """Return the model options that change replies, and the digest of the model's files."""
        stated = {name: value for name, value in self._options.items() if name != "network"}
        return {**stated, "weights": fingerprint_weights(self._place)}

    async def ready(self) -> None:
        """Wait until the weights are loaded.

        Raises:
            ProviderError: of the kind not-found, if they cannot be loaded.
        """
        await self._compute(lambda weights, _: None)

    async def answer(self, request: Request) -> Reply:
        """Return the scores of the texts, or the reply that the model writes.

        Raises:
            NotAskedError: if the request has tools, asks for embeddings, or has an unknown setting.
            ProviderError: of the kind context-too-long, not-found if the model cannot be loaded, bad-request if the
                request cannot be computed, malformed if its probabilities are not numbers.
        """
        if request.tools or request.kind == "embed":
            what = "embed texts" if request.kind == "embed" else "call tools"
            raise NotAskedError(f"the model {self.name} cannot {what}; it scores texts and writes replies")
        if request.kind == "score" and (
            not request.texts or not all(request.texts) or (request.messages and request.context)
        ):
            raise ProviderError("bad-request", "a score request holds texts, none empty, and a context or messages")
        settings = self._writing(request)

        def compute(weights: LocalWeights, stop: threading.Event) -> Reply:
            start = time.perf_counter()
            if request.kind == "score":
                rows, tokens_in = score_texts(weights, request)
                text, tokens_out, finish = "", 0, "stop"
            else:
                ids = prompt_tokens(weights, request.messages)
                rows, tokens_in = [], len(ids)
                text, tokens_out, finish = write_reply(weights, ids, settings, request.repetition, stop)
            latency = time.perf_counter() - start
            reasoning, text = split_reasoning(scrub(text), cut_off=finish == "length")
            source = self.name + (SOFT_PROMPT_SOURCE if weights.prefix is not None else "")
            reply = Reply(text, tokens_in, tokens_out, 0.0, latency, finish, source=source, logprobs=rows)
            return replace(reply, reasoning=reasoning)

        return await self._compute(compute)

    def _writing(self, request: Request) -> WritingSettings:
        stated = {name: value for name, value in self._options.items() if name not in _LOADING}
        try:
            for name, value in request.settings.items():
                check_setting(name, value)
        except UsageError as error:
            raise NotAskedError(f"the model {self.name}: {error}") from None
        return WritingSettings.of({**stated, **request.settings})

    async def _compute(self, call: Callable[[LocalWeights, threading.Event], _T]) -> _T:
        """Return what a call computes with the weights, in the thread of the model.

        A call that nobody awaits any more does not begin; a running one is stopped by the event.
        """
        stop = threading.Event()

        def guarded() -> _T:
            weights = self._weights()
            try:
                return call(weights, stop)
            except (ProviderError, NotAskedError):
                raise
            except Exception as error:
                _log.info("%s: %s", self.name, type(error).__name__)
                reason = scrub(" ".join(str(error).split()))[:300]
                raise ProviderError("bad-request", f"{type(error).__name__}: {reason}") from None

        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, guarded)
        finally:
            stop.set()

    def _weights(self) -> LocalWeights:
        """Return the weights, which are loaded once; a failure to load them is remembered."""
        if self._failed is not None:
            raise ProviderError(self._failed.kind, self._failed.message)
        if self._loaded is None:
            precision, device = self._options.get("precision", "auto"), self._options.get("device", "")
            try:
                self._loaded = load_weights(self._place, precision=str(precision), device=str(device))
            except UsageError as error:
                self._failed = ProviderError("not-found", str(error))
                raise self._failed from None
        return self._loaded

    @cached_property
    def _thread(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(max_workers=1, thread_name_prefix="taskgraph-local")


def open_local(path: str, settings: Mapping[str, Json]) -> LocalModel:
    """Return the model in a folder or GGUF file, or of a name in the local cache.

    Raises:
        UsageError: as LocalModel does.
    """
    return LocalModel(path, settings)


def _check_options(name: str, options: Mapping[str, Json]) -> None:
    for option, value in options.items():
        if option == "network":
            if not isinstance(value, bool):
                raise UsageError(f"the model {name}: the model option network: found {value!r}, expected true or false")
        elif option == "precision":
            if value not in PRECISIONS:
                precisions = ", ".join(PRECISIONS)
                raise UsageError(
                    f"the model {name}: the model option precision: found {value!r}, expected {precisions}"
                )
        elif option == "device":
            if not isinstance(value, str) or not value:
                raise UsageError(f"the model {name}: the model option device: found {value!r}, expected cpu, cuda, …")
        else:
            try:
                check_setting(option, value, _LOADING)
            except UsageError as error:
                raise UsageError(f"the model {name}: {error}") from None


def score_texts(weights: LocalWeights, request: Request) -> tuple[list[list[Any]], int]:
    """Return a row for each text, with the fields of its TextScore, and the number of tokens read.

    Context and text are tokenized together, as on a server: a token that begins in the context and ends in the text
    counts to the text, whole. The very first token has no predecessor, thus no probability, and is not counted, unless
    the tokenizer puts a token before it. After messages, a text is tokenized by itself. Each distinct sequence of
    tokens is computed once: texts of one token need one computation together.

    Raises:
        ProviderError: of the kind context-too-long or malformed.
    """
    before = prompt_tokens(weights, request.messages) if request.messages else None
    prompts: list[tuple[list[int], int]] = []  # the tokens of each prompt, and where those of its text begin
    for text in request.texts:
        if before is None:
            prompts.append(split_at(weights, request.context, text))
        else:
            own = weights.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
            prompts.append(([*before, *own], len(before)))
    return score_sequences(weights, prompts), sum(len(ids) for ids, _ in prompts)


def score_sequences(weights: LocalWeights, sequences: Sequence[tuple[Sequence[int], int]]) -> list[list[Any]]:
    """Return a row for each sequence of tokens, with the fields of the TextScore of its end.

    Args:
        weights: The model.
        sequences: The tokens of each, and the place where the scored text begins.

    Raises:
        ProviderError: of the kind context-too-long or malformed.
    """
    logits: dict[tuple[int, ...], Any] = {}
    rows: list[list[Any]] = []
    for ids, border in sequences:
        first = first_scored(weights, border)
        if len(ids) <= first:
            rows.append([0.0, 0, None])
            continue
        key = (first, *ids[:-1])
        if key not in logits:
            _check_length(weights, len(ids) - 1 if weights.start is None else first)
            logits[key] = logits_before(weights, ids[:-1], first)
        rows.append(_row(logits[key], ids[first:]))
    return rows


def split_at(weights: LocalWeights, context: str, text: str) -> tuple[list[int], int]:
    """Return the tokens of context and text, without trailing special tokens, and the index where the text begins."""
    border, encoding = len(context), _encode(weights, context + text)
    ids, ends = encoding["input_ids"], [end for _, end in encoding["offset_mapping"]]
    marks = encoding["special_tokens_mask"]
    while ids and marks[-1] and not ends[-1]:
        ids, ends, marks = ids[:-1], ends[:-1], marks[:-1]
    return list(ids), next((at for at, end in enumerate(ends) if end > border), len(ids))


def _encode(weights: LocalWeights, text: str) -> Any:  # noqa: ANN401 - of a package without types here
    text.encode()  # refuses lone surrogates, which some versions of tokenizers ignore
    return weights.tokenizer(text, return_offsets_mapping=True, return_special_tokens_mask=True, verbose=False)


def _row(logits: Any, ids: Sequence[int]) -> list[Any]:  # noqa: ANN401
    """Return the row of a text with these tokens, each of which has the logits after its predecessor."""
    import torch

    with torch.inference_mode():
        every = torch.log_softmax(logits, dim=-1)
        chosen = every.gather(1, torch.tensor(ids)[:, None])[:, 0]
        greedy = bool((every.amax(dim=-1) <= chosen).all())
    values = chosen.tolist()
    if not all(map(isfinite, values)):
        raise ProviderError("malformed", "a log-probability that is no finite number; try the option precision=float32")
    return [min(0.0, fsum(values)), len(values), greedy]


def prompt_tokens(weights: LocalWeights, messages: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return the tokens of messages: by the tokenizer's chat template, else of their texts with a blank line between.

    Raises:
        NotAskedError: if a message holds more than text.
        ProviderError: of the kind context-too-long.
    """
    texts = [message.get("content") for message in messages]
    if not all(isinstance(text, str) for text in texts):
        raise NotAskedError("a local model reads messages of text only")
    if weights.tokenizer.chat_template:
        chat = [{"role": str(message.get("role")), "content": message["content"]} for message in messages]
        prompt = weights.tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)
        ids = list(weights.tokenizer(prompt, add_special_tokens=False, verbose=False)["input_ids"])
    else:
        whole = "\n\n".join(map(str, texts))
        ids, _ = split_at(weights, whole, "")
    _check_length(weights, len(ids))
    if not ids:
        raise ProviderError("bad-request", "the prompt has no tokens")
    return ids


def _check_length(weights: LocalWeights, length: int) -> None:
    if weights.longest is not None and length > weights.longest:
        raise ProviderError("context-too-long", f"{length} tokens; the model takes at most {weights.longest}")
