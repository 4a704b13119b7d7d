"""Checks of a server, once a run and model, before what it sends is used: log-probabilities of given texts, and tools.

A server may attribute each log-probability to the next token or to the one before, and a server without support for
tools answers as if none were offered. Neither shows in a single reply, so each check is a request of its own, which
passes the store, the limits and the budget like any other.

**Log-probabilities.** The context repeats a line, and breaks off in it. Four texts of four tokens follow: the expected
continuation, and three with one surprise each, at the first, the second and the last token. A surprise makes its text
less probable. If each value stands one token late, the surprise of the last token is not part of its text, which is
then as probable as the expected one. If each stands one token early, that of the first token is missing; only what
follows it is less probable. This is why it is compared with the surprise of the second token, which is part of its
text in all cases. The surprises are line breaks, since the start of a line follows them again.

**Tools.** A reply without a call is no evidence, for the model may answer at once. So a model that has called no tool
yet is told to call one, with `tool_choice` "required". A server that honours tools forces the call.
"""

from __future__ import annotations

import asyncio
from typing import Final

from ...asking import Model
from ...errors import CannotScoreError, NotAskedError, ProviderError
from ...trial import Reply, Request
from .layer import LiveModel
from .request_counters import UNSCORED, RequestCounters
from .score_checked import unsent

_LINE: Final = "a b c d e f g h\n"
SCORE_PROBE: Final = Request(
    kind="score", context=_LINE * 4 + "a b c", texts=[" d e f g", " d e f a", " d\na b", "\na b c"]
)
"""The expected continuation, and the texts with a surprise at their last, second and first token."""
LEAST: Final = 1.0  # nats that a surprise costs at least
SHARE: Final = 2 / 3  # of the cost of the second token, that of the first at least; one token early it is about 1/3
TOOL_PROBE: Final = Request(
    messages=[{"role": "user", "content": "Call the tool report_ready now. Write nothing else."}],
    tools=[
        {
            "type": "function",
            "function": {
                "name": "report_ready",
                "description": "States that tools can be called.",
                "parameters": {"type": "object", "properties": {}, "required": []},
            },
        }
    ],
    settings={"tool_choice": "required"},
)
_CALL_BEGINS: Final = tuple("{[<`")  # of a call that is written as text
_EXCERPT: Final = 60  # characters of a reply that a message repeats
SCORES, TOOLS = "scores", "tools"
"""What a client can state in `probes`: its log-probabilities of texts behind a context, or its tools, are checked."""


def needs_score_probe(client: Model, request: Request) -> bool:
    """Return True if SCORE_PROBE is sent before the first such request."""
    return request.kind == "score" and not request.messages and SCORES in getattr(client, "probes", ())


def score_fault(reply: Reply) -> str:
    """Return what is wrong with the log-probabilities of a reply to SCORE_PROBE; empty if they follow the tokens."""
    expected, *surprising = (score.logprob or 0.0 for score in reply.scores)
    last, second, first = (expected - value for value in surprising)
    is_late, is_early = last < LEAST, first < max(LEAST, SHARE * second)
    if not (is_late or is_early):
        return ""
    where = (
        "do not follow the tokens"
        if is_late and is_early
        else f"seem to stand one token {'late' if is_late else 'early'}"
    )
    costs = f"{first:.1f}, {second:.1f}, {last:.1f} nats"
    return f"its log-probabilities {where} (a wrong first, second, last token of a repeated text costs {costs})"


def tool_fault(reply: Reply) -> str:
    """Return what shows that a reply to TOOL_PROBE ignores the tools; empty if it does not."""
    text = reply.text.strip()
    if reply.tool_calls or not text or (reply.cut_off and text.startswith(_CALL_BEGINS)):
        return ""
    excerpt = text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}…"
    return f"its server ignores them; told to call one, with tool_choice=required, it replied {excerpt!r}"


class ProbedModel:
    """A live model whose server is checked before it is relied on.

    A replay sends nothing: without a stored reply to a check, what the run stored counts as it did then.

    Args:
        inner: The model that answers, with its store.
        client: The client, which states in `probes` what is checked.
        counters: The counters, which get a remark on a server that fails a check.
    """

    live = True

    def __init__(self, inner: Model, client: LiveModel, counters: RequestCounters) -> None:
        self.name, self.settings = client.name, client.settings
        self._inner, self._client, self._counters = inner, client, counters
        self._lock = asyncio.Lock()
        self._has_checked_scores = False
        self._no_scores: CannotScoreError | None = None
        self._can_call = None if TOOLS in getattr(client, "probes", ()) else True
        self._no_calls = ""

    async def answer(self, request: Request) -> Reply:
        """Return the reply of the model.

        Raises:
            ProviderError: as the model does, also in reply to a check of log-probabilities.
            CannotScoreError: if the server fails that check.
            NotAskedError: as the model does; if the server ignores tools.
        """
        if needs_score_probe(self._client, request):
            await self._check_scores()
        if not request.tools:
            return await self._inner.answer(request)
        self._refuse_tools()
        reply = await self._inner.answer(request)
        if reply.tool_calls:
            self._can_call = True
        elif self._can_call is None:
            await self._check_tools()
            self._refuse_tools()
        return reply

    async def _check_scores(self) -> None:
        if not self._has_checked_scores:
            async with self._lock:
                if not self._has_checked_scores:
                    await self._probe_scores()
        if self._no_scores is not None:
            raise unsent(self._no_scores)

    async def _probe_scores(self) -> None:
        """Ask SCORE_PROBE and remember its result, unless it fails for a reason that may pass."""
        try:
            fault = score_fault(await self._inner.answer(SCORE_PROBE))
        except CannotScoreError as failure:
            self._has_checked_scores, self._no_scores = True, unsent(failure)
            raise
        except ProviderError as failure:
            if failure.kind != "not-stored":
                raise
            fault = ""
        self._has_checked_scores = True
        if fault:
            failed = f"the model {self.name} cannot score texts"
            self._no_scores = CannotScoreError(f"{failed}: {fault}")
            self._counters.add_remark(f"{failed} {UNSCORED}: {fault}")

    async def _check_tools(self) -> None:
        """Ask TOOL_PROBE once; a failure proves nothing, so the replies count."""
        async with self._lock:
            if self._can_call is not None:
                return
            try:
                fault = tool_fault(await self._inner.answer(TOOL_PROBE))
            except (ProviderError, NotAskedError):
                fault = ""
            if self._can_call is not None:  # another conversation has called one in the meantime
                return
            self._can_call = not fault
        if fault:
            failed = f"the model {self.name} cannot call tools"
            self._no_calls = f"{failed}: {fault}"
            self._counters.add_remark(f"{failed} (its questions are skipped): {fault}")

    def _refuse_tools(self) -> None:
        if self._can_call is False:
            raise NotAskedError(self._no_calls)
