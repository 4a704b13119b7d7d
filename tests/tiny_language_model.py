"""A tiny GPT-2 with random weights, and a tokenizer of the embedded recipes, as folders that transformers reads."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pytest_taskgraph.families.steps.recipe_sets.recipe_set import read_embedded_recipes

END = "<|endoftext|>"


def byte_pairs(size: int = 512) -> Any:  # noqa: ANN401 - tokenizers has no types here
    """Return a tokenizer as GPT-2 has one, with so many tokens."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[END],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    texts = [" . ".join(recipe.steps) + " ? Yes No" for recipe in read_embedded_recipes().train]
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def whole_words(words: Iterable[str]) -> Any:  # noqa: ANN401
    """Return a tokenizer of these words and one for all others; white space parts them."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(["[UNK]", *words])}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return tokenizer


def save_tiny(
    folder: Path,
    tokenizer: Any = None,  # noqa: ANN401
    *,
    positions: int = 128,
    seed: int = 0,
    dropout: float = 0.1,
    **further: Any,  # noqa: ANN401
) -> Path:
    """Save a model and its tokenizer to the folder.

    Args:
        folder: Where to.
        tokenizer: That of `byte_pairs` unless given.
        positions: The tokens that the model takes.
        seed: Decides on the weights.
        dropout: The share of what is dropped in training.
        further: More of the tokenizer, such as its chat template.
    """
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    plain = byte_pairs() if tokenizer is None else tokenizer
    ends = {"eos_token": END} if plain.token_to_id(END) is not None else {"unk_token": "[UNK]"}
    wrapped = PreTrainedTokenizerFast(tokenizer_object=plain, **ends, **further)
    end = wrapped.eos_token_id
    config = GPT2Config(
        vocab_size=len(wrapped), n_positions=positions, n_embd=32, n_layer=2, n_head=2,
        bos_token_id=end, eos_token_id=end, initializer_range=0.3,
        resid_pdrop=dropout, embd_pdrop=dropout, attn_pdrop=dropout,
    )  # fmt: skip
    torch.manual_seed(seed)
    GPT2LMHeadModel(config).save_pretrained(str(folder))
    wrapped.save_pretrained(str(folder))
    return folder


def save_tiny_pair(folder: Path, seed: int = 0) -> Path:
    """Save a T5 with random weights and a tokenizer that puts the end behind each text, as T5's does."""
    import torch
    from tokenizers import processors
    from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

    plain = byte_pairs()
    end = plain.token_to_id(END)
    plain.post_processor = processors.TemplateProcessing(single=f"$A {END}", special_tokens=[(END, end)])
    wrapped = PreTrainedTokenizerFast(tokenizer_object=plain, eos_token=END, pad_token=END, model_max_length=128)
    config = T5Config(
        vocab_size=len(wrapped), d_model=32, d_kv=16, d_ff=64, num_layers=2, num_heads=2, dropout_rate=0.0,
        pad_token_id=end, eos_token_id=end, decoder_start_token_id=end, initializer_factor=2.0,
    )  # fmt: skip
    torch.manual_seed(seed)
    T5ForConditionalGeneration(config).save_pretrained(str(folder))
    wrapped.save_pretrained(str(folder))
    return folder


def save_adapter(folder: Path, base: Path, config: Any) -> Path:  # noqa: ANN401
    """Save an adapter of random weights for a model, as peft saves it."""
    from peft import get_peft_model
    from transformers import AutoModelForCausalLM

    with warnings.catch_warnings(action="ignore"):  # peft uses what newer versions of transformers deprecate
        tuned = get_peft_model(AutoModelForCausalLM.from_pretrained(str(base)), config)
        tuned.save_pretrained(str(folder), save_embedding_layers=False)
    return folder


def save_soft_prompt(folder: Path, base: Path, tokens: int = 5) -> Path:
    """Save a soft prompt of random embeddings for a model, as peft saves it."""
    import torch
    from peft import PromptTuningConfig, TaskType

    torch.manual_seed(1)
    config = PromptTuningConfig(
        task_type=TaskType.CAUSAL_LM, num_virtual_tokens=tokens, base_model_name_or_path=str(base)
    )
    return save_adapter(folder, base, config)


def save_lora(folder: Path, base: Path) -> Path:
    """Save LoRA weights for a model, random ones that change it, as peft saves them."""
    import torch
    from peft import LoraConfig, TaskType

    torch.manual_seed(2)
    config = LoraConfig(
        task_type=TaskType.CAUSAL_LM, r=4, target_modules=["c_attn"], fan_in_fan_out=True, init_lora_weights=False,
        base_model_name_or_path=str(base),
    )  # fmt: skip
    return save_adapter(folder, base, config)


def prepare_environment() -> None:
    """Keep what loads models from any hub, and torch to one thread, in this process and those that it starts.

    It is called before torch is imported. A tiny model gains nothing by more threads, and tests share processors.
    """
    stated = {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1", "OMP_NUM_THREADS": "1"}
    os.environ.update(stated | {"TOKENIZERS_PARALLELISM": "false"})
