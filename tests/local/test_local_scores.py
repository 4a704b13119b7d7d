"""Texts scored by a model on this machine: against torch itself, and against what is read of a server's echo."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra local is not installed")
transformers = pytest.importorskip("transformers", reason="the extra local is not installed")

from tiny_language_model import save_tiny, whole_words  # noqa: E402

from pytest_taskgraph.errors import ProviderError  # noqa: E402
from pytest_taskgraph.models import open_model  # noqa: E402
from pytest_taskgraph.models.clients.text_scores import read_scores  # noqa: E402
from pytest_taskgraph.trial import Reply, Request, TextScore  # noqa: E402

TEXT = "Boil the water . Sauté it\n\nin a crème  , then rest ? Yes"


def ask(folder: Path, request: Request) -> Reply:
    return asyncio.run(open_model(f"local:{folder}", {}).answer(request))


def score(folder: Path, context: str, *texts: str) -> list[TextScore]:
    return ask(folder, Request(kind="score", context=context, texts=list(texts))).scores


class Plain:
    """The model as transformers gives it."""

    def __init__(self, folder: Path) -> None:
        self.model = transformers.AutoModelForCausalLM.from_pretrained(str(folder)).eval()
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder))

    def logprobs(self, text: str) -> tuple[list[int], Any]:
        """The tokens of a text, and for each but the first the log-probabilities of all tokens at its place."""
        ids = self.tokenizer(text)["input_ids"]
        with torch.no_grad():
            return ids, torch.log_softmax(self.model(torch.tensor([ids])).logits[0].double(), dim=-1)[:-1]

    def echo(self, text: str) -> dict[str, Any]:
        """The choice of a server that is sent the text, and echoes it with its log-probabilities and one token more."""
        ids, rows = self.logprobs(text)
        values = [None, *(float(row[token]) for row, token in zip(rows, ids[1:], strict=True))]
        tops = [None, *({"top": float(row.max())} for row in rows)]
        tokens = [self.tokenizer.decode([token]) for token in ids]
        logprobs = {"tokens": [*tokens, "!"], "token_logprobs": [*values, -1.0], "top_logprobs": [*tops, {"!": -1.0}]}
        return {"text": f"{text}!", "index": 0, "logprobs": logprobs}


@pytest.fixture(scope="module")
def plain(tiny: Path) -> Plain:
    return Plain(tiny)


def test_scores_of_texts_equal_torch(tiny: Path, plain: Plain) -> None:
    context, texts = "Boil water . Is it ?", [" Yes", " No", " Simmer the sauce until thick"]
    for text, score_ in zip(texts, score(tiny, context, *texts), strict=True):
        ids, rows = plain.logprobs(context + text)
        first = len(plain.tokenizer(context)["input_ids"])
        expected = math.fsum(float(rows[at - 1][ids[at]]) for at in range(first, len(ids)))
        assert score_.logprob == pytest.approx(expected, abs=1e-4)
        assert score_.tokens == len(ids) - first


@pytest.mark.parametrize("border", range(len(TEXT)))
def test_scores_at_each_border_equal_echo(border: int, tiny: Path, plain: Plain) -> None:
    request = Request(kind="score", context=TEXT[:border], texts=[TEXT[border:]])
    response = {"choices": [plain.echo(TEXT)], "model": "m"}
    ((logprob, tokens, greedy),) = read_scores(response, request, "m", 0.0).logprobs
    (text_score,) = ask(tiny, request).scores
    assert (text_score.tokens, text_score.greedy) == (tokens, greedy)
    assert text_score.logprob == pytest.approx(logprob, abs=1e-4)


def test_scores_of_all_next_words_sum_to_one(tmp_path: Path) -> None:
    words = ["boil", "cut", "mix", "serve", "wait"]
    folder = save_tiny(tmp_path / "words", whole_words(words), positions=16)
    scores = score(folder, "boil mix", *(f" {word}" for word in words), " unheard-of")
    assert {text_score.tokens for text_score in scores} == {1}
    assert math.fsum(math.exp(text_score.logprob or 0.0) for text_score in scores) == pytest.approx(1.0, abs=1e-5)
    assert sum(bool(text_score.greedy) for text_score in scores) == 1


def test_scores_of_word_pairs_sum_to_first_word(tmp_path: Path) -> None:
    words = ["boil", "cut", "mix"]
    folder = save_tiny(tmp_path / "words", whole_words(words), positions=16)
    (first,) = score(folder, "mix", " cut")
    pairs = score(folder, "mix", *(f" cut {word}" for word in [*words, "unheard-of"]))
    together = math.fsum(math.exp(text_score.logprob or 0.0) for text_score in pairs)
    assert together == pytest.approx(math.exp(first.logprob or 0.0), abs=1e-5)


def test_scores_of_texts_together_equal_single_scores(tiny: Path) -> None:
    context, texts = "Boil water .", [" Yes", " No", " Add the salt", " Add the pepper", "s"]
    assert score(tiny, context, *texts) == [text_score for text in texts for text_score in score(tiny, context, text)]


def test_score_without_context_omits_first_token(tiny: Path, plain: Plain) -> None:
    ids, rows = plain.logprobs("Boil water")
    whole, first = score(tiny, "", "Boil water", plain.tokenizer.decode(ids[:1]))
    assert whole.tokens == len(ids) - 1
    assert whole.logprob == pytest.approx(sum(float(r[i]) for r, i in zip(rows, ids[1:], strict=True)), abs=1e-4)
    assert (first.tokens, first.perplexity) == (0, None)


def test_score_of_most_probable_word_is_greedy(tiny: Path, plain: Plain) -> None:
    context = "Boil the water ."
    _, rows = plain.logprobs(context + " x")
    ids = plain.tokenizer(context)["input_ids"]
    order = rows[len(ids) - 1].argsort(descending=True).tolist()
    texts = [plain.tokenizer.decode([token]) for token in order]
    whole_words = [text for text, token in zip(texts, order, strict=True)
            if plain.tokenizer(context + text)["input_ids"] == [*ids, token]]  # fmt: skip
    scores = score(tiny, context, *whole_words)
    assert [text_score.greedy for text_score in scores] == [
        whole_words[0] == texts[0],
        *[False] * (len(whole_words) - 1),
    ]
    assert [text_score.logprob for text_score in scores] == sorted(
        (text_score.logprob or 0.0 for text_score in scores), reverse=True
    )


def test_score_after_messages_follows_chat_template(tmp_path: Path) -> None:
    template = (
        "{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}{% if add_generation_prompt %}>{% endif %}"
    )
    folder = save_tiny(tmp_path / "chat", chat_template=template)
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Boil water?"}]
    reply = ask(folder, Request(messages, kind="score", texts=["Yes", "No"]))
    from_text = score(folder, "[system] Be brief.\n[user] Boil water?\n>", "Yes", "No")
    assert [text_score.logprob for text_score in reply.scores] == pytest.approx(
        [text_score.logprob for text_score in from_text], abs=1e-5
    )


def test_score_of_too_many_tokens_is_context_too_long(tiny: Path) -> None:
    fitting = " a" * 129  # 128 of them stand before the last one
    assert score(tiny, "", fitting)[0].tokens == 128
    with pytest.raises(ProviderError, match=r"context-too-long: 129 tokens; the model takes at most 128"):
        score(tiny, "", fitting + " a")


@pytest.mark.parametrize(
    "request_", [Request(kind="score"), Request(kind="score", texts=["a", ""]),
                 Request([{"role": "user", "content": "?"}], kind="score", context="c", texts=["a"])]
)  # fmt: skip
def test_score_request_of_other_shape_is_bad_request(request_: Request, tiny: Path) -> None:
    with pytest.raises(ProviderError, match="bad-request"):
        ask(tiny, request_)


def test_score_reply_counts_tokens_and_costs_nothing(tiny: Path, plain: Plain) -> None:
    reply = ask(tiny, Request(kind="score", context="Boil water .", texts=[" Yes", " No"]))
    assert reply.tokens_in == sum(
        len(plain.tokenizer("Boil water ." + answer)["input_ids"]) for answer in (" Yes", " No")
    )
    assert (reply.tokens_out, reply.cost, reply.source) == (0, 0.0, f"local:{tiny}")


def test_score_text_with_lone_surrogate_is_bad_request(tiny: Path) -> None:
    with pytest.raises(ProviderError, match="bad-request"):
        score(tiny, "Boil", " \ud800")
