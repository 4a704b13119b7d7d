"""A server on 127.0.0.1 that answers as those of llama.cpp do: prompts are not echoed, tokens are listed apart."""

from __future__ import annotations

import re
from typing import Any

from loopback import Loopback, Raw, Received, as_json, refuse

SPLIT = "月"
"""A character of two tokens, each of which holds a part of it."""
_PARTS = ([230, 156], [136])


class LlamaCppServer(Loopback):
    """Server of a model in which a token is a word with the white space before it, or a part of a character.

    `biased`: False for a server that writes what it likes. `lists`: False for one without the path `/tokenize`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.biased = self.lists = True
        self._pieces: list[Any] = ["<s>", *_PARTS, "Then"]

    def value(self, token: int, before: int) -> float:
        """The log-probability of a token behind another."""
        return -((token * 31 + before * 17) % 97 + 1) / 16

    def spelled(self, text: str) -> list[int]:
        """The tokens of a text."""
        ids = [0]
        for piece in re.findall(rf"{SPLIT}|\s*[^\s{SPLIT}]+|\s+", text):
            for part in _PARTS if piece == SPLIT else (piece,):
                if part not in self._pieces:
                    self._pieces.append(part)
                ids.append(self._pieces.index(part))
        return ids

    def _next(self, received: Received) -> Raw:
        with self._lock:
            if received.path == "/tokenize":
                self.requests.append(received)
                if not self.lists:
                    return refuse(404, "File Not Found")
                ids = self.spelled(received.body["content"])
                return as_json({"tokens": [{"id": token, "piece": self._pieces[token]} for token in ids]})
            if received.path == "/v1/completions":
                self.requests.append(received)
                return as_json(self._written(received.body))
        return super()._next(received)

    def _written(self, body: dict[str, Any]) -> dict[str, Any]:
        prompts = body["prompt"] if isinstance(body["prompt"], list) else [body["prompt"]]
        if prompts and isinstance(prompts[0], int):
            prompts = [prompts]
        choices = [self._choice(prompt, body, index) for index, prompt in enumerate(prompts)]
        return {"object": "text_completion", "model": "any", "choices": choices, "timings": {"prompt_n": 1}}

    def _choice(self, prompt: str | list[int], body: dict[str, Any], index: int) -> dict[str, Any]:
        before = (self.spelled(prompt) if isinstance(prompt, str) else prompt)[-1]
        values = {token: self.value(token, before) for token in range(len(self._pieces))}
        ordered = sorted(values, key=lambda token: -values[token])
        bias = dict(body.get("logit_bias", [])) if self.biased else {}
        token = max(values, key=lambda token: values[token] + bias.get(token, 0.0))
        content = []
        if isinstance(self._pieces[token], str):  # part of a character is held back, so nothing is listed of it
            tops = [self._listed(top, values[top]) for top in ordered[: body["logprobs"]]]
            content = [{**self._listed(token, values[token]), "top_logprobs": tops}]
        text = self._pieces[token] if content else ""
        return {"index": index, "text": text, "finish_reason": "length", "logprobs": {"content": content}}

    def _listed(self, token: int, value: float) -> dict[str, Any]:
        return {"id": token, "token": str(self._pieces[token]), "logprob": value}
